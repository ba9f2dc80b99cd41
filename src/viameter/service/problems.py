"""Problems: every error as one shape, with a status and a code. Texts are those of the library, which hold no data.

    {"error": {"code": "over_budget", "message": "...", "request": "5f0c...", "details": {...}}}

What the library did not raise on purpose may hold anything: it becomes one constant text, and its kind and its place in
the code go to the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from viameter.core import Loss
from viameter.errors import (
    AnswerLost,
    KeyTaken,
    LedgerBehind,
    LedgerError,
    LedgerTampered,
    LedgerUnavailable,
    OverBudget,
    SealedError,
    ViameterError,
)
from viameter.service.state import DatasetRetired, UnknownPerson

FAILED = (
    "the question failed on the data, or took too long; nothing more is said, since an error is a release. "
    "What it cost stays charged"
)
UNEXPECTED = "something went wrong here, and nothing is said of it; the log of the service has this request's number"
NO_TOKEN = (
    "a valid token is needed, as in `Authorization: Bearer vmt_...`: there is none, or it was mistyped, revoked, or "
    "has expired"
)
NOT_FOUND = "there is nothing here, or nothing that you may see"


@dataclass(eq=False)
class Problem(Exception):
    """What a reply says that is not what was asked for. Not frozen: Python writes tracebacks into what is raised."""

    status: int
    code: str
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)
    retry_after: int | None = None

    def document(self, request: str) -> dict[str, Any]:
        """The body of the reply."""
        said = {"code": self.code, "message": self.message, "request": request, "details": dict(self.details)}
        return {"error": said}


def not_found() -> Problem:
    """The same for what is not there and for what one may not see, so that names cannot be guessed."""
    return Problem(404, "not_found", NOT_FOUND)


def unauthorized() -> Problem:
    """No token, or one that opens nothing; why is not said."""
    return Problem(401, "unauthorized", NO_TOKEN)


def forbidden(needed: str) -> Problem:
    """A role that the person does not have."""
    return Problem(403, "forbidden", f"this needs a role that you do not have here: {needed}")


def problem_of(error: ViameterError) -> Problem:
    """An error of the library as a reply."""
    if isinstance(error, OverBudget):
        amounts = {name: getattr(error, name) for name in ("spent", "asked", "left", "budget")}
        details = {name: _said(loss) for name, loss in amounts.items()} | {"scope": error.scope}
        return Problem(409, "over_budget", str(error), details)
    if isinstance(error, SealedError):
        return Problem(422, "failed", FAILED)
    if isinstance(error, KeyTaken):
        return Problem(422, "key_taken", str(error))
    if isinstance(error, AnswerLost):
        return Problem(410, "answer_lost", str(error), {"entry": error.entry, "at": error.at})
    if isinstance(error, DatasetRetired):
        return Problem(409, "retired", str(error), asdict(error.retired))
    if isinstance(error, UnknownPerson):
        return Problem(404, "not_found", str(error))
    if isinstance(error, LedgerTampered | LedgerBehind):
        return Problem(503, "ledger_unsound", "the ledger does not hold together: nothing is charged or released")
    if isinstance(error, LedgerUnavailable):
        return Problem(503, "ledger_unavailable", "the ledger cannot be written now: try again", retry_after=5)
    if isinstance(error, LedgerError):
        return Problem(409, "refused", str(error))
    return Problem(422, "invalid", str(error))


def _said(loss: Any) -> Any:
    return {**loss.to_json(), "text": repr(loss)} if isinstance(loss, Loss) else repr(loss)
