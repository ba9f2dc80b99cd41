"""Read terms, scales, claims and programs from their printed form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from viameter.errors import ParameterError
from viameter.logic.lang.core import (
    ANY,
    Append,
    Assign,
    Block,
    Call,
    Choose,
    Exponential,
    Flip,
    Gaussian,
    If,
    Input,
    Laplace,
    Law,
    Program,
    Sample,
    Skip,
    Statement,
    Uniform,
    While,
    assigned,
    statements_of,
    terms_of,
)
from viameter.logic.lang.scales import Amount, Monomial
from viameter.logic.lang.terms import FALSE, TRUE, ZERO, Num, Sort, Term, Var, apply, height, ite, show, sort_of
from viameter.logic.lang.text import show_program

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+)|(?P<name>(?:cost\.(?:ln\(\d+(?:/\d+)?\)|\w+)|[A-Za-z_]\w*(?:\.\w+)*)(?:<[12]>)?)"
    r"|(?P<op>:=\$|:=|=>|==|!=|<=|>=|//|[-+*/%<>()\[\],:]))",
    re.ASCII,
)
_WORDS = frozenset({"and", "or", "not", "if", "then", "else", "end", "while", "do", "skip", "true", "false", "call"})

# What the text of a program may be: the checker of certificates reads no more, so that no more is proved either.
MOST_DIGITS = 300
MOST_NESTED = 30
"""Brackets in brackets."""
MOST_BLOCKS = 25
"""Branches and loops in one another."""
MOST_TOKENS = 500
"""Names, numbers and operations of one line."""
MOST_LINES = 2000
MOST_TEXT = 100_000

_FUNCTIONS = {"abs": 1, "min": 2, "max": 2, "ite": 3, "len": 1}


@dataclass(slots=True)
class Reader:
    """A position in a line of tokens; `sorts` knows the sorts of variables by name."""

    text: str
    sorts: Mapping[str, Sort] = field(default_factory=dict)
    tokens: list[tuple[str, str]] = field(default_factory=list)
    at: int = 0
    level: int = 0

    def __post_init__(self) -> None:
        where = 0
        text = self.text.rstrip()
        while where < len(text):
            found = _TOKEN.match(text, where)
            if found is None:
                raise ParameterError(f"cannot read {text[where:].strip()!r} in {text.strip()!r}")
            self.tokens.append((str(found.lastgroup), found[str(found.lastgroup)]))
            where = found.end()

    def peek(self) -> str:
        """The next token's text; empty at the end."""
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def kind(self) -> str:
        """The next token's kind; empty at the end."""
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def take(self, wanted: str | None = None) -> str:
        """The next token, which must be `wanted` if that is given."""
        text = self.peek()
        if not text or (wanted is not None and text != wanted):
            expected = "more" if wanted is None else repr(wanted)
            raise ParameterError(f"{self.text.strip()!r}: expected {expected}, found {text or 'the end'!r}")
        self.at += 1
        return text

    def accept(self, wanted: str) -> bool:
        """Take the next token if it is this one."""
        if self.peek() == wanted:
            self.at += 1
            return True
        return False

    def done(self) -> None:
        """Nothing may be left."""
        if self.peek():
            raise ParameterError(f"{self.text.strip()!r}: did not expect {self.peek()!r}")

    def integer(self) -> int:
        """A number without a sign."""
        text = self.take()
        if self.tokens[self.at - 1][0] != "number" or len(text) > MOST_DIGITS:
            raise ParameterError(
                f"{self.text.strip()[:99]!r}: expected a number of up to {MOST_DIGITS} digits, found {text[:30]!r}"
            )
        return int(text)

    def ratio(self) -> Fraction:
        """A number such as 3 or 1/2."""
        top = self.integer()
        below = self.integer() if self.accept("/") else 1
        if below == 0:
            raise ParameterError(f"{self.text.strip()!r}: division by zero")
        return Fraction(top, below)

    # Terms, from the loosest operation to the tightest.

    def term(self) -> Term:
        """A whole term."""
        self.level += 1
        if self.level > MOST_NESTED:
            raise ParameterError(f"{self.text.strip()[:99]!r} is nested in more than {MOST_NESTED} levels")
        left = self._or()
        if self.accept("=>"):
            left = self._op("=>", left, self.term())
        self.level -= 1
        return left

    def _or(self) -> Term:
        left = self._and()
        while self.accept("or"):
            left = self._op("or", left, self._and())
        return left

    def _and(self) -> Term:
        left = self._not()
        while self.accept("and"):
            left = self._op("and", left, self._not())
        return left

    def _not(self) -> Term:
        count = 0
        while self.accept("not"):
            count += 1
        found = self._comparison()
        for _ in range(count):
            found = self._op("not", found)
        return found

    def _comparison(self) -> Term:
        left = self._sum()
        found: list[Term] = []
        while self.peek() in ("<=", "<", "==", "!=", ">=", ">"):
            op = self.take()
            right = self._sum()
            found.append(self._op(op, left, right))
            left = right
        if not found:
            return left
        return found[0] if len(found) == 1 else apply("and", tuple(found))

    def _sum(self) -> Term:
        left = self._product()
        while self.peek() in ("+", "-"):
            left = self._op(self.take(), left, self._product())
        return left

    def _product(self) -> Term:
        left = self._unary()
        while self.peek() in ("*", "//", "%"):
            left = self._op(self.take(), left, self._unary())
        return left

    def _unary(self) -> Term:
        count = 0
        while self.accept("-"):
            count += 1
        found = self._atom()
        for _ in range(count):
            found = self._op("neg", found)
        return found

    def _atom(self) -> Term:
        if self.accept("("):
            inner = self.term()
            self.take(")")
            return inner
        if self.kind() == "number":
            return Num(self.integer())
        name = self.take()
        if name in ("true", "false"):
            return TRUE if name == "true" else FALSE
        if name in _FUNCTIONS and self.accept("("):
            args = [self.term()]
            while self.accept(","):
                args.append(self.term())
            self.take(")")
            if len(args) != _FUNCTIONS[name]:
                raise ParameterError(f"{self.text.strip()!r}: {name} takes {_FUNCTIONS[name]} arguments")
            return ite(*args) if name == "ite" else self._op(name, *args)
        if name in _WORDS or not (name[0].isalpha() or name[0] == "_"):
            raise ParameterError(f"{self.text.strip()!r}: did not expect {name!r}")
        var = self._variable(name)
        if self.accept("["):
            index = self.term()
            self.take("]")
            return self._op("read", var, index)
        return var

    def _variable(self, name: str) -> Var:
        side = 0
        if name.endswith((">",)):
            name, side = name[:-3], int(name[-2])
        if name not in self.sorts:
            raise ParameterError(f"{self.text.strip()!r}: {name!r} is not a variable here; known: {sorted(self.sorts)}")
        return Var(name, self.sorts[name], side)

    def _op(self, op: str, *args: Term) -> Term:
        wanted: tuple[Sort, ...]
        if op in ("and", "or", "not", "=>"):
            wanted = tuple("bool" for _ in args)
        elif op in ("==", "!="):
            wanted = (sort_of(args[0]),) * 2
        elif op == "len":
            wanted = ("list",)
        elif op == "read":
            wanted = ("list", "int")
        else:
            wanted = tuple("int" for _ in args)
        for arg, sort in zip(args, wanted, strict=True):
            if sort_of(arg) != sort:
                raise ParameterError(f"{self.text.strip()!r}: {op} needs {sort}, and {show(arg)} is {sort_of(arg)}")
        return apply(op, args)

    # Scales and amounts.

    def monomial(self, budgets: frozenset[str], *, scale: bool) -> Monomial:
        """A product such as `4*N/eps` (a scale) or `2*N*eps` (an amount)."""
        coefficient, factors, base = Fraction(1), [], "1"
        over = False
        while True:
            value, factor, name = self._factor(budgets)
            if name != "1":
                if base != "1" or over is not scale:
                    raise ParameterError(
                        f"{self.text.strip()!r}: expected "
                        + ("a scale such as 2/eps, with one budget below" if scale else "an amount such as 2*eps")
                    )
                base = name
            if over:
                if factor is not None:
                    raise ParameterError(f"{self.text.strip()!r}: only numbers and a budget may stand below")
                if value == 0:
                    raise ParameterError(f"{self.text.strip()!r}: division by zero")
                coefficient /= value
            else:
                coefficient *= value
                if factor is not None:
                    factors.append(factor)
            if self.accept("*"):
                over = False
            elif self.accept("/"):
                over = True
            else:
                break
        if base == "1" and scale is False and not factors:
            return Monomial.of(coefficient)
        return Monomial.of(coefficient, tuple(factors), base)

    def _factor(self, budgets: frozenset[str]) -> tuple[Fraction, Term | None, str]:
        if self.kind() == "number":
            return Fraction(self.integer()), None, "1"
        if self.peek() == "ln":
            self.take()
            self.take("(")
            ratio = self.ratio()
            self.take(")")
            if ratio <= 1:
                raise ParameterError(f"{self.text.strip()!r}: ln({ratio}) is not above 0: expected ln(r) with r > 1")
            return Fraction(1), None, f"ln({ratio})"
        if self.peek() in budgets:
            return Fraction(1), None, self.take()
        factor = self._atom()
        return (Fraction(factor.value), None, "1") if isinstance(factor, Num) else (Fraction(1), factor, "1")

    def amount(self, budgets: frozenset[str]) -> Amount:
        """A sum of amounts."""
        parts = [self.monomial(budgets, scale=False)]
        while self.accept("+"):
            parts.append(self.monomial(budgets, scale=False))
        return Amount(tuple(parts))


