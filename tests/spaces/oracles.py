"""Second opinions on distances: a search over single steps, and every distance written once more, from its definition.

Nothing here calls `Metric.distance`.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
import struct
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pytest

import viameter as vm
from viameter.core import Domain, Metric
from viameter.errors import NotInDomain
from viameter.spaces import DatasetMetric, NormDistance, UserMetric

INFINITY = math.inf
LEAST, GREATEST = -(2**63), 2**63 - 1

loose: Any = vm
"""The library without its types, for calls that a type checker would refuse."""

Rows: TypeAlias = tuple[Hashable, ...]
Extended: TypeAlias = Fraction | float

ROW_METRICS: tuple[DatasetMetric, ...] = (
    vm.SymmetricDistance(),
    vm.InsertDeleteDistance(),
    vm.ChangeOneDistance(),
    vm.HammingDistance(),
)
NORMS: tuple[NormDistance, ...] = (vm.L1Distance(), vm.L2Distance(), vm.LInfDistance())
ORDERED = (vm.InsertDeleteDistance, vm.HammingDistance)
REPLACING = (vm.ChangeOneDistance, vm.HammingDistance)


def shown(value: object) -> str:
    """A parameter of a test in its name: short, and the same in every process."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))[:80]


def name_of(value: object) -> str:
    """The same, for metrics by their kind."""
    return type(value).__name__ if isinstance(value, Metric) else shown(value)


# --- datasets -------------------------------------------------------------------------------------------------------


def sequences(letters: Sequence[Any], most: int, least: int = 0) -> list[list[Any]]:
    """All lists of so many letters."""
    return [list(word) for n in range(least, most + 1) for word in itertools.product(letters, repeat=n)]


