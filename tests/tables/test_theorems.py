"""What the stability of questions rests on, against all small tables, with rows kept by arbitrary rules of a unit."""

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache

import pytest

from viameter.arith import INFINITY, Extended
from viameter.tables.bounding import Limits
from viameter.tables.theorems import (
    contributions_of_added_units,
    contributions_of_replaced_units,
    largest_square,
    most_rows,
    units_one_by_one,
)

Row = tuple[int, int, int]
"""Group, cell of the group, and the integer that is added up."""
Unit = tuple[Row, ...]
Table = tuple[Unit, ...]
"""The rows of each unit; a unit without rows is not there."""
Cut = tuple[Extended, Extended, Extended]
"""Rows, groups and rows in each group that are kept at most."""

NORMS = ("L1", "L2", "Linf")
CUTS: list[Cut] = [
    (Fraction(1), INFINITY, INFINITY),
    (Fraction(2), INFINITY, INFINITY),
    (Fraction(2), INFINITY, Fraction(1)),
    (Fraction(3), Fraction(2), Fraction(2)),
    (Fraction(3), Fraction(1), INFINITY),
    (INFINITY, Fraction(1), Fraction(2)),
    (INFINITY, Fraction(2), Fraction(1)),
    (Fraction(2), Fraction(3), Fraction(3)),
]
BOUNDS = [(0, 2), (-2, 0), (1, 3), (-3, -1), (-2, 2), (-1, 3), (0, 0)]


def units(rows: list[Row], most: int) -> list[Unit]:
    """All units with up to so many of these rows, each as often as may be."""
    return [unit for n in range(most + 1) for unit in itertools.combinations_with_replacement(rows, n)]


def kept(unit: Unit, cut: Cut, salt: int) -> list[Row]:
    """Rows of a unit within limits, taken in an order that nothing but its rows and the salt decides."""
    order = sorted(unit)
    random.Random(f"{salt} {order}").shuffle(order)
    found: list[Row] = []
    for row in order:
        groups = Counter(group for group, _, _ in [*found, row])
        if len(found) < cut[0] and len(groups) <= cut[1] and groups[row[0]] <= cut[2]:
            found.append(row)
    return found


def sums(table: Table, cut: Cut, salt: int) -> Counter[tuple[int, int]]:
    """The sums by group and cell."""
    found: Counter[tuple[int, int]] = Counter()
    for unit in table:
        for group, cell, value in kept(unit, cut, salt):
            found[group, cell] += value
    return found


def size(left: Counter[tuple[int, int]], right: Counter[tuple[int, int]]) -> dict[str, int]:
    """How far two vectors are apart: L1, the square of L2, and Linf."""
    moved = [abs(left[place] - right[place]) for place in {*left, *right}]
    return {"L1": sum(moved), "L2": sum(step**2 for step in moved), "Linf": max(moved, default=0)}


def furthest(pairs: Iterator[tuple[Table, Table]], cut: Cut, salts: range = range(2)) -> dict[str, int]:
    """The largest distances between the sums of tables in these pairs; the same sums are compared once."""

    @cache
    def summed(table: Table, salt: int) -> frozenset[tuple[tuple[int, int], int]]:
        return frozenset(sums(table, cut, salt).items())

    most = dict.fromkeys(NORMS, 0)
    for one, other in {(summed(left, salt), summed(right, salt)) for left, right in pairs for salt in salts}:
        for norm, found in size(Counter(dict(one)), Counter(dict(other))).items():
            most[norm] = max(most[norm], found)
    return most


def added(all_units: list[Unit], others: list[Unit]) -> Iterator[tuple[Table, Table]]:
    """Tables beside those without their first unit."""
    return (((unit, other), ((), other)) for unit in all_units for other in others)


def replaced(all_units: list[Unit], others: list[Unit]) -> Iterator[tuple[Table, Table]]:
    """Tables that differ in what their first unit has; one of them may have nothing of it."""
    return (((left, other), (right, other)) for left, right in itertools.combinations(all_units, 2) for other in others)


def stability(
    theorem: Callable[..., Extended], d_in: int, ends: tuple[int, int], cut: Cut, norm: str, **more: int
) -> Extended:
    """What the theorem says."""
    lower, upper = map(Fraction, ends)
    limits = {"rows": cut[0], "groups": cut[1], "per_group": cut[2]}
    return theorem(Fraction(d_in), lower=lower, upper=upper, **limits, norm=norm, **more)


