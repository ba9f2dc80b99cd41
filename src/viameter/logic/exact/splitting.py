"""The short way through the code after a sampling: where only a test asks for the value drawn, it is not gone through.

A table's rows are in order, so a test that is linear in the value drawn cuts them in two, and each side goes on with
its whole mass, tails included. Rows are gone through one by one only where the value itself is kept or used otherwise.
For a list that is compared with a goal, an entry that is linear in the value leaves one row.

If it comes to something else that is undecided, the short way raises `Undecided`, and the state goes the long way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from viameter.logic.exact.liveness import Names, live_before
from viameter.logic.exact.translating import Translator, changed_in, missing
from viameter.logic.lang.core import Append, Assign, Block, If, Sample, Statement
from viameter.logic.lang.terms import App, Num, Term, Truth, Var, not_, sort_of, sub, variables

_MOST_ENDS = 40
"""Code is written again for every way through it; with more ways than this there is no short way."""
_DEEPEST = 200
"""Nor is there one where code would be indented further than this."""

Statements = tuple[Statement, ...]


class _TooLong(Exception):
    """There are too many ways through the code."""


@dataclass(frozen=True, slots=True)
class _Way:
    """A way through the code so far: what variables are called now, and the rows that are left, `low` to `high`.

    `linear`: variables that are coefficient * drawn + rest, with the name of the rest.
    """

    names: Mapping[str, str]
    linear: Mapping[str, tuple[int, str]]
    low: str
    high: str
    pad: int

    @property
    def space(self) -> str:
        return " " * self.pad

    @property
    def mass(self) -> str:
        return f"(sums[{self.high}] - sums[{self.low}])"

    def deeper(self, low: str | None = None, high: str | None = None) -> _Way:
        return _Way(self.names, self.linear, low or self.low, high or self.high, self.pad + 4)

    def bound(self, name: str, called: str) -> _Way:
        linear = {key: value for key, value in self.linear.items() if key != name}
        return _Way({**self.names, name: called}, linear, self.low, self.high, self.pad)

    def moving(self, name: str, coefficient: int, rest: str) -> _Way:
        linear = {**self.linear, name: (coefficient, rest)}
        return _Way(self.names, linear, self.low, self.high, self.pad)


@dataclass(slots=True)
class Splitter:
    """Writes the short way for one sampling; `gone` counts what the rows lose, `off` what misses the goal."""

    translator: Translator
    after: Names
    fresh: int = 0
    ends: int = 0

    def text(self, sample: Sample, plain: Statements, pad: int) -> str | None:
        """The short way as Python text, or None if it is the long way after all."""
        start = _Way(dict(self.translator.names), {}, "0", "size", pad).moving(sample.target.name, 1, "center")
        try:
            text = self.go(plain, start)
        except _TooLong:
            return None
        return None if text.lstrip().startswith("for ") else text

    def name(self) -> str:
        """A name that was not used before."""
        self.fresh += 1
        return f"n{self.fresh}"

    def go(self, statements: Statements, way: _Way) -> str:
        """The rest of the code on a way."""
        if self.ends > _MOST_ENDS or way.pad > _DEEPEST:
            raise _TooLong
        if not statements:
            return self.end(way)
        first, rest = statements[0], statements[1:]
        match first:
            case Assign(target, value):
                return self.assign(target, value, statements, way)
            case Append(target, value):
                return self.append(target, value, statements, way)
            case If(test, then, orelse):
                return self.choose(test, then.statements + rest, orelse.statements + rest, statements, way)
        return self.go(rest, way)

    def end(self, way: _Way) -> str:
        """The state at the end of a way, with the mass of all its rows; or row by row, if it keeps the value drawn."""
        self.ends += 1
        if any(name in way.linear for name in self.after):
            return self.rows((), way)
        return (
            f"{way.space}key = {self.translator.state(self.after, way.names)}\n"
            f"{way.space}near[key] = near.get(key, 0) + {way.mass}\n"
        )

    def assign(self, target: Var, value: Term, statements: Statements, way: _Way) -> str:
        """An assignment: of what is known, of what moves with the value drawn, or of a test."""
        if self.asks(value, way):
            yes, no = Assign(target, Truth(True)), Assign(target, Truth(False))
            return self.choose(value, (yes, *statements[1:]), (no, *statements[1:]), statements, way)
        form = self.form(value, way)
        if form is None:
            return self.rows(statements, way)
        coefficient, rest = form
        name = self.name()
        onward = way.moving(target.name, coefficient, name) if coefficient else way.bound(target.name, name)
        return f"{way.space}{name} = {rest}\n" + self.go(statements[1:], onward)

    def append(self, target: Var, value: Term, statements: Statements, way: _Way) -> str:
        """An entry that is appended; with a goal, only if it is the goal's."""
        if self.asks(value, way):
            yes, no = Append(target, Truth(True)), Append(target, Truth(False))
            return self.choose(value, (yes, *statements[1:]), (no, *statements[1:]), statements, way)
        form = self.form(value, way)
        if form is None or (form[0] and not self.translator.aimed):
            return self.rows(statements, way)
        coefficient, rest = form
        so_far, name, space = way.names[target.name], self.name(), way.space
        if not self.translator.aimed:
            return f"{space}{name} = {so_far} + ({rest},)\n" + self.go(statements[1:], way.bound(target.name, name))
        if not coefficient:
            onward = way.bound(target.name, name).deeper()
            return (
                f"{space}entry = {rest}\n"
                f"{space}if {missing(so_far)}:\n"
                f"{space}    off += {way.mass}\n"
                f"{space}else:\n"
                f"{space}    {name} = {so_far} + (entry,)\n" + self.go(statements[1:], onward)
            )
        return self.aim(so_far, name, form, space, way) + self.go(
            statements[1:], way.bound(target.name, name).deeper(f"{name}_at", f"{name}_next").deeper()
        )

    def asks(self, value: Term, way: _Way) -> bool:
        """Whether a value is a test that depends on the value drawn."""
        return sort_of(value) == "bool" and any(var.name in way.linear for var in variables(value))

    def aim(self, so_far: str, name: str, form: tuple[int, str], space: str, way: _Way) -> str:
        """The one row with which a list grows as its goal does; all others miss it."""
        coefficient, rest = form
        return (
            f"{space}if len({so_far}) >= len(goal):\n"
            f"{space}    off += {way.mass}\n"
            f"{space}else:\n"
            f"{space}    entry = goal[len({so_far})]\n"
            f"{space}    {name}_at, sure = row_of(entry - {rest}, {coefficient}, first, start, stop, size)\n"
            f"{space}    {name}_next = {name}_at + 1\n"
            f"{space}    if not {way.low} <= {name}_at < {way.high}:\n"
            f"{space}        off += {way.mass}\n"
            f"{space}    elif not sure:\n"
            f"{space}        gone += sums[{name}_next] - sums[{name}_at]\n"
            f"{space}        off += {way.mass} - (sums[{name}_next] - sums[{name}_at])\n"
            f"{space}    else:\n"
            f"{space}        off += {way.mass} - (sums[{name}_next] - sums[{name}_at])\n"
            f"{space}        {name} = {so_far} + (entry,)\n"
        )

    def choose(self, test: Term, then: Statements, orelse: Statements, whole: Statements, way: _Way) -> str:
        """Both sides of a test, each with its rows."""
        moving = set(way.linear)
        if not any(var.name in moving for var in variables(test)):
            return (
                f"{way.space}if {self.translator.python(test, way.names)}:\n"
                + self.go(then, way.deeper())
                + f"{way.space}else:\n"
                + self.go(orelse, way.deeper())
            )
        match test:
            case App("not", (inner,)):
                return self.choose(inner, orelse, then, whole, way)
            case App("=>", (left, right)):
                return self.choose(App("or", (not_(left), right)), then, orelse, whole, way)
            case App(("and" | "or") as op, args):
                # What does not depend on the value drawn is asked first.
                ranked = sorted(args, key=lambda arg: any(var.name in moving for var in variables(arg)))
                first, others = ranked[0], ranked[1] if len(ranked) == 2 else App(op, tuple(ranked[1:]))
                if op == "and":
                    return self.choose(first, (If(others, Block(then), Block(orelse)),), orelse, whole, way)
                return self.choose(first, then, (If(others, Block(then), Block(orelse)),), whole, way)
            case App(("<=" | "<") as op, (left, right)):
                form = self.form(sub(right, left), way)
                if form is not None:
                    return self.cut(form, 0 if op == "<=" else 1, then, orelse, way)
        return self.rows(whole, way)

    def cut(self, form: tuple[int, str], least: int, then: Statements, orelse: Statements, way: _Way) -> str:
        """Both sides of the test coefficient * drawn + rest >= least."""
        coefficient, rest = form
        space = way.space
        if coefficient == 0:
            return (
                f"{space}if {rest} >= {least}:\n{self.go(then, way.deeper())}"
                f"{space}else:\n{self.go(orelse, way.deeper())}"
            )
        lower, upper = (orelse, then) if coefficient > 0 else (then, orelse)
        at, on, rows = self.name(), self.name(), f"{way.low}, {way.high}"
        return (
            f"{space}{at}, {on} = cuts({rest}, {least}, {coefficient}, {rows}, first, start, stop, size)\n"
            f"{space}if {at} < {on}: gone += sums[{on}] - sums[{at}]\n"
            f"{space}if {on} < {way.high}:\n{self.go(upper, way.deeper(low=on))}"
            f"{space}if {way.low} < {at}:\n{self.go(lower, way.deeper(high=at))}"
        )

    def rows(self, statements: Statements, way: _Way) -> str:
        """The rest of the code for each row that is left."""
        # Under names of their own: the other ways still need theirs.
        live = live_before(Block(statements), self.after) - self.translator.constants
        usual = self.translator.names
        names = {**usual, **{name: f"w{usual[name]}" for name in live | changed_in(statements)}}
        space, text = way.space, ""
        for name in sorted(live):
            if name in way.linear:
                coefficient, rest = way.linear[name]
                text += f"{space}    {names[name]} = {rest} + {coefficient} * drawn\n"
            else:
                text += f"{space}    {names[name]} = {way.names[name]}\n"
        body = ""
        if statements:
            body = (
                f"{space}    try:\n"
                f"{self.translator.lines(statements, way.pad + 8, 'off += part', names)}"
                f"{space}    except Undecided:\n"
                f"{space}        gone += part\n"
                f"{space}        continue\n"
            )
        return (
            f"{space}for drawn, part in rows[{way.low}:{way.high}]:\n{text}{body}"
            f"{space}    key = {self.translator.state(self.after, names)}\n"
            f"{space}    near[key] = near.get(key, 0) + part\n"
        )

    def form(self, term: Term, way: _Way) -> tuple[int, str] | None:
        """A term as coefficient * drawn + rest, the rest as Python text; None if it is not linear."""
        if not any(var.name in way.linear for var in variables(term)):
            return 0, self.translator.python(term, way.names)
        match term:
            case Var(name=name):
                return way.linear[name]
            case App(("+" | "-") as op, (left, right)):
                one, two = self.form(left, way), self.form(right, way)
                if one is None or two is None:
                    return None
                sign = 1 if op == "+" else -1
                return one[0] + sign * two[0], f"({one[1]} {op} {two[1]})"
            case App("neg", (only,)):
                inner = self.form(only, way)
                return None if inner is None else (-inner[0], f"(-{inner[1]})")
            case App("*", (Num(factor), other) | (other, Num(factor))):
                inner = self.form(other, way)
                return None if inner is None else (factor * inner[0], f"({factor} * {inner[1]})")
        return None
