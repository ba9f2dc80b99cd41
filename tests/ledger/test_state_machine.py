"""The whole interface in any order, with crashes in between, against fractions in a dictionary."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.ledger.clock import set_clock
from tests.ledger.conftest import SPACE

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import AnswerLost, KeyTaken, LedgerError, OverBudget, ParameterError, QueryableEnded, SealedError
from viameter.ledger import Cost, Ledger
from viameter.ledger.stores.memory import MemoryStore

WARDS = ("east", "west", "north")
PEOPLE, KEYS = ("ann", "bob"), ("k1", "k2", "k3", "k4")
AMOUNTS = tuple(Fraction(text) for text in ("0", "1/10", "1/7", "1/3", "2/5", "1", "1/1000000007"))
DATA = [3, 1, 4, 1, 5]


class Killed(BaseException):
    """The process ends here."""


@dataclass
class Book:
    """What one scope should stand at: plain fractions, one for each number of its measure."""

    cap: tuple[Fraction, ...]
    wards: bool = False
    renews: str | None = None
    day: Any = None
    earlier: list[Fraction] = field(default_factory=lambda: [Fraction(0)] * 2)
    charged: dict[str | None, list[Fraction]] = field(default_factory=dict)

    def spent_with(self, part: str | None = None, more: tuple[Fraction, ...] = ()) -> list[Fraction]:
        """One row is in one ward, so a change of it sees what asked all rows, and one ward: the costliest one."""
        found = []
        for number in range(len(self.cap)):
            sums = {name: listed[number] for name, listed in self.charged.items()}
            if more:
                sums[part] = sums.get(part, Fraction(0)) + more[number]
            found.append(sums.pop(None, Fraction(0)) + max(sums.values(), default=Fraction(0)))
        return found

    def fits(self, part: str | None, more: tuple[Fraction, ...]) -> bool:
        return all(after <= cap for after, cap in zip(self.spent_with(part, more), self.cap, strict=True))

    def charge(self, part: str | None, more: tuple[Fraction, ...]) -> None:
        listed = self.charged.setdefault(part, [Fraction(0)] * len(self.cap))
        self.charged[part] = [before + one for before, one in zip(listed, more, strict=True)]

    def started_over(self, day: Any = None) -> Book:
        lifetime = [before + now for before, now in zip(self.earlier, self.spent_with(), strict=False)]
        return replace(self, earlier=lifetime, charged={}, day=day)


@dataclass
class Asked:
    """What a request should be: what was asked, and what came of it."""

    what: Any
    reserved: Any = None
    answer: bytes | None = None
    settled: bool = False
    given: list[Any] = field(default_factory=list)
    live: Any = None


def numbers(loss: Any) -> list[Fraction]:
    return [Fraction(getattr(loss, name)) for name in loss.names]


def loss_of(amounts: tuple[Fraction, ...]) -> Any:
    return vm.pure(amounts[0]) if len(amounts) == 1 else vm.approx(*amounts)


def counting(scale: int) -> Any:
    return SPACE >> vm.count() >> vm.laplace(scale=scale)


def failing(rows: Any) -> int:
    raise ValueError(rows)


FAILING = vm.measurement(
    SPACE, function=failing, measure=vm.PureDP, privacy=lambda d: vm.pure(d / 10), trust="for tests"
)
EIGHTH = vm.Odometer(SPACE, vm.PureDP).filter(d_in=1, budget=vm.pure("1/8"))
SIXTEENTH = counting(16)


class LedgerMachine(RuleBasedStateMachine):
    """A ledger beside its oracle."""

    def __init__(self) -> None:
        super().__init__()
        self._patched = set_clock(datetime(2026, 3, 30, 22, tzinfo=UTC))
        self.clock = self._patched.__enter__()
        self.left_behind: list[Ledger] = []
        self.ledger = self.opened()
        self.books: dict[str, Book] = {}
        self.asked: dict[tuple[str, str], Asked] = {}
        self.entries = 1

    def opened(self) -> Ledger:
        raise NotImplementedError

    @initialize()
    def defined(self) -> None:
        one = (Fraction(1),)
        self.books = {
            "visits": Book(one),
            "ann": Book((Fraction(1, 2),)),
            "delta": Book((Fraction(1), Fraction(1, 100))),
            "wards": Book(one, wards=True),
            "batch": Book(one, renews="rows"),
            "daily": Book(one, renews="day", day=self.clock.time.date()),
        }
        for name, book in self.books.items():
            cut = {"kind": "partition", "parts": 3}
            parts = {"granularity": "unbounded", "cut": cut, "names": list(WARDS)} if book.wards else None
            self.ledger.define(name, loss_of(book.cap), SPACE, parts=parts, renews=book.renews, by="custodian")
            self.entries += 1

    # What the calendar does to the oracle.

    def now(self, name: str) -> Book:
        """A scope as it would be charged now; a clock that went back gives nothing back."""
        book, today = self.books[name], self.clock.time.date()
        return book.started_over(today) if book.day is not None and today > book.day else book

    @rule(hours=st.sampled_from([-30, -2, 1, 3, 25]))
    def time_passes(self, hours: int) -> None:
        self.clock.advance(hours=hours)

    # Requests by hand.

    @rule(
        names=st.lists(st.sampled_from(["visits", "ann", "delta", "wards", "batch", "daily"]), min_size=1, unique=True),
        amount=st.sampled_from(AMOUNTS),
        more=st.sampled_from([Fraction(0), Fraction(1, 300), Fraction(1, 10**9)]),
        ward=st.sampled_from([None, *WARDS]),
        by=st.sampled_from(PEOPLE),
        key=st.sampled_from(KEYS),
        query=st.sampled_from(["q", "r"]),
    )
    def reserve(
        self, names: list[str], amount: Fraction, more: Fraction, ward: str | None, by: str, key: str, query: str
    ) -> None:
        charges = {
            name: ((amount,) if name != "delta" else (amount, more), ward if name == "wards" else None)
            for name in names
        }
        costs = [Cost(name, loss_of(amounts), part) for name, (amounts, part) in charges.items()]
        what = (query, tuple(sorted((name, *charge) for name, charge in charges.items())))

        def ask() -> Any:
            return self.ledger.reserve(costs, by=by, key=key, query=query)

        known = self.asked.get((by, key))
        if known is not None:
            if known.what != what:
                with pytest.raises(KeyTaken):
                    ask()
            else:
                assert not ask().new
            return
        full = [name for name, (amounts, part) in charges.items() if not self.now(name).fits(part, amounts)]
        if full:
            with pytest.raises(OverBudget) as refused:
                ask()
            assert refused.value.scope == full[0]
            return
        reserved = ask()
        assert reserved.new
        for name, (amounts, part) in charges.items():
            self.books[name] = self.now(name)
            self.books[name].charge(part, amounts)
        self.entries += 1
        self.asked[by, key] = Asked(what, reserved)

    def waiting(self) -> list[Asked]:
        return [asked for asked in self.asked.values() if asked.reserved is not None and not asked.settled]

    @precondition(lambda self: self.waiting())
    @rule(data=st.data(), content=st.sampled_from([b"", b"\x00\xff", b"17"]))
    def commit(self, data: Any, content: bytes) -> None:
        asked = data.draw(st.sampled_from(self.waiting()))
        stored = self.ledger.commit(asked.reserved, content)
        assert stored.content == content and stored.seq == self.entries + 1
        asked.answer, asked.settled = content, True
        self.entries += 1

    @precondition(lambda self: self.waiting())
    @rule(data=st.data())
    def fail(self, data: Any) -> None:
        asked = data.draw(st.sampled_from(self.waiting()))
        self.ledger.fail(asked.reserved)
        asked.settled = True
        self.entries += 1

    @precondition(lambda self: any(asked.reserved and asked.settled for asked in self.asked.values()))
    @rule(data=st.data())
    def answer_again(self, data: Any) -> None:
        done = [asked for asked in self.asked.values() if asked.reserved and asked.settled]
        with pytest.raises(LedgerError, match="answered already"):
            self.ledger.commit(data.draw(st.sampled_from(done)).reserved, b"another")

    # Releases.

    def may_release(self, what: Any, by: str, key: str, cost: Fraction) -> bool | None:
        """Whether it is new and fits; None if its key is taken, which is seen here."""
        known = self.asked.get((by, key))
        if known is not None:
            return None
        return all(self.books[name].fits(None, (cost,)) for name in ("visits", "ann"))

    @rule(by=st.sampled_from(PEOPLE), key=st.sampled_from(KEYS), scale=st.sampled_from([3, 10, 40, 0]))
    def release(self, by: str, key: str, scale: int) -> None:
        meter = self.ledger.meter(SPACE, DATA, scopes=["visits", "ann"], by=by)
        cost, what = Fraction(1, scale or 10), ("release", scale)
        measurement = counting(scale) if scale else FAILING
        new, known = self.may_release(what, by, key, cost), self.asked.get((by, key))
        if known is not None and known.what != what:
            with pytest.raises(KeyTaken):
                meter(measurement, key=key)
        elif known is not None:
            self.see_again(by, key, lambda: meter.release(measurement, key=key))
        elif not new:
            with pytest.raises(OverBudget):
                meter(measurement, key=key)
        else:
            asked = self.charged(by, key, what, cost)
            self.entries += 2
            asked.settled = True
            if not scale:
                with pytest.raises(SealedError):
                    meter(measurement, key=key)
            else:
                asked.answer = meter.release(measurement, key=key).content

    def charged(self, by: str, key: str, what: Any, cost: Fraction) -> Asked:
        for name in ("visits", "ann"):
            self.books[name].charge(None, (cost,))
        self.asked[by, key] = Asked(what)
        return self.asked[by, key]

    @rule(
        by=st.sampled_from(PEOPLE),
        key=st.sampled_from(KEYS),
        phase=st.sampled_from(["before reserve", "after reserve", "run", "before commit", "after commit"]),
    )
    def crash_within_a_release(self, by: str, key: str, phase: str) -> None:
        if not self.may_release(None, by, key, Fraction(1, 20)):
            return
        measurement: Any = counting(20)
        if phase == "run":

            def killed(rows: Any) -> int:
                raise KeyboardInterrupt

            measurement = vm.measurement(
                SPACE, function=killed, measure=vm.PureDP, privacy=lambda d: vm.pure(d / 20), trust="for tests"
            )
        else:
            self.kill_at(*phase.split())
        with pytest.raises((Killed, KeyboardInterrupt)):
            self.ledger.meter(SPACE, DATA, scopes=["visits", "ann"], by=by)(measurement, key=key)
        if phase != "before reserve":
            asked = self.charged(by, key, "lost", Fraction(1, 20))
            self.entries += 1
            if phase == "after commit":
                self.entries += 1
                asked.settled = True
                asked.answer = self.ledger.replay(key, by=by).content
        self.crash()

    def kill_at(self, when: str, which: str) -> None:
        """End the process just before or after its next reservation, or its next answer, is on the disk."""
        writer = self.ledger._live()[2]
        write, number = writer.write, {"reserve": 1, "commit": 2}[which]
        calls = []

        def watched(writing: Any) -> Any:
            calls.append(writing)
            if len(calls) == number and when == "before":
                raise Killed
            result = write(writing)
            if len(calls) == number:
                raise Killed
            return result

        writer.write = watched  # type: ignore[method-assign]

    # Interactive releases.

    @rule(by=st.sampled_from(PEOPLE), key=st.sampled_from(KEYS))
    def spawn(self, by: str, key: str) -> None:
        if not self.may_release("filter", by, key, Fraction(1, 8)):
            return
        meter = self.ledger.meter(SPACE, DATA, scopes=["visits", "ann"], by=by)
        asked = self.charged(by, key, "filter", Fraction(1, 8))
        released = meter.release(EIGHTH, key=key)
        asked.answer, asked.settled, asked.live = released.content, True, released.value
        self.entries += 2

    def alive(self) -> list[Asked]:
        return [asked for asked in self.asked.values() if asked.live is not None]

    @precondition(lambda self: self.alive())
    @rule(data=st.data())
    def ask_within(self, data: Any) -> None:
        asked = data.draw(st.sampled_from(self.alive()))
        if len(asked.given) == 2:
            with pytest.raises(OverBudget):
                asked.live(SIXTEENTH)
            return
        asked.given.append(asked.live(SIXTEENTH))
        self.entries += 1

    # Budgets.

    @rule(name=st.sampled_from(["visits", "ann", "wards", "daily", "batch"]), to=st.sampled_from(AMOUNTS))
    def set_budget(self, name: str, to: Fraction) -> None:
        book = self.now(name)
        if book.spent_with()[0] > to:
            with pytest.raises(ParameterError, match="cannot be lowered"):
                self.ledger.set_budget(name, vm.pure(to), why="decided")
            return
        self.ledger.set_budget(name, vm.pure(to), why="decided")
        self.books[name] = replace(book, cap=(to,))
        self.entries += 1

    @rule(name=st.sampled_from(["visits", "batch", "daily"]))
    def renew(self, name: str) -> None:
        if name != "batch":
            with pytest.raises(ParameterError, match="does not start over when new rows arrive"):
                self.ledger.renew(name, why="new rows")
            return
        self.ledger.renew(name, why="new rows")
        self.books[name] = self.books[name].started_over()
        self.entries += 1

    # Processes end.

    @rule()
    def crash(self) -> None:
        self.left_behind.append(self.ledger)
        self.ledger = self.opened()
        for asked in self.asked.values():
            asked.reserved = asked.live = None

    @rule()
    def close_and_open(self) -> None:
        self.ledger.close()
        self.ledger = self.opened()
        for asked in self.asked.values():
            asked.live = None

    # What is always so.

    def see_again(self, by: str, key: str, again: Any) -> None:
        asked = self.asked[by, key]
        if not asked.settled:
            with pytest.raises(AnswerLost):
                again()
        elif asked.answer is None:
            with pytest.raises(SealedError):
                again()
        elif asked.what == "filter" or asked.what[0] == "release" or asked.what == "lost":
            released = again()
            assert released.replayed and released.content == asked.answer
            if asked.what == "filter":
                assert [released.value(SIXTEENTH) for _ in asked.given] == asked.given
                with pytest.raises(QueryableEnded):
                    released.value(SIXTEENTH)
        else:
            (stored,) = self.ledger.stored(self.ledger.store.request(by, key))  # type: ignore[arg-type]
            assert stored.content == asked.answer

    @invariant()
    def amounts_are_those_of_the_oracle(self) -> None:
        for name in self.books:
            book = self.now(name)
            scope, spent = self.ledger.scope(name), book.spent_with()
            assert numbers(scope.spent) == spent and numbers(scope.cap) == list(book.cap)
            assert all(one <= cap for one, cap in zip(spent, book.cap, strict=True))
            assert numbers(scope.left) == [cap - one for one, cap in zip(spent, book.cap, strict=True)]
            assert numbers(scope.lifetime) == [a + b for a, b in zip(book.earlier, spent, strict=False)]

    @invariant()
    def the_chain_grows_by_what_was_written(self) -> None:
        assert self.ledger.head.seq == self.entries

    @invariant()
    def answers_are_the_same_again(self) -> None:
        if self.asked:
            by, key = list(self.asked)[self.entries % len(self.asked)]
            self.see_again(by, key, lambda: self.ledger.replay(key, by=by))

    @rule()
    def read_it_all(self) -> None:
        lines = ledgers.history(self.ledger)
        assert [line.seq for line in lines] == list(range(1, self.entries + 1))
        ledgers.verify(self.ledger).require()

    def teardown(self) -> None:
        try:
            self.read_it_all()
            for by, key in self.asked:
                self.see_again(by, key, lambda key=key, by=by: self.ledger.replay(key, by=by))
        finally:
            self._patched.__exit__(None, None, None)
            for ledger in (*self.left_behind, self.ledger):
                ledger.close()


class InMemory(LedgerMachine):
    """Processes that end leave the store behind."""

    def opened(self) -> Ledger:
        if not hasattr(self, "store"):
            self.store = MemoryStore()
        made = Ledger(lambda: self.store)
        made.begin(by="custodian")
        return made


class OnDisk(LedgerMachine):
    """A file, its witness beside it."""

    folder: ClassVar[Path]

    def opened(self) -> Ledger:
        if not hasattr(self, "path"):
            self.path = Path(tempfile.mkdtemp(dir=self.folder)) / "budget.db"
        return ledgers.open(self.path, by="custodian")


NORMAL = settings(stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
LONG = settings(NORMAL, max_examples=400, stateful_step_count=60)


@pytest.fixture
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    OnDisk.folder = tmp_path
    return {"memory": InMemory, "sqlite": OnDisk}[request.param]


@pytest.mark.parametrize("machine", ["memory", "sqlite"], indirect=True)
def test_any_order_of_anything_agrees_with_fractions(machine: Any) -> None:
    run(machine, settings(NORMAL, max_examples=15 if machine is OnDisk else 60))


@pytest.mark.long
@pytest.mark.parametrize("machine", ["memory", "sqlite"], indirect=True)
def test_any_order_of_anything_agrees_with_fractions_for_longer(machine: Any) -> None:
    run(machine, LONG)


def run(machine: Any, how: settings) -> None:
    run_state_machine_as_test(machine, settings=how)
