"""Wrong formulas: each is computed here, and an instance shows that neither the engine nor brute force follows it."""

from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest

import viameter as vm
from viameter import neighborhood as nb
from viameter.neighborhood.finite import FiniteLeaf, PrivacySpace, exact_worst, least_loss, multisets, quotient
from viameter.neighborhood.finite import unbounded as add_or_remove
from viameter.neighborhood.granularities import Granularity


def agreed(target: Granularity, leaves: list[nb.Leaf], *, size: int = 2) -> Any:
    """The loss that engine and brute force agree on."""
    composed, found = nb.compose(target, leaves), nb.brute_force(target, leaves, size=size)
    assert composed.loss == found.loss
    return found.loss


def on(cut: nb.Cut, amounts: tuple[str, ...], **options: Any) -> list[nb.Leaf]:
    """Pure leaves on the parts of a cut, in order."""
    return [nb.leaf(part, vm.pure(amount), **options) for part, amount in zip(cut, amounts, strict=True)]


def test_distinct_parts_are_not_counted_once_where_both_records_are_in_one() -> None:
    # Union: each part that the old or the new record is in, once. Sum: a part that holds both moves by two steps.
    parts_of = {"a": [0, 1], "b": [0, 1]}
    amounts = (Fraction(1, 5), Fraction(1, 2))
    union = max(sum(amounts[p] for p in {*one, *other}) for one, other in combinations(parts_of.values(), 2))
    leaves = on(nb.memberships(parts_of), ("1/5", "1/2"), granularity=nb.unbounded())
    assert agreed(nb.bounded(), leaves) == vm.pure("7/5")
    assert union == Fraction(7, 10)


def test_a_record_in_a_tree_is_in_all_regions_above_it() -> None:
    amounts = ("0.2", "0.5", "0.3", "0.4")
    top = max(map(Fraction, amounts))
    leaves = on(nb.tree({"country": None, "north": "country", "south": "country", "town": "north"}), amounts)
    assert agreed(nb.unbounded(), leaves) == vm.pure("1.1")
    assert top == Fraction(1, 2)


def clamped_counts() -> list[nb.Leaf]:
    """Two leaves that cost the same at one step as at two: counts that are clamped to 0 and 1."""
    law = {1: vm.pure(1), 2: vm.pure(1)}
    return [nb.leaf(part, law, granularity=nb.unbounded()) for part in nb.partition(2, values=1)]


def test_the_dearest_leaf_at_two_steps_is_not_the_loss_if_laws_are_no_lines() -> None:
    # max_i F_i(d): all of the distance in one part. But two steps may be one in each part.
    leaves = clamped_counts()
    assert agreed(nb.group(nb.unbounded(), 2), leaves, size=3) == vm.pure(2)
    dearest = max((leaf.claims[0].law.at(2) for leaf in leaves), key=lambda loss: getattr(loss, "epsilon", 0))
    assert dearest == vm.pure(1)


def test_several_steps_of_a_composition_are_no_law_of_its_dearest_leaf() -> None:
    one_step = nb.compose(nb.unbounded(), clamped_counts())
    assert one_step.loss == vm.pure(1)
    outer = nb.compose(nb.bounded(), [nb.leaf(nb.whole(), one_step)])
    assert outer.loss == vm.pure(2)


def test_a_replaced_record_is_no_record_more() -> None:
    leaves = on(nb.partition(3), ("0.2", "0.5", "0.3"), mode="common")
    as_if_added = max(Fraction(amount) for amount in ("0.2", "0.5", "0.3"))
    assert agreed(nb.bounded(), leaves) == vm.pure("4/5")
    assert agreed(nb.add_remove_or_replace(), leaves) == vm.pure("4/5")
    assert as_if_added == Fraction(1, 2)


@pytest.mark.parametrize("mode", ["separate", "common"])
def test_the_law_at_the_whole_distance_is_not_the_loss_of_parts(mode: Any) -> None:
    # max_i F_i(d) and sum_i F_i(d), at the distance d = 2 of two neighbors of bounded() in steps of unbounded().
    amounts = ("0.2", "0.5", "0.3")
    leaves = on(nb.partition(3, values=1), amounts, granularity=nb.unbounded(), mode=mode)
    truth = agreed(nb.bounded(), leaves)
    assert truth == vm.pure("0.8")
    assert max(2 * Fraction(amount) for amount in amounts) == 1
    assert sum(2 * Fraction(amount) for amount in amounts) == 2


