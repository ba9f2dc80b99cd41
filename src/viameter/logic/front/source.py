"""Where a program's text comes from: a function's file or a text, with the lines that errors and proofs point at."""

from __future__ import annotations

import ast
import builtins
import fractions
import inspect
import math
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from viameter.errors import ParameterError, plain
from viameter.logic.front.constants import ELSEWHERE, MISSING, constant
from viameter.logic.front.errors import ProgramError
from viameter.logic.front.markers import MARKERS

KNOWN = frozenset({*MARKERS, *vars(builtins), "Fraction", "ln", "log"})
"""Names that are known by themselves where nothing else is bound to them."""
NUMBERS = {"math": math, "fractions": fractions}
"""Modules of Python that a text may import."""
CALLED = frozenset(
    {*MARKERS, "Fraction", "log", "ln", "program", "all_differ", "one_differs", "related", "added_or_removed"}
)
"""What a text may call around its functions: what makes constants, types and adjacencies."""
ALONE = "put @vm.program(...) directly above the def, alone"
PLAIN = "a text has imports, constants and functions, and gives other values as names="


@dataclass(frozen=True, slots=True)
class Source:
    """A function's syntax tree; line n of the tree is line n + `above` of `file`, and `lines` starts at line 1 of it.

    `names` is what the names around the function stand for.
    """

    file: str
    above: int
    lines: tuple[str, ...]
    tree: ast.FunctionDef
    names: Mapping[str, Any]

    def line(self, node: ast.AST) -> int:
        """The line of the file that a part of the tree starts in."""
        return int(getattr(node, "lineno", self.tree.lineno)) + self.above

    def error(self, node: ast.AST, what: str, hint: str = "") -> ProgramError:
        """An error at a part of the tree."""
        place = int(getattr(node, "lineno", self.tree.lineno))
        text = self.lines[place - 1] if 0 < place <= len(self.lines) else ""
        return ProgramError(what, file=self.file, line=place + self.above, text=text, hint=hint)


def source_of(function: Callable[..., Any]) -> Source:
    """The source of a function that is written in a file (or in a cell of a notebook)."""
    if not inspect.isfunction(function):
        raise ParameterError(f"{plain(function)} is no function: put @vm.program above a def")
    file = function.__code__.co_filename
    if hasattr(function, "__wrapped__"):
        raise ProgramError(
            f"{function.__name__} is wrapped by another decorator, which the program would not have",
            file=file, line=function.__code__.co_firstlineno, hint=ALONE,
        )  # fmt: skip
    try:
        lines, start = _lines_of(function)
    except (OSError, TypeError):
        raise ProgramError(
            f"the source of {function.__name__} is not available",
            file=file, line=function.__code__.co_firstlineno,
            hint="a program must stand in a file, or be given as text: viameter.logic.program_from_source(text, ...)",
        ) from None  # fmt: skip
    # An indented function is put below an `if`, which keeps its lines, those within strings too.
    above = [] if not lines[0][:1].isspace() else ["if True:\n"]
    try:
        module = ast.parse("".join([*above, *lines]))
    except SyntaxError:  # a lambda in the middle of an expression
        module = ast.Module(body=[], type_ignores=[])
    body = module.body[0].body if above and module.body and isinstance(module.body[0], ast.If) else module.body
    names = {**function.__globals__, **_closure(function)}
    known = (*above, *lines)
    return _whole(Source(file, start - 1 - len(above), known, _only(body, file, start, known, None), names))


def _lines_of(function: Callable[..., Any]) -> tuple[list[str], int]:
    # `python -c` keeps its own text under this name, and `exec` compiles any other text under it.
    if function.__code__.co_filename == "<string>":
        raise OSError
    return inspect.getsourcelines(function)


def source_from_text(text: str, name: str | None = None, *, names: Mapping[str, Any] | None = None) -> Source:
    """The source of the function `name` of a text, or of the only one; numbers of the text's module are known."""
    lines = tuple(text.splitlines(keepends=True))
    try:
        module = ast.parse(text)
    except SyntaxError as problem:
        line = problem.lineno or 1
        shown = lines[line - 1] if line <= len(lines) else ""
        raise ProgramError(
            f"this is not Python: {problem.msg}", file="<text>", line=line, text=shown, hint="give the text of one def"
        ) from None
    except (RecursionError, MemoryError):
        raise ProgramError(
            "the text is nested too deeply", file="<text>", line=1, hint="name the parts of long expressions"
        ) from None
    known: dict[str, Any] = dict(names or {})
    for statement in module.body:
        _require_plain(statement, lines, known)
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)], value=value):
                found = constant(value, lambda other: known.get(other, MISSING))
                if found is not None:
                    known[target] = found
                    continue
        # Whatever else may bind a name makes it something that no program may use: better no number than an old one.
        known.update(dict.fromkeys(_bound_in(statement), ELSEWHERE))
        known.update(_imported(statement))
    for part in ast.walk(module):
        if isinstance(part, ast.Global):
            known.update(dict.fromkeys(part.names, ELSEWHERE))
    return _whole(Source("<text>", 0, lines, _only(module.body, "<text>", 1, lines, name), known))


