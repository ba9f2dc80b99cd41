"""Small random programs over every operation, so that short ways, tails and liveness meet in odd combinations."""

from __future__ import annotations

from random import Random

HEAD = "program random\ninput q: list\ninput t: int\ninput yes: bool\nbudget eps\nbegin\n"
SCALES = ("1/eps", "2/eps", "4/eps", "1/2/eps")


class Writer:
    """Writes the text of one program."""

    def __init__(self, random: Random, *, samples: int) -> None:
        self.random, self.samples, self.loops = random, samples, 1
        self.ints, self.bools, self.drawn = ["a", "b", "c"], ["p", "r"], 0

    def number(self, depth: int = 2) -> str:
        pick = self.random.random()
        if depth == 0 or pick < 0.35:
            return self.random.choice([*self.ints, *self.ints, "t", "len(q)", str(self.random.randint(-2, 3))])
        one, two = self.number(depth - 1), self.number(depth - 1)
        forms = (
            f"({one} + {two})", f"({one} - {two})", f"({one} + {two})", f"q[{one}]", f"abs({one})", f"-{one}",
            f"({self.random.choice(['2', '-1', '3', '-2'])} * {one})", f"min({one}, {two})", f"max({one}, {two})",
            f"({one} // {self.random.choice(['2', '-3', '0', two])})",
            f"({one} % {self.random.choice(['2', '3', two])})",
            f"ite({self.test(depth - 1)}, {one}, {two})", f"({one} * {two})",
        )  # fmt: skip
        return self.random.choice(forms)

    def test(self, depth: int = 2) -> str:
        one, two = self.number(min(depth, 1)), self.number(min(depth, 1))
        forms = [
            f"{one} <= {two}", f"{one} < {two}", f"{one} >= {two}", f"{one} == {two}", f"{one} != {two}",
            *self.bools, "yes",
        ]  # fmt: skip
        if depth:
            inner, other = self.test(depth - 1), self.test(depth - 1)
            forms += [
                f"({inner}) and ({other})",
                f"({inner}) or ({other})",
                f"not ({inner})",
                f"({inner}) => ({other})",
            ]
        return self.random.choice(forms)

    def law(self) -> tuple[str, str]:
        scale = self.random.choice(SCALES)
        center = self.random.choice(["", "", f", {self.number(1)}"])
        kind = self.random.choice(["lap", "lap", "lap", "lap", "expo", "flip", "uniform", "choose"])
        if kind == "lap":
            return "int", f"lap({scale}{center})"
        if kind == "expo":
            return "int", f"expo({scale})"
        if kind == "flip":
            return "bool", f"flip({self.random.choice(['1/3', '3/4', '1/1', '0/1'])})"
        if kind == "uniform":
            return "int", f"uniform({self.random.choice(['0', 't', '-1'])}, max(t, 0) + {self.random.randint(0, 2)})"
        return "int", f"choose(q, {scale})"

    def block(self, indent: int, length: int) -> str:
        return "".join(self.statement(indent) for _ in range(length))

    def statement(self, indent: int) -> str:
        pad = "  " * indent
        pick = self.random.random()
        if pick < 0.33 and self.drawn < self.samples:
            self.drawn += 1
            sort, law = self.law()
            target = self.random.choice(self.bools if sort == "bool" else self.ints)
            return f"{pad}{target} :=$ {law}\n"
        if pick < 0.5 and indent < 4:
            orelse = f"{pad}else\n{self.block(indent + 1, 1)}" if self.random.random() < 0.6 else ""
            return f"{pad}if {self.test()} then\n{self.block(indent + 1, self.random.randint(1, 2))}{orelse}{pad}end\n"
        if pick < 0.56 and self.loops:
            self.loops = 0
            self.ints.append("i")
            body = self.block(indent + 1, 2).replace(f"{pad}  i :=", f"{pad}  c :=")
            self.ints.remove("i")
            # A counter of its own, so that the loop ends.
            body = body.replace("  i :=", "  c :=")
            return f"{pad}i := 0\n{pad}while i < 2 and ({self.test(0)}) do\n{body}{pad}  i := i + 1\n{pad}end\n"
        if pick < 0.68:
            return f"{pad}append(out, {self.number(1)})\n"
        if pick < 0.8:
            return f"{pad}{self.random.choice(self.bools)} := {self.test()}\n"
        return f"{pad}{self.random.choice(self.ints)} := {self.number()}\n"


def random_text(random: Random, *, samples: int = 3) -> str:
    """The text of a program with at most so many samplings written in it."""
    writer = Writer(random, samples=samples)
    body = "  a := 1\n  b := t\n  c := 0\n  p := false\n  r := yes\n  append(out, t)\n" + writer.block(1, 6)
    return f"{HEAD}{body}end\nreturn {random.choice(['a', 'b', 'p', 'out', 'out'])}\n"


def threshold_text(random: Random) -> str:
    """A program with two noises, tests that are linear in the second, and entries that are linear in it."""
    drawn = random.choice(["b", "b", "v"])
    factor = random.choice(["", "", "2 * ", "-1 * ", "-3 * ", "3 * "])
    other = random.choice(["a", "a", "t", "a + t", "2 * a", "q[0] - a", "0"])

    def test() -> str:
        op = random.choice(["<=", "<", ">=", ">", "<=", "=="])
        sides = [f"{factor}{drawn} + {random.randint(-3, 3)}", other]
        random.shuffle(sides)
        return f"{sides[0]} {op} {sides[1]}"

    def tests() -> str:
        forms = [test(), f"not {test()}", f"{test()} and {random.choice(['yes', test()])}", f"{test()} or x == 1"]
        return random.choice([*forms, f"{test()} or {test()}", f"yes => {test()}", f"a < b => {test()}"])

    def statement() -> str:
        entry = random.choice(["1", "2", "x", drawn, f"q[0] - {drawn}", f"2 * {drawn} + t", f"{drawn} - {drawn}", "a"])
        value = random.choice(["1", "x + 1", drawn, f"3 - {drawn}"])
        return random.choice([f"append(out, {entry})", f"append(out, {entry})", f"x := {value}", f"p := {tests()}"])

    lines = ["append(out, 0)", f"a :=$ lap({random.choice(SCALES)})"]
    scale = random.choice(SCALES)
    lines.append(f"b :=$ {random.choice([f'lap({scale})', f'lap({scale}, t)', f'expo({scale})', 'uniform(t, t + 4)'])}")
    lines.append(f"v := q[0] + {random.choice(['', '-2 * ', '-1 * '])}b")
    for _ in range(random.randint(1, 2)):
        lines += [f"if {tests()} then", statement(), "else", statement(), "end"]
    lines += [statement(), random.choice(["append(out, ite(p, 1, 0))", "x := x"])]
    return HEAD + "\n".join(lines) + f"\nend\nreturn {random.choice(['out', 'out', 'x'])}\n"
