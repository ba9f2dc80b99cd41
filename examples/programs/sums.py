"""Noise on sums. Each program's expected verdict stands above it."""

import viameter as vm


# PROVED: eps
@vm.program(adjacent=vm.all_differ("q", by=1))
def laplace(q: int, eps: vm.Eps) -> int:
    """Noise on one answer."""
    return q + vm.lap(1 / eps)


# PROVED: eps
@vm.program(adjacent=vm.all_differ("q", by="1/2"))
def laplace_on_a_grid(q: vm.Grid("1/100"), eps: vm.Eps) -> vm.Grid("1/100"):
    """Noise on one answer that is a multiple of 1/100, and moves by at most 1/2."""
    return q + vm.lap(1 / (2 * eps))


# PROVED: eps
@vm.program(adjacent=vm.one_differs("q", by=None), requires="len(q) >= 1")
def mean(q: list[int], eps: vm.Eps) -> int:
    """The mean of values that are clipped to 0..10; one of them may change to anything."""
    s = 0
    for x in q:
        s = s + min(max(x, 0), 10)
    return (s + vm.lap(10 / eps)) // len(q)


# PROVED: eps
@vm.program(adjacent=vm.one_differs("q", by=1))
def partial_sum(q: list[int], eps: vm.Eps) -> int:
    """A sum, then noise."""
    s = 0
    for x in q:
        s = s + x
    return s + vm.lap(1 / eps)


# PROVED: 2*eps
@vm.program(adjacent=vm.one_differs("q", by=1))
def partial_sum_with_less_noise(q: list[int], eps: vm.Eps) -> int:
    """Half the noise costs twice as much."""
    s = 0
    for x in q:
        s = s + x
    return s + vm.lap(1 / (2 * eps))


# PROVED: eps
@vm.program(adjacent=vm.one_differs("q", by=1))
def noise_before_the_sum(q: list[int], eps: vm.Eps) -> int:
    """The noise is drawn before the sum that it protects: the proof moves the draw down."""
    noise = vm.lap(1 / eps)
    s = 0
    for x in q:
        s = s + x
    return s + noise


# PROVED: eps
@vm.program(adjacent=vm.one_differs("q", by=1))
def prefix_sum(q: list[int], eps: vm.Eps) -> list[int]:
    """Running sums of noisy elements."""
    s = 0
    out = []
    for x in q:
        s = s + x + vm.lap(1 / eps)
        out.append(s)
    return out


# PROVED: len(q)*eps
@vm.program(adjacent=vm.one_differs("q", by=1))
def dummy_sum_1(q: list[int], eps: vm.Eps) -> list[int]:
    """Noise on each running sum: every one of them changes."""
    s = 0
    out = []
    for x in q:
        s = s + x
        out.append(s + vm.lap(1 / eps))
    return out


# PROVED: eps
@vm.program(adjacent=vm.one_differs("q", by=1))
def dummy_sum_2(q: list[int], eps: vm.Eps) -> list[int]:
    """Noise on each element, summed afterwards: only one of them changes."""
    s = 0
    out = []
    for x in q:
        z = x + vm.lap(1 / eps)
        s = s + z
        out.append(s)
    return out


# PROVED: eps
@vm.program(adjacent=vm.one_differs("q", by=1))
def histogram(q: list[int], eps: vm.Eps) -> list[int]:
    """Noise on each bin."""
    out = []
    for x in q:
        out.append(x + vm.lap(1 / eps))
    return out


# PROVED: 2*eps
@vm.program(adjacent=vm.one_differs("q", by=1))
def smart_sum(q: list[int], block: int, eps: vm.Eps) -> list[int]:
    """Running sums in blocks: an element is in one block and in one step within it."""
    after = 0
    blocks = 0
    s = 0
    out = []
    for i in range(len(q)):
        s = s + q[i]
        if (i + 1) % block == 0:
            blocks = blocks + s + vm.lap(1 / eps)
            after = blocks
            s = 0
        else:
            after = after + q[i] + vm.lap(1 / eps)
        out.append(after)
    return out


# PROVED: eps
@vm.program(adjacent=vm.added_or_removed("rows"))
def count_large(rows: list[int], eps: vm.Eps) -> int:
    """How many rows are large; a row may be added or removed."""
    n = 0
    for x in rows:
        if x > 100:
            n = n + 1
    return n + vm.lap(1 / eps)


# PROVED: eps1 + 2*eps2
@vm.program(adjacent=vm.one_differs("q", by=1))
def two_budgets(q: list[int], eps1: vm.Eps, eps2: vm.Eps) -> list[int]:
    """Two releases of the same sum, each from its own budget."""
    s = 0
    for x in q:
        s = s + x
    out = []
    out.append(s + vm.lap(1 / eps1))
    out.append(2 * s + vm.lap(1 / eps2))
    return out
