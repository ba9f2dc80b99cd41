"""Certificates of questions over tables: those of real questions hold, and no forged one does."""

import itertools
import json
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.cases import for_each
from tests.tables.quiet import DEPRECATIONS
from tests.viameter_check.forging import at, changed, leaves, refused_at, stored

import viameter as vm
from viameter import loss_from_json
from viameter.core.certificate import certify
from viameter.tables.expressions import Schema
from viameter.tables.expressions.types import INTEGER, TEXT
from viameter.tables.public_tables import public
from viameter.tables.spaces import TablesOnEngine, UnitDistance
from viameter.tables.theorems import contributions_of_added_units, contributions_of_replaced_units, units_one_by_one
from viameter.theorem import Derivation, find_theorem
from viameter_check import check

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{message}:{kind.__name__}") for message, kind in DEPRECATIONS
]  # what engines themselves warn of
SPENDS = [vm.pure("1/10"), vm.approx("1/10", "1/1000000"), vm.zcdp("1/10"), vm.approx_zcdp("1/10", "1/1000000")]
VISITS = {"u": ["a"], "k": ["x"], "x": [1], "day": [3]}


def asked(table: Any) -> Any:
    """A question of every kind of statistic, by group."""
    return table.group_by("k", keys=["x", "y"]).agg(
        n=vm.count(), m=vm.mean("x", bounds=(0, 10)), s=vm.sum("x", bounds=(-3, 10)), q=vm.median("x", bounds=(0, 10))
    )


def questions(budget: vm.Loss) -> Iterator[tuple[str, Any]]:
    """Questions of all units, over one table and several, with all that can be done before rows are added up."""
    for unit in (
        vm.per("u", rows=3),
        vm.per("u", rows=5, groups=2, per_group=2),
        vm.per("u", groups=1, per_group=2, replace=True),
        vm.per("u", rows=7, replace=True),
        vm.per_row(),
        vm.per_row(replace=True),
        vm.per_event("day"),
        vm.per_event("day", window=7),
    ):
        yield repr(unit), asked(vm.open(stored(VISITS), unit=unit, budget=budget))
    table = vm.open(stored(VISITS), unit=vm.per("u", rows=3), budget=budget)
    worked = table.filter(table["x"] > 0).derive(y=table["x"] * 2).select("k", "x", "y").sample("1/2")
    yield "steps", asked(worked.join(public({"k": ["x", "x"], "z": [1, 2]}), on="k"))
    yield "units", table.agg(n=vm.count_units())
    yield "units of a replaced one", table.group_by("k", keys=["x"], other=True).agg(n=vm.count_units())
    both = vm.open(
        {"l": stored(VISITS), "it's": stored({"u": ["a"], "z": [1]})}, unit=vm.per("u", rows=3), budget=budget
    )
    yield "one of two tables", asked(both["l"])
    yield "two tables", asked(both["l"].join(both["it's"]))
    clinic = {
        "patients": stored({"id": [1]}),
        "visits": stored({"nr": [1], "patient": [1], **VISITS}),
        "drugs": stored({"visit": [1], "dose": [2]}),
    }
    links: dict[str, Any] = {"visits": ("patient", "patients"), "drugs": ("visit", "visits", "nr")}
    entities = vm.open(clinic, unit=vm.per_entity("patients", key="id", links=links, rows=3), budget=budget)
    yield "entities", asked(entities["visits"])
    yield "entities, two tables away", entities["drugs"].agg(n=vm.count())
    names = {"it's": ["a"], 'so "called"': [1], "x: TEXT, y": ["b"], "ü(": [1], "u": ["a"]}
    yield "names", vm.open(stored(names), unit=vm.per("it's", rows=3), budget=budget).agg(n=vm.count())


@pytest.mark.parametrize("spend", SPENDS, ids=repr)
def test_every_certificate_of_a_question_is_derived_again(spend: vm.Loss) -> None:
    used = set()
    for name, question in questions(spend):
        made = question.measurement(spend=spend)
        for d_in in (1, 2, math.inf) if name == "steps" else (1,):
            certificate = made.certificate(d_in)
            report = check(certificate.text)
            assert report.ok, (name, report)
            assert report.remarks == (), name
            # Steps are not described, also where they keep all columns.
            assert all("by steps that are not described" in claim.message for claim in report.claims), name
            assert bool(report.claims) == ("units-one-by-one" in report.theorems), (name, report.claims)
            assert report.claims or name not in ("steps", "two tables", "one of two tables")
            used |= set(report.theorems)
    assert {"units-one-by-one", "contributions-of-added-units", "contributions-of-replaced-units"} <= used


