"""Verdicts: what was established about a program, with the proof, the witness, or what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

from viameter.logic.lang.scales import Amount

if TYPE_CHECKING:
    from viameter.logic.certificate import ProgramCertificate
    from viameter.logic.refute import Evidence, Witness
    from viameter.logic.search.prover import NotProved, Proved


class Status(IntEnum):
    """What was established, from worst to best."""

    REFUTED = 0
    """An exact witness: two adjacent inputs and an event whose probabilities are too far apart."""
    UNKNOWN = 1
    """Neither a proof nor a witness was found; nothing follows from that."""
    PROVED = 2
    """The kernel derived the claim for all adjacent inputs of any size."""

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False, weakref_slot=True)
class Verdict:
    """The outcome of verifying one program against one claim; it has no truth value: look at its `status`.

    Two verdicts are equal if they are the same object: `verify` remembers those that it gave, and no copy is evidence.
    """

    status: Status
    program: str
    bound: Amount | None
    """The claim; if none was given, the least bound that was proved."""
    adjacency: str
    measure: str = "pure"
    rho: Fraction | None = None
    delta: Fraction | None = None
    proofs: tuple[Proved, ...] = ()
    certificate: ProgramCertificate | None = field(default=None, repr=False)
    witness: Witness | None = None
    evidence: Evidence | None = None
    missing: NotProved | None = None
    tight: str = ""
    """Whether a witness shows that the bound cannot be lower, in a sentence."""
    seconds: float = field(default=0.0, compare=False)
    source: tuple[str, Mapping[int, int]] = field(default=("", {}), repr=False, compare=False)

    def __bool__(self) -> NoReturn:
        raise TypeError("a Verdict has three values, not two: compare verdict.status with Status.PROVED")

    def __copy__(self) -> Verdict:
        return replace(self)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Verdict cannot be pickled, since only the process that verified knows it for its own: keep "
            "verdict.certificate.text, which anybody can check, or verdict.to_json()"
        )

    def __repr__(self) -> str:
        if self.bound is None and self.status is Status.REFUTED:
            return f"<{self.status}: no pure bound holds for what {self.program} costs when {self.adjacency}>"
        if self.bound is None:
            return f"<{self.status}: no bound was found for what {self.program} costs when {self.adjacency}>"
        return f"<{self.status}: {self.program} costs at most {self.bound} when {self.adjacency}>"

    def explain(self) -> str:
        """The proof as a tree of rules, the witness, or the obligation that is missing, as text."""
        from viameter.logic.present.text import explained

        return explained(self)

    def to_html(self) -> str:
        """The same as HTML."""
        from viameter.logic.present.html import as_html

        return as_html(self)

    def to_latex(self) -> str:
        """The proof tree as LaTeX."""
        from viameter.logic.present.latex import as_latex

        return as_latex(self)

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_json(self) -> dict[str, Any]:
        """What `viameter verify --json` prints of it."""
        found: dict[str, Any] = {
            "program": self.program,
            "status": str(self.status),
            "bound": None if self.bound is None else str(self.bound),
            "measure": self.measure,
            "adjacency": self.adjacency,
            "seconds": round(self.seconds, 3),
        }
        if self.delta is not None:
            found["delta"] = str(self.delta)
        if self.tight:
            found["tight"] = self.tight
        if self.witness is not None:
            found["witness"] = self.witness.to_json()
        if self.missing is not None:
            # The line of the file, or of the core text where there is no file.
            line = self.source[1].get(self.missing.line, self.missing.line) or None
            found["missing"] = {"what": self.missing.what, "line": line}
        return found
