"""Recording: answers of what a request spawned, stored in order before they leave; and the same again from the record.

The whole loss of an interactive measurement is charged when it is spawned, so its answers cost nothing more. What it
holds (noise drawn once, say) ends with its process; the answers that were stored can be had again, in their order.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from viameter.core import Queryable
from viameter.errors import QueryableEnded, QueryableError, SealedError
from viameter.ledger.book import Request, StoredAnswer
from viameter.ledger.chain import digest
from viameter.ledger.codec import decode, encode

if TYPE_CHECKING:
    from viameter.ledger.ledger import Ledger


class Recorder:
    """The queryables of one request, by number, and how many answers of theirs were stored."""

    def __init__(self, ledger: Ledger, request: Request) -> None:
        self._ledger = ledger
        self._request = request
        self._spawned: list[Queryable] = []
        self._stored = 1  # the answer of the request itself is number 0
        self._lock = threading.RLock()

    @property
    def spawned(self) -> bool:
        """Whether anything was."""
        return bool(self._spawned)

    def place(self, queryable: Queryable) -> int:
        """The number of a queryable that is about to leave."""
        self._spawned.append(queryable)
        return len(self._spawned) - 1

    def find(self, number: int) -> Recorded:
        """A queryable as it leaves: whatever it answers is stored first."""
        return Recorded(self, number, self._spawned[number])

    def answer(self, number: int, query: Any) -> Any:
        """Ask a queryable, store what it answers, and return what was stored."""
        with self._lock:
            try:
                content: bytes | None = encode(self._spawned[number](query), place=self.place)
            except SealedError:
                content = None  # it failed on rows, which is an answer too; refusals are none, and pass
            asked = describe_query(number, query)
            stored = self._ledger.record(self._request, self._stored, asked, content)
            self._stored += 1
            return _read(stored, self)


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
        # What it tells of losses and budgets, which are public.
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
        with self._lock:
            known = self._answers[self._next] if self._next < len(self._answers) else None
            if known is None or known.query != describe_query(number, query):
                raise QueryableEnded(
                    "what was spawned under this key ended with its process: the answers that it gave can be had "
                    f"again, for the same queries in the same order ({len(self._answers)} of them), and no others"
                )
            self._next += 1
            return _read(known, self)


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


def describe_query(number: int, query: Any) -> str:
    """The digest by which a query to a spawned queryable is known again."""
    explained = getattr(query, "made_by", "")
    return digest(f"{number}\n{type(query).__qualname__}\n{query!r}\n{explained}")


def _read(stored: StoredAnswer, spawned: Recorder | Replay) -> Any:
    if stored.content is None:
        raise SealedError
    return decode(stored.content, find=spawned.find)
