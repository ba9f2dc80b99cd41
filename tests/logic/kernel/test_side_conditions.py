"""Every side condition of sampling is needed: without it something false is proved, which exact probabilities show."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from tests.cases import for_each
from tests.logic.kernel.enumerator import World, excess, value
from tests.logic.kernel.proving import CLOSE, oracle, program, prove, proves, term

from viameter.arith import dyadic
from viameter.errors import ParameterError, ViameterError
from viameter.logic.kernel import before, context
from viameter.logic.kernel.assertion import Assertion
from viameter.logic.kernel.before import Choice
from viameter.logic.kernel.judgment import Unproved
from viameter.logic.kernel.proof import Proof
from viameter.logic.kernel.rules import structure
from viameter.logic.lang.core import Program
from viameter.logic.lang.terms import ONE, TRUE, ZERO, App, Num, Term, Var, ite
from viameter.logic.solving.oracle import Oracle

LINE = 5
UNRELATED = "q<1> == 1 and q<2> == 0"


def leak(made: Program, first: Any, second: Any, factor: Fraction, **budgets: tuple[Fraction, int]) -> Fraction:
    """By how much the first run's law exceeds factor times the second's, at least: a delta that cannot be avoided."""
    world = World({"eps": (Fraction(2), 2), **budgets}, window=10)
    one, _ = world.outputs(made.body, first, made.output.name)
    other, lost = world.outputs(made.body, second, made.output.name)
    return excess(one, other, factor) - factor * lost


def without(module: Any, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drop the clauses that say this."""
    real: Callable[..., Assertion] = module.clause

    def clause(told: Term, what: str = "", line: int = 0) -> Assertion:
        return () if words in what else real(told, what, line)

    monkeypatch.setattr(module, "clause", clause)


def next_drawn(name: str, ahead: int = 1) -> Var:
    """The variable that the rule will make for a draw."""
    return Var(f"{name}.v{next(before._NUMBERS) + ahead}")


