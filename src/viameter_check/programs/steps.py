"""Steps: in which metrics those of a program's adjacency are counted, how far each goes, and how many may follow."""

from __future__ import annotations

from fractions import Fraction

from viameter_check.amounts import Number, shortened
from viameter_check.places import DISCRETE, NORMS, NUMBER
from viameter_check.programs.checking import Proven
from viameter_check.programs.inputs import Data, Known, is_of_each, keeps_between
from viameter_check.programs.slots import require_rows_only
from viameter_check.programs.terms import BOOL, INT, LIST
from viameter_check.programs.walking import variables
from viameter_check.programs.words import Kind, kind_of
from viameter_check.report import Refused

ONE = Fraction(1)
Steps = tuple[Fraction, Fraction, int]
"""How far a step goes, in what distances are multiples, and how often a distance must be gone."""


def require_steps(metric: str, found: Proven, data: Data, known: Known, steps: Steps, most: Number) -> None:
    """Refuse steps that go further, or more of them one after another, than the relation and the metric allow."""
    program, relation = found.program, found.runs[0].relation
    if metric.startswith("ProgramAdjacency("):
        _check_relation(metric, found, known)
        _needs(steps == (ONE, ONE, 1), "a step of the relation itself is 1", "parameters.by")
        _needs(most <= 1, "of several steps nothing is known", "parameters.most")
        return
    kind = kind_of(program, relation)
    if kind is None:
        raise Refused(f"steps of this relation are not counted in {metric}", "input.metric")
    grid = program.grids[kind.name]
    ways = _ways(kind, program.inputs[kind.name], grid)
    if not data.plain:
        on = "" if grid == 1 else f", grid='{grid}'"
        ways = {f"InputDistance({inner}, of={kind.name!r}{on})": way for inner, way in ways.items()}
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
    """The metric is the text of all relations that were proved, with each public input that they speak of filled in."""
    relations = [runs.relation for runs in found.runs]
    facts = [fact for relation in relations for fact in (*relation.facts, *(fact for _, fact in relation.each))]
    filled = known.filled(found.program, {term.name for term in variables(*facts)})
    given = "".join(f", {name}={value!r}" for name, value in filled.items())
    expected = f"ProgramAdjacency({'; or '.join(relation.text for relation in relations)!r}{given})"
    _needs(metric == expected, f"is not what was proved: {shortened(expected)}", "input.metric")


def _needs(holds: bool, message: str, where: str) -> None:
    if not holds:
        raise Refused(message, where)