def power(bound: Extended, norm: str) -> Fraction:
    """A bound as distances are given here: its square for L2."""
    return Fraction(bound) ** (2 if norm == "L2" else 1)


def is_attained(bound: Extended, norm: str, found: int) -> bool:
    """Whether the bound is what was found, but for a rounding in the last of many digits."""
    return power(bound, norm) >= found >= power(Fraction(bound) * (1 - Fraction(1, 2**60)), norm)


def rows_of(ends: tuple[int, int], groups: int, cells: int = 1) -> list[Row]:
    """All rows that give one of the ends, each once."""
    return [(g, c, v) for g in range(groups) for c in range(cells) for v in sorted(set(ends))]


# --- sums of squares -------------------------------------------------------------------------------------------------


def counts(rows: int, groups: int, per_group: int) -> Iterator[tuple[int, ...]]:
    """All numbers of rows by group, within limits."""
    return (n for n in itertools.product(range(per_group + 1), repeat=groups) if sum(n) <= rows)


@pytest.mark.parametrize("rows", [None, 1, 2, 3, 5, 7])
@pytest.mark.parametrize("groups", [None, 1, 2, 3, 4])
@pytest.mark.parametrize("per_group", [None, 1, 2, 3, 4])
def test_the_largest_square_and_the_most_rows_are_those_of_all_ways(
    rows: int | None, groups: int | None, per_group: int | None
) -> None:
    cut = [INFINITY if limit is None else Fraction(limit) for limit in (rows, groups, per_group)]
    limits = Limits(rows, groups, per_group)
    if rows is None and None in (groups, per_group):
        assert largest_square(*cut) == most_rows(*cut) == limits.largest_square == limits.most_rows == INFINITY
        return
    # Without limits of their own, groups and rows in a group are as many as there are rows.
    most = rows if rows is not None else (groups or 0) * (per_group or 0)
    ways = list(counts(most, min(groups or most, most), min(per_group or most, most)))
    assert largest_square(*cut) == limits.largest_square == max(sum(n**2 for n in way) for way in ways)
    assert most_rows(*cut) == limits.most_rows == max(map(sum, ways))
    assert isinstance(largest_square(*cut), Fraction) and isinstance(most_rows(*cut), Fraction)


# --- units added or removed ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("ends", BOUNDS)
def test_contributions_of_added_units_ensures_the_largest_distance_of_all_small_tables(
    ends: tuple[int, int], cut: Cut
) -> None:
    rows = rows_of(ends, groups=2)
    most = furthest(added(units(rows, 4), units(rows[:2], 2)), cut)
    for norm in NORMS:
        assert is_attained(stability(contributions_of_added_units, 1, ends, cut, norm), norm, most[norm]), norm


@pytest.mark.parametrize("norm", NORMS)
def test_contributions_of_added_units_ensures_as_much_for_each_unit(norm: str) -> None:
    cut = (Fraction(3), Fraction(2), Fraction(2))
    several = units([(0, 0, 2), (1, 0, 2)], 3)
    nobody: Table = ((), (), ())
    for d_in in (1, 2, 3):
        tables: Iterator[Table] = itertools.product(several, repeat=d_in)
        most = furthest(((table, nobody) for table in tables), cut)
        assert is_attained(stability(contributions_of_added_units, d_in, (0, 2), cut, norm), norm, most[norm])


@pytest.mark.parametrize("theorem", [contributions_of_added_units, contributions_of_replaced_units])
@pytest.mark.parametrize("norm", NORMS)
def test_contributions_of_units_that_are_none_or_unlimited(theorem: Callable[..., Extended], norm: str) -> None:
    without: Cut = (INFINITY, INFINITY, INFINITY)
    assert stability(theorem, 0, (-5, 5), without, norm) == 0
    assert stability(theorem, 1, (-5, 5), without, norm) == INFINITY
    assert stability(theorem, 3, (0, 0), without, norm) == 0
    one: Cut = (Fraction(1), INFINITY, INFINITY)
    lower, upper = Fraction(0), Fraction(1)
    limits = {"rows": one[0], "groups": one[1], "per_group": one[2]}
    assert theorem(INFINITY, lower=lower, upper=upper, **limits, norm=norm) == INFINITY