def test_a_drawn_value_is_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the old value were kept in the pre-condition, a draw would be 0 since variables start as 0."""
    made = program("x :=$ lap(1/eps)", "if x != 0 then", "  r := q", "end")
    proof = Proof(split=frozenset({LINE + 1}))
    with pytest.raises(Unproved):
        prove(oracle(made, "0"), "0", proof)
    monkeypatch.setattr(before, "fresh", lambda var: Var(var.name, var.sort, 1))
    assert proves(oracle(made, "0"), "0", proof)
    assert leak(made, {"q": 1}, {"q": 2}, Fraction(1)) > Fraction(1, 4)


NOISY_MAX = (
    "a :=$ lap({}/eps)", "b :=$ lap({}/eps)", "if l[0] + a < l[1] + b then", "  r := 1", "end",
)  # fmt: skip


def noisy_max(scale: int, claim: str) -> tuple[Oracle, Proof]:
    """Report noisy max of two queries, each of which changes by at most 1, with the shifts that prove it."""
    made = program(*(line.format(scale) for line in NOISY_MAX), inputs=("l: list",), requires=("len(l) == 2",))
    asks = oracle(made, claim, "true", each={"l": "abs(l<1>[any.k] - l<2>[any.k]) <= 1"}, private=("l",))
    line = 6
    gap = "l<1>[0] - l<2>[0] - l<1>[1] + l<2>[1]"
    choices = {
        line: Choice(term(asks, f"ite(out.R == 0, {gap}, 0)")),
        line + 1: Choice(term(asks, f"ite(out.R == 1, -({gap}), 0)")),
    }
    return asks, Proof(pointwise=True, choices=choices, split=frozenset({line + 2}))


def test_report_noisy_max_needs_twice_the_noise() -> None:
    for scale, claim in ((2, "eps"), (1, "2*eps"), (4, "1/2*eps")):
        asks, proof = noisy_max(scale, claim)
        assert proves(asks, claim, proof)
    for scale, claim in ((1, "eps"), (2, "1/2*eps"), (1, "3/2*eps")):
        asks, proof = noisy_max(scale, claim)
        with pytest.raises(Unproved):
            prove(asks, claim, proof)
    # With e^eps = 4 and noise of scale 1/eps the claim of eps is false by far.
    made = noisy_max(1, "eps")[0].context.program
    world = World({"eps": (Fraction(2), 2)}, window=30)
    one, _ = world.outputs(made.body, {"l": (6, 13)}, "r")
    other, lost = world.outputs(made.body, {"l": (5, 14)}, "r")
    assert one[0] > Fraction(129, 10) * (other[0] + lost)
    assert one[0] <= 16 * (other[0] + lost)


def test_a_shift_is_injective(monkeypatch: pytest.MonkeyPatch) -> None:
    """Odd draws moved to even ones at a cost of one step: all draws of the second run would be even."""
    made = program("x :=$ lap(1/eps)", "if q == 1 or x % 2 == 0 then", "  r := 1", "end")
    asks = oracle(made, "eps", UNRELATED)
    proof = Proof(choices={LINE: Choice(term(asks, "x<1> % 2"))}, split=frozenset({LINE + 1}))
    with pytest.raises(Unproved, match="different draws"):
        prove(asks, "eps", proof)
    monkeypatch.setattr(before, "_injective", lambda *_, **__: ())
    assert proves(oracle(made, "eps", UNRELATED), "eps", proof)
    narrow = Fraction(10, 9)
    world = World({"eps": (narrow, 1)}, window=60)
    other, lost = world.outputs(made.body, {"q": 0}, "r")
    assert narrow * (other[1] + lost) < 1  # the first run always gives 1


@for_each("shift", ["(q<1> - q<2>)//2", "(q<1> - q<2> + 1)//2", "q<1> - q<2>", "0", "1", "(q<1> - q<2>)//2 + x<1>"])
def test_a_shift_is_whole(shift: str) -> None:
    """2*x + q: over the reals a shift of one half would do; on integers the output's parity tells q's."""
    made = program("x :=$ lap(1/eps)", "r := 2*x + q")
    for claim in ("1/2*eps", "100*eps"):
        asks = oracle(made, claim)
        with pytest.raises(Unproved):
            prove(asks, claim, Proof(choices={LINE: Choice(term(asks, shift))}))
    assert leak(made, {"q": 0}, {"q": 1}, Fraction(10**9)) > Fraction(9, 10) - Fraction(10**9, 4**10)


def test_a_scale_is_public(monkeypatch: pytest.MonkeyPatch) -> None:
    made = program("r :=$ lap((abs(q) + 1)/eps)")
    with pytest.raises(ParameterError):
        oracle(made, "0")
    monkeypatch.setattr(context, "check_public", lambda *_: None)
    assert proves(oracle(made, "0"), "0")
    assert leak(made, {"q": 0}, {"q": 1}, Fraction(1)) > Fraction(1, 5)


def test_exponential_noise_is_not_negative(monkeypatch: pytest.MonkeyPatch) -> None:
    made = program("x :=$ expo(1/eps)", "r := q + x")
    asks = oracle(made, "eps")
    proof = Proof(choices={LINE: Choice(term(asks, "q<1> - q<2>"))})
    with pytest.raises(Unproved, match="not negative"):
        prove(asks, "eps", proof)
    without(before, "not negative", monkeypatch)
    assert proves(oracle(made, "eps"), "eps", proof)
    assert leak(made, {"q": 0}, {"q": 1}, Fraction(10**6)) > Fraction(1, 2)


def test_a_coins_shift_does_not_depend_on_the_coin(monkeypatch: pytest.MonkeyPatch) -> None:
    """(v, v xor v): the second run's coin would always fall on the same side."""
    made = program("b :=$ flip(1/2)", "if q == 1 or not b then", "  r := 1", "end", budgets=())
    line = LINE - 1
    drawn = Choice(Var(next_drawn("b").name, "bool"))
    with pytest.raises(ParameterError):
        prove(oracle(made, "0", UNRELATED), "0", Proof(choices={line: drawn}, split=frozenset({line + 1})))
    monkeypatch.setattr(before, "check_choice", lambda *_, **__: None)
    drawn = Choice(Var(next_drawn("b").name, "bool"))
    assert proves(oracle(made, "0", UNRELATED), "0", Proof(choices={line: drawn}, split=frozenset({line + 1})))
    assert leak(made, {"q": 1}, {"q": 0}, Fraction(1)) == Fraction(1, 2)