# --- one number or text changed in a whole certificate ---------------------------------------------------------------

OTHERS: list[Any] = [
    "0",
    "1",
    "2",
    "3",
    "1/3",
    "inf",
    "-1",
    "1000000",
    "",
    "L1",
    "L2",
    "Linf",
    "exact",
    "L1Distance()",
    "L2Distance()",
    "SymmetricDistance()",
    "UnitDistance('user', by='u')",
    "UnitDistance('user', by='u', replaces=True)",
    "UnitDistance('unbounded')",
    "vectors(int, size=1)",
    "engine_table(Schema('u': TEXT))",
    "units-one-by-one",
    "contributions-of-added-units",
    "contributions-of-replaced-units",
    "rows-one-by-one",
    None,
    True,
    {},
    [],
]


@pytest.mark.parametrize(("spend", "replace"), [(vm.pure("1/10"), False), (vm.zcdp("1/10"), True)], ids=repr)
def test_any_change_of_one_value_is_refused_or_claims_no_less(spend: vm.Loss, replace: bool) -> None:
    table = vm.open(stored(VISITS), unit=vm.per("u", rows=3, replace=replace), budget=spend)
    question = table.filter(table["x"] > 0).agg(s=vm.sum("x", bounds=(-3, 10)))
    document = question.measurement(spend=spend).certificate(1).to_json()
    assert check(document).ok
    refused = 0
    for path, value in leaves(document):
        if path[0] == "hash" or path[-1] in ("subject", "text", "viameter"):
            continue
        for other in OTHERS:
            forged = changed(document, (path, other))
            if other == value or not check(forged).ok:
                refused += 1
                continue
            assert forged["claim"]["neighborhood"] == document["claim"]["neighborhood"]
            assert loss_from_json(document["claim"]["loss"]) <= loss_from_json(forged["claim"]["loss"])
    assert refused > 1000


def test_another_metric_everywhere_is_refused_at_the_theorem() -> None:
    document = asked(vm.open(stored(VISITS), unit=vm.per("u", rows=3), budget=vm.zcdp(1)))
    document = document.measurement(spend=vm.zcdp("1/10")).certificate(1).to_json()
    # What was derived for people who come or go would claim too little for people whose rows are replaced.
    metric = "UnitDistance('user', by='u', replaces=True)"
    paths = [path for path, value in leaves(document) if value == "UnitDistance('user', by='u')"]
    text = document["claim"]["text"].replace("UnitDistance('user', by='u')", metric)
    forged = changed(document, *((path, metric) for path in paths), (("claim", "text"), text))
    assert refused_at(forged) == "derivation.premises[0].premises[0].premises[0].input.metric"


# --- the rules, one node at a time -----------------------------------------------------------------------------------

ENGINE = TablesOnEngine(Schema({"u": TEXT, "x": INTEGER}))
ADDED, REPLACED = UnitDistance("user", "u"), UnitDistance("user", "u", replaces=True)
OF = {"contributions-of-added-units": ADDED, "contributions-of-replaced-units": REPLACED}
THEOREMS: dict[str, Callable[..., Any]] = {
    "contributions-of-added-units": contributions_of_added_units,
    "contributions-of-replaced-units": contributions_of_replaced_units,
}
METRICS: dict[str, Any] = {"L1": vm.L1Distance(), "L2": vm.L2Distance(), "Linf": vm.LInfDistance()}
USUAL = {"lower": -1, "upper": 3, "rows": 5, "groups": 2, "per_group": math.inf, "norm": "L2"}


def written(slug: str, d_in: Any, bound: Any, **parameters: Any) -> dict[str, Any]:
    """A certificate of one step, with these numbers."""
    given = tuple((name, value if name == "norm" else _number(value)) for name, value in parameters.items())
    before = vm.Space(ENGINE, OF[slug])
    after = vm.Space(vm.vectors(int, size=4), METRICS[parameters["norm"]])
    step = Derivation(
        "step", find_theorem(slug), "", "", given_value=_number(d_in), bound_value=bound, parameters=given,
        space=before, output=after,
    )  # fmt: skip
    return certify(step, space=before, d_in=Fraction(d_in) if d_in != math.inf else math.inf).to_json()


def _number(value: Any) -> Any:
    return value if value == math.inf else Fraction(value)


