"""What a question is known by: its parameters, what its functions do, and what its caller says; never a name."""

from __future__ import annotations

import functools
import operator
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.ledger.conftest import SPACE
from tests.processes import in_clean_process

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import KeyTaken, LedgerError, ParameterError, QueryableEnded
from viameter.ledger import Ledger
from viameter.ledger.identity import describe
from viameter.ledger.recording import describe_query

COUNT = SPACE >> vm.count() >> vm.laplace(scale=10)


@pytest.fixture
def book() -> Iterator[Ledger]:
    made = ledgers.in_memory()
    made.define("visits", vm.pure(1), SPACE)
    yield made
    ledgers.verify(made).require()


def own(function: Any) -> Any:
    return vm.measurement(
        SPACE,
        function=function,
        measure=vm.PureDP,
        privacy=lambda d: vm.pure("1/10") if d else vm.pure(0),
        trust="for tests",
    )


BUDGET = vm.approx("1/10", "1e-6")


def binned(keys: Any) -> Any:
    return SPACE >> vm.histogram(keys=keys) >> vm.laplace(scale=20)


DIFFERENT: list[Any] = [
    lambda: SPACE >> vm.count() >> vm.laplace(scale=10),
    lambda: SPACE >> vm.count() >> vm.laplace(scale=11),
    lambda: SPACE >> vm.count() >> vm.laplace(scale="10.000000000000000000001"),
    lambda: SPACE >> vm.filter(vm.is_in([1])) >> vm.count() >> vm.laplace(scale=10),
    lambda: SPACE >> vm.filter(vm.is_in([2])) >> vm.count() >> vm.laplace(scale=10),
    lambda: SPACE >> vm.filter(vm.is_in([1, 2])) >> vm.count() >> vm.laplace(scale=10),
    lambda: SPACE >> vm.filter(vm.between(0, 1)) >> vm.count() >> vm.laplace(scale=10),
    lambda: SPACE >> vm.clamp(bounds=(0, 10)) >> vm.sum() >> vm.laplace(scale=100),
    lambda: SPACE >> vm.clamp(bounds=(0, 9)) >> vm.sum() >> vm.laplace(scale=100),
    lambda: SPACE >> vm.clamp(bounds=(-1, 10)) >> vm.sum() >> vm.laplace(scale=100),
    lambda: SPACE >> vm.count() >> vm.laplace(scale=10) >> vm.postprocess(abs),
    lambda: SPACE >> vm.count() >> vm.laplace(scale=10) >> vm.postprocess(float),
    lambda: SPACE >> vm.histogram(keys=list(range(3000))) >> vm.laplace(scale=10),
    lambda: SPACE >> vm.histogram(keys=[*range(1500), 9999, *range(1501, 3000)]) >> vm.laplace(scale=10),
    lambda: vm.sparse_vector(SPACE, threshold=5, scale=20),
    lambda: vm.sparse_vector(SPACE, threshold=6, scale=20),
    lambda: vm.sparse_vector(SPACE, threshold=5, scale=40, limit=2),
    lambda: vm.Odometer(SPACE, vm.PureDP).filter(d_in=1, budget=vm.pure("1/10")),
    lambda: vm.Odometer(SPACE, vm.PureDP).filter(d_in=2, budget=vm.pure("1/10")),
    lambda: vm.Odometer(SPACE, vm.PureDP, convert=True).filter(d_in=1, budget=vm.pure("1/10")),
    lambda: vm.Odometer(SPACE, vm.ApproxDP).filter(d_in=1, budget=BUDGET),
    lambda: vm.Odometer(SPACE, vm.ApproxDP).filter(d_in=1, budget=BUDGET, rule="advanced"),
    lambda: vm.Odometer(SPACE, vm.ApproxDP).filter(d_in=1, budget=BUDGET, rule="advanced", slack="1e-8"),
    lambda: vm.Odometer(SPACE, vm.ApproxDP).filter(d_in=1, budget=BUDGET, rule="concentrated"),
    lambda: SPACE >> vm.filter(vm.is_in(list(range(500)))) >> vm.count() >> vm.laplace(scale=10),
    lambda: SPACE >> vm.filter(vm.is_in([*range(499), 600])) >> vm.count() >> vm.laplace(scale=10),
    lambda: vm.compose(SPACE, [binned([*range(100)]), binned([*range(100)])]),
    lambda: vm.compose(SPACE, [binned([*range(100)]), binned([*range(99), 200])]),
]


