"""Candidates for the least bound: what the cheapest shifts cost in trials, as a multiple of what it grows with."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter.errors import ParameterError
from viameter.logic.kernel.context import RESULT, Context, cost
from viameter.logic.kernel.derive import check_admissible
from viameter.logic.kernel.proof import Proof
from viameter.logic.lang.scales import Amount, Monomial
from viameter.logic.lang.terms import ONE, Term, Var, length
from viameter.logic.search.choosing import shift_of, surviving
from viameter.logic.search.compiled import compiled
from viameter.logic.search.product import Failed, Product, accepts
from viameter.logic.search.prover import Search

LOOKED_AT = 400
ENOUGH = 1.0
"""Seconds after which no cheaper shifts are looked for, once some were found."""
LONG = 12


@dataclass(frozen=True, slots=True)
class Offer:
    """A bound that trials suggest, and how large it is on long inputs."""

    amount: Amount
    size: Fraction


def offers(search: Search) -> list[Amount]:
    """Bounds worth proving, smallest first."""
    found: dict[Amount, Fraction] = {}
    context = search.context
    for pointwise in (False, True) if context.program.output.sort == "int" else (False,):
        try:
            check_admissible(context, Proof(pointwise=pointwise))
        except ParameterError:
            continue
        for offer in _offers(search, pointwise):
            found.setdefault(offer.amount, offer.size)
    return sorted(found, key=lambda amount: found[amount])


def _offers(search: Search, pointwise: bool) -> list[Offer]:
    context = search.context
    product = Product(context)
    pairs, trials = search.trials()
    sites = search.sites(pairs, pointwise=pointwise)
    accept = accepts(context, {}, pointwise=pointwise)
    found: list[Offer] = []
    begun = time.monotonic()
    until = begun + (search.until - begun) / 4
    for number, combination in enumerate(surviving(product, sites, trials, accept, until=until)):
        shifts = {line: shift_of(choice, sites[line][0]) for line, choice in combination.choices.items()}
        ended = []
        for trial in trials:
            try:
                environment = product.run(trial, shifts).environment
            except Failed:
                continue
            if not pointwise or environment[f"{context.program.output.name}<1>"] == environment[RESULT.name]:
                ended.append(environment)
        offer = _offer(context, ended)
        if offer is not None:
            found.append(offer)
        if number >= LOOKED_AT or time.monotonic() - begun > ENOUGH:
            break
    return found


def _offer(context: Context, ended: list[dict[str, Any]]) -> Offer | None:
    parts: list[Monomial] = []
    size = Fraction(0)
    for base, unit in context.units.items():
        whole = compiled(unit.denominator)
        spent = [(Fraction(e[cost(base).name], whole(e)), e) for e in ended]
        if not any(amount for amount, _ in spent):
            continue
        picked = _multiple(context, spent)
        if picked is None:
            return None
        factor, times = picked
        parts.append(Monomial.of(times, (factor,), base))
        size += times * max(compiled(factor)(e) for _, e in spent)
    return Offer(Amount(tuple(parts)), size)


def _multiple(context: Context, spent: list[tuple[Fraction, dict[str, Any]]]) -> tuple[Term, Fraction] | None:
    """What the cost is a bounded multiple of: a constant, a public input or a length."""
    program = context.program
    factors: list[Term] = [ONE]
    factors += [Var(e.name) for e in program.inputs if e.sort == "int" and e.name in context.public]
    factors += [length(e.var) for e in program.inputs if e.sort == "list"]
    for factor in factors:
        value = compiled(factor)
        if any(value(e) <= 0 for amount, e in spent if amount):
            continue
        short = [amount / value(e) for amount, e in spent if amount and _longest(e) < LONG]
        long = [amount / value(e) for amount, e in spent if amount and _longest(e) >= LONG]
        if not long or (short and max(long) <= max(short)):
            return factor, max(short + long)
    return None


def _longest(environment: dict[str, Any]) -> int:
    return max((len(v) for v in environment.values() if isinstance(v, tuple)), default=0)
