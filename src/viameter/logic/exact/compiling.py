"""Programs as Python functions on whole populations of states, so that an enumeration runs at the speed of dicts.

A state is a tuple of the values of the variables that are live where it is; a population maps states to weights. The
text that is compiled here is made of numbers, operators and names of this file's own making; nothing that a user wrote
gets into it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from viameter.errors import ParameterError
from viameter.logic.exact.liveness import Names, live_at_head, live_before, live_before_statement
from viameter.logic.exact.ranges import Range, Undecided, greater, item, lesser, quotient, remainder, same
from viameter.logic.lang.core import (
    Append,
    Assign,
    Block,
    Gaussian,
    If,
    Laplace,
    Law,
    Program,
    Sample,
    Skip,
    Statement,
    While,
    statements_of,
    terms_of,
)
from viameter.logic.lang.terms import App, Num, Term, Truth, Var, show, sort_of, variables

_SCOPE = {
    "Range": Range, "Undecided": Undecided, "greater": greater, "item": item, "lesser": lesser,
    "quotient": quotient, "remainder": remainder, "same": same,
}  # fmt: skip
_INFIX = {"+": "+", "-": "-", "*": "*", "<=": "<=", "<": "<", "and": "and", "or": "or"}
_CALLED = {"//": "quotient", "%": "remainder", "min": "lesser", "max": "greater", "read": "item", "len": "len", "abs": "abs"}

_STEADY = frozenset({"+", "-", "*", "neg", "abs", "min", "max", "read"})


@dataclass(frozen=True, slots=True)
class Step:
    """Straight code with at most one sampling in it.

    `run(states, rows, denominator, goal, constants)` gives the states after it, the weight that was lost where a test
    was undecided, and the weight that missed the goal. `keys(states, constants)` gives the values of the variables
    that the sampling's law depends on; it is None if it depends on inputs alone.
    """

    law: Law | None
    run: Callable[..., tuple[dict[Any, int], int, int]]
    keys: Callable[..., set[Any]] | None = None
    key_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Branch:
    """A choice with sampling or loops in it; `split` gives the states of either side and what was lost."""

    split: Callable[..., tuple[dict[Any, int], dict[Any, int], int]]
    then: tuple[Operation, ...]
    orelse: tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop; `split` gives the states that go on, those that leave, and what was lost."""

    split: Callable[..., tuple[dict[Any, int], dict[Any, int], int]]
    body: tuple[Operation, ...]


Operation = Step | Branch | Loop


@dataclass(frozen=True, slots=True)
class Machine:
    """A compiled program: what is live at its start, its operations, and where its output is at its end."""

    program: Program
    start: tuple[str, ...]
    operations: tuple[Operation, ...]


