"""The registry of conversions, the search for a way, and conversions of measurements."""

from __future__ import annotations

import itertools
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from tests.cases import for_each

import viameter as vm
from viameter.core import Converted, conversions_from, convert, suggest
from viameter.core.conversion import To, conversion, conversions_to, same_measure
from viameter.errors import NotExact, NoTheorem, NumberError, ParameterError, RegistryError
from viameter.measures.records import MEASURES
from viameter.theorem import Numbers, theorem

loose: Any = vm
loose_convert: Any = convert
ROWS = vm.Space(vm.vectors(int), vm.SymmetricDistance())
COUNT = ROWS >> vm.count() >> vm.laplace(scale=2)
SCORES = vm.Space(vm.vectors(int, size=3), vm.LInfDistance())
LOSSES: dict[vm.Measure, Any] = {
    vm.PureDP: vm.pure("1/2"),
    vm.ApproxDP: vm.approx("1/2", "1e-6"),
    vm.ZCDP: vm.zcdp("1/5"),
    vm.ApproxZCDP: vm.approx_zcdp("1/5", "1e-9"),
    vm.GaussianDP: vm.gdp("1/2"),
    vm.BoundedRange: vm.bounded_range("1/2"),
    vm.RenyiDP: vm.renyi({2: "1/10", 8: "1/2"}),
    vm.Profile: vm.profile({1: "1e-3", 2: "1e-6"}),
}
GIVEN: dict[str, Any] = {"delta": "1e-3", "epsilon": "3/2", "order": 4}


def slugs(made: Any) -> list[str]:
    return [node.theorem.slug for node in made.explain(1).derivation.nodes()]


# --- losses ----------------------------------------------------------------------------------------------------------


def test_the_usage_that_is_documented_works() -> None:
    assert vm.bounded_range("1/2").to(vm.ZCDP) == vm.zcdp("1/32")
    made = vm.zcdp("1/5").to(vm.ApproxDP, delta="1e-6")
    assert Fraction("3.131055680764347") <= made.epsilon <= Fraction("3.13105568076436")
    assert vm.zcdp("1/5").to(vm.ApproxDP, epsilon=made.epsilon).delta <= Fraction("1e-6") * (1 + Fraction(1, 10**12))


def test_same_measure_ensures_the_same_loss() -> None:
    for measure, loss in LOSSES.items():
        assert loss.to(measure) == loss
        made = convert(loss, measure)
        assert (made.loss, made.steps) == (loss, ())
        assert "same-measure" in str(made.explain())
    assert same_measure(vm.pure(1)) == vm.pure(1)
    own = vm.measure("Own", trust="t")
    assert own(3).to(own) == own(3)


def test_same_measure_requires_that_nothing_else_is_asked_for() -> None:
    for measure, name in ((vm.ZCDP, "delta"), (vm.PureDP, "order"), (vm.RenyiDP, "epsilon")):
        with pytest.raises((ParameterError, NoTheorem)):
            LOSSES[measure].to(measure, **{name: GIVEN[name]})
    with pytest.raises(NoTheorem):
        vm.zcdp(1).to(vm.ZCDP, by="pure-to-zcdp")


@for_each(("source", "target"), list(itertools.product(MEASURES, repeat=2)))
def test_every_pair_of_measures_converts_by_steps_that_fit_or_is_refused(source: str, target: str) -> None:
    loss, measure = LOSSES[MEASURES[source]], MEASURES[target]
    for names in itertools.chain.from_iterable(itertools.combinations(GIVEN, size) for size in range(4)):
        try:
            made = convert(loss, measure, **{name: GIVEN[name] for name in names})
        except (NoTheorem, ParameterError):
            continue
        assert made.loss.measure == measure
        assert (made.given, made.steps[-1].result if made.steps else loss) == (loss, made.loss)
        assert all(left.result == right.given for left, right in itertools.pairwise(made.steps))
        # What was given was used, once.
        assert sorted(name for step in made.steps for name, _ in step.parameters) == sorted(names)
        assert len(made.steps) <= 3


@for_each("source", MEASURES)
def test_zero_converts_to_zero_and_infinite_to_infinite(source: str) -> None:
    measure = MEASURES[source]
    for made in conversions_from(measure):
        given = {name: GIVEN[name] for name in made.takes}
        zero = measure.zero.to(made.target, by=made.theorem.slug, **given)
        # Of a pure loss only the orders asked for are bounded.
        assert zero == (made.target.zero if made.theorem.slug != "pure-to-renyi" else vm.renyi({4: 0}))
        infinite = measure.infinite.to(made.target, by=made.theorem.slug, **given)
        assert not infinite.is_finite


