"""Worked answers: composed losses, conditions and constants that were computed by hand."""

import math
from collections.abc import Iterable
from typing import Any

from tests.cases import for_each

import viameter as vm
from viameter import neighborhood as nb
from viameter.arith import INFINITY
from viameter.neighborhood.granularities import Granularity

THREE = ("0.2", "0.5", "0.3")
STEPS = ("0.1", "0.2", "0.3", "0.1", "0.4")


def composed(
    target: Granularity,
    cut: Iterable[nb.Part],
    mode: Any = "separate",
    *,
    amounts: Iterable[str] = THREE,
    own: Granularity | None = None,
    law: Any = vm.pure,
) -> nb.Composed:
    """Leaves on the parts of a cut, in order, composed for a granularity."""
    given = zip(cut, amounts, strict=True)
    return nb.compose(target, [nb.leaf(part, law(amount), mode=mode, granularity=own) for part, amount in given])


def by_value(**options: Any) -> nb.Cut:
    """Three parts by value."""
    return nb.partition(3, by="value", **options)


MAX, TWO, SUM, NEVER = vm.pure("1/2"), vm.pure("4/5"), vm.pure(1), vm.PureDP.infinite

TABLE: dict[str, tuple[Granularity, nb.Cut, bool | None, bool | None, Any, Any]] = {
    "unbounded, by value": (nb.unbounded(), by_value(), True, True, MAX, MAX),
    "bounded, by value": (nb.bounded(), by_value(), False, False, NEVER, TWO),
    "bounded ordered, by row id": (nb.bounded_ordered(), nb.partition(3, by="id"), True, True, MAX, MAX),
    "bounded ordered, by column": (nb.bounded_ordered(), nb.partition(3, by="column"), False, True, SUM, SUM),
    "add/remove-or-replace, by value": (nb.add_remove_or_replace(), by_value(), False, True, TWO, TWO),
    "zero-out, by value, blanked": (nb.zero_out(), by_value(blanks=True), True, True, MAX, MAX),
    "zero-out, by value, cut out": (nb.zero_out(), by_value(), True, False, NEVER, MAX),
    "insert-delete, by value": (nb.insert_delete(), by_value(), True, True, MAX, MAX),
    "group-2 of unbounded, by value": (nb.group(nb.unbounded(), 2), by_value(), False, True, TWO, TWO),
    "group-3 of unbounded, by value": (nb.group(nb.unbounded(), 3), by_value(), False, True, SUM, SUM),
    "free-lunch, by value": (nb.free_lunch(), by_value(), False, True, SUM, SUM),
    "local, by attribute": (nb.local(), nb.partition(3, by="column"), False, True, SUM, SUM),
    "attribute, by column": (nb.attribute(), nb.partition(3, by="column"), True, True, MAX, MAX),
    "attribute, by value": (nb.attribute(), by_value(), None, None, NEVER, TWO),
    "edge, induced": (nb.edge(), nb.induced(3), True, True, MAX, MAX),
    "edge, incident": (nb.edge(), nb.incident(3), False, True, TWO, TWO),
    "2-edge, induced": (nb.k_edge(2), nb.induced(3), False, True, TWO, TWO),
    "node, induced": (nb.node(), nb.induced(3), True, True, MAX, MAX),
    "node, incident": (nb.node(), nb.incident(3), None, None, NEVER, SUM),
    "node of degree 1, incident": (nb.node(degree=1), nb.incident(3), None, None, vm.pure("1.3"), TWO),
    "out-link, by source": (nb.out_link(), nb.by_source(3), True, True, MAX, MAX),
    "event, by time": (nb.event(), nb.partition(3, by="time"), True, True, MAX, MAX),
    "2-event, by time": (nb.w_event(2), nb.partition(3, by="time"), False, True, TWO, TWO),
    "user, by id": (nb.user(), nb.partition(3, by="id"), True, True, MAX, MAX),
    "user, by time": (nb.user(), nb.partition(3, by="time"), False, True, SUM, SUM),
}


