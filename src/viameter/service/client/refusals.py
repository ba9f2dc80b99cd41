"""Refusals: what a service says went wrong, as the library's own errors where there is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from viameter.errors import (
    AnswerLost,
    KeyTaken,
    LedgerError,
    LedgerUnavailable,
    OverBudget,
    ParameterError,
    SealedError,
    ServiceError,
    SourceUnavailable,
    ViameterError,
)
from viameter.measures import loss_from_json
from viameter.tables.showing.words import printable

LONGEST = 2000
"""Characters of a service's text that are shown."""
FOR_NOW = frozenset({429, 502, 503, 504})
"""Statuses of what may go well if it is asked again."""
FOR_GOOD = frozenset({"ledger_unsound"})
"""Codes under such a status that no waiting mends."""


def error_of(status: int, body: Any, *, key: str | None = None) -> ViameterError:
    """The error that a reply is; `key` is the one under which something was asked, if it was."""
    said = body.get("error") if isinstance(body, Mapping) else None
    if not isinstance(said, Mapping) or not isinstance(said.get("code"), str):
        # Whatever it is, it does not come from a service, and may hold anything.
        return ServiceError(_unknown(status), code="not_understood", status=status)
    code, message, request = said["code"], _text(said.get("message")), _text(said.get("request"))
    found = _known(code, message, said.get("details"), key)
    if found is None:
        return ServiceError(message or _unknown(status), code=_text(code), status=status, request=request)
    if request:
        found.add_note(f"request {request} of the service")
    return found


def may_go_well_later(status: int, body: Any) -> bool:
    """Whether the same request may be sent again: nothing was done, or it is done once however often it is sent."""
    said = body.get("error") if isinstance(body, Mapping) else None
    return status in FOR_NOW and not (isinstance(said, Mapping) and said.get("code") in FOR_GOOD)


def _known(code: str, message: str, given: Any, key: str | None) -> ViameterError | None:
    details: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    if code == "over_budget":
        return _over_budget(details)
    if code == "failed":
        failed = SealedError()
        failed.add_note(message)
        return failed
    if code == "key_taken" and key is not None:
        return KeyTaken(key)
    if code == "answer_lost" and key is not None and isinstance(details.get("entry"), int):
        return AnswerLost(key, details["entry"], _text(details.get("at")))
    if code == "invalid":
        return ParameterError(message)
    if code in ("refused", "ledger_unsound"):
        return LedgerError(message)
    if code == "source_unavailable":
        return SourceUnavailable(message)
    return LedgerUnavailable(message) if code == "ledger_unavailable" else None


def _over_budget(details: Mapping[str, Any]) -> OverBudget | None:
    try:
        losses = {name: loss_of(details[name]) for name in ("spent", "asked", "left", "budget")}
    except (KeyError, TypeError, ValueError):
        return None
    scope = details.get("scope")
    return OverBudget(**losses, scope=scope if isinstance(scope, str) else None)


def loss_of(document: Any) -> Any:
    """A loss as replies write it, exactly; its text is for people."""
    return loss_from_json({name: value for name, value in dict(document).items() if name != "text"})


def _text(value: Any) -> str:
    """Text of a service in one line, and not without end: it may reach a terminal."""
    return printable(value)[:LONGEST] if isinstance(value, str) else ""


def _unknown(status: int) -> str:
    if 300 <= status < 400:
        return (
            "the service replied with a redirect, which is not followed, since the token would go elsewhere: "
            "connect to the address that it is meant to be reached by"
        )
    return "the reply is none of a viameter service: look at the address, and at what stands in between"
