"""The text of a program: read line by line, so that every statement knows its line; the first line is line 1."""

from __future__ import annotations

from fractions import Fraction

from viameter_check.amounts import shortened
from viameter_check.programs.laws import read_law
from viameter_check.programs.reading import Reader, read_term
from viameter_check.programs.scopes import Scope, read_name
from viameter_check.programs.syntax import (
    Append,
    Assign,
    Block,
    Flip,
    If,
    Program,
    Sample,
    Statement,
    While,
)
from viameter_check.programs.terms import BOOL, INT, LIST, Term
from viameter_check.programs.walking import parts
from viameter_check.report import Refused

ANY = "any.k"
"""The index of any element, in a fact about each element of a list."""

MOST_TEXT = 100_000
MOST_LINES = 2000
MOST_BLOCKS = 25
MOST_TOKENS = 500
_BUDGETS_THAT_ARE_NONE = ("rho", "delta")


def read_program(text: object) -> Program:
    """The program of a text, or what is wrong with it and in which line."""
    if not isinstance(text, str):
        raise Refused(f"{shortened(text)} is not text: expected a program")
    if len(text) > MOST_TEXT or text.count("\n") > MOST_LINES:
        raise Refused(f"is longer than {MOST_TEXT} characters or {MOST_LINES} lines: this checker does not read it")
    if not all(" " <= character <= "~" or character == "\n" for character in text):
        raise Refused("has a character that is no printable ASCII")
    return _Lines(text.rstrip("\n").split("\n")).program()


