"""Keys of units: those that enough units have, shown without a list; and the most frequent ones of a public list."""

from __future__ import annotations

from fractions import Fraction

from viameter_check.amounts import INFINITY, Number, times
from viameter_check.document import Node
from viameter_check.intervals import Interval, exp, expm1, log, point
from viameter_check.rules.table import (
    OUTWARD,
    Derived,
    flag,
    given_distance,
    loss,
    needs,
    positive,
    rule,
    whole,
    word,
)
from viameter_check.rules.tables import limit

SHOWN = {"scale": positive, "threshold": whole, "total": whole, "each": whole, "replaced": flag}
PICKS = {"noisy-max-exponential": "pure", "bounded-range-is-pure": "pure", "bounded-range-to-zcdp": "zcdp"}
"""How a key is picked, or what a range of privacy losses is turned into, and the measure of that."""
ROOT = Fraction("2.5066")
"""What the theorem takes for the square root of 2 pi, which is above it."""
DEEPEST = Fraction(2**14)
"""exp(-x) for x above this is taken to be anything up to exp of minus this, which is less than any stated chance."""
SHALLOWEST = Fraction(2**11)
"""1 - exp(-x) for x above this is taken to be anything up to 1, which it is in all digits."""


@rule("thresholded-keys-of-units", numbers=OUTWARD, **SHOWN)
def thresholded_keys_of_units(
    node: Node, *, scale: Fraction, threshold: int, total: int, each: int, replaced: bool
) -> Derived:
    """T/s for each unit that comes or goes, twice that where rows are replaced; and the chance of a new key."""
    given = _given_units(node, scale, threshold, total, each, replaced)
    if given == 0:
        return loss("approx", 0, 0)
    if isinstance(given, float):
        return loss("approx", INFINITY, 1)
    single = laplace_hidden(threshold - 1, scale)
    full = laplace_hidden(threshold - int(given) * each, scale)
    epsilon = (2 if replaced else 1) * given * total / scale
    return loss("approx", epsilon, any_shown(single, full, int(given), total, each))


@rule("gaussian-thresholded-keys-of-units", numbers=OUTWARD, **SHOWN)
def gaussian_thresholded_keys_of_units(
    node: Node, *, scale: Fraction, threshold: int, total: int, each: int, replaced: bool
) -> Derived:
    """d^2 T E/2s^2, twice that where rows are replaced; and a bound of the chance of a new key."""
    given = _given_units(node, scale, threshold, total, each, replaced)
    if given == 0:
        return loss("approx-zcdp", 0, 0)
    if isinstance(given, float):
        return loss("approx-zcdp", INFINITY, 1)
    single = _gaussian_hidden(threshold - 1, scale)
    full = _gaussian_hidden(threshold - int(given) * each, scale)
    rho = (2 if replaced else 1) * given**2 * total * each / (2 * scale**2)
    return loss("approx-zcdp", rho, any_shown(single, full, int(given), total, each))


@rule("top-keys-of-added-units", step=word, k=whole, scale=positive, rows=limit, per_group=limit)
def top_keys_of_added_units(
    node: Node, *, step: str, k: int, scale: Fraction, rows: Number, per_group: Number
) -> Derived:
    """k times a pick whose range is d min(R, P)/s: that many in pure, an eighth of its square in zcdp."""
    given = _given_table(node, replaces=False)
    needs(step in PICKS, "is not a pick that this is stated for", "parameters.step")
    measure = PICKS[step]
    needs(k >= 1, "is not a number of keys", "parameters.k")
    eta = times(times(1 / scale, min(rows, per_group)), given)
    one = eta if measure == "pure" else times(times(eta, eta), Fraction(1, 8))
    return loss(measure, times(Fraction(k), one))


def _given_table(node: Node, *, replaces: bool) -> Number:
    """How many units of a table on an engine differ, by coming and going or by having other rows."""
    given = given_distance(node)
    units = node.input.units
    step = "replaced" if replaces else "added or removed"
    counts = units is not None and units.replaces is replaces
    needs(counts, f"is stated for metrics that count units whose rows are {step}", "input.metric")
    needs(node.input.data.shape == "engine table", "takes a table on an engine", "input.domain")
    return given


def _given_units(node: Node, scale: Fraction, threshold: int, total: int, each: int, replaced: bool) -> Number:
    """How many units differ, where keys that nobody listed may be shown."""
    given = _given_table(node, replaces=replaced)
    # Beyond that nothing is counted, and numbers would take long.
    needs(scale < 2**62, "is not a scale", "parameters.scale")
    needs(1 <= threshold < 2**62, "is not a threshold", "parameters.threshold")
    needs(each >= 1, "is not what a unit counts in a key", "parameters.each")
    needs(each <= total, "is less than what counts in one key", "parameters.total")
    return given


# Chances stand as -ln(1 - p) here, p being the chance that a key is shown: n keys have n times that, and neither a
# chance near 0 nor one near 1 loses digits. What rises with p rises with it.


def any_shown(single: Interval, full: Interval, d: int, total: int, each: int) -> Interval:
    """The chance that any is shown of d T keys that count 1, or of T/E keys that count d E, whichever is larger."""
    singles, fulls = point(d * total) * single, point(-(-total // each)) * full
    low, high = max(singles.low, fulls.low), max(singles.high, fulls.high)
    return Interval(_but_for(low).low, _but_for(high).high)


def laplace_hidden(k: int, scale: Fraction) -> Interval:
    """-ln P(Z < k) for discrete Laplace noise Z, whose tails are alike."""
    if k >= 1:
        return _hidden(_laplace_tail(k, scale))
    below = _laplace_tail(1 - k, scale)
    return Interval(_minus_log(below.high).low, _minus_log(below.low).high)


def _laplace_tail(k: int, scale: Fraction) -> Interval:
    """P(Z >= k) = exp(-k/s)/(1 + exp(-1/s)) for k >= 1; P(Z < 1 - k) as well."""
    return _decay(k / scale).over(point(1) + _decay(1 / scale))


def _gaussian_hidden(k: int, scale: Fraction) -> Interval:
    """-ln(1 - p) for the bound p of P(Z >= k), for discrete Gaussian noise Z."""
    if k <= 0:
        return point(INFINITY)
    square = scale**2
    weights = _but_for(k / square) * point(max(Fraction(1), ROOT * scale))
    return _hidden(_decay(k**2 / (2 * square)).over(weights).at_most(Fraction(1)))


def _hidden(shown: Interval) -> Interval:
    """-ln(1 - p)."""
    return Interval(_minus_log(1 - shown.low).low, _minus_log(1 - shown.high).high)


def _minus_log(chance: Number) -> Interval:
    """-ln(p) for p from 0 to 1."""
    return log(1 / Fraction(chance)) if chance else point(INFINITY)


def _decay(x: Fraction) -> Interval:
    """exp(-x) for x >= 0."""
    return exp(-x) if x <= DEEPEST else Interval(Fraction(0), exp(-DEEPEST).high)


def _but_for(x: Number) -> Interval:
    """1 - exp(-x) for x >= 0, to full relative precision where x is small."""
    if isinstance(x, float):
        return point(1)
    if x > SHALLOWEST:
        return Interval(_but_for(SHALLOWEST).low, Fraction(1))
    # t/(1 + t) with t = exp(x) - 1.
    grown = expm1(x)
    return grown.over(point(1) + grown).at_most(Fraction(1))