def read_term(text: str, sorts: Mapping[str, Sort]) -> Term:
    """The term that a text stands for; `sorts` names the variables that may occur.

    >>> print(read_term("x<1> - x<2> <= 1 and b", {"x": "int", "b": "bool"}))
    x<1> - x<2> <= 1 and b
    """
    reader = Reader(text, sorts)
    term = reader.term()
    reader.done()
    return term


def read_amount(text: str, budgets: frozenset[str], sorts: Mapping[str, Sort]) -> Amount:
    """The amount that a text stands for: `eps`, `2*eps`, `len(q)*eps + eps2`, `ln(3)`, `1/2`."""
    reader = Reader(text, sorts)
    amount = reader.amount(budgets)
    reader.done()
    return amount


@dataclass(slots=True)
class _Lines:
    lines: list[str]
    sorts: dict[str, Sort]
    budgets: frozenset[str]
    at: int = 0
    level: int = 0

    def take(self) -> tuple[int, str]:
        if self.at >= len(self.lines):
            raise ParameterError("the program's text ends too early: expected 'end'")
        self.at += 1
        return self.at, self.lines[self.at - 1].strip()

    def block(self, ends: tuple[str, ...]) -> tuple[Block, str]:
        found: list[Statement] = []
        self.level += 1
        if self.level > MOST_BLOCKS + 1:
            raise ParameterError(f"line {self.at}: blocks are nested in more than {MOST_BLOCKS} levels")
        while True:
            at, line = self.take()
            if line in ends:
                self.level -= 1
                return Block(tuple(s for s in found if not isinstance(s, Skip))), line
            found.append(self.statement(at, line))

    def statement(self, at: int, line: str) -> Statement:
        reader = line_of(line, self.sorts)
        if line == "skip":
            return Skip(at)
        if reader.accept("if"):
            test = reader.term()
            reader.take("then")
            reader.done()
            then, ended = self.block(("else", "end"))
            orelse = self.block(("end",))[0] if ended == "else" else Block()
            return If(test, then, orelse, at)
        if reader.accept("while"):
            test = reader.term()
            reader.take("do")
            reader.done()
            return While(test, self.block(("end",))[0], at)
        if reader.accept("append"):
            reader.take("(")
            name = reader.take()
            reader.take(",")
            value = reader.term()
            reader.take(")")
            reader.done()
            self._settle(name, "list")
            return Append(Var(name, "list"), value, at)
        name = reader.take()
        if reader.accept(":=$"):
            law = self.law(reader)
            reader.done()
            self._settle(name, "bool" if isinstance(law, Flip) else "int")
            return Sample(Var(name, self.sorts[name]), law, at)
        reader.take(":=")
        value = reader.term()
        reader.done()
        self._settle(name, sort_of(value))
        return Assign(Var(name, self.sorts[name]), value, at)

    def law(self, reader: Reader) -> Law:
        kind = reader.take()
        if kind == "call":
            name = reader.take()
            reader.take("(")
            argument = reader.term()
            reader.take(")")
            return Call(name, argument)
        makers: dict[str, Callable[[Reader], Law]] = {
            "lap": self._laplace, "gauss": self._gaussian, "expo": self._exponential,
            "flip": self._flip, "uniform": self._uniform, "choose": self._choose,
        }  # fmt: skip
        if kind not in makers:
            raise ParameterError(f"{reader.text.strip()!r}: no law {kind!r}; known: call, {', '.join(makers)}")
        reader.take("(")
        law = makers[kind](reader)
        reader.take(")")
        return law

    def _laplace(self, reader: Reader) -> Law:
        scale = reader.monomial(self.budgets, scale=True)
        return Laplace(scale, reader.term() if reader.accept(",") else ZERO)

    def _gaussian(self, reader: Reader) -> Law:
        sigma = reader.monomial(frozenset(), scale=True)
        return Gaussian(sigma, reader.term() if reader.accept(",") else ZERO)

    def _exponential(self, reader: Reader) -> Law:
        return Exponential(reader.monomial(self.budgets, scale=True))

    def _flip(self, reader: Reader) -> Law:
        return Flip(reader.ratio())

    def _uniform(self, reader: Reader) -> Law:
        low = reader.term()
        reader.take(",")
        return Uniform(low, reader.term())

    def _choose(self, reader: Reader) -> Law:
        scores = reader.term()
        reader.take(",")
        if not isinstance(scores, Var) or scores.sort != "list":
            raise ParameterError(f"{reader.text.strip()!r}: choose takes an input list")
        return Choose(scores, reader.monomial(self.budgets, scale=True))

    def _settle(self, name: str, sort: Sort) -> None:
        if self.sorts.setdefault(name, sort) != sort:
            raise ParameterError(f"{name} is {self.sorts[name]}, and {sort} is assigned to it")


