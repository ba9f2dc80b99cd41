"""Problems: every error as one shape, with a status and a code. Texts are those of the library, which hold no data.

    {"error": {"code": "over_budget", "message": "...", "request": "5f0c...", "details": {...}}}

What the library did not raise on purpose may hold anything: it becomes one constant text, and its kind and its place in
the code go to the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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
    SourceUnavailable,
    ViameterError,
)
from viameter.service.state import DatasetRetired, UnknownPerson

FAILED = (
    "the question failed on the data, or took too long; nothing more is said, since an error is a release. "
    "What it cost stays charged"
)
UNREACHABLE = (
    "the rows of this dataset cannot be reached now: their server is gone, or busy with a query that does not end. "
    "Nothing was spent: try again later"
)
UNREACHABLE_ANSWER = (
    "this was charged before, and costs nothing more under the same key. What is stored of it is read with the columns "
    "of its dataset, whose rows cannot be reached now: look again later"
)
UNEXPECTED = "something went wrong here, and nothing is said of it; the log of the service has this request's number"
NO_TOKEN = (
    "a valid token is needed, as in `Authorization: Bearer vmt_...`: there is none, or it was mistyped, revoked, or "
    "has expired"
)
NOT_FOUND = "there is nothing here, or nothing that you may see"
NOTHING_SPENT = "Nothing was spent"
UNKNOWN_OUTCOME = (
    "What was being done may have been done: look before you do it again. A question is asked again under the same "
    "key, and costs nothing more"
)
TROUBLE = frozenset({"OperationalError", "InterfaceError", "InternalError", "InsufficientPrivilege"})
"""What drivers call trouble of a database itself (names of PEP 249, one of psycopg): locked, full, read-only, gone."""


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
    if isinstance(error, SourceUnavailable):
        return Problem(503, "source_unavailable", UNREACHABLE, retry_after=5)
    if isinstance(error, LedgerTampered | LedgerBehind):
        return Problem(503, "ledger_unsound", "the ledger does not hold together: nothing is charged or released")
    if isinstance(error, LedgerUnavailable):
        found = unavailable(error)
        assert found is not None
        return found
    if isinstance(error, LedgerError):
        return Problem(409, "refused", str(error))
    return Problem(422, "invalid", str(error))


def unavailable(error: BaseException, says: str = UNKNOWN_OUTCOME, **details: Any) -> Problem | None:
    """The reply to trouble of what the service reads and writes; None for an error of another kind.

    That nothing was spent is said only by callers who know it: a COMMIT whose reply was lost may have been done.

    >>> unavailable(OSError(28, "No space left on device"), NOTHING_SPENT).message
    'the tables or the data of this service cannot be read or written now: try again. Nothing was spent'
    """
    if isinstance(error, LedgerUnavailable):
        code, what = "ledger_unavailable", "the ledger"
    elif _is_trouble(error):
        code, what = "unavailable", "the tables or the data of this service"
    else:
        return None
    message = f"{what} cannot be read or written now: try again. {says}".rstrip(". ")
    return Problem(503, code, message, details, retry_after=5)


@contextmanager
def explained(says: str, **details: Any) -> Iterator[None]:
    """Trouble within as a reply that says this: `NOTHING_SPENT` around what comes before a question is charged."""
    try:
        yield
    except Exception as error:
        problem = unavailable(error, says, **details)
        if problem is None:
            raise
        raise problem from error


def _is_trouble(error: BaseException) -> bool:
    import sqlalchemy as sa

    if isinstance(error, OSError | sa.exc.TimeoutError | sa.exc.DisconnectionError | sa.exc.ResourceClosedError):
        return True
    original = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    return any(kind.__name__ in TROUBLE for kind in type(original).__mro__)


def _said(loss: Any) -> Any:
    return {**loss.to_json(), "text": repr(loss)} if isinstance(loss, Loss) else repr(loss)
