"""The while language of the slides, as it is printed there, to a core program.

    DummySum (d : {0,1} list) : real list
      i := 0;
      ...
      while (i < size d)
        z := $ Lap (eps, s)
        r := r ++ [z];
      return r

Bodies are given by indentation, and semicolons may be missing. `Lap(b, a)` is noise of scale b around a, except that a
bare name, `Lap(eps, a)`, is a budget in EasyCrypt's notation: scale 1/eps. Names that are divided by are budgets too;
other names that the program never assigns, such as `sens`, are public whole numbers of at least 1.

Reals are on a grid: all noise is on the grid that is given, and so is what is released. A quotient `s/i` is rounded
down to the grid, so that the default grid of 1 makes it floor division.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from fractions import Fraction
from textwrap import dedent

from viameter.arith import Number
from viameter.errors import ParameterError, plain
from viameter.logic.front.errors import ProgramError
from viameter.logic.front.markers import Between, Grid
from viameter.logic.front.python import compile_source
from viameter.logic.lang.core import Program

_HEADER = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*\((?P<parameters>[^()]*)\)\s*:\s*(?P<returns>[^:=]+?)\s*")
_SIZE = re.compile(r"\bsize\s*(?:\(\s*([A-Za-z_]\w*)\s*\)|([A-Za-z_]\w*))")
_SAMPLE = re.compile(r"(?P<target>\w+)\s*:=\s*\$\s*(?P<law>\w+)\s*\((?P<arguments>.*)\)")
_ASSIGN = re.compile(r"(?P<target>\w+)\s*:=\s*(?P<value>.+)")
_APPEND = re.compile(r"(?P<same>\w+)\s*\+\+\s*\[(?P<item>.*)\]")
_TEST = re.compile(r"(?P<word>while|if|elif)\b\s*(?P<test>.*?)\s*(?:do|then|:)?")
_EQUALS = re.compile(r"(?<![<>=!:])=(?!=)")


def read_slides(
    text: str, *, grid: Number = 1, bounds: tuple[Number, Number] | None = None, budgets: tuple[str, ...] = ()
) -> Program:
    """The core program of a text in the slides' language.

    `grid` is that of reals, `bounds` those of the elements of lists whose type states none, and `budgets` names budgets
    that the text itself does not show to be some.

    >>> print(read_slides('''
    ... Mean (d : private data) : public real
    ...   i:=0;
    ...   s:=0;
    ...   while (i<size(d))
    ...     s:=s + d[i]
    ...     i:=i+1;
    ...   z:=$ Lap(sens/eps, (s/i))
    ...   return z
    ... ''').body.statements[3])
    Sample(target=Var(name='z', ...
    """
    if not isinstance(text, str):
        raise ParameterError(f"{plain(text)}: expected a text")
    lines = _lines(text)
    header = next((place for place, line in enumerate(lines) if line.strip()), 0)
    found = _HEADER.fullmatch(lines[header]) if lines else None
    if found is None:
        raise _error(lines, header, "this is no header", "write Name (d : {0,1} list) : real list")
    step = Grid(grid).step
    if step.numerator != 1:
        raise ParameterError(f"grid={step}: expected one over a whole number, such as 1 or 1/100")
    types = _Types(step, bounds)
    body = _Body(lines, types.grid, set(budgets))
    written = [body.line(place) if place > header else "" for place in range(len(lines))]
    parameters = {}
    for part in filter(str.strip, _split(found["parameters"])):
        name, _, kind = part.partition(":")
        parameters[name.strip()] = types.python(lines, header, kind)
    public = sorted(_free(written, {*parameters, *body.budgets}))
    annotated = [f"{name}: {kind}" for name, kind in parameters.items()]
    annotated += [f"{name}: int" for name in public] + [f"{name}: Eps" for name in sorted(body.budgets)]
    returns = types.python(lines, header, found["returns"], result=True)
    written[header] = f"def {found['name']}({', '.join(annotated)}) -> {returns}:"
    try:
        return compile_source("\n".join(written) + "\n", requires=[f"{name} >= 1" for name in public]).program
    except ProgramError as problem:
        raise _error(lines, problem.line - 1, problem.what, problem.hint) from None


def _lines(text: str) -> list[str]:
    """The lines, without the marks of a code block around them."""
    return ["" if line.strip().startswith("```") else line.rstrip() for line in dedent(text).splitlines()]


def _error(lines: list[str], place: int, what: str, hint: str = "") -> ProgramError:
    text = lines[place] if place < len(lines) else ""
    return ProgramError(what, file="<slides>", line=place + 1, text=text, hint=hint)


@dataclass(frozen=True, slots=True)
class _Types:
    grid: Fraction
    bounds: tuple[Number, Number] | None

    def python(self, lines: list[str], place: int, text: str, *, result: bool = False) -> str:
        """A type of the slides as an annotation."""
        words = re.sub(r"\b(private|public)\b", "", text).strip()
        named = re.fullmatch(r"\{\s*(-?\d+)\s*,(?:\s*\.\.\.?\s*,)?\s*(-?\d+)\s*\}(\s+list)?", words, re.ASCII)
        if named is not None:
            one = f"Between({named[1]}, {named[2]})"
            return f"list[{one}]" if named[3] else one
        listed = words == "data" or words.endswith("list")
        element = words.removesuffix("list").strip()
        plain_types = {"real": f'Grid("{self.grid}")', "int": "int", "bool": "bool", "data": "int"}
        if element not in plain_types:
            raise _error(lines, place, f"the type {text.strip()!r} is not known", "write {0,1} list, real, int or data")
        one = plain_types[element]
        if listed and not result and self.bounds is not None and element != "bool":
            ends = Between(*self.bounds, grid=self.grid if element == "real" else 1)
            one = f'Between("{ends.low}", "{ends.high}", grid="{ends.grid}")'
        return f"list[{one}]" if listed else one


@dataclass(slots=True)
class _Body:
    lines: list[str]
    grid: Fraction
    budgets: set[str]
    assigned: set[str] = field(default_factory=set)

    def line(self, place: int) -> str:
        """A line of the slides as a line of Python."""
        text = self.lines[place]
        indent, inner = text[: len(text) - len(text.lstrip())], text.strip()
        parts = [self._statement(place, part.strip()) for part in inner.split(";") if part.strip()]
        return indent + "; ".join(parts)

    def _statement(self, place: int, text: str) -> str:
        text = _SIZE.sub(lambda found: f"len({found[1] or found[2]})", text)
        sampled = _SAMPLE.fullmatch(text)
        if sampled is not None:
            return self._sample(place, sampled)
        assigned = _ASSIGN.fullmatch(text)
        if assigned is not None:
            value, target = assigned["value"], assigned["target"]
            appended = _APPEND.fullmatch(value)
            if appended is not None and appended["same"] == target:
                return f"{target} += [{self._expression(place, appended['item'])}]"
            return f"{target} = {value if value.strip() == '[]' else self._expression(place, value)}"
        tested = _TEST.fullmatch(text)
        if tested is not None:
            return f"{tested['word']} {self._expression(place, _EQUALS.sub('==', tested['test']))}:"
        if text in ("else", "else:"):
            return "else:"
        if text.startswith("return"):
            return f"return {self._expression(place, text.removeprefix('return'))}"
        if text == "skip":
            return "pass"
        raise _error(self.lines, place, "this statement is not known", "write x := e, x :=$ Lap(b, a), while or return")

    def _sample(self, place: int, found: re.Match[str]) -> str:
        arguments = _split(found["arguments"])
        if found["law"] not in ("Lap", "lap") or len(arguments) != 2:
            raise _error(self.lines, place, "this law is not known", "write z :=$ Lap(sens/eps, s) or Lap(eps, s)")
        scale = arguments[0].strip()
        center = self._expression(place, arguments[1])
        if re.fullmatch(r"[A-Za-z_]\w*", scale):
            self.budgets.add(scale)
            scale = f"1 / {scale}"
        else:
            self.budgets |= _divisors(self._parsed(place, scale))
        return f'{found["target"]} = lap({scale}, center={center}, grid="{self.grid}")'

    def _expression(self, place: int, text: str) -> str:
        tree = self._parsed(place, text)
        return ast.unparse(_Quotients(self.grid).visit(tree))

    def _parsed(self, place: int, text: str) -> ast.expr:
        try:
            return ast.parse(text.strip(), mode="eval").body
        except SyntaxError:
            raise _error(self.lines, place, f"the expression {text.strip()!r} cannot be read") from None


class _Quotients(ast.NodeTransformer):
    """a / b, rounded down to the grid of 1/n: floor(a n / b) steps of it."""

    def __init__(self, grid: Fraction) -> None:
        self.grid = grid

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div):
            return node
        if self.grid == 1:
            return ast.BinOp(node.left, ast.FloorDiv(), node.right)
        over = ast.Constant(self.grid.denominator)
        return ast.BinOp(ast.BinOp(ast.BinOp(node.left, ast.Mult(), over), ast.FloorDiv(), node.right), ast.Div(), over)


def _divisors(scale: ast.expr) -> set[str]:
    """The names that a scale divides by."""
    return {
        name.id
        for part in ast.walk(scale)
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div)
        for name in ast.walk(part.right)
        if isinstance(name, ast.Name)
    }


def _free(lines: list[str], known: set[str]) -> set[str]:
    """Names that are read and never assigned."""
    try:
        tree = ast.parse(dedent("\n".join(lines)))
    except SyntaxError as problem:
        place = (problem.lineno or 1) - 1
        raise _error(lines, place, "this cannot be read: is the indentation right?") from None
    names = [part for part in ast.walk(tree) if isinstance(part, ast.Name)]
    stored = {part.id for part in names if isinstance(part.ctx, ast.Store)}
    return {part.id for part in names} - stored - known - {"len", "lap", "abs", "min", "max", "Fraction"}


def _split(text: str) -> list[str]:
    """Parts between commas that are within no brackets."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]
