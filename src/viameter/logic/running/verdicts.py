"""Evidence: that a program is proved, by a verdict that `verify` gave or by a certificate that is checked here and now.

No object is evidence because of its class or of what it says of itself. Both kinds of evidence come down to the text of
a certificate, and the claim is read from that; it must be of this very program, its mechanisms and its adjacency.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from viameter.errors import NoTheorem, plain
from viameter.logic.certificate import ProgramCertificate, mechanisms_of
from viameter.logic.claims import Claim
from viameter.logic.lang.core import Program
from viameter.logic.lang.text import show_program
from viameter.logic.neighbors import Neighbors


@dataclass(frozen=True, slots=True)
class Evidence:
    """A claim about a program that was proved, and the text of the certificate of its proof."""

    claim: Claim
    certificate: str

    @property
    def says(self) -> str:
        """What shows the claim."""
        return f"proof certificate {json.loads(self.certificate)['digest']}"


def proved(program_function: Any, given: Any, relations: Sequence[Neighbors]) -> Evidence:
    """What shows a program's bound: the verdict or certificate that was given, or what `verify` finds."""
    name, core = program_function.name, program_function.core
    # The prover is loaded when it is used.
    verifier = importlib.import_module("viameter.logic.verify")
    if given is None:
        given = verifier.verify(program_function)
    text = verifier.issued(given)
    if text is None:
        text = _checked(given, name)
    document = json.loads(text)
    _require_same(document, core, relations)
    return Evidence(Claim.from_json(document["claim"], core), text)


def _checked(given: Any, name: str) -> str:
    """The text of a certificate that came from anywhere, once the checker has checked it."""
    # The checker shares no code with the prover; it is loaded when it is used.
    from viameter_check.programs import check_program

    text = _text_of(given, name)
    report = check_program(text)
    if not report.ok:
        reasons = "; ".join(map(str, report.failures[:3]))
        raise NoTheorem(f"the certificate of {name} does not hold: {reasons}")
    return text


def _text_of(given: Any, name: str) -> str:
    status = getattr(given, "status", None)
    if status is not None and getattr(status, "name", "") != "PROVED":
        missing = getattr(getattr(given, "missing", None), "what", "")
        why = str(missing) or "verdict.explain() says why"
        raise NoTheorem(f"program {name} is not proved, but {getattr(status, 'name', plain(status))}: {why}")
    found = getattr(given, "certificate", None) if status is not None else given
    if isinstance(found, ProgramCertificate):
        found = found.text
    if isinstance(found, Mapping):
        found = json.dumps(dict(found))
    if isinstance(found, str):
        return found
    raise NoTheorem(
        f"verdict={plain(given)} shows nothing of {name}: expected what vm.verify gave in this process, or its "
        "certificate (verdict.certificate, or the JSON text of it), which is checked"
    )


def _require_same(document: Mapping[str, Any], program: Program, relations: Sequence[Neighbors]) -> None:
    """A proof may be of another program, of other mechanisms or of another adjacency than it is used for."""
    if document["program"] != show_program(program):
        raise NoTheorem(f"the verdict is of another program than {program.name}: verify this one")
    if _numbers(document.get("mechanisms", {})) != _numbers(mechanisms_of(program)):
        raise NoTheorem(f"the verdict on {program.name} is for other mechanisms than it calls: verify it again")
    shown = [_facts(proof["neighbors"]) for proof in document["proofs"]]
    for relation in relations:
        if _facts(relation.to_json()) not in shown:
            raise NoTheorem(
                f"the verdict on {program.name} is for another adjacency than {relation.says!r}: verify this one"
            )


def _numbers(mechanisms: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    return {name: {key: entry[key] for key in ("distance", "epsilon", "delta")} for name, entry in mechanisms.items()}


def _facts(neighbors: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in neighbors.items() if key != "says"}
