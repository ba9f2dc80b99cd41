"""Parts: what the costliest touch pattern has cost, never below counting charge by charge."""

from __future__ import annotations

import contextlib
import itertools
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ledger.conftest import SPACE

import viameter as vm
from viameter import ledger as ledgers
from viameter import neighborhood as nb
from viameter.errors import DomainMismatch, KeyTaken, LedgerError, NoTheorem, OverBudget, ParameterError
from viameter.ledger import Ledger, LedgerMeter
from viameter.neighborhood.declared import read_cut, read_granularity

PARTITION = {"kind": "partition", "parts": 3}
WARDS = {"granularity": "unbounded", "cut": PARTITION, "names": ["east", "west", "north"]}
TENTH = vm.pure("1/10")


def wards(budget: Any = None, **options: Any) -> Ledger:
    book = ledgers.in_memory()
    book.define("wards", budget or vm.pure(1), nb.unbounded(), parts=WARDS, **options)
    return book


def charged(book: Ledger, loss: Any, part: str | None = None) -> Any:
    book.reserve(loss, scopes=["wards"], part=part)
    return book.scope("wards").spent


# Against other ways of counting.

MAKERS: dict[str, Any] = {
    "pure": lambda a, b: vm.pure(a),
    "approx": vm.approx,
    "zcdp": lambda a, b: vm.zcdp(a),
    "gdp": lambda a, b: vm.gdp(a),
}
GRANULARITIES: list[Any] = ["unbounded", "bounded", {"name": "user", "rows": 2}, {"name": "user", "times": 2}]
CUTS: list[Any] = [
    PARTITION,
    {"kind": "partition", "parts": 3, "by": "id"},
    {"kind": "subsets", "parts": 3, "at_most": 2},
    {"kind": "intervals", "spans": [[0, 2], [1, 3], [5, 6]]},
    {"kind": "patterns", "patterns": [[1, 0, 2], [0, 1, 1]]},
    {"kind": "windows", "length": 2, "horizon": 4},
]


def charge_by_charge(granularity: Any, cut: Any, charges: list[tuple[int | None, Any]]) -> Any:
    target, parts = read_granularity(granularity, ""), read_cut(cut, "")
    leaves = [
        nb.leaf(nb.whole() if part is None else parts[part], loss, granularity=target, mode="common")
        for part, loss in charges
    ]
    return nb.compose(target, leaves, measure=charges[0][1].measure).loss


@given(
    st.sampled_from(sorted(MAKERS)),
    st.sampled_from(GRANULARITIES),
    st.sampled_from(CUTS),
    st.lists(
        st.tuples(
            st.sampled_from([None, 0, 1, 2]),
            st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(2)]),
            st.sampled_from([Fraction(0), Fraction(1, 10**6), Fraction(1, 100)]),
        ),
        min_size=1,
        max_size=6,
    ),
)
@settings(max_examples=120)
def test_what_was_spent_is_at_least_the_composition_of_all_charges(
    measure: str, granularity: Any, cut: Any, listed: list[tuple[int | None, Fraction, Fraction]]
) -> None:
    make, target = MAKERS[measure], read_granularity(granularity, "")
    budget = make(1000, Fraction(1, 2))
    book = ledgers.in_memory()
    try:
        book.define("wards", budget, target, parts={"granularity": granularity, "cut": cut})
    except NoTheorem:
        with pytest.raises(NoTheorem):  # for every way of charging a part
            charge_by_charge(granularity, cut, [(0, make(1, 0))])
        return
    labels: Any = book.scope("wards").terms.parts.labels  # type: ignore[union-attr]
    charges = [(part, make(amount, more)) for part, amount, more in listed]
    expected = charge_by_charge(granularity, cut, charges)
    try:
        for part, loss in charges:
            book.reserve(loss, scopes=["wards"], part=None if part is None else labels[part])
    except OverBudget:
        assert measure == "approx"  # deltas of groups are counted for the sum of what was charged
        return
    spent: Any = book.scope("wards").spent
    assert expected <= spent
    if measure != "approx":
        assert spent == expected  # laws for groups are linear in what adds up
    assert ledgers.verify(book).ok


