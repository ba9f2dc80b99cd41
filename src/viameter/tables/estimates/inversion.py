"""Widths of sums of many weighted noises by their characteristic functions: nearly exact, and never too small.

X is a sum of independent symmetric w Z, phi its characteristic function, which is real. Let H be a sum of four
independent uniform numbers within h/4, so that |H| <= h surely, and Y = X + H, with phi_Y(t) = phi(t) times the fourth
power of sin(ht/4)/(ht/4). Then P(|X| > b + h) <= P(|Y| > b). Wrapped around a circle of length 2L, the interval from -b
to b has the Fourier series

    b/L + sum over j >= 1 of 2 sin(pi j b/L)/(pi j) cos(pi j y/L),

whose mean at Y is the chance of all |Y - 2Lk| <= b: at most P(|Y| <= b) + P(|Y| >= 2L - b). So, cut off after J terms,

    P(|Y| > b) <= 1 - b/L - (sum over j <= J of 2 sin(pi j b/L)/(pi j) phi_Y(pi j/L)) + P(|X| > 2L - b - h) + rest,

and since |phi| <= 1, rest <= (sum over j > J of 2/(pi j) (4L/(pi h j))^4) <= (4L/(pi h J))^4/(2 pi). L comes of another
bound, of a chance of alpha/2000, and J is so large that the rest is as small.

Discrete Laplace noise has phi(u) = 1/(1 + (sin(u/2)/sinh(1/2s))^2). Discrete Gaussian noise has, by Poisson's formula,
the sum over k of exp(-s^2 (u + 2 pi k)^2/2), over the same at u = 0; it is not asked for scales below 1.

Weights are rounded so that equal ones are found; sums move by as much as that times |Z| <= 50 s, but for a chance of
2 exp(-50) each. Floats are off by less than 1e-9 in all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from viameter.arith import floats
from viameter.tables.estimates.outward import Floats

SMOOTHING = 40
"""The width is too large by about one part in so many."""
ROUNDING = 2.0**-36
FAR = 2000
"""The part of alpha for what is beyond the circle, and for the terms that are cut off."""
MOST_ROWS = 4096
MOST_RATIO = 16
"""Where the far width is more times the near one, noise is as good as none, and there would be too many terms."""
CARELESS = 1e-9


def inverted_widths(
    terms: Sequence[tuple[Floats, Floats, str, float]], alpha: Fraction, near: Floats, far: Floats
) -> Floats:
    """Row by row a width for alpha: terms are weights, how much they may be too large, the kind and the scale of noise.

    `near` are widths for alpha, `far` for alpha/2000.
    """
    target = floats.from_fraction_down(alpha * (1 - Fraction(2, FAR))) - CARELESS
    rest = floats.from_fraction_down(alpha / FAR)
    if len(near) > MOST_ROWS or target <= 0 or not near.min() * MOST_RATIO >= far.max():
        return np.full(len(near), np.inf)
    half = (near + far) / 2
    smooth = near / SMOOTHING
    # (4L/(pi h J))^4 / (2 pi) <= rest.
    count = math.ceil(float((4 * half / (math.pi * smooth)).max()) / (2 * math.pi * rest) ** 0.25 * (1 + 1e-9))
    order = np.arange(1, count + 1)
    factors, moved = np.empty((len(near), count)), np.zeros(len(near))
    for row, (length, h) in enumerate(zip(half, smooth, strict=True)):
        frequency = math.pi * order / length
        logs = 4 * np.log(np.abs(np.sinc(h * frequency / (4 * math.pi))) + 1e-300)
        for weights, loose, kind, scale in terms:
            grain = max(float(weights[row].max()), 1e-300) * ROUNDING
            values, copies = np.unique(np.rint(weights[row] / grain), return_counts=True)
            logs += _log_phi(kind, scale, frequency[:, None] * (values * grain)) @ copies
            moved[row] += 50 * scale * (loose[row].sum() + grain * len(weights[row]))
        factors[row] = 2 / (math.pi * order) * np.exp(logs)
    low, high = np.zeros(len(near)), near - smooth
    for _ in range(16):
        b = (low + high) / 2
        inside = b / half + (np.sin(math.pi * (b / half)[:, None] * order) * factors).sum(axis=1)
        enough = 1 - inside <= target
        low, high = np.where(enough, low, b), np.where(enough, b, high)
    # If nothing was enough, `high` is where it began, and no narrower than the width that is known.
    return np.asarray((high + smooth + moved) * (1 + CARELESS))


def _log_phi(kind: str, scale: float, u: Floats) -> Floats:
    """The logarithm of the characteristic function of one noise."""
    if kind == "laplace":
        return np.asarray(-np.log1p((np.sin(u / 2) / np.sinh(1 / (2 * scale))) ** 2))
    near = np.abs((u + math.pi) % (2 * math.pi) - math.pi)
    # Of the other turns those nearest count; others are below exp(-39) of the whole.
    first = -((scale * near) ** 2) / 2
    second = -((scale * (2 * math.pi - near)) ** 2) / 2
    third = -((scale * (2 * math.pi + near)) ** 2) / 2
    whole = math.log1p(2 * math.exp(-2 * (math.pi * scale) ** 2))
    return np.asarray(first + np.log1p(np.exp(second - first) + np.exp(third - first)) - whole)