def identity(measurement: Any) -> str:
    """What the ledger tells a question by, made in a ledger of its own."""
    book = ledgers.in_memory()
    book.define("visits", vm.pure(10) if measurement.measure == vm.PureDP else vm.approx(1, "1e-3"), SPACE)
    book.meter(SPACE, [1, 2], scopes=["visits"], by="ann")(measurement, key="k")
    return str(book.entry(3).record["digest"])


def test_questions_that_differ_in_any_parameter_are_told_apart_and_made_again_are_the_same() -> None:
    made = [identity(make()) for make in DIFFERENT]
    assert [number for number, one in enumerate(made) if made.index(one) != number] == []
    assert [identity(make()) for make in DIFFERENT] == made


def released_twice(path: Path) -> tuple[bytes, int, str]:
    """What is released under a key, on other data the second time."""
    asked = SPACE >> vm.filter(vm.is_in([3, 1, 2])) >> vm.count() >> vm.laplace(scale=10)
    with ledgers.open(path) as book:
        book.define("visits", vm.pure(1), SPACE, by="ann")
        for data in ([1], [1, 2]):
            released = book.meter(SPACE, data, scopes=["visits"], by="ann").release(asked, key="k")
        return released.content, released.reserved, str(book.scope("visits").spent)


def test_a_question_is_the_same_in_another_process(tmp_path: Path) -> None:
    first, second = (in_clean_process(released_twice, tmp_path / "budget.db", hash_seed=seed) for seed in (1, 2))
    assert first == second and first[1:] == (3, "pure(1/10)")


def test_a_callers_identity_tells_questions_apart(book: Ledger) -> None:
    meter = book.meter(SPACE, [1], scopes=["visits"], by="ann")
    meter(COUNT, key="k", identity="of May")
    for other in ("", "of June"):
        with pytest.raises(KeyTaken):
            meter(COUNT, key="k", identity=other)
    assert meter.release(COUNT, key="k", identity="of May", label="again").replayed


def test_a_question_of_any_length_is_asked_and_its_whole_text_counts(book: Ledger) -> None:
    book.define("orders", vm.renyi({order: order for order in range(2, 250)}), SPACE)
    meter = book.meter(SPACE, [1], scopes=["orders"], by="ann")

    def plan(last: Any) -> Any:
        curve = {**{order: order - 1 for order in range(2, 250)}, 250: last}
        return vm.Odometer(SPACE, vm.RenyiDP).filter(d_in=1, budget=vm.renyi(curve))

    meter(plan(249), key="k")
    with pytest.raises(KeyTaken):
        meter(plan("249.5"), key="k")
    assert meter.release(plan(249), key="k").replayed
    assert 0 < len(ledgers.history(book)[3].query) <= 2000


def test_a_callers_identity_may_be_any_text(book: Ledger) -> None:
    meter = book.meter(SPACE, [1], scopes=["visits"], by="ann")
    for number, text in enumerate(("\ud800", "\x00", "a\nb")):
        meter(COUNT, key=f"k{number}", identity=text)
        assert meter.release(COUNT, key=f"k{number}", identity=text).replayed


def test_a_key_is_a_persons_own(book: Ledger) -> None:
    ann = book.meter(SPACE, [1], scopes=["visits"], by="ann").release(COUNT, key="k")
    bob = book.meter(SPACE, [1], scopes=["visits"], by="bob").release(COUNT, key="k")
    assert (ann.reserved, bob.reserved, bob.replayed) == (3, 5, False)
    assert book.replay("k", by="ann").reserved == 3
    with pytest.raises(LedgerError, match="nothing was charged"):
        book.replay("k", by="eve")


def test_a_question_without_a_key_is_a_new_one_every_time(book: Ledger) -> None:
    meter = book.meter(SPACE, [1], scopes=["visits"], by="ann")
    assert meter.release(COUNT).reserved != meter.release(COUNT).reserved
    assert book.scope("visits").spent == vm.pure("1/5")


