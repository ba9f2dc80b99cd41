"""What several releases cost together: sums of losses."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from viameter_check.amounts import INFINITY, Number
from viameter_check.document import Node
from viameter_check.intervals import Interval, point
from viameter_check.losses import FIELDS, Loss, read_loss
from viameter_check.report import Refused
from viameter_check.rules.chains import start_of
from viameter_check.rules.converting import infinite, is_finite
from viameter_check.rules.table import (
    ASSUMED,
    OUTWARD,
    Derived,
    given_distance,
    in_measure,
    needs,
    number,
    positive,
    rule,
    same,
    word,
)

COMPOSITIONS = {
    "pure-composition": "pure",
    "approx-composition": "approx",
    "zcdp-composition": "zcdp",
    "approx-zcdp-composition": "approx-zcdp",
    "renyi-composition": "renyi",
    "gdp-composition": "gdp",
    "bounded-range-composition": "bounded-range",
}
"""Rules that add losses, and the measure of each."""


CONCURRENT, SEQUENTIAL, ONE_SHOT = "concurrent", "sequential", "one-shot"
NON_ADAPTIVE, ADAPTIVE, FULLY_ADAPTIVE = "non-adaptive", "adaptive", "fully adaptive"
_ALWAYS = dict.fromkeys((NON_ADAPTIVE, ADAPTIVE, FULLY_ADAPTIVE), CONCURRENT)
COMPOSABILITY: dict[str, dict[str, str]] = {
    "pure": _ALWAYS,
    "approx": _ALWAYS,
    "zcdp": _ALWAYS,
    "renyi": _ALWAYS,
    "gdp": _ALWAYS,
    "approx-zcdp": dict.fromkeys(_ALWAYS, SEQUENTIAL),
    "bounded-range": {NON_ADAPTIVE: ONE_SHOT},
}
"""By measure, how parts may answer whose losses add, for each way of choosing them; none where losses do not add.

Concurrent: interactive parts answer in any order. Sequential: each answers until the next one begins. One-shot: no part
is interactive.
"""

KEPT = "each step cost at most the loss that is stated for it"
WITHIN = "the steps together cost at most the budget that is stated for them"
"""What is trusted of losses and budgets that are parameters, since no premise derives what steps cost."""

INTERACTIVE = (
    "privacy-filter",
    "concentrated-filter",
    "advanced-filter",
    "adaptive-composition",
    "fully-adaptive-odometer",
    "sparse-vector",
)
"""Theorems on what answers queries after it was released."""


def composes(measure: str, way: str) -> bool:
    """Whether losses add in a measure of the library, where parts are chosen in this way."""
    return way in COMPOSABILITY.get(measure, {})


def _answering(node: Node, measure: str) -> tuple[str, ...]:
    """Refuse interactive parts where only one-shot ones add; what is to be trusted of the others."""
    how = COMPOSABILITY[measure][NON_ADAPTIVE]
    trusts: list[str] = []
    if sum(premise.times for premise in node.premises) <= 1:
        return ()  # a part alone is no composition
    for n, premise in enumerate(node.premises):
        theorems = {below.theorem for below in premise.nodes()}
        queried = sorted(theorems.intersection(INTERACTIVE))
        if how == ONE_SHOT:
            found = ", ".join(queried)
            needs(not queried, f"answers queries ({found}), and {measure} adds one-shot parts only", f"premises[{n}]")
            if theorems & {"trusted-map", "recorded-loss"}:
                trusts.append(f"{premise.path} answers once and no queries after that")
        elif how == SEQUENTIAL and queried:
            trusts.append(f"{premise.path} answers queries until the next part begins, and none after that")
    return tuple(trusts)


def _list_of_losses(records: Any) -> list[Loss]:
    if not isinstance(records, list):
        raise Refused("expected a list of losses")
    return [read_loss(record) for record in records]


def _list_of_records(records: Any) -> list[tuple[Number, Loss]]:
    if not isinstance(records, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in records):
        raise Refused("expected a list of distances with their losses")
    return [(number(at), read_loss(loss)) for at, loss in records]


def compose(node: Node) -> Derived:
    """The sum of the premises' losses, each as often as it counts; a sum of deltas stops at 1."""
    measure = COMPOSITIONS[node.theorem]
    return in_measure(measure, _sum(measure, _losses(node, measure)), *_answering(node, measure))


def _sum(measure: str, losses: list[tuple[Loss, int]]) -> list[tuple[Any, Interval]]:
    if measure == "renyi":
        return _sum_of_curves(losses)
    names = FIELDS[measure]
    sums = {name: total([(loss[name], times) for loss, times in losses]) for name in names}
    if "delta" in sums:
        sums["delta"] = sums["delta"].at_most(Fraction(1))
    return list(sums.items())


@rule("batch-composition", numbers=OUTWARD)
@rule("fully-adaptive-odometer", numbers=OUTWARD)
def composed_at_one_distance(node: Node) -> Derived:
    """Measurements on data at one distance, fixed in advance or chosen one by one: the composition of their losses."""
    needs(node.input.is_space, "takes a distance", "given")
    needs(len(node.premises) == 1, "has one premise, the composition of losses", "premises")
    (composed,) = node.premises
    adds = composed.theorem in (*COMPOSITIONS, "trusted-composition")
    needs(adds, "is not the composition of losses", "premises[0].theorem")
    way = NON_ADAPTIVE if node.theorem == "batch-composition" else FULLY_ADAPTIVE
    owned = composed.theorem == "trusted-composition"
    needs(owned or composes(composed.output.measure, way), f"does not compose: {way}", "output.measure")
    needs(start_of(composed) in (None, (node.input, node.given)), "speaks of other data or distances", "premises[0]")
    if not isinstance(composed.bound, Loss):
        raise Refused("is not a loss", "premises[0].bound")
    return replace(same(composed.bound), trusts=_adding(composed.output.measure, way) if owned else ())


