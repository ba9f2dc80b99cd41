"""Refute a claim with an exact witness, or find the largest loss that small inputs show."""

from __future__ import annotations

import time
from fractions import Fraction
from math import inf, log

from viameter.arith import Number, nonnegative
from viameter.errors import ParameterError
from viameter.logic.lang.core import Program
from viameter.logic.lang.scales import Amount, Monomial
from viameter.logic.neighbors import Neighbors
from viameter.logic.refute.claims import check_claim, factor_of
from viameter.logic.refute.gap import Gap, measured
from viameter.logic.refute.searching import Progress, Search, Tried
from viameter.logic.refute.witness import Witness, breaks

_CONFIRM_BITS = (40, 80, 160)
_NOTHING = 1e-9


def refute(
    program: Program,
    neighbors: tuple[Neighbors, ...],
    claim: Amount,
    *,
    delta: Number = 0,
    seconds: float = 10.0,
    progress: Progress | None = None,
) -> Witness | None:
    """Search for neighboring inputs, an event and budgets at which a program's loss is larger than claimed.

    A witness is proof. None is none: it says that small inputs showed nothing within the time given.
    """
    search = _search(program, neighbors, claim, delta, seconds, progress)
    for tried in search.run():
        factor = factor_of(claim, tried.pair.first, tried.budgets)
        # Floats rank: a find that is larger by less than they can tell is left alone.
        if tried.found.hope <= _log(factor.high) + _NOTHING:
            continue
        for bits in _CONFIRM_BITS:
            gap = _gap(search, tried, bits)
            if breaks(gap, factor):
                return Witness(gap, claim, factor)
            if gap.p1_low <= factor.high * gap.p2.low + gap.delta or search.over:
                break
    return None


def largest_loss(
    program: Program,
    neighbors: tuple[Neighbors, ...],
    *,
    relative_to: Amount | None = None,
    until: Fraction | None = None,
    seconds: float = 10.0,
    progress: Progress | None = None,
) -> Gap | None:
    """The largest loss that small inputs show, as a multiple of `relative_to` (by default the program's one budget).

    The search ends early when the loss reaches `until`, such as the bound of a proof: the bound is then tight.
    """
    if relative_to is None:
        if len(program.budgets) != 1:
            raise ParameterError(f"program {program.name} has {len(program.budgets)} budgets: say relative_to=")
        relative_to = Amount((Monomial.of(Fraction(1), (), program.budgets[0]),))
    search = _search(program, neighbors, relative_to, 0, seconds, progress)
    best: tuple[float, Gap] | None = None
    for tried in search.run():
        if tried.score <= 0 or (best is not None and tried.score <= best[0] * (1 + 1e-12)):
            continue
        gap = _gap(search, tried, _CONFIRM_BITS[0])
        best = tried.score, gap
        if gap.loss == inf or (until is not None and _reaches(gap, relative_to, until)):
            break
    return None if best is None else best[1]


def _search(
    program: Program,
    neighbors: tuple[Neighbors, ...],
    claim: Amount,
    delta: Number,
    seconds: float,
    progress: Progress | None,
) -> Search:
    if not neighbors:
        raise ParameterError("neighbors is empty: expected at least one relation between inputs")
    check_claim(claim, program)
    return Search(program, neighbors, claim, time.monotonic() + seconds, nonnegative(delta, name="delta"), progress)


def _gap(search: Search, tried: Tried, bits: int) -> Gap:
    first, second = tried.pair.first, tried.pair.second
    if tried.found.flipped:
        first, second = second, first
    return measured(
        search.program, tried.neighbors, tried.budgets, first, second, tried.found.event, search.confirming(bits),
        delta=search.delta,
    )  # fmt: skip


def _reaches(gap: Gap, unit: Amount, until: Fraction) -> bool:
    scaled = Amount(tuple(Monomial(part.coefficient * until, part.factors, part.base) for part in unit.parts))
    return gap.p1_low >= factor_of(scaled, gap.first, gap.budgets).high * gap.p2_high


def _log(number: Fraction) -> float:
    return log(number.numerator) - log(number.denominator)
