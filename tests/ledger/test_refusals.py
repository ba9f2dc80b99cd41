"""What is no cost is refused, whoever made it and however; and a refusal changes nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest
from tests.ledger.conftest import SPACE

import viameter as vm
from viameter import ledger as ledgers
from viameter import neighborhood as nb
from viameter.core import Loss
from viameter.core.composability import CONCURRENT, FULLY_ADAPTIVE
from viameter.errors import (
    DomainMismatch,
    KeyTaken,
    MapError,
    MeasureMismatch,
    MetricMismatch,
    OverBudget,
    ParameterError,
    UnknownScope,
    ViameterError,
)
from viameter.ledger import Cost, Ledger, Terms
from viameter.measures.amounts import PureLoss

COUNT = SPACE >> vm.count() >> vm.laplace(scale=10)
NOW = datetime(2026, 5, 4, tzinfo=UTC)
TENTH = vm.pure("1/10")


@pytest.fixture
def book() -> Iterator[Ledger]:
    """A ledger that is as it was when the test is over."""
    made = ledgers.in_memory()
    made.define("visits", vm.pure(1), SPACE)
    made.define("two", vm.pure(1), SPACE, d_in=2)
    made.define("rho", vm.zcdp(1), SPACE)
    made.reserve(TENTH, scopes=["visits"], key="before", by="ann", query="q")
    before, scopes = made.head, made.scopes()
    yield made
    assert made.head == before and made.scopes() == scopes
    assert ledgers.verify(made).ok


def forced(loss: Any, field: str, value: Any) -> Any:
    """A loss into which something was put from outside."""
    object.__setattr__(loss, field, value)
    return loss


class Sly(PureLoss):
    """A loss that says that it is another."""

    def to_json(self) -> dict[str, Any]:
        return {"measure": "pure", "epsilon": "0"}


class Loud(PureLoss):
    """A loss that cannot be written down."""

    def to_json(self) -> dict[str, Any]:
        raise RuntimeError("row 41")


class Foreign(Loss):
    """A loss of the library's measure that is none of its losses."""

    @property
    def measure(self) -> Any:
        return vm.PureDP

    @property
    def is_finite(self) -> bool:
        return True

    def _implies(self, other: Any) -> bool:
        return True

    def _plus(self, other: Any) -> Any:
        return other

    def to_json(self) -> dict[str, Any]:
        return {"measure": "pure", "epsilon": "0"}


OWN = vm.measure("Own", adds=True, composes={FULLY_ADAPTIVE: CONCURRENT}, trust="for tests")
NO_COSTS: list[Any] = [
    0.1,
    1,
    Fraction(1, 10),
    "1/10",
    None,
    math.nan,
    True,
    [],
    [TENTH],
    vm.PureDP,
    {},
    vm.pure(math.inf),
    vm.approx(1, 1),
    vm.PureDP.infinite,
    vm.RenyiDP.infinite,
    forced(vm.pure(1), "epsilon", Fraction(-1)),
    forced(vm.pure(1), "epsilon", -1),
    forced(vm.pure(1), "epsilon", math.nan),
    forced(vm.pure(1), "epsilon", math.inf),
    forced(vm.pure(1), "epsilon", -math.inf),
    forced(vm.pure(1), "epsilon", None),
    forced(vm.pure(1), "epsilon", [1]),
    forced(vm.pure(1), "epsilon", "-1/2"),
    forced(vm.pure(1), "epsilon", "row 41"),
    forced(vm.approx(1, "1e-6"), "delta", Fraction(2)),
    forced(vm.approx(1, "1e-6"), "delta", Fraction(-1)),
    forced(vm.gdp(1), "mu_squared", Fraction(-1)),
    forced(vm.renyi({2: 1}), "points", ((Fraction(2), Fraction(-1)),)),
    forced(vm.renyi({2: 1}), "points", 7),
    Sly(Fraction(1)),
    Loud(Fraction(1)),
    Foreign(),
    OWN("1/10"),
]


@pytest.mark.parametrize("cost", NO_COSTS, ids=lambda cost: type(cost).__name__)
def test_what_is_no_cost_is_refused(book: Ledger, cost: Any) -> None:
    with pytest.raises(ParameterError) as refused:
        book.reserve(cost, scopes=["visits"])
    assert "row 41" not in str(refused.value)
    with pytest.raises(ParameterError):
        book.reserve({"visits": TENTH, "two": cost})
    with pytest.raises(ParameterError):
        book.reserve([Cost("visits", TENTH), Cost("two", cost)])
    with pytest.raises(ParameterError):
        book.scope("visits").charged(Cost("visits", cost), NOW)