def test_a_missing_argument_is_an_error_that_names_it() -> None:
    with pytest.raises(ParameterError, match=r"from ZCDP to ApproxDP takes delta= or epsilon=, and nothing was given"):
        vm.zcdp(1).to(vm.ApproxDP)
    with pytest.raises(ParameterError, match="order="):
        vm.zcdp(1).to(vm.RenyiDP)
    with pytest.raises(ParameterError, match="delta= or epsilon="):
        vm.gdp(1).to(vm.ApproxDP)
    assert vm.bounded_range(1).to(vm.ApproxDP) == vm.approx(1, 0)  # through PureDP it takes none
    with pytest.raises(ParameterError, match="delta="):
        COUNT.to(vm.ZCDP).to(vm.ApproxDP)


def test_a_superfluous_argument_is_an_error_that_names_it() -> None:
    with pytest.raises(ParameterError, match=r"delta= is superfluous.*takes nothing"):
        vm.pure(1).to(vm.ZCDP, delta="1e-6")
    with pytest.raises(ParameterError, match="order= is superfluous"):
        vm.zcdp(1).to(vm.ApproxDP, delta="1e-6", order=2)
    with pytest.raises(ParameterError, match="delta= and epsilon= was given: choose"):
        vm.zcdp(1).to(vm.ApproxDP, delta="1e-6", epsilon=1)
    with pytest.raises(ParameterError, match="epsilon= is superfluous"):
        COUNT.to(vm.ZCDP, epsilon=1)


@for_each("name", ["delta", "epsilon", "order"])
@for_each("value", [float("nan"), 0.25, -1, "-1/2", "x", True, Decimal("NaN"), [0.5], object()])
def test_arguments_that_are_no_numbers_are_refused(name: str, value: Any) -> None:
    target = vm.RenyiDP if name == "order" else vm.ApproxDP
    with pytest.raises(NumberError):
        loose.zcdp(1).to(target, **{name: value})
    with pytest.raises(NumberError):
        loose.Measurement.to(COUNT, target, **{name: value})


def test_floats_are_refused_as_floats() -> None:
    for name, target in (("delta", vm.ApproxDP), ("epsilon", vm.ApproxDP), ("order", vm.RenyiDP)):
        with pytest.raises(NotExact, match=name):
            loose.zcdp(1).to(target, **{name: 0.5 if name != "order" else 2.5})


def test_arguments_out_of_range_are_refused() -> None:
    for delta in ("1.0000001", 2, "inf"):
        with pytest.raises(NumberError):
            vm.zcdp(1).to(vm.ApproxDP, delta=delta)
    with pytest.raises(NumberError):
        vm.zcdp(1).to(vm.ApproxDP, epsilon="inf")
    for order in (1, "1", 0, [2, 1], Fraction(1, 2)):
        with pytest.raises(NumberError, match="not above 1"):
            vm.zcdp(1).to(vm.RenyiDP, order=order)
    with pytest.raises(ParameterError, match="names no order"):
        vm.zcdp(1).to(vm.RenyiDP, order=[])


@for_each("target", [None, "ZCDP", 1, vm.zcdp, vm.zcdp(1)])
def test_what_is_no_measure_is_refused(target: Any) -> None:
    with pytest.raises(ParameterError, match="takes a measure"):
        loose.pure(1).to(target)
    with pytest.raises(ParameterError, match="takes a measure"):
        loose.Measurement.to(COUNT, target)
    with pytest.raises(ParameterError, match="not a loss"):
        loose_convert(target if target != vm.zcdp(1) else vm.ZCDP, vm.ZCDP)


# --- the theorem that is taken ---------------------------------------------------------------------------------------


def test_by_names_the_theorem_where_several_lead_there() -> None:
    assert convert(vm.bounded_range(1), vm.ZCDP).steps[0].slug == "bounded-range-to-zcdp"
    sharp = vm.bounded_range(1).to(vm.ZCDP, by="bounded-range-to-zcdp-sharp")
    assert sharp < vm.bounded_range(1).to(vm.ZCDP) == vm.bounded_range(1).to(vm.ZCDP, by="bounded-range-to-zcdp")
    assert convert(vm.pure(1), vm.ZCDP).steps[0].slug == "pure-to-zcdp"
    with pytest.raises(NoTheorem, match="bounded-range-to-zcdp, bounded-range-to-zcdp-sharp"):
        vm.bounded_range(1).to(vm.ZCDP, by="pure-to-zcdp")
    with pytest.raises(ParameterError, match="slug"):
        loose.pure(1).to(vm.ZCDP, by=1)


