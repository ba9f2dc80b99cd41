"""What several releases cost together: sums of losses."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from viameter_check.amounts import INFINITY, Number
from viameter_check.document import Node
from viameter_check.intervals import Interval, point
from viameter_check.losses import FIELDS, Loss, read_loss
from viameter_check.report import Refused
from viameter_check.rules.chains import same, start_of
from viameter_check.rules.converting import infinite
from viameter_check.rules.table import ASSUMED, OUTWARD, Derived, given_distance, needs, number, positive, rule, word

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


ADAPTIVE = tuple(measure for measure in COMPOSITIONS.values() if measure != "bounded-range")
"""Measures whose losses add also where a mechanism is chosen by earlier answers."""


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
    needs(node.output.measure == measure, f"is stated in {measure}", "output.measure")
    return _sum(measure, _losses(node, measure))


def _sum(measure: str, losses: list[tuple[Loss, int]]) -> Derived:
    if measure == "renyi":
        return _sum_of_curves(losses)
    names = FIELDS[measure]
    sums = {name: total([(loss[name], times) for loss, times in losses]) for name in names}
    if "delta" in sums:
        sums["delta"] = sums["delta"].at_most(Fraction(1))
    return Derived(measure, tuple(sums.items()))


@rule("batch-composition", numbers=OUTWARD)
@rule("fully-adaptive-odometer", numbers=OUTWARD)
def composed_at_one_distance(node: Node) -> Derived:
    """Measurements on data at one distance, fixed in advance or chosen one by one: the composition of their losses."""
    needs(node.input.is_space, "takes a distance", "given")
    needs(len(node.premises) == 1, "has one premise, the composition of losses", "premises")
    (composed,) = node.premises
    composes = composed.theorem in (*COMPOSITIONS, "trusted-composition")
    needs(composes, "is not the composition of losses", "premises[0].theorem")
    chosen = node.theorem != "batch-composition" and node.output.measure == "bounded-range"
    needs(not chosen, "ranges do not add where mechanisms are chosen by answers", "output.measure")
    needs(start_of(composed) in (None, (node.input, node.given)), "speaks of other data or distances", "premises[0]")
    needs(composed.output == node.output, "is in another measure", "premises[0].output")
    return same(composed.bound)


@rule("adaptive-composition", numbers=OUTWARD, at=number, losses=_list_of_losses, measure=word)
def adaptive_composition(node: Node, *, at: Number, losses: list[Loss], measure: str) -> Derived:
    """The composition of losses that were fixed in advance, up to the distance that was fixed with them."""
    given = given_distance(node)
    needs(measure in ADAPTIVE, "does not compose adaptively", "parameters.measure")
    needs(all(loss.measure == measure for loss in losses), f"are not losses of {measure}", "parameters.losses")
    needs(node.output.measure == measure, f"is stated in {measure}", "output.measure")
    return _sum(measure, [(loss, 1) for loss in losses]) if given <= at else infinite(measure)


@rule("privacy-filter", at=number, budget=read_loss)
def privacy_filter(node: Node, *, at: Number, budget: Loss) -> Derived:
    """The budget, up to the distance that was fixed with it."""
    adds = budget.measure in ADAPTIVE or budget.measure.startswith("user:")
    needs(adds, "is of a measure that does not compose adaptively", "parameters.budget")
    return _capped(node, at, budget)


@rule("concentrated-filter", numbers=OUTWARD, at=number, budget=read_loss, slack=positive)
@rule("advanced-filter", numbers=OUTWARD, at=number, budget=read_loss, slack=positive)
def approximate_filter(node: Node, *, at: Number, budget: Loss, slack: Fraction) -> Derived:
    """The budget, a part of whose delta the rule itself uses."""
    needs(budget.measure == "approx", "is stated in approx", "parameters.budget")
    needs(slack < 1 and slack <= budget["delta"], "is not a part of the budget's delta", "parameters.slack")
    return _capped(node, at, budget)


def _capped(node: Node, at: Number, budget: Loss) -> Derived:
    given = given_distance(node)
    needs(node.output.measure == budget.measure, "is not that of the budget", "output.measure")
    return same(budget) if given <= at else infinite(budget.measure)


@rule("trusted-composition", numbers=ASSUMED)
def trusted_composition(node: Node) -> Derived:
    """Losses of somebody's own measure add because they say so: that is an assumption, and the sum is checked."""
    measure = node.output.measure
    needs(measure.startswith("user:"), "is for measures that somebody defined", "output.measure")
    needs(bool(node.assumes), "a measure that nobody vouches for: expected what must be trusted", "assumes")
    terms = [(loss["amount"], times) for loss, times in _losses(node, measure)]
    return Derived(measure, (("amount", total(terms)),))


@rule("recorded-loss", numbers=ASSUMED, losses=_list_of_records)
def recorded_loss(node: Node, *, losses: list[tuple[Number, Loss]]) -> Derived:
    """What a record says of the least distance that is not below the one that was given."""
    given = given_distance(node)
    needs(bool(node.assumes), "a record that nobody vouches for: expected what must be trusted", "assumes")
    needs([at for at, _ in losses] == sorted(at for at, _ in losses), "are not in rising order", "parameters.losses")
    found = [loss for at, loss in losses if given <= at]
    needs(bool(found), "is beyond what was recorded", "given")
    needs(node.output.measure == found[0].measure, "is not that of the record", "output.measure")
    return same(found[0])


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


def _sum_of_curves(losses: list[tuple[Loss, int]]) -> Derived:
    # Where nothing is composed, no order costs anything.
    orders = {order for loss, _ in losses for order, _ in loss.amounts} or {INFINITY}
    sums = {order: total([(loss.at(order), times) for loss, times in losses]) for order in orders}
    return Derived("renyi", tuple((order, bound) for order, bound in sums.items() if bound.high != INFINITY))


for slug in COMPOSITIONS:
    rule(slug, numbers=OUTWARD)(compose)
