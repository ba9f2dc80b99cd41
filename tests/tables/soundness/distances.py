"""How far apart the integers of two tables are, beside what the theorem says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from tests.tables.soundness.asked import Both
from tests.tables.soundness.cases import Case

import viameter as vm
from viameter.errors import NoTheorem
from viameter.tables.bounding import Limits
from viameter.tables.collecting import Collecting
from viameter.tables.contributing import contributing, limits_of
from viameter.tables.statistics import Statistic, Units

Found = Callable[[Both, Collecting, Sequence[Statistic]], list[list[int]]]
NORMS = {"L1": vm.L1Distance(), "L2": vm.L2Distance(), "Linf": vm.LInfDistance()}


def moved(left: Sequence[int], right: Sequence[int], norm: str) -> Fraction:
    """The distance of two vectors; its square for L2."""
    steps = [abs(a - b) for a, b in zip(left, right, strict=True)]
    return Fraction({"L1": sum(steps), "L2": sum(step**2 for step in steps), "Linf": max(steps)}[norm])


def ratios(
    left: Both, right: Callable[[], Both], case: Case, found: Found, *, order: str = "portable"
) -> dict[tuple[str, str], float]:
    """By statistic and norm, how much of its bound a step takes; above 1 is a breach (for L2, of squares).

    The right table may come in the place of the left one: it is asked for when that was asked.
    """
    changed, collecting, statistics = case.asked(left, order=order)
    # Where nothing limits rows, all that can be asked is how many units there are.
    groups = collecting.keys.size
    try:
        limits = limits_of(changed.relation, Limits(), statistics=statistics, groups=groups)
    except NoTheorem:
        statistics = [Units()]
        limits = limits_of(changed.relation, Limits(), statistics=statistics, groups=groups)
    collecting = replace(collecting, limits=limits)
    here = found(changed, collecting, statistics)
    there = found(case.asked(right())[0], collecting, statistics)
    result = {}
    for statistic, one, two in zip(statistics, here, there, strict=True):
        for name, norm in NORMS.items():
            bound = Fraction(contributing(changed.relation, statistic, collecting, norm).map(1))
            allowed = bound**2 if name == "L2" else bound
            result[repr(statistic), name] = float(moved(one, two, name) / allowed)
    return result
