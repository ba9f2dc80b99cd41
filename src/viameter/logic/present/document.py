"""What is said of a verdict, whichever form it is written in."""

from __future__ import annotations

from viameter.logic.present.parts import Document, Listing, Part
from viameter.logic.present.proved import proved_parts, proved_sentence
from viameter.logic.present.unknown import unknown_parts, unknown_sentence
from viameter.logic.verdict import Status, Verdict

NO_BOUND = "No pure bound holds for what {} costs: its loss is infinite"


def document_of(verdict: Verdict) -> Document:
    """The document about a verdict."""
    match verdict.status:
        case Status.PROVED:
            sentence, parts = proved_sentence(verdict), proved_parts(verdict)
        case Status.UNKNOWN:
            sentence, parts = unknown_sentence(verdict), unknown_parts(verdict)
        case Status.REFUTED:
            sentence, parts = _refuted(verdict)
    return Document(str(verdict.status), sentence, parts)


def _refuted(verdict: Verdict) -> tuple[str, tuple[Part, ...]]:
    witness = verdict.witness
    if witness is None:
        return f"{verdict.program} costs more than {verdict.bound}.", ()
    head, *lines = witness.text().splitlines()
    said = head.removeprefix("REFUTED: ") if verdict.bound is not None else NO_BOUND.format(verdict.program)
    return f"{said}.", (
        Listing("The witness:", tuple(line.removeprefix("  ") for line in lines)),
        Listing("Paste this into Python to compute it again:", tuple(witness.paste().splitlines()), code=True),
    )