def test_contributions_of_added_units_requires_that_which_rows_are_kept_depends_on_a_unit_alone() -> None:
    # Of each unit one row is kept, the first in an order by the row's place in the whole table.
    def chosen(table: Table) -> Counter[tuple[int, int]]:
        found: Counter[tuple[int, int]] = Counter()
        place = itertools.count()
        for unit in table:
            for group, cell, value in sorted(unit, key=lambda row: hash((next(place) * 7 + 3) % 5))[:1]:
                found[group, cell] += value
        return found

    cut: Cut = (Fraction(1), INFINITY, INFINITY)
    claimed = stability(contributions_of_added_units, 1, (0, 2), cut, "L1")
    all_units = units(rows_of((0, 2), groups=2), 3)
    assert any(size(chosen(left), chosen(right))["L1"] > claimed for left, right in added(all_units, all_units))


def test_contributions_of_added_units_requires_that_the_salt_does_not_depend_on_the_data() -> None:
    cut: Cut = (Fraction(1), INFINITY, INFINITY)
    claimed = stability(contributions_of_added_units, 1, (0, 2), cut, "L1")
    pairs = added(units(rows_of((0, 2), groups=2), 1), units(rows_of((0, 2), groups=2), 3))
    far = [size(sums(left, cut, len(left[0])), sums(right, cut, len(right[0])))["L1"] for left, right in pairs]
    assert max(far) > claimed


def test_contributions_of_added_units_requires_that_a_row_counts_in_one_cell() -> None:
    cut: Cut = (Fraction(1), INFINITY, INFINITY)
    once, twice = sums((((0, 0, 2),),), cut, 0), sums((((0, 0, 2),), ((0, 1, 2),)), cut, 0)
    nothing: Counter[tuple[int, int]] = Counter()
    for norm in NORMS[:2]:
        claimed = power(stability(contributions_of_added_units, 1, (0, 2), cut, norm), norm)
        assert size(once, nothing)[norm] <= claimed < size(twice, nothing)[norm]


def test_contributions_of_added_units_requires_sums_that_do_not_overflow_and_may_stop() -> None:
    def wrapped(total: int) -> int:
        return (total + 128) % 256 - 128

    def stopped(total: int) -> int:
        return min(max(total, -128), 127)

    cut: Cut = (Fraction(1), INFINITY, INFINITY)
    claimed = stability(contributions_of_added_units, 1, (-2, 2), cut, "Linf")
    totals = range(-200, 200)
    assert max(abs(stopped(total + 2) - stopped(total)) for total in totals) == claimed == 2
    assert max(abs(wrapped(total + 2) - wrapped(total)) for total in totals) == 254 > claimed


# --- units replaced --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("ends", BOUNDS)
def test_contributions_of_replaced_units_ensures_no_less_than_the_largest_distance_of_all_small_tables(
    ends: tuple[int, int], cut: Cut
) -> None:
    # With two cells a group, what leaves and what enters may have no coordinate in common.
    rows = rows_of(ends, groups=2, cells=2)
    most = furthest(replaced(units(rows, 3), [tuple(rows[:2])]), cut, range(1))
    one_sign, symmetric = ends[0] >= 0 or ends[1] <= 0, ends[0] == -ends[1]
    for norm in NORMS:
        claimed = stability(contributions_of_replaced_units, 1, ends, cut, norm)
        assert power(claimed, norm) >= most[norm], norm
        # All are attained but L2 where integers have both signs, and one reaches further than the other.
        if norm != "L2" or one_sign or symmetric:
            assert is_attained(claimed, norm, most[norm]), norm


@pytest.mark.parametrize("ends", [(0, 2), (-2, 2)])
@pytest.mark.parametrize("norm", NORMS)
def test_contributions_of_replaced_units_ensures_as_much_for_each_unit(ends: tuple[int, int], norm: str) -> None:
    cut: Cut = (INFINITY, Fraction(1), Fraction(2))
    several = units(rows_of(ends, groups=2), 2)
    tables: list[Table] = list(itertools.product(several, repeat=2))
    most = furthest(itertools.combinations(tables, 2), cut, range(1))
    assert is_attained(stability(contributions_of_replaced_units, 2, ends, cut, norm), norm, most[norm])


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("ends", [*BOUNDS, (50, 100), (-5, 1)])
@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 1), (3, 1)], ids=lambda shape: f"{shape[0]} x {shape[1]}")
def test_contributions_of_replaced_units_ensures_no_more_than_few_cells_hold(
    shape: tuple[int, int], ends: tuple[int, int], cut: Cut
) -> None:
    groups, cells = shape
    here: Cut = (cut[0], min(cut[1], Fraction(groups)), cut[2])
    rows = rows_of(ends, groups=groups, cells=cells)
    most = furthest(replaced(units(rows, 3), [tuple(rows[:2])]), here, range(1))
    one_sign = ends[0] >= 0 or ends[1] <= 0
    for norm in NORMS:
        claimed = stability(contributions_of_replaced_units, 1, ends, here, norm, cells=groups * cells)
        assert power(claimed, norm) >= most[norm], norm
        assert claimed <= stability(contributions_of_replaced_units, 1, ends, here, norm)
        # One coordinate has one norm; of two, both are filled where each holds all that a unit may keep in a group.
        if groups * cells == 1 or (groups * cells == 2 and one_sign and here[2] == 1):
            assert is_attained(claimed, norm, most[norm]), norm


