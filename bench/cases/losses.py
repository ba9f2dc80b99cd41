"""Adding up privacy losses that are exact rationals: in bulk, one by one, and as fractions of the standard library."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from bench.model import Benchmark, Case, Variant

MANY, SOME, FEW = 1_000_000, 10_000, 1_000
NARROW, WIDE = 100, 1_000_000
"""The largest denominator: up to a hundred a sum stays exact; up to a million its denominator soon grows too wide."""


def rationals(losses: int, denominators: int) -> list[Fraction]:
    """Exact losses with mixed denominators."""
    source = random.Random(20)
    return [Fraction(source.randint(1, 100), source.randint(1, denominators)) for _ in range(losses)]


def in_bulk(losses: int, denominators: int) -> Callable[[], object]:
    """The sum that knows all its terms."""
    import viameter as vm

    terms = [vm.pure(rational) for rational in rationals(losses, denominators)]
    return lambda: vm.PureDP.total(terms)


def one_by_one(losses: int, denominators: int, most: int = MANY) -> Callable[[], object]:
    """Python's `sum`, as a program would write it."""
    import viameter as vm

    terms = [vm.pure(rational) for rational in rationals(min(losses, most), denominators)]
    return lambda: sum(terms, vm.pure(0))


def fractions(losses: int, denominators: int, most: int = MANY) -> Callable[[], object]:
    """Python's `sum` of `fractions.Fraction`."""
    terms = rationals(min(losses, most), denominators)
    return lambda: sum(terms, Fraction(0))


def epsilon(loss: Any) -> Fraction:
    """The number of a pure loss."""
    return Fraction(loss.epsilon)


def sum_case(losses: int, denominators: int, *others: Variant) -> Case:
    """The sum of that many losses, in bulk and in other ways."""
    return Case(
        name="sum",
        parameters={"losses": losses, "denominators": denominators},
        variants=[Variant("viameter, PureDP.total", in_bulk, read=epsilon), *others],
        units=losses,
        unit="loss",
        tolerance=1e-15,
        memory=True,
    )


OUR_SUM = Variant("viameter, sum", one_by_one, read=epsilon)
OUR_SUM_SCALED = Variant("viameter, sum, scaled", partial(one_by_one, most=SOME), read=epsilon, units=SOME)
FRACTIONS = Variant("fractions", fractions)
FRACTIONS_SCALED = Variant("fractions, scaled", partial(fractions, most=SOME), units=SOME)

BENCHMARK = Benchmark(
    title="Sums of losses",
    about=(
        "The total of pure privacy losses that are exact rationals, with denominators up to the given one. Making the "
        f"losses is not timed. A scaled row adds {SOME:,} of them, and its time is that of one."
    ),
    cases=[
        sum_case(SOME, NARROW, OUR_SUM, FRACTIONS),
        sum_case(MANY, NARROW, OUR_SUM, FRACTIONS_SCALED),
        sum_case(FEW, WIDE, OUR_SUM, FRACTIONS),
        # No fractions here: the digits of their sum grow with every term, so that no smaller sum tells the time.
        sum_case(MANY, WIDE, OUR_SUM_SCALED),
    ],
)
