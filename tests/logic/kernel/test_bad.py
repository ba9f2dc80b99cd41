"""Up to bad: what holds unless noise is large holds with a delta, and only for what has partners."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.cases import for_each
from tests.logic.kernel.enumerator import World, excess
from tests.logic.kernel.proving import amount, facts, oracle, program, term

from viameter.errors import NoTheorem, ParameterError
from viameter.logic.kernel.assertion import under
from viameter.logic.kernel.before import Choice
from viameter.logic.kernel.judgment import Judgment, Unproved
from viameter.logic.kernel.rules import bad as bad_rule
from viameter.logic.kernel.rules.bad import Bad, up_to_bad
from viameter.logic.kernel.rules.casing import frame
from viameter.logic.kernel.rules.laplace_rules import laplace_null
from viameter.logic.kernel.rules.sampling import sample
from viameter.logic.kernel.rules.structure import assign, seq
from viameter.logic.kernel.rules.weakening import consequence
from viameter.logic.kernel.rules.whole import concluded
from viameter.logic.lang.core import Assign, Block, If, Laplace, Sample
from viameter.logic.lang.scales import Unit
from viameter.logic.lang.terms import Num, not_
from viameter.logic.solving.oracle import Oracle

WORLD = World({"eps": (Fraction(2), 1)}, window=40)
CLAIM = "1/1000000*delta"


def first_draw(law: str, claim: str = CLAIM) -> tuple[Oracle, Sample]:
    asks = oracle(program(f"x :=$ {law}", "r := 0"), claim, "true")
    statement = asks.context.program.body.statements[0]
    assert isinstance(statement, Sample)
    return asks, statement


@for_each("law", ["lap(1/ln(2))", "lap(1/ln(2), q)", "lap(1/2/ln(3))", "expo(1/ln(2))", "uniform(0 - 3, 8)"])
@for_each("either", [False, True])
def test_tails_are_exact(law: str, either: bool) -> None:
    asks, statement = first_draw(law)
    for beyond in (0, 1, 5, 9):
        table, lost = WORLD.law(statement.law, {"q": 4})
        middle = 4 if "q" in law else 0
        size = {k: abs(k - middle) if either else k - middle for k in table}
        known = sum((p for k, p in table.items() if size[k] > beyond), Fraction(0))
        assert known <= Bad(statement, beyond, either).probability(asks.context) <= known + lost


def test_an_irrational_tail_is_rounded_up() -> None:
    asks, statement = first_draw("lap(3)")
    found = Bad(statement, 29, either=True).probability(asks.context)  # 2 e^-10/(1 + e^(-1/3))
    low, high = Fraction(52897, 10**9), Fraction(52898, 10**9)
    assert low < found < high
    for law in ("lap(1/eps)", "flip(1/3)", "uniform(0, q)", "lap((abs(q) + 1)/ln(2))"):
        try:
            asks, statement = first_draw(law)
        except ParameterError:
            continue
        with pytest.raises((NoTheorem, ParameterError)):
            Bad(statement, 3).probability(asks.context)
    asks, statement = first_draw("lap(3)")
    for beyond in (-1, True, Fraction(1, 2)):
        with pytest.raises(ParameterError):
            Bad(statement, beyond).probability(asks.context)  # type: ignore[arg-type]


def rounded(limit: int, text: str) -> tuple[Oracle, Judgment, Bad]:
    """The judgment that a rounded noisy q in {0, 1} is the same in both runs unless the noise is above a limit."""
    made = program("x :=$ lap(1/ln(2))", f"r := {text}", budgets=(), requires=("0 <= q and q <= 1",))
    asks = oracle(made, CLAIM, "true", units={"ln(2)": Unit(1), "delta": Unit(10**6)})
    draw, last = made.body
    assert isinstance(draw, Sample) and isinstance(last, Assign)
    bad = Bad(draw, limit, either=True)
    ends = assign(asks.context, last, under(not_(bad.event(asks.context)), facts(asks, "r<1> == r<2>")))
    return asks, seq(consequence(asks, laplace_null(asks.context, draw), post=ends.pre), ends), bad


def test_what_holds_unless_noise_is_large_holds_with_the_probability_of_that_as_delta() -> None:
    """(q + x + 6) // 13 is 0 for |x| <= 5, whatever q is."""
    for limit in (0, 3, 5):
        asks, judgment, bad = rounded(limit, "(q + x + 6) // 13")
        equal = facts(asks, "r<1> == r<2>")
        found = up_to_bad(judgment, bad, equal)
        tail = 2 * Fraction(1, 2) ** (limit + 1) / Fraction(3, 2)
        told = found.budget["delta"]
        assert isinstance(told, Num) and Fraction(told.value - 1, 10**6) < tail <= Fraction(told.value, 10**6)
        assert concluded(asks, found, amount(asks.context.program, "delta")).post == equal
        one, other = (WORLD.outputs(asks.context.program.body, {"q": q}, "r") for q in (0, 1))
        assert 0 < excess(one[0], other[0], Fraction(1)) <= tail
    for limit, text in ((5, "(q + x) // 13"), (6, "(q + x + 6) // 13")):
        with pytest.raises(Unproved):
            rounded(limit, text)


