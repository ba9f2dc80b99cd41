"""Random programs with random annotations: whatever is accepted is true, by the distributions of the program itself.

The oracle runs the program on every draw and adds up probabilities. It shares nothing with the checker.
"""

import math
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from tests.viameter_check.programs.writing import Json, certificate, neighbors, proof

from viameter_check.programs import check_program

EPSILON = math.log(4)
NAMES = re.compile(r"\b[a-z]\b")

LAWS = ["lap(1/eps)", "lap(2/eps)", "lap(1/eps, q)", "lap(2/eps, -q)", "expo(1/eps)", "expo(2/eps)", "uniform(0, 3)"]
COINS = ["flip(3/4)", "flip(1/4)", "flip(1/2)", "flip(1)"]
SHIFTS = [
    "0", "0", "1", "-1", "2", "q<1> - q<2>", "q<1> - q<2>", "q<2> - q<1>", "2*(q<1> - q<2>)", "abs(q<1> - q<2>)",
    "ite({x}<1> >= 1, q<1> - q<2>, 0)", "ite(q<1> + {x}<1> >= 1, 1, 0)", "ite({x}<1> == 0, 1, 0)",
    "ite({x}<1> >= 0, 1, 0)", "ite({x}<1> == 0, 1, ite({x}<1> == 1, -1, 0))", "-2*{x}<1>", "ite(b<1> == b<2>, 0, 1)",
    "ite(b<1> == b<2>, 0, q<1> - q<2>)", "ite(r<1> == 0, 0, 1)",
]  # fmt: skip
TURNS = ["false", "true", "b<1> != b<2>", "q<1> != q<2>", "b<1> == b<2>"]
VALUES = [
    "q", "x", "x + q", "q + x", "x - q", "2*x + q", "x + y", "q + x + y", "ite(x + q >= 1, 1, 0)", "(q + x) % 4",
    "ite(b, x, y)", "ite(c == b, 1, 0)", "ite(c, q, x)", "max(q + x, y)", "x // 2", "(x + q) // 2", "ite(x == 3, 1, 0)",
    "ite(b, ite(x == 0, 1, 0), ite(x == 1, 1, 0))", "0", "r + x", "r - y",
]  # fmt: skip
TESTS = ["x >= 1", "q + x >= 1", "q >= 1", "b", "c", "c == b", "x > y", "q + x > y", "r == 0"]


def drawn(law: str, env: dict[str, Any]) -> list[tuple[Any, float]]:
    """The values of a law, far out left out, with their probabilities."""
    kind, _, rest = law.rstrip(")").partition("(")
    if kind == "flip":
        top, _, bottom = rest.partition("/")
        p = int(top) / int(bottom or 1)
        return [(value, chance) for value, chance in ((True, p), (False, 1 - p)) if chance]
    if kind == "uniform":
        return [(value, 1 / 4) for value in range(4)]
    scale, _, center = rest.partition(",")
    middle = eval(center, {}, env) if center else 0
    step = math.exp(-EPSILON / int(scale.partition("/")[0]))
    far = [(k, step ** abs(k)) for k in range(0 if kind == "expo" else -16, 17)]
    total = sum(weight for _, weight in far)
    return [(middle + k, weight / total) for k, weight in far]


def outcomes(steps: list[Any], env: dict[str, Any], chance: float = 1.0) -> Iterator[tuple[Any, float]]:
    """What the program returns, for every sequence of draws."""
    if not steps:
        yield env["result"], chance
        return
    (kind, *what), rest = steps[0], steps[1:]
    if kind == "draw":
        for value, more in drawn(what[1], env):
            yield from outcomes(rest, {**env, what[0]: value}, chance * more)
    elif kind == "set":
        yield from outcomes(rest, {**env, what[0]: eval(what[1], {"ite": ite}, env)}, chance)
    else:
        taken = what[1] if eval(what[0], {"ite": ite}, env) else what[2]
        yield from outcomes([*taken, *rest], env, chance)


def ite(test: bool, then: Any, orelse: Any) -> Any:
    return then if test else orelse