TOUCHES: dict[str, Any] = {
    # Which parts a change of one unit can touch: one row comes or goes; one row goes from one part to another.
    "unbounded": [{part} for part in range(3)],
    "bounded": [set(pair) for pair in itertools.product(range(3), repeat=2)],
}


@pytest.mark.parametrize("granularity", sorted(TOUCHES))
@pytest.mark.parametrize("charges", list(itertools.product((0, 1, 2, None), repeat=3)), ids=str)
def test_a_partition_is_counted_as_by_enumerating_what_a_change_touches(granularity: str, charges: Any) -> None:
    amounts = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 7)]
    book = ledgers.in_memory()
    target = read_granularity(granularity, "")
    book.define("wards", vm.pure(9), target, parts={"granularity": granularity, "cut": PARTITION, "names": list("abc")})
    for part, amount in zip(charges, amounts, strict=True):
        charged(book, vm.pure(amount), None if part is None else "abc"[part])
    worst = max(
        sum((a for part, a in zip(charges, amounts, strict=True) if part is None or part in touched), Fraction(0))
        for touched in TOUCHES[granularity]
    )
    assert book.scope("wards").spent == vm.pure(worst)


@given(
    st.sampled_from([*GRANULARITIES]),
    st.lists(st.tuples(st.sampled_from([0, 1, 2]), st.sampled_from(["1/10", "1/3"])), max_size=6),
)
@settings(max_examples=30)
def test_a_tally_of_patterns_says_the_same(granularity: Any, listed: list[tuple[int, str]]) -> None:
    target, cut = read_granularity(granularity, ""), read_cut(PARTITION, "")
    tally = nb.PatternTally(target, vm.PureDP, budget=vm.pure(1))
    book = ledgers.in_memory()
    book.define("wards", vm.pure(1), target, parts={"granularity": granularity, "cut": PARTITION})
    labels = book.scope("wards").terms.parts.labels  # type: ignore[union-attr]
    for part, amount in listed:
        leaf = nb.leaf(cut[part], vm.pure(amount), granularity=target, mode="common")
        refused = not tally.preview(leaf) <= vm.pure(1)
        with pytest.raises(OverBudget) if refused else contextlib.nullcontext():
            tally.charge(leaf)
        with pytest.raises(OverBudget) if refused else contextlib.nullcontext():
            charged(book, vm.pure(amount), labels[part])
        assert book.scope("wards").spent == tally.spent


def test_order_does_not_matter() -> None:
    charges = [("east", "1/3"), (None, "1/7"), ("west", "1/5"), ("east", "1/11"), (None, "1/13")]
    found = set()
    for order in itertools.permutations(charges):
        book = wards()
        for part, amount in order:
            charged(book, vm.pure(amount), part)
        found.add(repr(book.scope("wards").spent))
    assert found == {repr(vm.pure(Fraction(1, 3) + Fraction(1, 11) + Fraction(1, 7) + Fraction(1, 13)))}


# What that means.


def test_a_partitioned_release_costs_the_most_and_not_the_sum() -> None:
    book = wards()
    for part in ("east", "west", "north"):
        assert charged(book, vm.pure("9/10"), part) == vm.pure("9/10")
    assert charged(book, TENTH) == vm.pure(1)  # all parts at once: on top of the costliest
    with pytest.raises(OverBudget) as refused:
        charged(book, vm.pure("1e-9"), "west")
    assert refused.value.after == vm.pure("1000000001/1000000000") and refused.value.spent == vm.pure(1)
    with pytest.raises(OverBudget):
        charged(book, vm.pure("1e-9"))
    assert book.scope("wards").by_part == {
        "": TENTH,
        **{name: vm.pure("9/10") for name in ("east", "west", "north")},
    }


def test_a_part_that_cost_less_has_room_up_to_the_costliest() -> None:
    book = wards()
    charged(book, vm.pure(1), "east")
    assert charged(book, vm.pure("1/2"), "west") == vm.pure(1)
    assert charged(book, vm.pure("1/2"), "west") == vm.pure(1)
    with pytest.raises(OverBudget):
        charged(book, TENTH, "west")
    with pytest.raises(OverBudget):
        charged(book, TENTH)