@for_each(("probability", "sure"), [("0", "not b"), ("1", "b")])
def test_a_coin_that_always_falls_the_same_way_is_not_turned(probability: str, sure: str) -> None:
    """It costs nothing: if it could be turned, one run would give 1 and the other 0, for free."""
    made = program(f"b :=$ flip({probability})", f"if (q == 1) == ({sure}) then", "  r := 1", "end", budgets=())
    line = LINE - 1
    with pytest.raises(ParameterError, match="always falls the same way"):
        prove(oracle(made, "0", UNRELATED), "0", Proof(choices={line: Choice(TRUE)}, split=frozenset({line + 1})))
    assert leak(made, {"q": 1}, {"q": 0}, Fraction(10**9)) == 1


def test_a_bound_is_the_same_in_both_runs() -> None:
    """A bound that one run draws would be another number each time, and cost what it happens to be."""
    made = program("n :=$ uniform(0, 3)", "r :=$ gauss(3, q)", budgets=())
    for bound, why in (("n<1>", "must be public"), ("q<2>", "must be public"), ("n<2>", "must be public")):
        asks = oracle(made, "1/2*rho")
        with pytest.raises(ParameterError, match=why):
            prove(asks, "1/2*rho", Proof(choices={LINE: Choice(ZERO, (term(asks, bound),))}))


@for_each(("then", "orelse"), [(2, -3), (-2, 3), (-2, -3), (2, 3), (0, -1)])
def test_a_shift_by_cases_costs_its_size_in_each_case(then: int, orelse: int) -> None:
    case = ite(Var("b", "bool"), Num(then), Num(orelse))
    for first, size in ((True, abs(then)), (False, abs(orelse))):
        for rate in (Num(5), Var("n")):
            found = before.times(rate, App("abs", (case,)))
            assert value(found, {"b": first, "n": 5}) == 5 * size


def test_what_is_known_of_elements_ends_with_the_list() -> None:
    """A read past the end gives 0, whatever holds of elements: here they are at least 1, and r tells of q."""
    made = program(
        "if l[q] >= 1 then", "  r := 0", "else", "  r := 1", "end",
        inputs=("q: int", "l: list"), requires=("0 <= q and q <= len(l)",), each=("l: l[any.k] >= 1",),
    )  # fmt: skip
    with pytest.raises(Unproved, match="same branch"):
        prove(oracle(made, "0"), "0")
    below = program(
        "if l[q] >= 1 then", "  r := 0", "else", "  r := 1", "end",
        inputs=("q: int", "l: list"), requires=("0 <= q and q < len(l)",), each=("l: l[any.k] >= 1",),
    )  # fmt: skip
    assert proves(oracle(below, "0"), "0")
    assert leak(made, {"q": 0, "l": (1,)}, {"q": 1, "l": (1,)}, Fraction(10**9)) == 1


def test_a_rotation_does_not_depend_on_the_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    made = program("x :=$ uniform(0, 4)", "if q == 1 or x == 0 then", "  r := 1", "end", budgets=())
    line = LINE - 1

    def attempt() -> Any:
        drawn = next_drawn("x")
        asks = oracle(made, "0", UNRELATED)
        choice = Choice(term(asks, f"-{drawn}", drawn.name))
        return prove(asks, "0", Proof(choices={line: choice}, split=frozenset({line + 1})))

    with pytest.raises(ParameterError):
        attempt()
    monkeypatch.setattr(before, "check_choice", lambda *_, **__: None)
    assert attempt().rule == "consequence"
    assert leak(made, {"q": 1}, {"q": 0}, Fraction(1)) == Fraction(4, 5)