def derived(slug: str, d_in: Any, **parameters: Any) -> Any:
    """What the library says."""
    given = {name: value if name == "norm" else _number(value) for name, value in parameters.items()}
    return THEOREMS[slug](_number(d_in), **given)


@pytest.mark.parametrize("slug", OF)
@pytest.mark.parametrize("norm", METRICS)
def test_the_number_of_a_step_is_accepted_and_the_least_bit_less_is_not(slug: str, norm: str) -> None:
    several = itertools.product(
        [(0, 1), (-1, 3), (-4, -2), (-2, 2)], [1, 5, math.inf], [1, 3, math.inf], [1, 3, math.inf], [1, 3]
    )
    for (lower, upper), rows, groups, per_group, d_in in several:
        parameters = {"lower": lower, "upper": upper, "rows": rows, "groups": groups, "per_group": per_group}
        bound = derived(slug, d_in, **parameters, norm=norm)
        report = check(written(slug, d_in, bound, **parameters, norm=norm))
        assert report.ok and report.remarks == (), report
        if bound == math.inf:
            less: Any = Fraction(10**30)
        else:
            less = bound * (1 - Fraction(1, 2**100))
            looser = check(written(slug, d_in, bound * 2, **parameters, norm=norm))
            assert looser.ok and len(looser.remarks) == 1
        assert refused_at(written(slug, d_in, less, **parameters, norm=norm)) == "derivation.bound"


@for_each("slug", OF)
@for_each("norm", METRICS)
def test_nothing_comes_of_nothing_and_everything_of_an_infinite_distance(slug: str, norm: str) -> None:
    usual = {**USUAL, "norm": norm}
    without = {**usual, "rows": math.inf, "groups": math.inf}
    zero = {**without, "lower": 0, "upper": 0}
    for d_in, bound, parameters in (
        (0, 0, without),
        (0, 0, usual),
        (math.inf, math.inf, usual),
        (1, math.inf, without),
        (math.inf, 0, zero),
    ):
        assert check(written(slug, d_in, _number(bound), **parameters)).ok
    assert refused_at(written(slug, math.inf, Fraction(5), **usual)) == "derivation.bound"


@for_each("slug", OF)
def test_numbers_that_are_larger_than_one_says_are_refused(slug: str) -> None:
    """Each parameter, changed to what would need a larger bound, beside the bound that stands there."""
    good = written(slug, 1, derived(slug, 1, **USUAL), **USUAL)
    assert check(good).ok
    for name, value in (("lower", "-4"), ("upper", "4"), ("rows", "6"), ("rows", "inf")):
        assert refused_at(changed(good, (("derivation", "parameters", name), value))) == "derivation.bound"
    tight = {**USUAL, "rows": 9, "per_group": 2}
    good = written(slug, 1, derived(slug, 1, **tight), **tight)
    for name, value in (("groups", "3"), ("per_group", "3"), ("groups", "inf"), ("per_group", "inf")):
        assert refused_at(changed(good, (("derivation", "parameters", name), value))) == "derivation.bound"
    assert refused_at(changed(good, (("derivation", "given"), "2"))) == "derivation.bound"


@for_each("slug", OF)
@for_each("name", ["rows", "groups", "per_group"])
@for_each("value", ["0", "-1", "1/2", "7/2", "", "x", "-inf", "nan", None, True, "2.0", ["2"]])
def test_a_limit_is_a_whole_number_above_0_or_infinite(slug: str, name: str, value: Any) -> None:
    good = written(slug, 1, Fraction(10**6), **USUAL)
    assert refused_at(changed(good, (("derivation", "parameters", name), value))) == f"derivation.parameters.{name}"


@for_each("slug", OF)
@for_each("name", ["lower", "upper"])
@for_each("value", ["1/2", "inf", "", "x", None, True])
def test_the_ends_are_integers(slug: str, name: str, value: Any) -> None:
    good = written(slug, 1, Fraction(10**6), **USUAL)
    assert refused_at(changed(good, (("derivation", "parameters", name), value))) == f"derivation.parameters.{name}"


@for_each("slug", OF)
def test_the_ends_are_in_order(slug: str) -> None:
    good = written(slug, 1, Fraction(10**6), **USUAL)
    assert refused_at(changed(good, (("derivation", "parameters", "lower"), "4"))) == "derivation.parameters"