def table_of(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """A table from its rows."""
    rows = list(rows)
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def bits(value: Any) -> Hashable:
    """A value that is equal to another exactly when the two are the same to the bit."""
    return struct.pack("<d", value) if isinstance(value, float) else (type(value).__name__, value)


def rows_of(member: Any) -> Rows:
    """The rows of a vector or a table, comparable to the bit."""
    if isinstance(member, dict):
        return tuple(zip(*(rows_of(column) for column in member.values()), strict=True))
    values = member.tolist() if isinstance(member, np.ndarray) else member
    return tuple(map(bits, values))


def same(left: Any, right: Any) -> bool:
    """Whether two members (arrays, tables, numbers) are the same to the bit, types included."""
    if isinstance(left, dict):
        return isinstance(right, dict) and list(left) == list(right) and all(same(left[n], right[n]) for n in left)
    if isinstance(left, np.ndarray):
        return isinstance(right, np.ndarray) and left.dtype == right.dtype and rows_of(left) == rows_of(right)
    return type(left) is type(right) and bits(left) == bits(right)


# --- distances by search over single steps --------------------------------------------------------------------------


def search(start: Rows, steps: Callable[[Rows], Iterable[Rows]]) -> dict[Rows, int]:
    """How many steps lead from the start to everything that can be reached."""
    found, waiting = {start: 0}, deque([start])
    while waiting:
        here = waiting.popleft()
        for there in steps(here):
            if there not in found:
                found[there] = found[here] + 1
                waiting.append(there)
    return found


def without_order(rows: Iterable[Hashable]) -> Rows:
    """One representative of all orders of the rows."""
    return tuple(sorted(rows, key=repr))


def single_steps(metric: Metric, letters: Sequence[Hashable], most: int) -> Callable[[Rows], Iterator[Rows]]:
    """The datasets (of at most so many rows) that the documentation of a metric calls one step away."""

    def inserted(rows: Rows) -> Iterator[Rows]:
        if len(rows) < most:
            for place in range(len(rows) + 1):
                yield from ((*rows[:place], letter, *rows[place:]) for letter in letters)

    def deleted(rows: Rows) -> Iterator[Rows]:
        yield from (rows[:place] + rows[place + 1 :] for place in range(len(rows)))

    def replaced(rows: Rows) -> Iterator[Rows]:
        for place in range(len(rows)):
            yield from ((*rows[:place], letter, *rows[place + 1 :]) for letter in letters)

    def steps(rows: Rows) -> Iterator[Rows]:
        found = replaced(rows) if isinstance(metric, REPLACING) else itertools.chain(inserted(rows), deleted(rows))
        return found if isinstance(metric, ORDERED) else map(without_order, found)

    return steps


def user_steps(metric: UserMetric, letters: Sequence[tuple[Any, ...]], most: int) -> Callable[[Rows], Iterator[Rows]]:
    """The tables that are one user away; rows are tuples that start with the user."""
    users = sorted({row[0] for row in letters})
    possessions = {
        user: [
            tuple(rows)
            for n in range(1, most + 1)
            for rows in itertools.combinations_with_replacement([row for row in letters if row[0] == user], n)
        ]
        for user in users
    }

    def steps(table: Rows) -> Iterator[Rows]:
        for user in users:
            others = tuple(row for row in table if row[0] != user)  # type: ignore[index]  # rows are tuples here
            present = len(others) < len(table)
            if isinstance(metric, vm.ChangeOneIdDistance):
                options = possessions[user] if present else []
            else:
                options = [()] if present else possessions[user]
            yield from (without_order(others + rows) for rows in options if len(others) + len(rows) <= most)

    return steps


# --- distances from their definition --------------------------------------------------------------------------------


def prepared(metric: Metric, member: Any) -> Any:
    """What `own_distance` compares: the rows, the rows of each user, or the exact numbers."""
    if isinstance(metric, UserMetric):
        owned: dict[Any, list[Hashable]] = {}
        for user, row in zip(member[metric.id].tolist(), rows_of(member), strict=True):
            owned.setdefault(user, []).append(row)
        return {user: without_order(rows) for user, rows in owned.items()}
    if isinstance(metric, DatasetMetric):
        return rows_of(member)
    if isinstance(metric, NormDistance):
        return [number(value) for value in member.tolist()]
    return number(member)


def number(value: float) -> Extended:
    """The number exactly, or one of the infinities."""
    if isinstance(value, int) or math.isinf(value):
        return value
    return Fraction(value)


def difference(left: Extended, right: Extended) -> Extended:
    """How far two numbers are apart; infinities are at distance 0 from themselves."""
    if left == right:
        return 0
    return INFINITY if isinstance(left, float) or isinstance(right, float) else abs(left - right)


def own_distance(metric: Metric, left: Any, right: Any) -> Extended:
    """The distance of two prepared members; that of L2 squared, so that it is exact."""
    return _DISTANCES[type(metric)](left, right)


def _symmetric(left: Rows, right: Rows) -> Extended:
    return len(left) + len(right) - 2 * _matches(left, right)


def _change_one(left: Rows, right: Rows) -> Extended:
    return len(left) - _matches(left, right) if len(left) == len(right) else INFINITY


def _hamming(left: Rows, right: Rows) -> Extended:
    return len([1 for a, b in zip(left, right, strict=True) if a != b]) if len(left) == len(right) else INFINITY


def _symmetric_users(left: dict[Any, Rows], right: dict[Any, Rows]) -> Extended:
    gone = [user for user in left if left[user] != right.get(user)]
    come = [user for user in right if right[user] != left.get(user)]
    return len(gone) + len(come)


def _changed_users(left: dict[Any, Rows], right: dict[Any, Rows]) -> Extended:
    return len([user for user in left if left[user] != right[user]]) if set(left) == set(right) else INFINITY


def _norm(combine: Callable[[list[Any]], Any]) -> Callable[[Any, Any], Extended]:
    def norm(left: list[Extended], right: list[Extended]) -> Extended:
        if len(left) != len(right):
            return INFINITY
        apart = [difference(a, b) for a, b in zip(left, right, strict=True)]
        found: Extended = INFINITY if INFINITY in apart else combine(apart)
        return found

    return norm


def scale(metric: Metric, bound: Extended) -> Extended:
    """The bound on the scale of `own_distance`: that of L2 is squared."""
    if bound == INFINITY:
        return INFINITY
    exact = Fraction(bound) ** (2 if isinstance(metric, vm.L2Distance) else 1)
    return exact.numerator if exact.denominator == 1 else exact


@functools.lru_cache(maxsize=2**16)
def _matches(left: Rows, right: Rows) -> int:
    remaining, found = list(right), 0
    for row in left:
        if row in remaining:
            remaining.remove(row)
            found += 1
    return found


@functools.lru_cache(maxsize=2**16)
def _edits(left: Rows, right: Rows) -> int:
    costs = {(i, j): i + j for i in range(len(left) + 1) for j in range(len(right) + 1) if i == 0 or j == 0}
    for i, j in itertools.product(range(1, len(left) + 1), range(1, len(right) + 1)):
        costs[i, j] = 1 + min(costs[i - 1, j], costs[i, j - 1])
        if left[i - 1] == right[j - 1]:
            costs[i, j] = min(costs[i, j], costs[i - 1, j - 1])
    return costs[len(left), len(right)]


_DISTANCES: dict[type[Metric], Callable[[Any, Any], Extended]] = {
    vm.SymmetricDistance: _symmetric,
    vm.InsertDeleteDistance: _edits,
    vm.ChangeOneDistance: _change_one,
    vm.HammingDistance: _hamming,
    vm.SymmetricIdDistance: _symmetric_users,
    vm.ChangeOneIdDistance: _changed_users,
    vm.AbsoluteDistance: difference,
    vm.L1Distance: _norm(sum),
    vm.L2Distance: _norm(lambda apart: sum(part * part for part in apart)),
    vm.LInfDistance: _norm(lambda apart: max(apart, default=0)),
}


# --- errors ---------------------------------------------------------------------------------------------------------


def check_refused_in_silence(domain: Domain, value: Any, *canaries: object) -> None:
    """The value is refused, `why_not` says why, and the error says nothing of what is in it."""
    reason = domain.why_not(value)
    assert reason
    assert not domain.contains(value)
    with pytest.raises(NotInDomain) as caught:
        domain.admit(value)
    error = caught.value
    assert error.domain == domain
    assert error.__cause__ is None
    assert error.__context__ is None
    told = " ".join([str(error), repr(error), repr(error.args)])
    assert repr(domain) in str(error)
    for canary in canaries:
        assert str(canary) not in told