def test_where_no_theorem_leads_directly_the_best_way_is_taken() -> None:
    # The sharper theorem on the way is taken, though it is not the one that is meant for one step.
    found = convert(vm.bounded_range("1/2"), vm.RenyiDP, order=8)
    assert [step.slug for step in found.steps] == ["bounded-range-to-zcdp-sharp", "zcdp-to-renyi"]
    ways = [
        vm.bounded_range("1/2").to(vm.RenyiDP, order=8, by=slug)
        for slug in ("bounded-range-is-pure", "bounded-range-to-zcdp", "bounded-range-to-zcdp-sharp")
    ]
    assert found.loss == min(ways, key=lambda loss: loss.at(8))
    assert len({way.at(8) for way in ways}) == 3
    assert "bounded-range-to-zcdp-sharp" in str(found.explain())


def test_ways_do_not_go_through_a_measure_that_can_be_left_out() -> None:
    made = convert(vm.bounded_range(1), vm.ApproxZCDP)
    assert [step.slug for step in made.steps] in (
        ["bounded-range-to-zcdp-sharp", "zcdp-is-approx-zcdp"],
        ["bounded-range-to-zcdp", "zcdp-is-approx-zcdp"],
    )
    assert made.loss.delta == 0  # type: ignore[attr-defined]
    assert convert(vm.gdp(1), vm.ApproxZCDP).loss == vm.approx_zcdp("1/2", 0)


def test_where_nothing_leads_the_error_says_what_does() -> None:
    for loss, target in ((vm.zcdp(1), vm.PureDP), (vm.pure(1), vm.GaussianDP), (vm.gdp(1), vm.BoundedRange)):
        with pytest.raises(NoTheorem, match=f"no theorem leads from {loss.measure!r} to {target!r}.*count in one"):
            loss.to(target)
    own = vm.measure("Own", trust="t")
    with pytest.raises(NoTheorem, match="from Own there is a way to nothing"):
        own(1).to(vm.PureDP)
    with pytest.raises(NoTheorem, match="to Own from nothing"):
        vm.pure(1).to(own)


def test_a_measure_that_only_has_the_name_of_a_known_one_is_not_converted() -> None:
    impostor = vm.measure("PureDP", trust="t")
    with pytest.raises(NoTheorem):
        impostor(1).to(vm.ZCDP)
    with pytest.raises(NoTheorem):
        vm.bounded_range(1).to(impostor)


def test_suggestions_name_the_call() -> None:
    assert suggest(vm.PureDP, vm.ZCDP) == "convert it: measurement.to(vm.ZCDP)"
    assert suggest(vm.ZCDP, vm.ApproxDP) == "convert it: measurement.to(vm.ApproxDP, delta=...)"
    assert suggest(vm.PureDP, vm.ZCDP, subject="loss") == "convert it: loss.to(vm.ZCDP)"
    assert suggest(vm.ZCDP, vm.PureDP).startswith("convert the other: it.to(vm.ZCDP")
    assert suggest(vm.ZCDP, vm.ZCDP) == "both are ZCDP already"
    # What holds for delta 0 only is not suggested.
    assert suggest(vm.ApproxDP, vm.PureDP) == "convert the other: it.to(vm.ApproxDP)"
    own = vm.measure("Own", trust="t")
    assert suggest(own, vm.PureDP) == "no theorem leads from Own to PureDP, or back"


