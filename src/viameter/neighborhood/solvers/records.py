"""Searches over all records of a grid of cells: the heaviest record, and the kinds of records that there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from viameter.neighborhood.solvers.cells import Cell

Grid: TypeAlias = dict[str, list[Cell]]
Picks: TypeAlias = dict[str, Cell]

MOST_PRODUCTS = 5 * 10**9
"""The search for the heaviest record gives up after so many multiplications, a second or two."""

MOST_MEETINGS = 2 * 10**6
"""The kinds of records are given up when so many meetings of a kind and a cell have been looked at."""

MOST_WEIGHT = 1 << 52
"""Sums of whole weights up to this are exact in floats, in whatever order they are added."""


class TooLong(Exception):
    """A search was given up."""


def heaviest_record(grid: Grid, weights: list[int]) -> tuple[int, Picks]:
    """Return the largest total weight of the leaves that one record touches, and its cells; else raise `TooLong`."""
    search = _Heaviest(grid, weights)
    search.visit(np.array(weights, dtype=np.float64), list(range(len(search.columns))), ())
    picks = {a: grid[a][pick] for a, pick in zip(search.names, search.picks, strict=True)}
    return search.best, picks


class _Heaviest:
    """Branch and bound: leaves that are still possible bound the weight, attribute by attribute."""

    def __init__(self, grid: Grid, weights: list[int]) -> None:
        assert sum(weights) <= MOST_WEIGHT
        self.names = list(grid)
        self.columns = [_matrix(grid[name], len(weights)) for name in self.names]
        self.best = -1
        self.picks: list[int] = []
        self.products = 0

    def visit(self, alive: NDArray[np.float64], left: list[int], picked: tuple[tuple[int, int], ...]) -> None:
        if not left:
            self.found(int(alive.sum()), picked)
            return
        scores = {a: self.columns[a] @ alive for a in left}
        self.pay(sum(self.columns[a].size for a in left))
        open_cells = {a: np.flatnonzero(scores[a] > self.best) for a in left}
        first = min(left, key=lambda a: len(open_cells[a]))
        if len(open_cells[first]) == 0:
            return
        if len(left) == 1:
            pick = int(np.argmax(scores[first]))
            self.found(int(scores[first][pick]), (*picked, (first, pick)))
        elif len(left) == 2:
            last = left[1 - left.index(first)]
            self.last_two(alive, (first, open_cells[first]), (last, open_cells[last]), picked)
        else:
            others = [a for a in left if a != first]
            for pick in sorted(open_cells[first].tolist(), key=lambda cell: -scores[first][cell]):
                if scores[first][pick] <= self.best:
                    break
                self.visit(alive * self.columns[first][pick], others, (*picked, (first, pick)))

    def last_two(
        self,
        alive: NDArray[np.float64],
        first: tuple[int, NDArray[Any]],
        last: tuple[int, NDArray[Any]],
        picked: tuple[tuple[int, int], ...],
    ) -> None:
        (a, rows), (b, columns) = first, last
        self.pay(len(rows) * len(columns) * len(alive))
        sums = (self.columns[a][rows] * alive) @ self.columns[b][columns].T
        at = np.unravel_index(int(np.argmax(sums)), sums.shape)
        self.found(int(sums[at]), (*picked, (a, int(rows[at[0]])), (b, int(columns[at[1]]))))

    def found(self, weight: int, picked: tuple[tuple[int, int], ...]) -> None:
        if weight > self.best:
            self.best = weight
            self.picks = [pick for _, pick in sorted(picked)]

    def pay(self, products: int) -> None:
        self.products += products
        if self.products > MOST_PRODUCTS:
            raise TooLong


@dataclass(frozen=True, slots=True)
class RecordKind:
    """Records that touch the same leaves (the bits of `leaves`): how many, and the cells of one or two of them."""

    leaves: int
    size: int
    examples: tuple[Picks, ...]


def record_kinds(grid: Grid, leaves: int) -> list[RecordKind]:
    """Return the kinds of records, told apart by those leaves only whose bit is set; else raise `TooLong`."""
    kinds = {leaves: RecordKind(leaves, 1, ({},))}
    meetings = 0
    for name in sorted(grid, key=lambda name: len(grid[name])):
        meetings += len(kinds) * len(grid[name])
        if meetings > MOST_MEETINGS:
            raise TooLong
        after: dict[int, RecordKind] = {}
        for kind in kinds.values():
            for cell in grid[name]:
                touched = kind.leaves & cell.leaves
                known = after.get(touched)
                if known is None:
                    examples = tuple({**picks, name: cell} for picks in kind.examples)
                    after[touched] = RecordKind(touched, kind.size * cell.size, examples)
                else:
                    examples = known.examples
                    if len(examples) == 1:
                        examples = (examples[0], {**kind.examples[0], name: cell})
                    after[touched] = RecordKind(touched, known.size + kind.size * cell.size, examples)
        kinds = after
    return list(kinds.values())


def two_records(left: Picks, right: Picks) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return two different records of such cells, or None if there is only one."""
    before, after = ({a: cell.value for a, cell in picks.items()} for picks in (left, right))
    if all(left[a] is right[a] for a in left):
        roomy = next((a for a, cell in left.items() if cell.size > 1), None)
        if roomy is None:
            return None
        after[roomy] = left[roomy].other
    return before, after


def _matrix(column: list[Cell], leaves: int) -> NDArray[np.float64]:
    width = (leaves + 7) // 8
    packed = np.frombuffer(b"".join(cell.leaves.to_bytes(width, "little") for cell in column), dtype=np.uint8)
    bits = np.unpackbits(packed.reshape(len(column), width), axis=1, bitorder="little", count=leaves)
    return bits.astype(np.float64)
