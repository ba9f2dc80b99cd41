"""The theorem behind a program's measurement: what is proved for one step of adjacency, at any distance."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from viameter.arith import INFINITY, Extended
from viameter.core import Loss
from viameter.measures import group_loss
from viameter.theorem import Numbers, theorem


@theorem(
    "verified-program",
    cites="Barthe, Koepf, Olmedo and Zanella Beguelin 2012 (apRHL); the numbers of steps are derived here",
    numbers=Numbers.OUTWARD,
)
def verified_program(
    d_in: Extended,
    *,
    certificate: str,
    mechanisms: tuple[tuple[str, str], ...],
    budgets: tuple[tuple[str, Fraction], ...],
    public: tuple[tuple[str, Any], ...],
    lengths: tuple[tuple[str, int], ...],
    loss: Loss,
    by: Fraction,
    spacing: Fraction,
    moves: int,
    most: Extended,
) -> Loss:
    """A program that was proved costs its bound for every step of its adjacency.

    Theorem
        Let a program be proved to have at most the loss l between inputs that its adjacency relates, in both
        directions. Then it has the loss of k steps by the group theorem of the measure between inputs d apart, with
        d' = d rounded down to a multiple of the spacing g of distances, and k = m ceil(d'/b), where:
        - every element moves by at most b (LInfDistance, or any norm that is not below it; AbsoluteDistance): m = 1;
        - every element moves by at most b, all up or all down: m = 1 between inputs one of which is nowhere above the
          other (MonotoneDistance), and m = 2 between any two (LInfDistance);
        - one element moves by at most b >= g (L1Distance): m = 1, with g in the place of b;
        - one element is replaced (HammingDistance), or one value (DiscreteDistance): m = 1, b = g = 1;
        - one row is inserted or deleted (InsertDeleteDistance): m = 1, b = g = 1;
        - any other relation: m = 1, b = g = 1, for d = 0 and 1 only.
    Requires
        The proof, whose certificate is a parameter and can be checked on its own, with those of the mechanisms that the
        program calls; the loss l is what it claims at these
        budgets, public inputs and lengths. The noise is drawn exactly. The inputs are what the
        program requires of them. Public inputs are equal. For k >= 2 (`most` = infinity) the inputs between which steps
        lead must be such inputs too: for moves, nothing but that each element lies between two ends that do not depend
        on private inputs; for rows and values that are replaced, inserted or deleted, nothing but conditions on each of
        them by itself. Else `most` is 1. Where rows are inserted or deleted, the proof is about slots for rows, and a
        slot that is not taken changes nothing of what the program does.
    Ensures
        The loss is that of k steps; 0 for d' = 0; infinite for k above `most` and at infinite distance.
    Proof
        Inputs are integers times g, so that their distance is a multiple of g (or not below one that is): d' = 0 is
        equality. Let x, y be at most d' = n g apart. Moves of every element: x_j = x + clamp(y - x, -j b, j b) goes
        from x_0 = x to y in ceil(d'/b) steps of at most b (b is a multiple of g), and each element stays between those
        of x and y. Where x <= y everywhere, each of these steps goes up; where y <= x, down. Else go from x up to
        max(x, y), element by element, and from there down to y: two such ways, of at most d' each. One element: move
        the elements one after another, element i by ceil(|x_i - y_i|/b) steps; as |x_i - y_i| is a multiple of g and
        b >= g, that is at most |x_i - y_i|/g, and the sum of these is at most n. Replacements: replace the elements
        that differ one after another; each input on the way has at each place the element of x or of y. All these ways
        keep the length. Rows: delete those of x that are not in a longest common subsequence, then insert those of y
        that are not; two lists that differ by a row are related in the slots of the longer one, of which the slot of
        that row is not taken in the other run. Each step costs l by the proof; the group theorem does the rest.
    Example
        >>> from viameter.measures import pure
        >>> verified_program(
        ...     Fraction(3), certificate="(not looked at here)", mechanisms=(), budgets=(), public=(), lengths=(),
        ...     loss=pure("1/2"), by=Fraction(2), spacing=Fraction(1), moves=1, most=INFINITY,
        ... )
        pure(1)
    """
    steps = steps_between(d_in, by=by, spacing=spacing, moves=moves)
    return group_loss(loss, steps if steps <= most else INFINITY)


def steps_between(d_in: Extended, *, by: Fraction, spacing: Fraction, moves: int) -> Extended:
    """How many steps of adjacency lead from an input to another at this distance, at most.

    >>> steps_between(Fraction(7, 2), by=Fraction(2), spacing=Fraction(1), moves=2)
    Fraction(4, 1)
    """
    if d_in == INFINITY:
        return INFINITY
    apart = math.floor(d_in / spacing) * spacing
    return Fraction(moves * math.ceil(apart / by))
