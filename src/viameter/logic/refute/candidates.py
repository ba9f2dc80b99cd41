"""Pairs of small inputs that may tell a program's runs apart: where a search starts.

A list is made of two blocks, each of one level that moves by one step: queries far below a threshold that rise and
queries far above it that fall are what threshold programs trip over, two queries that move apart are what a noisy
maximum does. Pairs come in order of size; whether they are neighbors is for `related` to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product

from viameter.logic.exact import Value, evaluate
from viameter.logic.lang.core import Input, Program, statements_of, terms_of
from viameter.logic.lang.terms import App, Num, Term, subterms, variables
from viameter.logic.neighbors import Neighbors

LENGTHS = (1, 2, 3, 4, 5)
_LEVELS = ((0, 1), (0, 0), (0, 6), (-3, 3), (3, -3), (6, 0), (1, 0), (1, 1), (0, -1), (-6, 6), (6, -6))
_STEPS = ((1, -1), (1, 1), (1, 0), (0, 1), (-1, 1), (-1, -1), (-1, 0), (0, -1))
_SMALL = (0, 1, 2, 3, 5)
_MOST_PUBLIC = 6
_MOST_ANCHORS, _ANCHOR_DELAY = 4, 30
_MOST_SHAPES = 100
_LARGEST_NUMBER = 1000


@dataclass(frozen=True, slots=True)
class Pair:
    """The inputs of two runs."""

    first: Mapping[str, Value]
    second: Mapping[str, Value]

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal pairs."""
        return tuple(sorted(self.first.items())), tuple(sorted(self.second.items()))


def pairs(program: Program, neighbors: tuple[Neighbors, ...]) -> Iterator[Pair]:
    """Pairs to try, small ones first; every pair is given in one order only."""
    private = frozenset().union(*(entry.private for entry in neighbors))
    numbers = numbers_in(program, neighbors)
    lists = any(entry.sort == "list" for entry in program.inputs)
    found: list[tuple[int, int, Pair]] = []
    for length in LENGTHS if lists else (0,):
        for rank, public in enumerate(_publics(program, private, length, numbers)):
            for shape, pair in _pairs_of(program, private, public, length, numbers):
                found.append((3 * length + 6 * rank + shape, len(found), pair))
    seen: set[object] = set()
    for _, _, pair in sorted(found, key=lambda entry: entry[:2]):
        key = frozenset(pair.key) if pair.first != pair.second else None
        if key is not None and key not in seen:
            seen.add(key)
            yield pair


def numbers_in(program: Program, neighbors: tuple[Neighbors, ...]) -> list[int]:
    """Numbers other than 0 and 1 that the program, what it requires, or the adjacency speaks of."""
    terms: list[Term] = [*program.requires, *(term for _, term in program.each)]
    for entry in neighbors:
        terms += [*entry.facts, *(term for _, term in entry.each)]
    for statement in statements_of(program.body):
        terms += terms_of(statement)
    found = {part.value for term in terms for part in subterms(term) if isinstance(part, Num)}
    return sorted((n for n in found if n not in (0, 1) and abs(n) <= _LARGEST_NUMBER), key=abs)


def _publics(program: Program, private: frozenset[str], length: int, numbers: list[int]) -> Iterator[dict[str, Value]]:
    """Values of the public inputs, small ones first, that meet the requirements on them alone."""
    entries = [entry for entry in program.inputs if entry.name not in private]
    choices: list[list[Value]] = [_values(entry, length, numbers) for entry in entries]
    ranked = sorted(product(*(range(len(choice)) for choice in choices)), key=lambda ranks: (sum(ranks), ranks))
    given = 0
    for ranks in ranked[:2000]:
        chosen = {entry.name: choice[rank] for entry, choice, rank in zip(entries, choices, ranks, strict=True)}
        if _fits(program, chosen, length):
            yield chosen
            given += 1
            if given == _MOST_PUBLIC:
                return


def _values(entry: Input, length: int, numbers: list[int]) -> list[Value]:
    if entry.sort == "bool":
        return [False, True]
    if entry.sort == "list":
        return [(0,) * length, (1,) * length, tuple(range(length))]
    return list(dict.fromkeys([*_SMALL, length, *numbers, *(n + 1 for n in numbers)]))


def _fits(program: Program, public: Mapping[str, Value], length: int) -> bool:
    blank: dict[str, Value] = {e.name: (0,) * length for e in program.inputs if e.sort == "list"}
    memory = {**blank, **public}
    for term in program.requires:
        lengths = {part.args[0] for part in subterms(term) if isinstance(part, App) and part.op == "len"}
        if all(var.name in public or var in lengths for var in variables(term)) and not evaluate(term, memory):
            return False
    return True


def _pairs_of(
    program: Program, private: frozenset[str], public: Mapping[str, Value], length: int, numbers: list[int]
) -> Iterator[tuple[int, Pair]]:
    """Pairs with these public inputs, each with a rank: levels around 0 first, then around other numbers."""
    hidden = [entry for entry in program.inputs if entry.name in private]
    anchors = dict.fromkeys([0, *(value for value in public.values() if type(value) is int), *numbers])
    sizes = (1, *(n for n in numbers[:2] if n > 1))
    for rank, anchor in enumerate(islice(anchors, _MOST_ANCHORS)):
        shapes = product(_together(length), _blocks(length))
        for shape, ((levels, steps), blocks) in enumerate(islice(shapes, _MOST_SHAPES)):
            for size in sizes:
                first, second = dict(public), dict(public)
                for entry in hidden:
                    first[entry.name], second[entry.name] = _moved(entry, blocks, anchor, levels, steps, size)
                yield shape + _ANCHOR_DELAY * rank, Pair(first, second)


def _together(length: int) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Levels and steps, those first that come early in both."""
    ranked = sorted(product(range(len(_LEVELS)), range(len(_STEPS))), key=lambda at: (at[0] + 2 * at[1], at))
    for level, step in ranked:
        if length > 1 or _LEVELS[level][0] == _LEVELS[level][1] or _STEPS[step][1] == 0:
            yield _LEVELS[level], _STEPS[step]


def _blocks(length: int) -> list[list[int]]:
    """Which of two blocks each position of a list is in."""
    cuts = dict.fromkeys([length // 2, 1, length - 1])
    found = [[0] * cut + [1] * (length - cut) for cut in cuts if 0 < cut < length]
    return found or [[0] * length]


def _moved(
    entry: Input, blocks: list[int], anchor: int, levels: tuple[int, int], steps: tuple[int, int], size: int
) -> tuple[Value, Value]:
    if entry.sort == "bool":
        return False, True
    if entry.sort == "int":
        return anchor + levels[0], anchor + levels[0] + size * steps[0]
    values = [anchor + levels[block] for block in blocks]
    return tuple(values), tuple(v + size * steps[b] for v, b in zip(values, blocks, strict=True))
