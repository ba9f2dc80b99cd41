"""Certificates of keys that were found or ranked: those of real questions hold, and no forged one does."""

import functools
import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import pytest
from tests.cases import for_each
from tests.tables.quiet import DEPRECATIONS
from tests.viameter_check.forging import at, changed, leaves, refused_at, stored

import viameter as vm
from viameter import loss_from_json
from viameter.core.certificate import certify
from viameter.measures.conversions.response import bounded_range_is_pure, bounded_range_to_zcdp
from viameter.mechanisms.selection import noisy_max_exponential
from viameter.tables.expressions import Schema
from viameter.tables.expressions.types import INTEGER, TEXT
from viameter.tables.public_tables import public
from viameter.tables.ranking import top_keys_of_added_units
from viameter.tables.selection_theorems import gaussian_thresholded_keys_of_units, thresholded_keys_of_units
from viameter.tables.spaces import TablesOnEngine, UnitDistance
from viameter.theorem import Derivation, find_theorem
from viameter_check import check
from viameter_check.report import Claim

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{message}:{kind.__name__}") for message, kind in DEPRECATIONS
]  # what engines themselves warn of
VISITS = {"u": ["a"], "k": ["x"], "x": [1], "day": [3]}
UNITS = [
    vm.per("u", rows=3),
    vm.per("u", rows=5, groups=2, per_group=2),
    vm.per("u", groups=3, per_group=2, replace=True),
    vm.per_row(),
    vm.per_row(replace=True),
    vm.per_event("day"),
    vm.per_event("day", window=7),
]
DELTA = [vm.approx("1/10", "1/1000000"), vm.approx_zcdp("1/10", "1/1000000")]
SPENDS = [vm.pure("1/10"), vm.zcdp("1/10"), *DELTA]
LAPLACE, GAUSSIAN, TOP = "thresholded-keys-of-units", "gaussian-thresholded-keys-of-units", "top-keys-of-added-units"


# --- certificates of questions ---------------------------------------------------------------------------------------


def only_steps(claims: tuple[Claim, ...]) -> bool:
    """Whether nothing is trusted but the steps after which a table has other columns."""
    return all("by steps that are not described" in claim.message for claim in claims)


def tables(budget: Any) -> Iterator[Any]:
    """Tables of all units, and one after steps and a join, of which several rows come."""
    for unit in UNITS:
        yield vm.open(stored(VISITS), unit=unit, budget=budget)
    for unit in UNITS[:1] + UNITS[-1:]:
        table = vm.open(stored(VISITS), unit=unit, budget=budget)
        yield table.filter(table["x"] > 0).join(public({"k": ["x", "x"], "z": ["p", "q"]}), on="k")


@pytest.mark.parametrize("spend", DELTA, ids=repr)
def test_every_certificate_of_keys_that_were_found_is_derived_again(spend: Any) -> None:
    used: set[str] = set()
    for table in tables(spend):
        found = table.heavy_hitters("k").release(spend=spend)
        assert check(found.certificate().text).ok
        for d_in in (0, 1, 2, 40, 10**9, math.inf):
            report = check(found.measurement.certificate(d_in).text)
            assert report.ok and report.remarks == () and only_steps(report.claims), report
            used |= set(report.theorems)
    assert used == {LAPLACE if spend == DELTA[0] else GAUSSIAN, "chain", "units-one-by-one"}


@pytest.mark.parametrize("spend", SPENDS, ids=repr)
@pytest.mark.parametrize("by", ["rows", "units"])
def test_every_certificate_of_keys_that_were_ranked_is_derived_again(spend: Any, by: Any) -> None:
    used: set[str] = set()
    for table in tables(spend):
        made = table.group_by("k", keys=["x", "y", "z"]).top(2, by=by).measurement(spend=spend)
        for d_in in (0, 1, 2, math.inf):
            report = check(made.certificate(d_in).text)
            assert report.ok and report.remarks == () and only_steps(report.claims), report
            used |= set(report.theorems)
    # Counts of units that are replaced move in both directions.
    assert {TOP, "top-k-by-peeling", "contributions-of-replaced-units", "units-one-by-one"} <= used


def test_a_delta_below_all_others_is_stated_too_large_and_that_is_said() -> None:
    for spend in (vm.approx(10**9, "1/2"), vm.approx_zcdp(10**9, "1/2")):
        table = vm.open(stored(VISITS), unit=UNITS[0], budget=spend)
        report = check(table.heavy_hitters("k").release(spend=spend).certificate().text)
        assert report.ok and len(report.remarks) == 1
        assert report.remarks[0].startswith("derivation.bound.delta is looser than derived by")