@for_each("slug", OF)
def test_the_norm_is_that_of_the_output(slug: str) -> None:
    for norm, other in itertools.permutations(METRICS, 2):
        good = written(slug, 1, Fraction(10**6), **{**USUAL, "norm": norm})
        forged = changed(good, (("derivation", "parameters", "norm"), other))
        assert refused_at(forged) == "derivation.output.metric"
        forged = changed(good, (("derivation", "output", "metric"), repr(METRICS[other])))
        assert refused_at(forged) == "derivation.output.metric"
    for strange in ("L3", "l2", "", None, "2"):
        forged = changed(good, (("derivation", "parameters", "norm"), strange))
        assert refused_at(forged) == "derivation.parameters.norm"


@for_each("slug", OF)
def test_all_parameters_are_there_and_no_other(slug: str) -> None:
    good = written(slug, 1, Fraction(10**6), **USUAL)
    parameters = at(good, ("derivation", "parameters"))
    for name in parameters:
        fewer = {other: value for other, value in parameters.items() if other != name}
        assert refused_at(changed(good, (("derivation", "parameters"), fewer))) == "derivation.parameters"
    more = {**parameters, "bins": "1"}
    assert refused_at(changed(good, (("derivation", "parameters"), more))) == "derivation.parameters"


@pytest.mark.parametrize("norm", METRICS)
def test_the_number_of_cells_is_that_of_the_output_and_no_other(norm: str) -> None:
    slug = "contributions-of-replaced-units"
    for (lower, upper), rows, groups, per_group, d_in in itertools.product(
        [(0, 1), (-1, 3), (50, 100)], [1, 5, math.inf], [1, 3, math.inf], [1, math.inf], [1, 3]
    ):
        parameters = {"lower": lower, "upper": upper, "rows": rows, "groups": groups, "per_group": per_group}
        bound = THEOREMS[slug](
            _number(d_in), **{name: _number(value) for name, value in parameters.items()}, norm=norm, cells=4
        )
        good = written(slug, d_in, bound, **parameters, norm=norm, cells=4)
        report = check(good)
        assert report.ok and report.remarks == (), report
        if bound != math.inf:
            less = written(slug, d_in, bound * (1 - Fraction(1, 2**100)), **parameters, norm=norm, cells=4)
            assert refused_at(less) == "derivation.bound"
    usual = {**USUAL, "norm": norm}
    good = written(slug, 1, Fraction(10**6), **usual, cells=4)
    for value in ("1", "3", "5"):
        # One cell is claimed where there are four, beside the bound that one cell would have.
        forged = changed(good, (("derivation", "parameters", "cells"), value))
        assert refused_at(forged) == "derivation.parameters.cells"
    strange: list[Any] = ["0", "-1", "1/2", "", None, True, ["4"]]
    for other in strange:
        forged = changed(good, (("derivation", "parameters", "cells"), other))
        assert refused_at(forged) == "derivation.parameters.cells"
    for domain in ("vectors(int)", "vectors(int, size=1)"):
        forged = changed(good, (("derivation", "output", "domain"), domain))
        assert refused_at(forged) == "derivation.parameters.cells"
    # Units that come or go have no such parameter.
    added = written("contributions-of-added-units", 1, Fraction(10**6), **usual)
    more = {**at(added, ("derivation", "parameters")), "cells": "4"}
    assert refused_at(changed(added, (("derivation", "parameters"), more))) == "derivation.parameters"


def test_one_cell_claimed_for_a_question_of_two_groups_is_refused() -> None:
    table = vm.open(stored(VISITS), unit=vm.per("u", rows=3, replace=True), budget=vm.pure(1))
    one = table.agg(n=vm.count()).measurement(spend=vm.pure("1/10")).certificate(1).to_json()
    two = table.group_by("k", keys=["x", "y"]).agg(n=vm.count())
    other = two.measurement(spend=vm.pure("1/10")).certificate(1).to_json()
    assert check(one).ok and check(other).ok
    for document, cells in ((one, "2"), (other, "1")):
        paths = [path for path, _ in leaves(document) if path[-1] == "cells"]
        assert len(paths) == 1
        assert str(refused_at(changed(document, (paths[0], cells)))).endswith("parameters.cells")


def test_one_bin_claimed_for_a_histogram_of_two_is_refused() -> None:
    ages = vm.Space(vm.vectors(int, bounds=(0, 99)), vm.ChangeOneDistance())
    for edges, other in (([0, 9], "2"), ([0, 9, 99], "1")):
        document = (ages >> vm.histogram(edges=edges)).certificate(1).to_json()
        assert check(document).ok
        for value in (other, "0", "-1", "x"):
            forged = changed(document, (("derivation", "parameters", "bins"), value))
            assert refused_at(forged) == "derivation.parameters.bins"


