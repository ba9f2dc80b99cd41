"""An evaluator of core programs that goes through them statement by statement, and random programs to try it on."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from viameter.logic.lang.core import (
    Append,
    Assign,
    Block,
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
)
from viameter.logic.lang.scales import Monomial
from viameter.logic.lang.terms import App, Num, Term, Truth, Var

Raw = Iterator[int]
"""Numbers in the place of randomness; what is made of them is up to the law."""


def value(term: Term, memory: dict[str, Any]) -> Any:
    if isinstance(term, Var):
        return memory.get(term.name, {"int": 0, "bool": False, "list": []}[term.sort])
    if isinstance(term, Num | Truth):
        return term.value
    args = [value(arg, memory) for arg in term.args]
    a, b = [*args, None, None][:2]
    if term.op == "read":
        return a[b] if b in range(len(a)) else 0
    if term.op in ("//", "%") and b == 0:
        return 0 if term.op == "//" else a
    if term.op == "ite":
        return args[1] if args[0] else args[2]
    if term.op in ("and", "or"):
        return (all if term.op == "and" else any)(args)
    table: dict[str, Any] = {
        "+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "//": lambda: a // b, "%": lambda: a % b,
        "neg": lambda: -a, "abs": lambda: abs(a), "min": lambda: min(a, b), "max": lambda: max(a, b),
        "<=": lambda: a <= b, "<": lambda: a < b, "==": lambda: a == b, "not": lambda: not a,
        "=>": lambda: (not a) or b, "len": lambda: len(a),
    }  # fmt: skip
    return table[term.op]()


def run(program: Program, inputs: dict[str, Any], raw: Raw) -> Any:
    memory = dict(inputs)
    _block(program.body, memory, raw)
    return value(program.output, memory)


def _block(block: Block, memory: dict[str, Any], raw: Raw) -> None:
    for statement in block:
        match statement:
            case Assign(target, term):
                memory[target.name] = value(term, memory)
            case Append(target, term):
                memory[target.name] = [*memory.get(target.name, []), value(term, memory)]
            case If(test, then, orelse):
                _block(then if value(test, memory) else orelse, memory, raw)
            case While(test, body):
                while value(test, memory):
                    _block(body, memory, raw)
            case Sample(target, law):
                memory[target.name] = _drawn(law, next(raw), memory)


def _drawn(law: Law, raw: int, memory: dict[str, Any]) -> Any:
    match law:
        case Laplace(center=center) | Gaussian(center=center):
            return value(center, memory) + raw
        case Exponential():
            return abs(raw)
        case Flip():
            return raw % 2 == 0
        case Uniform(low, high):
            ends = value(low, memory), value(high, memory)
            return ends[0] + raw % max(1, ends[1] - ends[0] + 1)
        case Choose(scores=scores):
            items = value(scores, memory)
            return raw % len(items) if items else 0
    raise AssertionError(law)


INTS = tuple(Var(f"x{k}") for k in range(4))
BOOLS = tuple(Var(f"b{k}", "bool") for k in range(2))
LISTS = (Var("q", "list"), Var("r", "list"))
OUT = Var("out", "list")
ONE_HALF = Fraction(1, 2)
INPUTS = (Input("q", "list"), Input("r", "list"), Input("n", "int"), Input("f", "bool"))


class Making:
    """Random programs; every loop has a counter of its own, so that it ends."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.loops = 0

    def number(self, depth: int = 3) -> Term:
        pick = self.random
        if depth == 0 or pick.random() < 0.2:
            simple: list[Term] = [Num(pick.randint(-9, 9)), *INTS, Var("n")]
            return pick.choice(simple)
        op = pick.choice(
            ["+", "-", "*", "//", "%", "neg", "abs", "min", "max", "read", "len", "ite", "//", "%", "read"]
        )
        if op == "read":
            return App("read", (pick.choice(LISTS), self.number(depth - 1)))
        if op == "len":
            return App("len", (pick.choice(LISTS),))
        if op == "ite":
            return App("ite", (self.truth(depth - 1), self.number(depth - 1), self.number(depth - 1)))
        return App(op, tuple(self.number(depth - 1) for _ in range(1 if op in ("neg", "abs") else 2)))

    def truth(self, depth: int = 3) -> Term:
        pick = self.random
        if depth == 0 or pick.random() < 0.2:
            simple: list[Term] = [Truth(True), Truth(False), *BOOLS, Var("f", "bool")]
            return pick.choice(simple)
        op = pick.choice(["<=", "<", "==", "and", "or", "not", "=>", "ite"])
        if op in ("<=", "<", "=="):
            return App(op, (self.number(depth - 1), self.number(depth - 1)))
        count = {"not": 1, "=>": 2, "ite": 3}.get(op, pick.randint(2, 3))
        return App(op, tuple(self.truth(depth - 1) for _ in range(count)))

    def law(self) -> Law:
        scale = Monomial.of(Fraction(self.random.randint(1, 3)))
        laws: list[Law] = [
            Laplace(scale, self.number(1)),
            Laplace(scale),
            Exponential(scale),
            Gaussian(scale, self.number(1)),
            Flip(ONE_HALF),
            Uniform(self.number(1), self.number(1)),
            Choose(LISTS[0], scale),
        ]
        return self.random.choice(laws)

    def statement(self, depth: int) -> list[Statement]:
        pick = self.random
        kind = pick.choice(
            ["number", "truth", "append", "sample", "if", "while", "skip"] if depth else ["number", "append"]
        )
        if kind == "number":
            return [Assign(pick.choice(INTS), self.number())]
        if kind == "truth":
            return [Assign(pick.choice(BOOLS), self.truth())]
        if kind == "append":
            return [Append(OUT, self.number())]
        if kind == "sample":
            law = self.law()
            return [Sample(pick.choice(BOOLS if isinstance(law, Flip) else INTS), law)]
        if kind == "if":
            return [If(self.truth(), self.block(depth - 1), self.block(depth - 1) if pick.random() < 0.5 else Block())]
        if kind == "while":
            self.loops += 1
            counter = Var(f"loop{self.loops}")
            body = (*self.block(depth - 1), Assign(counter, App("+", (counter, Num(1)))))
            again = App("<", (counter, Num(pick.randint(0, 3))))
            test = App("and", (again, self.truth())) if pick.random() < 0.3 else again
            return [Assign(counter, Num(0)), While(test, Block(body))]
        return [Skip()]

    def block(self, depth: int) -> Block:
        return Block(tuple(s for _ in range(self.random.randint(1, 3)) for s in self.statement(depth)))

    def program(self) -> Program:
        body = Block((*self.block(3), *self.block(3)))
        tail = tuple(Append(OUT, x) for x in INTS) + tuple(Append(OUT, App("ite", (b, Num(1), Num(0)))) for b in BOOLS)
        return Program("made", INPUTS, (), (), Block((*body, *tail)), OUT)

    def inputs(self) -> dict[str, Any]:
        pick = self.random
        lists = {name: [pick.randint(-9, 9) for _ in range(pick.randint(0, 4))] for name in ("q", "r")}
        return {**lists, "n": pick.choice([0, -3, 5, 10**30]), "f": pick.random() < 0.5}
