"""Units: whose presence is hidden, what they are called, and what is refused."""

import dataclasses
from typing import Any

import pytest

from viameter import neighborhood as nb
from viameter.errors import ParameterError
from viameter.tables.bounding import Limits
from viameter.tables.units import Link, Unit, per, per_entity, per_event, per_row

LINKS: dict[str, Any] = {
    "visits": ("patient", "patients"),
    "drugs": ("visit", "visits", "nr"),
    "doses": ("d", "drugs", "n"),
}
CLINIC = per_entity("patients", key="id", links=LINKS, rows=9)
KINDS: list[tuple[Unit, nb.Granularity, str, str | None, bool, int | None]] = [
    (per_row(), nb.unbounded(), "row", None, False, 1),
    (per_row(replace=True), nb.bounded(), "row", None, True, 1),
    (per("u", rows=3), nb.user(), "u", "u", False, None),
    (per("u", replace=True), nb.user(alters=True), "u", "u", True, None),
    (per_event("t"), nb.event(), "event", None, True, 1),
    (per_event("t", window=7), nb.w_event(7), "window of 7 times of t", None, True, 7),
    (CLINIC, nb.entity("patients"), "patients", None, False, None),
]


@pytest.mark.parametrize(("unit", "granularity", "name", "column", "replaces", "rows"), KINDS)
def test_a_unit_says_whom_it_hides_and_how_its_rows_are_found(
    unit: Unit, granularity: nb.Granularity, name: str, column: str | None, replaces: bool, rows: int | None
) -> None:
    assert unit.granularity == granularity
    assert (unit.name, unit.column, unit.replaces, unit.rows_without_limit) == (name, column, replaces, rows)


@pytest.mark.parametrize(
    "text",
    [
        "per_row()",
        "per_row(replace=True)",
        "per('u')",
        "per('u', rows=3)",
        'per("it\'s", rows=5, groups=2, per_group=3, replace=True)',
        "per_event('t')",
        "per_event('t', window=7)",
        "per_entity('p', key='id', links={})",
        "per_entity('p', key='id', links={'v': ('pid', 'p', 'id')}, rows=3)",
    ],
)
def test_the_text_of_a_unit_makes_it_again(text: str) -> None:
    unit = eval(text, {"per": per, "per_row": per_row, "per_event": per_event, "per_entity": per_entity})
    assert repr(unit) == text


def test_units_are_equal_by_what_they_are_and_do_not_change() -> None:
    assert per("u", rows=3) == per("u", rows=3) != per("u", rows=4) and per("u") != per("u", replace=True)
    assert per_event("t") != per_event("t", window=2) and per_row() != per_row(replace=True)
    assert len({per("u", rows=3), per("u", rows=3), per("v", rows=3), CLINIC, CLINIC}) == 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        per("u").id = "v"  # type: ignore[misc]


def test_limits_are_those_that_were_given() -> None:
    assert per("u", rows=5, groups=2, per_group=3).limits == Limits(5, 2, 3)
    assert CLINIC.limits == Limits(rows=9)
    assert per("u").limits == per_row().limits == per_event("t", window=7).limits == Limits()


@pytest.mark.parametrize("column", ["", None, 3, b"u", ["u"]])
def test_a_column_is_named_by_text(column: Any) -> None:
    with pytest.raises(ParameterError, match="is not a name"):
        per(column)
    with pytest.raises(ParameterError, match="is not a name"):
        per_event(column)
    with pytest.raises(ParameterError, match="is not a name"):
        per_entity(column, key="id", links={})
    with pytest.raises(ParameterError, match="is not a name"):
        per_entity("p", key=column, links={})


@pytest.mark.parametrize("replace", [1, 0, None, "yes"])
def test_whether_rows_are_replaced_is_true_or_false(replace: Any) -> None:
    with pytest.raises(ParameterError, match="replace="):
        per("u", replace=replace)
    with pytest.raises(ParameterError, match="replace="):
        per_row(replace=replace)


@pytest.mark.parametrize("name", ["rows", "groups", "per_group"])
@pytest.mark.parametrize("limit", [0, -1, True, 1.0, "3"])
def test_limits_are_whole_and_above_0(name: str, limit: Any) -> None:
    with pytest.raises(ParameterError, match=f"{name}="):
        per("u", **{name: limit})
    with pytest.raises(ParameterError, match=f"{name}="):
        per_entity("p", key="id", links={}, **{name: limit})


@pytest.mark.parametrize("window", [0, -7, True, 1.0, "7", None])
def test_a_window_is_a_whole_number_of_times(window: Any) -> None:
    with pytest.raises(ParameterError, match="window="):
        per_event("t", window=window)


def test_a_path_leads_to_the_table_of_entities() -> None:
    assert CLINIC.path("patients") == ()
    visits, drugs = Link("patient", "patients", "id"), Link("visit", "visits", "nr")
    assert CLINIC.path("visits") == (visits,)
    assert CLINIC.path("drugs") == (drugs, visits)
    assert CLINIC.path("doses") == (Link("d", "drugs", "n"), drugs, visits)
    with pytest.raises(ParameterError, match="'staff' refers to no table that leads to 'patients'"):
        CLINIC.path("staff")


@pytest.mark.parametrize(
    ("links", "problem"),
    [
        ([("visits", "patient")], "links="),
        (None, "links="),
        ({"v": "patient"}, r"links\['v'\]"),
        ({"v": ["patient", "p"]}, r"links\['v'\]"),
        ({"v": ("patient",)}, r"links\['v'\]"),
        ({"v": ("patient", "p", "id", "x")}, r"links\['v'\]"),
        ({"v": ("", "p")}, r"links\['v'\]"),
        ({"v": ("patient", 3)}, r"links\['v'\]"),
        ({"": ("patient", "p")}, "links="),
        ({3: ("patient", "p")}, "links="),
        ({"d": ("visit", "v"), "v": ("patient", "p")}, "which column of 'v' is it"),
        ({"d": ("visit", "v", "nr")}, "'v' refers to no table that leads to 'p'"),
        ({"a": ("x", "a", "y")}, "'a' refers to itself in a circle, and never to 'p'"),
        ({"a": ("x", "b", "y"), "b": ("x", "a", "y")}, "in a circle"),
        ({"c": ("x", "a", "y"), "a": ("x", "b", "y"), "b": ("x", "a", "y")}, "in a circle"),
    ],
)
def test_links_that_lead_nowhere_are_refused(links: Any, problem: str) -> None:
    with pytest.raises(ParameterError, match=problem):
        per_entity("p", key="id", links=links)


def test_links_may_stand_in_any_order() -> None:
    turned = per_entity("patients", key="id", links=dict(reversed(LINKS.items())), rows=9)
    assert turned.path("doses") == CLINIC.path("doses")
