"""Candidates for invariants: what held at the head of a loop in every trial.

The forms: two runs' values are equal, or differ by at most so much; values are ordered; the cost is at most so much.
Each may hold only in a *phase*: before or after the index where inputs differ (or the output that is asked about),
once a flag is set, while two values differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from viameter.logic.deadline import tick
from viameter.logic.kernel.context import RESULT, Context, charge_of, cost, same
from viameter.logic.lang.core import ANY, Gaussian, If, Sample, While, assigned, statements_of
from viameter.logic.lang.terms import (
    ONE,
    TRUE,
    ZERO,
    App,
    Num,
    Term,
    Var,
    add,
    and_,
    eq,
    implies,
    le,
    length,
    lt,
    mul,
    ne,
    not_,
    sort_of,
    sub,
    subterms,
    variables,
)
from viameter.logic.search.columns import evaluate
from viameter.logic.search.compiled import Environment
from viameter.logic.search.live import heads_of
from viameter.logic.search.templates import _counters, followers

FARTHEST = 4
"""Differences beyond this many of the largest number in the adjacency are taken for unbounded."""

BOUNDS = 8
"""How many bounds on a cost are tried in one phase, none of which is below another in all trials."""


class Atoms:
    """Candidates at the head of one loop, from the memories that trials had there."""

    def __init__(
        self, context: Context, loop: While, memories: list[Environment], *, widest: int, numbers: list[int]
    ) -> None:
        self.context, self.loop, self.widest, self.known = context, loop, widest, numbers
        self.rows = len(memories)
        program = context.program
        live = heads_of(program.body, frozenset({program.output.name}))[loop.at]
        self.local = sorted(
            (v for v in assigned(program.body) if v.sort != "list" and v.name in live), key=lambda v: v.name
        )
        names = [n for n, v in memories[0].items() if not isinstance(v, tuple) and n != ANY.name] if memories else []
        self.columns = {name: np.array([m[name] for m in memories]) for name in names}
        self.public: list[Term] = [
            Var(e.name, "int") for e in program.inputs if e.sort == "int" and e.name in context.public
        ]
        self.public += [length(e.var) for e in program.inputs if e.sort == "list"]
        self.marks: list[Term] = [Var(c) for c in context.neighbors.constants]
        if RESULT.name in self.columns:
            self.marks.append(RESULT)

    def candidates(self, *, pointwise: bool) -> list[Term]:
        """All of them, without those that a simpler one implies."""
        if not self.rows:
            return []
        found: dict[Term, None] = {}
        everywhere = np.ones(self.rows, dtype=bool)
        broad = dict(self._differences(everywhere))
        for atom in (*self._flags(), *broad, *self._orders(everywhere, wide=True), *self._costs(everywhere)):
            found[atom] = None
        in_phase: dict[Term, set[Term]] = {}
        for phase, where, within in self._phases(pointwise=pointwise):
            wider = set(found).union(*(in_phase.get(part, set()) for part in within))
            atoms = (*dict(self._differences(where)), *self._orders(where, wide=False), *self._costs(where))
            in_phase[phase] = {atom for atom in atoms if atom not in wider}
            found.update({implies(phase, atom): None for atom in atoms if atom not in wider})
        return [atom for atom in found if atom != TRUE]

    def _value(self, term: Term) -> Any:
        tick()
        return evaluate(term, self.columns, self.rows)

    def _flags(self) -> Iterator[Term]:
        for var in assigned(self.context.program.body):
            if var.sort == "list" and self.columns[same(var).name].all():
                yield same(var)

    def _differences(self, where: Any) -> Iterator[tuple[Term, None]]:
        for var in self.local:
            one, other = Var(var.name, var.sort, 1), Var(var.name, var.sort, 2)
            first, second = self.columns[str(one)][where], self.columns[str(other)][where]
            if (first == second).all():
                yield eq(one, other), None
                continue
            if var.sort == "bool":
                if (first <= second).all():
                    yield implies(one, other), None
                if (second <= first).all():
                    yield implies(other, one), None
                continue
            apart = first.astype(np.int64) - second.astype(np.int64)
            low, high = int(apart.min()), int(apart.max())
            limit = FARTHEST * self.widest
            if low == high:
                yield eq(one, add(other, Num(low))), None
            # What trials have reached, and the next number that the program or the adjacency speaks of.
            for most in {high, *_next(self.known, high)}:
                if abs(most) <= limit or most in self.known:
                    yield le(sub(one, other), Num(most)), None
            for least in {low, *(-n for n in _next(self.known, -low))}:
                if abs(least) <= limit or -least in self.known:
                    yield le(Num(least), sub(one, other)), None

    def _orders(self, where: Any, *, wide: bool) -> Iterator[Term]:
        counters = [Var(v.name, v.sort, 1) for v in self._indices()]
        others: list[Term] = [*counters, *self.marks]
        if wide:
            others += [ZERO, *self.public, *self._numbers()]
        for one in counters:
            first = self._value(one)[where]
            for other in others:
                if other == one:
                    continue
                second = self._value(other)[where]
                if (first < second).all():
                    yield lt(one, other)
                elif (first <= second).all():
                    yield le(one, other)
                if (first > second).all():
                    yield lt(other, one)
                elif (first >= second).all():
                    yield le(other, one)

    def _numbers(self) -> list[Term]:
        found = {part.value for test in self._tests() for part in subterms(test) if isinstance(part, Num)}
        return [Num(number) for number in sorted(found - {0})]

    def _indices(self) -> list[Var]:
        """Integers that count or are compared with counters, so that their order may matter."""
        found = dict.fromkeys(v for v in _counters(self.context) if v in self.local)
        output = self.context.program.output
        for var in (output, *followers(self.context)):
            if var.sort == "int" and var in self.local:
                found[var] = None
        return list(found)

    def _phases(self, *, pointwise: bool) -> list[tuple[Term, Any, tuple[Term, ...]]]:
        """Phases with the memories that are in them, and the phases that they are parts of."""
        single: list[Term] = []
        for var in self._indices():
            one = Var(var.name, "int", 1)
            for mark in self.marks:
                if mark == RESULT and not pointwise:
                    continue
                single += [le(one, mark), lt(mark, one), eq(one, mark), ne(one, mark)]
        # Of phases that were the same in all trials the first is kept: what counts first, what happens to differ last.
        for var in self.local:
            if var.sort == "bool":
                single += [Var(var.name, "bool", 1), not_(Var(var.name, "bool", 1))]
        for test in self._tests():
            single += [self.context.run(test, 1), not_(self.context.run(test, 1))]
        for var in self.local:
            one, other = Var(var.name, var.sort, 1), Var(var.name, var.sort, 2)
            single += [ne(one, other), eq(one, other)]
        kept: dict[bytes, tuple[Term, Any, tuple[Term, ...]]] = {}
        for phase in single:
            self._keep(phase, (), kept)
        pairs = list(kept.values())
        for (one_phase, _, _), (other_phase, _, _) in combinations(pairs[:14], 2):
            self._keep(and_(one_phase, other_phase), (one_phase, other_phase), kept)
        return list(kept.values())

    def _keep(
        self, phase: Term, within: tuple[Term, ...], kept: dict[bytes, tuple[Term, Any, tuple[Term, ...]]]
    ) -> None:
        where = np.asarray(self._value(phase), dtype=bool)
        if where.any() and not where.all():
            kept.setdefault(where.tobytes(), (phase, where, within))

    def _tests(self) -> list[Term]:
        found: dict[Term, None] = {}
        drawn = {s.target for s in statements_of(self.context.program.body) if isinstance(s, Sample)}
        for statement in statements_of(self.context.program.body):
            if isinstance(statement, If | While):
                for part in subterms(statement.test):
                    simple = isinstance(part, App) and part.op in ("<=", "<", "==") and not variables(part) & drawn
                    odd = any(isinstance(p, App) and p.op in ("read", "//", "%") for p in subterms(part))
                    if simple and not odd and sort_of(part) == "bool":
                        found[part] = None
        return list(found)

    def _costs(self, where: Any) -> Iterator[Term]:
        for base in self.context.units:
            ghost = cost(base)
            spent = self.columns[ghost.name][where]
            if not spent.any():
                yield le(ghost, ZERO)
                continue
            yield from self._bounded(ghost, spent, where, self._rates(base))

    def _rates(self, base: str) -> list[Term]:
        found: dict[Term, None] = {}
        for statement in statements_of(self.context.program.body):
            if isinstance(statement, Sample):
                for charge in charge_of(statement.law, self.context.program):
                    if charge.base == base:
                        rate = self.context.units[base].rate(charge)
                        steps = {1, 2, self.widest, 2 * self.widest}
                        if isinstance(statement.law, Gaussian):
                            steps = {step * step for step in steps}
                        found.update(dict.fromkeys(mul(Num(s), rate) for s in steps if s))
        return list(found)

    def _bounded(self, ghost: Var, spent: Any, where: Any, rates: list[Term]) -> Iterator[Term]:
        fixed: list[Term] = [
            ZERO,
            *rates,
            *(add(a, b) for a, b in combinations(rates, 2)),
            *(mul(Num(2), r) for r in rates),
        ]
        options = list(fixed)
        for var in (v for v in _counters(self.context) if v in self.local):
            one = Var(var.name, var.sort, 1)
            growth = [
                *rates,
                *(add(a, b) for a, b in combinations(rates, 2) if isinstance(a, Num) and isinstance(b, Num)),
            ]
            options += [
                add(fix, mul(rate, sub(one, begin))) for rate in growth for fix in fixed for begin in (ZERO, ONE)
            ]
        valid: dict[bytes, tuple[int, Term, Any]] = {}
        for most in options:
            limit = self._value(most)[where]
            if (spent <= limit).all():
                valid.setdefault(limit.tobytes(), (int(limit.sum()), most, limit))
        least: list[tuple[Term, Any]] = []
        for _, most, limit in sorted(valid.values(), key=lambda entry: entry[0]):
            if not any((smaller <= limit).all() for _, smaller in least):
                least.append((most, limit))
        for most, _ in least[:BOUNDS]:
            yield le(ghost, most)


def _next(numbers: list[int], least: int) -> list[int]:
    """The first number that is not below `least`, if there is one."""
    return [number for number in numbers if number >= least][:1]
