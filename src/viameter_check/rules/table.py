"""The table of rules, and what rules are written with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter_check.amounts import INFINITY, Number, read_number, read_signed, shortened
from viameter_check.document import Node, at, joined
from viameter_check.intervals import Interval, point
from viameter_check.losses import FIELDS, Loss
from viameter_check.places import Place
from viameter_check.report import Refused

EXACT, OUTWARD, ASSUMED = "exact", "outward", "assumed"


@dataclass(frozen=True, slots=True)
class Derived:
    """What a theorem gives for a node: where its bound is measured, an interval for each number of it, and what it
    takes on trust.
    """

    output: Place
    """The space or the measure of the bound, from the input and the parameters alone: the node's must be this one."""
    amounts: tuple[tuple[Any, Interval], ...]
    trusts: tuple[str, ...] = ()
    """What the theorem asks for and the certificate does not show, in words of the checker."""


@dataclass(frozen=True, slots=True)
class AddedLater:
    """The reader of a parameter that certificates of older versions do not have."""

    reader: Callable[[Any], Any]

    def __call__(self, record: Any) -> Any:
        """Read it."""
        return self.reader(record)


@dataclass(frozen=True, slots=True)
class Rule:
    """One theorem: how its numbers are meant, how its parameters are read, and the bound that it gives."""

    slug: str
    numbers: str
    readers: tuple[tuple[str, Callable[[Any], Any]], ...]
    function: Callable[..., Derived]

    def __call__(self, node: Node) -> Derived:
        """What the theorem gives for a node, or Refused."""
        names = [name for name, _ in self.readers]
        needed = {name for name, reader in self.readers if not isinstance(reader, AddedLater)}
        if not needed <= set(node.parameters) <= set(names):
            raise Refused(f"{self.slug} has the parameters {', '.join(names) or '(none)'}", "parameters")
        readers = [(name, reader) for name, reader in self.readers if name in node.parameters]
        read = {name: at(joined("parameters", name), reader, node.parameters[name]) for name, reader in readers}
        return self.function(node, **read)


RULES: dict[str, Rule] = {}


def rule(
    slug: str, *, numbers: str = EXACT, **readers: Callable[[Any], Any]
) -> Callable[[Callable[..., Derived]], Callable[..., Derived]]:
    """Put a function of a node and its parameters into the table."""

    def put(function: Callable[..., Derived]) -> Callable[..., Derived]:
        RULES[slug] = Rule(slug, numbers, tuple(readers.items()), function)
        return function

    return put


def needs(holds: bool, message: str, where: str = "") -> None:
    """Refuse the node unless the condition holds."""
    if not holds:
        raise Refused(message, where)


def distance(value: Number | int | Interval, domain: str, metric: str, *trusts: str) -> Derived:
    """A bound that is a distance, in the space that the theorem leads to."""
    amount = value if isinstance(value, Interval) else point(value)
    return Derived(Place(domain=domain, metric=metric), (("", amount),), trusts)


def loss(measure: str, *amounts: Number | int | Interval) -> Derived:
    """A bound that is a loss, its numbers in the order of the measure's fields."""
    named = zip(FIELDS[measure], amounts, strict=True)
    return in_measure(measure, [(name, a if isinstance(a, Interval) else point(a)) for name, a in named])


def in_measure(measure: str, amounts: Iterable[tuple[Any, Interval]], *trusts: str) -> Derived:
    """A bound that is a loss, its numbers by field, or by point for a curve."""
    return Derived(Place(measure=measure), tuple(amounts), trusts)


def same(value: Loss) -> Derived:
    """The bound that is a loss of the certificate."""
    return in_measure(value.measure, ((name, point(amount)) for name, amount in value.amounts))


def given_distance(node: Node) -> Number:
    """What was given, where that is a distance."""
    if not isinstance(node.given, Fraction | float):
        raise Refused(f"{node.theorem} takes a distance", "given")
    needs(not node.premises, f"{node.theorem} has no premises", "premises")
    return node.given


def number(text: Any) -> Number:
    """A number >= 0, or infinity."""
    return read_number(text)


def finite(text: Any) -> Fraction:
    """A finite number of any sign."""
    value = read_signed(text)
    if isinstance(value, float):
        raise Refused("is infinite: expected a finite number")
    return value


def nonnegative(text: Any) -> Fraction:
    """A finite number >= 0."""
    value = finite(text)
    if value < 0:
        raise Refused(f"{shortened(text)} is negative: expected a number >= 0")
    return value


def positive(text: Any) -> Fraction:
    """A finite number > 0."""
    value = finite(text)
    if value <= 0:
        raise Refused(f"{shortened(text)} is not above 0")
    return value


def whole(text: Any) -> int:
    """A whole number >= 0."""
    value = finite(text)
    if value < 0 or value.denominator != 1:
        raise Refused(f"{shortened(text)} is not a whole number >= 0")
    return value.numerator


def whole_or_none(text: Any) -> int | None:
    """A whole number >= 0, or null."""
    return None if text is None else whole(text)


def flag(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Refused(f"{shortened(value)} is not true or false")
    return value


def word(value: Any) -> str:
    """Text."""
    if not isinstance(value, str):
        raise Refused(f"{shortened(value)} is not text")
    return value


def floor(value: Number) -> Number:
    """The whole number at or below, for numbers >= 0 or infinity."""
    return INFINITY if isinstance(value, float) else Fraction(value.numerator // value.denominator)
