"""What is shown from a threshold on: keys that nobody listed, and the sparse vector technique."""

from __future__ import annotations

from fractions import Fraction

from viameter_check.amounts import INFINITY, Number
from viameter_check.document import Node
from viameter_check.places import ADDING
from viameter_check.rules.keys import any_shown, laplace_hidden
from viameter_check.rules.table import (
    OUTWARD,
    Derived,
    floor,
    given_distance,
    loss,
    needs,
    nonnegative,
    number,
    positive,
    rule,
    whole,
)


@rule("thresholded-keys", numbers=OUTWARD, scale=positive, threshold=whole)
def thresholded_keys(node: Node, *, scale: Fraction, threshold: int) -> Derived:
    """d/s, and the chance that a new key is shown: one of d keys of one row, or one key of d rows."""
    given = given_distance(node)
    needs(node.input.metric in ADDING, "is stated for metrics that count rows added or removed", "input.metric")
    data = node.input.data
    keys = data.shape == "vectors" and data.kind in ("int", "str", "categories")
    needs(keys, "takes vectors of strings, integers or categories", "input.domain")
    needs(1 <= threshold < 2**62, "is not a threshold", "parameters.threshold")
    if given == 0:
        return loss("approx", 0, 0)
    if isinstance(given, float):
        return loss("approx", INFINITY, 1)
    d = int(given)
    single, full = laplace_hidden(threshold - 1, scale), laplace_hidden(threshold - d, scale)
    return loss("approx", given / scale, any_shown(single, full, d, 1, 1))


@rule("sparse-vector", at=number, sensitivity=nonnegative, threshold_scale=positive, scale=positive, limit=whole)
def sparse_vector(
    node: Node, *, at: Number, sensitivity: Fraction, threshold_scale: Fraction, scale: Fraction, limit: int
) -> Derived:
    """D/s1 + 2cD/s2 up to the distance that was fixed, with D rounded down."""
    given = given_distance(node)
    needs(limit >= 1, "is not a number of answers", "parameters.limit")
    if given == 0:
        return loss("pure", 0)
    if given > at:
        return loss("pure", INFINITY)
    moved = Fraction(floor(sensitivity))
    return loss("pure", moved / threshold_scale + 2 * limit * moved / scale)
