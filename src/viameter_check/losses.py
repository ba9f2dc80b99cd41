"""Losses as certificates write them, and intervals for what was derived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter_check.amounts import INFINITY, Number, read_number, show
from viameter_check.intervals import Interval
from viameter_check.report import Refused

FIELDS: Mapping[str, tuple[str, ...]] = {
    "pure": ("epsilon",),
    "approx": ("epsilon", "delta"),
    "zcdp": ("rho",),
    "approx-zcdp": ("rho", "delta"),
    "gdp": ("mu_squared",),
    "bounded-range": ("eta",),
}
"""Measures whose losses are single numbers, one a field."""
CURVES: Mapping[str, str] = {"renyi": "orders", "profile": "epsilons"}
"""Measures whose losses are a bound at each of several points."""

MOST_POINTS = 2000
"""How many points a curve may have; each is compared with every other."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss: numbers by field, or by point for a curve."""

    measure: str
    amounts: tuple[tuple[Any, Number], ...]
    """(name, number), or (point, number) for a curve."""

    @property
    def is_curve(self) -> bool:
        """Whether the loss is a bound at each of several points."""
        return self.measure in CURVES

    def __getitem__(self, name: str | Number) -> Number:
        found: Number = dict(self.amounts)[name]
        return found

    def at(self, order: Number) -> Number:
        """The bound of a Renyi curve at an order: the least one listed for it or a higher one."""
        return min((bound for listed, bound in self.amounts if listed >= order), default=INFINITY)

    def __str__(self) -> str:
        if self.is_curve:
            inside = ", ".join(f"{show(at)}: {show(bound)}" for at, bound in self.amounts)
            return f"{CURVES[self.measure]} {{{inside}}}"
        return ", ".join(f"{name} {show(amount)}" for name, amount in self.amounts)


Derived = Interval | tuple[str, Mapping[str, Interval]]
"""What a rule derives: an interval for a distance, or a measure with an interval for each field."""


def read_loss(record: object) -> Loss:
    """A loss from its JSON; every field that its measure has, and no other."""
    if not isinstance(record, dict) or not isinstance(record.get("measure"), str):
        raise Refused("is not a loss: expected an object with `measure` and its numbers")
    measure: str = record["measure"]
    if measure in CURVES:
        return _read_curve(measure, record)
    names = FIELDS.get(measure) or (("amount",) if measure.startswith("user:") else None)
    if names is None:
        raise Refused(f"{measure!r} is not a measure that this checker knows", "measure")
    if set(record) != {"measure", *names}:
        raise Refused(f"a loss of {measure!r} has the fields measure, {', '.join(names)}")
    loss = Loss(measure, tuple((name, _read(record[name], name)) for name in names))
    if "delta" in names and loss["delta"] > 1:
        raise Refused("a delta is a probability, and at most 1", "delta")
    return loss


def _read_curve(measure: str, record: Mapping[str, object]) -> Loss:
    key = CURVES[measure]
    points = record.get(key)
    if set(record) != {"measure", key} or not isinstance(points, dict):
        raise Refused(f"a loss of {measure!r} has the fields measure, {key}")
    if len(points) > MOST_POINTS:
        raise Refused(f"has {len(points)} points: this checker reads up to {MOST_POINTS}", key)
    amounts = [(_read(at, f"{key}.{at[:40]}"), _read(bound, f"{key}.{at[:40]}")) for at, bound in points.items()]
    places = [at for at, _ in amounts]
    if places != sorted(places):
        raise Refused(f"{key} are not in rising order", key)
    if measure == "renyi" and any(at <= 1 for at in places):
        raise Refused("Renyi orders are above 1", key)
    if measure == "profile" and any(bound > 1 or at == INFINITY for at, bound in amounts):
        raise Refused("a profile has probabilities at finite epsilons", key)
    return Loss(measure, tuple(amounts))


def _read(text: object, where: str) -> Number:
    try:
        return read_number(text)
    except Refused as problem:
        raise Refused(str(problem), where) from None


def is_at_most(left: Loss, right: Loss) -> bool:
    """Whether whatever satisfies the left loss satisfies the right one."""
    if left.measure != right.measure:
        return False
    if left.measure == "renyi":
        return all(left.at(order) <= bound for order, bound in right.amounts)
    if left.measure == "profile":
        return all(_delta(left, at) <= delta for at, delta in right.amounts)
    return all(left[name] <= amount for name, amount in right.amounts)


def _delta(profile: Loss, epsilon: Number) -> Number:
    return min((delta for at, delta in profile.amounts if at <= epsilon), default=Fraction(1))