def test_a_meter_is_of_one_part_and_sees_no_other() -> None:
    book = wards()
    data = [1] * 2000 + [2] * 4000 + [3]

    def meter_of(part: str, value: int) -> LedgerMeter:
        through = SPACE >> vm.filter(vm.is_in([value]))
        return book.meter(SPACE, data, scopes=["wards"], part=part, through=through)

    east, west, north = meter_of("east", 1), meter_of("west", 2), meter_of("north", 3)
    count = vm.count() >> vm.laplace(scale=2)
    for _ in range(2):
        assert abs(east(count) - 2000) < 200 and abs(west(count) - 4000) < 200
    assert book.scope("wards").spent == vm.pure(1)
    assert not east.fits(count) and north.fits(count)
    with pytest.raises(OverBudget):
        book.meter(SPACE, data, scopes=["wards"])(count)
    # Whoever asks has no way to name another part, or to ask of all rows at the price of one part.
    with pytest.raises(TypeError):
        north(count, part="north")  # type: ignore[call-arg]
    elsewhere = vm.Space(vm.vectors(float), vm.SymmetricDistance()) >> vm.count() >> vm.laplace(scale=2)
    with pytest.raises(DomainMismatch):
        north(elsewhere)


def test_a_part_of_a_meter_is_named_with_the_way_to_it() -> None:
    book = wards()
    through = SPACE >> vm.filter(vm.is_in([1]))
    with pytest.raises(ParameterError, match="is no part of the scope"):
        book.meter(SPACE, [1], scopes=["wards"], part="south", through=through)(vm.count() >> vm.laplace(scale=2))
    for options in ({"part": "east"}, {"through": through}):
        with pytest.raises(ParameterError, match="through"):
            book.meter(SPACE, [1], scopes=["wards"], **options)
    other = vm.Space(vm.vectors(str), vm.SymmetricDistance()) >> vm.filter(vm.is_in(["east"]))
    with pytest.raises(ParameterError, match="space"):
        book.meter(SPACE, [1], scopes=["wards"], part="east", through=other)


def test_the_same_question_of_another_part_is_another_request() -> None:
    book = wards()
    book.reserve(TENTH, scopes=["wards"], part="east", key="k", by="ann", query="q")
    for part in ("west", None):
        with pytest.raises(KeyTaken):
            book.reserve(TENTH, scopes=["wards"], part=part, key="k", by="ann", query="q")


def test_budgets_of_parts_change_and_close_as_others_do() -> None:
    book = wards()
    charged(book, vm.pure("1/2"), "east")
    charged(book, vm.pure("1/3"), "west")
    with pytest.raises(ParameterError, match="was spent already"):
        book.set_budget("wards", vm.pure("1/3"), why="less")
    assert book.set_budget("wards", vm.pure("1/2"), why="less").left == vm.pure(0)
    book.set_budget("wards", vm.pure(3), why="more")
    book.close_scopes(lost={}, why="lost")
    for part in (None, "north"):
        with pytest.raises(OverBudget):
            charged(book, vm.pure("1e-9"), part)
    assert book.scope("wards").spent == vm.pure(3) and ledgers.verify(book).ok


def test_parts_start_over_with_the_budget() -> None:
    book = wards(renews="rows")
    charged(book, vm.pure(1), "east")
    renewed = book.renew("wards", why="new rows")
    assert (renewed.spent, renewed.by_part, renewed.lifetime) == (vm.pure(0), {}, vm.pure(1))
    assert charged(book, vm.pure(1), "west") == vm.pure(1) and book.scope("wards").lifetime == vm.pure(2)
    assert ledgers.verify(book).ok


# What is refused when it is defined.


def refused(
    error: Any, parts: Any, budget: Any = None, of: Any = None, match: str | None = None, **options: Any
) -> None:
    book = ledgers.in_memory()
    with pytest.raises(error, match=match):
        book.define("wards", budget or vm.pure(1), of or nb.unbounded(), parts=parts, **options)
    assert book.head.seq == 1


@pytest.mark.parametrize(
    "budget",
    [vm.renyi({2: 1}), vm.approx_zcdp(1, "1e-6"), vm.bounded_range(1), vm.profile({1: "1/9"})],
    ids=repr,
)
def test_measures_whose_sums_no_law_for_groups_bounds_have_no_parts(budget: Any) -> None:
    refused(NoTheorem, WARDS, budget)