# --- one number or text changed in a whole certificate ---------------------------------------------------------------

OTHERS: list[Any] = [
    "0", "1", "2", "3", "1/3", "inf", "-1", "1000000", "1/1000000000", "", "exact", "outward",
    "pure", "approx", "zcdp", "approx-zcdp", "noisy-max-exponential", "bounded-range-is-pure", "bounded-range-to-zcdp",
    "UnitDistance('user', by='u')", "UnitDistance('user', by='u', replaces=True)", "UnitDistance('unbounded')",
    "SymmetricDistance()", "vectors(str)", "engine_table(Schema('u': TEXT))",
    LAPLACE, GAUSSIAN, TOP, "thresholded-keys", "top-k-by-peeling", None, True, False, {}, [],
]  # fmt: skip


@functools.cache
def documents() -> dict[str, dict[str, Any]]:
    """A certificate of each theorem in each measure, and of both kinds of unit."""
    made: dict[str, Any] = {}
    for spend, unit in zip(DELTA, (vm.per("u", rows=3), vm.per("u", rows=3, replace=True)), strict=True):
        table = vm.open(stored(VISITS), unit=unit, budget=spend)
        made[f"{spend!r} {unit!r}"] = table.heavy_hitters("k").release(spend=spend).measurement
    for spend in SPENDS[:2]:
        table = vm.open(stored(VISITS), unit=vm.per("u", rows=3), budget=spend)
        made[f"top {spend!r}"] = table.group_by("k", keys=["x", "y"]).top(2).measurement(spend=spend)
    return {name: measurement.certificate(1).to_json() for name, measurement in made.items()}


def test_any_change_of_one_value_is_refused_or_claims_no_less() -> None:
    for name, document in documents().items():
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
                assert forged["claim"]["neighborhood"] == document["claim"]["neighborhood"], name
                assert loss_from_json(document["claim"]["loss"]) <= loss_from_json(forged["claim"]["loss"])
        assert refused > 500


def test_a_lower_number_everywhere_is_refused_at_the_theorem() -> None:
    for name, document in documents().items():
        for field, value in at(document, ("derivation", "bound")).items():
            if field == "measure":
                continue
            less = str(Fraction(value) * (1 - Fraction(1, 2**90)))
            places = [("derivation", "bound", field), ("claim", "loss", field)]
            forged = changed(document, *((place, less) for place in places))
            assert refused_at(forged) == f"derivation.bound.{field}", name


def test_another_metric_everywhere_is_refused_at_the_theorem() -> None:
    plain, replaced = "UnitDistance('user', by='u')", "UnitDistance('user', by='u', replaces=True)"
    for name, document in documents().items():
        was, other = (replaced, plain) if "replaces" in str(document) else (plain, replaced)
        paths = [path for path, value in leaves(document) if value == was]
        text = document["claim"]["text"].replace(was, other)
        forged = changed(document, *((path, other) for path in paths), (("claim", "text"), text))
        assert len(paths) == 2 and refused_at(forged) == "derivation.input.metric", name


# --- the rules, one node at a time -----------------------------------------------------------------------------------

ENGINE = TablesOnEngine(Schema({"u": TEXT, "x": INTEGER}))
ADDED, REPLACED = UnitDistance("user", "u"), UnitDistance("user", "u", replaces=True)
MEASURES: dict[str, Any] = {LAPLACE: vm.approx(1, 0).measure, GAUSSIAN: vm.approx_zcdp(1, 0).measure}
THEOREMS: dict[str, Any] = {LAPLACE: thresholded_keys_of_units, GAUSSIAN: gaussian_thresholded_keys_of_units}
FIRST = {LAPLACE: "epsilon", GAUSSIAN: "rho"}
USUAL: dict[str, Any] = {"scale": Fraction(5, 2), "threshold": 30, "total": 7, "each": 3, "replaced": False}
RANKED: dict[str, Any] = {"step": noisy_max_exponential, "k": 3, "scale": Fraction(5, 2), "rows": 4, "per_group": 2}
LARGE = 10**6
"""More than any bound below."""


def written(slug: str, d_in: Any, bound: Any, **parameters: Any) -> dict[str, Any]:
    """A certificate of one step, with these numbers."""
    given = tuple((name, _number(value)) for name, value in parameters.items())
    before = vm.Space(ENGINE, REPLACED if parameters.get("replaced") else ADDED)
    step = Derivation(
        "step", find_theorem(slug), "", "", given_value=_number(d_in), bound_value=bound, parameters=given,
        space=before, output=bound.measure,
    )  # fmt: skip
    return certify(step, space=before, d_in=_number(d_in)).to_json()


