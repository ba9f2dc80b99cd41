"""Steps: in which metrics those of a program's adjacency are counted, how far each goes, and how many may follow."""

from __future__ import annotations

import ast
import re
from fractions import Fraction
from typing import Any

from viameter_check.amounts import Number
from viameter_check.places import DISCRETE, NORMS, NUMBER, read_input_distance
from viameter_check.programs.checking import Proven
from viameter_check.programs.inputs import Data, Known, is_of_each, keeps_between
from viameter_check.programs.reading import Reader
from viameter_check.programs.scopes import Scope
from viameter_check.programs.slots import require_rows_only
from viameter_check.programs.syntax import Program
from viameter_check.programs.terms import BOOL, INT, LIST, Term
from viameter_check.programs.texts import ANY
from viameter_check.programs.words import Kind, kind_of
from viameter_check.report import Refused

ONE = Fraction(1)
Steps = tuple[Fraction, Fraction, int]
"""How far a step goes, in what distances are multiples, and how often a distance must be gone."""
_SOME = re.compile(r"for some ([\w., ]+): ", re.ASCII)


def require_steps(metric: str, found: Proven, data: Data, known: Known, steps: Steps, most: Number) -> None:
    """Refuse steps that go further, or more of them one after another, than the relation and the metric allow."""
    grid = ONE
    program, relation = found.program, found.runs[0].relation
    if metric.startswith("ProgramAdjacency("):
        _check_relation(metric, found, known)
        _needs(steps == (ONE, ONE, 1), "a step of the relation itself is 1", "parameters.by")
        _needs(most <= 1, "of several steps nothing is known", "parameters.most")
        return
    kind = kind_of(program, relation)
    if kind is None:
        raise Refused(f"steps of this relation are not counted in {metric}", "input.metric")
    if not data.plain:
        metric, name, grid = read_input_distance(metric)
        _needs((name, grid) == (kind.name, program.grids[kind.name]), "is not of the private input", "input.metric")
    ways = _ways(kind, program.inputs[kind.name], program.grids[kind.name])
    _needs(metric in ways, f"steps of this relation are not counted in {metric}", "input.metric")
    _needs(steps == ways[metric], "are not those of the relation in this metric", "parameters.by")
    if kind.rows:
        require_rows_only(program, kind.name)
    if most > 1:
        replaced = kind.rows or kind.steps is None or program.inputs[kind.name] == BOOL
        fine = (
            is_of_each(data, kind.name, rows=kind.rows) if replaced else keeps_between(data, kind.name, found.runs[0])
        )
        _needs(fine, "steps may lead to inputs that the program does not take", "parameters.most")


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
        _needs(name in known.public and known.public[name] == filled, f"fills in another {name[:40]}", "input.metric")
    shown = [(set(runs.relation.facts), set(runs.relation.each), set(runs.relation.constants)) for runs in found.runs]
    for part in str(text).split("; or "):
        _needs(
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


def _needs(holds: bool, message: str, where: str) -> None:
    if not holds:
        raise Refused(message, where)