@for_each("row", TABLE)
def test_the_table_of_granularities(row: str) -> None:
    target, cut, c1, c2, separate, common = TABLE[row]
    apart, together = composed(target, cut), composed(target, cut, "common")
    assert (apart.loss, together.loss) == (separate, common)
    assert (apart.check_c1().holds, apart.check_c2().holds) == (c1, c2)
    if c1 and c2:
        assert apart.loss == MAX
    if c1:
        assert together.loss == MAX


def test_attribute_by_value_costs_two_parts_only_if_they_are_one_cell_apart() -> None:
    cut = nb.memberships({("x", 0): [0], ("x", 1): [1], ("y", 2): [2], ("y", 3): [2]})
    assert composed(nb.attribute(), cut, "common").loss == vm.pure("0.7")
    assert composed(nb.attribute(), cut).loss == NEVER
    assert composed(nb.attribute(), cut).check_c1().holds is False
    apart = nb.memberships({("x", 0): [0], ("y", 1): [1], ("z", 2): [2], ("z", 3): [2]})
    assert composed(nb.attribute(), apart, "common").loss == vm.pure("0.3")


def test_policies_cost_two_parts_only_where_an_edge_joins_them() -> None:
    values = nb.memberships({"a": [0], "b": [0], "c": [1], "d": [2]})
    within = nb.policy([("a", "b")])
    assert composed(within, values).loss == vm.pure("0.2")
    assert composed(within, values).check_c1().holds is True
    across = nb.policy([("a", "b"), ("b", "d")])
    assert composed(across, values).loss == NEVER
    assert composed(across, values, "common").loss == vm.pure("0.5")
    assert composed(across, values).check_c1().holds is False


def test_chunks_by_position_cost_at_least_twice_the_sum() -> None:
    found = composed(nb.unbounded(), nb.partition(3, by="position"))
    assert vm.pure(2) <= found.loss
    assert not found.tight
    assert found.check_c1().holds is None
    assert composed(nb.unbounded(), nb.partition(3, by="position"), "common").loss == SUM


@for_each(
    ("found", "wanted"),
    [
        (composed(nb.bounded(), nb.partition(1), "common", amounts=["0.7"]), vm.pure("0.7")),
        (composed(nb.bounded(), by_value(), own=nb.unbounded()), vm.pure(1)),
        (composed(nb.bounded(), by_value(), "common", own=nb.unbounded()), vm.pure(1)),
        (composed(nb.bounded(), by_value(values=1), own=nb.unbounded()), TWO),
        (composed(nb.event(), nb.partition(5, by="time"), amounts=STEPS), vm.pure("0.4")),
        (composed(nb.w_event(3), nb.partition(5, by="time"), amounts=STEPS), vm.pure("0.8")),
        (composed(nb.user(), nb.partition(5, by="time"), amounts=STEPS), vm.pure("1.1")),
    ],
)
def test_worked_answers(found: nb.Composed, wanted: Any) -> None:
    assert found.loss == wanted
    assert found.tight


def hospitals() -> nb.Cut:
    """Ten, of which a patient is in three at most."""
    return nb.subsets(10, at_most=3)


def test_ambulances() -> None:
    tenth, rising = ["0.1"] * 10, [f"{number}/100" for number in range(1, 11)]
    assert composed(nb.unbounded(), hospitals(), amounts=tenth).loss == vm.pure("0.3")
    assert composed(nb.unbounded(), hospitals(), amounts=rising).loss == vm.pure("0.27")
    assert composed(nb.bounded(), hospitals(), "common", amounts=tenth).loss == vm.pure("0.6")
    assert composed(nb.unbounded(), hospitals(), amounts=["0.05"] * 10, law=vm.zcdp).loss == vm.zcdp("0.15")
    found: Any = composed(nb.unbounded(), hospitals(), amounts=["0.2"] * 10, law=vm.gdp).loss
    assert found.mu_squared * 100 == 12
    assert math.isclose(math.sqrt(found.mu_squared), 0.3464101615, abs_tol=1e-9)


def test_foreign_keys_and_contribution_bounds() -> None:
    clinic = nb.foreign_keys({"patient": {}, "visit": {"patient": 5}, "drug": {"visit": 3}})
    amounts = ("0.1", "0.05", "0.02")
    assert composed(nb.entity("patient"), clinic, amounts=amounts, own=nb.unbounded()).loss == vm.pure("0.65")
    groups = nb.contributions(10, l0=2, l1=5, linf=3)
    found = composed(nb.user(), groups, amounts=["0.001"] * 10, own=nb.unbounded(), law=vm.zcdp)
    assert found.loss == vm.zcdp("0.013")
    assert found.tight