def loss(steps: list[Any]) -> float:
    """The largest ratio of probabilities that two adjacent inputs show, where neither is negligible."""
    found = {}
    start = {"x": 0, "y": 0, "r": 0, "c": False, "result": 0}
    for q in range(-1, 3):
        for b in (False, True):
            total: defaultdict[Any, float] = defaultdict(float)
            for value, chance in outcomes(steps, {**start, "q": q, "b": b}):
                total[value] += chance
            found[q, b] = total
    worst = 1.0
    for (q, b), one in found.items():
        for (p, c), two in found.items():
            if abs(q - p) <= 1 and (b, c) in [(b, b), (b, not b)]:
                worst = max(worst, *(chance / (two[value] + 1e-3) for value, chance in one.items()))
    return worst


def rendered(steps: list[Any], indent: str = "  ") -> list[str]:
    lines = []
    for kind, *what in steps:
        if kind == "if":
            lines += [f"{indent}if {what[0]} then", *rendered(what[1], indent + "  "), f"{indent}else"]
            lines += [*rendered(what[2], indent + "  "), f"{indent}end"]
        else:
            lines.append(f"{indent}{what[0]} {':=$' if kind == 'draw' else ':='} {what[1]}")
    return lines


def random_case(chosen: random.Random) -> tuple[list[Any], float, Json]:
    """A program, the ratio that is claimed for it, and a certificate that may or may not prove it."""
    draws = [("draw", name, chosen.choice(COINS if name == "c" else LAWS)) for name in chosen.choice(["x", "xy", "xc"])]
    known = {"q", "b", "r", *(name for _, name, _ in draws)}
    values = [value for value in VALUES if set(NAMES.findall(value)) <= known]
    tests = [test for test in TESTS if set(NAMES.findall(test)) <= known]
    steps: list[Any] = [("set", "r", "0"), *draws]
    if chosen.random() < 0.3:
        steps.insert(2, ("set", "r", chosen.choice(["x", "q", "q - x"])))
    steps.append(("set", "result", chosen.choice(values)))
    if chosen.random() < 0.4:
        then, orelse = ([("set", "result", chosen.choice(values))] for _ in "ab")
        steps[-1] = ("if", chosen.choice(tests), then, orelse)
    head = ["program it", "input q: int", "input b: bool", "budget eps", "begin"]
    lines = [*head, *rendered(steps), "end", "return result"]
    text = "\n".join(lines) + "\n"
    shifts = {}
    for n, line in enumerate(lines, 1):
        if ":=$" in line:
            menu = TURNS if "flip" in line else SHIFTS
            name = line.split()[0]
            likely = {"x": "q<1> - q<2>", "y": "0", "c": "false"}[name] if chosen.random() < 0.5 else ""
            shifts[str(n)] = likely or chosen.choice(menu).format(x=name)
    halves, thirds = chosen.choice([0, 1, 2, 2, 3, 4, 4]), chosen.choice([0, 1])
    split = [n for n, line in enumerate(lines, 1) if line.startswith("  if ") and chosen.random() < 0.5]
    annotated = proof(
        text,
        neighbors(["q", "b"], "abs(q<1> - q<2>) <= 1"),
        units={"eps": 2, "ln(3)": 1},
        shifts=shifts,
        split=split,
        pointwise=chosen.random() < 0.4,
    )
    claim = f"{halves}/2*eps" + (" + ln(3)" if thirds else "")
    return steps, 2**halves * 3**thirds, certificate(text, claim, annotated)


def accepted(seed: int, count: int) -> Iterator[tuple[list[Any], float, Json]]:
    chosen = random.Random(seed)
    for _ in range(count):
        steps, ratio, document = random_case(chosen)
        if check_program(document).ok:
            yield steps, ratio, document


def test_whatever_is_accepted_is_true() -> None:
    found = list(accepted(1, 70))
    assert len(found) >= 7
    for steps, ratio, document in found:
        assert loss(steps) <= ratio * 1.01, document


def test_the_oracle_sees_what_is_not_private() -> None:
    noisy = [("draw", "x", "lap(1/eps)"), ("set", "result", "q + x")]
    assert 3.9 < loss(noisy) <= 4
    assert loss([("draw", "x", "lap(1/eps)"), ("set", "result", "2*x + q")]) > 100
    assert 2.9 < loss([("draw", "c", "flip(3/4)"), ("set", "result", "ite(c == b, 1, 0)")]) <= 3
