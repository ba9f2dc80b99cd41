"""How much one unit may add to an answer: rows in all, groups, and rows in each group; and which rows are kept."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from viameter.arith import INFINITY, Extended
from viameter.errors import ParameterError, plain

__all__ = ["Limits"]

NUMBERS = ("rows", "groups", "per_group")
UNIFORM, FIRST_BY = "uniform", "first by "


@dataclass(frozen=True, slots=True, repr=False)
class Limits:
    """At most so many rows of a unit, in at most so many groups, at most so many in each; None is no limit.

    `keep` says which rows: "uniform", a uniform sample (also if it is None), or "first by time", those with the least
    values of a column.

    >>> limits = Limits(rows=5, per_group=2)
    >>> limits.most_rows, limits.most_in_group, limits.most_groups, limits.largest_square
    (Fraction(5, 1), Fraction(2, 1), Fraction(5, 1), Fraction(9, 1))
    >>> limits.tightened(Limits(rows=7, groups=1)).most_rows
    Fraction(2, 1)
    """

    rows: int | None = None
    groups: int | None = None
    per_group: int | None = None
    keep: str | None = None

    def __post_init__(self) -> None:
        for name in NUMBERS:
            limit = getattr(self, name)
            if limit is not None and (type(limit) is not int or limit < 1):
                raise ParameterError(
                    f"{name}={plain(limit)} is no limit: expected a whole number >= 1, or None where nothing is limited"
                )
        if self.keep is not None and self.keep != UNIFORM and not self._names_a_column:
            raise ParameterError(
                f"keep={plain(self.keep)}: expected 'uniform', or 'first by' and the name of a column, as in "
                "keep='first by time'"
            )

    @property
    def _names_a_column(self) -> bool:
        return isinstance(self.keep, str) and self.keep.startswith(FIRST_BY) and self.keep != FIRST_BY

    def tightened(self, other: Limits) -> Limits:
        """What keeps to both: of each kind the smaller limit; which rows are kept says the other, if it does."""
        return Limits(
            rows=_smaller(self.rows, other.rows),
            groups=_smaller(self.groups, other.groups),
            per_group=_smaller(self.per_group, other.per_group),
            keep=self.keep if other.keep is None else other.keep,
        )

    @property
    def given(self) -> dict[str, int | str]:
        """What is said, by name: as it is written in calls and documents.

        >>> Limits(rows=5, keep="first by time").given
        {'rows': 5, 'keep': 'first by time'}
        """
        return {name: getattr(self, name) for name in (*NUMBERS, "keep") if getattr(self, name) is not None}

    @property
    def words(self) -> str:
        """The same in words; empty where nothing is limited.

        >>> Limits(rows=1, per_group=2, keep="first by time").words
        '1 row, 2 rows in each group, first by time'
        """
        named = ((self.rows, "row", ""), (self.groups, "group", ""), (self.per_group, "row", " in each group"))
        words = [f"{most} {what}{'' if most == 1 else 's'}{where}" for most, what, where in named if most is not None]
        if words and self.first_by is not None:
            words.append(f"{FIRST_BY}{self.first_by}")
        return ", ".join(words)

    @property
    def first_by(self) -> str | None:
        """The column whose least values are kept first; None where rows are sampled uniformly."""
        return None if self.keep is None or self.keep == UNIFORM else self.keep.removeprefix(FIRST_BY)

    @property
    def is_limited(self) -> bool:
        """Whether anything is limited."""
        return any(getattr(self, name) is not None for name in NUMBERS)

    @property
    def most_rows(self) -> Extended:
        """The most rows that a unit can keep: the largest change of a sum of numbers in [0, 1] over all groups."""
        return min(_extended(self.rows), _extended(self.groups) * _extended(self.per_group))

    @property
    def most_groups(self) -> Extended:
        """The most groups in which a unit can keep rows."""
        return min(_extended(self.groups), _extended(self.rows))

    @property
    def most_in_group(self) -> Extended:
        """The most rows that a unit can keep in one group."""
        return min(_extended(self.per_group), _extended(self.rows))

    @property
    def largest_square(self) -> Extended:
        """The largest sum over groups of the squares of how many rows a unit keeps in each.

        Squares are convex, so the sum is largest where as many groups as can be are full and one holds what is left.
        """
        most, each = self.most_rows, self.most_in_group
        if isinstance(most, float) or isinstance(each, float):
            return INFINITY
        full, left = divmod(most, each)
        return full * each**2 + left**2

    @property
    def is_enough(self) -> bool:
        """Whether a unit can keep finitely many rows only, so that sums have a finite sensitivity."""
        return self.most_rows != INFINITY

    @property
    def reduced(self) -> Limits:
        """The same limits without those that follow from the others; with one row in each group, rows are groups.

        >>> Limits(rows=3, groups=5, per_group=4).reduced
        Limits(rows=3, groups=None, per_group=None)
        >>> Limits(rows=20, groups=5, per_group=4).reduced
        Limits(rows=None, groups=5, per_group=4)
        >>> Limits(rows=20, per_group=1).reduced
        Limits(rows=None, groups=20, per_group=1)
        """
        rows, groups, per_group = self.rows, self.groups, self.per_group
        if rows is not None and per_group == 1:
            return Limits(groups=_smaller(rows, groups), per_group=1, keep=self.keep)
        if rows is not None and groups is not None and per_group is not None and groups * per_group <= rows:
            return Limits(groups=groups, per_group=per_group, keep=self.keep)
        if rows is not None:
            groups = None if groups is not None and rows <= groups else groups
            per_group = None if per_group is not None and rows <= per_group else per_group
        return Limits(rows=rows, groups=groups, per_group=per_group, keep=self.keep)

    def __repr__(self) -> str:
        # As it was before there was a choice: ledgers know questions by it.
        keep = "" if self.keep is None else f", keep={self.keep!r}"
        return f"Limits(rows={self.rows}, groups={self.groups}, per_group={self.per_group}{keep})"


def _smaller(left: int | None, right: int | None) -> int | None:
    return min((limit for limit in (left, right) if limit is not None), default=None)


def _extended(limit: int | None) -> Extended:
    return INFINITY if limit is None else Fraction(limit)