def line_of(text: str, sorts: Mapping[str, Sort]) -> Reader:
    """A line of a program's text, if it is not too long."""
    reader = Reader(text, sorts)
    if len(reader.tokens) > MOST_TOKENS:
        raise ParameterError(
            f"{text.strip()[:99]!r}... is longer than {MOST_TOKENS} names, numbers and operations: name its parts"
        )
    return reader


def _fact(text: str, sorts: Mapping[str, Sort]) -> Term:
    line_of(text, sorts)
    return read_term(text, sorts)


def read_program(text: str) -> Program:
    """The program that a printed text stands for; every statement knows its line."""
    if len(text) > MOST_TEXT or text.count("\n") > MOST_LINES:
        raise ParameterError(f"the program is longer than {MOST_LINES} lines or {MOST_TEXT} characters")
    lines = text.splitlines()
    name, inputs, budgets, requires, each = "program", [], [], [], []
    head = 0
    while head < len(lines) and lines[head].strip() != "begin":
        word, _, rest = lines[head].strip().partition(" ")
        if word == "program":
            name = rest.strip()
        elif word == "input":
            inputs.append(_input(rest))
        elif word == "budget":
            budgets.append(rest.strip())
        elif word == "requires":
            requires.append(rest)
        elif word == "each":
            each.append(rest.partition(": ")[::2])
        else:
            raise ParameterError(f"line {head + 1}: {lines[head]!r}: expected input, budget, requires, each or begin")
        head += 1
    if head == len(lines):
        raise ParameterError("a program's text needs a line 'begin'")
    sorts: dict[str, Sort] = {entry.name: entry.sort for entry in inputs}
    reader = _Lines(lines, dict(sorts), frozenset(budgets), head + 1)
    body, _ = reader.block(("end",))
    at, line = reader.take()
    word, _, rest = line.partition(" ")
    output, _, grid = rest.partition(" on ")
    if word != "return" or output not in reader.sorts or reader.at != len([x for x in lines if x.strip()]):
        raise ParameterError(f"line {at}: {line!r}: expected 'return VARIABLE' as the last line")
    wanted = tuple(_fact(text, sorts) for text in requires)
    elements = tuple((name, _fact(text, {**sorts, ANY.name: "int"})) for name, text in each)
    out = Var(output, reader.sorts[output])
    changed = {entry.name for entry in inputs} & {v.name for v in assigned(body)}
    if changed:
        raise ParameterError(f"inputs are not assigned to: {', '.join(sorted(changed))}")
    return Program(name, tuple(inputs), tuple(budgets), wanted, body, out, elements, _grid(grid))


