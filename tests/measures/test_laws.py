"""What holds in every measure: the order is partial and means what it says, sums grow, values are frozen and hashable.

The oracles look at the numbers that losses were made from, never at the losses.
"""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import for_each

import viameter as vm
from viameter.core import Loss, Measure
from viameter.errors import IncomparableLosses

INFINITY = float("inf")
VARIATION = vm.measure("TotalVariation", adds=True, trust="total variation distances of products add up")

Numbers = tuple[Any, ...]
few = st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(7, 2)])
amounts = st.one_of(few, st.fractions(min_value=0, max_value=50, max_denominator=10**6), st.just(INFINITY))
deltas = st.one_of(
    st.sampled_from([Fraction(0), Fraction(1, 10**6), Fraction(1, 2), Fraction(1)]),
    st.fractions(min_value=0, max_value=1, max_denominator=10**6),
)
orders = st.sampled_from([Fraction(3, 2), Fraction(2), Fraction(5, 2), Fraction(4), Fraction(64), INFINITY])
epsilons = st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1), Fraction(3, 2), Fraction(10)])


def number_by_number(left: Numbers, right: Numbers) -> bool:
    return all(a <= b for a, b in zip(left, right, strict=True))


@dataclass(frozen=True)
class Kind:
    """A measure, how its losses are made from numbers, and what the numbers mean."""

    measure: Measure
    make: Callable[..., Loss]
    numbers: st.SearchStrategy[Numbers]
    below: Callable[[Numbers, Numbers], bool] = number_by_number
    adds: bool = True

    def __repr__(self) -> str:
        return repr(self.measure)


def bound_at(order: Any, bounds: dict[Any, Any]) -> Any:
    """A bound at one order holds at every lower one."""
    return min((bound for known, bound in bounds.items() if known >= order), default=INFINITY)


def delta_at(epsilon: Any, points: dict[Any, Any]) -> Any:
    """A delta at one epsilon holds at every higher one."""
    return min((delta for known, delta in points.items() if known <= epsilon), default=1)


def everywhere(at: Callable[[Any, dict[Any, Any]], Any]) -> Callable[[Numbers, Numbers], bool]:
    return lambda left, right: all(at(x, left[0]) <= at(x, right[0]) for x in {*left[0], *right[0]})


one = st.tuples(amounts)
KINDS = [
    Kind(vm.PureDP, vm.pure, one),
    Kind(vm.ZCDP, vm.zcdp, one),
    Kind(vm.GaussianDP, vm.gdp, one),
    Kind(vm.BoundedRange, vm.bounded_range, one, adds=False),
    Kind(VARIATION, VARIATION, one),
    Kind(vm.ApproxDP, vm.approx, st.tuples(amounts, deltas)),
    Kind(vm.ApproxZCDP, vm.approx_zcdp, st.tuples(amounts, deltas)),
    Kind(
        vm.RenyiDP,
        vm.renyi,
        st.tuples(st.dictionaries(orders, amounts, min_size=1, max_size=4)),
        everywhere(bound_at),
    ),
    Kind(
        vm.Profile,
        vm.profile,
        st.tuples(st.dictionaries(epsilons, deltas, min_size=1, max_size=4)),
        everywhere(delta_at),
        adds=False,
    ),
]
EVERY_KIND = pytest.mark.parametrize("kind", KINDS, ids=repr)
EVERY_KIND_THAT_ADDS = pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.adds], ids=repr)
SOME: dict[Measure, Loss] = {
    vm.PureDP: vm.pure("1/10"),
    vm.ZCDP: vm.zcdp("1/32"),
    vm.GaussianDP: vm.gdp("1/2"),
    vm.BoundedRange: vm.bounded_range("0.3"),
    VARIATION: VARIATION("1/5"),
    vm.ApproxDP: vm.approx(1, "1e-6"),
    vm.ApproxZCDP: vm.approx_zcdp("1/2", "1e-9"),
    vm.RenyiDP: vm.renyi({2: "0.1", 4: "0.3"}),
    vm.Profile: vm.profile({1: "1e-3", 2: "1e-6"}),
}


