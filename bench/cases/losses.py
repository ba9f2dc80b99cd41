"""Adding up privacy losses that are exact rationals: in bulk, one by one, and as fractions of the standard library."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from bench.model import Benchmark, Case, Variant

MANY = 1_000_000
NARROW, WIDE = 100, 1_000_000
"""The largest denominator: up to a hundred a sum stays exact; up to a million its denominator soon grows too wide."""
FRACTIONS = {NARROW: 10_000, WIDE: 1_000}
"""How many fractions are added: more of them take longer than it tells."""


def rationals(losses: int, denominators: int) -> list[Fraction]:
    """Exact losses with mixed denominators."""
    source = random.Random(20)
    return [Fraction(source.randint(1, 100), source.randint(1, denominators)) for _ in range(losses)]


def in_bulk(losses: int, denominators: int) -> Callable[[], object]:
    """The sum that knows all its terms."""
    import viameter as vm

    terms = [vm.pure(rational) for rational in rationals(losses, denominators)]
    return lambda: vm.PureDP.total(terms)


def one_by_one(losses: int, denominators: int) -> Callable[[], object]:
    """Python's `sum`, as a program would write it."""
    import viameter as vm

    terms = [vm.pure(rational) for rational in rationals(losses, denominators)]
    return lambda: sum(terms, vm.pure(0))


def fractions(losses: int, denominators: int) -> Callable[[], object]:
    """Python's `sum` of `fractions.Fraction`."""
    terms = rationals(min(losses, FRACTIONS[denominators]), denominators)
    return lambda: sum(terms, Fraction(0))


def epsilon(loss: Any) -> Fraction:
    """The number of a pure loss."""
    return Fraction(loss.epsilon)


def sum_case(losses: int, denominators: int, *more: Variant) -> Case:
    """The sum of that many losses."""
    return Case(
        name="sum",
        parameters={"losses": losses, "denominators": denominators},
        variants=[
            Variant("viameter, PureDP.total", in_bulk, read=epsilon),
            Variant("viameter, sum", one_by_one, read=epsilon),
            *more,
        ],
        units=losses,
        unit="loss",
        tolerance=1e-15,
        memory=True,
    )


BENCHMARK = Benchmark(
    title="Sums of losses",
    about=(
        "The total of pure privacy losses that are exact rationals, with denominators up to the given one. Making the "
        "losses is not timed. The scaled row adds fewer fractions; its time is that of one of them."
    ),
    cases=[
        sum_case(FRACTIONS[NARROW], NARROW, Variant("fractions", fractions)),
        sum_case(MANY, NARROW, Variant("fractions, scaled", fractions, units=FRACTIONS[NARROW])),
        sum_case(FRACTIONS[WIDE], WIDE, Variant("fractions", fractions)),
        # No fractions here: the digits of their sum grow with every term, so that no smaller sum tells its time.
        sum_case(MANY, WIDE),
    ],
)
