"""Programs of a text that somebody submitted: read from its syntax tree; nothing of it is imported or executed.

Such a text is a Python file as `viameter verify` takes it, with this and nothing else at its top level: imports of
viameter, constants, and functions under `@vm.program(...)`. What a file would do beyond that is refused at its line.
Attributes are never looked up on what a name stands for: the modules that may be named are those of `READABLE`, with
what may be named of each, and they are made here.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from viameter.errors import FormatError, ParameterError, ViameterError, plain
from viameter.logic.front.adjacency import Adjacency
from viameter.logic.front.adjacent import added_or_removed, all_differ, one_differs, related
from viameter.logic.front.constants import MISSING, constant
from viameter.logic.front.decorator import ProgramFunction, program, program_from_source
from viameter.logic.front.errors import ProgramError
from viameter.logic.front.markers import MARKERS, Between, Grid

LONGEST = 100_000
"""Characters of a text, at most."""
MOST = 50
"""Programs of a text, at most."""
MOST_BITS = 10_000
"""Bits of a constant, at most: products of products would grow without end."""

MADE: Mapping[str, Callable[..., Any]] = {
    "all_differ": all_differ, "one_differs": one_differs, "related": related, "added_or_removed": added_or_removed,
    "Grid": Grid, "Between": Between,
}  # fmt: skip
"""What is called while a text is read, with constants, by its name in the library."""
VALUES = (str, float, tuple, Adjacency, Grid, Between, type(None))
"""What a name of the text may stand for where a constant is wanted, beside numbers and truth values."""


class Readable(SimpleNamespace):
    """A module as a text sees it: what may be named of it, and nothing else."""


READABLE: Mapping[str, Readable] = {
    "viameter": Readable(program=program, **MADE, **{name: MARKERS[name] for name in MARKERS if name not in MADE}),
    "fractions": Readable(Fraction=Fraction),
    "math": Readable(log=math.log),
    "typing": Readable(List=list),
}
"""The modules that a text may import."""
CALLABLE: Mapping[str, Any] = {**MARKERS, "Fraction": Fraction, "log": math.log, "ln": math.log}
"""What the compiler knows by its name, of all that a text may import and a program may call."""

KEPT_TO = "keep to imports of viameter, constants and functions under @vm.program(...)"
CALLED = "call vm.lap and its kin, other programs, abs, min, max, len or sum"
ATTRIBUTES = "of attributes, those of vm that programs are written with are read, and out.append"
MANY_DIGITS = ("this number has very many digits", "write a smaller one")
CONSTANTS = 'write a number, a text, or an adjacency of them such as vm.all_differ("q", by=1)'
DECORATOR = '@vm.program(adjacent=vm.all_differ("q", by=1), requires="N >= 1")'


def programs_from_text(text: str) -> dict[str, ProgramFunction]:
    """The programs of a text, by name, in their order.

    A text that is no such text is refused: with a ProgramError at the line that is wrong, or with a FormatError if it
    is wrong as a whole. One that is short may still take very long, or much memory, to read: whoever reads the texts
    of strangers does so in a process with limits.

    >>> programs_from_text('''
    ... import viameter as vm
    ... @vm.program(adjacent=vm.all_differ("q", by=1))
    ... def noisy(q: int, eps: vm.Eps) -> int:
    ...     return q + vm.lap(1 / eps)
    ... ''')
    {'noisy': <program noisy(q, eps): q differs by at most 1>}
    """
    with _within_limits():
        lines = _lines(text)
        reader = _Reader(lines)
        for statement in _parsed(lines).body:
            reader.read(statement)
    if not reader.programs:
        raise FormatError("the text defines no program: put @vm.program(adjacent=...) above a function in it")
    return reader.programs


def names_from_text(text: str) -> tuple[str, ...]:
    """The names of the functions that a text puts under a decorator: of its programs, if it can be read."""
    with _within_limits():
        found = _parsed(_lines(text)).body
    return tuple(part.name for part in found if isinstance(part, ast.FunctionDef) and part.decorator_list)


@contextmanager
def _within_limits() -> Iterator[None]:
    """Errors of Python about a text that it cannot take become errors of this library."""
    try:
        yield
    except ViameterError:
        raise
    except (RecursionError, MemoryError):
        raise FormatError(
            "the text is nested too deeply, or too large, to be read: write it in smaller parts"
        ) from None
    except (ValueError, ArithmeticError):
        raise FormatError("the text holds a number or a character that cannot be read: write smaller numbers") from None


def _lines(text: str) -> list[str]:
    """The lines, as Python counts them."""
    if not isinstance(text, str):
        raise ParameterError(f"{plain(text)}: expected the text of programs")
    if len(text) > LONGEST:
        raise FormatError(f"the text has {len(text)} characters: expected at most {LONGEST}")
    if "\0" in text:
        raise FormatError("the text has a null byte in it, which no Python text has")
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _parsed(lines: list[str]) -> ast.Module:
    try:
        return ast.parse("\n".join(lines))
    except SyntaxError as problem:
        raise _error(lines, problem.lineno or 1, f"this is not Python: {problem.msg}") from None


def _error(lines: list[str], line: int, what: str, hint: str = "") -> ProgramError:
    shown = lines[line - 1] if 0 < line <= len(lines) else ""
    return ProgramError(what, file="<text>", line=line, text=_cut(shown.strip()), hint=hint)


def _cut(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:99]}…"


def _written(node: ast.AST) -> str:
    return _cut(ast.unparse(node))


@dataclass(slots=True)
class _Reader:
    """What the statements of a text have said so far."""

    lines: list[str]
    known: dict[str, Any] = field(default_factory=lambda: {"vm": READABLE["viameter"]})
    """What names stand for: constants, modules and parts of them, and the programs that later ones may call."""
    programs: dict[str, ProgramFunction] = field(default_factory=dict)

    def read(self, node: ast.stmt) -> None:
        """Take one statement of the top level."""
        match node:
            case ast.Expr(value=ast.Constant()):  # a docstring
                pass
            case ast.Import():
                for alias in node.names:
                    self._import(node, alias.name, alias.asname or alias.name)
            case ast.ImportFrom(module="__future__", level=0):
                pass
            case ast.ImportFrom(module=module, level=level):
                for alias in node.names:
                    self._import(node, f"{'.' * level}{module or ''}", alias.asname or alias.name, alias.name)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.known[name] = self._value(value)
            case ast.FunctionDef(name=name):
                self.known[name] = self.programs[name] = self._program(node)
            case _:
                raise self._refused(node, "nothing is executed here, and this statement would be", KEPT_TO)

    def _refused(self, node: ast.AST, what: str, hint: str = "") -> ProgramError:
        return _error(self.lines, int(getattr(node, "lineno", 1)), what, hint)

    # Names.

    def _import(self, node: ast.stmt, module: str, bound: str, part: str | None = None) -> None:
        found: Any = READABLE.get(module)
        if found is not None and part is not None:
            found = vars(found).get(part)
        if found is None:
            raise self._refused(node, f"{_written(node)} is not read here: nothing is imported", KEPT_TO)
        self.known[bound] = found

    def _named(self, node: ast.expr) -> Any:
        """What a name, or a name of a module, stands for."""
        match node:
            case ast.Name(id=name):
                return self._lookup(name)
            case ast.Attribute(value=ast.Name(id=name), attr=part):
                module = self._lookup(name)
                return vars(module).get(part, MISSING) if isinstance(module, Readable) else MISSING
        return MISSING

    def _lookup(self, name: str) -> Any:
        return self.known.get(name, MISSING)

    # Constants.

    def _value(self, node: ast.expr) -> Any:
        """What an expression of constants stands for."""
        found: Any = constant(node, self._lookup)
        if isinstance(found, Fraction) and max(abs(found.numerator), found.denominator).bit_length() > MOST_BITS:
            raise self._refused(node, *MANY_DIGITS)
        if found is not None:
            return int(found) if isinstance(found, Fraction) and found.denominator == 1 else found
        match node:
            case ast.Constant(value=None | str() | float() as value):  # what takes a float says what to write instead
                return value
            case ast.Name(id=name) if isinstance(self._lookup(name), VALUES):
                return self._lookup(name)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return tuple(self._value(part) for part in parts)
            case ast.Call():
                return self._made(node)
        raise self._refused(node, f"{_written(node)} is no constant, and nothing is executed here", CONSTANTS)

    def _made(self, node: ast.Call) -> Any:
        maker = self._named(node.func)
        name = next((name for name, made in MADE.items() if made is maker), None)
        if name is None:
            raise self._refused(node, f"{_written(node.func)} is not called, since nothing is executed here", CONSTANTS)
        given = [self._value(argument) for argument in node.args]
        words = {word.arg: self._value(word.value) for word in node.keywords if word.arg is not None}
        signature = inspect.signature(maker)
        try:
            arguments = signature.bind(*given, **words)
        except TypeError:
            arguments = None
        if arguments is None or len(words) < len(node.keywords):
            hint = f"its parameters are {', '.join(signature.parameters)}, each given once"
            raise self._refused(node, f"the arguments are not those of vm.{name}", hint)
        try:
            return maker(*arguments.args, **arguments.kwargs)
        except ViameterError as problem:
            raise self._refused(node, str(problem)) from None

    # Programs.

    def _program(self, node: ast.FunctionDef) -> ProgramFunction:
        call = self._decorator(node)
        self._check_function(node)
        given = {word.arg: word.value for word in call.keywords}
        if node.name in self.programs:
            raise self._refused(node, f"two programs are called {_cut(node.name)}", "give them two names")
        if len(self.programs) == MOST:
            raise self._refused(node, f"the text has more than {MOST} programs", "submit it in parts")
        requires = self._value(given["requires"]) if "requires" in given else ()
        if not isinstance(requires, str | tuple):
            raise self._refused(given["requires"], "requires= is no text", 'state facts as text: requires="N >= 1"')
        adjacent = self._value(given["adjacent"])
        # The function alone, at its lines: what its names stand for is what was said above it.
        text = "\n" * (node.lineno - 1) + "\n".join(self.lines[node.lineno - 1 : node.end_lineno])
        try:
            found = program_from_source(text, adjacent=adjacent, requires=requires, name=node.name, names=self.known)
        except ProgramError:
            raise
        except ViameterError as problem:
            raise self._refused(call, str(problem)) from None
        return replace(found, line=call.lineno)

    def _decorator(self, node: ast.FunctionDef) -> ast.Call:
        match node.decorator_list:
            case [ast.Call(func=function, args=[], keywords=words) as call] if self._named(function) is program:
                names = [word.arg for word in words]
                if sorted(map(str, names)) in (["adjacent"], ["adjacent", "requires"]):
                    return call
        place = node.decorator_list[0] if node.decorator_list else node
        raise self._refused(place, f"{_cut(node.name)} is not under @vm.program(...) alone", f"write {DECORATOR}")

    # Before the compiler sees a function: it looks at what names stand for, and must find nothing to look into.

    def _check_function(self, node: ast.FunctionDef) -> None:
        for inner in (node.args, node.returns, *node.body):
            if inner is not None:
                self._check(inner, None)
        for part in ast.walk(node):
            annotation = getattr(part, "annotation", None) if part is not node else node.returns
            if isinstance(annotation, ast.expr):
                self._check_texts(annotation, annotation)

    def _check_texts(self, annotation: ast.expr, at: ast.expr) -> None:
        """Texts in an annotation are read as annotations, too."""
        for part in ast.walk(annotation):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                try:
                    inner = ast.parse(part.value, mode="eval").body
                except SyntaxError:  # the compiler says so, if it is no number
                    continue
                except ValueError:
                    raise self._refused(at, "this annotation cannot be read", "write the type without quotes") from None
                self._check(inner, at)
                self._check_texts(inner, at)

    def _check(self, node: ast.AST, at: ast.expr | None) -> None:
        """Refuse attributes, calls and numbers that no program needs."""
        for part in ast.walk(node):
            place = part if at is None else at
            match part:
                case ast.Attribute(attr="append", value=ast.Name()):
                    pass
                case ast.Attribute() if self._named(part) is MISSING:
                    raise self._refused(place, f"{_written(part)} is outside the subset", ATTRIBUTES)
                case ast.Call(func=ast.Name(id=name)):
                    found = self._lookup(name)
                    if found is not MISSING and name not in self.programs and found is not CALLABLE.get(name):
                        raise self._refused(place, f"{_cut(name)} is nothing that a program may call", CALLED)
                case ast.Constant(value=int() as number) if number.bit_length() > MOST_BITS:
                    raise self._refused(place, *MANY_DIGITS)