# Functions are known by what they do, not by their names.


def above(least: Any) -> Any:
    def is_above(value: Any) -> bool:
        return bool(value > least)

    return is_above


def twice_above(least: Any) -> Any:
    inner = above(least)
    return lambda value: inner(2 * value)


class Above:
    """An object that is called, and whose text says nothing of what it holds."""

    def __init__(self, least: Any) -> None:
        self.least = least

    def __call__(self, value: Any) -> bool:
        return bool(value > self.least)

    def holds(self, value: Any) -> bool:
        return bool(value > self.least)

    def __repr__(self) -> str:
        return "above"


class SlottedAbove:
    __slots__ = ("__least",)

    def __init__(self, least: Any) -> None:
        self.__least = least

    def __call__(self, value: Any) -> bool:
        return bool(value > self.__least)


def made_class(sign: int) -> Any:
    class Signed:
        def __call__(self, value: Any) -> bool:
            return bool(sign * value > 0)

    return Signed()


def with_default(least: Any) -> Any:
    return lambda value, least=least: value > least


def with_keyword(least: Any) -> Any:
    def is_above(value: Any, *, least: Any = least) -> bool:
        return bool(value > least)

    return is_above


def reading_global(least: Any) -> Any:
    known: dict[str, Any] = {"LEAST": least, "__name__": "of_a_notebook"}
    exec("def is_above(value): return value > LEAST", known)
    return known["is_above"]


def filtered(function: Any) -> Any:
    return SPACE >> vm.filter(function, trust="for tests") >> vm.count() >> vm.laplace(scale=20)


def mapped(function: Any) -> Any:
    made = vm.map_rows(function=function, output=vm.scalars(int, bounds=(0, 1)), default=0, trust="for tests")
    return SPACE >> made >> vm.sum() >> vm.laplace(scale=20)


def processed(function: Any) -> Any:
    return COUNT >> vm.postprocess(function, name="f")


FUNCTIONS: dict[str, Any] = {
    "constants": lambda most: (lambda value: value > 1) if most == 1 else (lambda value: value > 2),
    "operations": lambda most: (lambda value: value > 1) if most == 1 else (lambda value: value < 1),
    "names": lambda most: (lambda value: value.real) if most == 1 else (lambda value: value.imag),
    "nested code": lambda most: (
        (lambda value: [one > 1 for one in [value]]) if most == 1 else (lambda value: [one > 2 for one in [value]])
    ),
    "closure": above,
    "closure of a function": twice_above,
    "closure over an array": lambda most: above(np.arange(5000) + (np.arange(5000) == 2500) * most),
    "closure over a long text": lambda most: above("a" * 500 + str(most) + "a" * 500),
    "default": with_default,
    "keyword default": with_keyword,
    "callable object": Above,
    "callable object with slots": SlottedAbove,
    "class made by a function": made_class,
    "bound method": lambda least: Above(least).holds,
    "bound method of C": lambda least: {1, 5, least}.__contains__,
    "partial": lambda least: functools.partial(operator.lt, least),
    "partial of a function": lambda least: functools.partial(with_keyword(0), least=least),
    "cached": lambda least: functools.lru_cache(above(least)),
    "global": reading_global,
    "pattern": lambda most: above(re.compile("a" * 300 + str(most))),
    "huge": lambda most: above(10**5000 + most),
}
TAKERS: dict[str, Any] = {"filter": filtered, "map_rows": mapped, "measurement": own, "postprocess": processed}


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("kind", FUNCTIONS)
def test_functions_that_differ_are_told_apart(kind: str, taker: str) -> None:
    make, take = FUNCTIONS[kind], TAKERS[taker]
    first, other, again = (describe(take(make(number))) for number in (1, 2, 1))
    assert first == again and first.text != other.text and not first.unknown


def test_a_key_is_taken_by_another_function_of_the_same_name(book: Ledger) -> None:
    meter = book.meter(SPACE, [1, 5, 9], scopes=["visits"], by="ann")
    for number, take in enumerate(TAKERS.values()):
        if take is own:
            continue  # what it answers is no matter here
        released = meter.release(take(above(3)), key=f"k{number}")
        with pytest.raises(KeyTaken):
            meter(take(above(4)), key=f"k{number}")
        assert meter.release(take(above(3)), key=f"k{number}").content == released.content