def _number(value: Any) -> Any:
    return Fraction(value) if isinstance(value, int) and not isinstance(value, bool) else value


def loose_step(slug: str) -> dict[str, Any]:
    """A certificate of one step whose bound is larger than needed, so that nothing but the change is refused."""
    if slug == TOP:
        return written(TOP, 1, top_keys_of_added_units(Fraction(1), **RANKED), **RANKED)
    return written(slug, 1, MEASURES[slug].loss(LARGE, 1), **USUAL)


def chance(slug: str, k: int, scale: Fraction) -> Any:
    """p as the statements write it, with MPFR."""
    s, one = gmpy2.mpfr(gmpy2.mpq(scale)), gmpy2.mpfr(1)
    if slug == GAUSSIAN:
        if k <= 0:
            return one
        return min(one, gmpy2.exp(-(k**2) / (2 * s**2)) / ((1 - gmpy2.exp(-k / s**2)) * max(one, 12533 * s / 5000)))
    return gmpy2.exp(-k / s) / (1 + gmpy2.exp(-1 / s)) if k >= 0 else 1 - chance(slug, 1 - k, scale)


def true_delta(slug: str, d: int, *, scale: Fraction, threshold: int, total: int, each: int) -> Fraction:
    """The delta of the statements."""
    with gmpy2.context(precision=4000):
        single = 1 - (1 - chance(slug, threshold - 1, scale)) ** (d * total)
        full = 1 - (1 - chance(slug, threshold - d * each, scale)) ** math.ceil(Fraction(total, each))
        return Fraction(gmpy2.mpq(max(single, full)))


def true_amount(slug: str, d: int, *, scale: Fraction, total: int, each: int, replaced: bool) -> Fraction:
    """The epsilon or the rho of the statements."""
    amount = d * total / scale if slug == LAPLACE else d**2 * total * each / (2 * scale**2)
    return amount * (2 if replaced else 1)


@pytest.mark.parametrize("slug", THEOREMS)
@pytest.mark.parametrize("replaced", [False, True])
def test_the_numbers_of_the_statement_are_accepted_and_the_least_bit_less_is_not(slug: str, replaced: bool) -> None:
    many = 0
    for scale, threshold, (total, each), d in itertools.product(
        [Fraction(1, 3), Fraction(5, 2), Fraction(40)], [1, 2, 9, 60], [(1, 1), (7, 1), (7, 3)], [1, 4]
    ):
        if slug == GAUSSIAN and threshold > 45 * scale:
            continue  # too small for the oracle
        unit = {"scale": scale, "total": total, "each": each}
        amount = true_amount(slug, d, **unit, replaced=replaced)  # type: ignore[arg-type]
        delta = true_delta(slug, d, **unit, threshold=threshold)  # type: ignore[arg-type]
        given = {**unit, "threshold": threshold, "replaced": replaced}
        above, below = 1 + Fraction(1, 2**250), 1 - Fraction(1, 2**600)
        bound = MEASURES[slug].loss(amount, min(Fraction(1), delta * above))
        report = check(written(slug, d, bound, **given))
        assert report.ok and report.remarks == (), report
        low_delta = written(slug, d, MEASURES[slug].loss(amount, delta * below), **given)
        assert refused_at(low_delta) == "derivation.bound.delta"
        low_amount = written(slug, d, MEASURES[slug].loss(amount * below, min(Fraction(1), delta * above)), **given)
        assert refused_at(low_amount) == f"derivation.bound.{FIRST[slug]}"
        many += delta < Fraction(1, 2)
    assert many > 20


@pytest.mark.parametrize("slug", THEOREMS)
@pytest.mark.parametrize("replaced", [False, True])
def test_the_numbers_of_the_library_are_accepted_without_a_remark(slug: str, replaced: bool) -> None:
    for scale, threshold, (total, each), d in itertools.product(
        [Fraction(1, 100), Fraction(7, 3), Fraction(10**6)],
        [1, 3, 19, 400, 10**7],
        [(1, 1), (20, 1), (20, 7), (10**12, 10**3)],
        [1, 3, 10**9],
    ):
        if threshold / scale > 1000 or threshold**2 / scale**2 > 2000:
            continue  # where the library states a delta that is larger than needed
        given = {"scale": scale, "threshold": threshold, "total": total, "each": each, "replaced": replaced}
        bound = THEOREMS[slug](Fraction(d), **given)
        report = check(written(slug, d, bound, **given))
        assert report.ok and report.remarks == (), report