def test_certificates_from_before_cells_were_told_still_hold() -> None:
    text = (Path(__file__).parent / "certificates" / "before_cells.json").read_text()
    for name, document in json.loads(text).items():
        assert not [path for path, _ in leaves(document) if path[-1] in ("cells", "bins")]
        assert check(document).ok, name


@for_each("slug", OF)
def test_a_theorem_fits_its_metric(slug: str) -> None:
    good = written(slug, 1, Fraction(10**6), **USUAL)
    other = next(name for name in OF if name != slug)
    assert refused_at(changed(good, (("derivation", "theorem"), other))) == "derivation.input.metric"
    for metric, where in (
        (repr(OF[other]), "input.metric"),
        ("UnitDistance('mine')", "input"),
        ("SymmetricDistance()", "input"),
        ("DiscreteDistance()", "input.metric"),
    ):
        forged = changed(good, (("derivation", "input", "metric"), metric))
        assert refused_at(forged) == f"derivation.{where}", metric


@for_each("slug", OF)
def test_a_step_goes_from_a_table_on_an_engine_to_integers(slug: str) -> None:
    good = written(slug, 1, Fraction(10**6), **USUAL)
    for domain, where in (
        ("vectors(int)", "input"),
        ("tables({'u': str, 'x': int})", "input"),
        ("engine_table(Schema('u': WORDS))", "input"),
        ("engine_database({'t': engine_table(Schema('u': TEXT))})", "input.domain"),
    ):
        assert refused_at(changed(good, (("derivation", "input", "domain"), domain))) == f"derivation.{where}"
    for domain in ("vectors(float, size=4)", "vectors(int, bounds=(0, 1), size=4)"):
        assert refused_at(changed(good, (("derivation", "output", "domain"), domain))) == "derivation.output.domain"
    assert refused_at(changed(good, (("derivation", "given"), "1/2"))) == "derivation.given"
    assert refused_at(changed(good, (("derivation", "numbers"), "exact"))) == "derivation.numbers"
    assert refused_at(changed(good, (("derivation", "premises"), [good["derivation"]]))) == "derivation.premises"


# --- units one by one ------------------------------------------------------------------------------------------------


def one_by_one(bound: str = "2") -> dict[str, Any]:
    space = vm.Space(ENGINE, ADDED)
    step = Derivation(
        "step", find_theorem("units-one-by-one"), "", "", given_value=Fraction(2), bound_value=Fraction(bound),
        space=space, output=space,
    )  # fmt: skip
    return certify(step, space=space, d_in=Fraction(2)).to_json()


def test_what_is_done_unit_by_unit_moves_exactly_as_many() -> None:
    assert units_one_by_one(Fraction(2)) == 2 and check(one_by_one()).ok
    for bound in ("0", "1", "3"):
        assert refused_at(one_by_one(bound)) == "derivation.bound"


def test_what_is_done_unit_by_unit_takes_tables_on_an_engine_to_such_under_one_metric() -> None:
    good = one_by_one()
    database = "engine_database({'t': engine_table(Schema('u': TEXT))})"
    forged = changed(good, (("derivation", "input", "domain"), database))
    assert refused_at(forged) == "claim.neighborhood.domain"  # the step itself is good
    for path, value, where in (
        (("output", "domain"), database, "output.domain"),
        (("output", "domain"), "vectors(int)", "output"),
        (("output", "metric"), "UnitDistance('unbounded')", "output.metric"),
        (("output", "metric"), repr(REPLACED), "output.metric"),
        (("input", "metric"), repr(REPLACED), "output.metric"),
        (("input", "metric"), "DiscreteDistance()", "input.metric"),
        (("parameters",), {"d_in": "2"}, "parameters"),
        (("given",), "3/2", "given"),
    ):
        assert refused_at(changed(good, (("derivation", *path), value))) == f"derivation.{where}", (path, value)
    users = "SymmetricIdDistance(id='who')"
    forged = changed(
        good,
        *((("derivation", place, "metric"), users) for place in ("input", "output")),
        *((("derivation", place, "domain"), "tables({'who': scalars(str)})") for place in ("input", "output")),
    )
    assert refused_at(forged) == "derivation.input.metric"
