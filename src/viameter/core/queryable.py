"""Queryable: a state machine that answers queries, may spawn others like it, and can be put under guard.

A queryable has hidden state (the data, what was spent) and answers one query at a time. *External* queries come from
whoever holds it. *Internal* ones come from other parts of the library: a child asking its parent for permission, a
filter asking what a query would cost.

A parent that lets only one child speak at a time gives its children a **guard**: a context manager that is entered
before each of their answers and left after it. Guards reach children of children: a queryable made while another
answers is under the guards of that one, and under those that the other adds for it. Guards are entered from the
outermost inwards and held while the child answers, so that no parent can move on in the middle of an answer.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from viameter.errors import QueryableBusy, QueryableError

Guard: TypeAlias = Callable[[], AbstractContextManager[Any]]
"""Entered before a guarded queryable answers; raises if it may not."""

_GUARDS: ContextVar[tuple[Guard, ...]] = ContextVar("viameter_guards", default=())


@dataclass(frozen=True, slots=True)
class External:
    """A query from whoever holds the queryable."""

    query: Any


@dataclass(frozen=True, slots=True)
class Internal:
    """A query from another part of the library; holders have no way to send one."""

    query: Any


Query: TypeAlias = External | Internal
Transition: TypeAlias = Callable[["Queryable", Query], Any]


class Queryable:
    """A state machine: `transition(self, query)` changes the hidden state and returns the answer.

    Several threads may share one: queries are answered one after the other. A transition may send internal queries to
    its own queryable, but no external ones. A queryable holds data, so it is not copied, pickled or carried over a
    fork: two copies could each spend what was granted once.
    """

    __slots__ = ("__weakref__", "_answering", "_guards", "_lock", "_name", "_process", "_transition")

    def __init__(self, transition: Transition, *, name: str = "queryable") -> None:
        self._transition = transition
        self._name = name
        self._guards = _GUARDS.get()
        self._lock = threading.RLock()
        self._answering = False
        self._process = os.getpid()

    def __call__(self, query: Any) -> Any:
        """Ask an external query."""
        return self._answer(External(query))

    def ask(self, query: Any) -> Any:
        """Ask an internal query: between parts of the library, not for those who hold a queryable."""
        return self._answer(Internal(query))

    @contextmanager
    def holding(self, query: Any) -> Iterator[Any]:
        """Ask an internal query, and let no other be answered until the context is left: what a guard is made of."""
        with self._held():
            yield self._transition(self, Internal(query))

    def _answer(self, query: Query) -> Any:
        with self._held():
            if isinstance(query, External):
                return self._answer_external(query)
            return self._transition(self, query)

    def _answer_external(self, query: External) -> Any:
        if self._answering:
            raise QueryableBusy(f"{self!r} was queried by its own answer to another query; ask again when it is done")
        self._answering = True
        # What is made while this one answers is under its guards, and under those of whoever it answers for.
        guards = _GUARDS.set((*(guard for guard in _GUARDS.get() if guard not in self._guards), *self._guards))
        try:
            return self._transition(self, query)
        finally:
            _GUARDS.reset(guards)
            self._answering = False

    @contextmanager
    def _held(self) -> Iterator[None]:
        if os.getpid() != self._process:
            raise QueryableError(f"{self!r} was made in another process: it does not survive a fork")
        with ExitStack() as entered:
            # Outermost first, the own lock last: every thread locks from the root towards the leaves.
            for guard in self._guards:
                entered.enter_context(guard())
            entered.enter_context(self._lock)
            yield

    def _put_under(self, guards: tuple[Guard, ...]) -> Queryable:
        """This queryable under these guards as well; itself if it is under them already."""
        missing = tuple(guard for guard in guards if guard not in self._guards)
        if not missing:
            return self
        inner = self

        def pass_on(_: Queryable, query: Query) -> Any:
            return inner._answer(query)

        outer = Queryable(pass_on, name=self._name)
        outer._guards = missing
        return outer

    def __repr__(self) -> str:
        return f"<{self._name}>"

    def _refuse_to_copy(self, *_: Any) -> NoReturn:
        raise QueryableError(f"{self!r} cannot be copied or pickled: it holds data, and a copy could spend again")

    __copy__ = __deepcopy__ = __reduce__ = __reduce_ex__ = _refuse_to_copy


@contextmanager
def guarded_by(guard: Guard | None) -> Iterator[Callable[[Any], Any]]:
    """Put every queryable that is made in this context, and those that they make, under a guard.

    The context's value is a function for what is about to leave the context: it puts queryables that were made
    elsewhere (in another thread, or before) under the same guards, also inside of lists, tuples and dicts.
    """
    guards = _GUARDS.get() if guard is None else (*_GUARDS.get(), guard)
    token = _GUARDS.set(guards)

    def keep(answer: Any) -> Any:
        if not guards:
            return answer
        if isinstance(answer, Queryable):
            return answer._put_under(guards)
        if type(answer) in (list, tuple):
            return type(answer)(keep(item) for item in answer)
        if type(answer) is dict:
            return {name: keep(item) for name, item in answer.items()}
        return answer

    try:
        yield keep
    finally:
        _GUARDS.reset(token)
