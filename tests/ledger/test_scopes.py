"""Scopes: sums in every measure, rules of filters, conversions, budgets that change, and names."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ledger.conftest import SPACE

import viameter as vm
from viameter import ledger as ledgers
from viameter import neighborhood as nb
from viameter.errors import LedgerError, MeasureMismatch, NoTheorem, NumberError, OverBudget, ParameterError
from viameter.ledger import Cost, Ledger, Scope, Terms, describe_neighborhood
from viameter.ledger.chain import canonical

NOW = datetime(2026, 5, 4, tzinfo=UTC)


@pytest.fixture
def book() -> Ledger:
    return ledgers.in_memory()


def charged(book: Ledger, loss: Any, name: str = "visits", **options: Any) -> Any:
    book.reserve(loss, scopes=[name], **options)
    return book.scope(name).spent


# Sums.

TENTHS: list[tuple[Any, Any, Any]] = [
    (vm.pure(1), vm.pure("1/10"), vm.pure("1e-30")),
    (vm.approx(1, "1e-5"), vm.approx("1/10", "1e-6"), vm.approx(0, "1e-30")),
    (vm.approx(1, "1e-5"), vm.approx("1/10", "1e-6"), vm.approx("1e-30", 0)),
    (vm.zcdp(1), vm.zcdp("1/10"), vm.zcdp("1e-30")),
    (vm.approx_zcdp(1, "1e-5"), vm.approx_zcdp("1/10", "1e-6"), vm.approx_zcdp(0, "1e-30")),
    (vm.gdp(1), vm.GaussianDP.from_json({"measure": "gdp", "mu_squared": "1/10"}),
     vm.gdp("1e-15")),
    (vm.renyi({2: 1, 8: 3}), vm.renyi({2: "1/10", 8: "3/10"}), vm.renyi({2: "1e-30", 8: "1e-30"})),
]  # fmt: skip


@pytest.mark.parametrize(("budget", "tenth", "little"), TENTHS, ids=repr)
def test_ten_tenths_fit_exactly_and_nothing_more(book: Ledger, budget: Any, tenth: Any, little: Any) -> None:
    book.define("visits", budget, SPACE)
    for _ in range(9):
        charged(book, tenth)
    assert book.scope("visits").left == tenth
    assert charged(book, tenth) == budget  # exactly what is left
    head = book.head
    with pytest.raises(OverBudget) as refused:
        charged(book, little)
    assert (refused.value.spent, refused.value.asked, refused.value.budget) == (budget, little, budget)
    assert refused.value.scope == "visits" and refused.value.after is None
    assert book.head == head and book.scope("visits").spent == budget
    assert charged(book, budget.measure.zero) == budget  # what costs nothing still fits
    assert ledgers.verify(book).ok


@pytest.mark.parametrize("budget", [vm.bounded_range(1), vm.profile({1: "1/1000"})], ids=repr)
def test_measures_without_a_fully_adaptive_rule_have_no_scopes(book: Ledger, budget: Any) -> None:
    with pytest.raises(NoTheorem, match="no fully adaptive composition"):
        book.define("visits", budget, SPACE)
    assert book.head.seq == 1


@given(st.lists(st.tuples(st.fractions(0, 1, max_denominator=50), st.fractions(0, "1/20", max_denominator=90))))
@settings(max_examples=40)
def test_sums_are_those_of_fractions(costs: list[tuple[Fraction, Fraction]]) -> None:
    book = ledgers.in_memory()
    book.define("visits", vm.approx(1, "1/10"), SPACE)
    epsilon = delta = Fraction(0)
    for more, other in costs:
        if epsilon + more <= 1 and delta + other <= Fraction(1, 10):
            epsilon, delta = epsilon + more, delta + other
            book.reserve(vm.approx(more, other), scopes=["visits"])
        else:
            with pytest.raises(OverBudget):
                book.reserve(vm.approx(more, other), scopes=["visits"])
    spent: Any = book.scope("visits").spent
    assert (spent.epsilon, spent.delta) == (epsilon, delta)


def test_a_curve_that_says_nothing_of_an_order_of_the_budget_does_not_fit(book: Ledger) -> None:
    book.define("visits", vm.renyi({2: 1, 8: 3}), SPACE)
    with pytest.raises(OverBudget):
        charged(book, vm.renyi({2: "1/10"}))
    assert charged(book, vm.renyi({16: "1/10"})) <= vm.renyi({8: "1/10"})


def test_a_budget_of_nothing_takes_what_costs_nothing(book: Ledger) -> None:
    book.define("visits", vm.pure(0), SPACE)
    assert charged(book, vm.pure(0)) == vm.pure(0)
    with pytest.raises(OverBudget):
        charged(book, vm.pure("1e-100"))
    constant = SPACE >> vm.count() >> vm.laplace(scale=10)
    assert book.meter(SPACE, [1], scopes=["visits"]).fits(constant) is False


# Rules of filters.


def pure_of(cost: Fraction) -> Any:
    return vm.measurement(
        SPACE, function=lambda rows: 0, measure=vm.PureDP, privacy=lambda d: vm.pure(cost * d), trust="for tests"
    )


def refusal(meter: Any, asked: Any) -> OverBudget | None:
    try:
        meter(asked)
    except OverBudget as refused:
        return refused
    return None


GAUSSIAN = SPACE >> vm.count() >> vm.gaussian(scale=40)


@pytest.mark.parametrize("slack", [None, "1e-7"])
@pytest.mark.parametrize("rule", ["concentrated", "advanced"])
@pytest.mark.parametrize("d_in", [1, 2])
def test_rules_count_as_the_filter_does_charge_by_charge(book: Ledger, rule: str, slack: Any, d_in: int) -> None:
    budget = vm.approx(1, "1e-6")
    odometer = vm.Odometer(SPACE, vm.ApproxDP, convert=True)
    meter = odometer.filter(d_in=d_in, budget=budget, rule=rule, slack=slack)([1, 2, 3])
    book.define("visits", budget, SPACE, rule=rule, slack=slack, d_in=d_in)
    under = book.meter(SPACE, [1, 2, 3], scopes=["visits"])
    refusals = 0
    for cost in ("1/100", "1/30", "1/20", "1/10", "1/10", "1/3", "1/9", "1/50"):
        for asked in (pure_of(Fraction(cost)), GAUSSIAN):
            expected, refused = refusal(meter, asked), refusal(under, asked)
            assert (refused is None) == (expected is None)
            if expected is not None and refused is not None:
                refusals += 1
                assert (refused.asked, refused.left) == (expected.asked, expected.left)
            scope = book.scope("visits")
            assert (scope.spent, scope.left, scope.cap) == (meter.spent, meter.left, meter.budget)
    assert refusals > 0 and book.scope("visits").budget == budget
    assert ledgers.verify(book).ok


def test_a_rule_says_its_slack_or_is_refused(book: Ledger) -> None:
    budget = vm.approx(1, "1e-6")
    with pytest.raises(ParameterError, match="slack"):
        book.define("a", budget, SPACE, slack="1e-7")
    with pytest.raises(ParameterError):
        book.define("a", budget, SPACE, rule="concentrated", slack="1e-3")
    for rule in ("optimal", "nonsense", 5):
        with pytest.raises((NoTheorem, ParameterError)):
            book.define("a", budget, SPACE, rule=rule)  # type: ignore[arg-type]
    for wrong in (vm.pure(1), vm.zcdp(1)):
        with pytest.raises((NoTheorem, ParameterError, MeasureMismatch)):
            book.define("a", wrong, SPACE, rule="advanced")
    assert book.scopes() == ()


def test_a_changed_budget_is_counted_by_the_same_rule_and_slack(book: Ledger) -> None:
    book.define("visits", vm.approx(1, "1e-6"), SPACE, rule="concentrated", slack="1e-7")
    changed = book.set_budget("visits", vm.approx(2, "1e-5"), why="decided")
    same = Scope.defined("x", Terms.read(vm.approx(2, "1e-5"), SPACE, rule="concentrated", slack="1e-7"), NOW)
    assert changed.cap == same.cap and changed.terms.slack == Fraction(1, 10**7)
    with pytest.raises(ParameterError):
        book.set_budget("visits", vm.approx(2, "1e-8"), why="less than the slack")
    assert book.scope("visits") == changed and ledgers.verify(book).ok


# Conversions.


def test_measurements_of_another_measure_are_converted_only_if_asked_to(book: Ledger) -> None:
    book.define("visits", vm.zcdp(1), SPACE)
    laplace = SPACE >> vm.count() >> vm.laplace(scale=10)
    with pytest.raises(MeasureMismatch, match="convert it"):
        book.meter(SPACE, [1], scopes=["visits"])(laplace)
    assert book.head.seq == 2
    book.meter(SPACE, [1], scopes=["visits"], convert=True)(laplace)
    assert book.scope("visits").spent == laplace.to(vm.ZCDP).map(1)
    book.define("delta", vm.approx(1, "1e-6"), SPACE)
    with pytest.raises(MeasureMismatch):  # it takes a delta, which somebody has to choose
        book.meter(SPACE, [1], scopes=["delta"], convert=True)(GAUSSIAN)
    book.define("pure", vm.pure(1), SPACE)
    with pytest.raises(MeasureMismatch, match="no theorem converts it"):
        book.meter(SPACE, [1], scopes=["pure"], convert=True)(GAUSSIAN)


def test_each_scope_is_charged_in_its_own_measure_or_none_is(book: Ledger) -> None:
    book.define("pure", vm.pure(1), SPACE)
    book.define("zcdp", vm.zcdp(1), SPACE)
    laplace = SPACE >> vm.count() >> vm.laplace(scale=10)
    book.meter(SPACE, [1], scopes=["pure", "zcdp"], convert=True)(laplace)
    assert book.scope("pure").spent == vm.pure("1/10")
    assert book.scope("zcdp").spent == laplace.to(vm.ZCDP).map(1)
    head = book.head
    with pytest.raises(MeasureMismatch):
        book.reserve(vm.pure("1/10"), scopes=["pure", "zcdp"])
    with pytest.raises(MeasureMismatch):
        book.meter(SPACE, [1], scopes=["pure", "zcdp"])(laplace)
    assert book.head == head and book.scope("pure").spent == vm.pure("1/10")


def test_losses_are_for_the_distance_of_the_scope(book: Ledger) -> None:
    book.define("two", vm.pure(1), SPACE, d_in=2)
    book.meter(SPACE, [1], scopes=["two"])(SPACE >> vm.count() >> vm.laplace(scale=10))
    assert book.scope("two").spent == vm.pure("1/5")


# Budgets that change.


def test_a_budget_is_lowered_to_what_was_spent_and_no_further(book: Ledger) -> None:
    book.define("visits", vm.pure(1), SPACE)
    charged(book, vm.pure("1/3"))
    head = book.head
    with pytest.raises(ParameterError, match="was spent already"):
        book.set_budget("visits", vm.pure("333333333333333333/1000000000000000000"), why="less")
    assert book.head == head and book.scope("visits").budget == vm.pure(1)
    lowered = book.set_budget("visits", vm.pure("1/3"), why="no more")
    assert (lowered.budget, lowered.cap, lowered.left) == (vm.pure("1/3"), vm.pure("1/3"), vm.pure(0))
    with pytest.raises(OverBudget):
        charged(book, vm.pure("1e-30"))
    assert book.set_budget("visits", vm.pure(2), why="more").left == vm.pure("5/3")
    assert ledgers.verify(book).ok


@pytest.mark.parametrize("why", ["", "  ", None, 5, "x" * 10_001])
def test_a_change_says_why(book: Ledger, why: Any) -> None:
    book.define("visits", vm.pure(1), SPACE, renews="rows")
    with pytest.raises(ParameterError, match="why"):
        book.set_budget("visits", vm.pure(2), why=why)
    with pytest.raises(ParameterError, match="why"):
        book.renew("visits", why=why)
    assert book.head.seq == 2


def test_a_scope_is_defined_once(book: Ledger) -> None:
    made = book.define("visits", vm.pure(1), SPACE, by="a")
    assert book.define("visits", vm.pure(1), vm.SymmetricDistance(), by="b") == made and book.head.seq == 2
    others: list[dict[str, Any]] = [{"d_in": 2}, {"renews": "day"}]
    for options in others:
        with pytest.raises(LedgerError, match="exists"):
            book.define("visits", vm.pure(1), SPACE, **options)
    with pytest.raises(LedgerError, match="exists"):
        book.define("visits", vm.pure(2), SPACE)
    with pytest.raises(LedgerError, match="exists"):
        book.define("visits", vm.pure(1), nb.bounded())
    assert book.head.seq == 2


def test_a_share_is_paid_for_as_a_whole_when_it_is_made(book: Ledger) -> None:
    book.define("visits", vm.pure(1), SPACE)
    terms = Terms.read(vm.pure("1/4"), SPACE, parent="visits")
    book.reserve(vm.pure("1/4"), scopes=["visits"], opens={"visits/ann": terms})
    assert book.scope("visits").spent == vm.pure("1/4") and book.scope("visits/ann").left == vm.pure("1/4")
    with pytest.raises(OverBudget):
        charged(book, vm.pure("1/2"), "visits/ann")
    for name in ("visits/ann", "visits"):  # also the one that pays
        with pytest.raises(LedgerError, match="exists already"):
            book.reserve(vm.pure("1/4"), scopes=["visits"], opens={name: terms})
    assert book.scope("visits").spent == vm.pure("1/4") and ledgers.verify(book).ok


@pytest.mark.parametrize(
    "share",
    [
        Terms.read(vm.pure("1/3"), SPACE, parent="visits"),
        Terms.read(vm.zcdp("1/100"), SPACE, parent="visits"),
        Terms.read(vm.pure("1/4"), SPACE, parent="visits", d_in=2),
        Terms.read(vm.pure("1/4"), nb.bounded(), parent="visits"),
    ],
    ids=["more", "another measure", "another distance", "other neighbors"],
)
def test_a_share_that_is_not_paid_for_as_a_whole_is_refused(book: Ledger, share: Terms) -> None:
    book.define("visits", vm.pure(1), SPACE)
    with pytest.raises(LedgerError, match="is not paid for"):
        book.reserve(vm.pure("1/4"), scopes=["visits"], opens={"visits/ann": share})
    # Each that pays pays for all of it.
    book.define("beside", vm.pure(1), SPACE)
    with pytest.raises(LedgerError, match="is not paid for"):
        book.reserve({"visits": vm.pure("1/2"), "beside": vm.pure("1/4")}, opens={"visits/ann": share})
    assert [scope.name for scope in book.scopes()] == ["beside", "visits"] and book.scope("visits").spent == vm.pure(0)


@pytest.mark.parametrize("renews", ["day", "week", "month", "year", "rows"])
def test_a_share_does_not_outlive_the_period_that_paid_for_it(book: Ledger, renews: Any) -> None:
    book.define("visits", vm.pure(1), SPACE, renews=renews)
    terms = Terms.read(vm.pure("1/4"), SPACE, parent="visits")
    with pytest.raises(LedgerError, match="starts over"):
        book.reserve(vm.pure("1/4"), scopes=["visits"], opens={"visits/ann": terms})
    assert book.scope("visits").spent == vm.pure(0)


@pytest.mark.parametrize("spent", [False, True])
def test_a_share_is_lowered_and_never_raised(book: Ledger, spent: bool) -> None:
    book.define("visits", vm.pure(1), SPACE)
    terms = Terms.read(vm.pure("1/4"), SPACE, parent="visits")
    book.reserve(vm.pure("1/4"), scopes=["visits"], opens={"visits/ann": terms})
    if spent:
        charged(book, vm.pure("1/10"), "visits/ann")
    for more in (vm.pure("1/2"), vm.pure("250001/1000000")):
        with pytest.raises(LedgerError, match="not raised without"):
            book.set_budget("visits/ann", more, why="more")
    assert book.set_budget("visits/ann", vm.pure("1/5"), why="less").budget == vm.pure("1/5")
    with pytest.raises(LedgerError, match="not raised without"):
        book.set_budget("visits/ann", vm.pure("1/4"), why="as before")
    assert ledgers.verify(book).ok


def test_all_of_a_closed_scope_is_spent(book: Ledger) -> None:
    book.define("visits", vm.pure(1), SPACE)
    book.define("ann", vm.pure(1), SPACE)
    book.close_scopes(lost={}, why="lost", names=["visits"])
    assert book.scope("visits").left == vm.pure(0) and book.scope("ann").left == vm.pure(1)
    assert ledgers.verify(book).ok


# What is written is what is read.


@pytest.mark.parametrize(("budget", "tenth", "little"), TENTHS, ids=repr)
def test_a_scope_is_read_as_it_was_written(budget: Any, tenth: Any, little: Any) -> None:
    made = Scope.defined("visits", Terms.read(budget, SPACE, renews="week", d_in="3/2"), NOW)
    made = made.charged(Cost("visits", tenth), NOW).charged(Cost("visits", little), NOW)
    assert Scope.from_json(made.to_json(), 0) == made
    assert canonical(Scope.from_json(made.to_json(), 0).to_json()) == canonical(made.to_json())


def test_a_charge_makes_a_new_value_and_leaves_the_old_one() -> None:
    scope = Scope.defined("visits", Terms.read(vm.pure(1), SPACE), NOW)
    after = scope.charged(Cost("visits", vm.pure("1/2")), NOW)
    assert scope.spent == vm.pure(0) and after.spent == vm.pure("1/2")


# Names.


@pytest.mark.parametrize("name", ["a", "x" * 200, "visits/ann", "département", "患者", "a b", "'; DROP TABLE x; --"])
def test_names_are_kept_as_they_are(book: Ledger, name: str) -> None:
    book.define(name, vm.pure(1), SPACE)
    reserved = book.reserve(vm.pure("1/10"), scopes=[name], key=name, by=name, label="a\nb\x00\ud800", query="q\x00")
    assert (reserved.request.by, reserved.request.key) == (name, name)
    assert book.scope(name).spent == vm.pure("1/10") and ledgers.verify(book).ok
    assert ledgers.history(book)[-1].label == "a\nb\x00\ud800"


BAD_NAMES = ["", " ", "x" * 201, "a\nb", "a\x00", "\u202eabc", "\ud800", "a\u200bb", None, 5, b"a", ["a"]]


@pytest.mark.parametrize("name", BAD_NAMES, ids=repr)
def test_names_that_cannot_be_seen_are_refused(book: Ledger, name: Any) -> None:
    book.define("visits", vm.pure(1), SPACE, renews="rows")
    tenth, terms = vm.pure("1/10"), Terms.read(vm.pure("1/10"), SPACE)
    attempts: list[Any] = [
        lambda: book.define(name, vm.pure(1), SPACE),
        lambda: book.reserve(tenth, scopes=[name]),
        lambda: book.reserve({name: tenth} if not isinstance(name, list) else [Cost(name, tenth)]),  # type: ignore[arg-type]
        lambda: book.reserve([Cost("visits", tenth), Cost(name, tenth)]),
        lambda: book.set_budget(name, vm.pure(2), why="why"),
        lambda: book.renew(name, why="why"),
        lambda: book.meter(SPACE, [1], scopes=[name]),
    ]
    if not isinstance(name, list):
        attempts.append(lambda: book.reserve(tenth, scopes=["visits"], opens={name: terms}))
    if name is not None:
        attempts += [
            lambda: book.reserve(tenth, scopes=["visits"], key=name),
            lambda: book.reserve(tenth, scopes=["visits"], by=name),
            lambda: book.replay(name),
            lambda: book.define("b", vm.pure(1), SPACE, by=name),
        ]
    for attempt in attempts:
        with pytest.raises(ParameterError, match="is no name"):
            attempt()
    assert book.head.seq == 2


def test_neighborhoods_have_one_text_each() -> None:
    assert describe_neighborhood(SPACE) == describe_neighborhood(nb.unbounded()) == "unbounded()"
    assert describe_neighborhood(vm.ChangeOneDistance()) == describe_neighborhood(nb.bounded())
    assert describe_neighborhood("unbounded()") == "unbounded()"
    texts = [describe_neighborhood(vm.SymmetricIdDistance(name)) for name in ("a", "b")]
    assert len({*texts, "unbounded()", describe_neighborhood(nb.user())}) == 4
    for wrong in (None, "", " ", 5, vm.vectors(int), nb.partition(2)):
        with pytest.raises(ParameterError, match="does not say what neighbors are"):
            describe_neighborhood(wrong)


@pytest.mark.parametrize("d_in", [0, -1, "nan", float("nan"), float("inf"), 0.5, "x", None, [1]], ids=repr)
def test_distances_that_are_none_are_refused(book: Ledger, d_in: Any) -> None:
    with pytest.raises((ParameterError, NumberError)):
        book.define("visits", vm.pure(1), SPACE, d_in=d_in)
    assert book.head.seq == 1
