"""The worst touch pattern: how long the search takes for each kind of cut, as leaves or as bare numbers."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from typing import Any

from bench.model import Benchmark, Case, Variant


def parts() -> tuple[Any, Any, Any, random.Random]:
    """The library, its room, its solvers, and seeded numbers."""
    vm: Any = import_module("viameter")
    nb: Any = import_module("viameter.neighborhood")
    solvers: Any = import_module("viameter.neighborhood.solvers")
    return vm, nb, solvers, random.Random(1)


def costs(rng: random.Random, count: int) -> list[Fraction]:
    """Exact costs, in thousandths."""
    return [Fraction(rng.randint(1, 1000), 1000) for _ in range(count)]


def value(found: Any) -> float:
    """What the worst pattern costs, of a solver or of a composition."""
    return float(found.value if hasattr(found, "value") else found.loss.epsilon)


def at_most_solver(k: int) -> Callable[[], object]:
    """At most 3 of k, different costs."""
    _, _, solvers, rng = parts()
    gains = costs(rng, k)
    return lambda: solvers.worst_at_most(gains, 3)


def at_most_sorted(k: int) -> Callable[[], object]:
    """The same by sorting floats with NumPy, which is not exact."""
    np: Any = import_module("numpy")
    gains = np.array([float(cost) for cost in costs(random.Random(1), k)])
    return lambda: float(np.sort(gains)[-3:].sum())


def at_most_composed(k: int) -> Callable[[], object]:
    """At most 3 of k, one loss for all, as leaves."""
    vm, nb, _, _ = parts()
    leaves = nb.leaves(nb.subsets(k, at_most=3), vm.pure("1/10"))
    return lambda: nb.compose(nb.unbounded(), leaves)


def spans(rng: random.Random, count: int) -> list[tuple[int, int]]:
    """Spans of up to 50 times, one for ten times of the horizon."""
    starts = [rng.randint(0, 10 * count) for _ in range(count)]
    return [(start, start + rng.randint(0, 50)) for start in starts]


def intervals_solver(k: int) -> Callable[[], object]:
    """Spans of time under one event, different costs."""
    _, _, solvers, rng = parts()
    listed, gains = spans(rng, k), costs(rng, k)
    return lambda: solvers.worst_window(listed, gains, width=1)


def intervals_composed(k: int) -> Callable[[], object]:
    """Spans of time under one event, one loss for all, as leaves."""
    vm, nb, _, rng = parts()
    leaves = nb.leaves(nb.intervals(spans(rng, k)), vm.pure("1/10"))
    return lambda: nb.compose(nb.event(), leaves)


def windows_composed(k: int) -> Callable[[], object]:
    """The same under windows of 7 times."""
    vm, nb, _, rng = parts()
    leaves = nb.leaves(nb.intervals(spans(rng, k)), vm.pure("1/10"))
    return lambda: nb.compose(nb.w_event(7), leaves)


def records(rng: random.Random, count: int) -> list[frozenset[int]]:
    """Records in up to 5 of 1000 parts."""
    return [frozenset(rng.sample(range(1000), rng.randint(1, 5))) for _ in range(count)]


def replace_solver(n: int) -> Callable[[], object]:
    """One of n records is replaced by another."""
    _, _, solvers, rng = parts()
    kinds, cross = records(rng, n), costs(rng, 1000)
    return lambda: solvers.worst_pair(kinds, cross=cross, both=cross, plural=[True] * n)


def replace_composed(n: int) -> Callable[[], object]:
    """The same as leaves on the 1000 parts."""
    vm, nb, _, rng = parts()
    cut = nb.memberships(dict(enumerate(records(rng, n))), parts=1000, plural=True)
    leaves = [nb.leaf(part, vm.pure(cost), mode="common") for part, cost in zip(cut, costs(rng, 1000), strict=True)]
    return lambda: nb.compose(nb.bounded(), leaves)


def contributions_solver(k: int) -> Callable[[], object]:
    """A person's rows in k groups: 10 groups, 30 rows, 5 in one; any costs."""
    _, _, solvers, rng = parts()
    tables = [[Fraction(0), *(Fraction(rng.randint(1, 9) * rows, 100) for rows in range(1, 6))] for _ in range(k)]
    return lambda: solvers.worst_contribution(tables, l0=10, l1=30)


def predicates_composed(k: int) -> Callable[[], object]:
    """Conditions on three attributes, one record added or removed."""
    vm, nb, _, rng = parts()
    domains = dict.fromkeys("xyz", range(100))
    conditions = []
    for _ in range(k):
        lower = {name: rng.randint(0, 80) for name in rng.sample("xyz", rng.randint(1, 3))}
        conditions.append({name: range(low, min(low + rng.randint(5, 40), 100)) for name, low in lower.items()})
    cut = nb.predicates(conditions, domains=domains)
    leaves = [nb.leaf(part, vm.pure(cost)) for part, cost in zip(cut, costs(rng, k), strict=True)]
    return lambda: nb.compose(nb.unbounded(), leaves)


def charge(before: int) -> Callable[[], object]:
    """One more leaf on a tally of 100 parts that has counted so many."""
    vm, nb, _, _ = parts()
    cut = nb.partition(100)
    tally = nb.PatternTally(nb.unbounded(), vm.PureDP, budget=vm.pure(10**9))
    leaves = [nb.leaf(part, vm.pure("1/10")) for part in cut]
    for number in range(before):
        tally.charge(leaves[number % 100])
    return lambda: tally.charge(leaves[0])


def growth(name: str, parameter: str, prepare: Any, sizes: tuple[int, ...], read: Any = value) -> list[Case]:
    """The same search at several sizes."""
    return [
        Case(name=name, parameters={parameter: size}, variants=[Variant("viameter", prepare, read=read)])
        for size in sizes
    ]


BENCHMARK = Benchmark(
    title="Neighborhoods",
    about=(
        "The search for the touch pattern that costs most, in exact arithmetic. No peer composes under general "
        "neighborhoods; where a case has another row, it is the same by plain NumPy, in floats. Rows with several "
        "sizes show how a search grows."
    ),
    cases=[
        *(
            Case(
                name="at most 3 of k parts, different costs",
                parameters={"k": k},
                variants=[
                    Variant("viameter", at_most_solver, read=value),
                    Variant("NumPy, floats", at_most_sorted),
                ],
                tolerance=None,
            )
            for k in (10_000, 100_000, 1_000_000)
        ),
        *growth("at most 3 of k parts, as leaves", "k", at_most_composed, (1_000_000,)),
        *growth("spans of time under one event", "k", intervals_solver, (10_000, 100_000)),
        *growth("spans of time under one event, as leaves", "k", intervals_composed, (100_000,)),
        *growth("spans of time under windows of 7, as leaves", "k", windows_composed, (100_000,)),
        *growth("one of n records is replaced", "n", replace_solver, (10_000, 100_000)),
        *growth("one of n records is replaced, as leaves", "n", replace_composed, (100_000,)),
        *growth("contributions to k groups", "k", contributions_solver, (100, 1_000)),
        *growth("k predicates on 3 attributes, as leaves", "k", predicates_composed, (100, 400)),
        *growth("one more leaf on a tally of 100 parts", "before", charge, (10, 10_000), read=None),
    ],
)
