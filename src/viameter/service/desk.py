"""The desk: where questions are released. One way to spend, whoever asks: the session's, charged to the ledger.

Each dataset has a lane of its own: questions wait there, not charged, until its engine is free and answers.
Every release has a key. While a question of that key runs here, whoever asks the same waits for the same answer; after
it, the ledger has it. A question that nobody waits for any more goes on: it is paid for.
"""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from viameter.errors import (
    AnswerLost,
    KeyTaken,
    LedgerUnavailable,
    NoTheorem,
    OverBudget,
    ParameterError,
    QueryableEnded,
    SealedError,
    SourceUnavailable,
    ViameterError,
)
from viameter.ledger import Ledger, Line, Outcome
from viameter.ledger.requests import NowPaysToo
from viameter.service.access import Action, Person
from viameter.service.catalog import Catalog
from viameter.service.config import Limits
from viameter.service.documents import answer_document, preview_document, problems_in_words
from viameter.service.lanes import Lane
from viameter.service.least import is_less
from viameter.service.problems import NOTHING_SPENT, UNREACHABLE_ANSWER, Problem, explained, not_found, unavailable
from viameter.service.state import Asked, DatasetRetired, State, now
from viameter.service.watching import Metrics, describe_error, log
from viameter.tables.check import check
from viameter.tables.cost import Cost, cost_from_json
from viameter.tables.document import question_from_json
from viameter.tables.engines import ready
from viameter.tables.table import Query, Table

MOST_QUESTIONS = 512
"""How many questions are kept as they were read, so that asking again does not read and compile them again."""
PREVIEWS = 8
"""How many previews of one dataset are made, or wait to be."""
PATIENCE = 10.0
"""Seconds for which the engine of a dataset is waited for that works on a query which nobody waits for any more."""
RETRY = 1.0
"""Seconds after which a dataset that could not be reached is tried again: many who wait are told so together."""
LONG_KNOWN = 5.0
"""Seconds for which it is known whether a dataset can be reached."""
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
    has_engine: threading.Event = field(default_factory=threading.Event)
    """Set before anything is charged: a question without it is not."""


