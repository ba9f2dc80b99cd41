"""Small changes of a pair of inputs: how a search climbs from a promising pair to a better one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from viameter.logic.exact import Value
from viameter.logic.lang.core import Program
from viameter.logic.refute.candidates import Pair

LONGEST = 8
_SHIFTS = (1, -1, 3, -3)


def moves(program: Program, private: frozenset[str], pair: Pair, *, sizes: tuple[int, ...] = (1,)) -> Iterator[Pair]:
    """Pairs near a pair: longer or shorter lists, other levels, other differences, other public numbers."""
    yield from _resized(pair)
    for entry in program.inputs:
        one, two = pair.first[entry.name], pair.second[entry.name]
        if isinstance(one, tuple) and isinstance(two, tuple):
            for changed in _list_moves(one, two, private=entry.name in private, sizes=sizes):
                yield _with(pair, entry.name, *changed)
        elif isinstance(one, bool):
            yield _with(pair, entry.name, not one, not two)
        elif isinstance(two, int) and isinstance(one, int):
            for shift in _SHIFTS:
                yield _with(pair, entry.name, one + shift, two + shift)
            if entry.name in private:
                for size in (*sizes, *(-size for size in sizes)):
                    yield _with(pair, entry.name, one, one + size)


def _list_moves(
    one: tuple[int, ...], two: tuple[int, ...], *, private: bool, sizes: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    kinds = dict.fromkeys(zip(one, two, strict=True))
    groups = [[at for at in range(len(one)) if (one[at], two[at]) == kind] for kind in kinds]
    groups += [[at] for at in range(len(one)) if len(kinds) < len(one)]
    for group in groups:
        for shift in _SHIFTS:
            yield _added(one, group, shift), _added(two, group, shift)
        if private:
            for step in (0, *sizes, *(-size for size in sizes)):
                base = {at: one[at] + step for at in group}
                yield one, tuple(base.get(at, entry) for at, entry in enumerate(two))


def _resized(pair: Pair) -> Iterator[Pair]:
    """All lists with one position twice, or without one: lists that belong together keep their lengths alike."""
    lengths = {len(value) for value in pair.first.values() if isinstance(value, tuple)}
    if len(lengths) != 1:
        return
    (length,) = lengths
    for at in range(length):
        if length < LONGEST:
            yield Pair(_cut(pair.first, at, 2), _cut(pair.second, at, 2))
        if length > 1:
            yield Pair(_cut(pair.first, at, 0), _cut(pair.second, at, 0))


def _cut(inputs: Mapping[str, Value], at: int, times: int) -> dict[str, Value]:
    return {
        name: (*value[:at], *(value[at : at + 1] * times), *value[at + 1 :]) if isinstance(value, tuple) else value
        for name, value in inputs.items()
    }


def _added(values: tuple[int, ...], group: list[int], shift: int) -> tuple[int, ...]:
    return tuple(entry + shift if at in group else entry for at, entry in enumerate(values))


def _with(pair: Pair, name: str, one: Value, two: Value) -> Pair:
    return Pair({**pair.first, name: one}, {**pair.second, name: two})
