"""Gaussian noise. Each program's expected verdict stands above it."""

import viameter as vm


# PROVED: zcdp 1/200
@vm.program(adjacent=vm.one_differs("q", by=1))
def gaussian_sum(q: list[int]) -> int:
    """A sum under Gaussian noise: 1 / (2 * 10^2)."""
    s = 0
    for x in q:
        s = s + x
    return s + vm.gauss(10)


# PROVED: zcdp 2/100
@vm.program(adjacent=vm.all_differ("q", by=1))
def four_gaussian_answers(q: list[int]) -> list[int]:
    """Four answers, each of which may change by 1: four times 1/200."""
    out = []
    for i in range(4):
        out.append(q[i] + vm.gauss(10))
    return out


# PROVED: approx 1/2 1/1000000
@vm.program(adjacent=vm.one_differs("q", by=1))
def gaussian_sum_approximate(q: list[int]) -> int:
    """The same in (epsilon, delta), through its concentrated cost."""
    s = 0
    for x in q:
        s = s + x
    return s + vm.gauss(12)