def test_users_register_conversions_of_their_own_and_what_they_trust_is_shown() -> None:
    own = vm.measure("HalfPure", trust="twice its amount bounds the max divergence")

    @conversion(source=own, target=vm.PureDP)
    @theorem("half-pure-to-pure-in-a-test", cites="this test", numbers=Numbers.ASSUMED)
    def to_pure(loss: Any) -> Any:
        """Twice the amount is pure.

        Theorem
            So it is said.
        Requires
            Trust.
        Ensures
            Twice the amount.
        Proof
            None.
        Example
            >>> 2 * 2
            4
        """
        return vm.pure(2 * loss.amount)

    from viameter.core.conversion import _CONVERSIONS, _chosen, _routes
    from viameter.theorem.registry import _THEOREMS

    try:
        assert own("1/4").to(vm.PureDP) == vm.pure("1/2")
        assert own("1/4").to(vm.ApproxDP) == vm.approx("1/2", 0)
        explained = convert(own("1/4"), vm.ZCDP, by="pure-to-zcdp-quadratic").explain()
        assert explained.assumptions == (own.assumption,)
        assert suggest(vm.PureDP, own) == "convert the other: it.to(vm.PureDP)"
        assert [made.source for made in conversions_to(vm.PureDP)][-1] == own
        with pytest.raises(RegistryError, match="alternative=True"):
            conversion(source=vm.BoundedRange, target=vm.PureDP)(to_pure)
    finally:
        del _CONVERSIONS[own], _THEOREMS["half-pure-to-pure-in-a-test"]
        _routes.cache_clear()
        _chosen.cache_clear()


def test_conversions_are_registered_with_arguments_that_exist() -> None:
    for takes in (("mu",), ("delta", "delta")):
        with pytest.raises(ParameterError, match="takes="):
            conversion(source=vm.PureDP, target=vm.ZCDP, takes=takes)
    with pytest.raises(RegistryError, match="not registered as a theorem"):
        conversion(source=vm.PureDP, target=vm.ZCDP)(lambda loss: loss)


def test_a_module_that_is_loaded_again_registers_its_conversions_once() -> None:
    before = conversions_from(vm.BoundedRange)
    made = before[0]
    conversion(source=made.source, target=made.target, takes=made.takes)(made.theorem.function)
    assert conversions_from(vm.BoundedRange) == before


def test_what_was_converted_can_be_explained() -> None:
    made = convert(vm.bounded_range("1/2"), vm.ApproxDP, delta="1e-6", by="bounded-range-to-zcdp")
    assert isinstance(made, Converted)
    assert str(made.explain()).splitlines() == [
        f"Whatever satisfies bounded_range(1/2) satisfies {made.loss!r}.",
        f"to(ApproxDP, delta=1/1000000): zcdp(1/32) -> {made.loss!r}",
        "│  A zCDP loss has an epsilon at every delta: the least over all orders [zcdp-to-approx, outward]",
        "└─ to(ZCDP): bounded_range(1/2) -> zcdp(1/32)",
        "      A range of eta is eta^2/8 in zCDP [bounded-range-to-zcdp, exact]",
    ]
    assert pickle.loads(pickle.dumps(made.loss)) == made.loss


# --- measurements ----------------------------------------------------------------------------------------------------


def test_a_converted_measurement_has_the_converted_map_and_the_same_release() -> None:
    made = COUNT.to(vm.ZCDP)
    assert isinstance(made, vm.Measurement)
    assert (made.measure, COUNT.measure) == (vm.ZCDP, vm.PureDP)
    for d_in in (0, 1, 3, "inf"):
        assert made.map(d_in) == COUNT.map(d_in).to(vm.ZCDP)
    assert made.check(1, COUNT.map(1).to(vm.ZCDP))
    assert not made.check(2, COUNT.map(1).to(vm.ZCDP))
    assert made.function is COUNT.function
    assert abs(made([1] * 1000) - 1000) < 200


def test_a_converted_measurement_is_explained_by_the_theorem_over_what_was_there() -> None:
    assert slugs(COUNT.to(vm.ZCDP)) == ["pure-to-zcdp", *slugs(COUNT)]
    twice = COUNT.to(vm.ZCDP).to(vm.ApproxDP, delta="1e-6")
    assert slugs(twice) == ["zcdp-to-approx", "pure-to-zcdp", *slugs(COUNT)]
    assert twice.map(1) == COUNT.map(1).to(vm.ZCDP).to(vm.ApproxDP, delta="1e-6")
    direct = COUNT.to(vm.ApproxDP, delta="1e-6")
    assert direct.map(1) < twice.map(1)
    pick = vm.exponential(SCORES, scale=4)
    way = pick.to(vm.ApproxDP, delta="1e-6")
    assert slugs(way) == ["bounded-range-to-approx", "exponential-range"]
    named = pick.to(vm.ApproxDP, delta="1e-6", by="bounded-range-is-pure")
    assert slugs(named) == ["pure-to-approx", "bounded-range-is-pure", "exponential-range"]
    assert way.map(1).epsilon <= named.map(1).epsilon
    assert "releases are approx" in str(way.explain(1))


