"""Core programs to Python functions: syntax trees of Python are built and compiled, never text.

Every variable gets a name of its own making (`v0`, `v1`, ...) and nothing else can be named, so that no name of a
program means anything to Python. A sampling statement calls the function that was handed over for it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from viameter.errors import ParameterError
from viameter.logic.lang.core import (
    Append,
    Assign,
    Block,
    Call,
    Choose,
    Gaussian,
    If,
    Laplace,
    Law,
    Program,
    Sample,
    Statement,
    Uniform,
    While,
    statements_of,
    terms_of,
)
from viameter.logic.lang.terms import ZERO, App, Num, Term, Truth, Var, show, subterms
from viameter.logic.running.noise import scale_of
from viameter.logic.running.values import names_in, quotient, remainder

_FUNCTION = "program"
_ENTROPY = "entropy"
_TOTAL = {"//": "quotient", "%": "remainder"}
_BUILTINS: dict[str, Callable[..., Any]] = {
    "abs": abs, "min": min, "max": max, "len": len, "list": list, "quotient": quotient, "remainder": remainder,
}  # fmt: skip
_BINARY: dict[str, ast.operator] = {"+": ast.Add(), "-": ast.Sub(), "*": ast.Mult()}
_DIVIDING: dict[str, ast.operator] = {"//": ast.FloorDiv(), "%": ast.Mod()}
_COMPARED: dict[str, ast.cmpop] = {
    "<=": ast.LtE(), "<": ast.Lt(), ">=": ast.GtE(), ">": ast.Gt(), "==": ast.Eq(), "!=": ast.NotEq(),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Compiled:
    """A program as a function of its inputs in order, of a draw for each of its `sites`, and of the entropy."""

    function: Callable[..., Any]
    sites: tuple[Sample, ...]


@lru_cache(maxsize=64)
def compiled(program: Program) -> Compiled:
    """The program as a Python function; programs of the same text share it."""
    writer = _Writer(program)
    try:
        tree = ast.fix_missing_locations(writer.module())
        code = compile(tree, f"<program {program.name}>", "exec")
    except (RecursionError, SyntaxError, MemoryError):
        raise ParameterError(
            f"program {program.name} is nested too deeply to be run: Python allows 20 loops within one another, and "
            "expressions of some hundred operations; name the parts of what is longer"
        ) from None
    names: dict[str, Any] = {"__builtins__": {}, **_BUILTINS}
    exec(code, names)  # of a tree that holds no text of the program
    return Compiled(names[_FUNCTION], tuple(writer.sites))


class _Writer:
    """Python's syntax tree of one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.sites: list[Sample] = []
        self._names: dict[str, str] = {}
        self._spare = 0

    def module(self) -> ast.Module:
        """A module with the one function."""
        program = self.program
        inputs = [self._name(entry.var) for entry in program.inputs]
        body = self._block(program.body)
        returned = self._load(program.output)
        starts = [
            _assign(name, _start(var)) for var, name in self._variables().items() if program.input(var.name) is None
        ]
        draws = [f"draw{place}" for place in range(len(self.sites))]
        arguments = ast.arguments(
            posonlyargs=[ast.arg(arg=name) for name in (*inputs, *draws, _ENTROPY)],
            args=[], kwonlyargs=[], kw_defaults=[], defaults=[],
        )  # fmt: skip
        function = ast.FunctionDef(
            name=_FUNCTION, args=arguments, body=[*starts, *body, ast.Return(returned)], decorator_list=[]
        )
        return ast.Module(body=[function], type_ignores=[])

    def _variables(self) -> dict[Var, str]:
        """Every variable of the program, with its name in Python."""
        program = self.program
        found: dict[str, Var] = {program.output.name: program.output}
        for statement in statements_of(program.body):
            if isinstance(statement, Assign | Sample | Append):
                found.setdefault(statement.target.name, statement.target)
            for term in terms_of(statement):
                for part in subterms(term):
                    if isinstance(part, Var):
                        found.setdefault(part.name, part)
        return {var: self._name(var) for var in found.values()}

    def _name(self, var: Var) -> str:
        if var.side:
            raise ParameterError(f"{var} speaks of one of two runs, and a program that is run is one")
        return self._names.setdefault(var.name, f"v{len(self._names)}")

    def _load(self, var: Var) -> ast.expr:
        return ast.Name(self._name(var), ast.Load())

    def _block(self, block: Block) -> list[ast.stmt]:
        return [self._statement(statement) for statement in block] or [ast.Pass()]

    def _statement(self, statement: Statement) -> ast.stmt:
        match statement:
            case Assign(target, value):
                made = self._term(value)
                return _assign(self._name(target), _call("list", made) if target.sort == "list" else made)
            case Append(target, value):
                add = ast.Attribute(self._load(target), "append", ast.Load())
                return ast.Expr(ast.Call(add, [self._term(value)], []))
            case If(test, then, orelse):
                other = self._block(orelse) if orelse.statements else []
                return ast.If(self._term(test), self._block(then), other)
            case While(test, body):
                return ast.While(self._term(test), self._block(body), [])
            case Sample(target, law):
                return _assign(self._name(target), self._draw(statement, law))
        return ast.Pass()

    def _draw(self, statement: Sample, law: Law) -> ast.expr:
        self._require_public_scale(statement, law)
        function = f"draw{len(self.sites)}"
        self.sites.append(statement)
        entropy = ast.Name(_ENTROPY, ast.Load())
        match law:
            case Uniform(low, high):
                return _call(function, self._term(low), self._term(high), entropy)
            case Choose(scores=argument) | Call(argument=argument):
                return _call(function, self._term(argument), entropy)
            case Laplace(center=center) | Gaussian(center=center) if center != ZERO:
                return ast.BinOp(self._term(center), ast.Add(), _call(function, entropy))
        return _call(function, entropy)

    def _require_public_scale(self, statement: Sample, law: Law) -> None:
        scale = scale_of(law)
        if scale is None:
            return
        inputs = {entry.name for entry in self.program.inputs}
        strange = sorted(name for name in names_in(scale.factors) if name not in inputs)
        if strange:
            raise ParameterError(
                f"line {statement.at}: the scale {scale.as_scale()} depends on {', '.join(strange)}: expected inputs, "
                "lengths and budgets only, so that it is known before the program runs"
            )
        if scale.base not in ("1", *self.program.budgets) and not scale.base.startswith("ln("):
            raise ParameterError(f"line {statement.at}: {scale.base} is no budget of program {self.program.name}")

    def _term(self, term: Term) -> ast.expr:
        match term:
            case Var():
                return self._load(term)
            case Num(value) | Truth(value):
                return ast.Constant(value)
            case App("read", (items, index)):
                return self._read(items, index)
            case App(op, args):
                return self._operation(op, args, [self._term(arg) for arg in args])

    def _operation(self, op: str, args: tuple[Term, ...], made: list[ast.expr]) -> ast.expr:
        if op in _BINARY:
            return ast.BinOp(made[0], _BINARY[op], made[1])
        if op in _DIVIDING:
            # By a number that is written down it is Python's own; else the divisor may be 0.
            plain = isinstance(args[1], Num) and args[1].value != 0
            return ast.BinOp(made[0], _DIVIDING[op], made[1]) if plain else _call(_TOTAL[op], *made)
        if op in _COMPARED:
            return ast.Compare(made[0], [_COMPARED[op]], [made[1]])
        match op:
            case "neg":
                return ast.UnaryOp(ast.USub(), made[0])
            case "not":
                return ast.UnaryOp(ast.Not(), made[0])
            case "and" | "or":
                return ast.BoolOp(ast.And() if op == "and" else ast.Or(), made)
            case "=>":
                return ast.BoolOp(ast.Or(), [ast.UnaryOp(ast.Not(), made[0]), made[1]])
            case "ite":
                return ast.IfExp(*made)
            case "abs" | "min" | "max" | "len":
                return _call(op, *made)
        raise ParameterError(f"the operation {op!r} is none of the core language")

    def _read(self, items: Term, index: Term) -> ast.expr:
        """items[index], or 0 outside of the list."""
        if not isinstance(items, Var):
            raise ParameterError(f"{show(items)} is no list that can be read")
        place = first = self._term(index)
        if not isinstance(index, Num | Var):
            # The index is evaluated once, in the test, which comes first.
            name = f"t{self._spare}"
            self._spare += 1
            place, first = ast.Name(name, ast.Load()), ast.NamedExpr(ast.Name(name, ast.Store()), place)
        inside = ast.Compare(ast.Constant(0), [ast.LtE(), ast.Lt()], [first, _call("len", self._load(items))])
        return ast.IfExp(inside, ast.Subscript(self._load(items), place, ast.Load()), ast.Constant(0))


def _start(var: Var) -> ast.expr:
    if var.sort == "list":
        return ast.List([], ast.Load())
    return ast.Constant(False if var.sort == "bool" else 0)


def _assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _call(name: str, *args: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])
