"""Independent statements in another order: the same law, and nothing else is reordered."""

from fractions import Fraction
from random import Random

import pytest
from tests.cases import for_each
from tests.logic.kernel.enumerator import World
from tests.logic.kernel.proving import facts, oracle, program

from viameter.errors import ParameterError
from viameter.logic.kernel.rules.laplace_rules import laplace_null
from viameter.logic.kernel.rules.moves import is_reordered, moved, reorder, swap, why_dependent
from viameter.logic.kernel.rules.structure import assign, seq, skip
from viameter.logic.kernel.rules.weakening import consequence
from viameter.logic.lang.core import Assign, Block, Program, Sample, statements_of
from viameter.logic.lang.parsing import canonical
from viameter.logic.lang.text import show_program

WORLD = World({"eps": (Fraction(2), 1)}, window=2)
LINES = (
    "x :=$ lap(1/eps)", "x :=$ lap(1/eps, y)", "y :=$ flip(1/3)", "y := x > 0", "z := q + 1", "z := z + x", "x := 2",
    "append(o, z)", "append(o, 1)", "if z > 0 then\n  x := z\nend",
    "if q > 0 then\n  z := 3\nelse\n  append(o, 2)\nend", "while z < 2 do\n  z := z + 1\nend",
    "y :=$ uniform(0, 2)", "x :=$ expo(1/eps)",
)  # fmt: skip


def same_law(one: Program, other: Program) -> bool:
    return all(WORLD.run(one.body, {"q": q}) == WORLD.run(other.body, {"q": q}) for q in (-1, 0, 2))


def random_program(random: Random) -> Program | None:
    lines = ["x := 0", "z := 0", *(line for text in random.choices(LINES, k=4) for line in text.split("\n")), "r := 1"]
    try:
        return program(*lines)
    except ParameterError:  # two sorts for one name
        return None


def test_a_move_leaves_the_law_of_all_variables_as_it_was() -> None:
    random, done, refused = Random(12), 0, 0
    while done < 60:
        made = random_program(random)
        if made is None:
            continue
        draws = [s for s in statements_of(made.body) if isinstance(s, Sample)]
        if not draws:
            continue
        draw, past = random.choice(draws), random.randint(1, 2)
        try:
            after = moved(made, draw.at, past)
        except ParameterError:
            refused += 1
            continue
        done += 1
        assert same_law(made, after), show_program(made)
        assert canonical(after) == after and is_reordered(made.body, after.body)
        assert [s.at for s in statements_of(after.body)] == sorted(s.at for s in statements_of(after.body))
    assert refused >= 10


def test_statements_that_are_called_independent_commute() -> None:
    random, independent = Random(13), 0
    for _ in range(250):
        made = random_program(random)
        if made is None:
            continue
        statements = list(made.body)
        at = random.randrange(2, len(statements) - 1)
        if why_dependent(statements[at], statements[at + 1]):
            continue
        independent += 1
        statements[at], statements[at + 1] = statements[at + 1], statements[at]
        other = Program(made.name, made.inputs, made.budgets, (), Block(tuple(statements)), made.output)
        assert same_law(made, other) and is_reordered(made.body, other.body)
    assert independent >= 40


@for_each(
    "lines",
    [
        ("x :=$ lap(1/eps)", "r := x"),
        ("x :=$ lap(1/eps)", "x := 3"),
        ("y := 1", "x :=$ lap(1/eps, y)", "y := 2"),
        ("x :=$ lap(1/eps)", "if q > 0 then", "  r := x", "end"),
        ("x :=$ lap(1/eps)", "if q > 0 then", "  while r < x do", "    r := r + 1", "  end", "end"),
        ("y := 0", "x :=$ uniform(0, y + 1)", "if q > 0 then", "  y := 2", "end"),
        ("x :=$ lap(1/eps)", "append(o, x)"),
        ("x :=$ lap(1/eps)", "x :=$ lap(1/eps)"),
        ("x :=$ lap(1/eps)", "z :=$ lap(1/eps, x)"),
    ],
)  # fmt: skip
def test_a_draw_does_not_move_past_what_depends_on_it(lines: tuple[str, ...]) -> None:
    made = program("r := 0", *lines, "r := 0")
    draw = next(s for s in statements_of(made.body) if isinstance(s, Sample))
    with pytest.raises(ParameterError, match="cannot be moved"):
        moved(made, draw.at, 1)


