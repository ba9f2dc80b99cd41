"""Certificates of quantiles that were picked: those of real questions hold, and no forged one does."""

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from tests.cases import for_each
from tests.tables.quiet import DEPRECATIONS
from tests.viameter_check.forging import changed, refused_at, stored

import viameter as vm
from viameter.core.certificate import certify
from viameter.measures.conversions.response import bounded_range_to_zcdp
from viameter.mechanisms.selection import noisy_max_exponential
from viameter.tables.expressions import Schema
from viameter.tables.expressions.types import INTEGER, TEXT
from viameter.tables.quantile_picks import quantile_picks_of_units
from viameter.tables.spaces import TablesOnEngine, UnitDistance
from viameter.theorem import Derivation, find_theorem
from viameter_check import check

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{message}:{kind.__name__}") for message, kind in DEPRECATIONS
]  # what engines themselves warn of
VISITS = {"u": ["a"], "k": ["x"], "x": [1], "day": [3]}
SLUG = "quantile-picks-of-units"
UNITS = [
    vm.per("u", rows=3),
    vm.per("u", rows=5, groups=2, per_group=2),
    vm.per("u", groups=3, per_group=2, replace=True),
    vm.per_row(),
    vm.per_row(replace=True),
    vm.per_event("day", window=7),
]
SPENDS = [
    vm.pure("1/10"), vm.zcdp("1/10"), vm.approx("1/10", "1/1000000"), vm.approx_zcdp("1/10", "1/1000000"),
]  # fmt: skip
STEPS: dict[Any, str] = {noisy_max_exponential: "pure", bounded_range_to_zcdp: "zcdp"}
USUAL: dict[str, Any] = {
    "step": noisy_max_exponential, "numerator": 9, "denominator": 10, "scale": Fraction(5, 2),
    "rows": Fraction(5), "groups": Fraction(3), "per_group": Fraction(2), "keys": 12, "replaced": False,
}  # fmt: skip


@pytest.mark.parametrize("spend", SPENDS, ids=repr)
def test_every_certificate_of_quantiles_that_were_picked_is_derived_again(spend: Any) -> None:
    for unit, keys in itertools.product(UNITS, ([], ["x"], ["x", "y", "z"])):
        table = vm.open(stored(VISITS), unit=unit, budget=spend)
        table = table.filter(table["x"] > 0)
        asked = {
            "m": vm.median("x", bounds=(0, 9), interval=False),
            "p": vm.quantile("x", 0.9, bounds=(0, 9), interval=False),
        }
        made = (table.group_by("k", keys=keys).agg(**asked) if keys else table.agg(**asked)).measurement(spend=spend)
        for d_in in (0, 1, 2, 40, math.inf):
            report = check(made.certificate(d_in).text)
            assert report.ok and report.remarks == () and SLUG in report.theorems, report
            # That the filter keeps to the rows of each unit is not shown by the certificate.
            assert len(report.claims) == ("units-one-by-one" in report.theorems)


def written(d_in: Any, bound: Any, *, replaces: bool | None = None, **parameters: Any) -> dict[str, Any]:
    """A certificate of one step, with these numbers; under the metric that they are of, unless another is named."""
    metric = UnitDistance("user", "u", replaces=parameters["replaced"] if replaces is None else replaces)
    before = vm.Space(TablesOnEngine(Schema({"u": TEXT, "x": INTEGER})), metric)
    step = Derivation(
        "step", find_theorem(SLUG), "", "", given_value=Fraction(d_in), bound_value=bound,
        parameters=tuple(parameters.items()), space=before, output=bound.measure,
    )  # fmt: skip
    return certify(step, space=before, d_in=Fraction(d_in)).to_json()


def stated(
    d: int, *, step: Any, numerator: int, denominator: int, scale: Fraction, rows: Fraction, groups: Fraction,
    per_group: Fraction, keys: int, replaced: bool,
) -> Any:  # fmt: skip
    """What the statement says, for limits that are small enough to try all numbers of rows."""
    a, b, m = numerator, denominator, max(numerator, denominator - numerator)
    counts = [
        n for n in itertools.product(range(int(per_group) + 1), repeat=min(int(groups), keys)) if sum(n) <= rows
    ]  # fmt: skip
    most, squares = max(map(sum, counts)), max(sum(one**2 for one in n) for n in counts)
    if STEPS[step] == "pure":
        return vm.pure(d * (2 * m if not replaced else 2 * b if keys == 1 else 4 * m) * most / scale)
    factor = Fraction(m**2, 2) if not replaced else Fraction(b**2, 2) if keys == 1 else Fraction(a**2 + (b - a) ** 2)
    return vm.zcdp(d**2 * factor * squares / scale**2)


@pytest.mark.parametrize("step", STEPS, ids=STEPS.get)
def test_picks_cost_what_the_statement_says_and_no_other_number_is_accepted(step: Any) -> None:
    for (a, b), rows, groups, per_group, keys, replaced, d in itertools.product(
        [(1, 2), (9, 10), (0, 1)], [2, 5], [1, 3], [1, 2], [1, 12], [False, True], [0, 1, 3]
    ):
        given: Any = USUAL | {"step": step, "numerator": a, "denominator": b, "keys": keys, "replaced": replaced}
        given |= {"rows": Fraction(rows), "groups": Fraction(groups), "per_group": Fraction(per_group)}
        cost = stated(d, **given)
        assert quantile_picks_of_units(Fraction(d), **given) == cost
        assert check(written(d, cost, **given)).ok
        amount = cost.epsilon if STEPS[step] == "pure" else cost.rho
        made = getattr(vm, STEPS[step])
        for other in (amount + 1, amount * (1 - Fraction(1, 2**100))):
            if other != amount:
                assert refused_at(written(d, made(other), **given)).startswith("derivation.bound.")


FORGED = {
    "half of the sensitivity": ("scale", "5"),
    "a quantile whose score moves less": ("numerator", "5"),
    "fewer rows of a unit": ("rows", "4"),
    "fewer groups of a unit": ("groups", "2"),
    "one row in each group": ("per_group", "1"),
    "one group only": ("keys", "1"),
    "units that are replaced": ("replaced", True),
    "a pick of another measure": ("step", "bounded-range-to-zcdp"),
    "a pick whose range is nothing": ("step", "noisy-max-laplace"),
    "a quantile above 1": ("numerator", "11"),
    "no denominator": ("denominator", "0"),
    "no groups": ("keys", "0"),
    "no scale": ("scale", "0"),
    "a limit of nothing": ("rows", "0"),
}


@for_each("change", FORGED)
def test_forged_certificates_of_picks_are_refused(change: str) -> None:
    good = written(1, stated(1, **USUAL), **USUAL)
    assert check(good).ok
    name, value = FORGED[change]
    where = refused_at(changed(good, (("derivation", "parameters", name), value)))
    # A number that the theorem allows gives another loss; others are refused where they stand.
    assert where in ("derivation.bound.epsilon", f"derivation.parameters.{name}", "derivation.output.measure")


def test_picks_under_a_metric_of_rows_or_of_other_units_are_refused() -> None:
    good = written(1, stated(1, **USUAL), **USUAL)
    assert refused_at(changed(good, (("derivation", "input", "metric"), "SymmetricDistance()")))
    # All else of these is consistent: units that are added are said to be replaced, and the other way round.
    for replaced in (False, True):
        given: Any = USUAL | {"replaced": replaced}
        forged = written(1, stated(1, **given), replaces=not replaced, **given)
        assert refused_at(forged) == "derivation.parameters.replaced"
