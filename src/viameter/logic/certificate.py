"""Certificates of proved programs: JSON that `viameter_check` checks with its own code and another solver."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from viameter.logic.kernel.proof import Proof
from viameter.logic.kernel.rules.sampling import RULES
from viameter.logic.kernel.wellformed import check_mechanism
from viameter.logic.lang.core import (
    Append,
    Assign,
    Block,
    Call,
    Choose,
    If,
    Program,
    Sample,
    Statement,
    While,
    statements_of,
)
from viameter.logic.lang.parsing import read_program
from viameter.logic.lang.terms import show
from viameter.logic.lang.text import show_program
from viameter.logic.neighbors import neighbors_from_json, stated
from viameter.logic.search.prover import Proved

FORMAT = "viameter program certificate"
NOISE = "exact discrete noise on the integers"


@dataclass(frozen=True, slots=True, repr=False)
class ProgramCertificate:
    """A claim about a program with everything that is needed to check its proof; `text` is JSON."""

    text: str

    def to_json(self) -> dict[str, Any]:
        """The certificate as plain JSON values."""
        document: dict[str, Any] = json.loads(self.text)
        return document

    @property
    def digest(self) -> str:
        """A hash of the whole certificate."""
        return str(self.to_json()["digest"])

    @property
    def claim(self) -> str:
        """What is certified, in a sentence."""
        document = self.to_json()
        name = document["program"].splitlines()[0].partition(" ")[2]
        claim = document["claim"]
        amount = f"({claim['amount']}, {claim['delta']})" if "delta" in claim else claim["amount"]
        relation = neighbors_from_json(document["proofs"][0]["neighbors"], read_program(document["program"]))
        return f"{name} costs at most {amount} ({claim['measure']}) on neighbors: {stated(relation)}"

    def write(self, path: str | Path) -> None:
        """Write it to a file; `viameter check` reads that."""
        Path(path).write_text(f"{self.text}\n", encoding="utf-8")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<certificate: {self.claim}>"


def certify(
    program: Program, claim: Mapping[str, str], proofs: tuple[tuple[Proved, tuple[tuple[int, int], ...]], ...]
) -> ProgramCertificate:
    """The certificate of a program whose directions were proved, each after some moves of draws."""
    text = show_program(program)
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": 1,
        "program": text,
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "claim": dict(claim),
        "mechanisms": mechanisms_of(program),
        "noise": NOISE,
        "proofs": [_proof(proved, moves) for proved, moves in proofs],
    }
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
    document["digest"] = hashlib.sha256(canonical.encode()).hexdigest()
    return ProgramCertificate(json.dumps(document, indent=1, sort_keys=True))


def mechanisms_of(program: Program) -> dict[str, dict[str, str]]:
    """What is known of the mechanisms that a program calls, as a certificate keeps it."""
    called = {s.law.name for s in statements_of(program.body) if isinstance(s, Sample) and isinstance(s.law, Call)}
    found: dict[str, dict[str, str]] = {}
    for name in sorted(called):
        check_mechanism(program, name)
        entry = replace(program.mechanisms[name])  # made again, so that its numbers are those of its measurement
        found[name] = {name: str(getattr(entry, name)) for name in ("distance", "epsilon", "delta")}
    return found


def _proof(proved: Proved, moves: tuple[tuple[int, int], ...]) -> dict[str, Any]:
    context, proof = proved.context, proved.proof
    bounds = {line: choice.bounds for line, choice in proof.choices.items() if choice.bounds}
    return {
        "neighbors": context.neighbors.to_json(),
        "moves": [{"line": line, "past": past} for line, past in moves],
        "text": show_program(context.program),
        "units": {
            base: {"number": unit.number, "factors": [show(factor) for factor in unit.factors]}
            for base, unit in context.units.items()
        },
        "pointwise": proof.pointwise,
        "shifts": {str(line): show(proof.choices[line].shift) for line in _shifted(context.program, proof)},
        "bounds": {str(line): [show(bound) for bound in found] for line, found in sorted(bounds.items())},
        "split": sorted(proof.split),
        "invariants": {str(line): [show(t) for t in found] for line, found in sorted(proof.invariants.items())},
        "variants": {str(line): show(term) for line, term in sorted(proof.variants.items())},
        "tree": {
            "rule": "pointwise" if proof.pointwise else "equality",
            "line": 0,
            "premises": [tree_of(context.program.body, proof)],
        },
        "obligations": obligations_of(context.program.body, proof),
    }


def _shifted(program: Program, proof: Proof) -> list[int]:
    """The lines of draws that a shift couples; the others are equal in both runs."""
    draws = {
        s.at for s in statements_of(program.body) if isinstance(s, Sample) and not isinstance(s.law, Choose | Call)
    }
    return sorted(draws & proof.choices.keys())


def tree_of(block: Block, proof: Proof) -> dict[str, Any]:
    """The tree of rules for a block: one node for a statement, `seq` over several."""
    if not block.statements:
        return {"rule": "skip", "line": 0, "premises": []}
    nodes = [_node(statement, proof) for statement in block]
    return nodes[0] if len(nodes) == 1 else {"rule": "seq", "line": nodes[0]["line"], "premises": nodes}


def _node(statement: Statement, proof: Proof) -> dict[str, Any]:
    rule = "skip"
    parts: list[Block] = []
    match statement:
        case Assign():
            rule = "assign"
        case Append():
            rule = "append"
        case Sample():
            rule = RULES[type(statement.law)]
        case If():
            rule = "cond-split" if statement.at in proof.split else "cond"
            parts = [statement.then, statement.orelse]
        case While():
            rule, parts = "while", [statement.body]
    return {"rule": rule, "line": statement.at, "premises": [tree_of(part, proof) for part in parts]}


def obligations_of(block: Block, proof: Proof) -> list[dict[str, Any]]:
    """What the rules of a proof demand, one line each: for people; a checker finds them itself."""
    found: list[dict[str, Any]] = []
    for statement in block:
        match statement:
            case Sample():
                found.append(
                    {"line": statement.at, "rule": RULES[type(statement.law)], "what": "the draws are coupled"}
                )
            case If():
                if statement.at not in proof.split:
                    found.append({"line": statement.at, "rule": "cond", "what": "both runs take the same branch"})
                found += obligations_of(statement.then, proof) + obligations_of(statement.orelse, proof)
            case While():
                for what in ("both runs go round together", "the variant decreases", "the invariant is kept"):
                    found.append({"line": statement.at, "rule": "while", "what": what})
                found += obligations_of(statement.body, proof)
    return found