@dataclass(slots=True)
class _Compiler:
    program: Program
    aimed: bool
    """Whether output lists are compared with a goal as they grow."""
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
        changed = {s.target.name for s in statements_of(self.program.body) if isinstance(s, Assign | Sample | Append)}
        self.names = {name: f"c{at}" for at, name in enumerate(inputs)}
        self.names.update({name: f"v{at}" for at, name in enumerate(sorted(changed))})
        if inputs:
            self.header = f"    {''.join(self.names[name] + ', ' for name in inputs)} = constants\n"

    def python(self, term: Term) -> str:
        """A term as Python text."""
        if self.moving is not None and self.is_steady(term):
            return self.early.setdefault(term, f"steady{len(self.early)}")
        match term:
            case Num(value):
                return f"({value})"
            case Truth(value):
                return str(value)
            case Var(name=name):
                return self.names[name]
            case App("==", (left, right)):
                first, second = self.python(left), self.python(right)
                return f"({first} == {second})" if sort_of(left) == "bool" else f"same({first}, {second})"
            case App("ite", (test, then, orelse)):
                return f"({self.python(then)} if {self.python(test)} else {self.python(orelse)})"
            case App("=>", (left, right)):
                return f"(not {self.python(left)} or {self.python(right)})"
            case App(("not" | "neg") as op, (only,)):
                return f"({'not ' if op == 'not' else '-'}{self.python(only)})"
            case App(op, args) if op in _INFIX:
                return "(" + f" {_INFIX[op]} ".join(self.python(arg) for arg in args) + ")"
            case App(op, args) if op in _CALLED:
                return f"{_CALLED[op]}({', '.join(self.python(arg) for arg in args)})"
        raise ParameterError(f"no meaning is known for {show(term)}")

    def is_steady(self, term: Term) -> bool:
        """Whether it is an integer operation on what has not changed since the sampling."""
        if not isinstance(term, App) or term.op not in _STEADY or self.moving is None:
            return False
        return not any(var.name in self.moving for var in variables(term))

    def order(self, live: Names) -> tuple[str, ...]:
        """Live variables in the order of a state's entries."""
        return tuple(sorted(live - self.constants))

    def state(self, live: Names) -> str:
        """A state as Python text."""
        return f"({''.join(self.names[name] + ', ' for name in self.order(live))})"

    def block(self, block: Block, after: Names) -> tuple[Operation, ...]:
        """The operations of a block."""
        found: list[Operation] = []
        plain: list[Statement] = []
        for statement in reversed(block.statements):
            # Backwards, since what is live is known after a statement first.
            if _is_straight(statement) and not isinstance(statement, Sample):
                plain.insert(0, statement)
                continue
            rest = live_before(Block(tuple(plain)), after)
            if isinstance(statement, Sample):
                before = live_before_statement(statement, rest)
                found.insert(0, self.step(before, statement, plain, after))
            else:
                if plain:
                    found.insert(0, self.step(rest, None, plain, after))
                before = live_before_statement(statement, rest)
                found.insert(0, self.choice(before, statement, rest))
            plain, after = [], before
        if plain:
            found.insert(0, self.step(live_before(Block(tuple(plain)), after), None, plain, after))
        return tuple(found)

    def choice(self, before: Names, statement: Statement, after: Names) -> Operation:
        """A branch or a loop."""
        if isinstance(statement, While):
            head = live_at_head(statement, after)
            split = self.split(head, statement.test, live_before(statement.body, head), after)
            return Loop(split, self.block(statement.body, head))
        if not isinstance(statement, If):
            raise TypeError(type(statement).__name__)
        split = self.split(
            before, statement.test, live_before(statement.then, after), live_before(statement.orelse, after)
        )
        return Branch(split, self.block(statement.then, after), self.block(statement.orelse, after))

    def split(self, before: Names, test: Term, yes: Names, no: Names) -> Callable[..., Any]:
        """The function that parts a population by a test."""
        return _define(
            "def made(states, constants):\n"
            f"{self.header}"
            "    yes, no, lost = {}, {}, 0\n"
            f"    for {self.state(before)}, weight in states.items():\n"
            "        try:\n"
            f"            holds = {self.python(test)}\n"
            "        except Undecided:\n"
            "            lost += weight\n"
            "            continue\n"
            "        if holds:\n"
            f"            key = {self.state(yes)}\n"
            "            yes[key] = yes.get(key, 0) + weight\n"
            "        else:\n"
            f"            key = {self.state(no)}\n"
            "            no[key] = no.get(key, 0) + weight\n"
            "    return yes, no, lost\n"
        )

    def step(self, before: Names, sample: Sample | None, plain: list[Statement], after: Names) -> Step:
        """The function for straight code, after at most one sampling."""
        if sample is None:
            return Step(None, self.straight(before, plain, after))
        key_names = self.order(_law_names(sample.law))
        keys = self.keys(before, key_names) if key_names else None
        return Step(sample.law, self.sampling(before, sample, plain, after, key_names), keys, key_names)

    def straight(self, before: Names, plain: list[Statement], after: Names) -> Callable[..., Any]:
        """The function for straight code without sampling."""
        return _define(
            "def made(states, rows, denominator, goal, constants):\n"
            f"{self.header}"
            "    found, lost, missed = {}, 0, 0\n"
            f"    for {self.state(before)}, weight in states.items():\n"
            "        try:\n"
            f"{self.lines(plain, 12, 'missed += weight')}"
            "        except Undecided:\n"
            "            lost += weight\n"
            "            continue\n"
            f"        key = {self.state(after)}\n"
            "        found[key] = found.get(key, 0) + weight\n"
            "    return found, lost, missed\n"
        )

    def sampling(
        self, before: Names, sample: Sample, plain: list[Statement], after: Names, key_names: tuple[str, ...]
    ) -> Callable[..., Any]:
        """The function for a sampling and the straight code after it.

        For each state, rows that lead to the same state are added up first: their weights are short.
        """
        center = sample.law.center if isinstance(sample.law, Laplace | Gaussian) else Num(0)
        changed = {s.target.name for s in statements_of(Block(tuple(plain))) if isinstance(s, Assign | Append)}
        kept = [self.names[name] for name in self.order(frozenset(changed & (before - {sample.target.name})))]
        self.moving, self.early = {sample.target.name}, {}
        body = self.lines(plain, 16, "missed += weight * part")
        self.moving = None
        early = "".join(f"            {name} = {self.python(term)}\n" for term, name in self.early.items())
        pick = ""
        if key_names:
            pick = f"            table = rows.get({self.state(frozenset(key_names))}, unknown)\n"
        return _define(
            "def made(states, rows, denominator, goal, constants):\n"
            f"{self.header}"
            "    found, lost, missed = {}, 0, 0\n"
            "    get, table, unknown = found.get, rows, None\n"
            f"    for {self.state(before)}, weight in states.items():\n"
            "        near = {}\n"
            "        try:\n"
            f"            center = {self.python(center)}\n"
            f"{pick}{early}"
            "            if table is None: raise Undecided\n"
            "        except Undecided:\n"
            "            lost += weight * denominator\n"
            "            continue\n"
            + "".join(f"        kept_{name} = {name}\n" for name in kept)
            + "        for drawn, part in table:\n"
            + "".join(f"            {name} = kept_{name}\n" for name in kept)
            + "            try:\n"
            f"                {self.names[sample.target.name]} = {'drawn' if center == Num(0) else 'center + drawn'}\n"
            f"{body}"
            "            except Undecided:\n"
            "                lost += weight * part\n"
            "                continue\n"
            f"            key = {self.state(after)}\n"
            "            if key in near:\n"
            "                near[key] += part\n"
            "            else:\n"
            "                near[key] = part\n"
            "        for key, part in near.items():\n"
            "            found[key] = get(key, 0) + weight * part\n"
            "    return found, lost, missed\n"
        )

    def keys(self, before: Names, key_names: tuple[str, ...]) -> Callable[..., Any]:
        """The function that gives what a law depends on in each state."""
        return _define(
            "def made(states, constants):\n"
            f"    return {{{self.state(frozenset(key_names))} for {self.state(before)} in states}}\n"
        )

    def lines(self, statements: list[Statement], pad: int, miss: str) -> str:
        """Straight code as Python text."""
        space = " " * pad
        found = ""
        for statement in statements:
            match statement:
                case Assign(target, value):
                    found += f"{space}{self.names[target.name]} = {self.python(value)}\n"
                    self.moved({target.name})
                case Append(target, value):
                    found += self.append(self.names[target.name], self.python(value), space, miss)
                    self.moved({target.name})
                case If(test, then, orelse):
                    found += f"{space}if {self.python(test)}:\n{self.lines(list(then), pad + 4, miss)}"
                    # Whatever `then` changes counts as changed in `orelse` too: too much at worst.
                    if orelse.statements:
                        found += f"{space}else:\n{self.lines(list(orelse), pad + 4, miss)}"
        return found or f"{space}pass\n"

    def moved(self, names: set[str]) -> None:
        """Note that variables have changed since the sampling."""
        if self.moving is not None:
            self.moving |= names

    def append(self, target: str, value: str, space: str, miss: str) -> str:
        """An entry that is appended, and the end of a path whose list cannot become the goal any more."""
        if not self.aimed:
            return f"{space}{target} += ({value},)\n"
        return (
            f"{space}entry, at = {value}, len({target})\n"
            f"{space}if at >= len(goal) or not (\n"
            f"{space}    goal[at] == entry or (entry.__class__ is Range and entry.holds(goal[at]))\n"
            f"{space}):\n"
            f"{space}    {miss}\n"
            f"{space}    continue\n"
            f"{space}{target} += (entry,)\n"
        )


def machine_of(program: Program, *, aimed: bool = False) -> Machine:
    """Compile a program; an aimed one follows a single output list."""
    made = _Compiler(program, aimed and program.output.sort == "list")
    after = frozenset({program.output.name})
    return Machine(program, made.order(live_before(program.body, after)), made.block(program.body, after))


def _define(text: str) -> Callable[..., Any]:
    scope: dict[str, Any] = dict(_SCOPE)
    exec(text, scope)  # noqa: S102  # text of this file's own making
    made: Callable[..., Any] = scope["made"]
    return made


def _is_straight(statement: Statement) -> bool:
    """Whether it has no loop, and no sampling but itself."""
    if isinstance(statement, If):
        return all(
            _is_straight(s) and not isinstance(s, Sample)
            for s in (*statement.then.statements, *statement.orelse.statements)
        )
    return isinstance(statement, Skip | Assign | Append | Sample)


def _law_names(law: Law) -> Names:
    """The variables that a law depends on, but for its center."""
    if isinstance(law, Laplace | Gaussian):
        law = replace(law, center=Num(0))
    return frozenset(var.name for term in terms_of(Sample(Var("x"), law)) for var in variables(term))