def test_post_processing_before_and_after_a_conversion_is_done_in_order() -> None:
    constant = vm.measurement(ROWS, function=len, measure=vm.PureDP, privacy=lambda _: vm.pure("1/2"), trust="t")
    made = constant >> vm.postprocess(lambda n: n + 1)
    made = made.to(vm.ZCDP) >> vm.postprocess(lambda n: n * 10)
    made = made.to(vm.ApproxDP, delta="1e-6") >> vm.postprocess(str)
    assert made([7, 7]) == made.invoke([7, 7]) == "30"
    assert slugs(made) == [
        *("post-processing", "zcdp-to-approx", "post-processing", "pure-to-zcdp", "post-processing", "trusted-map")
    ]
    assert [text for text in made.explain(1).assumptions if text.startswith("t ")]
    processed = [type(step).__name__ for step in made.after]
    assert processed == ["PostProcessing", "To", "PostProcessing", "To", "PostProcessing"]


def test_a_transformation_before_a_converted_measurement_is_below_the_conversion() -> None:
    noise = vm.laplace(COUNT.steps[-1].input_space, scale=2).to(vm.ZCDP)
    made = ROWS >> vm.count() >> noise
    assert made == COUNT.to(vm.ZCDP)
    assert made.map(3) == COUNT.map(3).to(vm.ZCDP)
    assert slugs(made) == slugs(COUNT.to(vm.ZCDP))
    assert made.measure == vm.ZCDP
    halve = vm.transformation(ROWS, function=lambda r: r[::2], output=ROWS, stability=lambda d: 2 * d, trust="t")
    assert (halve >> made).map(1) == COUNT.map(2).to(vm.ZCDP)


def test_equal_conversions_of_equal_measurements_are_equal_and_others_are_not() -> None:
    again = ROWS >> vm.count() >> vm.laplace(scale=2)
    made = [
        COUNT,
        COUNT.to(vm.ZCDP),
        COUNT.to(vm.ZCDP, by="pure-to-zcdp-quadratic"),
        COUNT.to(vm.ApproxDP),
        COUNT.to(vm.ApproxDP, delta="1e-6"),
        COUNT.to(vm.ApproxDP, delta="1e-7"),
        COUNT.to(vm.ZCDP).to(vm.ApproxDP, delta="1e-6"),
    ]
    assert len(set(made)) == len(made)
    assert again.to(vm.ZCDP) == COUNT.to(vm.ZCDP) and hash(again.to(vm.ZCDP)) == hash(COUNT.to(vm.ZCDP))
    assert COUNT.to(vm.ApproxDP, delta="1e-6") == COUNT.to(vm.ApproxDP, delta=Decimal("0.000001"))
    assert COUNT.to(vm.PureDP) is COUNT


def test_conversions_are_shown_in_the_text() -> None:
    assert repr(COUNT.to(vm.ZCDP)) == f"{COUNT!r} >> to(ZCDP)"
    assert repr(COUNT.to(vm.ApproxDP, delta="1e-6")).endswith(">> to(ApproxDP, delta=1/1000000)")
    assert repr(COUNT.to(vm.RenyiDP, order=[8, 2])).endswith(">> to(RenyiDP, order=[2, 8])")
    named = COUNT.to(vm.ZCDP, by="pure-to-zcdp-quadratic") >> vm.postprocess(str)
    assert repr(named).endswith(">> to(ZCDP, by='pure-to-zcdp-quadratic') >> postprocess(str)")


def test_a_measurement_that_cannot_be_converted_says_so_when_it_is_asked() -> None:
    with pytest.raises(NoTheorem, match="no theorem leads"):
        COUNT.to(vm.GaussianDP)
    # Whether a loss has delta 0 is seen only with its distance.
    some = vm.measurement(ROWS, function=len, measure=vm.ApproxDP, privacy=lambda d: vm.approx(1, d / 10), trust="t")
    pure = some.to(vm.PureDP)
    assert pure.map(0) == vm.pure(1)
    with pytest.raises(NoTheorem, match="delta > 0"):
        pure.map(1)


def test_requests_are_checked_when_they_are_made() -> None:
    with pytest.raises(NoTheorem):
        To(vm.ZCDP, vm.PureDP)
    with pytest.raises(ParameterError):
        To(vm.ZCDP, vm.ApproxDP)
    assert repr(To(vm.ZCDP, vm.ApproxDP, given=(("delta", Fraction(1, 10)),))) == "to(ApproxDP, delta=1/10)"
