"""Verdicts: that a program is proved, that the proof is of this program and this adjacency, and what shows it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from viameter.errors import NoTheorem
from viameter.logic.lang.core import Program
from viameter.logic.lang.text import show_program
from viameter.logic.neighbors import Neighbors


def proved(program_function: Any, verdict: Any, relations: Sequence[Neighbors]) -> Any:
    """The verdict that was given, or the one that `verify` finds; it must be a proof, and of this program."""
    name = program_function.name
    if verdict is None:
        # The prover is loaded when it is used.
        verdict = importlib.import_module("viameter.logic.verify").verify(program_function)
    if verdict.status.name != "PROVED":
        raise NoTheorem(f"program {name} is not proved, but {verdict.status.name}: {_reason(verdict)}")
    document = certificate_of(verdict)
    if document is not None:
        _require_same(document, verdict, program_function.core, relations)
    return verdict


def _reason(verdict: Any) -> str:
    missing = getattr(verdict, "missing", None)
    return str(getattr(missing, "what", "")) or "verdict.explain() says why"


def certificate_of(verdict: Any) -> Mapping[str, Any] | None:
    """The certificate that a verdict comes with, as JSON values, or None."""
    certificate = getattr(verdict, "certificate", None)
    if certificate is None or isinstance(certificate, Mapping):
        return certificate
    to_json = getattr(certificate, "to_json", None)
    document = to_json() if callable(to_json) else None
    return document if isinstance(document, Mapping) else None


def says(verdict: Any) -> str:
    """What shows the claim: the certificate's digest, where there is one."""
    document = certificate_of(verdict)
    digest = None if document is None else document.get("digest")
    return f"proof certificate {digest}" if digest else "a proof without certificate"


def _require_same(document: Mapping[str, Any], verdict: Any, program: Program, relations: Sequence[Neighbors]) -> None:
    """A verdict that was given may be of another program, adjacency or claim than it is used for."""
    if document["program"] != show_program(program):
        raise NoTheorem(f"the verdict is of another program than {program.name}: verify this one")
    claim = document["claim"]
    if (claim["measure"], claim["amount"]) != (verdict.measure, str(verdict.bound)):
        raise NoTheorem(f"the verdict on {program.name} and its certificate make different claims")
    shown = [_facts(proof["neighbors"]) for proof in document["proofs"]]
    for relation in relations:
        if _facts(relation.to_json()) not in shown:
            raise NoTheorem(
                f"the verdict on {program.name} is for another adjacency than {relation.says!r}: verify this one"
            )


def _facts(neighbors: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in neighbors.items() if key != "says"}
