"""Measurements of programs: the certificate of the program is checked, and steps of its adjacency are counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from viameter_check.amounts import INFINITY, Number, shortened, times
from viameter_check.document import Node
from viameter_check.intervals import Interval, expm1, log, point
from viameter_check.losses import Loss, read_loss
from viameter_check.places import NUMBER
from viameter_check.programs.checking import Proven, proven
from viameter_check.programs.inputs import Known, Value, read_data, require_what_the_program_requires
from viameter_check.programs.scales import Monomial
from viameter_check.programs.steps import require_steps
from viameter_check.report import Refused
from viameter_check.rules.converting import infinite
from viameter_check.rules.table import (
    OUTWARD,
    Derived,
    finite,
    given_distance,
    loss,
    needs,
    number,
    positive,
    rule,
    whole,
    word,
)

ONE = Fraction(1)


def pairs(read: Callable[[Any], Any]) -> Callable[[Any], dict[str, Any]]:
    """Names with values, each name once."""

    def reader(record: Any) -> dict[str, Any]:
        if not isinstance(record, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in record):
            raise Refused("expected names with values")
        found = {word(name): read(value) for name, value in record}
        if len(found) != len(record):
            raise Refused("a name stands twice")
        return found

    return reader


def value(record: Any) -> Value:
    """A public input: a truth value, a whole number, or a list of whole numbers."""
    if isinstance(record, bool):
        return record
    if isinstance(record, list):
        return tuple(_integer(item) for item in record)
    return _integer(record)


def _integer(record: Any) -> int:
    found = finite(record)
    if found.denominator != 1:
        raise Refused(f"{shortened(record)} is not a whole number")
    return found.numerator


@rule(
    "verified-program", numbers=OUTWARD, certificate=word, mechanisms=pairs(word), budgets=pairs(positive),
    public=pairs(value), lengths=pairs(whole), loss=read_loss, by=positive, spacing=positive, moves=whole, most=number,
)  # fmt: skip
def verified_program(
    node: Node,
    *,
    certificate: str,
    mechanisms: dict[str, str],
    budgets: dict[str, Fraction],
    public: dict[str, Value],
    lengths: dict[str, int],
    loss: Loss,
    by: Fraction,
    spacing: Fraction,
    moves: int,
    most: Number,
) -> Derived:
    """The loss of so many steps, each of which costs what the program's certificate says."""
    given = given_distance(node)
    try:
        found = proven(certificate)
    except Refused as problem:
        place = f"parameters.certificate.{problem.where}" if problem.where else "parameters.certificate"
        raise Refused(str(problem), place) from None
    program, relation = found.program, found.runs[0].relation
    _check_mechanisms(found, mechanisms)
    known = Known(budgets, public, lengths)
    try:
        known.check(program, relation.private)
        _check_loss(found, known, loss)
    except Refused as problem:
        raise Refused(str(problem), f"parameters.{problem.where}" if problem.where else "parameters") from None
    needs(node.output.measure == loss.measure, f"is stated in {loss.measure}", "output.measure")
    data = read_data(node.input.domain, program, relation.private, known)
    require_what_the_program_requires(data, found.runs[0], known)
    require_steps(node.input.metric, found, data, known, (by, spacing, moves), most)
    if given == INFINITY:
        return infinite(loss.measure)
    apart = math.floor(given / spacing) * spacing
    steps = moves * math.ceil(apart / by)
    return infinite(loss.measure) if steps > most else _several(loss, steps)


def _check_mechanisms(found: Proven, certificates: Mapping[str, str]) -> None:
    """What the proof takes for known of mechanisms is what certificates of them show."""
    from viameter_check.checker import check_text

    needs(
        set(certificates) == set(found.mechanisms),
        "are not certificates of the mechanisms that the program calls",
        "parameters.mechanisms",
    )
    for name, text in certificates.items():
        entry, where = found.mechanisms[name], f"parameters.mechanisms.{name}"
        shown, report = check_text(text, where)
        neighborhood = shown["claim"]["neighborhood"]
        place = neighborhood["domain"]
        needs(
            place.startswith("scalars(int") and neighborhood["metric"] == NUMBER,
            "is not of one whole number",
            where,
        )
        needs(number(neighborhood["d_in"]) >= entry.distance, "is of integers that are nearer", where)
        shown_loss = read_loss(shown["claim"]["loss"])
        needs(shown_loss.measure in ("pure", "approx"), "is in another measure", where)
        amounts = dict(shown_loss.amounts)
        fits = amounts["epsilon"] <= entry.epsilon and amounts.get("delta", Fraction(0)) <= entry.delta
        needs(fits, "costs more than the program's certificate says", where)
        needs(not report.claims, "rests on trust, which a program does not take over", where)


def _check_loss(found: Proven, known: Known, shown: Loss) -> None:
    """The loss of one step is what the claim comes to at these budgets, public inputs and lengths."""
    claim = found.claim
    needs(shown.measure == claim.measure, f"is not in {claim.measure}, as the claim is", "loss")
    names = {"pure": ("epsilon",), "approx": ("epsilon",), "zcdp": ("rho",)}[claim.measure]
    wanted = {names[0]: claim.amounts["amount"]}
    if claim.measure == "approx":
        wanted["delta"] = claim.amounts["delta"]
    for name, parts in wanted.items():
        least = _amount(parts, known).high
        needs(
            shown[name] >= min(least, ONE) if name == "delta" else shown[name] >= least,
            "is less than was proved",
            f"loss.{name}",
        )


def _amount(parts: tuple[Monomial, ...], known: Known) -> Interval:
    total = point(0)
    for part in parts:
        amount = part.coefficient
        for factor in part.factors:
            count = known.value(factor)
            needs(count >= 0, "has a factor that is negative here", "loss")
            amount *= count
        total += point(amount) * _base(part.base, known)
    return total


def _base(base: str, known: Known) -> Interval:
    if base == "1":
        return point(1)
    if base.startswith("ln("):
        return log(Fraction(base[3:-1]))
    return point(known.budgets[base])


def _several(shown: Loss, steps: int) -> Derived:
    """The loss of so many steps, by the group theorem of its measure."""
    if shown.measure == "pure":
        return loss("pure", times(Fraction(steps), shown["epsilon"]))
    if shown.measure == "zcdp":
        return loss("zcdp", times(Fraction(steps**2), shown["rho"]))
    epsilon, delta = shown["epsilon"], Fraction(shown["delta"])
    several = times(Fraction(steps), epsilon)
    if epsilon == 0 or delta == 0 or steps <= 1 or isinstance(epsilon, float) or isinstance(several, float):
        return loss("approx", several, min(delta * steps, ONE))
    grown = expm1(several).over(expm1(epsilon))
    return loss("approx", several, (point(delta) * grown).at_most(ONE))