def test_queries_of_a_sparse_vector_are_told_apart_by_their_functions(book: Ledger) -> None:
    asked = vm.sparse_vector(SPACE, threshold=20, scale=20, limit=1)
    queries = [SPACE >> vm.filter(above(least), trust="for tests") >> vm.count() for least in (50, 60)]
    meter = book.meter(SPACE, [1] * 5, scopes=["visits"], by="ann")
    first = meter(asked, key="k")
    said = first(queries[0])
    again = meter(asked, key="k")
    with pytest.raises(QueryableEnded):
        again(queries[1])
    assert again(SPACE >> vm.filter(above(50), trust="for tests") >> vm.count()) is said


class Opaque:
    __slots__ = ()


def test_what_shows_only_its_address_takes_an_identity_or_no_key(book: Ledger) -> None:
    made = filtered(above(threading.Lock()))
    meter = book.meter(SPACE, [1], scopes=["visits"], by="ann")
    head = book.head
    with pytest.raises(ParameterError, match=r"_thread\.lock.*identity="):
        meter(made, key="k")
    assert book.head == head
    meter(made)
    meter(made, key="k", identity="locked")
    assert meter.release(filtered(above(threading.Lock())), key="k", identity="locked").replayed
    assert describe(filtered(above(Opaque()))).unknown == (f"{__name__}.Opaque",)


def test_a_query_that_shows_only_its_address_is_never_taken_for_another() -> None:
    query = SPACE >> vm.filter(above(threading.Lock()), trust="for tests") >> vm.count()
    assert describe_query(0, query) != describe_query(0, query)


def test_what_contains_itself_is_described() -> None:
    def first(value: Any) -> Any:
        return second(value)

    def second(value: Any) -> Any:
        return first(value) if value else held

    held: list[Any] = [first]
    held.append(held)
    assert describe(first) == describe(first) != describe(second)


LEAST = {"a", "b", "c", "d"}


class AboveOfSets:
    kind = "above"

    def __init__(self, least: Any) -> None:
        self.least, self.seen = least, {"x", "y", "z", "w"}

    def __call__(self, value: Any) -> Any:
        return value > self.least

    def holds(self, value: Any) -> Any:
        return super().__eq__(value) or self(value)


def of_sets(least: Any) -> Any:
    def inner(value: Any, *, more: Any = {"p", "q", "r"}) -> Any:  # noqa: B006
        return value in {"k", "l", "m", "n"} or value in LEAST or value > least or helper(value)

    return inner


def helper(value: Any) -> Any:
    return of_sets(value)


def described_functions() -> list[Any]:
    """How functions are described that hold sets, whose order is another one in every process."""
    functions: list[Any] = [
        of_sets(1),
        of_sets(of_sets(2)),
        AboveOfSets(3),
        AboveOfSets(4).holds,
        functools.partial(of_sets(5), more={"a", "b"}),
        {"a", "b", "c"}.__contains__,
        functools.partial(operator.lt, 5),
        lambda value: [LEAST for _ in "ab"],
    ]
    book = ledgers.in_memory()
    book.define("s", vm.pure(1000), SPACE)
    meter = book.meter(SPACE, [1], scopes=["s"], by="ann")
    said: list[Any] = [list(LEAST)]
    for number, function in enumerate(functions):
        made = SPACE >> vm.filter(function, trust="t") >> vm.count()
        described = describe(made >> vm.laplace(scale=1) >> vm.postprocess(function))
        assert not described.unknown
        said.append((described.text, describe_query(0, made)))
        meter(made >> vm.laplace(scale=1), key=str(number))
    return [*said, [entry.record["digest"] for entry in book.entries() if entry.kind == "reserve"]]


def test_functions_are_the_same_in_another_process() -> None:
    first, second = (in_clean_process(described_functions, hash_seed=seed) for seed in (1, 2))
    assert first[0] != second[0] and len(first) == 10  # the sets are in another order
    assert first[1:] == second[1:]