class Desk:
    """Reads questions, previews them, and releases them, each dataset's by threads of its own."""

    def __init__(self, catalog: Catalog, ledger: Ledger, state: State, limits: Limits, metrics: Metrics) -> None:
        self._catalog, self._ledger, self._state, self._limits, self._metrics = catalog, ledger, state, limits, metrics
        self._jobs: dict[tuple[str, str], Job] = {}
        self._lanes: dict[str, Lane] = {}
        """By dataset; one that nobody asks has no threads."""
        self._lock = threading.Lock()
        self._read: OrderedDict[tuple[str, ...], tuple[Any, tuple[Query[Any], Cost]]] = OrderedDict()
        self._closed = self._ended = False

    def preview(self, person: str, dataset: str, document: Mapping[str, Any]) -> Future[dict[str, Any]]:
        """What a question would cost; nothing is read or spent."""

        def made() -> dict[str, Any]:
            try:
                with _not_too_deep():
                    question, cost = self._question(person, dataset, document)
                    self._require_least(dataset, question, cost)
                    return preview_document(question.preview_for(cost))
            finally:
                with self._lock:
                    lane.previews -= 1

        with self._lock:
            lane = self._lane(dataset)
            if lane.previews >= PREVIEWS:
                raise Problem(503, "busy", "too many previews are being made: try again", retry_after=1)
            lane.previews += 1
        return lane.read(person, made)

    def read(self, person: str, dataset: str, document: Mapping[str, Any], key: str) -> Future[None]:
        """Understand a question, which leaves nothing behind; at once, if it is known to be understood."""

        def understand() -> None:
            try:
                with _not_too_deep():
                    self._question(person, dataset, document)
            except (DatasetRetired, SourceUnavailable):
                if self._charged(person, key) is None:
                    raise  # what was charged before is answered again, or said to be charged
            finally:
                with self._lock:
                    lane.questions -= 1

        place = (dataset, person, json.dumps(document))
        done: Future[None] = Future()
        with self._lock:
            lane = self._lane(dataset)
            if place in self._read:
                done.set_result(None)
                return done
            self._require_room(lane)
            lane.questions += 1
        return lane.read(person, understand)

    def ask(self, person: str, dataset: str, document: Mapping[str, Any], key: str) -> Job:
        """Begin a release, or find the one that runs under the same key. It waits for nothing."""
        asked = Asked(person, key, dataset, json.loads(json.dumps(document)), now())
        with self._lock:
            job = self._jobs.get((person, key))
            if job is not None:
                if not _is_same(job.asked, asked):
                    raise KeyTaken(key)
                return job
            lane = self._lane(dataset)
            self._require_room(lane)
            job = Job(asked, Future())
            # Whoever gives up waiting cannot cancel it for others who wait, nor for the ledger.
            job.future.set_running_or_notify_cancel()
            self._jobs[person, key] = job
            lane.questions += 1
            self._metrics.in_flight.set(len(self._jobs))
        lane.readers.put(person, lambda: self._prepare(lane, job))
        return job

    def _lane(self, dataset: str) -> Lane:
        if dataset not in self._lanes:
            self._lanes[dataset] = Lane(self._limits.queries)
        return self._lanes[dataset]

    def _require_room(self, lane: Lane) -> None:
        if self._closed:
            raise _stopping()
        if lane.questions >= self._limits.queries + self._limits.waiting:
            raise Problem(503, "busy", "too many questions wait already; nothing was spent", retry_after=2)

    def _prepare(self, lane: Lane, job: Job) -> None:
        """Read a question, and let it wait for the engine of its dataset; what was charged before needs none."""
        asked = job.asked
        try:
            if self._charged(asked.by, asked.key) is None:
                with explained(NOTHING_SPENT), _not_too_deep():
                    self._question(asked.by, asked.dataset, asked.document)
                lane.engine.put(asked.by, lambda: self._work(lane, job))
                return
        except BaseException as problem:
            self._finish(lane, job, problem)
            return
        self._work(lane, job)

    def _work(self, lane: Lane, job: Job) -> None:
        """Release, and whatever comes of it is what all who wait are told."""
        result: dict[str, Any] | BaseException
        try:
            with _not_too_deep():
                result = _stopping() if self._ended else self._release(job)
        except BaseException as problem:
            result = problem
        self._finish(lane, job, result)

    def _finish(self, lane: Lane, job: Job, result: dict[str, Any] | BaseException) -> None:
        error = result if isinstance(result, BaseException) else None
        found: dict[str, Any] = {} if isinstance(result, BaseException) else result
        outcome = _outcome(error) if error is not None else "replayed" if found["replayed"] else "released"
        with self._lock:
            self._jobs.pop((job.asked.by, job.asked.key), None)
            lane.questions -= 1
            self._metrics.in_flight.set(len(self._jobs))
        self._metrics.releases.labels(outcome).inc()
        said = describe_error(error) if error is not None and outcome in ("unexpected", "unavailable") else {}
        entry = found.get("entry")
        log("release", dataset=job.asked.dataset, person=job.asked.by, outcome=outcome, entry=entry, **said)
        if error is not None:
            job.future.set_exception(error)
        else:
            job.future.set_result(found)

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
        assert answer.receipt is not None
        return {
            **_head(known or asked, answer.receipt.entry),
            "state": "released",
            "replayed": answer.receipt.replayed,
            "answer": answer_document(answer),
        }

    def _charged_and_run(self, job: Job) -> Any:
        asked = job.asked
        while True:
            # Read now, and not when it began to wait: who pays may have changed since.
            question, cost = self._question(asked.by, asked.dataset, asked.document)
            self._require_least(asked.dataset, question, cost)
            # No other question of the dataset is charged in between, which would end one of two stages.
            with self._engine(asked.dataset):
                if time.monotonic() - job.began > LONG_AGO and not self._may_ask(asked):
                    raise not_found()
                if self._question(asked.by, asked.dataset, asked.document)[0] is not question:
                    continue  # new rows, or another limit, since it was read
                job.has_engine.set()
                try:
                    return question.release_for(cost, key=asked.key)
                except NowPaysToo:
                    continue  # a limit of theirs was set since it was read

    @contextmanager
    def _engine(self, dataset: str) -> Iterator[None]:
        """The engine of a dataset, once it is free and answers: else SourceUnavailable, and nothing was charged."""
        tables, reachable = self._catalog.opened(dataset).table.session.engine_tables, self._catalog.reachable
        with self._lock:
            lane = self._lane(dataset)
        with ExitStack() as held:
            held.enter_context(lane.alone)
            if reachable.is_lost(dataset) and reachable.is_known(dataset, within=RETRY):
                raise SourceUnavailable(f"the rows of {dataset!r} could not be reached just now")
            try:
                held.enter_context(ready(tables, patience=PATIENCE))
            except SourceUnavailable:
                reachable.note(dataset, False)
                raise
            reachable.note(dataset, True)
            yield

    def probe(self) -> None:
        """Find out which datasets can be reached, of those whose engines have nothing to do; nobody waits for it."""
        reachable = self._catalog.reachable
        for dataset in self._catalog.names():
            # One that nobody asked for yet is not opened for this.
            is_used = self._catalog.is_open(dataset) or reachable.is_lost(dataset)
            if is_used and not reachable.is_known(dataset, within=LONG_KNOWN):
                with self._lock:
                    lane = self._lane(dataset)
                lane.engine.put_if_idle("", partial(self._probe, dataset))

    def _probe(self, dataset: str) -> None:
        with suppress(ViameterError), self._engine(dataset):
            pass

    def _require_least(self, dataset: str, question: Query[Any], cost: Cost) -> None:
        """Refuse to spend less than makes sense: a budget spent in crumbs is charged and written down for ever."""
        spend, least = question.plan.loss(cost), self._catalog.least_spend(dataset)
        if spend.measure == least.measure and spend != spend.measure.zero and is_less(spend, least):
            raise ParameterError(
                f"spend={spend!r} is less than may be spent here at once: give at least {least!r}, "
                f"{self._limits.least_share} of the budget"
            )

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
        try:
            table = self._catalog.opened(asked.dataset).table.replayed_for(asked.by)
        except SourceUnavailable:
            raise Problem(503, "source_unavailable", UNREACHABLE_ANSWER, retry_after=5) from None
        try:
            question, cost = _read(table, asked.document)
            answer = question.release_for(cost, key=asked.key)
        except QueryableEnded:  # of two stages, and cut off after the first
            raise AnswerLost(asked.key, request.reserved, self._ledger.time_of(request.reserved)) from None
        head = _head(asked, request.reserved)
        return {**head, "state": "released", "replayed": True, "answer": answer_document(answer)}

    def look(self, person: str, dataset: str, key: str) -> dict[str, Any]:
        """What came of a question that was asked: it runs, was released, failed, or was cut off. Nothing is spent."""
        with self._lock:
            job = self._jobs.get((person, key))
        if job is not None and job.asked.dataset == dataset:
            # The ledger is not asked: it may be what the question waits for.
            seconds, waits = time.monotonic() - job.began, not job.has_engine.is_set()
            return {**_head(job.asked, None), "state": "running", "waits": waits, "seconds": seconds}
        asked, charged = self._state.asked(person, key), self._charged(person, key)
        if asked is None or asked.dataset != dataset or charged is None:
            raise Problem(404, "not_found", "nothing was asked here under that key")
        head = _head(asked, charged.reserved)
        try:
            return self._replayed(asked)
        except SealedError:
            return {**head, "state": "failed"}
        except AnswerLost:
            return {**head, "state": "running" if self._may_still_run(charged.reserved) else "lost"}

    def outcome(self, line: Line) -> str | None:
        """What came of a charge: answered, failed, running, or lost (cut off); None for what is no charge."""
        if line.outcome is not Outcome.UNSETTLED:
            return None if line.outcome is None else str(line.outcome)
        with self._lock:
            is_here = (line.by, line.key) in self._jobs
        return "running" if is_here or self._may_still_run(line.seq) else "lost"

    def is_running_elsewhere(self, lost: AnswerLost) -> bool:
        """Whether an answer that is not there may be on its way in another process."""
        return self._may_still_run(lost.entry)

    def _may_still_run(self, reserved: int) -> bool:
        began = datetime.fromisoformat(self._ledger.time_of(reserved))
        return (datetime.now(UTC) - began).total_seconds() < self._limits.seconds + GRACE

    def _charged(self, person: str, key: str) -> Any:
        return self._ledger.request(person, key)

    def _question(self, person: str, dataset: str, document: Mapping[str, Any]) -> tuple[Query[Any], Cost]:
        """A question as it was written, read; the same one again, as long as it is kept."""
        table = self._catalog.asked_by(dataset, person)
        place = (dataset, person, json.dumps(document))
        with self._lock:
            found = self._read.get(place)
            # Another table, of which somebody else pays too, makes another question of it.
            if found is not None and found[0] is table:
                self._read.move_to_end(place)
                return found[1]
        read = _read(table, document)
        _require_size(read[0])
        with self._lock:
            self._read[place] = (table, read)
            while len(self._read) > MOST_QUESTIONS:
                self._read.popitem(last=False)
        return read

    def close(self, *, seconds: float) -> int:
        """Take no more, and wait for what runs; how many were not done by then. Those stay charged."""
        with self._lock:
            self._closed = True
            waiting = list(self._jobs.values())
        until = time.monotonic() + seconds
        for job in waiting:
            _wait(job.future, max(until - time.monotonic(), 0))
        self._ended = True  # what waits is not begun any more
        return sum(not job.future.done() for job in waiting)


