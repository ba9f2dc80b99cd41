"""Cuts of data in which a person has many rows: contribution bounds, and tables that refer to one another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter.errors import ParameterError, plain
from viameter.neighborhood.arguments import read_mapping
from viameter.neighborhood.changes import Anything, Change, Person, Records, Steps, Subtree
from viameter.neighborhood.cuts.base import Cut, Gains, Touched, read_size, total
from viameter.neighborhood.cuts.partitions import Partition
from viameter.neighborhood.solvers import worst_contribution


@dataclass(frozen=True, eq=False, repr=False)
class Contributions(Partition):
    """Groups of rows, to which a person contributes: to at most l0 of them, l1 rows in all, linf rows to each."""

    l0: int = 1
    l1: int = 1
    linf: int = 1

    def worst(self, edit: Change, gains: Gains) -> Touched:
        """A person's rows, within the bounds, spread as costs most; rows of their own as in any partition."""
        if not isinstance(edit, Person):
            return super().worst(edit, gains)
        most = int(min(self.linf, edit.rows, edit.moments))
        counts = range(1, most + 1)
        if edit.alters:
            # Rows that were theirs may all go, and as many others come, to other groups.
            tables = [[Fraction(0), gains.of(part, Person(most, edit.moments, True))] for part in range(self.size)]
            found = worst_contribution(tables, l0=2 * self.l0, l1=2 * self.l1)
            return Touched(found.value, {part: Person(most, edit.moments, True) for part, _ in found.chosen}, False)
        tables = [
            [Fraction(0), *(gains.of(part, Person(count, edit.moments)) for count in counts)]
            for part in range(self.size)
        ]
        found = worst_contribution(tables, l0=self.l0, l1=int(min(self.l1, edit.rows, edit.moments)))
        changes: dict[int, Change] = {part: Person(count, edit.moments) for part, count in found.chosen}
        after = tuple(f"{count} rows of one person in group {part}" for part, count in found.chosen)
        return Touched(found.value, changes, found.exact, (), after)

    def label(self, part: int) -> str:
        """Its number."""
        return f"group {part}"

    def __repr__(self) -> str:
        return f"contributions({self.size}, l0={self.l0}, l1={self.l1}, linf={self.linf})"


def contributions(size: int, *, l0: int | None = None, l1: int | None = None, linf: int | None = None) -> Contributions:
    """Groups to which a person contributes at most so much: l0 groups, l1 rows in all, linf rows in one group.

    What is not given follows from the others; without `l1`, `linf` must be given.

    >>> from viameter import neighborhood as nb
    >>> import viameter as vm
    >>> wards = nb.contributions(10, l0=2, l1=5, linf=3)
    >>> row = nb.unbounded()
    >>> nb.compose(nb.user(), [nb.leaf(w, vm.zcdp("0.001"), granularity=row) for w in wards]).loss
    zcdp(13/1000)
    """
    read_size(size, "size")
    groups = size if l0 is None else min(read_size(l0, "l0"), size)
    if l1 is None and linf is None:
        raise ParameterError(
            "give l1 (rows of a person in all) or linf (rows in one group): without, no number bounds them"
        )
    each = read_size(l1 if linf is None else linf, "linf")
    rows = groups * each if l1 is None else read_size(l1, "l1")
    return Contributions(size, "group", l0=groups, l1=rows, linf=min(each, rows))


@dataclass(frozen=True, eq=False, repr=False)
class ForeignKeys(Cut):
    """Tables that refer to others; each part is a table."""

    names: tuple[str, ...]
    refers: tuple[tuple[tuple[int, Steps], ...], ...]
    """For each table, the tables that it refers to, and how many of its rows refer to one row of those at most."""

    def __len__(self) -> int:
        return len(self.names)

    def has_outside(self, part: int) -> bool:
        """Rows of other tables do not turn into rows of this one."""
        return False

    def label(self, part: int) -> str:
        """The table's name."""
        return f"table {self.names[part]}"

    def worst(self, edit: Change, gains: Gains) -> Touched:
        """A row takes with it as many rows of each table as fan-outs allow."""
        match edit:
            case Subtree(root=root):
                if root not in self.names:
                    raise ParameterError(f"there is no table {root!r}: the tables are {', '.join(self.names)}")
                counts = self._counts(self.names.index(root))
                changes: dict[int, Change] = {
                    part: Records(count, 0, count) for part, count in enumerate(counts) if count
                }
                value = total([gains.of(part, change) for part, change in changes.items()])
                after = {self.names[part]: f"{counts[part]} rows more" for part in changes}
                return Touched(value, changes, True, dict.fromkeys(after, "no rows"), after)
            case Anything():
                return self._everywhere(edit, gains, exact=True)
        raise self._refuse(edit)

    def _counts(self, root: int) -> list[Steps]:
        counts: list[Steps] = [0] * len(self.names)
        counts[root] = 1
        for table in _in_order(self.refers):
            if table != root:
                counts[table] = sum((counts[above] * fan for above, fan in self.refers[table] if counts[above]), 0)
        return counts

    def __repr__(self) -> str:
        return f"foreign_keys({', '.join(self.names)})"


def _in_order(refers: tuple[tuple[tuple[int, Steps], ...], ...]) -> list[int]:
    """The tables, those referred to before those that refer to them."""
    done: list[int] = []
    waiting = list(range(len(refers)))
    while waiting:
        ready = [table for table in waiting if all(above in done for above, _ in refers[table])]
        if not ready:
            raise ParameterError("tables refer to one another in a circle: a row could take any number with it")
        done += ready
        waiting = [table for table in waiting if table not in ready]
    return done


def foreign_keys(tables: Mapping[str, Any]) -> ForeignKeys:
    """Tables by name, each with those that it refers to: {other table: how many rows refer to one row of it at most}.

    >>> from viameter import neighborhood as nb
    >>> import viameter as vm
    >>> clinic = nb.foreign_keys({"patient": {}, "visit": {"patient": 5}, "drug": {"visit": 3}})
    >>> leaves = [nb.leaf(t, vm.pure(e), granularity=nb.unbounded()) for t, e in zip(clinic, ("0.1", "0.05", "0.02"))]
    >>> nb.compose(nb.entity("patient"), leaves).loss
    pure(13/20)
    """
    if not isinstance(tables, Mapping) or not tables:
        raise ParameterError(f"tables={plain(tables)}: expected {{'visit': {{'patient': 5}}, 'patient': {{}}}}")
    names = tuple(tables)
    refers = []
    for name, others in tables.items():
        found = []
        for other, fan in read_mapping(others or {}, f"tables[{name!r}]", "{'patient': 5}").items():
            if other not in tables:
                raise ParameterError(f"table {name!r} refers to {other!r}, which is not listed: list every table")
            found.append((names.index(other), read_size(fan, f"the fan-out of {name} to {other}")))
        refers.append(tuple(found))
    _in_order(tuple(refers))
    return ForeignKeys(names, tuple(refers))
