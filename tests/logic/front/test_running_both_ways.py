"""Small programs, each about one thing, run as Python runs them."""

from fractions import Fraction

import pytest
from tests.logic.front.oracle import Both

from viameter.logic.front.adjacent import added_or_removed, all_differ
from viameter.logic.front.decorator import program_from_source
from viameter.logic.lang.text import show_program

Q = "q: list[int], t: int, eps: vm.Eps"
LISTS: list[list[int]] = [[], [3], [-2, 5], [4, -1, 0], [1, 2, 3, 4, 5]]

BODIES = {
    "return in a loop": """
    for i in range(len(q)):
        if q[i] + vm.lap(4 / eps) >= t:
            return i
    return -1""",
    "return in a loop in a loop": """
    for i in range(3):
        for x in q:
            if x == i + vm.lap(1 / eps):
                return 10 * i + x
        t2 = t + i
    return t2""",
    "break, and the loop's variable after it": """
    i = -5
    for i in range(len(q)):
        if q[i] > vm.lap(1 / eps):
            break
    return i""",
    "the loop's variable after a loop that ends": """
    i = -5
    for i in range(1, 7, 2):
        pass
    return i""",
    "a loop whose variable is assigned within": """
    s = 0
    for i in range(4):
        i = i * 10
        s += i
    return s + i""",
    "a loop in a loop of the same variable": """
    s = 0
    for i in range(3):
        for i in range(5):
            s += i
        s += 100 * i
    return s""",
    "two loops of one variable": """
    s = 0
    for i in range(3):
        s += i
    for i in range(2, 8):
        s += 10 * i
    return s""",
    "the end of a range is found once": """
    n = 3
    for i in range(n):
        n = n + 1
    for n in range(n):
        t2 = n
    return n * 100 + t2""",
    "a range that counts down": """
    s = 0
    for i in range(5, -3, -2):
        s = 10 * s + i
    return s""",
    "a range with noise in its ends": """
    s = 0
    for i in range(vm.uniform(-1, 2), vm.uniform(2, 5)):
        s = 10 * s + i + vm.lap(1 / eps)
    return s""",
    "continue": """
    s = 0
    for i, x in enumerate(q):
        if x < 0:
            continue
        s += x * i
    return s""",
    "an index and an element of one name": """
    s = 0
    for x, x in enumerate(q):
        s = 10 * s + x
    return s""",
    "continue in a branch that may go on": """
    s = 0
    for x in q:
        if x > 0:
            if x > 3:
                continue
            s += 1
        s += 10
    return s""",
    "break in a branch that may go on": """
    s = 0
    for x in q:
        if x > 0:
            if x + vm.lap(1 / eps) > 3:
                break
            s += 1
        else:
            s += 7
        s += 10
    return s""",
    "return in a branch that may go on": """
    s = 0
    if t > 0:
        if t > vm.lap(1 / eps):
            return 7
        s = 1
    s += 10
    if s > 10:
        return s
    return -s""",
    "noise in the test of a while loop": """
    n = 0
    while vm.lap(2 / eps) < 3:
        n += 1
        if n > 20:
            break
    return n""",
    "noise in the right of and in the test of a while loop": """
    n = 0
    while n < 9 and vm.flip("1/4") and n != t:
        n += 1
        if n == 4:
            continue
        n += vm.uniform(0, 1)
    return n""",
    "a loop without an end of its own": """
    n = 0
    while True:
        n += 1
        if n + vm.lap(1 / eps) > 4:
            return n
        if n > 10:
            break
    return -1""",
    "a loop that ends by a return alone": """
    n = 0
    while True:
        n += 1
        if n + vm.lap(1 / eps) > 4:
            return n""",
    "an else that leaves": """
    s = 0
    for x in q:
        if x > 0:
            s += 1
        else:
            continue
        if x < 4:
            s += 10
        else:
            break
        s += 100
    if s < t:
        s += 1000
    else:
        return s
    s = 2 * s
    return s""",
    "an elif that leaves": """
    s = 0
    for x in q:
        if x > 3:
            s += 1
        elif x > 1:
            continue
        elif x < 0:
            return s - 1
        else:
            s += 5
        s += 10
    return s""",
    "noise in branches": """
    x = vm.lap(1 / eps) if t > 0 else vm.uniform(0, 9)
    y = t > 1 or vm.flip(1 / 2) or vm.flip(1 / 4)
    z = t < 0 and vm.flip(1 / 2)
    return x + (100 if y else 0) + (1000 if z else 0)""",
    "noise late in a chain": """
    a = 0 < t < vm.lap(1 / eps) < 5
    b = vm.lap(2 / eps) <= t <= vm.lap(3 / eps) <= vm.lap(4 / eps)
    return (1 if a else 0) + (10 if b else 0)""",
    "draws in the order of the text": """
    return 100 * vm.lap(1 / eps) + max(vm.lap(2 / eps), vm.lap(3 / eps) * vm.uniform(1, 3)) - vm.expo(4 / eps)""",
    "floors of negative numbers": """
    return 1000 * (t // 3) + 100 * (t % 3) + 10 * (t // -2) + t % -2 + -7 // 2""",
    "min, max and abs": """
    return min(t, 3, -t) + 10 * max(t, -2, 1, 0) + 100 * abs(t - 1)""",
    "sum and len": """
    return sum(q) * 10 + len(q) if sum(q) > 0 else -1""",
    "indices below 0 count from the end": """
    i = 0 - 1
    s = q[i] + 10 * q[t] + 100 * q[len(q) - 2] + 1000 * q[t - len(q)]
    for j in range(len(q)):
        k = q[j]
        s = 3 * s + q[j - 1] + q[k] + q[len(q) - 1 - j]
    for j in range(len(q) - 1, -3, -1):
        s = 3 * s + q[j]
    return s""",
    "two values at once": """
    a, b = 1, 2
    a, b = b, a + b
    c = d = b + a
    c = d = c + d
    return 1000 * a + 100 * b + 10 * c + d""",
    "reading what is not assigned yet": """
    for i in range(len(q)):
        if i == 0 or q[i] > best:
            best = q[i]
            at = i
    if len(q) == 0:
        return -1
    return 10 * at + best""",
    "elif": """
    if t > 2:
        return 1
    elif t > 0:
        x = vm.lap(1 / eps)
    elif t == 0:
        x = 5
    else:
        return vm.uniform(0, 3)
    return x""",
    "unreachable statements": """
    while t > 5:
        return 3
        t2 = 4
    return 1
    return 2""",
    "names of the core language": """
    end = t
    do, then = 1, 2
    skip = end + do * then
    return skip""",
    "a variable called like an introduced one": """
    noise = vm.lap(1 / eps) + t
    returned = 3
    for i in range(2):
        if i == noise:
            return returned + vm.lap(2 / eps)
    result = noise + 1
    return result""",
    "a constant test": """
    if True:
        x = 1
    else:
        x = vm.lap(1 / eps)
    if 0 < 1 and DEBUG:
        return 5
    return x""",
    "a budget of another name, and public names in scales": """
    eps1 = eps / 3
    eps2 = eps - eps1
    n = len(q) + 1
    wide = 2 * n / eps1
    return vm.lap(wide) + vm.lap(n / (2 * eps2)) + vm.gauss(3 * n) + vm.lap(Fraction(2, 3) * max(n, 2))""",
    "truth values in arithmetic": """
    b = t > 0
    return 3 * b + (t > 1) + (b == (t > 2)) + (b == 1)""",
}


