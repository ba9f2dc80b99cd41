"""Cut: maps that belong together, because one step of a granularity touches them together.

A cut knows which of its parts a change of the whole can reach, and what is left of the change in each. `worst` finds
the way that costs most, given what each part costs for each change.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Protocol, overload

from viameter.arith import INFINITY, Extended, Number, nonnegative, show
from viameter.core import Transformation
from viameter.errors import NoTheorem, ParameterError, plain
from viameter.neighborhood.changes import Change


class Gains(Protocol):
    """What each part of a cut costs for a change in it, as one number."""

    def of(self, part: int, change: Change) -> Extended:
        """The cost of a change in one part."""

    def column(self, change: Change) -> Sequence[Extended]:
        """The cost of the same change in each part."""


@dataclass(frozen=True, slots=True)
class Touched:
    """The costliest touch pattern: what changes in which part, what that comes to, and two datasets that do it."""

    value: Extended
    changes: Mapping[int, Change]
    exact: bool = True
    """Whether two neighbors do touch the parts like that; if not, the value bounds what they do."""
    before: Any = None
    after: Any = None
    image: Callable[[int, Any], Any] | None = field(default=None, compare=False, repr=False)
    """What a part sees of a dataset that was made up to show the pattern."""


UNTOUCHED = Touched(Fraction(0), {}, before=(), after=())


@dataclass(frozen=True, eq=False)
class Cut(Sequence["Part"], ABC):
    """Maps that belong together; a sequence of its parts. Two cuts are the same only if they are one object."""

    per_step: ClassVar[bool] = False
    """Whether it speaks of one step of the granularity that it is used for, whatever the change."""
    alike_outside: ClassVar[bool] = True
    """Whether `has_outside` is the same for all parts."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def worst(self, edit: Change, gains: Gains) -> Touched:
        """The costliest way in which a change of the whole data touches the parts."""

    def has_outside(self, part: int) -> bool:
        """Whether there can be data outside of a part: if so, what is in it may change while the size does not."""
        return True

    def label(self, part: int) -> str:
        """A part's name in explanations."""
        return f"part {part}"

    def transformation(self, part: int) -> Transformation | None:
        """What computes a part on real data, where the cut was made of data that are real."""
        return None

    def _refuse(self, edit: Change) -> NoTheorem:
        return NoTheorem(
            f"nothing is known of how {edit.words} reach the parts of {self!r}: choose a cut for that kind of data, or "
            "give nb.opaque(stability=...) for each map"
        )

    def _everywhere(self, change: Change, gains: Gains, *, exact: bool) -> Touched:
        """Every part sees the same change."""
        return Touched(total(gains.column(change)), dict.fromkeys(range(len(self)), change), exact)

    def __iter__(self) -> Iterator[Part]:
        return (Part(self, place) for place in range(len(self)))

    @overload
    def __getitem__(self, place: int) -> Part: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Part]: ...
    def __getitem__(self, place: int | slice) -> Part | Sequence[Part]:
        """One of the maps, or several."""
        if isinstance(place, slice):
            return [Part(self, index) for index in range(len(self))[place]]
        if not isinstance(place, int):
            raise ParameterError(
                f"parts are numbered from 0 to {len(self) - 1}, so cut[{plain(place)}] is none of them"
            )
        return Part(self, range(len(self))[place])

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


@dataclass(frozen=True, slots=True)
class Part:
    """One map of a cut: what it keeps of the data; after it, perhaps, a function that is so stable."""

    cut: Cut
    place: int
    stability: Fraction = Fraction(1)
    own: Transformation | None = None
    """The transformation that computes it, if somebody gave one."""
    trust: str = ""
    """Why that is so."""

    def __post_init__(self) -> None:
        # A part that the cut does not have would be touched by nothing, and so would cost nothing.
        if type(self.place) is not int or not 0 <= self.place < len(self.cut):
            raise ParameterError(f"place={plain(self.place)} is no part of {self.cut!r}, which has {len(self.cut)}")
        if self.stability < 0:
            raise ParameterError(f"stability={self.stability} is negative: expected a number >= 0")
        if self.own is not None and not self.trust.strip():
            raise ParameterError(
                f"nothing checks that the transformation computes {self!r}: say in trust=... why it does"
            )

    @property
    def transformation(self) -> Transformation | None:
        """What computes it on real data, if that is known."""
        return self.own or self.cut.transformation(self.place)

    def through(self, transformation: Transformation, *, trust: str) -> Part:
        """This map, as a transformation computes it on real data; `trust` says why it is this map."""
        if not isinstance(transformation, Transformation):
            raise ParameterError(f"transformation={plain(transformation)} is not a Transformation")
        if not isinstance(trust, str):
            raise ParameterError(f"trust={plain(trust)} is no text: say why the transformation computes {self!r}")
        return replace(self, own=transformation, trust=trust)

    def then(self, *, stability: Number) -> Part:
        """This map with a function after it, which takes data m steps apart to data at most stability m apart.

        >>> from viameter import neighborhood as nb
        >>> nb.partition(2, by="value")[0].then(stability=2)
        part 0 by value, then a map of stability 2
        """
        factor = nonnegative(stability, name="stability")
        return replace(self, stability=self.stability * factor)

    def __repr__(self) -> str:
        after = "" if self.stability == 1 else f", then a map of stability {show(self.stability)}"
        return f"{self.cut.label(self.place)}{after}"


def total(values: Sequence[Extended]) -> Extended:
    """The sum; infinite if one of them is."""
    if INFINITY in values:
        return INFINITY
    return sum((Fraction(value) for value in values), Fraction(0))


def read_size(value: object, name: str) -> int:
    """How many parts a cut has."""
    if type(value) is not int or value < 1:
        shown = value if isinstance(value, int | str) else type(value).__name__
        raise ParameterError(f"{name}={shown} is not a number of parts: expected an integer >= 1")
    return value


def letter(number: int) -> str:
    """The value of that number in examples: a, b, c, and so on."""
    return chr(ord("a") + number) if number < 26 else f"v{number}"
