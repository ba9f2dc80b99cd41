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

from viameter.errors import QueryableBusy, QueryableError, SealedError, ViameterError

Guard: TypeAlias = Callable[[], AbstractContextManager[Any]]
"""Entered before a guarded queryable answers; raises if it may not."""

_GUARDS: ContextVar[tuple[Guard, ...]] = ContextVar("viameter_guards", default=())


_SEALED: ContextVar[bool] = ContextVar("viameter_sealed", default=False)
"""Whether queryables that are made now hold rows: those that a measurement makes, and those that they make."""


@contextmanager
def making_sealed() -> Iterator[None]:
    """Seal the errors of every queryable that is made in this context."""
    token = _SEALED.set(True)
    try:
        yield
    finally:
        _SEALED.reset(token)


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

    __slots__ = ("__weakref__", "_guards", "_machine")

    def __init__(self, transition: Transition, *, name: str = "queryable") -> None:
        self._machine = _Machine(transition, name)
        self._guards = _GUARDS.get()

    def __call__(self, query: Any) -> Any:
        """Ask an external query."""
        machine = self._machine
        # Without guards, the lock is all that has to be held: what an odometer's query costs is this path.
        with self._held() if self._guards else machine.own():
            if machine.answering:
                raise QueryableBusy(f"{self!r} was queried while it answers another query, or is held for one")
            machine.answering = True
            try:
                return self._answer(External(query))
            finally:
                machine.answering = False

    def ask(self, query: Any) -> Any:
        """Ask an internal query: between parts of the library, not for those who hold a queryable."""
        with self._held() if self._guards else self._machine.own():
            return self._answer(Internal(query))

    @contextmanager
    def holding(self, query: Any) -> Iterator[Any]:
        """Ask an internal query, and let no other be answered until the context is left: what a guard is made of."""
        # While it is held it may be asked, but nothing may change it: not even the child that it is held for.
        with self._held() as machine, machine.busy():
            yield self._answer(Internal(query))

    def _answer(self, query: Query) -> Any:
        # What is made while this one answers is under its guards, and under those of whoever it answers for.
        if not self._guards and not _GUARDS.get():
            return self._machine.answer(self, query)
        with _under(_joined(_GUARDS.get(), self._guards)) as keep:
            return keep(self._machine.answer(self, query))

    @contextmanager
    def _held(self) -> Iterator[_Machine]:
        own = self._machine.own()
        with ExitStack() as entered:
            # Outermost first, the own lock last: every thread locks from the root towards the leaves.
            for guard in self._guards:
                entered.enter_context(guard())
            entered.enter_context(own)
            yield self._machine

    def _put_under(self, guards: tuple[Guard, ...]) -> Queryable:
        """The same queryable under these guards as well; itself if it is under them already."""
        if all(guard in self._guards for guard in guards):
            return self
        guarded = object.__new__(type(self))
        guarded._machine = self._machine
        guarded._guards = _joined(guards, self._guards)
        return guarded

    def __repr__(self) -> str:
        return f"<{self._machine.name}>"

    def _refuse_to_copy(self, *_: Any) -> NoReturn:
        raise QueryableError(f"{self!r} cannot be copied or pickled: it holds data, and a copy could spend again")

    __copy__ = __deepcopy__ = __reduce__ = __reduce_ex__ = _refuse_to_copy


class _Machine:
    """What a queryable is apart from its guards: the same for all who hold it under different ones."""

    __slots__ = ("answering", "lock", "name", "process", "sealed", "transition")

    def __init__(self, transition: Transition, name: str) -> None:
        self.transition = transition
        self.name = name
        self.lock = threading.RLock()
        self.answering = False
        self.process = os.getpid()
        self.sealed = _SEALED.get()

    def own(self) -> AbstractContextManager[Any]:
        """The lock, for the process that made this."""
        if os.getpid() != self.process:
            raise QueryableError(f"<{self.name}> was made in another process: it does not survive a fork")
        return self.lock

    def answer(self, queryable: Queryable, query: Query) -> Any:
        """Run the transition; what it raises is sealed if it may speak of rows, except for errors of this library."""
        if not self.sealed:
            return self.transition(queryable, query)
        token = _SEALED.set(True)
        passing: BaseException | None = None
        try:
            return self.transition(queryable, query)
        except KeyboardInterrupt:
            passing = KeyboardInterrupt()  # a new one: the one that came may have been raised by the transition
        except ViameterError as error:
            passing = error
        except BaseException:  # whatever a user's transition raises
            pass
        finally:
            _SEALED.reset(token)
        # Outside of the handlers, and without what the error was raised from: that may speak of rows.
        if passing is None:
            raise SealedError
        passing.__cause__ = passing.__context__ = None
        raise passing

    @contextmanager
    def busy(self) -> Iterator[None]:
        before, self.answering = self.answering, True
        try:
            yield
        finally:
            self.answering = before


@contextmanager
def guarded_by(guard: Guard | None) -> Iterator[Callable[[Any], Any]]:
    """Put every queryable that is made in this context, and those that they make, under a guard.

    The context's value is a function for what is about to leave the context: it puts queryables that were made
    elsewhere (in another thread, or before) under the same guards, also inside of lists, tuples, sets and dicts.
    """
    with _under(_GUARDS.get() if guard is None else (*_GUARDS.get(), guard)) as keep:
        yield keep


def _joined(outer: tuple[Guard, ...], own: tuple[Guard, ...]) -> tuple[Guard, ...]:
    """The guards of the context in their order, then what it lacks: one order for all, or threads wait in a circle."""
    return (*outer, *(guard for guard in own if guard not in outer))


@contextmanager
def _under(guards: tuple[Guard, ...]) -> Iterator[Callable[[Any], Any]]:
    token = _GUARDS.set(guards)
    try:
        yield lambda answer: _keep(answer, guards) if guards else answer
    finally:
        _GUARDS.reset(token)


def _keep(answer: Any, guards: tuple[Guard, ...]) -> Any:
    """The answer with every queryable in it under the guards; the same object if there is nothing to do."""
    if isinstance(answer, Queryable):
        return answer._put_under(guards)
    if isinstance(answer, dict):
        kept = {name: _keep(item, guards) for name, item in answer.items()}
        return answer if all(kept[name] is answer[name] for name in answer) else kept
    if isinstance(answer, list | tuple | set | frozenset):
        items = [_keep(item, guards) for item in answer]
        if all(item is before for item, before in zip(items, answer, strict=True)):
            return answer
        make = getattr(answer, "_make", None) or next(
            kind for kind in (list, tuple, set, frozenset) if isinstance(answer, kind)
        )
        return make(items)
    return answer