@rule("adaptive-composition", numbers=OUTWARD, at=number, losses=_list_of_losses, measure=word)
def adaptive_composition(node: Node, *, at: Number, losses: list[Loss], measure: str) -> Derived:
    """The composition of losses that were fixed in advance, up to the distance that was fixed with them."""
    given = given_distance(node)
    needs(composes(measure, ADAPTIVE), "does not compose adaptively", "parameters.measure")
    needs(all(loss.measure == measure for loss in losses), f"are not losses of {measure}", "parameters.losses")
    trusts = (KEPT,) if losses else ()
    total_loss = in_measure(measure, _sum(measure, [(loss, 1) for loss in losses]), *trusts)
    return total_loss if given <= at else infinite(measure)


@rule("privacy-filter", at=number, budget=read_loss)
def privacy_filter(node: Node, *, at: Number, budget: Loss) -> Derived:
    """The budget, up to the distance that was fixed with it."""
    owned = budget.measure.startswith("user:")
    adds = owned or composes(budget.measure, FULLY_ADAPTIVE)
    needs(adds, "is of a measure that does not compose adaptively", "parameters.budget")
    capped = _capped(node, at, budget)
    return replace(capped, trusts=(*capped.trusts, *_adding(budget.measure, FULLY_ADAPTIVE))) if owned else capped


@rule("concentrated-filter", numbers=OUTWARD, at=number, budget=read_loss, slack=positive)
@rule("advanced-filter", numbers=OUTWARD, at=number, budget=read_loss, slack=positive)
def approximate_filter(node: Node, *, at: Number, budget: Loss, slack: Fraction) -> Derived:
    """The budget, a part of whose delta the rule itself uses."""
    needs(budget.measure == "approx", "is stated in approx", "parameters.budget")
    needs(slack < 1 and slack <= budget["delta"], "is not a part of the budget's delta", "parameters.slack")
    return _capped(node, at, budget)


def _capped(node: Node, at: Number, budget: Loss) -> Derived:
    given = given_distance(node)
    needs(is_finite(budget), "is infinite: a budget is a guarantee", "parameters.budget")
    return replace(same(budget), trusts=(WITHIN,)) if given <= at else infinite(budget.measure)


@rule("trusted-composition", numbers=ASSUMED)
def trusted_composition(node: Node) -> Derived:
    """Losses of somebody's own measure add because they say so: that is an assumption, and the sum is checked."""
    measure = node.output.measure  # of premises, too
    needs(measure.startswith("user:"), "is for measures that somebody defined", "output.measure")
    needs(bool(node.assumes), "a measure that nobody vouches for: expected what must be trusted", "assumes")
    terms = [(loss["amount"], times) for loss, times in _losses(node, measure)]
    return in_measure(measure, (("amount", total(terms)),))


@rule("recorded-loss", numbers=ASSUMED, losses=_list_of_records)
def recorded_loss(node: Node, *, losses: list[tuple[Number, Loss]]) -> Derived:
    """What a record says of the least distance that is not below the one that was given."""
    given = given_distance(node)
    needs(bool(node.assumes), "a record that nobody vouches for: expected what must be trusted", "assumes")
    needs([at for at, _ in losses] == sorted(at for at, _ in losses), "are not in rising order", "parameters.losses")
    found = [loss for at, loss in losses if given <= at]
    needs(bool(found), "is beyond what was recorded", "given")
    return same(found[0])


def _adding(measure: str, way: str) -> tuple[str, ...]:
    return (f"losses of {measure} add where parts are chosen in a way that is {way}",)


def total(terms: list[tuple[Fraction | float, int]]) -> Interval:
    """The sum of numbers, each as often as it counts."""
    result = point(0)
    for amount, times in terms:
        result += point(INFINITY) if isinstance(amount, float) else point(amount * times)
    return result


def _losses(node: Node, measure: str) -> list[tuple[Loss, int]]:
    found = []
    for n, premise in enumerate(node.premises):
        if not isinstance(premise.bound, Loss) or premise.bound.measure != measure:
            raise Refused(f"is not a loss of {measure}", f"premises[{n}].bound")
        found.append((premise.bound, premise.times))
    if node.input.is_space:
        # The composition was asked for a distance, at which all its parts start.
        for n, premise in enumerate(node.premises):
            needs(start_of(premise) in (None, (node.input, node.given)), "starts elsewhere", f"premises[{n}]")
        return found
    start_of(node)  # refuses premises that speak of different data
    needs(node.input.measure == measure, f"is stated in {measure}", "input.measure")
    once = tuple(loss for loss, _ in found)
    needs(node.given == once or _is_repeated(node.given, found), "are not the bounds of the premises", "given")
    return found


def _is_repeated(given: object, found: list[tuple[Loss, int]]) -> bool:
    """Whether the losses are listed as often as they count."""
    if not isinstance(given, tuple) or len(given) != sum(times for _, times in found):
        return False
    return given == tuple(loss for loss, times in found for _ in range(times))


def _sum_of_curves(losses: list[tuple[Loss, int]]) -> list[tuple[Any, Interval]]:
    # Where nothing is composed, no order costs anything.
    orders = {order for loss, _ in losses for order, _ in loss.amounts} or {INFINITY}
    sums = {order: total([(loss.at(order), times) for loss, times in losses]) for order in orders}
    return [(order, bound) for order, bound in sums.items() if bound.high != INFINITY]


for slug in COMPOSITIONS:
    rule(slug, numbers=OUTWARD)(compose)