def test_contributions_of_replaced_units_requires_as_many_cells_as_there_are() -> None:
    # The bound for one cell is too small for two.
    cut: Cut = (Fraction(2), INFINITY, INFINITY)
    most = furthest(replaced(units(rows_of((0, 2), groups=2), 2), [()]), cut)
    for norm in NORMS[:2]:
        assert power(stability(contributions_of_replaced_units, 1, (0, 2), cut, norm, cells=1), norm) < most[norm]
        claimed = stability(contributions_of_replaced_units, 1, (0, 2), cut, norm, cells=2)
        assert is_attained(claimed, norm, most[norm])


def test_contributions_of_replaced_units_requires_that_rows_which_do_not_count_give_0() -> None:
    # Between 50 and 100, a row that is filtered out moves a sum by 100 and not by 50.
    cut: Cut = (Fraction(1), INFINITY, INFINITY)
    assert furthest(replaced(units([(0, 0, 50), (0, 0, 100)], 1), [()]), cut) == {"L1": 100, "L2": 10_000, "Linf": 100}
    for norm in NORMS:
        assert stability(contributions_of_replaced_units, 1, (50, 100), cut, norm, cells=1) == 100


@pytest.mark.parametrize("ends", [(50, 100), (-2, 1), (-100, -50)])
@pytest.mark.parametrize("d_in", [0, 1, 2])
def test_contributions_of_replaced_units_ensures_as_much_in_one_cell_for_each_unit(
    ends: tuple[int, int], d_in: int
) -> None:
    cut: Cut = (Fraction(2), INFINITY, INFINITY)
    tables: list[Table] = list(itertools.product(units(rows_of(ends, groups=1), 2), repeat=d_in)) or [()]
    most = furthest(((left, right) for left in tables for right in tables), cut, range(1))
    for norm in NORMS:
        assert is_attained(stability(contributions_of_replaced_units, d_in, ends, cut, norm, cells=1), norm, most[norm])


def test_contributions_of_replaced_units_requires_one_sign_for_the_square_root_of_two() -> None:
    cut: Cut = (Fraction(1), INFINITY, INFINITY)
    left, right = sums((((0, 0, 2),),), cut, 0), sums((((0, 0, -2),),), cut, 0)
    one_sign = power(stability(contributions_of_replaced_units, 1, (0, 2), cut, "L2"), "L2")
    both = power(stability(contributions_of_replaced_units, 1, (-2, 2), cut, "L2"), "L2")
    assert one_sign < size(left, right)["L2"] == both == 16
    # An upper end of 1 is a second sign already: 1 leaves where -2 enters, and 3 is more than the root of 8.
    mixed = power(stability(contributions_of_replaced_units, 1, (-2, 1), cut, "L2"), "L2")
    assert one_sign < 9 <= mixed < both and is_attained(Fraction(mixed), "L1", 10)


def test_contributions_of_replaced_units_requires_more_than_what_units_that_come_or_go_do() -> None:
    cut: Cut = (Fraction(2), INFINITY, INFINITY)
    most = furthest(replaced(units(rows_of((0, 2), groups=2), 2), [()]), cut)
    for norm in NORMS[:2]:
        assert power(stability(contributions_of_added_units, 1, (0, 2), cut, norm), norm) < most[norm]


def test_contributions_of_replaced_units_requires_that_limits_are_kept_to() -> None:
    without: Cut = (INFINITY, INFINITY, INFINITY)
    most = furthest(replaced(units(rows_of((0, 2), groups=2), 3), [()]), without)
    for norm in NORMS:
        for cut in CUTS[:2]:
            assert power(stability(contributions_of_replaced_units, 1, (0, 2), cut, norm), norm) < most[norm]