def test_what_may_have_no_partner_is_refused() -> None:
    """For Q = false, and a bad event that is all there is, the premise would be true."""
    asks, statement = first_draw("uniform(5, 6)")
    bad = Bad(statement, 4)
    event = bad.event(asks.context)
    last = asks.context.program.body.statements[1]
    assert isinstance(last, Assign)
    for post in (
        ("false",),
        ("r<1> == r<2> + 1",),
        ("r<1> <= r<2>",),
        ("x<1> == r<2>",),
        ("q<1> == q<2>",),
        ("r<2> == 0",),
    ):
        wanted = facts(asks, *post)
        ends = assign(asks.context, last, under(not_(event), wanted))
        drawn = sample(asks.context, statement, Choice(), ends.pre)
        with pytest.raises(ParameterError, match="no partner"):
            up_to_bad(seq(drawn, ends), bad, wanted)


def test_the_premise_ends_in_not_bad_implies_the_conclusion() -> None:
    asks, statement = first_draw("lap(1/ln(2))")
    bad, equal = Bad(statement, 3), facts(asks, "r<1> == r<2>")
    last = asks.context.program.body.statements[1]
    assert isinstance(last, Assign)
    event = bad.event(asks.context)
    null = laplace_null(asks.context, statement)
    other = [facts(asks, text) for text in ("not x<1> > 4 => r<1> == r<2>", "not x<2> > 3 => r<1> == r<2>")]
    for post in (under(event, equal), (), *other):
        ends = assign(asks.context, last, post)
        with pytest.raises(ParameterError, match="not bad => Q"):
            up_to_bad(seq(consequence(asks, null, post=ends.pre), ends), bad, equal)


@for_each(
    ("body", "at"),
    [
        (("x :=$ lap(1/ln(2))", "x := x + 100", "r := 0"), 0),
        (("x :=$ lap(1/ln(2))", "if q > 0 then", "  x := 100", "end", "r := 0"), 0),
        (("x :=$ lap(1/ln(2))", "x :=$ lap(1/ln(2))", "r := 0"), 0),
        (("x :=$ lap(1/ln(2))", "x :=$ lap(1/ln(2))", "r := 0"), 1),
        (("c := 0", "x :=$ lap(1/ln(2), c)", "c := 50", "r := 0"), 1),
        (("x := 0", "x :=$ lap(1/ln(2), x)", "r := 0"), 1),
    ],
)  # fmt: skip
def test_the_event_is_decided_by_one_draw(body: tuple[str, ...], at: int) -> None:
    made = program(*body, budgets=())
    draw = made.body.statements[at]
    assert isinstance(draw, Sample)
    with pytest.raises(ParameterError):
        Bad(draw, 3).check_decided(made.body)


def test_the_event_is_about_the_center_before_the_draw() -> None:
    """x :=$ lap(1/ln(2), x) as no text says it: afterwards x - x is 0, and no event at all."""
    made = program("x :=$ lap(1/ln(2), q)", "r := 0", budgets=())
    draw, last = made.body
    assert isinstance(draw, Sample) and isinstance(draw.law, Laplace)
    around_itself = replace(draw, law=replace(draw.law, center=draw.target))
    with pytest.raises(ParameterError, match="the center speaks of x"):
        Bad(around_itself, 3).check_decided(Block((around_itself, last)))


