"""What a touch pattern costs by optimal composition: for leaves whose losses and maps are fixed in advance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice, product
from typing import TYPE_CHECKING

from viameter.arith import INFINITY, Extended
from viameter.core import Loss
from viameter.errors import ParameterError
from viameter.measures import ApproxDP, PureDP
from viameter.measures.amounts import ApproxLoss, PureLoss
from viameter.neighborhood.arrangement import Arrangement, CutLeaves, Numbers
from viameter.neighborhood.changes import Change, Records, exchanged
from viameter.neighborhood.cuts.overlapping import Subsets
from viameter.neighborhood.listing import list_patterns
from viameter.theorem import Numbers as Rounding
from viameter.theorem import theorem

if TYPE_CHECKING:
    from viameter.composition.accounting import Accountant

MOST_PATTERNS = 20_000
"""How many patterns of a cut are listed."""
MOST_TOUCHED = 64
"""How many different lists of touched losses, none below another, are composed."""

Touched = tuple[Numbers, ...]
"""What each touched leaf costs, the largest first."""


@theorem(
    "pattern-optimum",
    cites="Murtagh and Vadhan 2016, Theorem 1.5; Guerra-Balboa et al. 2024, Theorem III.1; joined here",
    numbers=Rounding.OUTWARD,
)
def pattern_optimum(losses: Sequence[Loss], *, delta: Fraction) -> ApproxLoss:
    """What neighbors touch costs, at a delta, what these losses cost together by optimal composition.

    Theorem
        Let each leaf be a fixed map f_i of the data and a mechanism that is (e_i(m), d_i(m))-differentially private on
        images m steps apart. On neighbors D, D' all mechanisms together are (epsilon, delta)-differentially private
        with the least epsilon of optimal composition of the (e_i(m_i), d_i(m_i)), m_i the distance of f_i(D) and
        f_i(D'). So they are for the granularity, with the largest of these epsilons over its touch patterns. A pattern
        whose losses are, one by one, at most those of another costs at most as much.
    Requires
        Maps and losses are fixed before the first answer; the mechanisms may be chosen by answers. Where losses or maps
        are chosen by answers, as with odometers, filters and tallies, only sums hold. No pattern is left out.
    Ensures
        The result is approx(epsilon, delta) for one pattern's losses, epsilon rounded up.
    Proof
        Given D and D', the distances m_i are fixed since the maps are, and mechanism i is (e_i(m_i), d_i(m_i))-private
        between its two inputs, in both directions, whatever it is chosen by: heterogeneous-optimum-epsilon, or the
        better of an accountant's representations. The delta at an epsilon is the largest over pairs D, D', so that the
        largest epsilon at that delta is enough for all. By dominating-pure a larger e_i or d_i only raises it, and one
        more mechanism does.
    Example
        >>> from viameter.measures import pure
        >>> pattern_optimum([pure("1/20")] * 20, delta=Fraction(1, 1000))
        approx(<=0.497986408125, 1/1000)
    """
    epsilon = _account(Counter(_numbers(loss) for loss in losses)).epsilon(delta=delta)
    return ApproxLoss(epsilon, Fraction(1) if epsilon == INFINITY else delta)


def optimal_loss(touched: Touched, *, delta: Fraction | None, epsilon: Fraction | None) -> ApproxLoss:
    """The optimum of one pattern at a delta or at an epsilon."""
    if delta is not None:
        losses = [PureLoss(cost[0]) if len(cost) == 1 else ApproxLoss(*cost) for cost in touched]  # type: ignore[arg-type]
        return pattern_optimum(losses, delta=delta)
    assert epsilon is not None
    return ApproxLoss(epsilon, _account(Counter(touched)).delta(epsilon=epsilon))


def touched_losses(arrangement: Arrangement, edits: tuple[Change, ...]) -> list[Touched] | None:
    """What patterns touch, without those that are below another; None where that is not listed, or is too much."""
    if arrangement.scale.measure not in (PureDP, ApproxDP):
        return None
    found: list[Touched] = []
    for edit in edits:
        by_cut = []
        for gathered in arrangement.cuts:
            listed = _of_cut(arrangement, gathered, edit, edits)
            if listed is None:
                return None
            by_cut.append(listed)
        for chosen in product(*by_cut):
            if not _keep(found, _sorted(cost for one in chosen for cost in one)):
                return None
    return found


def _of_cut(
    arrangement: Arrangement, gathered: CutLeaves, edit: Change, edits: tuple[Change, ...]
) -> list[Touched] | None:
    def costs(part: int, change: Change) -> Iterator[Numbers]:
        for leaf in gathered.leaves_of(part):
            yield arrangement.cost(leaf, change, edits, outside=gathered.cut.has_outside(part))

    cut = gathered.cut
    if isinstance(cut, Subsets) and isinstance(edit, Records) and edit.added <= 1 and edit.removed <= 1:
        # Any of the parts, so many at most: those that cost most are, one by one, at least what any others are.
        changes = [exchanged(1, 0)] if edit.both == 1 else [exchanged(1, 0), exchanged(1, 1)]
        if max(map(len, gathered.bundles), default=0) > 1 or len(cut) > MOST_PATTERNS:
            return None
        worst = [max((c for change in changes for c in costs(part, change)), default=()) for part in range(len(cut))]
        if any(len(cost) > 1 for cost in worst):
            return None  # the largest pair is not the largest in both numbers
        most = cut.at_most if edit.both == 1 else 2 * cut.at_most
        return [_sorted(sorted((cost for cost in worst if cost), reverse=True)[:most])]
    listed = list_patterns(cut, edit)
    if listed is None:
        return None
    patterns = list(islice(listed, MOST_PATTERNS + 1))
    if len(patterns) > MOST_PATTERNS:
        return None
    found: list[Touched] = []
    for pattern in patterns:
        if not _keep(found, _sorted(cost for part, change in pattern.items() for cost in costs(part, change))):
            return None
    return found


def _sorted(costs: Iterable[Numbers]) -> Touched:
    return tuple(sorted((cost for cost in costs if any(cost)), reverse=True))


def _keep(found: list[Touched], touched: Touched) -> bool:
    """Keep a list of losses unless it is below another, and drop those below it; False if there are too many."""
    if not any(_is_below(touched, other) for other in found):
        found[:] = [other for other in found if not _is_below(other, touched)]
        found.append(touched)
    return len(found) <= MOST_TOUCHED


def _is_below(left: Touched, right: Touched) -> bool:
    """Whether each loss of the left has one of the right, another for each, that is at least as large."""
    return len(left) <= len(right) and all(
        a <= b for mine, theirs in zip(left, right, strict=False) for a, b in zip(mine, theirs, strict=True)
    )


def _numbers(loss: Loss) -> tuple[Extended, ...]:
    match loss:
        case PureLoss(epsilon=epsilon):
            return (epsilon,)
        case ApproxLoss(epsilon=epsilon, delta=delta):
            return (epsilon, delta)
    raise ParameterError(f"{loss!r} is not pure or approximate: only those have an optimal composition")


def _account(costs: Counter[tuple[Extended, ...]]) -> Accountant:
    from viameter.composition.accounting import Accountant, approximate, pure

    account = Accountant()
    for cost, count in costs.items():
        if INFINITY in cost:
            account.add(approximate(0, 1))
        elif len(cost) == 1:
            account.add(pure(Fraction(cost[0])), count)
        else:
            account.add(approximate(Fraction(cost[0]), Fraction(cost[1])), count)
    return account
