"""Private selection of keys: which keys enough units have, though nobody listed them; a Measurement of a relation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter.arith import dyadic
from viameter.core import Loss, Measurement, by
from viameter.core.deadlines import while_awaited
from viameter.errors import NoTheorem, NumberError, ParameterError
from viameter.measures import ApproxDP, ApproxZCDP
from viameter.measures.amounts import ApproxLoss, ApproxZCDPLoss
from viameter.sampling import discrete_gaussian, discrete_laplace
from viameter.sampling.noise import read_scale
from viameter.tables.bounding import Limits, statement
from viameter.tables.collecting import MOST, Order, Progress, fresh_salt
from viameter.tables.contributing import limits_of
from viameter.tables.engines import Statement, run
from viameter.tables.estimates import Noise
from viameter.tables.expressions import Kind, Schema
from viameter.tables.relation import Relation
from viameter.tables.rows import RESERVED, Rows
from viameter.tables.selection_theorems import gaussian_thresholded_keys_of_units, thresholded_keys_of_units

Key = tuple[Any, ...]
COUNT = f"{RESERVED}units"
LARGEST_THRESHOLD = 2**61
BITS = 64


@dataclass(frozen=True, slots=True)
class Selection:
    """How keys are found that nobody listed: a measurement that shows them with noisy counts of their units."""

    measurement: Measurement
    noise: Noise
    threshold: int
    limits: Limits
    """What counts of a unit."""
    counting: Counting

    def surely_shown(self, alpha: Fraction) -> int:
        """How many units a key has that is shown but for a chance of alpha."""
        return self.threshold + int(self.noise.width(alpha))


@dataclass(frozen=True, slots=True)
class Moves:
    """What one unit counts: in all keys together, and in each; and whether a step puts other rows in their place."""

    total: int
    each: int
    replaced: bool = False

    @classmethod
    def of(cls, relation: Relation, limits: Limits) -> Moves:
        """What a unit counts whose rows are limited to these."""
        rows = unit_rows(relation)
        total, each = (_whole(limits.most_groups), 1) if rows is None else (rows, rows)
        return cls(total, each, relation.unit.replaces)

    @property
    def sides(self) -> int:
        """2 where what leaves and what enters both count, else 1."""
        return 2 if self.replaced else 1


def unit_rows(relation: Relation) -> int | None:
    """How many rows come of one unit where rows have no names, so that nothing can be counted but they; else None."""
    rows = relation.unit.rows_without_limit
    return None if rows is None else rows * relation.fanout


def key_limits(relation: Relation, asked: Limits) -> Limits:
    """What counts of a unit: so many keys, once each."""
    limits = limits_of(relation, asked.tightened(Limits(per_group=1)))
    return limits if unit_rows(relation) is not None else Limits(groups=_whole(limits.most_groups), per_group=1)


def require_delta(loss: Any) -> None:
    """Refuse what a measure of losses without a delta cannot pay for, and say which can."""
    if loss.measure not in (ApproxDP, ApproxZCDP):
        raise NoTheorem(
            f"keys that nobody listed are shown at the cost of a delta, which {loss.measure!r} does not have: open the "
            "table with a budget such as vm.approx(1, '1e-6') or vm.approx_zcdp('1/2', '1e-6'), or list the keys, "
            "keys=[...]"
        )


def require_keys(schema: Schema, columns: Sequence[str]) -> None:
    """Refuse columns that are no keys."""
    for name in columns:
        if schema.require(name).kind is Kind.REAL:
            raise ParameterError(
                f"group_by: {name!r} is real; cut it into bins first, as in edges=[0, 10, 20], since keys must be exact"
            )
    if len(set(columns)) < len(columns):
        raise ParameterError(f"group_by: one of {', '.join(columns)} is named twice")


def select_keys(
    relation: Relation,
    columns: Sequence[str],
    *,
    loss: Loss,
    asked: Limits,
    order: Order = "native",
    progress: Progress | None = None,
) -> Selection:
    """The selection that costs at most this loss for one unit: approx(epsilon, delta) or approx_zcdp(rho, delta)."""
    require_delta(loss)
    require_keys(relation.schema, columns)
    limits = key_limits(relation, asked)
    moves = Moves.of(relation, limits)
    assert isinstance(loss, ApproxLoss | ApproxZCDPLoss)
    if not 0 < loss.delta < 1:
        raise NumberError(
            f"{loss!r}: keys that nobody listed are shown at the cost of a delta between 0 and 1, such as 1e-6"
        )
    theorem: Any
    if isinstance(loss, ApproxLoss):
        theorem, noise = thresholded_keys_of_units, Noise("laplace", moves.sides * moves.total / Fraction(loss.epsilon))
    else:
        square = Fraction(moves.sides * moves.total * moves.each) / (2 * Fraction(loss.rho))
        theorem, noise = gaussian_thresholded_keys_of_units, Noise("gaussian", dyadic.sqrt_up(square, bits=BITS))
    scale, unit = read_scale(noise.scale), {"total": moves.total, "each": moves.each, "replaced": moves.replaced}
    threshold = _least_threshold(lambda t: theorem(Fraction(1), scale=scale, threshold=t, **unit).delta <= loss.delta)
    counting = Counting(tuple(columns), limits, order, progress)
    made = Measurement(
        input_space=relation.space,
        measure=loss.measure,
        function=lambda rows: shown(counting(rows), noise, threshold),
        bound=by(theorem, scale=scale, threshold=threshold, **unit),
        made_by=f"keys of {', '.join(columns)} from a noisy count of {threshold} on ({_counted(relation, limits)})",
    )
    for earlier in reversed(relation.steps):
        made = earlier >> made
    return Selection(made, noise, threshold, limits, counting)


@dataclass(frozen=True, slots=True)
class Counting:
    """Count the units of each key that occurs, of each unit as many keys as limits allow."""

    columns: tuple[str, ...]
    limits: Limits
    order: Order = "native"
    progress: Progress | None = None

    def __call__(self, rows: Rows) -> dict[Key, int]:
        """The number of units by key; exact, and private."""
        query = self._statement(rows)
        found: dict[Key, int] = {}
        for row in while_awaited(run(rows.on, query, progress=self.progress)):
            key = tuple(row[name] for name in self.columns)
            if all(not isinstance(value, str) or "\x00" not in value for value in key):
                # Two that an engine tells apart and Python does not: the larger one moves by no more than either.
                found[key] = max(found.get(key, 0), min(int(row[COUNT]), MOST))
        return found

    def compile(self, rows: Rows) -> None:
        """Compile the query, and refuse it if it is too large; what runs later finds it."""
        self._statement(rows, is_limited=True)

    def _statement(self, rows: Rows, *, is_limited: bool = False) -> Statement:
        return statement(
            rows.on,
            lambda: rows.expression,
            known_by=rows.expression.op(),
            unit=rows.unit,
            groups=self.columns,
            totals={COUNT: 1},
            limits=self.limits,
            salt=fresh_salt(),
            order=self.order,
            is_limited=is_limited,
        )


def shown(counts: dict[Key, int], noise: Noise, threshold: int) -> dict[Key, int]:
    """The keys whose noisy count reaches the threshold, with it; in the order of keys, which tells nothing of rows."""
    keys = sorted(counts, key=sortable)
    draw = discrete_laplace if noise.kind == "laplace" else discrete_gaussian
    added = draw(len(keys), noise.scale).tolist()
    # Stopping at 2^62 - 1 makes what is shown a function of the true sum, also where noise stopped at 64 bits.
    noisy = {key: min(counts[key] + one, MOST) for key, one in zip(keys, added, strict=True)}
    return {key: count for key, count in noisy.items() if count >= threshold}


def sortable(key: Key) -> tuple[Any, ...]:
    """By what keys are ordered: NULL comes last."""
    return tuple((value is None, value) for value in key)


def _least_threshold(enough: Callable[[int], bool]) -> int:
    low, high = 0, 1
    while not enough(high):
        low, high = high, 2 * high
        if high > LARGEST_THRESHOLD:
            raise NumberError(
                "so small a loss leaves no key to be shown: spend more, or let fewer keys of a unit count"
            )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _whole(limit: Any) -> int:
    return int(Fraction(limit))


def _counted(relation: Relation, limits: Limits) -> str:
    rows = unit_rows(relation)
    return f"of a {relation.unit.name} {f'{rows} rows' if rows is not None else f'{limits.groups} keys, once each'}"
