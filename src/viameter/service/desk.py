"""The desk: where questions are released. One way to spend, whoever asks: the session's, charged to the ledger.

Every release has a key. While a question of that key runs here, whoever asks the same waits for the same answer; after
it, the ledger has it. A question that nobody waits for any more goes on: it is paid for.
"""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from viameter.errors import (
    AnswerLost,
    KeyTaken,
    LedgerUnavailable,
    OverBudget,
    ParameterError,
    SealedError,
    ViameterError,
)
from viameter.ledger import Ledger
from viameter.ledger.requests import NowPaysToo
from viameter.service.access import Action, Person
from viameter.service.catalog import Catalog
from viameter.service.config import Limits
from viameter.service.documents import answer_document, preview_document
from viameter.service.problems import NOTHING_SPENT, Problem, explained, not_found, unavailable
from viameter.service.state import Asked, State, now
from viameter.service.watching import Metrics, describe_error, log
from viameter.session.purse import LAST_RELEASE
from viameter.session.selecting import SelectingQuestion
from viameter.session.written import preview_of, read_cost, read_question, release_of

MOST_QUESTIONS = 512
"""How many questions are kept as they were read, so that asking again does not read and compile them again."""
PREVIEWS = 8
"""How many previews are made at once: a large one takes seconds, and must not hold everybody else up."""
MOST_CELLS = 100_000
"""How many groups times aggregates one answer may have: it is kept in memory, and sent again for nothing."""
LONG_AGO = 1.0
"""Seconds in line after which it is looked up again whether a person may still ask."""
GRACE = 30.0
"""Seconds after a question's deadline for which another process may still be storing its answer."""


@dataclass(frozen=True, slots=True)
class Job:
    """A release that runs, or waits to."""

    asked: Asked
    future: Future[dict[str, Any]]
    began: float = field(default_factory=time.monotonic)


