"""Recording: answers of what a request spawned, stored in order before they leave; and the same again from the record.

The whole loss of an interactive measurement is charged when it is spawned, so its answers cost nothing more. What it
holds (noise drawn once, say) ends with its process; the answers that were stored can be had again, in their order.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from viameter.composition import FilterMeter, Meter
from viameter.core import Measurement, Queryable
from viameter.core.deadlines import run_by
from viameter.core.measurement import PostProcessing
from viameter.errors import FormatError, QueryableEnded, QueryableError, SealedError, ViameterError
from viameter.ledger.book import Request, StoredAnswer
from viameter.ledger.chain import digest
from viameter.ledger.codec import decode, encode
from viameter.ledger.identity import describe, without_addresses
from viameter.ledger.requests import require_turn
from viameter.ledger.scopes import Scope

if TYPE_CHECKING:
    from viameter.ledger.ledger import Ledger


_PUBLIC = frozenset(name for kind in (Meter, FilterMeter) for name in vars(kind) if not name.startswith("_"))


class Recorder:
    """The queryables of one request, by number, and how many answers of theirs were stored."""

    def __init__(
        self, ledger: Ledger, request: Request, scopes: Sequence[Scope] = (), limit: float | None = None
    ) -> None:
        self._ledger = ledger
        self._request = request
        # Where answers may not be interleaved, what is spawned answers until its scope is charged again.
        self._sequential = [scope.name for scope in scopes if not scope.interleaves]
        self._periods = {scope.name: scope.period for scope in scopes if scope.terms.renews is not None}
        self._limit = limit
        self._spawned: list[Queryable] = []
        self._stored = 1  # the answer of the request itself is number 0
        self._lock = threading.RLock()

    def place(self, queryable: Queryable) -> int:
        """The number of a queryable that is about to leave."""
        self._spawned.append(queryable)
        return len(self._spawned) - 1

    def find(self, number: int) -> Recorded:
        """A queryable as it leaves: whatever it answers is stored first."""
        return Recorded(self, number, self._spawned[number])

    def answer(self, number: int, query: Any) -> Any:
        """Ask a queryable, store what it answers, and return what was stored, processed as was asked for."""
        bare, processing = without_processing(query)
        with self._lock:
            asked = describe_query(number, bare)
            self._require_turn()
            try:
                content = run_by(self._limit, lambda: self._asked(number, bare))
            except KeyboardInterrupt:
                raise
            except BaseException:
                content = None  # what failed on rows, or was late, is an answer too
            if isinstance(content, ViameterError):
                raise content  # a refusal is none: nothing ran, and it says nothing of rows
            stored = self._ledger.record(
                self._request, self._stored, asked, content, sequential=self._sequential, periods=self._periods
            )
            self._stored += 1
        return _processed(_read(stored, self), processing)

    def _require_turn(self) -> None:
        """Before anything is asked; and again in the transaction that stores the answer."""
        scopes = {name: self._ledger.scope(name) for name in (*self._sequential, *self._periods)}
        require_turn(scopes, self._request.reserved, self._sequential, self._periods)

    def _asked(self, number: int, query: Any) -> bytes | ViameterError | None:
        try:
            return self._written(self._spawned[number](query))
        except SealedError:
            return None
        except ViameterError as refused:
            return refused

    def _written(self, given: Any) -> bytes | None:
        try:
            return encode(given, place=self.place)
        except Exception:  # what cannot be stored has failed: of which kind it is may depend on rows
            return None


class Recorded:
    """A queryable whose answers are stored in a ledger before they leave."""

    def __init__(self, recorder: Recorder, number: int, queryable: Queryable) -> None:
        self._recorder = recorder
        self._number = number
        self._queryable = queryable

    def __call__(self, query: Any) -> Any:
        """Ask; the answer is stored, then returned."""
        return self._recorder.answer(self._number, query)

    def __getattr__(self, name: str) -> Any:
        # What a meter tells of losses and budgets, which are public. Nothing else: it could answer unrecorded.
        if name not in _PUBLIC:
            raise AttributeError(f"{self!r} has no {name!r}: it is asked by calling it")
        return getattr(self._queryable, name)

    def __repr__(self) -> str:
        return f"<recorded {self._queryable!r}>"

    def _refuse_to_copy(self, *_: Any) -> Any:
        raise QueryableError(f"{self!r} cannot be copied or pickled: it holds data, and a copy could answer again")

    __copy__ = __deepcopy__ = __reduce__ = __reduce_ex__ = _refuse_to_copy


class Replay:
    """The stored answers of what a request spawned, in the order in which they were given."""

    def __init__(self, answers: Sequence[StoredAnswer]) -> None:
        self._answers = list(answers)
        self._next = 0
        self._lock = threading.RLock()

    def find(self, number: int) -> Replayed:
        """A queryable of which only answers are left."""
        return Replayed(self, number)

    def answer(self, number: int, query: Any) -> Any:
        """The answer that was stored for the next query, if it is the same one."""
        bare, processing = without_processing(query)
        with self._lock:
            known = self._answers[self._next] if self._next < len(self._answers) else None
            if known is None or known.query != describe_query(number, bare):
                raise QueryableEnded(
                    "what was spawned under this key lives in the handle that spawned it, and ends with its process: "
                    f"the {len(self._answers)} answers that it gave can be had again, for the same queries in the same "
                    "order, and no others"
                )
            self._next += 1
            return _processed(_read(known, self), processing)


class Replayed:
    """What is left of a queryable: its answers."""

    def __init__(self, replay: Replay, number: int) -> None:
        self._replay = replay
        self._number = number

    def __call__(self, query: Any) -> Any:
        """The answer that was stored, for the same query at the same turn."""
        return self._replay.answer(self._number, query)

    def __repr__(self) -> str:
        return "<stored answers of a queryable>"


def without_processing(query: Any) -> tuple[Any, list[PostProcessing]]:
    """A measurement without what is done to its release, and that: it is done to what was stored, outside.

    Within the queryable, an error that it raises could carry the release away before it is stored.
    """
    if not isinstance(query, Measurement):
        return query, []
    processing = [step for step in query.after if isinstance(step, PostProcessing)]
    if not processing:
        return query, []
    return replace(query, after=tuple(step for step in query.after if step not in processing)), processing


def _processed(value: Any, processing: Sequence[PostProcessing]) -> Any:
    for step in processing:
        value = step.function(value)
    return value


def describe_query(number: int, query: Any) -> str:
    """The digest by which a query to a spawned queryable is known again; one that nothing tells apart never is."""
    try:
        shown = encode(query).decode("ascii")
    except FormatError:
        from viameter.ledger.ledger import fresh_name  # a ledger makes meters, which record

        described = describe(query)
        never = fresh_name() if described.unknown else ""
        shown = f"{without_addresses(repr(query))}\n{described.text}\n{never}"
    return digest(f"{number}\n{type(query).__qualname__}\n{shown}")


def _read(stored: StoredAnswer, spawned: Recorder | Replay) -> Any:
    if stored.content is None:
        raise SealedError
    return decode(stored.content, find=spawned.find)
