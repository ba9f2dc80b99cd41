"""Mechanisms as a user writes them: functions of this file, never called."""
# mypy: disable-error-code="valid-type, return-value, assignment, no-any-return"
# ruff: noqa: F841, D209

from fractions import Fraction

from viameter.logic.front import markers as vm
from viameter.logic.front.adjacent import added_or_removed, all_differ, one_differs
from viameter.logic.front.decorator import ProgramFunction, program

LIMIT = 10


@program(adjacent=all_differ("q", by=1))
def above_threshold(q: list[int], t: int, eps: vm.Eps) -> int:
    """The first query above a threshold."""
    noisy_t = t + vm.lap(2 / eps)
    i = 0
    while i < len(q):
        if q[i] + vm.lap(4 / eps) >= noisy_t:
            return i
        i = i + 1
    return -1


@program(adjacent=all_differ("q", by=1), requires="N >= 1")
def sparse_vector(q: list[int], t: int, N: int, eps: vm.Eps) -> list[int]:  # noqa: N803
    noisy_t = t + vm.lap(2 / eps, shift="1")
    out: list[int] = []
    count = 0
    for x in q:
        vm.invariant("index<1> == index<2>")
        vm.invariant("count<1> == count<2>")
        if count >= N:
            break
        if x + vm.lap(4 * N / eps, shift="ite(noisy_t<1> <= x<1> + noise_2<1>, 2, 0)") >= noisy_t:
            out.append(1)
            count += 1
        else:
            out.append(0)
    return out


@program(adjacent=all_differ("q"))
def noisy_max(q: list[int], eps: vm.Eps) -> int:
    best = at = 0
    for i, x in enumerate(q):
        noisy = x + vm.expo(2 / eps)
        if i == 0 or noisy > best:
            best, at = noisy, i
    return at


@program(adjacent=one_differs("q", by="1/2"))
def clipped_mean(q: list[vm.Between(0, 1, grid="1/100")], eps: vm.Eps) -> vm.Grid("1/100"):
    total = vm.lap(Fraction(1, 2) / eps)
    for x in q:
        total += min(x, Fraction(1, 2))
    return total


@program(adjacent=one_differs("bits", by=None))
def responses(bits: list[bool]) -> list[bool]:
    out = []
    for bit in bits:
        out.append(bit if vm.flip("3/4") else not bit)
    return out


@program(adjacent=added_or_removed("ages"))
def count_and_sum(ages: list[vm.Between(0, 120)], eps: vm.Eps) -> list[int]:
    n = len(ages) + vm.lap(2 / eps)
    return [n, sum(ages) + vm.lap(240 / eps)]


def nested() -> tuple[object, int]:
    """A program in a function: its lines are told from the start of the file, and it sees what is around it."""
    width = 3

    @program(adjacent=all_differ("x"))
    def inner(x: int, eps: vm.Eps) -> int:
        text = """
not indented
"""
        return 0

    return inner, width


def nested_program() -> ProgramFunction:
    """The same, in the subset."""
    width = 3

    @program(adjacent=all_differ("x"))
    def inner(x: int, eps: vm.Eps) -> int:
        """A text of
        several lines."""
        return min(x, LIMIT) + vm.lap(width / eps)

    return inner


@program(adjacent=all_differ("p"), requires="top >= 1")
def twice(p: list[int], top: int, eps: vm.Eps) -> int:
    first = above_threshold(p, top, eps / 2)
    return first + above_threshold(p, t=first + top, eps=eps / 2)
