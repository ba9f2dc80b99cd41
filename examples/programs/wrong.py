"""Programs that leak more than they claim. The claim stands above each, with the verdict on it."""

import viameter as vm


# REFUTED: eps
@vm.program(adjacent=vm.all_differ("q", by=1))
def threshold_without_query_noise(q: list[int], t: int, eps: vm.Eps) -> int:
    """The queries themselves are compared: which is first says exactly where they are."""
    noisy_t = t + vm.lap(2 / eps)
    i = 0
    while i < len(q):
        if q[i] >= noisy_t:
            return i
        i = i + 1
    return -1


# REFUTED: eps
@vm.program(adjacent=vm.all_differ("q", by=1))
def sparse_vector_without_cutoff(q: list[int], t: int, eps: vm.Eps) -> list[bool]:
    """It never stops, so that every query above costs again."""
    out = []
    noisy_t = t + vm.lap(2 / eps)
    for x in q:
        if x + vm.lap(4 / eps) >= noisy_t:
            out.append(True)
        else:
            out.append(False)
    return out


# REFUTED: eps
@vm.program(adjacent=vm.all_differ("q", by=1), requires="N >= 1")
def sparse_vector_unscaled(q: list[int], t: int, N: int, eps: vm.Eps) -> list[bool]:
    """The noise on queries does not grow with N."""
    out = []
    noisy_t = t + vm.lap(2 / eps)
    count = 0
    i = 0
    while i < len(q) and count < N:
        if q[i] + vm.lap(4 / eps) >= noisy_t:
            out.append(True)
            count = count + 1
        else:
            out.append(False)
        i = i + 1
    return out


# REFUTED: eps
@vm.program(adjacent=vm.all_differ("q", by=1), requires="N >= 1")
def sparse_vector_returning_the_value(q: list[int], t: int, N: int, eps: vm.Eps) -> list[int]:
    """The noise that made the comparison is released with the answer."""
    out = []
    noisy_t = t + vm.lap(2 / eps)
    count = 0
    i = 0
    while i < len(q) and count < N:
        noisy = q[i] + vm.lap(4 * N / eps)
        if noisy >= noisy_t:
            out.append(noisy)
            count = count + 1
        else:
            out.append(0)
        i = i + 1
    return out


# REFUTED: eps
@vm.program(adjacent=vm.all_differ("q", by=1))
def noisy_max_returning_the_value(q: list[int], eps: vm.Eps) -> int:
    """The largest noisy value, not its index: each of them may have moved."""
    best = 0
    for i in range(len(q)):
        noisy = q[i] + vm.lap(2 / eps)
        if i == 0 or noisy > best:
            best = noisy
    return best


# REFUTED: eps
@vm.program(adjacent=vm.all_differ("q", by=1))
def noisy_max_with_half_the_noise(q: list[int], eps: vm.Eps) -> int:
    """Scale 1/eps suffices for monotone queries only; a tool that forgot freshness has proved this one."""
    best = 0
    index = 0
    for i in range(len(q)):
        noisy = q[i] + vm.lap(1 / eps)
        if i == 0 or noisy > best:
            best = noisy
            index = i
    return index


# REFUTED: eps
@vm.program(adjacent=vm.all_differ("q", by=1), requires="N >= 1")
def gap_to_the_public_threshold(q: list[int], t: int, N: int, eps: vm.Eps) -> list[int]:
    """The gap to the threshold without its noise: then the two noises no longer cancel."""
    out = []
    noisy_t = t + vm.lap(2 / eps)
    count = 0
    i = 0
    while i < len(q) and count < N:
        noisy = q[i] + vm.lap(4 * N / eps)
        if noisy >= noisy_t:
            out.append(noisy - t)
            count = count + 1
        else:
            out.append(0)
        i = i + 1
    return out


# REFUTED: 2*eps
@vm.program(adjacent=vm.one_differs("q", by=1), requires="block >= 1")
def smart_sum_without_block_noise(q: list[int], block: int, eps: vm.Eps) -> list[int]:
    """No noise at the end of a block."""
    after = 0
    blocks = 0
    s = 0
    out = []
    for i in range(len(q)):
        s = s + q[i]
        if (i + 1) % block == 0:
            blocks = blocks + s
            after = blocks
            s = 0
        else:
            after = after + q[i] + vm.lap(1 / eps)
        out.append(after)
    return out


# REFUTED: eps
@vm.program(adjacent=vm.one_differs("q", by=1))
def partial_sum_with_too_little_noise(q: list[int], eps: vm.Eps) -> int:
    """Scale 1/(2 eps) costs 2 eps."""
    s = 0
    for x in q:
        s = s + x
    return s + vm.lap(1 / (2 * eps))


# REFUTED: eps
@vm.program(adjacent=vm.all_differ("q", by=1))
def doubled_noise(q: int, eps: vm.Eps) -> int:
    """Over the reals this would cost eps/2; on integers the parity of the output is that of q."""
    return 2 * vm.lap(1 / eps) + q


# REFUTED: 0
@vm.program(adjacent=vm.all_differ("d", by=1))
def loop_that_the_printed_rule_accepts(d: int) -> int:
    """A while rule whose variant may grow proves this at 0."""
    r = 0
    i = 0
    while i < 2:
        if i == 1:
            r = d
        i = i + 1
    return r


# REFUTED: approx 631/100 1/1000000
@vm.program(adjacent=vm.all_differ("b", by=1))
def one_sided_composition(b: vm.Between(0, 1)) -> int:
    """Each of 100 steps is within 1/10 in one direction only: advanced composition does not apply."""
    n = 0
    for _ in range(100):
        if not vm.flip("905/1000"):
            n = n + b
    return n