def test_both_runs_draw_from_one_range_that_has_values(monkeypatch: pytest.MonkeyPatch) -> None:
    made = program("r :=$ uniform(0, q)")
    with pytest.raises(Unproved, match="the same range"):
        prove(oracle(made, "0"), "0")
    with pytest.raises(Unproved, match="not empty"):
        prove(oracle(made, "0", "q<1> == q<2>"), "0")
    assert proves(oracle(made, "0", "q<1> == q<2> and q<1> >= 0"), "0")
    without(before, "the same range", monkeypatch)
    assert proves(oracle(made, "0", f"{CLOSE} and q<1> >= 0"), "0")
    assert leak(made, {"q": 0}, {"q": 1}, Fraction(1)) == Fraction(1, 2)


def test_scores_change_within_the_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    made = program("r :=$ choose(l, 1/eps)", inputs=("l: list",))
    each = {"l": "abs(l<1>[any.k] - l<2>[any.k]) <= 1"}

    def asks(claim: str) -> Oracle:
        return oracle(made, claim, "true", each=each, private=("l",))

    none = Proof(choices={LINE: Choice(ZERO, (ZERO, ZERO))})
    wide = Proof(choices={LINE: Choice(ZERO, (Num(-1), ONE))})
    assert proves(asks("2*eps"), "2*eps", wide)
    with pytest.raises(Unproved):
        prove(asks("eps"), "eps", wide)
    with pytest.raises(Unproved, match="within the bounds"):
        prove(asks("0"), "0", none)
    without(before, "within the bounds", monkeypatch)
    assert proves(asks("0"), "0", none)
    assert leak(made, {"l": (0, 0)}, {"l": (1, -1)}, Fraction(1)) > Fraction(2, 5)


def test_the_bounds_on_scores_are_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """For an empty list the bounds bound nothing: the wrong way round they would pay for noise elsewhere."""
    made = program(
        "x :=$ choose(l, 1/eps)", "r :=$ lap(1/eps, q)", inputs=("q: int", "l: list"), requires=("len(l) == 0",)
    )

    def asks() -> Oracle:
        return oracle(made, "0", CLOSE, private=("q", "l"))

    proof = Proof(choices={7: Choice(ZERO, (ONE, ZERO))})
    with pytest.raises(Unproved, match="in order"):
        prove(asks(), "0", proof)
    without(before, "in order", monkeypatch)
    assert proves(asks(), "0", proof)
    assert leak(made, {"q": 0, "l": ()}, {"q": 1, "l": ()}, Fraction(1)) > Fraction(1, 5)


def test_a_gaussian_shift_does_not_depend_on_the_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """Away from 0 and 1 by one step, either way: a shift of 1, but the second run avoids two values altogether."""
    made = program("x :=$ gauss(1)", "if q == 1 or (x != 0 and x != 1) then", "  r := 1", "end", budgets=())
    line = LINE - 1

    def attempt() -> Any:
        asks = oracle(made, "1/2*rho", UNRELATED)
        choice = Choice(term(asks, "ite(x<1> > 0, 1, -1)"), (ONE,))
        return prove(asks, "1/2*rho", Proof(choices={line: choice}, split=frozenset({line + 1})))

    with pytest.raises(ParameterError, match="must not depend on the drawn value"):
        attempt()
    monkeypatch.setattr(before, "check_choice", lambda *_, **__: None)
    assert attempt().rule == "consequence"
    # P(x = 0) + P(x = 1) from below: the weights exp(-k^2/2) beyond 6 sum to less than 2^-20.
    below = [dyadic.exp_down(Fraction(-k * k, 2)) for k in (0, 1)]
    total = sum((dyadic.exp_up(Fraction(-k * k, 2)) for k in range(-6, 7)), Fraction(1, 2**20))
    second = 1 - sum(below) / total
    # The first run gives 1 for sure: its divergence of any order is -ln P2(1), and rho * order = 1/2 near order 1.
    assert second < dyadic.exp_down(Fraction(-1, 2))