@pytest.mark.parametrize("name", BODIES)
def test_a_program_runs_as_python_runs_it(name: str) -> None:
    text = f"def made({Q}) -> int:{BODIES[name]}\n"
    both = Both(text, names={"DEBUG": False}, more={"DEBUG": False})
    for items in LISTS:
        for t in (-4, -1, 0, 1, 2, 6):
            both.check(q=items, t=t)


def test_noise_stands_on_the_grid_of_the_private_inputs_and_of_the_result() -> None:
    text = """
def made(q: list[vm.Grid("1/100")], t: int, eps: vm.Eps) -> vm.Grid("1/100"):
    best = 0
    for x in q:
        if x + vm.lap(2 / eps) > best + t:
            best = x + vm.expo(1 / eps)
    return best + 1 + vm.gauss(2)
"""
    items = [Fraction(5, 100), Fraction(314, 100), Fraction(-1, 4)]
    Both(text, private=frozenset({"q"}), grid="1/100").check(q=items, t=1)


def test_grids_mix_and_keep_the_value_of_everything() -> None:
    text = """
def made(x: vm.Grid("1/6"), y: vm.Grid("1/4"), n: int, eps: vm.Eps) -> vm.Grid("1/240"):
    z = x + y * 2 - Fraction(1, 5)
    w: vm.Grid("1/48") = 0
    if x < y <= n:
        w = (x * y) / 2
    k = x // y if y > 0 else 0
    m = x % Fraction(1, 4)
    if x > 0:
        m = vm.lap(3 / eps, grid=1)
    return z + w + k + m * Fraction(1, 5) + min(x, n) + abs(y) + vm.lap(2 / eps, grid="1/6", center=x * 2)
"""
    both = Both(text, private=frozenset({"x"}))
    for top in range(-7, 8, 3):
        for other in range(-3, 9, 2):
            both.check(x=Fraction(top, 6), y=Fraction(other, 4), n=top % 3)


