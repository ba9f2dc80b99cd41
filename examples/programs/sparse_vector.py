"""Sparse vectors: which queries are above a threshold. Each program's expected verdict stands above it."""

import viameter as vm


# PROVED: eps
@vm.program(adjacent=vm.all_differ("q", by=1))
def above_threshold(q: list[int], t: int, eps: vm.Eps) -> int:
    """The first query above a noisy threshold."""
    noisy_t = t + vm.lap(2 / eps)
    i = 0
    while i < len(q):
        if q[i] + vm.lap(4 / eps) >= noisy_t:
            return i
        i = i + 1
    return -1


# PROVED: eps
@vm.program(adjacent=vm.all_differ("q", by=1), requires="N >= 1")
def sparse_vector(q: list[int], t: int, N: int, eps: vm.Eps) -> list[bool]:
    """Which queries are above, until N of them are."""
    out = []
    noisy_t = t + vm.lap(2 / eps)
    count = 0
    i = 0
    while i < len(q) and count < N:
        if q[i] + vm.lap(4 * N / eps) >= noisy_t:
            out.append(True)
            count = count + 1
        else:
            out.append(False)
        i = i + 1
    return out


# PROVED: eps
@vm.program(adjacent=vm.all_differ("q", by=1, monotone=True), requires="N >= 1")
def monotone_sparse_vector(q: list[int], t: int, N: int, eps: vm.Eps) -> list[bool]:
    """Half the noise on queries suffices if they all change in one direction; proved both ways."""
    out = []
    noisy_t = t + vm.lap(2 / eps)
    count = 0
    i = 0
    while i < len(q) and count < N:
        if q[i] + vm.lap(2 * N / eps) >= noisy_t:
            out.append(True)
            count = count + 1
        else:
            out.append(False)
        i = i + 1
    return out


# PROVED: eps
@vm.program(adjacent=vm.all_differ("q", by=1), requires="N >= 1")
def numeric_sparse_vector(q: list[int], t: int, N: int, eps: vm.Eps) -> list[int]:
    """Answers with fresh noise for the queries that are above."""
    out = []
    noisy_t = t + vm.lap(3 / eps)
    count = 0
    i = 0
    while i < len(q) and count < N:
        if q[i] + vm.lap(6 * N / eps) >= noisy_t:
            out.append(q[i] + vm.lap(3 * N / eps))
            count = count + 1
        else:
            out.append(0)
        i = i + 1
    return out


# PROVED: eps
@vm.program(adjacent=vm.all_differ("q", by=1), requires="N >= 1")
def gap_sparse_vector(q: list[int], t: int, N: int, eps: vm.Eps) -> list[int]:
    """By how much the noisy queries are above the noisy threshold, at no further cost."""
    out = []
    noisy_t = t + vm.lap(2 / eps)
    count = 0
    i = 0
    while i < len(q) and count < N:
        noisy = q[i] + vm.lap(4 * N / eps)
        if noisy >= noisy_t:
            out.append(noisy - noisy_t)
            count = count + 1
        else:
            out.append(0)
        i = i + 1
    return out


# PROVED: eps
@vm.program(adjacent=vm.all_differ("q", by=1))
def adaptive_sparse_vector(q: list[int], t: int, margin: int, eps: vm.Eps) -> list[int]:
    """Queries far above are found with more noise, and cost half."""
    out = []
    noisy_t = t + vm.lap(2 / eps)
    spent = 0
    i = 0
    while i < len(q) and spent + 4 <= 16:
        if q[i] + vm.lap(32 / eps) >= noisy_t + margin:
            out.append(2)
            spent = spent + 2
        elif q[i] + vm.lap(16 / eps) >= noisy_t:
            out.append(1)
            spent = spent + 4
        else:
            out.append(0)
        i = i + 1
    return out


# PROVED: eps
@vm.program(adjacent=vm.all_differ("q", by=1), requires="N >= 1")
def redrawn_sparse_vector(q: list[int], t: int, N: int, eps: vm.Eps) -> list[bool]:
    """The threshold is drawn again after each query that is above: what the last draw costs depends on the count."""
    out = []
    noisy_t = t + vm.lap(2 * N / eps)
    count = 0
    i = 0
    while i < len(q) and count < N:
        if q[i] + vm.lap(4 * N / eps) >= noisy_t:
            out.append(True)
            count = count + 1
            noisy_t = t + vm.lap(2 * N / eps)
        else:
            out.append(False)
        i = i + 1
    return out
