"""What is said of a program that was neither proved nor refuted: what is missing, where, and what may help."""

from __future__ import annotations

from viameter.logic.present.listing import file_lines, short_name
from viameter.logic.present.model import runs
from viameter.logic.present.parts import Listing, Paragraph, Part, Points
from viameter.logic.present.proved import MEASURES, stated
from viameter.logic.verdict import Verdict

NOTHING = "UNKNOWN says nothing about the program: it may keep to the bound or not."
HINTS = (
    'a fact that a loop keeps, at the top of its body: vm.invariant("i<1> == i<2>")',
    'how far the second run\'s draw is moved: vm.lap(2 / eps, shift="1"), or shift="q<1>[i<1>] - q<2>[i<2>]"',
    'what is always so of public inputs: @vm.program(..., requires="N >= 1")',
    "more time: verify(program, ..., seconds=300), or --seconds 300",
)
ANOTHER = "a larger bound, or none: then the least one that can be proved is looked for"
GIVEN = "a bound: then a counterexample to it is looked for, too"


def unknown_sentence(verdict: Verdict) -> str:
    """That neither a proof nor a witness was found."""
    when = f" when {verdict.adjacency}" if verdict.adjacency else ""
    if verdict.bound is None:
        return f"no bound was found for what {verdict.program} costs{when}. {NOTHING}"
    measure = MEASURES.get(verdict.measure, verdict.measure)
    return (
        f"neither a proof nor a counterexample was found that {verdict.program} costs at most {stated(verdict)} in "
        f"{measure}{when}. {NOTHING}"
    )


def unknown_parts(verdict: Verdict) -> tuple[Part, ...]:
    """The obligation that failed, its line, two runs for which it fails, and what to try."""
    parts: list[Part] = []
    missing = verdict.missing
    if missing is not None:
        where, shown = place_of(verdict)
        parts.append(Paragraph(f"What is missing{where}: {missing.what}."))
        if shown:
            parts.append(Listing("", (shown,)))
        if missing.model:
            parts += runs(missing.model)
            parts.append(Paragraph(_MODEL))
    if verdict.evidence is not None:
        parts.append(Paragraph(f"Evidence from samples, which is no refutation: {verdict.evidence}"))
    parts.append(Paragraph(f"Looked for {verdict.seconds:.1f} s."))
    hints = (*HINTS, GIVEN if verdict.bound is None else ANOTHER)
    return (*parts, Points("What you may try:", hints))


_MODEL = (
    "These values agree with all that was found out about the runs at this place; it may be that no real pair of runs "
    "comes there."
)


def place_of(verdict: Verdict) -> tuple[str, str]:
    """Where the missing obligation stands, as text to put after "missing", and the line of the user's file."""
    file, source = verdict.source
    line = 0 if verdict.missing is None else verdict.missing.line
    if not line:
        return "", ""
    there = source.get(line)
    if not file or there is None:
        return f" (line {line} of the core text)", ""
    written = file_lines(file)
    shown = f"{there}  {written[there - 1].strip()}" if 0 < there <= len(written) else ""
    return f" ({short_name(file)}, line {there})", shown