def test_gaussian_cost_is_for_the_bound_on_the_shift() -> None:
    made = program("r :=$ gauss(3, q)", budgets=())
    for bound, claim, fine in (
        (1, "1/18*rho", True),
        (1, "1/19*rho", False),
        (0, "1/18*rho", False),
        (2, "1/18*rho", False),
        (2, "1/9*rho", False),
        (2, "2/9*rho", True),
    ):
        asks = oracle(made, claim)
        proof = Proof(choices={LINE - 1: Choice(ZERO, (term(asks, str(bound)),))})
        if fine:
            assert proves(asks, claim, proof)
        else:
            with pytest.raises(Unproved):
                prove(asks, claim, proof)


def test_concentrated_cost_stands_alone_and_is_not_pointwise() -> None:
    made = program("x :=$ gauss(3, q)", "r :=$ lap(1/eps, x)")
    with pytest.raises(ParameterError):
        prove(oracle(made, "1/18*rho"), "1/18*rho", Proof(choices={LINE: Choice(ZERO, (ONE,))}))
    asks = oracle(program("r :=$ gauss(3, q)", budgets=()), "1/18*rho")
    with pytest.raises(ParameterError):
        prove(asks, "1/18*rho", Proof(pointwise=True, choices={LINE - 1: Choice(ZERO, (ONE,))}))


def test_runs_take_the_same_branch(monkeypatch: pytest.MonkeyPatch) -> None:
    made = program("if q > 0 then", "  r := 1", "else", "  r := 2", "end")
    with pytest.raises(Unproved, match="same branch"):
        prove(oracle(made, "0"), "0")
    without(structure, "same branch", monkeypatch)
    assert proves(oracle(made, "0"), "0")
    assert leak(made, {"q": 1}, {"q": 0}, Fraction(10**9)) == 1


def test_a_list_that_one_run_appends_to_is_not_the_same_any_more() -> None:
    made = program("if q > 0 then", "  append(r, 1)", "end")
    with pytest.raises(ViameterError):
        prove(oracle(made, "0"), "0", Proof(split=frozenset({LINE})))
    made = program("if q > 0 then", "  append(r, 1)", "else", "  append(r, 1)", "end")
    with pytest.raises(ViameterError):  # true, but nothing is known of lists that the runs append to apart
        prove(oracle(made, "0"), "0", Proof(split=frozenset({LINE})))


def test_branches_apart_have_no_noise_and_no_loop() -> None:
    for inner in (("x :=$ lap(1/eps)",), ("while r < 3 do", "r := r + 1", "end")):
        made = program("r := 0", "if q > 0 then", *inner, "end", "r := 0")
        variants = {LINE + 2: term(oracle(made, "eps"), "3 - r")}
        with pytest.raises(ParameterError, match="no noise and no loop"):
            prove(oracle(made, "eps"), "eps", Proof(split=frozenset({LINE + 1}), variants=variants))


@pytest.mark.parametrize("claim", ["0", "1/2*eps", "99/100*eps"])
def test_less_than_the_true_cost_is_never_proved(claim: str) -> None:
    for body in (
        ("r :=$ lap(1/eps, q)",),
        ("x :=$ lap(1/eps)", "r := q + x"),
        ("x :=$ lap(2/eps)", "r :=$ lap(2/eps, q)", "r := q + x"),
    ):
        made = program(*body)
        for shift in ("0", "q<1> - q<2>", "1"):
            asks = oracle(made, claim)
            with pytest.raises(Unproved):
                prove(asks, claim, Proof(choices={LINE: Choice(term(asks, shift))}))
