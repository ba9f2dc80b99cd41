"""Metrics: on datasets (how many rows or users differ), on numbers, on vectors of numbers, and the discrete one.

| metric                | one step is                                        | order of rows |
|-----------------------|----------------------------------------------------|---------------|
| `SymmetricDistance`   | a row added or removed                             | ignored       |
| `InsertDeleteDistance`| a row inserted or deleted                          | matters       |
| `ChangeOneDistance`   | a row replaced (sizes equal)                       | ignored       |
| `HammingDistance`     | a row replaced in its place (sizes equal)          | matters       |
| `SymmetricIdDistance` | a user added or removed with all of their rows     | ignored       |
| `ChangeOneIdDistance` | a user's rows replaced by others of theirs         | ignored       |

`distance` computes what the metric says. It looks at data, so it is for tests and for whoever may see them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from viameter.arith import INFINITY, ZERO, Extended, dyadic
from viameter.core import Domain, Metric
from viameter.errors import ParameterError
from viameter.spaces.collections import TableDomain, VectorDomain, to_the_bit
from viameter.spaces.elements import FloatDomain, IntDomain


@dataclass(frozen=True)
class DatasetMetric(Metric):
    """A metric on vectors and tables that counts rows or users."""

    counts = True
    ordered: ClassVar[bool] = False
    """Whether the order of rows matters."""
    replaces: ClassVar[bool] = False
    """Whether a step replaces what was there, so that two datasets of different size are infinitely far apart."""

    def fits(self, domain: Domain) -> str | None:
        """Datasets are vectors and tables."""
        if isinstance(domain, VectorDomain | TableDomain):
            return None
        return "it counts rows, so it takes vectors(...) or tables(...); AbsoluteDistance() measures single numbers"

    def distance(self, left: Any, right: Any) -> Extended:
        """How many steps lead from one dataset to the other."""
        return self._steps(_rows(left), _rows(right))

    @abstractmethod
    def _steps(self, left: list[Hashable], right: list[Hashable]) -> Extended: ...


@dataclass(frozen=True)
class SymmetricDistance(DatasetMetric):
    """How many rows were added or removed; the order of rows does not matter."""

    def _steps(self, left: list[Hashable], right: list[Hashable]) -> Extended:
        return Fraction(_symmetric_difference(left, right))


@dataclass(frozen=True)
class InsertDeleteDistance(DatasetMetric):
    """How many rows were inserted or deleted; the order of rows matters."""

    ordered = True

    def _steps(self, left: list[Hashable], right: list[Hashable]) -> Extended:
        # Length of the longest common subsequence, row by row of the table of prefixes.
        longest = [0] * (len(right) + 1)
        for mine in left:
            before = 0
            for place, other in enumerate(right, start=1):
                here = longest[place]
                longest[place] = before + 1 if mine == other else max(longest[place], longest[place - 1])
                before = here
        return Fraction(len(left) + len(right) - 2 * longest[-1])


@dataclass(frozen=True)
class ChangeOneDistance(DatasetMetric):
    """How many rows were replaced; infinite between datasets of different size. The order of rows does not matter."""

    replaces = True

    def _steps(self, left: list[Hashable], right: list[Hashable]) -> Extended:
        return Fraction(_symmetric_difference(left, right), 2) if len(left) == len(right) else INFINITY


@dataclass(frozen=True)
class HammingDistance(DatasetMetric):
    """How many rows were replaced, each in its place; infinite between datasets of different size."""

    ordered = True
    replaces = True

    def _steps(self, left: list[Hashable], right: list[Hashable]) -> Extended:
        if len(left) != len(right):
            return INFINITY
        return Fraction(sum(mine != other for mine, other in zip(left, right, strict=True)))


@dataclass(frozen=True)
class UserMetric(Metric):
    """A metric on tables that counts users, who are named in a column."""

    id: str
    counts = True
    replaces: ClassVar[bool] = False

    def fits(self, domain: Domain) -> str | None:
        """Users are named in a column of a table."""
        if not isinstance(domain, TableDomain):
            return "it counts users, so it takes tables(...) with a column that names them"
        if self.id not in domain.names:
            return f"the table has no column {self.id!r}; its columns are {', '.join(map(repr, domain.names))}"
        if isinstance(domain.column(self.id), FloatDomain):
            return f"column {self.id!r} has floats; users are named by strings, integers or categories"
        return None

    def distance(self, left: Any, right: Any) -> Extended:
        """How many steps lead from one table to the other."""
        mine, theirs = self._by_user(left), self._by_user(right)
        return self._steps(mine, theirs)

    def _by_user(self, table: Any) -> dict[Hashable, Counter[Hashable]]:
        users: dict[Hashable, Counter[Hashable]] = {}
        for user, row in zip(table[self.id].tolist(), _rows(table), strict=True):
            users.setdefault(user, Counter())[row] += 1
        return users

    @abstractmethod
    def _steps(
        self, mine: dict[Hashable, Counter[Hashable]], theirs: dict[Hashable, Counter[Hashable]]
    ) -> Extended: ...


@dataclass(frozen=True)
class SymmetricIdDistance(UserMetric):
    """How many users were added or removed, each with all of their rows; to change a user is to remove and add them."""

    def _steps(self, mine: dict[Hashable, Counter[Hashable]], theirs: dict[Hashable, Counter[Hashable]]) -> Extended:
        differing = [user for user in mine.keys() | theirs.keys() if mine.get(user) != theirs.get(user)]
        return Fraction(sum((user in mine) + (user in theirs) for user in differing))


@dataclass(frozen=True)
class ChangeOneIdDistance(UserMetric):
    """How many users had their rows replaced by others; infinite between tables of different users."""

    replaces = True

    def _steps(self, mine: dict[Hashable, Counter[Hashable]], theirs: dict[Hashable, Counter[Hashable]]) -> Extended:
        if mine.keys() != theirs.keys():
            return INFINITY
        return Fraction(sum(mine[user] != theirs[user] for user in mine))


@dataclass(frozen=True)
class DiscreteDistance(Metric):
    """0 between equal values and 1 between different ones, of any domain."""

    counts = True

    def fits(self, domain: Domain) -> str | None:
        """Every domain."""
        return None

    def distance(self, left: Any, right: Any) -> Extended:
        """Whether the two differ."""
        return Fraction(int(_comparable(left) != _comparable(right)))


@dataclass(frozen=True)
class AbsoluteDistance(Metric):
    """The absolute difference of two numbers."""

    def fits(self, domain: Domain) -> str | None:
        """Single integers and floats that are not NaN."""
        if isinstance(domain, IntDomain) or (isinstance(domain, FloatDomain) and not domain.nan):
            return None
        return "it takes scalars(int), or scalars(float) without NaN"

    def distance(self, left: Any, right: Any) -> Extended:
        """The difference, exactly."""
        return _difference(left, right)


@dataclass(frozen=True)
class NormDistance(Metric):
    """A norm of the difference of two vectors of numbers; infinite between vectors of different size."""

    def fits(self, domain: Domain) -> str | None:
        """Vectors of integers, or of floats that are not NaN."""
        element = domain.element if isinstance(domain, VectorDomain) else None
        if isinstance(element, IntDomain) or (isinstance(element, FloatDomain) and not element.nan):
            return None
        return "it takes vectors(int), or vectors(float) without NaN"

    def distance(self, left: Any, right: Any) -> Extended:
        """The norm of the difference, exactly or rounded up."""
        if len(left) != len(right):
            return INFINITY
        differences = [_difference(a, b) for a, b in zip(left.tolist(), right.tolist(), strict=True)]
        return INFINITY if INFINITY in differences else self._norm([Fraction(d) for d in differences])

    @abstractmethod
    def _norm(self, differences: list[Fraction]) -> Extended: ...


@dataclass(frozen=True)
class L1Distance(NormDistance):
    """The sum of absolute differences."""

    def _norm(self, differences: list[Fraction]) -> Extended:
        return sum(differences, ZERO)


@dataclass(frozen=True)
class L2Distance(NormDistance):
    """The Euclidean distance; rounded up where it is irrational."""

    def _norm(self, differences: list[Fraction]) -> Extended:
        return dyadic.sqrt_up(sum((d * d for d in differences), ZERO))


@dataclass(frozen=True)
class LInfDistance(NormDistance):
    """The largest absolute difference."""

    def _norm(self, differences: list[Fraction]) -> Extended:
        return max(differences, default=ZERO)


def _rows(member: Any) -> list[Hashable]:
    """Rows as hashable values that are equal when they are the same to the bit (so that NaN is equal to itself)."""
    if isinstance(member, dict):
        return list(zip(*(_rows(column) for column in member.values()), strict=True))
    if not isinstance(member, np.ndarray):
        raise ParameterError(
            f"a dataset in canonical form is an array or a dict of arrays, not {type(member).__name__}"
        )
    values: list[Hashable] = (member.view(np.int64) if member.dtype == np.float64 else member).tolist()
    return values


def _comparable(member: Any) -> Any:
    return _rows(member) if isinstance(member, dict | np.ndarray) else to_the_bit(member)


def _symmetric_difference(left: list[Hashable], right: list[Hashable]) -> int:
    mine, theirs = Counter(left), Counter(right)
    return ((mine - theirs) + (theirs - mine)).total()


def _difference(left: Any, right: Any) -> Extended:
    if left == right:
        return ZERO
    if INFINITY in (abs(left), abs(right)):
        return INFINITY
    return abs(Fraction(left) - Fraction(right))