class Desk:
    """Reads questions, previews them, and releases them one by one, so many at once."""

    def __init__(self, catalog: Catalog, ledger: Ledger, state: State, limits: Limits, metrics: Metrics) -> None:
        self._catalog, self._ledger, self._state, self._limits, self._metrics = catalog, ledger, state, limits, metrics
        self._workers = ThreadPoolExecutor(limits.queries, thread_name_prefix="viameter-question")
        self._jobs: dict[tuple[str, str], Job] = {}
        self._lines: dict[str, deque[Job]] = {}
        """Who waits for a worker, by person; the first of the first person is next."""
        self._lock = threading.Lock()
        self._read: OrderedDict[tuple[str, ...], tuple[Any, tuple[Any, dict[str, Any]]]] = OrderedDict()
        self._previewing = threading.BoundedSemaphore(PREVIEWS)
        self._turns: dict[str, Turns] = {}
        self._closed = False

    def preview(self, person: str, dataset: str, document: Mapping[str, Any]) -> dict[str, Any]:
        """What a question would cost; nothing is read or spent."""
        if not self._previewing.acquire(blocking=False):
            raise Problem(503, "busy", "too many previews are being made: try again", retry_after=1)
        try:
            with _not_too_deep():
                question, cost = self._question(person, dataset, document)
                return preview_document(question, preview_of(question, cost))
        finally:
            self._previewing.release()

    def ask(self, person: str, dataset: str, document: Mapping[str, Any], key: str) -> Job:
        """Begin a release, or find the one that runs under the same key."""
        # What cannot be understood is refused here, and leaves nothing behind.
        with _not_too_deep():
            self._question(person, dataset, document)
        return self._begin(Asked(person, key, dataset, json.loads(json.dumps(document)), now()))

    def ask_again(self, person: str, dataset: str, document: Mapping[str, Any], key: str) -> Job | None:
        """The same at once, for what is asked again and known to be understood; None if it is not."""
        text = json.dumps(document)
        with self._lock:
            known = (dataset, person, text) in self._read
        return self._begin(Asked(person, key, dataset, json.loads(text), now())) if known else None

    def _begin(self, asked: Asked) -> Job:
        person, key = asked.by, asked.key
        with self._lock:
            job = self._jobs.get((person, key))
            if job is not None:
                if not _is_same(job.asked, asked):
                    raise KeyTaken(key)
                return job
            if self._closed:
                raise Problem(503, "shutting_down", "the service is being stopped; nothing was spent", retry_after=10)
            if len(self._jobs) >= self._limits.queries + self._limits.waiting:
                raise Problem(503, "busy", "too many questions wait already; nothing was spent", retry_after=2)
            job = Job(asked, Future())
            # Whoever gives up waiting cannot cancel it for others who wait, nor for the ledger.
            job.future.set_running_or_notify_cancel()
            self._jobs[person, key] = job
            self._lines.setdefault(person, deque()).append(job)
            self._metrics.in_flight.set(len(self._jobs))
        self._workers.submit(self._work_on_next)
        return job

    def _work_on_next(self) -> None:
        """Take the next question. People take turns, so that whoever asks much holds nobody else up for long."""
        with self._lock:
            person = next(iter(self._lines))
            line = self._lines.pop(person)
            job = line.popleft()
            if line:
                self._lines[person] = line  # behind everybody else
        self._work(job)

    def _work(self, job: Job) -> None:
        """Release, and whatever comes of it is what all who wait are told."""
        outcome, entry, result, error = "released", None, None, None
        try:
            with _not_too_deep():
                result = self._release(job)
            outcome, entry = ("replayed" if result["replayed"] else "released"), result["entry"]
        except BaseException as problem:
            error, outcome = problem, _outcome(problem)
        with self._lock:
            self._jobs.pop((job.asked.by, job.asked.key), None)
            self._metrics.in_flight.set(len(self._jobs))
        self._metrics.releases.labels(outcome).inc()
        unexpected = describe_error(error) if outcome in ("unexpected", "unavailable") and error is not None else {}
        log("release", dataset=job.asked.dataset, person=job.asked.by, outcome=outcome, entry=entry, **unexpected)
        if error is not None:
            job.future.set_exception(error)
        else:
            assert result is not None
            job.future.set_result(result)

    def _release(self, job: Job) -> dict[str, Any]:
        asked = job.asked
        with explained(NOTHING_SPENT):
            known = self._state.remember(asked)
        if known is not None:
            if not _is_same(known, asked):
                raise KeyTaken(asked.key)
            if self._charged(asked.by, asked.key) is not None:
                return self._replayed(known)
        try:
            answer = self._charged_and_run(job)
        except LedgerUnavailable:
            raise  # it may have been charged, or be charged yet by a server that went away: it is remembered
        except BaseException as problem:
            # What the ledger has under the key, if anything, is then no answer to this question.
            if isinstance(problem, KeyTaken) or self._charged(asked.by, asked.key) is None:
                self._state.forget(asked.by, asked.key)
            raise
        released = LAST_RELEASE.get()
        assert released is not None
        return {
            **_head(known or asked, released.reserved),
            "state": "released",
            "replayed": released.replayed,
            "answer": answer_document(answer),
        }

    def _charged_and_run(self, job: Job) -> Any:
        asked = job.asked
        while True:
            # Read now, and not when it began to wait: who pays may have changed since.
            question, cost = self._question(asked.by, asked.dataset, asked.document)
            with self._turn(asked.dataset, alone=isinstance(question, SelectingQuestion)):
                if time.monotonic() - job.began > LONG_AGO and not self._may_ask(asked):
                    raise not_found()
                try:
                    return release_of(question, cost, key=asked.key)
                except NowPaysToo:
                    continue  # a limit of theirs was set since it was read

    def _may_ask(self, asked: Asked) -> bool:
        """Whether a person may still ask: they may have been shut out while they waited."""
        found = self._state.person(asked.by)
        if found is None or not found["active"]:
            return False
        return Person(asked.by, frozenset(found["grants"])).may(Action.ASK, asked.dataset)

    def _replayed(self, asked: Asked) -> dict[str, Any]:
        """What the ledger has under a key; AnswerLost or SealedError if that is no answer. Nothing can be charged."""
        request = self._charged(asked.by, asked.key)
        if request.settled is None:
            raise AnswerLost(asked.key, request.reserved, self._ledger.time_of(request.reserved))
        table = self._catalog.opened(asked.dataset).table.replayed_for(asked.by)
        answer = release_of(read_question(table, asked.document), read_cost(asked.document), key=asked.key)
        head = _head(asked, request.reserved)
        return {**head, "state": "released", "replayed": True, "answer": answer_document(answer)}

    def look(self, person: str, dataset: str, key: str) -> dict[str, Any]:
        """What came of a question that was asked: it runs, was released, failed, or was cut off. Nothing is spent."""
        with self._lock:
            job = self._jobs.get((person, key))
        if job is not None and job.asked.dataset == dataset:
            return {**_head(job.asked, None), "state": "running", "seconds": time.monotonic() - job.began}
        asked, charged = self._state.asked(person, key), self._charged(person, key)
        if asked is None or asked.dataset != dataset or charged is None:
            raise Problem(404, "not_found", "nothing was asked here under that key")
        head = _head(asked, charged.reserved)
        if charged.settled is None:
            return {**head, "state": "running" if self._may_still_run(charged.reserved) else "lost"}
        try:
            return self._replayed(asked)
        except SealedError:
            return {**head, "state": "failed"}

    def is_running_elsewhere(self, lost: AnswerLost) -> bool:
        """Whether an answer that is not there may be on its way in another process."""
        return self._may_still_run(lost.entry)

    def _may_still_run(self, reserved: int) -> bool:
        began = datetime.fromisoformat(self._ledger.time_of(reserved))
        return (datetime.now(UTC) - began).total_seconds() < self._limits.seconds + GRACE

    def _charged(self, person: str, key: str) -> Any:
        return self._ledger.request(person, key)

    def _question(self, person: str, dataset: str, document: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        """A question as it was written, read; the same one again, as long as it is kept."""
        table = self._catalog.asked_by(dataset, person)
        place = (dataset, person, json.dumps(document))
        with self._lock:
            found = self._read.get(place)
            # Another table, of which somebody else pays too, makes another question of it.
            if found is not None and found[0] is table:
                self._read.move_to_end(place)
                return found[1]
        read = read_question(table, document), read_cost(document)
        _require_size(read[0])
        with self._lock:
            self._read[place] = (table, read)
            while len(self._read) > MOST_QUESTIONS:
                self._read.popitem(last=False)
        return read

    @contextmanager
    def _turn(self, dataset: str, *, alone: bool) -> Iterator[None]:
        """Let a question of two stages run without any other charge in between, which would end it."""
        with self._lock:
            turns = self._turns.setdefault(dataset, Turns())
        with turns.alone() if alone else turns.among_others():
            yield

    def close(self, *, seconds: float) -> int:
        """Take no more, and wait for what runs; how many were not done by then. Those stay charged."""
        with self._lock:
            self._closed = True
            waiting = list(self._jobs.values())
        until = time.monotonic() + seconds
        for job in waiting:
            _wait(job.future, max(until - time.monotonic(), 0))
        left = sum(not job.future.done() for job in waiting)
        self._workers.shutdown(wait=left == 0, cancel_futures=True)
        return left


class Turns:
    """Many at once, or one alone."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running = 0
        self._alone = False
        self._wanting = 0

    @contextmanager
    def among_others(self) -> Iterator[None]:
        """Beside others, and behind those who want to be alone: else they would wait for ever."""
        with self._changed:
            self._changed.wait_for(lambda: not self._alone and not self._wanting)
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """With nobody else."""
        with self._changed:
            self._wanting += 1
            try:
                self._changed.wait_for(lambda: not self._alone and not self._running)
                self._alone = True
            finally:
                self._wanting -= 1
        try:
            yield
        finally:
            with self._changed:
                self._alone = False
                self._changed.notify_all()


@contextmanager
def _not_too_deep() -> Iterator[None]:
    """Refuse what is nested so deeply that Python gives up."""
    try:
        yield
    except RecursionError:
        raise ParameterError("the question is nested too deeply: write it with fewer parts") from None


def _require_size(question: Any) -> None:
    """Refuse a question whose answer would be too large to be kept and sent again and again."""
    collecting, readings = getattr(question, "collecting", None), getattr(question, "readings", ())
    cells = 0 if collecting is None else collecting.keys.size * max(len(readings), 1)
    if cells > MOST_CELLS:
        raise ParameterError(
            f"an answer has at most {MOST_CELLS} cells here, and this one {cells}: groups times aggregates; "
            "ask for fewer keys or aggregates at a time"
        )


def _is_same(one: Asked, other: Asked) -> bool:
    """Whether two are the same question, columns that are derived in the same order, too."""
    texts = [(asked.dataset, json.dumps(asked.document)) for asked in (one, other)]
    return texts[0] == texts[1]


def _head(asked: Asked, entry: int | None) -> dict[str, Any]:
    return {
        "key": asked.key,
        "by": asked.by,
        "dataset": asked.dataset,
        "asked": asked.asked,
        "question": dict(asked.document),
        "entry": entry,
        "answer": None,
        "replayed": None,
        "seconds": None,
    }


def _outcome(error: BaseException) -> str:
    if isinstance(error, OverBudget):
        return "over_budget"
    if isinstance(error, SealedError):
        return "failed"
    if unavailable(error) is not None or (isinstance(error, Problem) and error.__cause__ is not None):
        return "unavailable"
    return "refused" if isinstance(error, ViameterError | Problem) else "unexpected"


def _wait(future: Future[Any], seconds: float) -> None:
    try:
        future.exception(timeout=seconds)
    except TimeoutError:  # late, which `done` tells; an interrupt is for whoever closes
        return
