"""What a check found: whether the certificate holds, where it fails, and what was taken on trust."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class Refused(Exception):
    """Something in a certificate does not hold; `where` is its path, below the node that is looked at."""

    def __init__(self, message: str, where: str = "") -> None:
        super().__init__(message)
        self.where = where


def in_one_line(text: str) -> str:
    """Words of a certificate as they are printed: nothing in them starts a line or moves the cursor."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that does not hold, and the place in the certificate."""

    path: str
    message: str

    def __str__(self) -> str:
        return in_one_line(f"{self.path}: {self.message}")


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that was taken from the certificate without a proof, and its place."""

    path: str
    message: str

    def __str__(self) -> str:
        return in_one_line(f"{self.path}: {self.message}")


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a check."""

    failures: tuple[Failure, ...]
    """What does not hold; empty where the certificate is good."""
    claims: tuple[Claim, ...] = ()
    """What was taken on trust: assumptions, and nodes whose number nobody can derive."""
    remarks: tuple[str, ...] = ()
    """What is sound and still worth knowing, such as a bound that is looser than need be."""
    derived: int = 0
    """How many nodes were derived again."""
    theorems: tuple[str, ...] = ()
    """The theorems by which they were derived, each once."""
    statement: str = ""
    """What was proved, in a sentence that the checker wrote; empty where the certificate fails."""
    loss: Mapping[str, Any] | None = None
    """The loss that was proved, as in the certificate; None for a distance, or where the certificate fails."""

    @property
    def ok(self) -> bool:
        """Whether everything holds that is not listed in `claims`."""
        return not self.failures

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "ok": self.ok,
            "statement": self.statement,
            "loss": None if self.loss is None else dict(self.loss),
            "derived": self.derived,
            "theorems": list(self.theorems),
            "claims": [{"path": claim.path, "message": claim.message} for claim in self.claims],
            "remarks": list(self.remarks),
            "failures": [{"path": failure.path, "message": failure.message} for failure in self.failures],
        }

    def __str__(self) -> str:
        if not self.ok:
            return "\n".join(["FAILED", *(f"  * {failure}" for failure in self.failures)])
        lines = [self.statement, f"Derived again: {self.derived}, by {', '.join(self.theorems) or 'no theorem'}."]
        if self.claims:
            lines += ["Taken on trust:", *(f"  * {claim}" for claim in self.claims)]
        if self.remarks:
            lines += ["Remarks:", *(f"  * {remark}" for remark in self.remarks)]
        return "\n".join([*lines, "OK"])