# --- units one by one ------------------------------------------------------------------------------------------------

Attributed = dict[int, Counter[tuple[int, ...]]]
"""The rows of each unit that has any."""
Step = Callable[[Attributed], Attributed]
PUBLIC = {0: ["a", "b"], 1: ["c"]}


def apart(left: Attributed, right: Attributed) -> int:
    """How many units have other rows."""
    return sum(left.get(unit, Counter()) != right.get(unit, Counter()) for unit in {*left, *right})


def all_tables() -> list[Attributed]:
    some: list[Counter[tuple[int, ...]]] = [
        Counter(rows) for n in range(3) for rows in itertools.combinations_with_replacement([(0,), (1,), (2,)], n)
    ]
    return [dict(enumerate(rows)) for rows in itertools.product(some, repeat=2)]


def of_rows(function: Callable[[tuple[int, ...]], list[tuple[int, ...]]]) -> Step:
    """What is done with each row by itself."""

    def step(table: Attributed) -> Attributed:
        return {
            unit: Counter(made for row in rows.elements() for made in function(row)) for unit, rows in table.items()
        }

    return step


ONE_BY_ONE: dict[str, Step] = {
    "filter": of_rows(lambda row: [row] if row[0] > 0 else []),
    "derive": of_rows(lambda row: [(*row, row[0] ** 2)]),
    "join with a public table": of_rows(lambda row: [(*row, ord(z)) for z in PUBLIC.get(row[0], [])]),
    "join with itself on the unit": lambda table: {
        unit: Counter((*left, *right) for left in rows.elements() for right in rows.elements())
        for unit, rows in table.items()
    },
    "sample": lambda table: {
        unit: rows for unit, rows in table.items() if random.Random(f"salt {unit}").random() < 0.7
    },
}
TOGETHER: dict[str, Step] = {
    "a filter that looks at other units": lambda table: {
        unit: Counter({row: n for row, n in rows.items() if row == max(r for other in table.values() for r in other)})
        for unit, rows in table.items()
    },
    "a private join that is not on the unit": lambda table: {
        unit: Counter(
            (*left, *right) for left in rows.elements() for other in table.values() for right in other.elements()
        )
        for unit, rows in table.items()
    },
    "a sample by the place in the table": lambda table: {
        unit: Counter(list(rows.elements())[sum(other.total() for n, other in table.items() if n < unit) % 2 :])
        for unit, rows in table.items()
    },
    "a salt that depends on the data": lambda table: {
        unit: rows
        for unit, rows in table.items()
        if random.Random(f"{sorted(table[0].elements())} {unit}").random() < 0.5
    },
}  # fmt: skip


@pytest.mark.parametrize("step", ONE_BY_ONE)
def test_units_one_by_one_ensures_that_no_more_units_differ(step: str) -> None:
    pairs = list(itertools.combinations(all_tables(), 2))
    moved = [(apart(left, right), apart(ONE_BY_ONE[step](left), ONE_BY_ONE[step](right))) for left, right in pairs]
    for d_in in (1, 2):
        most = max(after for before, after in moved if before <= d_in)
        assert units_one_by_one(Fraction(d_in)) >= most
        if step != "sample":
            assert units_one_by_one(Fraction(d_in)) == most
    assert units_one_by_one(Fraction(0)) == 0 and units_one_by_one(INFINITY) == INFINITY


@pytest.mark.parametrize("step", TOGETHER)
def test_units_one_by_one_requires_that_a_unit_depends_on_its_own_rows(step: str) -> None:
    pairs = itertools.combinations(all_tables(), 2)
    near = [(left, right) for left, right in pairs if apart(left, right) == 1]
    assert max(apart(TOGETHER[step](left), TOGETHER[step](right)) for left, right in near) == 2


def test_units_one_by_one_requires_that_nothing_fails() -> None:
    # Whether an error occurs is an output too: one unit decides it for the whole table.
    inverse = of_rows(lambda row: [(*row, 2 // row[0])])
    quiet: Attributed = {0: Counter([(1,)]), 1: Counter([(2,)])}
    inverse(quiet)
    with pytest.raises(ZeroDivisionError):
        inverse({**quiet, 1: Counter([(0,)])})
