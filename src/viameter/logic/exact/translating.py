"""Terms and straight code as Python text, made of numbers, operators and names of this room's own making.

Nothing that a user wrote gets into the text: variables are numbered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from viameter.errors import ParameterError
from viameter.logic.exact.evaluating import start_of
from viameter.logic.exact.liveness import Names
from viameter.logic.exact.ranges import Range, Undecided, Whole, ends, greater, item, lesser, quotient, remainder, same
from viameter.logic.lang.core import Append, Assign, Block, If, Program, Sample, Statement, statements_of
from viameter.logic.lang.terms import App, Num, Term, Truth, Var, show, sort_of, variables

_INFIX = {"+": "+", "-": "-", "*": "*", "<=": "<=", "<": "<", "and": "and", "or": "or"}
_CALLED = {
    "//": "quotient", "%": "remainder", "min": "lesser", "max": "greater", "read": "item", "len": "len", "abs": "abs",
}  # fmt: skip
_STEADY = frozenset({"+", "-", "*", "neg", "abs", "min", "max", "read"})


def cuts(
    rest: Whole, least: int, factor: int, low: int, high: int, first: int, start: int, stop: int, size: int
) -> tuple[int, int]:
    """Where the test factor * drawn + rest >= least cuts the rows from `low` to `high` of a table of `size` rows.

    Row `start` stands for the value `first`, and so on up to `stop`; rows before and after are tails. Up to the first
    of the numbers returned the test surely comes out one way (false for a positive factor, else true), from the second
    on surely the other way, and between them it depends: on where in a tail the value is, or in its range the rest.
    """
    below, above = ends(rest)
    if factor > 0:
        # It holds from ceil((least - rest) / factor) on, which falls as the rest rises.
        least_cut = None if above is None else -((above - least) // factor)
        most_cut = None if below is None else -((below - least) // factor)
    else:
        # It holds below floor((rest - least) / -factor) + 1, which rises with the rest.
        least_cut = None if below is None else (below - least) // -factor + 1
        most_cut = None if above is None else (above - least) // -factor + 1
    at = 0 if least_cut is None else least_cut - first + start
    at = 0 if at < start else min(at, stop)
    on = size if most_cut is None else most_cut - first + start
    on = size if on > stop else max(on, start)
    return min(max(at, low), high), min(max(on, low), high)


def row_of(total: Whole, factor: int, first: int, start: int, stop: int, size: int) -> tuple[int, bool]:
    """The row in which factor * drawn is this total, and whether it is surely so there: in a tail it may be.

    The row is -1 if there is none.
    """
    if isinstance(total, Range):
        raise Undecided
    at, over = divmod(total, factor)
    at += start - first
    if over:
        return -1, True
    if start <= at < stop:
        return at, True
    if at < start:
        return (0, False) if start else (-1, True)
    return (size - 1, False) if stop < size else (-1, True)


_SCOPE = {
    "Range": Range, "Undecided": Undecided, "cuts": cuts, "greater": greater, "item": item, "lesser": lesser,
    "quotient": quotient, "remainder": remainder, "row_of": row_of, "same": same,
}  # fmt: skip


def defined(text: str) -> Callable[..., Any]:
    """The function `made` that a text defines."""
    scope: dict[str, Any] = dict(_SCOPE)
    exec(text, scope)  # text of this room's own making
    made: Callable[..., Any] = scope["made"]
    return made


@dataclass(slots=True)
class Translator:
    """How a program's variables are called in Python text; an aimed one compares output lists with a goal."""

    program: Program
    aimed: bool
    names: dict[str, str] = field(default_factory=dict)
    constants: Names = frozenset()
    header: str = "    pass\n"
    moving: set[str] | None = None
    """Within the code after a sampling: the variables that may have changed since."""
    early: dict[Term, str] = field(default_factory=dict)
    """Terms there that do not depend on these, to be computed once for all values drawn."""

    def __post_init__(self) -> None:
        inputs = [entry.name for entry in self.program.inputs]
        self.constants = frozenset(inputs)
        self.names = {name: f"c{at}" for at, name in enumerate(inputs)}
        self.names.update({name: f"v{at}" for at, name in enumerate(sorted(start_of(self.program)))})
        if inputs:
            self.header = f"    {''.join(self.names[name] + ', ' for name in inputs)} = constants\n"

    def python(self, term: Term, names: Mapping[str, str] | None = None) -> str:
        """A term as Python text; `names` says what variables are called, if not by their usual names."""
        if names is None and self.is_steady(term):
            return self.early.setdefault(term, f"steady{len(self.early)}")
        match term:
            case Num(value):
                return f"({value})"
            case Truth(value):
                return str(value)
            case Var(name=name):
                return (self.names if names is None else names)[name]
            case App("==", (left, right)):
                first, second = self.python(left, names), self.python(right, names)
                return f"({first} == {second})" if sort_of(left) == "bool" else f"same({first}, {second})"
            case App("ite", (test, then, orelse)):
                return f"({self.python(then, names)} if {self.python(test, names)} else {self.python(orelse, names)})"
            case App("=>", (left, right)):
                return f"(not {self.python(left, names)} or {self.python(right, names)})"
            case App(("not" | "neg") as op, (only,)):
                return f"({'not ' if op == 'not' else '-'}{self.python(only, names)})"
            case App(op, args) if op in _INFIX:
                return "(" + f" {_INFIX[op]} ".join(self.python(arg, names) for arg in args) + ")"
            case App(op, args) if op in _CALLED:
                return f"{_CALLED[op]}({', '.join(self.python(arg, names) for arg in args)})"
        raise ParameterError(f"no meaning is known for {show(term)}")

    def is_steady(self, term: Term) -> bool:
        """Whether it is an integer operation on what has not changed since the sampling."""
        if self.moving is None or not isinstance(term, App) or term.op not in _STEADY:
            return False
        return not any(var.name in self.moving for var in variables(term))

    def order(self, live: Names) -> tuple[str, ...]:
        """Live variables in the order of a state's entries."""
        return tuple(sorted(live - self.constants))

    def state(self, live: Names, names: Mapping[str, str] | None = None) -> str:
        """A state as Python text."""
        return f"({''.join((names or self.names)[name] + ', ' for name in self.order(live))})"

    def lines(
        self, statements: Sequence[Statement], pad: int, miss: str, names: Mapping[str, str] | None = None
    ) -> str:
        """Straight code as Python text, within a loop that goes on with the next case where the goal is missed."""
        space = " " * pad
        known = names or self.names
        found = ""
        for statement in statements:
            match statement:
                case Assign(target, value):
                    found += f"{space}{known[target.name]} = {self.python(value, names)}\n"
                    self.moved(target.name)
                case Append(target, value):
                    found += self.append(known[target.name], self.python(value, names), space, miss)
                    self.moved(target.name)
                case If(test, then, orelse):
                    # Whatever `then` changes counts as changed in `orelse` too: too much at worst.
                    found += f"{space}if {self.python(test, names)}:\n"
                    found += self.lines(then.statements, pad + 4, miss, names)
                    if orelse.statements:
                        found += f"{space}else:\n{self.lines(orelse.statements, pad + 4, miss, names)}"
        return found or f"{space}pass\n"

    def moved(self, name: str) -> None:
        """Note that a variable has changed since the sampling."""
        if self.moving is not None:
            self.moving.add(name)

    def append(self, target: str, value: str, space: str, miss: str) -> str:
        """An entry that is appended, and the end of a path whose list cannot become the goal any more."""
        if not self.aimed:
            return f"{space}{target} += ({value},)\n"
        return (
            f"{space}entry = {value}\n"
            f"{space}if {missing(target)}:\n"
            f"{space}    {miss}\n"
            f"{space}    continue\n"
            f"{space}{target} += (entry,)\n"
        )


def missing(target: str) -> str:
    """The Python text that asks whether a list with one more `entry` cannot become the goal."""
    here = f"goal[len({target})]"
    return f"len({target}) >= len(goal) or not ({here} == entry or (entry.__class__ is Range and entry.holds({here})))"


def changed_in(statements: Sequence[Statement]) -> Names:
    """The variables that statements assign to."""
    return frozenset(
        s.target.name for s in statements_of(Block(tuple(statements))) if isinstance(s, Assign | Append | Sample)
    )
