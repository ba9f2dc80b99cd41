"""The programs of the slides, proved by hand with the rules of the slides, and their exact costs."""

from collections.abc import Iterable
from fractions import Fraction

import pytest
from tests.logic.kernel.enumerator import World, excess
from tests.logic.kernel.proving import amount, facts, oracle, program, term

from viameter.errors import ParameterError
from viameter.logic.kernel.assertion import Assertion
from viameter.logic.kernel.context import Context
from viameter.logic.kernel.judgment import Judgment, Unproved
from viameter.logic.kernel.rules.budgets import awhile, iteration
from viameter.logic.kernel.rules.casing import frame
from viameter.logic.kernel.rules.fixed import counter
from viameter.logic.kernel.rules.laplace_rules import laplace_general, laplace_simple
from viameter.logic.kernel.rules.structure import append, assign, seq, skip
from viameter.logic.kernel.rules.weakening import consequence
from viameter.logic.kernel.rules.whole import concluded
from viameter.logic.lang.core import Append, Assign, Sample, Statement, While
from viameter.logic.lang.terms import ONE, Num, Term
from viameter.logic.solving.oracle import Oracle

ONE_DIFFERS = {"d": "abs(d<1>[any.k] - d<2>[any.k]) <= ite(any.k == differs.at, 1, 0)"}
LENGTH = 3


def straight(context: Context, statements: Iterable[Statement], post: Assertion) -> Judgment:
    """Assignments and appends, from the end."""
    found = skip(context, post)
    for statement in reversed(list(statements)):
        if isinstance(statement, Assign):
            found = seq(assign(context, statement, found.pre), found)
        else:
            assert isinstance(statement, Append)
            found = seq(append(context, statement, found.pre), found)
    return found


def asks_about(*body: str, claim: str, returns: str = "r") -> Oracle:
    made = program(*body, returns=returns, inputs=("d: list",), requires=(f"len(d) == {LENGTH}",))
    return oracle(made, claim, "true", each=ONE_DIFFERS, private=("d",), constants=("differs.at",))


def loop_of(asks: Oracle) -> While:
    return next(statement for statement in asks.context.program.body if isinstance(statement, While))


def proved(asks: Oracle, held: Assertion, body: Judgment, claim: str) -> Judgment:
    """The whole program from the judgment of its loop's body: what is before it, the loop, and the claim."""
    loop, variant = loop_of(asks), term(asks, "len(d) - i")
    ended = awhile(asks, loop, invariant=held, variant=variant, most=LENGTH, body=body)
    before = [s for s in asks.context.program.body if not isinstance(s, While)]
    whole = seq(straight(asks.context, before, ended.pre), ended)
    return concluded(asks, whole, amount(asks.context.program, claim))


def ratio(asks: Oracle, first: tuple[int, ...], second: tuple[int, ...]) -> Fraction:
    """The largest ratio of the probabilities of an output, e^eps = 2, among outputs that are far from being cut off."""
    world = World({"eps": (Fraction(2), 1)}, window=2)
    one, other = (world.outputs(asks.context.program.body, {"d": d}, "r")[0] for d in (first, second))
    return max(p / other[key] for key, p in one.items() if key in other)


SUMS = ("i := 0", "s := 0", "while i < len(d) do", "  s := s + d[i]", "  z :=$ lap(1/eps, s)", "  append(r, z)",
        "  i := i + 1", "end")  # fmt: skip
ELEMENTS = ("i := 0", "s := 0", "while i < len(d) do", "  z :=$ lap(1/eps, d[i])", "  s := s + z", "  append(r, s)",
            "  i := i + 1", "end")  # fmt: skip


def noise_on_sums(claim: str) -> Judgment:
    """DummySum 1: after the index where the lists differ all sums do, and each release costs eps."""
    asks = asks_about(*SUMS, claim=claim)
    loop, count = loop_of(asks), counter(loop_of(asks).at)
    held = facts(asks, "i<1> == i<2>", "i<1> >= 0", "same.r", "abs(s<1> - s<2>) <= ite(i<1> > differs.at, 1, 0)")
    before, after = iteration(asks.context, (loop, loop), held, term(asks, "len(d) - i"), count)
    add, draw, *rest = loop.body
    assert isinstance(draw, Sample)
    ends = straight(asks.context, rest, after)
    stays = facts(asks, "i<1> == i<2>", "i<1> >= 0", "same.r", "abs(s<1> - s<2>) <= ite(i<1> + 1 > differs.at, 1, 0)")
    noisy = frame(laplace_simple(asks.context, draw), (*stays, before[-1]))
    noisy = consequence(asks, noisy, post=ends.pre)
    begins = consequence(asks, straight(asks.context, [add], noisy.pre), pre=before)
    return proved(asks, held, seq(begins, seq(noisy, ends)), claim)


