"""Releasing: one key for each release. It is sent until there is an answer, and charged once, however often that is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from viameter.errors import AnswerLost, LedgerUnavailable, ParameterError, SealedError, ServiceError, plain
from viameter.sampling.entropy import SYSTEM
from viameter.service.client.waiting import Patience, Pauses, Waiting, waiting_for
from viameter.service.client.wire import Reply, Wire, insist, written

WAIT = 2
"""Seconds after which the service is to reply, whatever it knows by then."""
KEY = re.compile(r"[\x21-\x7e]{1,200}")
"""A key: signs that can be seen, and no slash, since an answer is had again by its key's address."""


def fresh_key() -> str:
    """128 random bits as text: no two releases have the same one."""
    return bytes(SYSTEM.stream(16).take(16)).hex()


def read_key(key: object) -> str:
    """A key as somebody chose it."""
    if not isinstance(key, str) or not KEY.fullmatch(key) or not key.strip("."):
        raise ParameterError(f"key={plain(key)}: expected 1 to 200 signs of ASCII without spaces")
    return key


def release(wire: Wire, dataset: str, question: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Ask under a key, and wait for the answer."""
    place, body = f"/datasets/{quote(dataset, safe='')}/releases", written(question)
    headers = {"Idempotency-Key": key, "Prefer": f"wait={WAIT}"}
    patience, pauses = Patience(wire.patience, wire.time), Pauses(wire.time)

    def ask() -> Reply:
        return wire.once("POST", place, body=body, headers=headers, key=key)

    with _named(key), waiting_for(dataset, wire.time, wire.progress) as waiting:
        while True:
            found: dict[str, Any] | None = insist(ask, patience, waiting).document
            if found is not None and found.get("state") == "running":
                found = _look_until_done(wire, f"{place}/{quote(key, safe='')}", key, patience, waiting)
            if found is not None:
                return _released(found, key)
            # Nothing stands under the key: it was refused while it waited, and asking again says why.
            waiting.tell()
            pauses.pause()


def look(wire: Wire, dataset: str, key: str, *, by: str | None = None) -> dict[str, Any]:
    """The answer to a question that was asked before, under its key; it is waited for if the question still runs."""
    place = f"/datasets/{quote(dataset, safe='')}/releases/{quote(key, safe='')}"
    query = {} if by is None else {"by": by}
    patience = Patience(wire.patience, wire.time)
    with _named(key), waiting_for(dataset, wire.time, wire.progress) as waiting:
        found = _look_until_done(wire, place, key, patience, waiting, query)
    if found is None:
        raise ServiceError(f"nothing was asked of {dataset!r} under key={key!r}", code="not_found", status=404)
    return _released(found, key)


def _look_until_done(
    wire: Wire, place: str, key: str, patience: Patience, waiting: Waiting, query: Mapping[str, str] | None = None
) -> dict[str, Any] | None:
    """What came of a question once it does not run any more; None if nothing was asked under the key."""
    pauses = Pauses(wire.time)
    while True:
        try:
            reply = insist(lambda: wire.once("GET", place, query=query, key=key), patience, waiting)
        except ServiceError as problem:
            if problem.code != "not_found":
                raise
            return None
        found: dict[str, Any] = reply.document
        if found.get("state") != "running":
            return found
        # However long it takes: the service ends what takes too long, and says so.
        waiting.tell("it waits for the engine; nothing is charged yet" if found.get("waits") is True else "")
        pauses.pause()


def _released(found: dict[str, Any], key: str) -> dict[str, Any]:
    state = found.get("state")
    if state == "released" and isinstance(found.get("answer"), Mapping):
        return found
    if state == "failed":
        failed = SealedError()
        failed.add_note("what it cost stays charged")
        raise failed
    if state == "lost" and isinstance(found.get("entry"), int):
        raise AnswerLost(key, found["entry"], str(found.get("asked")))
    raise ServiceError("the reply says neither that it runs nor what came of it", code="not_understood")


@contextmanager
def _named(key: str) -> Iterator[None]:
    """Say under which key something was asked if it is not known what came of it."""
    said = (
        f"the question has key={key!r}: if it arrived it goes on, and is charged once; "
        f"table.answer({key!r}) gives its answer"
    )
    try:
        yield
    except KeyboardInterrupt as stopped:
        stopped.add_note(said)
        raise
    except ServiceError as problem:
        if problem.status is None or problem.status >= 500 or problem.code in ("not_understood", "too_many_requests"):
            problem.add_note(said)
        raise
    except LedgerUnavailable as problem:
        problem.add_note(said)
        raise
