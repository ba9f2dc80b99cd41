"""The check: read the certificate, derive every node again, and see that the claim is what the tree proves."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from viameter_check.amounts import INFINITY, Number, read_number, show
from viameter_check.document import (
    Node,
    at,
    joined,
    parse,
    read_place,
    read_texts,
    read_top,
    refuse_strange_values,
    require_fields,
)
from viameter_check.intervals import Interval
from viameter_check.losses import Loss, read_loss
from viameter_check.places import MEASURES, Place, is_metric
from viameter_check.programs import FORMAT as PROGRAMS
from viameter_check.programs import check_program
from viameter_check.report import Claim, Failure, Refused, Report
from viameter_check.rules import (
    RULES,
    programs,  # noqa: F401  # it rests on what is imported above, and so fills the table here
)
from viameter_check.rules.chains import start_of
from viameter_check.rules.composition import COMPOSITIONS
from viameter_check.rules.table import ASSUMED, EXACT, Derived
from viameter_check.version import VERSION


def check(certificate: str | Mapping[str, Any]) -> Report:
    """Derive every number of a certificate again; `certificate` is its JSON, as text or as plain values.

    The certificate of a program is handed to `viameter_check.programs`. Whatever the text is, this returns a report.
    """
    try:
        return _checked(certificate)
    except Exception as problem:  # what no rule foresaw is no proof
        return Report((Failure("certificate", f"could not be checked: {type(problem).__name__}"),))


def _checked(certificate: str | Mapping[str, Any]) -> Report:
    try:
        document = parse(certificate) if isinstance(certificate, str) else certificate
        if isinstance(document, dict) and document.get("format") == PROGRAMS:
            return check_program(certificate)
        refuse_strange_values(document)
        top = read_top(document)
        failures, remarks, trusts = _examine(top)
        statement = "" if failures else _check_claim(document["claim"], top)
    except Refused as problem:
        return Report((Failure(problem.where or "certificate", str(problem)),))
    except RecursionError:
        return Report((Failure("certificate", "is nested too deeply"),))
    if failures:
        return Report(failures)
    derived = [node for node in top.nodes() if node.kind == "derived"]
    return Report(
        failures=(),
        claims=(*_claims(top), *trusts),
        remarks=remarks,
        derived=len(derived),
        theorems=tuple(sorted({node.theorem for node in derived})),
        statement=statement,
        loss=document["claim"].get("loss"),
    )


def check_text(certificate: str, where: str) -> tuple[dict[str, Any], Report]:
    """A certificate that another one rests on, and the report on it; Refused, at a place, if it does not hold."""
    report = check(certificate)
    for failure in report.failures:
        raise Refused(failure.message, joined(where, failure.path))
    document = parse(certificate)
    if document.get("format") == PROGRAMS or report.loss is None:
        raise Refused("is not the certificate of a mechanism", where)
    return document, report


def _examine(top: Node) -> tuple[tuple[Failure, ...], tuple[str, ...], tuple[Claim, ...]]:
    """Look at every node by itself: its place and its bound follow from its input, what was given, and its premises."""
    failures, remarks = [], []
    trusts: dict[str, Claim] = {}
    for node in top.nodes():
        try:
            _check_frame(node)
            derived = RULES[node.theorem](node)
            _check_output(node, derived.output)
            looser = _check_bound(node, derived)
            for text in derived.trusts:
                trusts.setdefault(text, Claim(node.path, text))
        except Refused as problem:
            failures.append(Failure(joined(node.path, problem.where), str(problem)))
        else:
            remarks += [
                f"{joined(node.path, where)} is looser than derived by {by}, which is sound" for where, by in looser
            ]
    return tuple(failures), tuple(remarks), tuple(trusts.values())


def _check_frame(node: Node) -> None:
    """What every node must satisfy, whatever its theorem."""
    if node.theorem not in RULES:
        raise Refused(f"this checker (version {VERSION}) does not know the theorem {node.theorem[:60]!r}", "theorem")
    rule = RULES[node.theorem]
    if node.numbers != rule.numbers:
        raise Refused(f"the numbers of {node.theorem} are {rule.numbers}, not {node.numbers[:20]!r}", "numbers")
    kind = "claim" if rule.numbers == ASSUMED else "derived"
    if node.kind != kind:
        raise Refused(f"{node.theorem} is {kind}, not {node.kind[:20]!r}", "kind")
    _check_place("given", node.given, node.input.measure, node.input.counts)
    _check_place("bound", node.bound, node.output.measure, node.output.counts)
    for name, place in (("input", node.input), ("output", node.output)):
        if not place.is_fitting:
            raise Refused(f"{place.metric} does not measure {place.domain[:60]}", name)
        if not place.is_of_the_library and not node.assumptions:
            raise Refused(f"{place} is not of the library, and nothing is said of the trust it asks for", name)
    for n, premise in enumerate(node.premises):
        if premise.times != 1 and node.theorem not in (*COMPOSITIONS, "trusted-composition"):
            raise Refused(f"{node.theorem} counts every premise once", f"premises[{n}].times")
    if node.path == "derivation" and node.times != 1:
        raise Refused("the whole counts once", "times")


def _check_place(where: str, value: Any, measure: str, counts: bool) -> None:
    """A distance belongs into a space, and a loss into its measure."""
    if isinstance(value, tuple):
        for loss in value:
            _check_place(where, loss, measure, counts)
        if not measure:
            raise Refused("losses are not measured in a space", where)
    elif isinstance(value, Loss):
        if value.measure != measure:
            raise Refused(f"is a loss of {value.measure}, not of {measure or 'a space'}", where)
    elif measure:
        raise Refused(f"is a distance, not a loss of {measure}", where)
    elif counts and value != INFINITY and Fraction(value).denominator != 1:
        raise Refused("is not whole, although the metric counts", where)


def _check_output(node: Node, derived: Place) -> None:
    """The output is the space or the measure that the theorem leads to from this input."""
    for name in ("measure", "domain", "metric"):
        expected = getattr(derived, name)
        if getattr(node.output, name) != expected:
            raise Refused(f"is not what {node.theorem} gives: {expected or 'none'}"[:400], f"output.{name}")


def _check_bound(node: Node, derived: Derived) -> list[tuple[str, str]]:
    """The bound must be that of an exact theorem and at least that of any other; say where it is much more."""
    written = node.bound
    looser = []
    for where, amount, interval in _pairs(written, derived):
        if amount < interval.high:
            raise Refused(f"{show(amount)} is too small: {node.theorem} gives {show(interval.high)}", where)
        if node.numbers == EXACT and not _is_exact(amount, interval):
            raise Refused(f"{show(amount)} is not exact: {node.theorem} gives {show(interval.high)}", where)
        if not _is_rounding(amount, interval):
            by = INFINITY if isinstance(amount, float) else amount - Fraction(interval.high)
            looser.append((where, show(by)))
    return looser


def _is_exact(amount: Number, interval: Interval) -> bool:
    """Whether the amount is what was derived; the library rounds what has a denominator of more than 512 bits."""
    low = interval.low
    if interval.is_point and (isinstance(low, float) or low.denominator.bit_length() <= 512):
        return amount == low
    return _is_rounding(amount, interval)


def _is_rounding(amount: Number, interval: Interval) -> bool:
    """Whether the amount is above by no more than a rounding in the last of many digits."""
    return isinstance(interval.high, float) or amount <= max(interval.high * (1 + Fraction(1, 2**60)), _NOTHING)


_NOTHING = Fraction(1, 2**16384)
"""The least probability that the library computes; what is below is rounded up to it."""


def _pairs(written: Number | Loss, derived: Derived) -> list[tuple[str, Number, Interval]]:
    """Each number that is written, with the interval of what it must not be below."""
    found = dict(derived.amounts)
    if not isinstance(written, Loss):
        return [("bound", written, found[""])]
    if written.measure == "profile":
        # At each epsilon, what was derived for it or a lower one; nothing, which is 1, where there is none.
        one = Interval(Fraction(1), Fraction(1))
        return [
            (f"bound.epsilons.{show(epsilon)}", delta, _least([i for e, i in found.items() if e <= epsilon], one))
            for epsilon, delta in written.amounts
        ]
    if written.measure == "renyi":
        none = Interval(INFINITY, INFINITY)
        return [
            (f"bound.orders.{show(order)}", bound, _least([i for o, i in found.items() if o >= order], none))
            for order, bound in written.amounts
        ]
    return [(f"bound.{name}", amount, found[name]) for name, amount in written.amounts]


def _least(intervals: list[Interval], otherwise: Interval) -> Interval:
    return min(intervals, key=lambda interval: interval.high, default=otherwise)


def _check_claim(claim: Any, top: Node) -> str:
    """See that the claim is what the tree proves, and write it as a sentence."""
    try:
        return _checked_claim(claim, top)
    except Refused as problem:
        raise Refused(str(problem), joined("claim", problem.where)) from None


def _checked_claim(claim: Any, top: Node) -> str:
    private = isinstance(top.bound, Loss)
    result = ("measure", "loss") if private else ("output", "distance")
    require_fields(claim, ("text", "neighborhood", *result, "assumes"))
    neighborhood = claim["neighborhood"]
    at("neighborhood", lambda record: require_fields(record, ("domain", "metric", "d_in")), neighborhood)
    place = at("neighborhood", read_place, {name: neighborhood[name] for name in ("domain", "metric")})
    d_in = at("neighborhood.d_in", read_number, neighborhood["d_in"])
    start = start_of(top)
    if start is not None:
        for name in ("domain", "metric"):
            if getattr(place, name) != getattr(start[0], name):
                raise Refused(f"is not that of the derivation, {getattr(start[0], name)}", f"neighborhood.{name}")
        if d_in != start[1]:
            raise Refused("is not the distance of the derivation", "neighborhood.d_in")
    if at("assumes", read_texts, claim["assumes"]) != top.assumptions:
        raise Refused("are not the assumptions of the derivation", "assumes")
    written, statement = (_sentence(top, d_in, place.metric, quotes=quotes) for quotes in (False, True))
    if isinstance(top.bound, Loss):
        if at("loss", read_loss, claim["loss"]) != top.bound:
            raise Refused("is not the bound of the derivation", "loss")
        if claim["measure"] != top.bound.measure:
            raise Refused(f"is not that of the loss, {top.bound.measure}", "measure")
    else:
        if at("output", read_place, claim["output"]) != top.output:
            raise Refused("is not that of the derivation", "output")
        if at("distance", read_number, claim["distance"]) != top.bound:
            raise Refused("is not the bound of the derivation", "distance")
    if claim["text"] != written:
        raise Refused(f"is not what was proved: {written}", "text")
    return statement


def _sentence(top: Node, d_in: Number, metric: str, *, quotes: bool) -> str:
    """What was proved; with quotes, around metrics and measures that are not of the library."""

    def shown(name: str, known: bool) -> str:
        return repr(name) if quotes and not known else name

    near = f"at most {show(d_in)} apart in {shown(metric, is_metric(metric))}"
    if isinstance(top.bound, Loss):
        measure = top.bound.measure
        return f"On data {near}, releases are close in {shown(measure, measure in MEASURES)}: {top.bound}."
    after = top.output.metric
    return f"Data {near} have images at most {show(top.bound)} apart in {shown(after, is_metric(after))}."


def _claims(top: Node) -> tuple[Claim, ...]:
    """What was taken on trust: every assumption, and every bound that was not derived."""
    found = []
    for node in top.nodes():
        found += [Claim(joined(node.path, f"assumes[{n}]"), text) for n, text in enumerate(node.assumes)]
        if node.kind == "claim":
            named = f"what calls itself {node.subject!r}"
            found.append(Claim(node.path, f"the bound of {named} is taken from the certificate"))
    return tuple(found)
