"""Units: whose presence a release hides. A row, everything of a person, an event, a window of events, an entity.

A unit names a granularity of the neighborhood room, says how its rows are found in a table, and how many of them count.

>>> per("tailnum", rows=20)
per('tailnum', rows=20)
>>> per("tailnum", rows=20).granularity
user()
>>> per_event("day", window=7).granularity
w_event(w=7)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from viameter import neighborhood as nb
from viameter.errors import FormatError, ParameterError, plain
from viameter.tables.bounding import Limits


@dataclass(frozen=True, slots=True, repr=False)
class Unit(ABC):
    """Whose presence a release hides, and how many rows of it count."""

    limits: Limits = field(default_factory=Limits, kw_only=True)
    """What is kept of a unit at most, in every question; a question may keep less."""

    @property
    @abstractmethod
    def granularity(self) -> nb.Granularity:
        """The neighbors that a release cannot tell apart."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What one unit is called in sentences."""

    @property
    def column(self) -> str | None:
        """The column that names the unit of a row; None where a row is found by itself."""
        return None

    @property
    def replaces(self) -> bool:
        """Whether a step may put other rows in the place of a unit's rows, and not only add or remove them."""
        return False

    @property
    def rows_without_limit(self) -> int | None:
        """How many rows a unit has in a table as it is; None where that is known only after some are dropped."""
        return None


@dataclass(frozen=True, slots=True, repr=False)
class PerRow(Unit):
    """One row of the table."""

    replace: bool = False

    @property
    def granularity(self) -> nb.Granularity:
        """Rows that come or go, or (`replace`) turn into others."""
        return nb.bounded() if self.replace else nb.unbounded()

    @property
    def name(self) -> str:
        """One row."""
        return "row"

    @property
    def replaces(self) -> bool:
        """Whether a row may turn into another."""
        return self.replace

    @property
    def rows_without_limit(self) -> int:
        """One."""
        return 1

    def __repr__(self) -> str:
        return f"per_row({'replace=True' if self.replace else ''})"


@dataclass(frozen=True, slots=True, repr=False)
class PerId(Unit):
    """Everything of whoever a column names."""

    id: str
    replace: bool = False

    @property
    def granularity(self) -> nb.Granularity:
        """People who come or go with all of their rows, or (`replace`) have other rows."""
        return nb.user(alters=self.replace)

    @property
    def name(self) -> str:
        """The column that names units."""
        return self.id

    @property
    def column(self) -> str:
        """The column that names units."""
        return self.id

    @property
    def replaces(self) -> bool:
        """Whether a unit's rows may turn into others."""
        return self.replace

    def __repr__(self) -> str:
        return f"per({self.id!r}{_limits(self.limits)}{', replace=True' if self.replace else ''})"


@dataclass(frozen=True, slots=True, repr=False)
class PerEvent(Unit):
    """One row at each of so many consecutive times of a column."""

    time: str
    window: int = 1

    @property
    def granularity(self) -> nb.Granularity:
        """Events, or windows of them."""
        return nb.event() if self.window == 1 else nb.w_event(self.window)

    @property
    def name(self) -> str:
        """An event, or a window."""
        return "event" if self.window == 1 else f"window of {self.window} times of {self.time}"

    @property
    def replaces(self) -> bool:
        """An event may turn into another one."""
        return True

    @property
    def rows_without_limit(self) -> int:
        """One at each time."""
        return self.window

    def __repr__(self) -> str:
        return f"per_event({self.time!r}{'' if self.window == 1 else f', window={self.window}'})"


@dataclass(frozen=True, slots=True)
class Link:
    """How a row of a table refers to a row of another: the value of `column` is that of `key` there."""

    column: str
    table: str
    key: str


@dataclass(frozen=True, slots=True, repr=False)
class PerEntity(Unit):
    """One row of a table, with every row of other tables that refers to it, directly or not."""

    root: str
    key: str
    links: tuple[tuple[str, Link], ...] = ()

    @property
    def granularity(self) -> nb.Granularity:
        """A row of the root with all that refers to it."""
        return nb.entity(self.root)

    @property
    def name(self) -> str:
        """The table of entities."""
        return self.root

    def path(self, table: str) -> tuple[Link, ...]:
        """The links that lead from a table to the root; none for the root itself."""
        links, found = dict(self.links), []
        while table != self.root:
            if table not in links:
                known = ", ".join(map(repr, [self.root, *links]))
                raise ParameterError(f"{table!r} refers to no table that leads to {self.root!r}: known are {known}")
            found.append(links[table])
            table = links[table].table
        return tuple(found)

    def __repr__(self) -> str:
        links = ", ".join(f"{table!r}: ({x.column!r}, {x.table!r}, {x.key!r})" for table, x in self.links)
        return f"per_entity({self.root!r}, key={self.key!r}, links={{{links}}}{_limits(self.limits)})"