def test_a_list_of_truths_counts_and_tests() -> None:
    text = """
def made(p: list[bool], b: bool, eps: vm.Eps) -> list[bool]:
    out = []
    count = 0
    for i in range(len(p)):
        count += p[i]
        keep = p[i]
        if p[i]:
            keep = not b
        out.append(keep if vm.flip("3/4") else p[0])
        out += [p[i] == b, not p[i]]
    out.append(count + vm.lap(1 / eps) > 1)
    return out
"""
    both = Both(text)
    for bits in ([], [True], [False, True, True]):
        for b in (True, False):
            both.check(p=bits, b=b)


def test_choices_are_scaled_by_the_grid_of_their_list() -> None:
    text = 'def made(r: list[vm.Grid("1/10")], eps: vm.Eps) -> int: return vm.choose(r, 2 / eps)\n'
    compiled = program_from_source(text, adjacent=all_differ("r")).text
    assert "chosen :=$ choose(r, 20/eps)" in compiled


ROWS = """
def made(q: list[int], t: int, eps: vm.Eps) -> int:
    s = 0
    for x in q:
        if x < 0:
            continue
        if x == 9:
            break
        if x == 8:
            return -1
        if x > 1:
            if x == 7:
                continue
            s += 5
        s += min(x, t) + vm.lap(1 / eps)
    n = len(q)
    while n > 3 and sum(q) > 2:
        n -= 1
    while n < len(q) + 2 or (n < 9 and len(q) == 3):
        n += 1
    return s + 100 * n + 1000 * sum(q) + len(q)
"""


def test_a_free_slot_does_nothing_but_go_on() -> None:
    text = show_program(program_from_source(ROWS, adjacent=added_or_removed("q")).core)
    loop = text[text.index("  while slot < ") : text.index("  count := 0")].splitlines()
    depths = [len(line) - len(line.lstrip()) for line in loop]
    assert [line.strip() for line, depth in zip(loop, depths, strict=True) if line.strip() and depth <= 4] == [
        "while slot < len(q.in) and not returned and not stopped do",
        "if q.in[slot] == 1 then", "end", "slot := slot + 1", "end", "if not returned then",
    ]  # fmt: skip
    assert "skipped := false" in text


@pytest.mark.parametrize("rows", [[], [4], [1, 2, 3], [5, -1, 7, 2], [1, 9, 4], [2, 3, 8, 9]])
def test_free_slots_change_nothing(rows: list[int]) -> None:
    Both(ROWS, slots=frozenset({"q"}), private=frozenset({"q", "q.in"})).check(q=rows, t=3, turns=12)


CALLEE = """
def first(p: list[int], u: int, n: int, e: vm.Eps) -> int:
    k = 0
    while k < len(p):
        if p[k] + vm.lap(n / e) > u:
            return k
        k += 1
    return -1
"""
LISTING = """
def listing(p: list[int], e: vm.Eps) -> list[int]:
    made = []
    for x in p:
        made.append(x + vm.lap(1 / e))
    made.append(vm.choose(p, 2 / e))
    return made
"""


def test_other_programs_run_in_the_place_of_their_call() -> None:
    text = """
def made(q: list[int], p: list[int], t: int, eps: vm.Eps) -> list[vm.Grid("1/2")]:
    out = [first(q, t, 2, eps / 2)]
    k = 0
    for i in range(3):
        k += first(p, t + i, e=eps, n=max(len(p), 1)) if i != 1 else first(q, -i, 1, 2 * eps / 3)
        if first(q, k, 1, 1) > 0 and first(p, 2, 3, eps) < 2:
            out.append(k * Fraction(1, 2))
        out += listing(q, eps / (4 * t))
    return out
"""
    first = program_from_source(CALLEE, adjacent=all_differ("p"), requires="n >= 1")
    listing = program_from_source(LISTING, adjacent=all_differ("p"))
    both = Both(text, names={"first": first, "listing": listing}, prelude=CALLEE + LISTING)
    for items in LISTS:
        both.check(q=items, p=items[::-1], t=2)