@pytest.mark.parametrize("budget", NO_COSTS, ids=lambda cost: type(cost).__name__)
def test_what_is_no_cost_is_no_budget(book: Ledger, budget: Any) -> None:
    with pytest.raises(ParameterError, match="budget"):
        book.define("new", budget, SPACE)
    with pytest.raises(ParameterError, match="budget"):
        book.set_budget("visits", budget, why="why")


@pytest.mark.parametrize("cost", [vm.zcdp("1/10"), vm.approx("1/10", 0), vm.gdp("1/10"), vm.bounded_range("1/10")])
def test_losses_of_another_measure_are_refused(book: Ledger, cost: Any) -> None:
    with pytest.raises(MeasureMismatch):
        book.reserve(cost, scopes=["visits"])
    with pytest.raises(MeasureMismatch):
        book.set_budget("visits", cost, why="why")


def test_losses_for_other_neighbors_are_refused(book: Ledger) -> None:
    others: list[Any] = [nb.bounded(), vm.ChangeOneDistance(), vm.SymmetricIdDistance("patient"), "households"]
    for of in others:
        with pytest.raises(ParameterError, match="different neighbors"):
            book.reserve(TENTH, scopes=["visits"], of=of)
        with pytest.raises(ParameterError, match="different neighbors"):
            book.reserve([Cost("visits", TENTH, None, ledgers.describe_neighborhood(of))])
    changed = vm.Space(vm.vectors(int, size=3), vm.ChangeOneDistance())
    with pytest.raises(ParameterError, match="different neighbors"):
        book.meter(changed, [1, 2, 3], scopes=["visits"])


def test_losses_for_another_distance_are_refused(book: Ledger) -> None:
    for scope, d_in in (("visits", 2), ("two", 1), ("two", "1/2")):
        with pytest.raises(ParameterError, match="apart"):
            book.reserve(TENTH, scopes=[scope], d_in=d_in)
    for wrong in (math.nan, math.inf, "x", [1]):
        with pytest.raises(ViameterError):
            book.reserve(TENTH, scopes=["visits"], d_in=wrong)
    with pytest.raises(ParameterError, match="apart"):
        book.reserve([Cost("visits", TENTH, d_in=Fraction(2))])


def test_scopes_are_named_once_and_in_one_place(book: Ledger) -> None:
    with pytest.raises(ParameterError, match="twice"):
        book.reserve(TENTH, scopes=["visits", "visits"])
    with pytest.raises(ParameterError, match="twice"):
        book.reserve([Cost("visits", TENTH), Cost("visits", TENTH)])
    with pytest.raises(ParameterError, match="leave them out"):
        book.reserve({"visits": TENTH}, scopes=["visits", "two"])
    with pytest.raises(ParameterError, match="leave them out"):
        book.reserve([Cost("visits", TENTH)], scopes=["two"])
    with pytest.raises(ParameterError, match="leave them out"):
        book.reserve([Cost("visits", TENTH)], part="east")
    with pytest.raises(ParameterError, match="leave them out"):
        book.reserve([Cost("visits", TENTH)], d_in=5)
    wrong: list[Any] = [(), [], "visits", None, 5]
    for nobody in wrong:
        with pytest.raises(ParameterError, match="scopes"):
            book.reserve(TENTH, scopes=nobody)
        with pytest.raises(ParameterError, match="scopes"):
            book.meter(SPACE, [1], scopes=nobody)
    with pytest.raises(ParameterError, match="twice"):
        book.meter(SPACE, [1], scopes=["visits", "visits"])(COUNT)


def test_a_scope_that_is_not_there_stops_the_others(book: Ledger) -> None:
    with pytest.raises(UnknownScope):
        book.reserve(TENTH, scopes=["visits", "visit"])
    with pytest.raises(UnknownScope):
        book.meter(SPACE, [1], scopes=["visits", "visit"])
    for attempt in (book.scope, lambda name: ledgers.history(book, scope=name)):
        with pytest.raises(UnknownScope, match="there are: rho, two, visits"):
            attempt("visit")
    with pytest.raises(UnknownScope):
        book.set_budget("visit", vm.pure(1), why="why")
    with pytest.raises(UnknownScope):
        book.renew("visit", why="why")


@pytest.mark.parametrize("order", [["visits", "ann"], ["ann", "visits"]])
def test_a_scope_without_room_stops_the_others_wherever_it_is_named(order: list[str]) -> None:
    book = ledgers.in_memory()
    book.define("visits", vm.pure(1), SPACE)
    book.define("ann", vm.pure("1/20"), SPACE)
    before, scopes = book.head, book.scopes()
    with pytest.raises(OverBudget) as refused:
        book.reserve(TENTH, scopes=order)
    assert refused.value.scope == "ann"
    assert book.head == before and book.scopes() == scopes


