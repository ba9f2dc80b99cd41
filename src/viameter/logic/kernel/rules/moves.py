"""Independent statements: their order does not matter, neither in a judgment nor in a program."""

from __future__ import annotations

from dataclasses import replace

from viameter.errors import ParameterError
from viameter.logic.kernel.judgment import Judgment, made
from viameter.logic.lang.core import Block, If, Program, Sample, Statement, While, assigned, statements_of, terms_of
from viameter.logic.lang.parsing import canonical
from viameter.logic.lang.terms import variables


def reads(statement: Statement) -> set[str]:
    """The names that a statement, or one in it, reads; an append reads its list."""
    return {
        var.name for part in statements_of(Block((statement,))) for term in terms_of(part) for var in variables(term)
    }


def writes(statement: Statement) -> set[str]:
    """The names that a statement, or one in it, may change."""
    return {var.name for var in assigned(Block((statement,)))}


def why_dependent(one: Statement, other: Statement) -> str:
    """Why the order of two statements may matter; empty if it does not.

    Independent: neither changes what the other reads or changes. Then a; b and b; a have the same law on memories: each
    draws from a law that the other does not touch, and the changes are to different variables.
    """
    for first, second in ((one, other), (other, one)):
        both = writes(first) & (reads(second) | writes(second))
        if both:
            return f"line {first.at} changes {', '.join(sorted(both))}, which line {second.at} uses"
    return ""


def is_reordered(one: Block, other: Block) -> bool:
    """Whether a block can be turned into another by swapping independent neighbors, within branches and loops too."""
    rest = list(one.statements)
    for wanted in other.statements:
        place = next((at for at, found in enumerate(rest) if _alike(found, wanted)), None)
        if place is None or any(why_dependent(rest[at], rest[place]) for at in range(place)):
            return False
        del rest[place]
    return not rest


def _alike(one: Statement, other: Statement) -> bool:
    match one, other:
        case If(), If():
            return one.test == other.test and all(
                is_reordered(*pair) for pair in ((one.then, other.then), (one.orelse, other.orelse))
            )
        case While(), While():
            return one.test == other.test and is_reordered(one.body, other.body)
    return one == other


def reorder(judgment: Judgment, *, left: Block | None = None, right: Block | None = None) -> Judgment:
    """From |-_b c1 ~ c2 : P => Q: |-_b d1 ~ d2 : P => Q, where d1 is c1, and d2 is c2, in another order.

    Sound: by swaps of independent neighbors, which leave what a block means as it is: the same witnesses serve.
    """
    left, right = judgment.left if left is None else left, judgment.right if right is None else right
    for old, new in ((judgment.left, left), (judgment.right, right)):
        if not is_reordered(old, new):
            raise ParameterError("the blocks are not the same up to the order of independent statements")
    return made(
        context=judgment.context, left=left, right=right, pre=judgment.pre, post=judgment.post, rule="reorder",
        line=judgment.line, premises=(judgment,), budget=judgment.budget,
    )  # fmt: skip


def swap(judgment: Judgment, at: int, *, sides: tuple[int, ...] = (1, 2)) -> Judgment:
    """From |-_b c; a; b; c' ~ ... : P => Q with a, b independent: |-_b c; b; a; c' ~ ... : P => Q, in one run or both.

    `at` is the place of a in the block, from 0.
    """
    if not sides or not set(sides) <= {1, 2}:
        raise ParameterError(f"sides={sides}: expected 1, 2 or both")
    blocks = {1: judgment.left, 2: judgment.right}
    for side in set(sides):
        statements = list(blocks[side].statements)
        if not 0 <= at < len(statements) - 1:
            raise ParameterError(f"at={at}: the block of run {side} has {len(statements)} statements")
        why = why_dependent(statements[at], statements[at + 1])
        if why:
            raise ParameterError(f"the statements depend on one another: {why}")
        statements[at], statements[at + 1] = statements[at + 1], statements[at]
        blocks[side] = Block(tuple(statements))
    return reorder(judgment, left=blocks[1], right=blocks[2])


def moved(program: Program, line: int, past: int) -> Program:
    """The program with the draw at a line made later, past that many of the statements that follow in its block.

    It means the same: none of them reads or changes the variable that is drawn, nor changes what its law reads. The
    result is canonical: its lines are those of its own text. Lines of the file that it came from are kept.
    """
    if isinstance(past, bool) or not isinstance(past, int) or past < 1:
        raise ParameterError(f"past={past!r}: expected a number of statements, at least 1")
    body = _moved(program.body, line, past)
    if body is None:
        raise ParameterError(f"line {line} is no statement of the program")
    again = canonical(replace(program, body=body))
    return replace(again, source={new: program.source.get(old, old) for new, old in again.source.items()})


def _moved(block: Block, line: int, past: int) -> Block | None:
    statements = list(block.statements)
    for place, statement in enumerate(statements):
        if statement.at == line:
            _check_passed(statement, statements[place + 1 : place + 1 + past], past)
            del statements[place]
            statements.insert(place + past, statement)
            return Block(tuple(statements))
        inner: Statement | None = None
        if isinstance(statement, If):
            then, orelse = _moved(statement.then, line, past), _moved(statement.orelse, line, past)
            if then is not None or orelse is not None:
                inner = replace(statement, then=then or statement.then, orelse=orelse or statement.orelse)
        elif isinstance(statement, While):
            body = _moved(statement.body, line, past)
            inner = None if body is None else replace(statement, body=body)
        if inner is not None:
            statements[place] = inner
            return Block(tuple(statements))
    return None


def _check_passed(statement: Statement, passed: list[Statement], past: int) -> None:
    if not isinstance(statement, Sample):
        raise ParameterError(f"line {statement.at} draws nothing: only draws are moved")
    if len(passed) < past:
        raise ParameterError(f"line {statement.at}: only {len(passed)} statements follow in its block, not {past}")
    for other in passed:
        why = why_dependent(statement, other)
        if why:
            raise ParameterError(f"line {statement.at} cannot be moved past line {other.at}: {why}")
