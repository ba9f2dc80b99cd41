"""Random programs in the subset, as text: loops in loops, every exit, noise anywhere, integers, truths and grids."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

HEADER = (
    'q: list[int], p: list[bool], r: list[vm.Grid("1/4")], t: int, b: bool, n: vm.Between(1, 3), '
    'g: vm.Grid("1/2"), eps: vm.Eps'
)
RETURNS = ("int", "bool", 'vm.Grid("1/32")', "list[int]", 'list[vm.Grid("1/32")]', "list[bool]")
_SCALES = ("1 / eps", "2 * n / eps", "len(q) + 1", "3 / (eps / 2)", "e2 * 4 / (eps * e2)", "Fraction(1, 3) * n", "wide")


class Writer:
    """Writes one program; what it may use grows with the loops around."""

    def __init__(self, seed: int, *, name: str = "made", returns: str = "") -> None:
        self.random = Random(seed)
        self.name = name
        self.loops = 0
        self.counters: list[str] = []
        self.names = 0
        self.returns = returns or self.random.choice(RETURNS)
        self.noisy = self.random.random() < 0.8

    def program(self) -> str:
        lines = [f"def {self.name}({HEADER}) -> {self.returns}:", "    e2 = eps / 3", "    wide = 5 * n / e2"]
        starts = ["a = 0", "c = 1", "i = 0", "k = -1", "f = False", "h = b", "x = g", "y = 0"]
        lines += ["    " + start for start in starts]
        if self.returns.startswith("list"):
            lines.append("    out = []")
            lines += ["    " + self.append()]
        for _ in range(self.random.randint(2, 5)):
            lines += self.statement(1)
        return "\n".join([*lines, "    " + self.give_back(), ""])

    # Statements.

    def block(self, depth: int) -> list[str]:
        found: list[str] = []
        for _ in range(self.random.randint(1, 3)):
            found += self.statement(depth)
        return found

    def statement(self, depth: int) -> list[str]:
        pad = "    " * depth
        simple = [self.assigned, self.assigned, self.assigned]
        if self.returns.startswith("list"):
            simple.append(self.append)
        if depth > 1:
            simple += [self.give_back] if self.random.random() < 0.3 else []
            if self.loops:
                simple += [lambda: "break", lambda: "continue"]
        if depth < 4 and self.random.random() < 0.55:
            return [pad + line for line in self.compound(depth)]
        return [pad + self.random.choice(simple)()]

    def compound(self, depth: int) -> list[str]:
        kind = self.random.choice(["if", "if", "if else", "elif", "while", "range", "items", "enumerate"])

        def inner() -> list[str]:
            return [line.removeprefix("    " * (depth)) for line in self.block(depth + 1)]

        if kind == "if":
            return [f"if {self.truth()}:", *inner()]
        if kind == "if else":
            return [f"if {self.truth()}:", *inner(), "else:", *inner()]
        if kind == "elif":
            return [f"if {self.truth()}:", *inner(), f"elif {self.truth()}:", *inner(), "else:", *inner()]
        self.names += 1
        mine = f"w{self.names}"
        self.loops += 1
        if kind == "while":
            test = f"{mine} < {self.random.randint(1, 3)}"
            if self.random.random() < 0.5:
                test = self.random.choice([f"{test} and ({self.truth()})", f"({self.truth()}) and {test}"])
            found = [f"{mine} = 0", f"while {test}:", f"    {mine} += 1", *inner()]
        else:
            name = self.random.choice([mine, mine, "i", "k"])
            if kind == "range":
                found = [f"for {name} in range({self.range()}):"]
            elif kind == "items":
                found = [f"for {name} in q:"]
                if name == mine and self.random.random() < 0.4:
                    found = [self.random.choice([f"for {name} in p:", f"for {name} in r:"])]
                    name = ""
            else:
                found = [f"for {name}, {mine}x in enumerate(q):"]
                self.counters.append(f"{mine}x")
            self.counters += [name] if name else []
            found += inner()
            self.counters = [other for other in self.counters if other not in (name, f"{mine}x")]
        self.loops -= 1
        return found

    def range(self) -> str:
        r = self.random
        return r.choice([
            str(r.randint(0, 3)), "len(q)", "min(a, 3)", f"{r.randint(-2, 1)}, {r.randint(0, 3)}",
            f"{r.randint(-3, 3)}, {r.randint(-3, 5)}, {r.choice([-2, -1, 1, 2])}", "i, min(i + 2, 4)", "min(abs(c), 2)",
            f"({self.number(1)}) % 3, 3", f"min(2, {self.number(1)})",
        ])  # fmt: skip

    def assigned(self) -> str:
        r = self.random
        kind = r.choice(["int", "int", "int", "bool", "grid", "aug", "pair", "both"])
        if kind == "int":
            return f"{r.choice('acik')} = {self.number(3)}"
        if kind == "bool":
            return f"{r.choice('fh')} = {self.truth(3)}"
        if kind == "grid":
            return f"{r.choice('xy')} = {self.grid(3)}"
        if kind == "aug":
            return r.choice([
                f"{r.choice('acik')} {r.choice(['+=', '-='])} {self.number(2)}", f"x += {self.grid(2)}",
                f"{r.choice('ac')} //= {r.choice([-3, 2])}", f"{r.choice('ac')} %= {r.choice([-3, 5])}",
            ])  # fmt: skip
        if kind == "both":
            return f"a = c = {self.number(2)}"
        return f"a, c = {self.number(2)}, {self.number(2)}"

    def append(self) -> str:
        item = self.released()
        return self.random.choice([f"out.append({item})", f"out += [{item}]", f"out = out + [{item}]"])

    def give_back(self) -> str:
        return "return out" if self.returns.startswith("list") else f"return {self.released()}"

    def released(self) -> str:
        if "bool" in self.returns:
            return self.truth(3)
        return f"({self.grid(2)}) / {self.random.choice([1, 2, 4])}" if "Grid" in self.returns else self.number(3)

    # Expressions.

    def index(self) -> str:
        names: list[str] = [str(self.random.randint(0, 3)), "a", "c", "i", "k", *self.counters]
        names += ["a - 2", "-c", "i % 3 - 1", "len(q) - 2", "max(a, 0)"]
        return self.random.choice(names)

    def number(self, depth: int) -> str:
        r = self.random
        if depth == 0 or r.random() < 0.2:
            return r.choice([str(r.randint(-3, 3)), "a", "c", "i", "k", "t", "n", "len(q)", "K", *self.counters])
        less = depth - 1
        one = other = partial(self.number, less)
        if self.noisy and r.random() < 0.35:
            return _one_of(
            r,
                lambda: f"vm.lap({r.choice(_SCALES)}, grid=1)", lambda: 'vm.geom("1/3")',
                lambda: f"vm.lap({r.choice(_SCALES)}, grid=1, center={one()})",
                lambda: f"vm.uniform(-1, abs({one()}))", lambda: "vm.choose(q, 2 / eps)",
                lambda: "vm.gauss(2 * n, grid=1)", lambda: f"vm.expo({r.choice(_SCALES)}, grid=1)",
            )  # fmt: skip
        return _one_of(
            r,
            lambda: f"{one()} + {other()}", lambda: f"{one()} - ({other()})", lambda: f"({one()}) * {r.randint(-2, 3)}",
            lambda: f"({one()}) // {r.choice([-3, -2, 2, 3])}", lambda: f"({one()}) % {r.choice([-3, -2, 2, 3])}",
            lambda: f"q[{self.index()}]", lambda: f"min({one()}, {other()}, {r.randint(-2, 2)})",
            lambda: f"max({one()}, {other()})", lambda: f"abs({one()})", lambda: f"-({one()})",
            lambda: f"({one()} if {self.truth(less)} else {other()})", lambda: f"({one()}) + p[{self.index()}]",
            lambda: f"({one()}) // (abs({other()}) + 1)", lambda: f"int({self.truth(less)})",
            lambda: f"({self.grid(less)}) // 2", lambda: r.choice(["sum(q)", "sum(p)", one()]),
        )  # fmt: skip

    def grid(self, depth: int) -> str:
        r = self.random
        if depth == 0 or r.random() < 0.2:
            return r.choice(["x", "y", "g", "Fraction(1, 4)", "Fraction(-3, 2)", self.number(0)])
        less = depth - 1
        one = other = partial(self.grid, less)
        if self.noisy and r.random() < 0.4:
            return r.choice(
                ['vm.lap(2 / eps, grid="1/8")', 'vm.lap(2 * n / eps, grid="1/4")', 'vm.expo(n, grid="1/4")']
            )
        return _one_of(
            r,
            lambda: f"r[{self.index()}]", lambda: f"{one()} + {other()}", lambda: f"{one()} - ({other()})",
            lambda: f"({one()}) * {r.randint(-2, 2)}", lambda: f"min({one()}, {other()})", lambda: f"abs({one()})",
            lambda: f"({one()}) % {r.choice(['-3', '2', 'Fraction(1, 2)'])}", lambda: "sum(r)",
            lambda: f"({one()} if {self.truth(less)} else {self.number(less)})",
        )  # fmt: skip

    def truth(self, depth: int = 2) -> str:
        r = self.random
        if depth == 0 or r.random() < 0.2:
            return r.choice(["f", "h", "b", f"{self.number(0)} < {self.number(0)}", f"p[{self.index()}] == True"])
        if self.noisy and r.random() < 0.25:
            return r.choice(['vm.flip("1/4")', "vm.flip(3 / 4) and vm.flip(1 / 2)"])
        less = depth - 1
        one = other = partial(self.truth, less)
        number, grid = partial(self.number, less), partial(self.grid, less)
        compare = partial(r.choice, ["<", "<=", "==", "!=", ">", ">="])
        return _one_of(
            r,
            lambda: f"{number()} {compare()} {number()}", lambda: f"{grid()} {compare()} {grid()}",
            lambda: f"{number()} {compare()} {grid()} {compare()} {number()}", lambda: f"({one()}) and ({other()})",
            lambda: f"({one()}) or ({other()}) or f", lambda: f"not ({one()})", lambda: f"({one()}) == ({other()})",
            lambda: f"(({one()}) if h else ({other()}))", lambda: f"({one()}) and not ({other()}) and {number()} > 0",
        )  # fmt: skip


def _one_of(random: Random, *choices: Callable[[], str]) -> str:
    return random.choice(choices)()


def inputs(seed: int) -> dict[str, Any]:
    """Inputs of a random program."""
    random = Random(seed)
    length = random.randint(0, 3)
    return {
        "q": [random.randint(-4, 4) for _ in range(length)],
        "p": [random.random() < 0.5 for _ in range(random.randint(0, 3))],
        "r": [Fraction(random.randint(-9, 9), 4) for _ in range(random.randint(0, 3))],
        "t": random.randint(-3, 3), "b": random.random() < 0.5, "n": random.randint(1, 3),
        "g": Fraction(random.randint(-5, 5), 2),
    }  # fmt: skip