def test_parts_are_refused_where_there_are_none(book: Ledger) -> None:
    with pytest.raises(ParameterError, match="has no parts"):
        book.reserve(TENTH, scopes=["visits"], part="east")
    with pytest.raises(ParameterError, match="has no parts"):
        book.meter(SPACE, [1], scopes=["visits"], part="east", through=SPACE >> vm.filter(vm.is_in([1])))


def test_a_used_key_with_anything_else_is_refused(book: Ledger) -> None:
    terms = Terms.read(TENTH, SPACE)
    same: dict[str, Any] = {"scopes": ["visits"], "key": "before", "by": "ann", "query": "q"}
    assert not book.reserve(TENTH, **same, label="a label says nothing").new
    assert not book.reserve({"visits": TENTH}, key="before", by="ann", query="q").new
    other: list[Any] = [
        lambda: book.reserve(vm.pure("1/5"), **same),
        lambda: book.reserve(vm.pure(0), **same),
        lambda: book.reserve(TENTH, **{**same, "scopes": ["two"]}),
        lambda: book.reserve(TENTH, **{**same, "scopes": ["visits", "two"]}),
        lambda: book.reserve(TENTH, **{**same, "query": "Q"}),
        lambda: book.reserve(TENTH, **same, identity="i"),
        lambda: book.reserve(TENTH, **same, part="east"),
        lambda: book.reserve(TENTH, **same, opens={"share": terms}),
        lambda: book.reserve(vm.pure(5), **same),  # not even that there is no room
    ]
    for attempt in other:
        with pytest.raises(KeyTaken):
            attempt()


def test_texts_are_texts(book: Ledger) -> None:
    wrong: list[dict[str, Any]] = [
        {"query": 5},
        {"query": "x" * 10_001},
        {"label": None},
        {"identity": b"i"},
        {"theorems": [object()]},
        {"certificate": 5},
        {"certificate": "a\x00b"},
        {"certificate": "\ud800"},
    ]
    for options in wrong:
        with pytest.raises(ParameterError):
            book.reserve(TENTH, scopes=["visits"], **options)
    with pytest.raises(ParameterError):
        book.define("new", vm.pure(1), SPACE, why=5)  # type: ignore[arg-type]


# Before anything is charged, and before data are looked at.


def test_measurements_that_are_none_of_these_data_are_refused(book: Ledger) -> None:
    meter = book.meter(SPACE, [1, 2], scopes=["visits"])
    texts = vm.Space(vm.vectors(str), vm.SymmetricDistance())
    ids = vm.Space(vm.vectors(int), vm.InsertDeleteDistance())
    for error, measurement in (
        (DomainMismatch, texts >> vm.count() >> vm.laplace(scale=10)),
        (MetricMismatch, ids >> vm.count() >> vm.laplace(scale=10)),
    ):
        for ask in (meter, meter.release, meter.fits, meter.costs):
            with pytest.raises(error):
                ask(measurement)
    for wrong in (SPACE >> vm.count(), vm.count(), None, 5, lambda rows: 1, "count", vm.pure("1/10")):
        with pytest.raises(ViameterError):
            meter(wrong)
    with pytest.raises(ParameterError, match="exact answers are not private"):
        meter(SPACE >> vm.count())


MAPS: list[Any] = [
    0.1,
    None,
    -1,
    vm.zcdp("1/10"),
    Sly(Fraction(1)),
    OWN("1/10"),
    vm.pure(math.inf),
    forced(vm.pure(1), "epsilon", Fraction(-5)),
    forced(vm.pure(1), "epsilon", math.nan),
]


@pytest.mark.parametrize("said", MAPS, ids=lambda said: type(said).__name__)
def test_a_map_that_gives_no_cost_does_not_lower_what_was_spent(book: Ledger, said: Any) -> None:
    ran: list[Any] = []
    sly = vm.measurement(SPACE, function=ran.append, measure=vm.PureDP, privacy=lambda d: said, trust="for tests")
    with pytest.raises((MapError, ParameterError, MeasureMismatch)):
        book.meter(SPACE, [1], scopes=["visits"])(sly)
    assert not ran


def test_data_outside_of_the_domain_are_refused_when_they_are_put_under_a_scope(book: Ledger) -> None:
    with pytest.raises(ViameterError) as refused:
        book.meter(SPACE, [1, "canary-41"], scopes=["visits"])
    assert "canary" not in str(refused.value)
    with pytest.raises(ParameterError, match="is no space"):
        book.meter(vm.vectors(int), [1], scopes=["visits"])  # type: ignore[arg-type]