@for_each("slug", THEOREMS)
def test_nothing_comes_of_nothing_and_everything_of_an_infinite_distance(slug: str) -> None:
    loss = MEASURES[slug].loss
    assert check(written(slug, 0, loss(0, 0), **USUAL)).ok
    assert check(written(slug, math.inf, loss(math.inf, 1), **USUAL)).ok
    assert refused_at(written(slug, math.inf, loss(LARGE, 1), **USUAL)) == f"derivation.bound.{FIRST[slug]}"
    assert refused_at(written(slug, math.inf, loss(math.inf, "1/2"), **USUAL)) == "derivation.bound.delta"


@for_each("slug", THEOREMS)
def test_numbers_that_need_a_larger_bound_are_refused(slug: str) -> None:
    """Each parameter, changed beside the bound that stands there."""
    good = written(slug, 1, THEOREMS[slug](Fraction(1), **USUAL), **USUAL)
    assert check(good).ok
    amount, delta = f"derivation.bound.{FIRST[slug]}", "derivation.bound.delta"
    for name, value, where in (
        ("scale", "2", amount), ("scale", "3", delta), ("threshold", "29", delta), ("threshold", "1", delta),
        ("total", "8", amount), ("each", "5", delta if slug == LAPLACE else amount),
    ):  # fmt: skip
        assert refused_at(changed(good, (("derivation", "parameters", name), value))) == where, (name, value)
    assert refused_at(changed(good, (("derivation", "given"), "2"))) == amount


@for_each("slug", THEOREMS)
def test_twice_as_much_is_needed_where_units_are_replaced(slug: str) -> None:
    once = THEOREMS[slug](Fraction(1), **USUAL)
    twice = MEASURES[slug].loss(2 * getattr(once, FIRST[slug]), once.delta)
    replaced = {**USUAL, "replaced": True}
    assert check(written(slug, 1, twice, **replaced)).ok
    assert refused_at(written(slug, 1, once, **replaced)) == f"derivation.bound.{FIRST[slug]}"


# --- what the theorems do not speak of -------------------------------------------------------------------------------

NO_NUMBERS = ["", "x", "-1", "nan", "-inf", "2.0", None, True, ["2"]]


@for_each("slug", THEOREMS)
def test_parameters_of_keys_that_are_found_are_what_they_must_be(slug: str) -> None:
    good = loose_step(slug)
    assert check(good).ok
    for name, strange in (
        ("scale", ["0", "inf", str(2**62)]),
        ("threshold", ["0", "1/2", "inf", str(2**62)]),
        ("total", ["0", "2", "7/2", "inf"]),
        ("each", ["0", "3/2", "inf"]),
    ):
        for value in [*NO_NUMBERS, *strange]:
            forged = changed(good, (("derivation", "parameters", name), value))
            assert refused_at(forged) == f"derivation.parameters.{name}", (name, value)
    assert refused_at(changed(good, (("derivation", "parameters", "each"), "8"))) == "derivation.parameters.total"
    for no_flag in ("true", "0", None):
        forged = changed(good, (("derivation", "parameters", "replaced"), no_flag))
        assert refused_at(forged) == "derivation.parameters.replaced"


def test_parameters_of_keys_that_are_ranked_are_what_they_must_be() -> None:
    good = loose_step(TOP)
    assert check(good).ok
    for name, strange in (
        ("step", ["noisy-max-laplace", "exponential-range", "2"]),
        ("k", ["0", "1/2", "inf"]),
        ("scale", ["0", "inf"]),
        ("rows", ["0", "7/2"]),
        ("per_group", ["0", "3/2"]),
    ):
        for value in [*NO_NUMBERS, *strange]:
            forged = changed(good, (("derivation", "parameters", name), value))
            assert refused_at(forged) == f"derivation.parameters.{name}", (name, value)


@for_each("slug", [*THEOREMS, TOP])
def test_all_parameters_are_there_and_no_other(slug: str) -> None:
    good = loose_step(slug)
    parameters = at(good, ("derivation", "parameters"))
    for name in parameters:
        fewer = {other: value for other, value in parameters.items() if other != name}
        assert refused_at(changed(good, (("derivation", "parameters"), fewer))) == "derivation.parameters"
    more = {**parameters, "groups": "1"}
    assert refused_at(changed(good, (("derivation", "parameters"), more))) == "derivation.parameters"