@EVERY_KIND
@settings(max_examples=15)  # for each of the kinds
@given(data=st.data())
def test_one_loss_is_at_most_another_exactly_when_its_numbers_say_so(kind: Kind, data: st.DataObject) -> None:
    left, right = data.draw(kind.numbers), data.draw(kind.numbers)
    a, b = kind.make(*left), kind.make(*right)
    assert (a <= b) == (b >= a) == kind.below(left, right)
    assert (a < b) == (b > a) == (kind.below(left, right) and not kind.below(right, left))


@EVERY_KIND
@settings(max_examples=15)  # for each of the kinds
@given(data=st.data())
def test_the_order_is_reflexive_antisymmetric_and_transitive(kind: Kind, data: st.DataObject) -> None:
    a, b, c = (kind.make(*data.draw(kind.numbers)) for _ in range(3))
    same = copy.copy(a)
    assert a <= same and not a < same
    if a <= b <= a:
        assert a == b and hash(a) == hash(b)
    if a <= b <= c:
        assert a <= c
    if a == b:
        assert a <= b <= a


@EVERY_KIND
@settings(max_examples=15)  # for each of the kinds
@given(data=st.data())
def test_zero_is_below_and_infinity_above_every_loss(kind: Kind, data: st.DataObject) -> None:
    loss = kind.make(*data.draw(kind.numbers))
    assert kind.measure.zero <= loss <= kind.measure.infinite
    assert kind.measure.zero.is_finite and not kind.measure.infinite.is_finite


@EVERY_KIND_THAT_ADDS
@settings(max_examples=15)  # for each of the kinds
@given(data=st.data())
def test_a_sum_is_at_least_each_of_its_terms_in_either_order(kind: Kind, data: st.DataObject) -> None:
    a, b, c = (kind.make(*data.draw(kind.numbers)) for _ in range(3))
    assert a <= a + b and b <= a + b
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + kind.measure.zero == a == kind.measure.zero + a
    assert a + kind.measure.infinite == kind.measure.infinite


@EVERY_KIND_THAT_ADDS
@settings(max_examples=15)  # for each of the kinds
@given(data=st.data())
def test_adding_respects_the_order(kind: Kind, data: st.DataObject) -> None:
    a, b, c = (kind.make(*data.draw(kind.numbers)) for _ in range(3))
    if a <= b:
        assert a + c <= b + c


@EVERY_KIND_THAT_ADDS
@settings(max_examples=15)  # for each of the kinds
@given(data=st.data())
def test_a_total_is_the_sum_where_both_are_exact(kind: Kind, data: st.DataObject) -> None:
    losses = [kind.make(*data.draw(kind.numbers)) for _ in range(data.draw(st.integers(0, 6)))]
    total = kind.measure.total(iter(losses))
    assert total == sum(losses, kind.measure.zero)
    assert type(total) is type(kind.measure.zero)


@EVERY_KIND
def test_the_total_of_nothing_is_zero(kind: Kind) -> None:
    assert kind.measure.total([]) == kind.measure.zero


@EVERY_KIND_THAT_ADDS
def test_python_adds_losses_up_from_its_own_zero(kind: Kind) -> None:
    loss = SOME[kind.measure]
    assert sum([loss, loss, loss]) == loss + loss + loss


@EVERY_KIND
def test_a_total_refuses_a_loss_of_another_measure_and_what_is_no_loss(kind: Kind) -> None:
    for other in (SOME[measure] for measure in SOME if measure != kind.measure):
        for losses in ([other], [kind.measure.zero, other], [other, kind.measure.zero]):
            with pytest.raises(IncomparableLosses):
                kind.measure.total(losses)
    for strange in (0, 1, "1/10", None, Fraction(1, 2)):
        with pytest.raises(TypeError):
            kind.measure.total([strange])  # type: ignore[list-item]


@EVERY_KIND
def test_losses_of_different_measures_are_unequal_and_have_no_order_and_no_sum(kind: Kind) -> None:
    mine = SOME[kind.measure]
    for measure, other in SOME.items():
        if measure == kind.measure:
            continue
        assert mine != other
        for compare in ("__le__", "__lt__", "__ge__", "__gt__", "__add__"):
            with pytest.raises(IncomparableLosses) as refused:
                getattr(mine, compare)(other)
            for said in (repr(mine), repr(other), repr(measure), repr(kind.measure)):
                assert said in str(refused.value)


