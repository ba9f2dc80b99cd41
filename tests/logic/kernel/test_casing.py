"""Cases and frames: what is proved for both cases, and facts that stay true."""

from fractions import Fraction
from itertools import product

import pytest
from tests.cases import for_each
from tests.logic.kernel.enumerator import World, pair_memory, shortfall, value
from tests.logic.kernel.proving import amount, facts, oracle, program, term

from viameter.errors import ParameterError
from viameter.logic.kernel.before import Choice
from viameter.logic.kernel.judgment import Unproved
from viameter.logic.kernel.rules.casing import case, frame
from viameter.logic.kernel.rules.finite import finite
from viameter.logic.kernel.rules.laplace_rules import laplace_general, laplace_shifted, laplace_simple
from viameter.logic.kernel.rules.sampling import sample
from viameter.logic.kernel.rules.structure import append, assign, assign_one, seq, skip
from viameter.logic.kernel.rules.weakening import consequence
from viameter.logic.kernel.rules.whole import concluded
from viameter.logic.lang.core import Append, Assign, Sample
from viameter.logic.lang.terms import ONE, ZERO, Num, Var
from viameter.logic.solving.oracle import Oracle


def noise() -> tuple[Oracle, Sample]:
    asks = oracle(program("a := 0", "append(o, 1)", "r :=$ lap(1/eps, q)", inputs=("q: int", "t: int")), "eps")
    statement = asks.context.program.body.statements[2]
    assert isinstance(statement, Sample)
    return asks, statement


def test_cases_cover_each_pair_of_memories() -> None:
    """|q<1> - q<2>| is 0 or 1: equal outputs in one case, outputs that differ by 1 in the other, each for its price."""
    asks, statement = noise()
    test = term(asks, "q<1> == q<2>")
    shared = facts(asks, "abs(r<1> - r<2>) <= 1")
    yes = consequence(asks, laplace_general(asks.context, statement, distance=ZERO), post=shared)
    moved = laplace_shifted(asks.context, statement, shift=term(asks, "q<2> - q<1>"), distance=ZERO)
    other = frame(moved, facts(asks, "abs(q<1> - q<2>) <= 1"))
    made = case(test, yes, consequence(asks, other, post=shared))
    whole = consequence(asks, made, pre=facts(asks, "abs(q<1> - q<2>) <= 1"))
    assert not whole.budget
    world = World({"eps": (Fraction(2), 1)})
    for first, second in product((0, 1, 2), repeat=2):
        one, _ = world.law(statement.law, {"q": first})
        law, lost = world.law(statement.law, {"q": second})
        missing = shortfall(one, law, Fraction(1), lambda a, b: abs(a - b) <= 1)
        assert (missing <= lost) == (abs(first - second) <= 1)


def test_both_cases_are_about_the_same_and_the_case_is_known_before() -> None:
    asks, statement = noise()
    yes = laplace_simple(asks.context, statement)
    test = term(asks, "q<1> > q<2>")
    assert case(test, yes, yes).pre == facts(
        asks, "q<1> > q<2> => abs(q<1> - q<2>) <= 1", "not q<1> > q<2> => abs(q<1> - q<2>) <= 1"
    )
    with pytest.raises(ParameterError, match="the same assertion within the same budget"):
        case(test, yes, consequence(asks, yes, budget={"eps": Num(2)}))
    with pytest.raises(ParameterError, match="the same assertion within the same budget"):
        case(test, yes, consequence(asks, yes, post=()))
    with pytest.raises(ParameterError, match="different programs"):
        case(test, yes, skip(asks.context, yes.post))
    other, again = noise()
    with pytest.raises(ParameterError, match="different contexts"):
        case(test, yes, laplace_simple(other.context, again))
    for wrong in (Var("r.v3", "bool"), Var("x.v1"), term(asks, "q<1>"), Var("nobody", "bool", 1)):
        with pytest.raises(ParameterError):
            case(wrong, yes, yes)


def test_a_case_of_what_is_drawn_would_choose_the_coupling_afterwards() -> None:
    """A coin made equal to one thing if it falls heads, and to another if not: the case is not known before."""
    asks = oracle(program("b :=$ flip(1/2)", "if b then", "  r := 1", "end", budgets=()), "ln(2)", "true")
    statement = asks.context.program.body.statements[0]
    assert isinstance(statement, Sample)
    same = finite(asks.context, statement, relation=term(asks, "b<1> == b<2>"))
    apart = finite(asks.context, statement, relation=term(asks, "b<1> == (not b<2>)"))
    both = facts(asks, "b<1> => b<2>")
    yes = consequence(asks, same, post=both)
    with pytest.raises(Unproved):
        consequence(asks, apart, post=both)
    # b<1> in a case is the coin before it is thrown; it says nothing about the throw.
    assert case(term(asks, "b<1>"), yes, yes).pre == ()


def test_facts_about_what_does_not_change_are_kept() -> None:
    asks, statement = noise()
    made = laplace_simple(asks.context, statement)
    kept = facts(asks, "a<1> == 3", "a<2> <= t", "q<1> <= q<2>", "same.o", "cost.eps <= 1")
    found = frame(made, kept)
    assert (found.pre, found.post, found.budget) == ((*made.pre, *kept), (*made.post, *kept), made.budget)


@for_each("text", ["r<1> == 0", "r<2> == 0", "a<1> + r<1> == 0"])
def test_a_fact_about_what_is_drawn_is_not_kept(text: str) -> None:
    """It would survive the draw: the trap of facts about noise that are not fresh."""
    asks, statement = noise()
    with pytest.raises(ParameterError, match="cannot be kept"):
        frame(laplace_simple(asks.context, statement), facts(asks, text))


def test_a_frame_looks_at_each_run_and_at_ghosts() -> None:
    asks, statement = noise()
    first, second, _ = asks.context.program.body
    assert isinstance(first, Assign) and isinstance(second, Append)
    one = assign_one(asks.context, first, (), side=1)
    assert frame(one, facts(asks, "a<2> == 5")).post == facts(asks, "a<2> == 5")
    with pytest.raises(ParameterError):
        frame(one, facts(asks, "a<1> == 5"))
    with pytest.raises(ParameterError):
        frame(append(asks.context, second, ()), facts(asks, "same.o"))
    spends = sample(asks.context, statement, Choice(), ())
    with pytest.raises(ParameterError, match="it is spent"):
        frame(spends, facts(asks, "cost.eps == 0"))
    assert frame(spends, facts(asks, "same.o")).post == facts(asks, "same.o")
    with pytest.raises(ParameterError, match="drawn"):
        frame(laplace_simple(asks.context, statement), facts(asks, "a.v2 == 0", integers=("a.v2",)))


def test_a_frame_over_a_whole_sequence_looks_into_all_of_it() -> None:
    asks, statement = noise()
    first, second, _ = asks.context.program.body
    assert isinstance(first, Assign) and isinstance(second, Append)
    draw = laplace_simple(asks.context, statement)
    whole = seq(seq(assign(asks.context, first, draw.pre), append(asks.context, second, draw.pre)), draw)
    for text in ("a<1> == 0", "same.o", "r<2> == 0"):
        with pytest.raises(ParameterError):
            frame(whole, facts(asks, text))
    made = concluded(asks, frame(whole, facts(asks, "q<1> >= t or q<1> < t")), amount(asks.context.program, "eps"))
    assert made.budget == {"eps": ONE}
    runs = {"q": 0, "t": 0}, {"q": 1, "t": 0}
    assert all(value(entry.term, pair_memory(*runs) | {"t": 0}) for entry in whole.pre)