def test_rules_of_filters_have_no_parts() -> None:
    refused(NoTheorem, WARDS, vm.approx(1, "1e-6"), rule="concentrated")


@pytest.mark.parametrize("cut", [PARTITION, {"kind": "subsets", "parts": 3, "at_most": 1}])
def test_what_cannot_be_composed_is_refused_at_once(cut: Any) -> None:
    refused(NoTheorem, {"granularity": "edge", "cut": cut}, of=nb.edge(), match="nothing is known")


def test_parts_of_other_neighbors_or_distances_than_the_budget_are_refused() -> None:
    refused(ParameterError, WARDS, of=nb.bounded(), match="both must agree")
    refused(ParameterError, WARDS, d_in=2, match="leave d_in out")


NESTED: Any = {"name": "unbounded"}
for _ in range(3000):
    NESTED = {"name": "group", "most": 1, "of": NESTED}
WRONG: list[Any] = [
    5,
    "partition",
    {},
    {"granularity": "unbounded"},
    {"cut": PARTITION},
    {**WARDS, "more": 1},
    {**WARDS, "names": ["a", "b"]},
    {**WARDS, "names": ["a", "b", "c", "d"]},
    {**WARDS, "names": ["a", "a", "b"]},
    {**WARDS, "names": ["a", "", "b"]},
    {**WARDS, "names": "abc"},
    {**WARDS, "names": [1, 2, 3]},
    {**WARDS, "granularity": "rows"},
    {**WARDS, "granularity": 5},
    {**WARDS, "granularity": nb.unbounded()},
    {**WARDS, "granularity": NESTED},
    {**WARDS, "cut": "partition"},
    {**WARDS, "cut": {"kind": "partition", "parts": 0}},
    {**WARDS, "cut": {"kind": "partition", "parts": -3}},
    {**WARDS, "cut": {"kind": "partition", "parts": 3, "why": "x"}},
    {**WARDS, "cut": {"kind": "slices", "parts": 3}},
    {**WARDS, "cut": nb.partition(3)},
    {"granularity": "unbounded", "cut": {"kind": "partition", "parts": 10_001}},
]


@pytest.mark.parametrize("parts", WRONG, ids=range(len(WRONG)))
def test_declarations_that_make_no_sense_are_refused(parts: Any) -> None:
    refused(ParameterError, parts)


def test_no_part_and_other_parts_are_told_apart() -> None:
    book = wards()
    for part in ("south", "", 0, ["east"]):
        with pytest.raises(ParameterError, match="is no part of the scope"):
            book.reserve(TENTH, scopes=["wards"], part=part)  # type: ignore[arg-type]
    assert book.head.seq == 2


def test_what_was_declared_does_not_change_with_what_was_handed_over() -> None:
    cut: dict[str, Any] = {"kind": "partition", "parts": 3}
    names = ["a", "b", "c"]
    declared = {"granularity": {"name": "unbounded"}, "cut": cut, "names": names}
    book = ledgers.in_memory()
    book.define("wards", vm.pure(1), nb.unbounded(), parts=declared)
    cut["parts"] = 2
    names.append("d")
    charged(book, TENTH, "c")
    assert ledgers.verify(book).ok and book.scope("wards").terms.parts.cut["parts"] == 3  # type: ignore[union-attr]
    with pytest.raises(LedgerError, match="exists"):
        book.define("wards", vm.pure(1), nb.unbounded(), parts={**declared, "names": ["a", "b"]})
    same = {"granularity": {"name": "unbounded"}, "cut": {"parts": 3, "kind": "partition"}, "names": ("a", "b", "c")}
    assert book.define("wards", vm.pure(1), nb.unbounded(), parts=same).spent == TENTH


def test_lists_and_tuples_declare_the_same() -> None:
    book = ledgers.in_memory()
    as_tuples: Any = ((0, 2), (1, 3))
    for spans in (as_tuples, [list(span) for span in as_tuples]):
        parts = {"granularity": "unbounded", "cut": {"kind": "intervals", "spans": spans}}
        book.define("a", vm.pure(1), nb.unbounded(), parts=parts)
    assert book.head.seq == 2 and ledgers.verify(book).ok
