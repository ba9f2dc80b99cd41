"""Choosing one of many, and answering with a coin. Each program's expected verdict stands above it."""

import viameter as vm


# PROVED: eps
@vm.program(adjacent=vm.all_differ("q", by=1))
def noisy_max(q: list[int], eps: vm.Eps) -> int:
    """The index of the largest noisy query."""
    best = 0
    index = 0
    for i in range(len(q)):
        noisy = q[i] + vm.lap(2 / eps)
        if i == 0 or noisy > best:
            best = noisy
            index = i
    return index


# PROVED: eps
@vm.program(adjacent=vm.all_differ("q", by=1))
def noisy_max_exponential(q: list[int], eps: vm.Eps) -> int:
    """The same with one-sided noise."""
    best = 0
    index = 0
    for i in range(len(q)):
        noisy = q[i] + vm.expo(2 / eps)
        if i == 0 or noisy > best:
            best = noisy
            index = i
    return index


# PROVED: eps
@vm.program(adjacent=vm.all_differ("scores", by=1))
def exponential_mechanism(scores: list[int], eps: vm.Eps) -> int:
    """An index with probability proportional to exp(eps * score / 2)."""
    return vm.choose(scores, 2 / eps)


# PROVED: ln(3)
@vm.program(adjacent=vm.related("truth<1> != truth<2>"))
def randomized_response(truth: bool) -> bool:
    """The truth with probability 3/4, else its opposite."""
    return truth if vm.flip("3/4") else not truth


# PROVED: ln(4)
@vm.program(adjacent=vm.all_differ("q", by=1, monotone=True))
def difference_of_two_waits(q: int) -> int:
    """The difference of two geometric waits is two-sided noise, whose tails fall by a factor of 4."""
    return q + vm.geom("3/4") - vm.geom("3/4")


# PROVED: 0
@vm.program(adjacent=vm.all_differ("secret", by=None))
def one_time_pad(secret: vm.Between(0, 255)) -> int:
    """A secret under a uniform key says nothing."""
    return (secret + vm.uniform(0, 255)) % 256
