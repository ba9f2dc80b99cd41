"""One proof of a certificate: read in full, and turned into obligations, before the solver is asked anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from viameter_check.amounts import shortened
from viameter_check.programs.annotations import OUTCOME, Annotations, cost, read_annotations, same
from viameter_check.programs.claims import Claim
from viameter_check.programs.draws import Draws
from viameter_check.programs.facts import Facts
from viameter_check.programs.frame import inside, read_list
from viameter_check.programs.moves import moved
from viameter_check.programs.preconditions import Clause, Obligation, Preconditions, with_values
from viameter_check.programs.questions import Questions
from viameter_check.programs.relations import Runs, read_relation
from viameter_check.programs.terms import BOOL, INT, LIST, Term, make, number, truth, variable
from viameter_check.programs.texts import read_program
from viameter_check.programs.tree import Rule, require_tree, tree_of
from viameter_check.programs.units import (
    DELTA,
    RHO,
    Mechanism,
    Unit,
    bases_in,
    factors_in,
    read_units,
)
from viameter_check.report import Refused


def read_runs(record: Mapping[str, Any], original: str) -> Runs:
    """The program of a proof, which must be what the moves make of the original, and the adjacency of its runs."""
    text = inside("text", read_program, record["text"])
    if inside("moves", moved, original, record.get("moves", [])) != text:
        raise Refused("is not what the moves make of the program", "text")
    return Runs(text, inside("neighbors", read_relation, record["neighbors"], text))


@dataclass(frozen=True, slots=True)
class Proof:
    """A proof whose form is as it must be, with what the solver has to be asked."""

    path: str
    runs: Runs
    tree: Rule
    factors: Mapping[Term, str]
    """What must be at least 1, and where the certificate uses it."""
    claimed: tuple[Term, ...]
    """The factors of the claim, none of which may be negative: a bound is a sum of terms that are at least 0."""
    obligations: tuple[Obligation, ...]

    def ask(self, questions: Questions) -> None:
        """Put every obligation to the solver."""
        if self.claimed:
            terms = tuple(
                Clause(make("<=", number(0), factor), "claim.amount", "a factor is at least 0", 0)
                for factor in self.claimed
            )
            bound = Obligation(0, "claim", "no term of the claim is negative, by what the program requires", (), terms)
            questions.ask(self.path, bound, Facts(self.runs, adjacent=False))
        goals = tuple(
            Clause(make("<=", number(1), factor), place, "a factor is at least 1", 0)
            for factor, place in self.factors.items()
        )
        if goals:
            # Noise needs a scale above 0 whatever the other run does: adjacency is not used.
            needed = Obligation(0, "units", "factors are at least 1 by what the program requires", (), goals)
            questions.ask(self.path, needed, Facts(self.runs, adjacent=False))
        facts = Facts(self.runs, known=tuple(clause.term for clause in goals))
        for obligation in self.obligations:
            questions.ask(self.path, obligation, facts)


def read_proof(
    record: Mapping[str, Any], path: str, runs: Runs, claim: Claim, mechanisms: Mapping[str, Mechanism]
) -> Proof:
    """A proof of a claim, and everything that must hold for it."""
    program, pointwise = runs.program, record["pointwise"]
    used = bases_in(program.body, mechanisms)
    if not isinstance(pointwise, bool):
        raise Refused(f"{shortened(pointwise)}: expected true or false", "pointwise")
    if pointwise and (program.output_sort != INT or {RHO, DELTA} & used):
        raise Refused("only a program that returns an integer and costs no rho or delta is proved so", "pointwise")
    if RHO in used and used != {RHO}:
        raise Refused(f"a proof in rho has no other cost, and this program costs {sorted(used - {RHO})}", "text")
    bases = used | set(claim.bounds)
    units: dict[str, Unit] = inside("units", read_units, record.get("units", {}), runs)
    annotations: Annotations = read_annotations(record, runs, bases, pointwise=pointwise)
    tree = tree_of(program.body, annotations.split, pointwise=pointwise)
    inside("tree", require_tree, record["tree"], tree)
    inside("obligations", _require_obligations, record.get("obligations", []))
    factors = factors_in(program.body, units, runs)
    rules = Preconditions(runs, annotations, Draws(runs, annotations, units, mechanisms))
    first = rules.before(program.body, _at_the_end(runs, claim, used, units, pointwise=pointwise))
    start = Obligation(0, tree.name, "at the start", (), tuple(with_values(first, _at_the_start(runs, bases))))
    claimed = tuple(dict.fromkeys(factor for bound in claim.bounds.values() for factor in bound.factors))
    return Proof(path, runs, tree, factors, claimed, (start, *reversed(rules.obligations)))


def _at_the_end(
    runs: Runs, claim: Claim, used: set[str], units: Mapping[str, Unit], *, pointwise: bool
) -> list[Clause]:
    """What must hold at the end: equal outputs, at no more than what is claimed."""
    output = runs.program.output
    if runs.program.output_sort == LIST:
        wanted = same(output)
    else:
        one, two = runs.name(output, 1), runs.name(output, 2)
        wanted = make("==", two, OUTCOME) if pointwise else make("==", one, two)
    clauses = [Clause(wanted, "text", "both runs return the same", 0)]
    for base in sorted(used | set(claim.bounds)):
        bound = claim.bound(base)
        most = inside(f"units[{base}]", bound.counted, units.get(base, Unit()))
        # A base in which nothing is ever paid costs 0, and an invariant need not say so.
        paid = cost(base) if base in used else number(0)
        clauses.append(Clause(make("<=", paid, most), bound.place, f"cost.{base} is at most what is claimed", 0))
    if not pointwise:
        return clauses
    returned = make("==", runs.name(output, 1), OUTCOME)
    return [Clause(make("=>", returned, c.term), c.place, c.what, c.line) for c in clauses]


def _at_the_start(runs: Runs, bases: set[str]) -> dict[Term, Term]:
    """The values that variables and ghosts start with."""
    values: dict[Term, Term] = {cost(base): number(0) for base in bases}
    values |= {same(name): truth(True) for name in runs.program.outputs}
    for name, sort in runs.program.variables.items():
        start = truth(False) if sort == BOOL else number(0)
        values |= {variable(name, sort, side): start for side in (1, 2)}
    return values


def _require_obligations(record: Any) -> None:
    for n, entry in enumerate(read_list(record)):
        if not isinstance(entry, dict) or not {"line", "rule", "what"} <= set(entry):
            raise Refused("expected an object with line, rule and what", f"[{n}]")
