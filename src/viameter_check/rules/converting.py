"""What the rules of conversions have in common: one premise, whose loss goes in; and numbers of either sign."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from viameter_check.amounts import INFINITY, Number, shortened
from viameter_check.document import Node
from viameter_check.intervals import Interval, exp, expm1, log, outward, point
from viameter_check.losses import FIELDS, Loss
from viameter_check.report import Refused
from viameter_check.rules.table import Derived, in_measure, loss, needs, nonnegative, number

Term = tuple[Fraction, Interval]
"""A coefficient of any sign, and a number >= 0."""


def converted(node: Node, source: str, target: str) -> Loss:
    """The loss that is converted, which is the bound of the only premise."""
    needs(len(node.premises) == 1, "a conversion has one premise", "premises")
    needs(node.input.measure == source, f"is stated for {source}", "input.measure")
    needs(node.output.measure == target, f"gives {target}", "output.measure")
    needs(node.premises[0].bound == node.given, "is not the bound of the premise", "given")
    if not isinstance(node.given, Loss):
        raise Refused("a conversion takes a loss", "given")
    return node.given


def infinite(measure: str) -> Derived:
    """No guarantee."""
    if measure == "renyi":
        return in_measure("renyi", ())
    return loss(measure, *(Fraction(1) if name == "delta" else INFINITY for name in FIELDS[measure]))


def is_finite(given: Loss) -> bool:
    """Whether a loss of single numbers is a guarantee at all."""
    return all(amount < (1 if name == "delta" else INFINITY) for name, amount in given.amounts)


def probability(text: Any) -> Fraction:
    """A number from 0 to 1."""
    value = nonnegative(text)
    if value > 1:
        raise Refused(f"{shortened(text)} is not a probability")
    return value


def orders(texts: Any) -> tuple[Number, ...]:
    """Renyi orders above 1, in rising order."""
    if not isinstance(texts, list) or not texts:
        raise Refused("expected a list of orders")
    values = tuple(number(text) for text in texts)
    if any(value <= 1 for value in values) or list(values) != sorted(set(values)):
        raise Refused("expected rising orders above 1")
    return values


def signed_log(x: Fraction, coefficient: Fraction | int = 1) -> Term:
    """A multiple of ln x for x > 0: the logarithm of x or of 1/x, with the sign that makes it so."""
    return (Fraction(coefficient), log(x)) if x >= 1 else (Fraction(-coefficient), log(1 / x))


def combined(*terms: Term) -> tuple[Fraction, Fraction]:
    """Bounds of a sum of finite terms of either sign."""
    low = high = Fraction(0)
    for coefficient, interval in terms:
        ends = Fraction(interval.low) * coefficient, Fraction(interval.high) * coefficient
        low, high = low + min(ends), high + max(ends)
    return low, high


def amount(*terms: Term) -> Interval:
    """A sum of terms, or 0 where it is negative."""
    low, high = combined(*terms)
    return outward(max(low, Fraction(0)), max(high, Fraction(0)))


def chance(*terms: Term) -> Interval:
    """e to a sum of terms, or 1 where that is more."""
    low, high = combined(*terms)
    # Between the ends of a short interval lie all values; the exponents are shortened so that exp is quick.
    short = outward(abs(low), abs(low)), outward(abs(high), abs(high))
    low = -Fraction(short[0].high) if low < 0 else Fraction(short[0].low)
    high = -Fraction(short[1].low) if high < 0 else Fraction(short[1].high)
    return Interval(exp(low).low, exp(high).high).at_most(Fraction(1))


def less_than_one(x: Fraction) -> Interval:
    """1 - exp(-x) for x >= 0, to full precision where it is small: t/(1 + t) with t = exp(x) - 1."""
    t = expm1(x)
    high = Fraction(1) if isinstance(t.high, float) else t.high / (1 + t.high)
    return outward(Fraction(t.low) / (1 + Fraction(t.low)), high)


def one_plus_exp(x: Fraction) -> Interval:
    """1 + exp(-x) for x >= 0."""
    return point(1) + exp(-x)