@dataclass(frozen=True, slots=True, repr=False)
class Described(Unit):
    """A unit of which a service says no more than a text."""

    text: str

    @property
    def granularity(self) -> nb.Granularity:
        """It is not known here."""
        raise ParameterError(f"the service says no more of the unit than {self.text!r}: is it of an older version?")

    @property
    def name(self) -> str:
        """A unit."""
        return "unit"

    def __repr__(self) -> str:
        return self.text


def per_row(*, replace: bool = False) -> PerRow:
    """One row comes or goes; with `replace`, one row turns into another and the number of rows is the same."""
    return PerRow(_flag(replace, "replace"))


def per(
    column: str,
    *,
    rows: int | None = None,
    groups: int | None = None,
    per_group: int | None = None,
    keep: str | None = None,
    replace: bool = False,
) -> PerId:
    """Everything of whoever `column` names; of each, at most so many rows count, in so many groups, in each group.

    Which rows is a uniform sample, or, with `keep="first by time"`, those with the least values of a column. Rows where
    the column is NULL belong to nobody and are dropped. A question may keep fewer rows, never more. With `replace`,
    neighbors have the same people, one of whom has other rows.
    """
    return PerId(_name(column, "column"), _flag(replace, "replace"), limits=Limits(rows, groups, per_group, keep))


def per_event(time: str, *, window: int = 1) -> PerEvent:
    """One row at one time of the column `time` comes, goes or turns into another; in up to `window` consecutive times.

    A time is a value of the column: truncate it first if a time is to be a day. Neighbors differ by at most one row at
    each time.
    """
    if isinstance(window, bool) or not isinstance(window, int) or window < 1:
        raise ParameterError(f"window={plain(window)} is not a number of times: expected a whole number >= 1")
    return PerEvent(_name(time, "time"), window)


def per_entity(
    root: str,
    *,
    key: str,
    links: Mapping[str, tuple[str, str] | tuple[str, str, str]],
    rows: int | None = None,
    groups: int | None = None,
    per_group: int | None = None,
) -> PerEntity:
    """A row of the table `root` with all rows of other tables that refer to it, directly or not.

    `links` says of each other table by which column it refers to which table, and to which key there (the root's `key`
    if it is left out). A key names one row: that is the custodian's to see to.

    >>> links = {"visits": ("patient", "patients"), "drugs": ("visit", "visits", "nr")}
    >>> per_entity("patients", key="id", links=links).path("drugs")
    (Link(column='visit', table='visits', key='nr'), Link(column='patient', table='patients', key='id'))
    """
    _name(root, "root")
    _name(key, "key")
    if not isinstance(links, Mapping):
        raise ParameterError(f"links={plain(links)}: expected a dict such as {{'visits': ('patient_id', {root!r})}}")
    found: list[tuple[str, Link]] = []
    for table, link in links.items():
        if not isinstance(link, tuple) or len(link) not in (2, 3) or not all(isinstance(x, str) and x for x in link):
            raise ParameterError(f"links[{table!r}]={plain(link)}: expected (column, table) or (column, table, key)")
        if len(link) == 2 and link[1] != root:
            raise ParameterError(
                f"links[{table!r}]={link!r}: which column of {link[1]!r} is it? Give (column, table, key)"
            )
        found.append((_name(table, "links"), Link(link[0], link[1], link[2] if len(link) == 3 else key)))
    unit = PerEntity(root, key, tuple(found), limits=Limits(rows, groups, per_group))
    for table, _ in found:
        _require_way(unit, table)
    return unit


def _require_way(unit: PerEntity, table: str) -> None:
    links, seen = dict(unit.links), {table}
    while table != unit.root and table in links:
        table = links[table].table
        if table in seen:
            raise ParameterError(f"links: {table!r} refers to itself in a circle, and never to {unit.root!r}")
        seen.add(table)
    unit.path(table)


def _name(value: object, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise ParameterError(f"{name}={plain(value)} is not a name: expected text")
    return value


def _flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise ParameterError(f"{name}={plain(value)}: expected True or False")
    return value


def _limits(limits: Limits) -> str:
    return "".join(f", {name}={value!r}" for name, value in limits.given.items())


def read_unit(value: Any) -> Unit:
    """A unit as documents have it: `{per = "tailnum", rows = 20}`, `{row = true}`, `{event = "day", window = 7}`."""
    given = dict(value) if isinstance(value, Mapping) else {}
    makers: tuple[tuple[str, Callable[..., Unit]], ...] = (("per", per), ("event", per_event), ("row", per_row))
    for name, make in makers:
        if name not in given or (name == "row" and given[name] is not True):
            continue
        named = given.pop(name)
        try:
            return make(**given) if name == "row" else make(named, **given)
        except TypeError as problem:
            unknown = str(problem).partition("unexpected keyword argument ")[2]
            raise FormatError(
                f"unit: {f'there is no option {unknown}' if unknown else 'an option is missing'}"
            ) from None
    raise FormatError('unit: expected {per = "patient", rows = 5}, {row = true} or {event = "day", window = 7}')