def noise_on_elements(claim: str) -> Judgment:
    """DummySum 2: eps is spent only at the index where the lists differ."""
    asks = asks_about(*ELEMENTS, claim=claim)
    loop, count = loop_of(asks), counter(loop_of(asks).at)
    held = facts(asks, "i<1> == i<2>", "i<1> >= 0", "same.r", "s<1> == s<2>")
    before, after = iteration(asks.context, (loop, loop), held, term(asks, "len(d) - i"), count)
    draw, *rest = loop.body
    assert isinstance(draw, Sample)
    ends = straight(asks.context, rest, after)
    far: Term = term(asks, f"ite(len(d) - {count} == differs.at, 1, 0)", count.name)
    noisy = frame(laplace_general(asks.context, draw, distance=far), before)
    return proved(asks, held, seq(consequence(asks, noisy, post=ends.pre), ends), claim)


def test_noise_on_running_sums_costs_n_eps() -> None:
    made = noise_on_sums("3*eps")
    assert [str(entry) for entry in made.post] == ["same.r"] and made.budget["eps"] == Num(3)
    with pytest.raises(Unproved, match="large enough"):
        noise_on_sums("2*eps")
    assert ratio(asks_about(*SUMS, claim="eps"), (0, 0, 0), (1, 0, 0)) == 8


def test_noise_on_elements_costs_eps() -> None:
    made = noise_on_elements("eps")
    assert [str(entry) for entry in made.post] == ["same.r"] and made.budget["eps"] == ONE
    with pytest.raises(Unproved, match="large enough"):
        noise_on_elements("9/10*eps")
    asks = asks_about(*ELEMENTS, claim="eps")
    assert max(ratio(asks, (0, 0, 0), second) for second in ((1, 0, 0), (0, 1, 0), (0, 0, -1))) == 2


MEAN = ("i := 0", "s := 0", "while i < len(d) do", "  s := s + d[i]", "  i := i + 1", "end", "z :=$ lap(1/eps, s // i)",
        "r := z")  # fmt: skip


def test_the_mean_costs_eps() -> None:
    """No noise in the loop: it costs nothing, and means of sums that differ by at most 1 do so too."""
    asks = asks_about(*MEAN, claim="eps")
    context, loop = asks.context, loop_of(asks)
    held = facts(
        asks, "i<1> == i<2>", "0 <= i<1>", "i<1> <= len(d)", "abs(s<1> - s<2>) <= ite(i<1> > differs.at, 1, 0)"
    )
    _, after = iteration(context, (loop, loop), held, term(asks, "len(d) - i"), counter(loop.at))
    variant = term(asks, "len(d) - i")
    body = straight(context, loop.body, after)
    ended = awhile(asks, loop, invariant=held, variant=variant, most=LENGTH, body=body)
    assert not ended.budget
    first, second, _, draw, last = context.program.body
    assert isinstance(draw, Sample)
    ends = straight(context, [last], facts(asks, "r<1> == r<2>"))
    noisy = seq(laplace_simple(context, draw), consequence(asks, ends, pre=facts(asks, "z<1> == z<2>")))
    rest = seq(consequence(asks, ended, post=noisy.pre), noisy)
    whole = seq(straight(context, [first, second], rest.pre), rest)
    made = concluded(asks, whole, amount(context.program, "eps"))
    assert made.budget["eps"] == ONE
    with pytest.raises(Unproved, match="large enough"):
        concluded(asks, whole, amount(context.program, "0*eps"))
    world = World({"eps": (Fraction(2), 1)})
    laws = {d: world.outputs(context.program.body, {"d": d}, "r") for d in ((0, 0, 2), (0, 0, 3), (1, 0, 2))}
    (one, _), (other, lost) = laws[0, 0, 2], laws[0, 0, 3]
    assert excess(one, other, Fraction(2)) <= 2 * lost < excess(one, other, Fraction(19, 10))


def test_a_hand_written_proof_ends_at_the_whole_program_only() -> None:
    asks = asks_about(*MEAN, claim="eps")
    with pytest.raises(ParameterError, match="body"):
        concluded(asks, skip(asks.context, facts(asks, "r<1> == r<2>")), amount(asks.context.program, "eps"))