@EVERY_KIND
def test_losses_and_other_values_are_unequal_and_have_no_order_and_no_sum(kind: Kind) -> None:
    loss = SOME[kind.measure]
    for other in (0, 1, 0.5, "1/10", None, Fraction(1, 10)):
        assert loss != other
        with pytest.raises(TypeError):
            loss <= other  # type: ignore[operator]  # noqa: B015
        with pytest.raises(TypeError):
            other > loss  # type: ignore[operator]  # noqa: B015
        with pytest.raises(TypeError):
            loss + other  # type: ignore[operator]
    for start in (1, False, 0.0, "", None):
        with pytest.raises(TypeError):
            start + loss


@EVERY_KIND
@settings(max_examples=15)  # for each of the kinds
@given(data=st.data())
def test_equal_losses_have_equal_hashes_and_copies_are_equal(kind: Kind, data: st.DataObject) -> None:
    numbers = data.draw(kind.numbers)
    loss, again = kind.make(*numbers), kind.make(*numbers)
    assert loss == again and hash(loss) == hash(again)
    assert copy.copy(loss) == copy.deepcopy(loss) == pickle.loads(pickle.dumps(loss)) == loss


@EVERY_KIND
def test_losses_are_frozen(kind: Kind) -> None:
    loss = SOME[kind.measure]
    assert dataclasses.is_dataclass(loss)
    for field in dataclasses.fields(loss):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(loss, field.name, Fraction(0))
    with pytest.raises((AttributeError, TypeError)):
        loss.another = 1


@EVERY_KIND
def test_a_loss_knows_its_measure(kind: Kind) -> None:
    assert SOME[kind.measure].measure is kind.measure
    assert kind.measure.zero.measure == kind.measure.infinite.measure == kind.measure


def test_the_measures_are_all_different() -> None:
    measures = list(SOME)
    assert len(set(measures)) == len(measures) == len({measure.slug for measure in measures})


@EVERY_KIND
@settings(max_examples=15)  # for each of the kinds
@given(data=st.data())
def test_a_loss_is_finite_exactly_when_some_promise_is_left(kind: Kind, data: st.DataObject) -> None:
    numbers = data.draw(kind.numbers)
    loss = kind.make(*numbers)
    match kind.measure:
        case vm.RenyiDP:
            expected = any(bound < INFINITY for bound in numbers[0].values())
        case vm.Profile:
            expected = any(delta < 1 for delta in numbers[0].values())
        case _:
            expected = numbers[0] < INFINITY and (len(numbers) == 1 or numbers[1] < 1)
    assert loss.is_finite == expected


MAKERS: list[tuple[Callable[..., Any], str]] = [
    (vm.pure, "epsilon"),
    (vm.zcdp, "rho"),
    (vm.gdp, "mu"),
    (vm.bounded_range, "eta"),
    (lambda value: vm.approx(value, 0), "epsilon"),
    (lambda value: vm.approx(0, value), "delta"),
    (lambda value: vm.approx_zcdp(value, 0), "rho"),
    (lambda value: vm.approx_zcdp(0, value), "delta"),
    (lambda value: vm.renyi({2: value}), "bound"),
    (lambda value: vm.renyi({value: 1}), "order"),
    (lambda value: vm.profile({1: value}), "delta"),
    (lambda value: vm.profile({value: 0}), "epsilon"),
    (VARIATION, "amount"),
]


@for_each(("make", "name"), MAKERS)
@for_each("value", [-1, "-1/10", Fraction(-1, 3), 0.1, -0.5, float("nan"), float("-inf"), "nan", True])
def test_losses_refuse_what_is_no_amount_with_its_name_and_value(
    make: Callable[..., Any], name: str, value: Any
) -> None:
    with pytest.raises(ValueError) as refused:
        make(value)
    assert name in str(refused.value) and str(value) in str(refused.value)


@for_each(("make", "name"), [pair for pair in MAKERS if pair[1] == "delta"])
@for_each("value", [2, "1.0001", "inf", float("inf")])
def test_a_delta_is_a_probability(make: Callable[..., Any], name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        make(value)


@for_each(("make", "name"), MAKERS)
@for_each("value", [None, [], b"1", 1j, object()])
def test_losses_refuse_what_is_no_number_by_name(make: Callable[..., Any], name: str, value: Any) -> None:
    if isinstance(value, list) and name in ("order", "epsilon"):
        value = ()  # a key of a dict
    with pytest.raises(ValueError, match=name):
        make(value)