def test_the_draw_is_made_always_and_once() -> None:
    """A draw in a branch or a loop is made never, or often; its variable may be large for other reasons."""
    branch = ("if q > 0 then", "  x :=$ lap(1/ln(2))", "end")
    loop = ("while r < 5 do", "  x :=$ lap(1/ln(2))", "  r := r + 1", "end")
    for lines in (branch, loop):
        made = program("r := 0", *lines, "r := 0", budgets=())
        inner: Any = made.body.statements[1]
        draw: Any = (inner.then if isinstance(inner, If) else inner.body).statements[0]
        with pytest.raises(ParameterError, match="made once"):
            Bad(draw, 3).check_decided(made.body)
    made = program("x :=$ lap(1/ln(2))", "r := 0", budgets=())
    same = made.body.statements[0]
    assert isinstance(same, Sample)
    copy = Sample(same.target, same.law, 99)
    with pytest.raises(ParameterError, match="made once"):
        Bad(copy, 3).check_decided(made.body)
    Bad(same, 3).check_decided(made.body)


def test_reassigning_the_variable_would_give_a_delta_that_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """x is replaced by 100 after the draw: bad is certain, and its tail of 1/12 would be counted."""
    made = program("x :=$ lap(1/ln(2))", "x := 100", "r := q", budgets=())
    asks = oracle(made, CLAIM, "true", units={"ln(2)": Unit(1), "delta": Unit(12)})
    draw, change, last = made.body
    assert isinstance(draw, Sample) and isinstance(change, Assign) and isinstance(last, Assign)
    bad, equal = Bad(draw, 2), facts(asks, "r<1> == r<2>")
    tail = assign(asks.context, last, under(not_(bad.event(asks.context)), equal))
    ends = seq(assign(asks.context, change, tail.pre), tail)
    judgment = seq(consequence(asks, laplace_null(asks.context, draw), post=ends.pre), ends)
    with pytest.raises(ParameterError, match="assigned elsewhere"):
        up_to_bad(judgment, bad, equal)
    monkeypatch.setattr(bad_rule.Bad, "check_decided", lambda *_: None)
    assert dict(up_to_bad(judgment, bad, equal).budget) == {"delta": Num(1)}
    one, other = (WORLD.outputs(made.body, {"q": q}, "r")[0] for q in (0, 1))
    assert excess(one, other, Fraction(1)) > Fraction(9, 10)


def test_deltas_add_up_and_rho_has_none() -> None:
    made = program("x :=$ lap(1/ln(2))", "r := 0", budgets=())
    asks = oracle(made, CLAIM, "true", units={"ln(2)": Unit(1), "delta": Unit(3), "rho": Unit(1)})
    draw, last = made.body
    assert isinstance(draw, Sample) and isinstance(last, Assign)
    bad = Bad(draw, 0)
    equal = facts(asks, "r<1> == r<2>")
    ends = assign(asks.context, last, under(not_(bad.event(asks.context)), equal))
    whole = seq(consequence(asks, laplace_null(asks.context, draw), post=ends.pre), ends)
    with pytest.raises(ParameterError, match="rho"):
        up_to_bad(whole, bad, equal)
    asks = oracle(made, CLAIM, "true", units={"ln(2)": Unit(1), "delta": Unit(3)})
    ends = assign(asks.context, last, under(not_(bad.event(asks.context)), equal))
    whole = seq(consequence(asks, laplace_null(asks.context, draw), post=ends.pre), ends)
    spent = consequence(asks, whole, budget={"delta": Num(1)})
    assert dict(up_to_bad(spent, bad, equal).budget) == {"delta": Num(2)}
    kept = frame(up_to_bad(spent, bad, equal), facts(asks, "q<1> == q<2>"))
    assert kept.post == (*equal, *facts(asks, "q<1> == q<2>"))
    assert term(asks, "x<1> > 0") == bad.event(asks.context)