def test_a_move_is_of_a_draw_within_its_block() -> None:
    made = program("x :=$ lap(1/eps)", "r := 1", "while r < 2 do", "  y :=$ lap(1/eps)", "  r := r + 1", "end")
    wrong = (6, 1, "draws nothing"), (5, 3, "only 2"), (8, 2, "only 1"), (99, 1, "no statement"), (4, 1, "no stat")
    for line, past, why in wrong:
        with pytest.raises(ParameterError, match=why):
            moved(made, line, past)
    for far in (0, -1, True):
        with pytest.raises(ParameterError, match="past="):
            moved(made, 5, far)
    assert [type(s).__name__ for s in moved(made, 5, 2).body] == ["Assign", "While", "Sample"]
    inner = moved(made, 8, 1).body.statements[2]
    assert [type(s).__name__ for s in inner.body] == ["Assign", "Sample"]  # type: ignore[union-attr]
    assert moved(made, 5, 1).source[5] == 6 and moved(made, 5, 1).source[6] == 5


def test_blocks_in_another_order_are_told_from_other_blocks() -> None:
    blocks = [
        program(*lines).body
        for lines in (
            ("a := 1", "b := 2", "r := a"), ("b := 2", "a := 1", "r := a"), ("a := 1", "r := a", "b := 2"),
            ("a := 1", "r := a"), ("a := 1", "b := 2", "r := a", "b := 2"),
            ("a := 1", "b := 3", "r := a"), ("b := 2", "r := 0", "a := 1"),
        )
    ]  # fmt: skip
    assert all(is_reordered(blocks[0], other) for other in blocks[:3])
    assert not any(is_reordered(blocks[0], other) or is_reordered(other, blocks[0]) for other in blocks[3:])
    twice = [program(*lines).body for lines in (("a := 1", "r := a", "a := 2"), ("a := 2", "r := a", "a := 1"))]
    assert not is_reordered(*twice)
    inside = [
        program("r := 0", "if q > 0 then", *lines, "end").body
        for lines in (("  a := 1", "  b := 2"), ("  b := 2", "  a := 1"), ("  a := 1",))
    ]
    assert is_reordered(inside[0], inside[1]) and not is_reordered(inside[0], inside[2])
    loops = [
        program("r := 0", f"while r < {most} do", *lines, "  r := r + 1", "end").body
        for most, lines in (
            (2, ("  a := 1", "  b := 2")),
            (2, ("  b := 2", "  a := 1")),
            (2, ("  a := 1",)),
            (3, ("  a := 1",)),
        )
    ]
    assert [is_reordered(loops[0], other) for other in loops] == [True, True, False, False]
    assert not is_reordered(loops[2], loops[3])


def test_a_judgment_is_about_blocks_in_any_independent_order() -> None:
    asks = oracle(program("x :=$ lap(1/eps, q)", "a := 1", "r := x + a"), "eps", "true")
    draw, one, last = asks.context.program.body
    assert isinstance(draw, Sample) and isinstance(one, Assign) and isinstance(last, Assign)
    null = laplace_null(asks.context, draw)
    ends = assign(asks.context, one, facts(asks, "x<1> - q<1> == x<2> - q<2>"))
    made = seq(consequence(asks, null, post=ends.pre), ends)
    swapped = swap(made, 0)
    assert swapped.left.statements == swapped.right.statements == (one, draw)
    assert (swapped.pre, swapped.post, swapped.budget) == (made.pre, made.post, made.budget)
    left = swap(made, 0, sides=(1,))
    assert (left.left.statements, left.right.statements) == ((one, draw), (draw, one))
    assert reorder(left, left=made.left).left == made.left
    both = seq(assign(asks.context, one, facts(asks, "a<1> == 1")), skip(asks.context, facts(asks, "a<1> == 1")))
    for at, sides in ((0, (1, 2)), (-1, (1,)), (0, ()), (0, (3,)), (0, (0,))):
        with pytest.raises(ParameterError):
            swap(both, at, sides=sides)
    later = assign(asks.context, last, ())
    dependent = seq(consequence(asks, made, post=later.pre), later)
    with pytest.raises(ParameterError, match="depend on one another"):
        swap(dependent, 1)
    with pytest.raises(ParameterError, match="order of independent"):
        reorder(dependent, left=Block((one, last, draw)))
    with pytest.raises(ParameterError, match="order of independent"):
        reorder(made, right=Block((draw,)))
