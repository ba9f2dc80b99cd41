"""The check of a program's certificate, from its frame to the last question.

The list `obligations` of a proof is for people: every obligation is derived here from the text and the annotations, and
nothing is read from that list beyond its form. It is covered by the digest, as everything else is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from viameter_check.programs.adjacency import covers_both, require_some_pair
from viameter_check.programs.claims import Claim as ProgramClaim
from viameter_check.programs.claims import read_claim
from viameter_check.programs.frame import inside, read_certificate
from viameter_check.programs.proofs import read_proof, read_runs
from viameter_check.programs.questions import Questions
from viameter_check.programs.relations import Runs
from viameter_check.programs.report import ProgramReport, statement_of
from viameter_check.programs.syntax import Call, Program, Sample, statements_in
from viameter_check.programs.texts import read_program
from viameter_check.programs.tree import rules_in
from viameter_check.programs.units import Mechanism, mechanism_of, read_mechanisms
from viameter_check.report import Claim, Failure, Refused


@dataclass(frozen=True, slots=True)
class Proven:
    """A program with the runs, the claim and the mechanisms of its proofs, once they were looked at."""

    program: Program
    runs: tuple[Runs, ...]
    claim: ProgramClaim
    mechanisms: Mapping[str, Mechanism]
    report: ProgramReport


def check_program(certificate: str | Mapping[str, Any]) -> ProgramReport:
    """Check the certificate of a program; `certificate` is its JSON, as text or as plain values."""
    try:
        return _checked(read_certificate(certificate)).report
    except Refused as problem:
        return ProgramReport((Failure(problem.where or "certificate", str(problem)),))
    except RecursionError:
        return ProgramReport((Failure("certificate", "is nested too deeply"),))
    except Exception as problem:  # what no rule foresaw is no proof
        return ProgramReport((Failure("certificate", f"could not be checked: {type(problem).__name__}"),))


@lru_cache(maxsize=32)
def proven(certificate: str) -> Proven:
    """What the text of a certificate proves, or Refused; a text that was checked before is not checked again."""
    try:
        found = _checked(read_certificate(certificate))
    except RecursionError:
        raise Refused("is nested too deeply") from None
    for failure in found.report.failures:
        raise Refused(failure.message, failure.path)
    return found


def _checked(document: dict[str, Any]) -> Proven:
    program = inside("program", read_program, document["program"])
    mechanisms = inside("mechanisms", read_mechanisms, document.get("mechanisms", {}))
    trusted = _trusted(program, mechanisms)
    paths = [f"proofs[{n}]" for n in range(len(document["proofs"]))]
    records = list(zip(paths, document["proofs"], strict=True))
    runs = tuple(inside(path, read_runs, record, document["program"]) for path, record in records)
    claims = [inside("claim", read_claim, document["claim"], each) for each in runs]
    proofs = [
        inside(path, read_proof, record, path, each, claim, mechanisms)
        for (path, record), each, claim in zip(records, runs, claims, strict=True)
    ]
    questions = Questions()
    remarks = inside("proofs[0].neighbors", require_some_pair, questions, runs[0])
    if not covers_both(questions, runs[0], runs[-1].relation):
        alone = len(runs) == 1
        raise Refused(
            "is not symmetric, as far as could be shown: a second proof is needed, with the runs exchanged"
            if alone
            else "is not that of the first proof with the runs exchanged, as far as could be shown",
            f"{paths[-1]}.neighbors",
        )
    for proof in proofs:
        proof.ask(questions)
    report = ProgramReport(tuple(questions.failures))
    if not questions.failures:
        report = ProgramReport(
            failures=(),
            claims=trusted,
            remarks=tuple(remarks),
            derived=sum(one.clauses for one in questions.discharged),
            theorems=tuple(sorted(set[str]().union(*(rules_in(proof.tree) for proof in proofs)))),
            statement=statement_of(runs[0], claims[0], document["noise"]),
            loss=document["claim"],
            obligations=tuple(questions.discharged),
            solver=questions.solver.name,
        )
    return Proven(program, runs, claims[0], mechanisms, report)


def _trusted(program: Program, mechanisms: Mapping[str, Mechanism]) -> tuple[Claim, ...]:
    """What is known of the mechanisms that a program calls, which nobody checks here."""
    draws = [part for part in statements_in(program.body) if isinstance(part, Sample)]
    found = {}
    for law in (draw.law for draw in draws if isinstance(draw.law, Call)):
        entry = mechanism_of(law, mechanisms)
        words = f"epsilon {entry.epsilon} and delta {entry.delta} for arguments up to {entry.distance} apart"
        found[law.name] = Claim(f"mechanisms.{law.name}", f"the mechanism {law.name} has {words}")
    return tuple(found.values())
