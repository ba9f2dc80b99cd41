"""Context: what the translation of one function knows and has made so far.

The function is translated again and again until the kinds of its variables no longer grow; names of variables that the
translation introduces are kept from one time to the next.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from viameter.logic.front.annotations import Declared
from viameter.logic.front.constants import ELSEWHERE, MISSING, constant
from viameter.logic.front.errors import ProgramError
from viameter.logic.front.kinds import BIT, UNKNOWN, Kind, join
from viameter.logic.front.markers import MARKERS
from viameter.logic.front.names import Names
from viameter.logic.front.slots import Builtin
from viameter.logic.front.source import Source
from viameter.logic.front.values import Value, to_kind
from viameter.logic.lang.core import Append, Assign, Block, Program, Sample, Statement, While
from viameter.logic.lang.terms import Term, Var


@dataclass(slots=True)
class Loop:
    """A loop whose body is being translated: its flags, and how many statements wait for `skipped`."""

    node: ast.AST
    stopped: Var | None = None
    skipped: Var | None = None
    waiting: int = 0


@dataclass(slots=True)
class Context:
    """The state of a translation; `out` takes the statements that are made."""

    source: Source
    inputs: Mapping[str, Declared]
    budgets: tuple[str, ...]
    private: frozenset[str]
    slots: frozenset[str]
    returns: Declared
    noise_grid: Fraction
    locals: dict[str, str]
    """The user's variables, and the names of them in the core program."""
    lists: frozenset[str]
    """Core names of the output lists."""
    once: frozenset[str]
    """The user's variables that are assigned once, at the top level of the function."""
    names: Names
    evaluate: Callable[[Context, ast.expr], Value]
    output: str = ""
    kinds: dict[str, Kind] = field(default_factory=dict)
    fixed: dict[str, Kind] = field(default_factory=dict)
    changed: str = ""
    unknown: dict[str, ast.Name] = field(default_factory=dict)
    """Variables that were read while nothing was known of them."""
    made: dict[tuple[int, str], str] = field(default_factory=dict)
    trees: dict[tuple[int, str], Any] = field(default_factory=dict)
    out: list[Statement] = field(default_factory=list)
    aliases: dict[str, ast.expr] = field(default_factory=dict)
    loops: list[Loop] = field(default_factory=list)
    watching: int = 0
    """How many loops and tests around this place look at `returned`."""
    appended: set[str] = field(default_factory=set)
    shifts: list[tuple[Sample, str]] = field(default_factory=list)
    invariants: list[tuple[While, tuple[str, ...]]] = field(default_factory=list)
    requires: list[Term] = field(default_factory=list)
    """What programs that are called require of this program's inputs."""
    mechanisms: dict[str, Any] = field(default_factory=dict)
    negative: frozenset[str] = frozenset()
    """Core names of the variables, and of the lists of numbers, that may be below 0."""

    def start(self) -> None:
        """Begin a translation anew; kinds and names are kept."""
        self.changed, self.watching, self.unknown = "", 0, {}
        self.out, self.loops, self.requires = [], [], []
        self.aliases, self.appended = {}, set()
        self.shifts, self.invariants = [], []

    # Errors and constants.

    def error(self, node: ast.AST, what: str, hint: str = "") -> ProgramError:
        """An error at a part of the function."""
        return self.source.error(node, what, hint)

    def lookup(self, name: str) -> Any:
        """What a name stands for, as Python looks it up: a variable of the function, else what is around it.

        Of a variable nothing is known; of a name that is bound nowhere, it is what Python or viameter has under it.
        """
        if name in self.locals or name in self.inputs or name in self.budgets:
            return ELSEWHERE
        return self.source.names.get(name, MISSING)

    def constant(self, node: ast.expr) -> Fraction | bool | None:
        """The constant that an expression is, or None."""
        return constant(node, self.lookup)

    def value(self, node: ast.expr) -> Value:
        """The value of an expression; statements that come before it are added."""
        return self.evaluate(self, node)

    # Calls.

    def require_logarithm(self, node: ast.Call) -> None:
        """`log` must be the natural logarithm of Python, or a name that nothing else stands for."""
        _, found = self._resolved(node.func)
        if found not in (MISSING, math.log):
            raise self.error(
                node, f"{ast.unparse(node.func)} is not the natural logarithm", "write math.log(3), or ln(3)"
            )

    def called(self, node: ast.Call) -> tuple[str, Any]:
        """The last part of the name of what is called, and the program that it is, or None.

        viameter's functions are known by name; a name that stands for something else is refused.
        """
        name, found = self._resolved(node.func)
        if isinstance(node.func, ast.Name) and name == self.source.tree.name:
            raise self.error(node, f"{name} calls itself, which is outside the subset", "write a loop")
        if isinstance(getattr(found, "core", None), Program):
            return name, found
        if found is MISSING or found is MARKERS.get(name) or found is getattr(builtins, name, MISSING):
            return name, None
        raise self.error(
            node, f"{ast.unparse(node.func)} is not a function that a program may call",
            "call vm.lap and the like, other programs, abs, min, max, len or sum",
        )  # fmt: skip

    def is_builtin(self, node: ast.expr) -> bool:
        """Whether a name stands for what Python has under it."""
        name, found = self._resolved(node)
        return isinstance(node, ast.Name) and (found is MISSING or found is getattr(builtins, name, ELSEWHERE))

    def _resolved(self, node: ast.expr) -> tuple[str, Any]:
        match node:
            case Builtin(id=name):
                return name, getattr(builtins, name)
            case ast.Name(id=name):
                return name, self.lookup(name)
            case ast.Attribute(value=inner, attr=name):
                around = self._resolved(inner)[1] if isinstance(inner, ast.Name | ast.Attribute) else ELSEWHERE
                return name, MISSING if around is MISSING else getattr(around, name, ELSEWHERE)
        return "", MISSING

    # Variables.

    def name(self, node: ast.AST, role: str, wanted: str) -> str:
        """The name of a variable that the translation introduces for a part of the function."""
        key = (id(node), role)
        if key not in self.made:
            self.made[key] = self.names.fresh(wanted)
        return self.made[key]

    def kind(self, name: str) -> Kind:
        """What is known of a variable's kind."""
        return self.fixed.get(name) or self.kinds.get(name, UNKNOWN)

    def var(self, name: str) -> Var:
        """A variable of the core program, which is no list."""
        return Var(name, self.kind(name).core)

    def read(self, name: str) -> Value:
        """The value of a variable of the core program."""
        return Value(self.var(name), self.kind(name))

    def fit(self, node: ast.AST, name: str, value: Value) -> Term:
        """The value as the variable stores it; the variable's kind grows if it must and may."""
        if name not in self.fixed:
            kind = join(self.kind(name), value.kind)
            if kind is None:
                raise self.error(
                    node, f"{name} is {self.kind(name)}, and {value.kind} is assigned to it",
                    "a variable keeps one sort: use two variables",
                )  # fmt: skip
            if kind != self.kind(name):
                self.kinds[name], self.changed = kind, name
        term = to_kind(value, self.kind(name))
        if term is None:
            raise self.error(node, f"{name} is {self.kind(name)}, and this is {value.kind}", self.advice(value.kind))
        return term

    def advice(self, given: Kind) -> str:
        """What to do about a value of a kind that does not fit."""
        if given.sort == "number" and given.grid not in (0, 1):
            return f'annotate it as vm.Grid("{given.grid}"), or round it with // to whole numbers'
        return "a number is no truth value and a truth value no number here: write a comparison, or 1 if b else 0"

    # Statements.

    def emit(self, statement: Statement) -> None:
        """Add a statement."""
        self.out.append(statement)

    @contextmanager
    def collecting(self) -> Iterator[list[Statement]]:
        """Statements go to a list of their own."""
        outer, self.out = self.out, []
        try:
            yield self.out
        finally:
            self.out = outer

    def assign(self, node: ast.AST, name: str, value: Value) -> None:
        """name := value."""
        term = self.fit(node, name, value)
        self.emit(Assign(self.var(name), term, self.source.line(node)))

    def assign_core(self, node: ast.AST, target: Var, term: Term) -> None:
        """target := term, which is in the variable's own steps already."""
        self.emit(Assign(target, term, self.source.line(node)))

    def append(self, node: ast.AST, name: str, value: Value) -> None:
        """append(name, value)."""
        term = self.fit(node, name, value)
        if self.kind(name).sort == "bool":  # a list of truth values is one of 0 and 1
            term = to_kind(value, BIT) or term
        self.appended.add(name)
        self.emit(Append(Var(name, "list"), term, self.source.line(node)))


def block(statements: list[Statement]) -> Block:
    """A block of what was collected."""
    return Block(tuple(statements))
