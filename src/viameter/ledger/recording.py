"""Recording: answers of what a request spawned, stored in order before they leave; and the same again from the record.

The whole loss of an interactive measurement is charged when it is spawned, so its answers cost nothing more. What it
holds (noise drawn once, say) ends with its process; the answers that were stored can be had again, in their order.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from viameter.composition import Filter, FilterMeter, Meter
from viameter.core import Queryable, Recipe
from viameter.core.computation import Computation
from viameter.core.recipe import Step
from viameter.errors import FormatError, QueryableEnded, QueryableError, SealedError
from viameter.ledger.book import Request, StoredAnswer
from viameter.ledger.chain import digest
from viameter.ledger.codec import decode, encode

if TYPE_CHECKING:
    from viameter.ledger.ledger import Ledger


_PUBLIC = frozenset(name for kind in (Meter, FilterMeter) for name in vars(kind) if not name.startswith("_"))


class Recorder:
    """The queryables of one request, by number, and how many answers of theirs were stored."""

    def __init__(self, ledger: Ledger, request: Request, sequential: Sequence[str] = ()) -> None:
        self._ledger = ledger
        self._request = request
        self._sequential = sequential
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
        """Ask a queryable, store what it answers, and return what was stored."""
        with self._lock:
            asked = describe_query(number, query)
            try:
                given = self._spawned[number](query)
            except SealedError:
                content = None  # it failed on rows, which is an answer too; refusals are none, and pass
            else:
                content = self._written(given)
            stored = self._ledger.record(self._request, self._stored, asked, content, sequential=self._sequential)
            self._stored += 1
            return _read(stored, self)

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
    try:
        shown = encode(query).decode("ascii")
    except FormatError:
        shown = f"{query!r}\n{describe_whole(query)}"
    return digest(f"{number}\n{type(query).__qualname__}\n{shown}")


def describe_whole(asked: Any) -> str:
    """A computation with all of its parameters: its own text is for people, and leaves out long ones.

    >>> import viameter as vm
    >>> describe_whole(vm.filter(vm.is_in([1, 2])) >> vm.count())
    'filter(predicate=is_in([1, 2])) >> count()'
    """
    if isinstance(asked, Computation):
        return " >> ".join([repr(asked.input_space), *map(_describe_step, asked.steps)])
    if isinstance(asked, Recipe):
        return " >> ".join(map(describe_whole, asked.steps))
    if isinstance(asked, Step):
        named = (f"{name}={describe_whole(value)}" for name, value in asked.parameters)
        return f"{asked.constructor.name}({', '.join(named)})"
    if isinstance(asked, tuple | list):
        return f"[{', '.join(map(describe_whole, asked))}]"
    if isinstance(asked, set | frozenset):
        return f"{{{', '.join(sorted(map(describe_whole, asked)))}}}"
    if isinstance(asked, Mapping):
        return f"{{{', '.join(f'{describe_whole(name)}: {describe_whole(held)}' for name, held in asked.items())}}}"
    # Functions by their name: where they are in memory is another place in every process.
    return str(asked.__qualname__) if inspect.isroutine(asked) or isinstance(asked, type) else repr(asked)


def _describe_step(step: Computation) -> str:
    if step.identity:
        return describe_whole(step.identity[0])
    if isinstance(step, Filter):
        return f"{step!r} {step.terms!r} convert={step.odometer.convert}"
    return repr(step)


def _read(stored: StoredAnswer, spawned: Recorder | Replay) -> Any:
    if stored.content is None:
        raise SealedError
    return decode(stored.content, find=spawned.find)