@pytest.mark.parametrize("slug", [*THEOREMS, TOP])
def test_a_theorem_fits_its_metric_its_domain_and_its_measure(slug: str) -> None:
    good = loose_step(slug)
    for path, value, where in (
        (("input", "metric"), repr(REPLACED), "input.metric"),
        (("input", "metric"), "UnitDistance('bounded', replaces=True)", "input.metric"),
        (("input", "metric"), "UnitDistance('mine')", "input"),
        (("input", "metric"), "SymmetricDistance()", "input"),
        (("input", "metric"), "DiscreteDistance()", "input.metric"),
        (("input", "domain"), "vectors(str)", "input"),
        (("input", "domain"), "engine_database({'t': engine_table(Schema('u': TEXT))})", "input.domain"),
        (("given",), "1/2", "given"),
        (("premises",), [good["derivation"]], "premises"),
        (("numbers",), "outward" if slug == TOP else "exact", "numbers"),
    ):
        assert refused_at(changed(good, (("derivation", *path), value))) == f"derivation.{where}", (path, value)
    for measure, bound in (
        ("pure", vm.pure(LARGE)), ("approx", vm.approx(LARGE, 1)), ("zcdp", vm.zcdp(LARGE)),
        ("approx-zcdp", vm.approx_zcdp(LARGE, 1)), ("bounded-range", vm.bounded_range(LARGE)),
    ):  # fmt: skip
        if measure != good["claim"]["measure"]:
            forged = changed(
                good, (("derivation", "output", "measure"), measure), (("derivation", "bound"), bound.to_json())
            )
            assert refused_at(forged) == "derivation.output.measure", measure
    for metric in ("UnitDistance('unbounded')", "UnitDistance('entity', by='t')"):
        # The step itself is good.
        forged = changed(good, (("derivation", "input", "metric"), metric))
        assert refused_at(forged) == "claim.neighborhood.metric"


@for_each("slug", THEOREMS)
def test_whether_units_are_replaced_is_what_the_metric_says(slug: str) -> None:
    for replaced in (False, True):
        good = written(slug, 1, MEASURES[slug].loss(LARGE, 1), **{**USUAL, "replaced": replaced})
        assert check(good).ok
        forged = changed(good, (("derivation", "parameters", "replaced"), not replaced))
        assert refused_at(forged) == "derivation.input.metric"
        other = repr(ADDED if replaced else REPLACED)
        assert refused_at(changed(good, (("derivation", "input", "metric"), other))) == "derivation.input.metric"


# --- the largest counts ----------------------------------------------------------------------------------------------

PICKS: dict[Any, str] = {noisy_max_exponential: "pure", bounded_range_is_pure: "pure", bounded_range_to_zcdp: "zcdp"}


@pytest.mark.parametrize("step", PICKS, ids=PICKS.get)
def test_k_picks_cost_k_times_one_and_no_other_number_is_accepted(step: Any) -> None:
    made = getattr(vm, PICKS[step])
    for k, scale, rows, per_group, d in itertools.product(
        [1, 4], [Fraction(1, 3), Fraction(20)], [2, 6, math.inf], [1, 5, math.inf], [0, 1, 3, math.inf]
    ):
        most = min(rows, per_group)
        eta: Any = Fraction(0) if d == 0 else math.inf if math.inf in (most, d) else d * Fraction(most) / scale
        cost: Any = k * eta if PICKS[step] == "pure" or eta == math.inf else k * eta**2 / 8
        given = {"step": step, "k": k, "scale": scale, "rows": rows, "per_group": per_group}
        assert check(written(TOP, d, made(cost), **given)).ok
        library = top_keys_of_added_units(
            _number(d), **{name: _number(value) for name, value in given.items()} | {"k": k}
        )
        assert library == made(cost)
        for other in (cost + 1, cost * (1 - Fraction(1, 2**100))) if cost != math.inf else (LARGE,):
            if other != cost:
                assert refused_at(written(TOP, d, made(other), **given)).startswith("derivation.bound.")


def test_numbers_of_ranked_keys_that_need_another_bound_are_refused() -> None:
    good = loose_step(TOP)
    for name, value in (
        ("k", "2"),
        ("k", "4"),
        ("scale", "2"),
        ("scale", "3"),
        ("per_group", "3"),
        ("per_group", "inf"),
    ):
        forged = changed(good, (("derivation", "parameters", name), value))
        assert refused_at(forged) == "derivation.bound.epsilon", (name, value)
    assert refused_at(changed(good, (("derivation", "parameters", "rows"), "1"))) == "derivation.bound.epsilon"
    assert refused_at(changed(good, (("derivation", "given"), "2"))) == "derivation.bound.epsilon"