def test_a_class_that_the_edit_alone_does_not_show_is_bounded_from_above() -> None:
    # Node add/remove, incident, degree at most one: two neighbors cost 0.8 on the common domain, the edit alone 0.5.
    assert composed(nb.node(degree=1), nb.incident(3), "common").loss == TWO


def test_the_counterexample_that_is_printed() -> None:
    witness = composed(nb.bounded(), by_value()).witness
    assert (repr(witness.before), repr(witness.after)) == ("('a',)", "('c',)")
    seen = witness.parts["part 0 by value"]
    assert (repr(seen.before), repr(seen.after), seen.steps) == ("('a',)", "()", INFINITY)
    assert witness.attained
    assert "D = ('a',), D' = ('c',)" in str(witness)


def test_how_it_is_used() -> None:
    parts = nb.partition(3, by="value")
    leaves = [nb.leaf(p, vm.pure(e), mode="common") for p, e in zip(parts, ("0.2", "0.5", "0.3"), strict=True)]
    assert nb.compose(nb.bounded(), leaves).loss == vm.pure("4/5")
    assert nb.compose(nb.unbounded(), leaves).loss == vm.pure("1/2")
    assert nb.translate(vm.zcdp("0.1"), frm=nb.unbounded(), to=nb.bounded()) == vm.zcdp("2/5")


@for_each(
    ("frm", "to", "steps"),
    [
        (nb.unbounded(), nb.bounded(), 2),
        (nb.bounded(), nb.unbounded(), INFINITY),
        (nb.unbounded(), nb.group(nb.unbounded(), 5), 5),
        (nb.bounded(), nb.group(nb.bounded(), 5), 5),
        (nb.edge(), nb.k_edge(4), 4),
        (nb.attribute(columns=7), nb.bounded_ordered(), 7),
        (nb.edge(), nb.node_rewire(nodes=10), 9),
        (nb.edge(), nb.node_rewire(nodes=10, degree=3), 6),
        (nb.edge(), nb.node_rewire(), INFINITY),
        (nb.event(), nb.w_event(6), 6),
        (nb.event(), nb.user(times=8), 8),
        (nb.w_event(3), nb.user(times=8), 3),
        (nb.w_event(4), nb.user(times=8), 2),
        (nb.zero_out(), nb.bounded_ordered(), 2),
        (nb.bounded_ordered(), nb.zero_out(), 1),
        (nb.unbounded(), nb.user(rows=6), 6),
        (nb.unbounded(), nb.user(), INFINITY),
        (nb.add_remove_or_replace(), nb.unbounded(), 1),
        (nb.add_remove_or_replace(), nb.bounded(), 1),
        (nb.unbounded(), nb.add_remove_or_replace(), 2),
        (nb.group(nb.unbounded(), 2), nb.bounded(), 1),
        (nb.group(nb.unbounded(), 2), nb.group(nb.unbounded(), 5), 3),
        (nb.free_lunch(), nb.unbounded(), 1),
        (nb.unbounded(), nb.free_lunch(), INFINITY),
        (nb.node(), nb.node_rewire(), 2),
        (nb.node_rewire(), nb.edge(), 1),
        (nb.node(), nb.edge(), 2),
        (nb.edge(), nb.node(), INFINITY),
    ],
)
def test_constants_between_granularities(frm: Granularity, to: Granularity, steps: Any) -> None:
    assert nb.stability(frm, to) == steps
    pure, zcdp, gdp = (
        nb.translate(loss, frm=frm, to=to) for loss in (vm.pure("1/10"), vm.zcdp("1/10"), vm.gdp("1/10"))
    )
    if steps == INFINITY:
        assert not any(loss.is_finite for loss in (pure, zcdp, gdp))
    else:
        assert (pure, zcdp) == (vm.pure(f"{steps}/10"), vm.zcdp(f"{steps**2}/10"))
        assert gdp == vm.gdp(f"{steps}/10")
        assert nb.Guarantee(vm.pure("1/10"), frm).to(to).loss == pure
