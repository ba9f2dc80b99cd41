"""Choose shifts: combinations of candidates, simplest first, that no trial refutes.

A trial that fails depends only on the candidates of the draws that were made before it failed; these together are
never tried again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from viameter.logic.deadline import tick
from viameter.logic.kernel.before import Choice
from viameter.logic.lang.core import Choose, Sample
from viameter.logic.lang.terms import Var, sub, variables
from viameter.logic.search.compiled import Environment, compiled
from viameter.logic.search.product import Pair, Product, Shift
from viameter.logic.search.templates import Candidate

HEAVIEST = 16
LONG = 40
"""Trials with so many draws are long."""


@dataclass(frozen=True, slots=True)
class Combination:
    """One choice for each sampling statement, by line."""

    choices: Mapping[int, Choice]
    weight: int


def shift_of(choice: Choice, sample: Sample) -> Shift:
    """What the product asks of a choice: the shift (how far scores may change), and whether it sees the draw."""
    if isinstance(sample.law, Choose):
        return Shift(compiled(sub(choice.bounds[1], choice.bounds[0])), sees_draw=False)
    drawn = Var(sample.target.name, sample.target.sort, 1)
    return Shift(compiled(choice.shift), sees_draw=drawn in variables(choice.shift))


def surviving(
    product: Product,
    sites: Mapping[int, tuple[Sample, list[Candidate]]],
    trials: list[Pair],
    accept: Callable[[Environment], bool],
    *,
    until: float,
    learned: list[Pair] | None = None,
    failed: list[tuple[Pair, Mapping[int, Shift]]] | None = None,
) -> Iterator[Combination]:
    """Combinations that all trials accept, simplest first, until the time is up.

    Trials may be added to `learned` meanwhile: the next combinations have to pass them too.
    """
    learned = [] if learned is None else learned
    lines = list(sites)
    tick()
    functions = {line: [shift_of(c.choice, sample) for c in found] for line, (sample, found) in sites.items()}
    refuted: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    order = list(trials)
    short = sum(1 for trial in trials if len(trial.draws) < LONG)
    for weight in range(HEAVIEST):
        for picked in _of_weight([found for _, found in sites.values()], weight):
            if time.monotonic() > until:
                return
            if any(tuple(picked[i] for i in where) in bad for where, bad in refuted.items()):
                continue
            shifts = {line: functions[line][index] for line, index in zip(lines, picked, strict=True)}
            known = len(learned)
            for at, trial in enumerate((*learned, *order), -known):
                good, used = product.attempt(trial, shifts, accept)
                if not good:
                    if failed is not None and not failed:
                        failed.append(
                            (trial, shifts)
                        )  # for people: a pair of runs that fall apart under the simplest shifts
                    where = tuple(i for i, line in enumerate(lines) if line in used)
                    if not where:
                        return  # it fails whatever is chosen
                    refuted.setdefault(where, set()).add(tuple(picked[i] for i in where))
                    # What refuted one combination often refutes the next; long trials stay behind the short ones.
                    if at > 0:
                        first = 0 if at < short else short
                        order.insert((first + at) // 2, order.pop(at))
                    break
            else:
                choices = {
                    line: found[index].choice for (line, (_, found)), index in zip(sites.items(), picked, strict=True)
                }
                yield Combination(choices, weight)


def _of_weight(found: list[list[Candidate]], weight: int) -> Iterator[tuple[int, ...]]:
    """The indices of all combinations of this total weight, one at a time; none is begun that cannot be completed."""
    buckets: list[dict[int, list[int]]] = []
    for entries in found:
        by_weight: dict[int, list[int]] = {}
        for index, entry in enumerate(entries):
            by_weight.setdefault(entry.weight, []).append(index)
        buckets.append(by_weight)
    # What the sites from each place on can weigh together.
    reachable: list[set[int]] = [{0}]
    for by_weight in reversed(buckets):
        reachable.insert(0, {w + rest for w in by_weight for rest in reachable[0] if w + rest <= weight})

    def completed(place: int, left: int) -> Iterator[tuple[int, ...]]:
        if place == len(buckets):
            yield ()
            return
        for w in sorted(buckets[place]):
            if left - w in reachable[place + 1]:
                for index in buckets[place][w]:
                    for rest in completed(place + 1, left - w):
                        yield (index, *rest)

    if weight in reachable[0]:
        yield from completed(0, weight)