class _Lines:
    """A position in the lines of a program."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = [line.strip() for line in lines]
        self.at = 0
        self.inputs: dict[str, str] = {}
        self.grids: dict[str, Fraction] = {}
        self.budgets: set[str] = set()
        self.sorts: dict[str, str] = {}
        self.variables: dict[str, str] = {}
        self.outputs: set[str] = set()
        self.scope = Scope("a program")

    def program(self) -> Program:
        """The whole program; whatever is refused is refused with its line."""
        try:
            return self._program()
        except Refused as problem:
            raise Refused(f"line {self.at}: {problem}", f"[{self.at}]") from None

    def take(self) -> str:
        """The next line."""
        if self.at >= len(self.lines):
            raise Refused("the text ends too early")
        self.at += 1
        return self.lines[self.at - 1]

    def _program(self) -> Program:
        word, _, name = self.take().partition(" ")
        if word != "program":
            raise Refused("expected 'program NAME' in the first line")
        name = read_name(name.strip(), "a program")
        wanted: list[tuple[int, str]] = []
        elements: list[tuple[int, str]] = []
        while (line := self.take()) != "begin":
            word, _, rest = line.partition(" ")
            if word == "input":
                self._input(rest)
            elif word == "budget":
                self._budget(rest.strip())
            elif word in ("requires", "each"):
                (wanted if word == "requires" else elements).append((self.at, rest))
            else:
                raise Refused(f"{shortened(line)}: expected input, budget, requires, each or begin")
        begin = self.at
        lists = frozenset(name for name, sort in self.inputs.items() if sort == LIST)
        requires = tuple(self._fact(at, text, Scope("requires", self.inputs, lists=lists)) for at, text in wanted)
        each = tuple(self._element(at, text, lists) for at, text in elements)
        self.at = begin
        self.sorts = dict(self.inputs)
        self.scope = Scope("a program", self.sorts, lists=lists)
        body, _ = self._block(("end",), 0)
        output, grid = self._output(self.take())
        if self.at != len(self.lines):
            self.at += 1
            raise Refused("did not expect anything after the line with 'return'")
        return Program(
            name, self.inputs, self.grids, frozenset(self.budgets), requires, each, body, self.variables,
            frozenset(self.outputs), output, grid,
        )  # fmt: skip

    def _short(self, text: str, scope: Scope) -> Reader:
        reader = Reader(text, scope)
        if len(reader.tokens) > MOST_TOKENS:
            raise Refused(f"is longer than {MOST_TOKENS} names, numbers and operations: this checker does not read it")
        return reader

    def _fact(self, at: int, text: str, scope: Scope) -> Term:
        self.at = at
        self._short(text, scope)
        return read_term(text, scope)

    def _element(self, at: int, text: str, lists: frozenset[str]) -> tuple[str, Term]:
        self.at = at
        name, _, fact = text.partition(":")
        if name not in lists:
            raise Refused(f"{shortened(name)} is not an input list")
        scope = Scope("a fact about each element", {**self.inputs, ANY: INT}, lists=lists)
        self._short(fact, scope)
        term = read_term(fact, scope)
        require_own_elements(name, term)
        return name, term

    def _input(self, rest: str) -> None:
        name, _, rest = rest.partition(":")
        name = self._new(name.strip(), "an input")
        sort, _, grid = rest.strip().partition(" on ")
        if sort not in (INT, BOOL, LIST):
            raise Refused(f"{shortened(sort)} is not the sort of an input: int, bool or list")
        self.grids[name] = _grid(grid, sort) if grid else Fraction(1)
        self.inputs[name] = sort

    def _budget(self, name: str) -> None:
        name = self._new(name, "a budget")
        if name in _BUDGETS_THAT_ARE_NONE or "." in name:
            raise Refused(f"the name {name!r} means something else: a budget needs another")
        self.budgets.add(name)

    def _new(self, name: str, what: str) -> str:
        if read_name(name, what) in self.inputs or name in self.budgets:
            raise Refused(f"the name {name!r} stands twice")
        return name

    def _output(self, line: str) -> tuple[str, Fraction]:
        word, _, rest = line.partition(" ")
        name, _, grid = rest.partition(" on ")
        if word != "return" or name not in {**self.sorts, **dict.fromkeys(self.outputs)}:
            raise Refused(f"{shortened(line)}: expected 'return VARIABLE'")
        if self.inputs.get(name) == LIST:
            raise Refused(f"{name!r} is an input list: a program returns a list that it appends to")
        return name, _grid(grid, self.sorts.get(name, LIST)) if grid else Fraction(1)

    def _block(self, ends: tuple[str, ...], level: int) -> tuple[Block, str]:
        if level > MOST_BLOCKS:
            raise Refused(f"blocks are nested in more than {MOST_BLOCKS} levels")
        found: list[Statement] = []
        while True:
            line = self.take()
            if line in ends:
                return tuple(found), line
            if line != "skip":
                found.append(self._statement(line, level))

    def _statement(self, line: str, level: int) -> Statement:
        at, reader = self.at, self._short(line, self.scope)
        if word := reader.accept("if", "while"):
            test = reader.term()
            reader.take("then" if word == "if" else "do")
            reader.done()
            if test.sort != BOOL:
                raise Refused(f"a test is bool, not {test.sort}")
            block, end = self._block(("else", "end") if word == "if" else ("end",), level + 1)
            if word == "while":
                return While(test, block, at, self.at)
            orelse = self._block(("end",), level + 1)[0] if end == "else" else ()
            return If(test, block, orelse, at, self.at)
        if reader.accept("append"):
            reader.take("(")
            name = reader.word()
            reader.take(",")
            value = reader.term()
            reader.take(")")
            reader.done()
            self._appended(name)
            if value.sort != INT:
                raise Refused(f"an integer is appended, not {value.sort}")
            return Append(name, value, at)
        name = reader.word()
        if reader.accept(":=$"):
            law = read_law(reader, frozenset(self.budgets), self.scope.lists)
            reader.done()
            sort = BOOL if isinstance(law, Flip) else INT
            self._assigned(name, sort)
            return Sample(name, sort, law, at)
        reader.take(":=")
        value = reader.term()
        reader.done()
        self._assigned(name, value.sort)
        return Assign(name, value, at)

    def _appended(self, name: str) -> None:
        if read_name(name, "a variable") in {*self.sorts, *self.budgets}:
            raise Refused(f"{name!r} is not a list to append to")
        self.outputs.add(name)

    def _assigned(self, name: str, sort: str) -> None:
        if read_name(name, "a variable") in {*self.inputs, *self.budgets, *self.outputs}:
            raise Refused(f"{name!r} is not a variable to assign to")
        if self.sorts.setdefault(name, sort) != sort:
            raise Refused(f"{name!r} is {self.sorts[name]}, and {sort} is assigned to it")
        self.variables[name] = sort


def require_own_elements(name: str, fact: Term) -> None:
    """A fact about each element of a list speaks of that list's elements, and of no other list's at that index."""
    for term in parts([fact]):
        if term.op == "read" and term.args[0].name != name:
            raise Refused(f"a fact about each element of {name!r} reads {term.args[0].name!r}")


def _grid(text: str, sort: str) -> Fraction:
    reader = Reader(text, Scope("a grid"))
    grid = reader.ratio()
    reader.done()
    if grid <= 0 or sort == BOOL:
        raise Refused(f"{shortened(text)} is not a grid: expected a number above 0, for integers")
    return grid