def _input(text: str) -> Input:
    found = re.fullmatch(r"([A-Za-z_][\w.]*): (int|bool|list)(?: on (\d+(?:/\d+)?))?", text.strip(), re.ASCII)
    if found is None:
        raise ParameterError(f"input {text!r}: expected NAME: int | bool | list, and perhaps 'on 1/100'")
    sort: Sort = "int" if found[2] == "int" else "bool" if found[2] == "bool" else "list"
    return Input(found[1], sort, _grid(found[3]))


def _grid(text: str | None) -> Fraction:
    if not text:
        return Fraction(1)
    reader = Reader(text)
    grid = reader.ratio()
    reader.done()
    if grid <= 0:
        raise ParameterError(f"on {text}: a grid is above 0")
    return grid


def check_size(program: Program) -> None:
    """Refuse a program that is too deep to be printed; what is printed is measured when it is read."""
    levels, waiting = 0, [program.body]
    while waiting:
        levels += 1
        if levels > MOST_BLOCKS + 1:
            raise ParameterError(f"blocks are nested in more than {MOST_BLOCKS} levels")
        inner = [statement for block in waiting for statement in block]
        for term in (term for statement in inner for term in terms_of(statement)):
            if height(term) > MOST_TOKENS:
                raise ParameterError(f"an expression is longer than {MOST_TOKENS} names, numbers and operations")
        waiting = [b for s in inner if isinstance(s, If) for b in (s.then, s.orelse)]
        waiting += [s.body for s in inner if isinstance(s, While)]


def canonical(program: Program) -> Program:
    """The program as its own printed text is read back: every statement then knows its line there.

    The lines that statements knew before (of the file that they were written in) become the program's `source`.
    """
    check_size(program)
    again = read_program(show_program(program))
    before = (statement for statement in statements_of(program.body) if not isinstance(statement, Skip))
    lines = {new.at: old.at for old, new in zip(before, statements_of(again.body), strict=True)}
    return replace(again, mechanisms=program.mechanisms, source=lines)