def test_the_law_at_the_distance_of_the_quotient_is_unsound_if_it_is_no_line() -> None:
    law = {1: vm.pure(1), 2: vm.pure(1), 3: vm.pure(2), 4: vm.pure(2)}
    line = nb.PrivacySpace(range(5), relation=lambda a, b: abs(a - b) == 1)
    letters = "abebc".__getitem__
    far = quotient(line, letters).distance("a", "c")
    assert (far, law[int(far)]) == (2, vm.pure(1))
    table = nb.leaf(nb.function(letters), law, mode="common").claims[0].law
    assert least_loss(line, letters, table.at).between("a", "c") == vm.pure(2)
    # All pairs are neighbors here, so that the worst of them is what the composition costs.
    every = nb.PrivacySpace(range(5), relation=lambda a, b: a != b)
    leaf = FiniteLeaf(letters, table.at, mode="common", relation=lambda a, b: abs(a - b) == 1)
    assert exact_worst(every, [leaf]).loss == vm.pure(2)


def test_the_engine_never_takes_a_law_at_more_steps_than_one_way_has() -> None:
    # Two records come into a part of the common domain: the same two steps of one way, at the law's own price for two.
    law = {1: vm.pure(1), 2: vm.pure("3/2")}
    leaves = [nb.leaf(part, law, mode="common", granularity=nb.bounded()) for part in nb.partition(2, values=1)]
    assert agreed(nb.group(nb.bounded(), 2), leaves, size=3) == vm.pure(3)


def test_a_pattern_that_costs_less_so_far_is_not_dropped() -> None:
    parts = nb.partition(2, values=1)
    tally = nb.PatternTally(nb.unbounded(), vm.PureDP)
    costs = {0: Fraction(0), 1: Fraction(0)}
    kept = {0, 1}
    for part, amount in ((0, "0.2"), (1, "0.1"), (1, "0.5")):
        tally.charge(nb.leaf(parts[part], vm.pure(amount)))
        costs[part] += Fraction(amount)
        if len(tally.history) == 2:
            kept = {max(costs, key=costs.__getitem__)}
    with_dropping = max(costs[part] for part in kept)
    assert with_dropping == Fraction(1, 5)
    assert tally.spent == vm.pure("3/5")
    assert tally.spent == agreed(nb.unbounded(), list(tally.history))


def test_largest_numbers_of_touches_are_not_multiplied_one_by_one() -> None:
    # sum_i r_i eps_i, with r_i the most steps that part i ever moves: 1.6. Patterns taken whole: 1.0.
    listed = [(2, 0, 0), (0, 1, 0), (0, 0, 2), (0, 1, 1)]
    amounts = [Fraction(1, 5), Fraction(1, 2), Fraction(7, 20)]
    most = [max(pattern[part] for pattern in listed) for part in range(3)]
    loose = sum(r * e for r, e in zip(most, amounts, strict=True))
    leaves = [nb.leaf(part, vm.pure(str(amount))) for part, amount in zip(nb.patterns(listed), amounts, strict=True)]
    truth = max(sum(m * e for m, e in zip(pattern, amounts, strict=True)) for pattern in listed)
    assert nb.compose(nb.unbounded(), leaves).loss == vm.pure(str(truth))
    assert (loose, truth) == (Fraction(8, 5), Fraction(17, 20))


def test_joint_patterns_beat_the_printed_sum_on_real_data() -> None:
    # Bounded leaves' granularity, replaced record: parts move by 2, 2 and 2 at most, but never all of them.
    amounts = ("0.2", "0.5", "0.3")
    leaves = on(nb.partition(3), amounts, granularity=nb.unbounded())
    assert agreed(nb.bounded(), leaves) == vm.pure(1)
    assert sum(2 * Fraction(amount) for amount in amounts) == 2


def test_squares_add_for_gaussian_losses_and_distances_are_squared_for_zcdp() -> None:
    parts = nb.partition(2)
    gaussian = [nb.leaf(part, vm.gdp("3/10" if part.place else "2/5"), mode="common") for part in parts]
    assert agreed(nb.bounded(), gaussian) == vm.gdp("1/2")
    zcdp = [nb.leaf(part, vm.zcdp("0.1"), granularity=nb.unbounded()) for part in parts]
    assert agreed(nb.bounded(), zcdp) == vm.zcdp("0.4")


def test_one_large_value_per_part_is_not_two() -> None:
    # The map to each value alone, on multisets of two values: adding one record touches one of them.
    space = PrivacySpace(multisets("ab", 2), relation=add_or_remove)
    maps = [lambda data, value=value: tuple(x for x in data if x == value) for value in "ab"]
    answer = exact_worst(space, [FiniteLeaf(each, vm.pure(1)) for each in maps])
    assert answer.loss == vm.pure(1) == nb.compose(nb.unbounded(), nb.leaves(nb.partition(2), vm.pure(1))).loss
