"""Conjunctions of predicates, against all records and all pairs of them, by search and by the program."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import pytest
from tests.cases import for_each
from tests.neighborhood.solvers.instances import INFINITY, gains, plus, seeds

from viameter.errors import ParameterError
from viameter.neighborhood.solvers import milp, records, worst_predicates
from viameter.neighborhood.solvers.cells import cells

Gains = list[Fraction | float]
Conjunctions = list[Mapping[str, Collection[Any]]]
Domains = Mapping[str, Sequence[Any]]
Record = dict[str, Any]


def _instance(rng: random.Random) -> tuple[Conjunctions, Domains]:
    names = "abc"[: rng.randrange(4)]
    domains = {name: list(range(rng.choice((1, 2, 3, 4)))) for name in names}
    conjunctions: Conjunctions = [
        {
            name: set(rng.sample(domain, rng.choice((0, 1, 1, 2, 2, 3)) % (len(domain) + 1)))
            for name, domain in domains.items()
            if rng.random() < 0.6
        }
        for _ in range(rng.randrange(7))
    ]
    return conjunctions, domains


def _records(domains: Domains) -> list[Record]:
    return [dict(zip(domains, values, strict=True)) for values in product(*domains.values())]


def _touched(conjunctions: Conjunctions, record: Record) -> set[int]:
    return {i for i, c in enumerate(conjunctions) if all(record[name] in allowed for name, allowed in c.items())}


def _cost(conjunctions: Conjunctions, given: Sequence[Record], cross: Gains, both: Gains) -> Fraction | float:
    if len(given) == 1:
        return plus(cross[i] for i in _touched(conjunctions, given[0]))
    one, other = (_touched(conjunctions, record) for record in given)
    return plus([*(cross[i] for i in one ^ other), *(both[i] for i in one & other)])


def _check_one(rng: random.Random) -> None:
    conjunctions, domains = _instance(rng)
    cross = gains(rng, len(conjunctions), infinite=0.1)
    worst = worst_predicates(conjunctions, domains, cross=cross)
    assert worst.exact
    assert worst.value == max(_cost(conjunctions, [record], cross, []) for record in _records(domains))
    assert _cost(conjunctions, [worst.chosen], cross, []) == worst.value and worst.chosen in _records(domains)
    assert list(worst.chosen) == list(domains)


def _check_two(rng: random.Random) -> None:
    conjunctions, domains = _instance(rng)
    cross = gains(rng, len(conjunctions), infinite=0.1)
    finite = [g if g != INFINITY else Fraction(1) for g in cross]
    options: list[Gains] = [
        [Fraction(0)] * len(cross),
        [2 * g for g in finite],
        [3 * g for g in finite],
        gains(rng, len(cross), infinite=0.1),
    ]
    both = rng.choice(options)
    worst = worst_predicates(conjunctions, domains, cross=cross, both=both)
    pairs = list(combinations(_records(domains), 2))
    assert worst.exact
    assert worst.value == max((_cost(conjunctions, pair, cross, both) for pair in pairs), default=0)
    if pairs:
        first, second = worst.chosen
        assert first != second and first in _records(domains) and second in _records(domains)
        assert list(first) == list(second) == list(domains)
        assert _cost(conjunctions, worst.chosen, cross, both) == worst.value
    else:
        assert worst.chosen is None


def test_one_record_is_the_worst_of_all() -> None:
    for rng in seeds("one record", 300):
        _check_one(rng)


def test_two_records_are_the_worst_of_all() -> None:
    for rng in seeds("two records", 300):
        _check_two(rng)


def test_the_program_finds_the_same_as_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MOST_PRODUCTS", -1)
    monkeypatch.setattr(records, "MOST_MEETINGS", -1)
    for rng in seeds("program", 60):
        _check_one(rng)
        _check_two(rng)


def test_the_program_goes_on_where_the_search_for_pairs_gave_a_bound_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viameter.neighborhood.solvers.pairs.MOST_STEPS", 1)
    monkeypatch.setattr("viameter.neighborhood.solvers.pairs.MOST_SCANNED", 0)
    for rng in seeds("pairs, then program", 40):
        _check_two(rng)


@pytest.mark.parametrize("bound", [None, 1.0])
def test_a_program_without_a_believable_bound_leaves_the_sum_of_all(
    monkeypatch: pytest.MonkeyPatch, bound: float | None
) -> None:
    monkeypatch.setattr(records, "MOST_PRODUCTS", -1)
    monkeypatch.setattr(records, "MOST_MEETINGS", -1)
    monkeypatch.setattr(milp.Program, "_run", lambda *_: milp.Answer(None, bound, infeasible=False))
    given: Conjunctions = [{"a": {0, 1}}, {"a": {0, 2}}, {"a": {3}}]
    ones: Gains = [Fraction(2)] * 3
    worst = worst_predicates(given, {"a": range(4)}, cross=ones)
    assert (worst.value, worst.exact) == (6, False)
    if bound is None:
        worst = worst_predicates(given, {"a": range(4)}, cross=ones, both=[Fraction(3)] * 3)
        assert (worst.value, worst.exact) == (8, False)  # only one record touches the last leaf
        always = worst_predicates([{}], {"a": range(4)}, cross=[Fraction(5)], both=[Fraction(1)])
        assert (always.value, always.exact) == (1, False)  # both records touch it


def test_random_ranges_over_wide_domains_agree_with_their_end_points() -> None:
    # The worst records are at starts of ranges: there, and at other ends, all combinations are tried.
    size = 10**6
    for rng in seeds("ranges", 15):
        given: Conjunctions = []
        places: dict[str, set[int]] = {"a": {1, size}, "b": {1, size}}
        for _ in range(6):
            conjunction = {}
            for name in "ab":
                first = rng.randrange(1, size)
                end = rng.randrange(first, size) + 1
                conjunction[name] = range(first, end)
                places[name] |= {first, end - 1, end, max(first - 1, 1)}
            given.append(conjunction)
        cross, both = gains(rng, 6), gains(rng, 6)
        domains = {name: range(1, size + 1) for name in "ab"}
        corners = _records({name: sorted(values) for name, values in places.items()})
        one = worst_predicates(given, domains, cross=cross)
        assert one.exact and one.value == max(_cost(given, [record], cross, []) for record in corners)
        two = worst_predicates(given, domains, cross=cross, both=both)
        kinds = {frozenset(_touched(given, record)): record for record in corners}
        pairs = [*combinations(kinds.values(), 2), *((record, record) for record in kinds.values())]
        assert two.exact and two.value == max(_cost(given, pair, cross, both) for pair in pairs)
        assert _cost(given, two.chosen, cross, both) == two.value and two.chosen[0] != two.chosen[1]


def test_cells_hold_the_values_that_no_conjunction_tells_apart() -> None:
    for rng in seeds("cells", 200):
        domain = rng.choice((range(3, 15), range(20, -4, -2), list("abcdefgh"), [(1, 2), None, "x", 4]))
        allowed = {}
        for i in rng.sample(range(5), rng.randrange(5)):
            first, step = rng.randrange(len(domain)), rng.choice((1, 2, 3, -1))
            allowed[i] = rng.choice((domain[first::step], set(rng.sample(list(domain), rng.randrange(len(domain))))))
        found = cells(domain, allowed, attribute="a", conjunctions=5)
        truth: dict[int, set[Any]] = {}
        for value in domain:
            bits = sum(1 << i for i in range(5) if i not in allowed or value in allowed[i])
            truth.setdefault(bits, set()).add(value)
        assert {cell.leaves: cell.size for cell in found} == {bits: len(values) for bits, values in truth.items()}
        for cell in found:
            assert {cell.value, cell.other} <= truth[cell.leaves]
            assert (cell.value != cell.other) == (cell.size > 1)


def test_one_record_only_has_nothing_to_be_replaced_by() -> None:
    for domains in ({}, {"a": [7]}, {"a": range(1), "b": ["x"]}):
        worst = worst_predicates([{}], domains, cross=[INFINITY], both=[INFINITY])
        assert (worst.value, worst.chosen, worst.exact) == (0, None, True)
    assert worst_predicates([{}], {}, cross=[INFINITY]).value == INFINITY
    assert worst_predicates([{}], {"a": [1, 2]}, cross=[INFINITY], both=[Fraction(3)]).value == 3
    assert worst_predicates([{"a": {1}}], {"a": [1, 2]}, cross=[Fraction(3)], both=[INFINITY]).value == 3


def test_weights_too_fine_for_floats_give_a_bound_that_is_not_exact() -> None:
    fine: Gains = [Fraction(1, 3) + Fraction(n, 10**30) for n in range(4)]
    given: Conjunctions = [{"a": {0, 1}}, {"a": {1, 2}}, {"a": {2, 3}}, {"a": {3, 0}}]
    worst = worst_predicates(given, {"a": range(4)}, cross=fine)
    assert not worst.exact and fine[2] + fine[3] < worst.value < fine[2] + fine[3] + Fraction(1, 10**12)
    huge: Gains = [g * 10**30 for g in fine]
    assert worst_predicates(given, {"a": range(4)}, cross=huge).value >= huge[2] + huge[3]
    apart: Gains = [Fraction(10**40), Fraction(1), Fraction(1), Fraction(1)]
    assert worst_predicates(given, {"a": range(4)}, cross=apart).value >= 10**40 + 1


@for_each(
    ("conjunction", "domain", "text"),
    [
        ({"a": {9}}, range(3), "not in its domain"),
        ({"a": range(5)}, range(3), "not in its domain"),
        ({"a": range(-1, 2)}, range(3), "not in its domain"),
        ({"a": range(2)}, range(0, 9, 2), "not in its domain"),
        ({"a": [[1]]}, [1, 2], "not in its domain"),
        ({"a": "x"}, ["x"], "collection"),
        ({"a": 1}, [1], "collection"),
        ({"b": {1}}, [1], "names 'b'"),
        ([1], [1], "expected a mapping"),
        ({}, [], "is empty"),
        ({}, "xyz", "sequence of values"),
        ({}, {1, 2}, "sequence of values"),
        ({}, [1, 1], "twice"),
        ({}, [[1]], "hashed"),
    ],
)
def test_predicates_that_make_no_sense_are_refused(conjunction: Any, domain: Any, text: str) -> None:
    for both in (None, [Fraction(1)]):
        with pytest.raises(ParameterError, match=text):
            worst_predicates([conjunction], {"a": domain}, cross=[Fraction(1)], both=both)


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(ParameterError, match="cross"):
        worst_predicates([{}], {}, cross=[])
    with pytest.raises(ParameterError, match="both"):
        worst_predicates([{}], {}, cross=[Fraction(1)], both=[])
    with pytest.raises(ParameterError, match="domains"):
        worst_predicates([{}], [], cross=[Fraction(1)])  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="time_limit"):
        worst_predicates([{}], {}, cross=[Fraction(1)], time_limit=-1)
