"""Measurements of programs: the certificate of the program is checked, and steps of its adjacency are counted."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from viameter_check.amounts import INFINITY, Number, shortened, times
from viameter_check.document import Node
from viameter_check.intervals import Interval, expm1, log, point
from viameter_check.losses import Loss, read_loss
from viameter_check.places import DISCRETE, NORMS, NUMBER, read_input_distance
from viameter_check.programs.checking import Proven, proven
from viameter_check.programs.inputs import (
    Data,
    Known,
    Value,
    is_of_each,
    keeps_between,
    read_data,
    require_what_the_program_requires,
)
from viameter_check.programs.reading import Reader
from viameter_check.programs.scales import Monomial
from viameter_check.programs.scopes import Scope
from viameter_check.programs.slots import require_rows_only
from viameter_check.programs.syntax import Program
from viameter_check.programs.terms import BOOL, INT, LIST, Term
from viameter_check.programs.texts import ANY
from viameter_check.programs.words import Kind, kind_of
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
Steps = tuple[Fraction, Fraction, int]
"""How far a step goes, in what distances are multiples, and how often a distance must be gone."""
_SOME = re.compile(r"for some ([\w., ]+): ", re.ASCII)


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
    _check_steps(node, found, data, known, (by, spacing, moves), most)
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


def _check_steps(node: Node, found: Proven, data: Data, known: Known, steps: Steps, most: Number) -> None:
    """How far a step goes, and how many may follow one another, is what the relation and the metric allow."""
    metric, grid = node.input.metric, ONE
    program, relation = found.program, found.runs[0].relation
    if metric.startswith("ProgramAdjacency("):
        _check_relation(metric, found, known)
        needs(steps == (ONE, ONE, 1), "a step of the relation itself is 1", "parameters.by")
        needs(most <= 1, "of several steps nothing is known", "parameters.most")
        return
    kind = kind_of(program, relation)
    if kind is None:
        raise Refused(f"steps of this relation are not counted in {metric}", "input.metric")
    if not data.plain:
        metric, name, grid = read_input_distance(metric)
        needs((name, grid) == (kind.name, program.grids[kind.name]), "is not of the private input", "input.metric")
    ways = _ways(kind, program.inputs[kind.name], program.grids[kind.name])
    needs(metric in ways, f"steps of this relation are not counted in {metric}", "input.metric")
    needs(steps == ways[metric], "are not those of the relation in this metric", "parameters.by")
    if kind.rows:
        require_rows_only(program, kind.name)
    if most > 1:
        replaced = kind.rows or kind.steps is None or program.inputs[kind.name] == BOOL
        fine = (
            is_of_each(data, kind.name, rows=kind.rows) if replaced else keeps_between(data, kind.name, found.runs[0])
        )
        needs(fine, "steps may lead to inputs that the program does not take", "parameters.most")


def _ways(kind: Kind, sort: str, grid: Fraction) -> dict[str, Steps]:
    """The metrics in which steps of a kind of adjacency are counted, and how."""
    single = (ONE, ONE, 1)
    if kind.rows:
        return {"InsertDeleteDistance()": single}
    if kind.steps is None or sort == BOOL:
        if sort == LIST and not kind.one:
            return {}
        return {"HammingDistance()" if sort == LIST else DISCRETE: single}
    if kind.steps < 1:
        return {}
    far = kind.steps * grid
    if sort == INT:
        return {NUMBER: (far, grid, 1)}
    if kind.one:
        return {"L1Distance()": (grid, grid, 1)}
    if kind.upwards:
        return {"MonotoneDistance()": (far, grid, 1), "LInfDistance()": (far, grid, 2)}
    return dict.fromkeys(NORMS, (far, grid, 1))


def _check_relation(metric: str, found: Proven, known: Known) -> None:
    """Every relation that the metric names is one that was proved, and it fills in what was given."""
    try:
        call: Any = ast.parse(metric, mode="eval").body
        (argument,) = call.args
        text = ast.literal_eval(argument)
        given = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError, AttributeError, MemoryError, RecursionError):
        raise Refused("is no relation that this checker reads", "input.metric") from None
    for name, filled in given.items():
        needs(name in known.public and known.public[name] == filled, f"fills in another {name[:40]}", "input.metric")
    shown = [(set(runs.relation.facts), set(runs.relation.each), set(runs.relation.constants)) for runs in found.runs]
    for part in str(text).split("; or "):
        needs(
            _relation(part, found.program, found.runs[0].relation.private) in shown,
            "is not what was proved",
            "input.metric",
        )


def _relation(
    text: str, program: Program, private: frozenset[str]
) -> tuple[set[Term], set[tuple[str, Term]], set[str]]:
    some = _SOME.match(text)
    constants = some[1].split(", ") if some else []
    rest = text[some.end() :] if some else text
    shared = {name: sort for name, sort in program.inputs.items() if name not in private} | dict.fromkeys(
        constants, INT
    )
    sided = {name: program.inputs[name] for name in private}
    facts: set[Term] = set()
    each: set[tuple[str, Term]] = set()
    while rest and rest != "anything":
        items = ""
        if rest.startswith("each "):
            items, _, rest = rest.removeprefix("each ").partition(": ")
        reader = Reader(rest, Scope("a relation", {**shared, ANY: INT}, sided, program.lists))
        fact = reader.term()
        if items:
            each.add((items, fact))
        else:
            facts.add(fact)
        if not reader.next:
            break
        reader.take(",")
        rest = reader.rest
    return facts, each, set(constants)
