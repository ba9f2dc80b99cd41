"""What is said of a program that was proved: the claim, the program, and the proof of each direction."""

from __future__ import annotations

from collections.abc import Mapping

from viameter.logic.kernel.proof import Proof
from viameter.logic.lang.text import show_program
from viameter.logic.present.legend import adjacency_formulas, legend, required
from viameter.logic.present.listing import listing
from viameter.logic.present.parts import Paragraph, Part, Points, Table, Tree
from viameter.logic.present.tree import tree_of
from viameter.logic.search.prover import Proved
from viameter.logic.verdict import Verdict

NOISE = "The noise is exact discrete noise on the integers; nothing is said about floats."
MEASURES = {
    "pure": "pure differential privacy",
    "approx": "approximate differential privacy",
    "zcdp": "zero-concentrated differential privacy",
}


def stated(verdict: Verdict) -> str:
    """The bound as people read it: `eps`, `rho = 1/200`, `epsilon = 1 with delta = 1/1000000`."""
    if verdict.measure == "zcdp":
        return f"rho = {verdict.bound if verdict.rho is None else verdict.rho}"
    if verdict.measure == "approx":
        return f"epsilon = {verdict.bound} with delta = {verdict.delta}"
    return str(verdict.bound)


def proved_sentence(verdict: Verdict) -> str:
    """What was proved."""
    when = f"when {verdict.adjacency}" if verdict.adjacency else "on adjacent inputs"
    return (
        f"{verdict.program} costs at most {stated(verdict)} in {MEASURES.get(verdict.measure, verdict.measure)}, "
        f"for inputs of any size, {when}. {NOISE}"
    )


def proved_parts(verdict: Verdict) -> tuple[Part, ...]:
    """The claim's details, the program, and a tree for each direction; one that is like the first is not repeated."""
    parts: list[Part] = [_details(verdict)]
    file, source = verdict.source
    for place, proved in enumerate(verdict.proofs):
        program = proved.context.program
        first = verdict.proofs[0]
        if place == 0 or show_program(program) != show_program(first.context.program):
            if _is_moved(verdict, proved):
                parts.append(Paragraph(_MOVED))
            own = program.source if _is_moved(verdict, proved) else source
            parts.append(listing(program, file, own))
        if place == 0:
            parts.append(legend(proved))
            title = "The proof, in the first direction:" if len(verdict.proofs) > 1 else "The proof:"
            parts.append(Tree(title, tree_of(proved)))
        elif _chosen(proved) == _chosen(first):
            parts.append(Paragraph(f"{_direction(place)} ({proved.context.neighbors.says}): {_AS_BEFORE}"))
        else:
            parts.append(Tree(f"{_direction(place)} ({proved.context.neighbors.says}):", tree_of(proved)))
    return (*parts, *_trusted(verdict))


_MOVED = (
    "Some draws are made later than in the program as it was written, past statements that neither read nor change "
    "what is drawn: that means the same, and the proof is about the text below."
)
_AS_BEFORE = "the same shifts, invariants and variants prove it."


def _direction(place: int) -> str:
    return "The other direction" if place == 1 else f"Direction {place + 1}"


def _details(verdict: Verdict) -> Table:
    rows: list[tuple[str, str]] = []
    if verdict.proofs:
        context = verdict.proofs[0].context
        rows += _rows("adjacent", adjacency_formulas(context))
        rows += _rows("required", required(context))
        grids = [(f"input {entry.name}", entry.grid) for entry in context.program.inputs]
        grids.append(("the output", context.program.output_grid))
        rows += _rows("grid", tuple(f"{what} is counted in steps of {grid}" for what, grid in grids if grid != 1))
    if verdict.measure == "approx" and verdict.rho is not None:
        rows.append(("proved", f"rho = {verdict.rho}, which gives the claim by the conversion from concentrated loss"))
    if verdict.tight:
        rows.append(("tight", verdict.tight))
    rows.append(("time", f"{verdict.seconds:.1f} s"))
    if verdict.certificate is not None:
        rows.append(("certificate", verdict.certificate.digest))
    return Table("", tuple(rows))


def _rows(label: str, texts: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(label if place == 0 else "", text) for place, text in enumerate(texts)]


def _is_moved(verdict: Verdict, proved: Proved) -> bool:
    if verdict.certificate is None:
        return False
    return str(verdict.certificate.to_json()["program"]) != show_program(proved.context.program)


def _chosen(proved: Proved) -> tuple[str, Proof, Mapping[str, object]]:
    return show_program(proved.context.program), proved.proof, dict(proved.context.units)


def _trusted(verdict: Verdict) -> tuple[Part, ...]:
    """Mechanisms that the program calls, whose guarantees are taken from elsewhere."""
    called = verdict.proofs[0].context.program.mechanisms if verdict.proofs else {}
    items = tuple(f"{name}: {entry.says}" for name, entry in sorted(called.items()))
    return (Points("It rests on what the mechanisms that are called cost by their own maps:", items),) if items else ()