def _whole(source: Source) -> Source:
    """The source, if all of it is read: what has an effect on the function wherever it stands in it is refused."""
    above = source.tree.decorator_list[1:]
    if above:
        raise source.error(
            above[0], f"{source.tree.name} is under another decorator, which the program would not have", ALONE
        )
    for part in ast.walk(source.tree):
        if isinstance(part, ast.Yield | ast.YieldFrom | ast.Await):
            raise source.error(
                part, f"{type(part).__name__.lower().replace('from', ' from')} is outside the subset, also where it is "
                "never reached: the function returns no number", "append to an output list, and return it",
            )  # fmt: skip
    return source


def _require_plain(statement: ast.stmt, lines: tuple[str, ...], known: Mapping[str, Any]) -> None:
    """Refuse what a text would execute above, below or around its functions: it may change what they mean."""

    def refused(part: ast.AST, what: str, hint: str) -> ProgramError:
        line = int(getattr(part, "lineno", statement.lineno))
        return ProgramError(what, file="<text>", line=line, text=lines[line - 1], hint=hint)

    match statement:
        case ast.ImportFrom(names=[ast.alias(name="*")]):
            raise refused(statement, f"{ast.unparse(statement)} may bind any name", "import what is used, by its name")
        case ast.Import() | ast.ImportFrom() | ast.Pass() | ast.Expr(value=ast.Constant()):
            return
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            for decorator in statement.decorator_list:
                if not (isinstance(decorator, ast.Call) and _is_known(decorator.func, known, {"program"})):
                    raise refused(decorator, f"{statement.name} is under a decorator, which is not executed", ALONE)
            executed: list[ast.AST] = [*statement.decorator_list, statement.args]
            executed += [statement.returns] if statement.returns is not None else []
        case ast.Assign(value=value, targets=targets) if all(map(_is_names, targets)):
            executed = [value]
        case ast.AnnAssign(target=ast.Name(), value=value):
            executed = [statement.annotation, *([value] if value is not None else [])]
        case _:
            shown = " ".join(ast.unparse(statement).split())
            raise refused(statement, f"{shown[:60]} is outside the subset: it would have to be executed", PLAIN)
    for part in (part for tree in executed for part in ast.walk(tree)):
        effect = isinstance(part, ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Await)
        if effect or (isinstance(part, ast.Call) and not _is_known(part.func, known, CALLED)):
            raise refused(part, f"{ast.unparse(part)[:60]} is outside the subset: it would have to be executed", PLAIN)


def _is_names(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) or (isinstance(target, ast.Tuple) and all(map(_is_names, target.elts)))


def _is_known(node: ast.expr, known: Mapping[str, Any], names: Set[str]) -> bool:
    """Whether f, or m.f, is one of these names, and the text binds it to nothing of its own."""
    match node:
        case ast.Name(id=name):
            found = known.get(name, MISSING)
        case ast.Attribute(value=ast.Name(id=module), attr=name):
            around = known.get(module, MISSING)
            found = around if around is MISSING else getattr(around, name, ELSEWHERE)
        case _:
            return False
    return name in names and found is not ELSEWHERE


def _imported(statement: ast.stmt) -> dict[str, Any]:
    """Names that an import gives: those of the library are known by name, and Python's numbers are what they are."""
    found: dict[str, Any] = {}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        for alias in statement.names:
            module = alias.name if isinstance(statement, ast.Import) else statement.module or ""
            bound = alias.asname or alias.name.partition(".")[0]
            # Under another name it would pass for what Python or viameter has under that name.
            renamed = bound != alias.name and (bound in KNOWN or alias.name in KNOWN)
            if module.partition(".")[0] == "viameter" and not renamed:
                found[bound] = MISSING
            elif module in NUMBERS:
                plain = isinstance(statement, ast.Import)
                found[bound] = NUMBERS[module] if plain else getattr(NUMBERS[module], alias.name, ELSEWHERE)
    return found


def _bound_in(statement: ast.stmt) -> set[str]:
    """The names of the module that a statement may bind, functions and classes among them."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    found: set[str] = set()
    for part in ast.walk(statement):
        match part:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.alias(name=name, asname=other):
                found.add(other or name.partition(".")[0])
            case ast.ExceptHandler(name=str(name)):
                found.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.add(name)
    return found


def _only(body: list[ast.stmt], file: str, start: int, lines: tuple[str, ...], name: str | None) -> ast.FunctionDef:
    found = [part for part in body if isinstance(part, ast.FunctionDef) and name in (None, part.name)]
    if len(found) == 1:
        return found[0]
    wanted = "one def" if name is None else f"a def of {name}"
    given = ", ".join(part.name for part in body if isinstance(part, ast.FunctionDef)) or "none"
    raise ProgramError(
        f"expected {wanted}, and found {given}", file=file, line=start, text=lines[0] if lines else "",
        hint="a program is a def (no lambda, no async def); of several, say which by name",
    )  # fmt: skip


def _closure(function: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not bound yet, and then no global of the same name is meant either
            found[name] = MISSING
    return found