@contextmanager
def _not_too_deep() -> Iterator[None]:
    """Refuse what is nested so deeply that Python gives up."""
    try:
        yield
    except RecursionError:
        raise ParameterError("the question is nested too deeply: write it with fewer parts") from None


def _read(table: Table, document: Mapping[str, Any]) -> tuple[Query[Any], Cost]:
    """The question of a document, of a table, and what it may cost."""
    written, cost = question_from_json(document), cost_from_json(document)
    try:
        question = table.query(written)
    except (ParameterError, NoTheorem) as first:
        found = check(written, table.schema, unit=table.unit, measure=table.backend.measure)
        raise Problem(422, "invalid", str(first), {"problems": problems_in_words(written, found)}) from None
    cost.require(question.plan.OPTIONS, question)
    return question, cost


def _require_size(question: Query[Any]) -> None:
    """Refuse a question whose answer would be too large to be kept and sent again and again."""
    cells = question.plan.cells
    if cells > MOST_CELLS:
        raise ParameterError(
            f"an answer has at most {MOST_CELLS} cells here, and this one {cells}: groups times aggregates; "
            "ask for fewer keys or aggregates at a time"
        )


def _stopping() -> Problem:
    return Problem(503, "shutting_down", "the service is being stopped; nothing was spent", retry_after=10)


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
        "waits": None,
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
