"""The tables of every kind of scale, rebuilt from the definition of the noise with 400 bits, tails included."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import pytest
from tests.cases import for_each
from tests.sampling.oracles import (
    FAMILIES,
    GAUSSIAN,
    KINDS,
    LAPLACE,
    SCALES,
    as_fraction,
    cell_of,
    energy,
    exp_minus,
    kind_of,
    precision_for,
    real,
    true_thresholds,
    true_weights,
)
from tests.sampling.streams import Choices, NeedBits

from viameter.sampling import families, noise
from viameter.sampling.alias import AliasTable
from viameter.sampling.engine import Engine
from viameter.sampling.families import Family, Gaussian, Laplace

CLOSE = 1e-60


def production_engine(kind: str, scale: Fraction) -> Engine:
    return noise.laplace_engine(scale) if kind == LAPLACE else noise.gaussian_engine(scale)


ENGINES = pytest.mark.parametrize(("kind", "scale"), [(kind, scale) for kind in KINDS for scale in SCALES])


@pytest.fixture
def engine(kind: str, scale: Fraction) -> Iterator[Engine]:
    made = production_engine(kind, scale)
    with gmpy2.context(precision=precision_for(made.family)):
        yield made


@lru_cache
def weights_of(kind: str, scale: Fraction) -> list[Any]:
    return true_weights(production_engine(kind, scale).family)


def relative(value: Any, truth: Any) -> float:
    return abs(float((value - truth) / truth))


@ENGINES
def test_engine_is_of_its_scale_and_its_cells_reach_far(engine: Engine, kind: str, scale: Fraction) -> None:
    family = engine.family
    assert type(family) is FAMILIES[kind]
    assert family.scale == scale
    assert 1 <= family.rows <= noise.ROWS
    assert family.start >= (16 if kind == LAPLACE else 6) * scale
    # Rows are no wider than they have to be.
    assert family.shift == 0 or (noise.ROWS << (family.shift - 1)) < (16 if kind == LAPLACE else 6) * scale


@ENGINES
def test_weights_are_enclosed_tightly(engine: Engine, kind: str, scale: Fraction) -> None:
    truth = weights_of(kind, scale)
    for bits in (64, 128, 333):
        enclosed = engine.family.weights(bits)
        assert len(enclosed) == len(truth)
        for (low, high), weight in zip(enclosed, truth, strict=True):
            assert low <= gmpy2.mul_2exp(weight, bits) <= high
            assert high - low <= 2


@ENGINES
def test_thresholds_are_in_range_and_their_first_bits_are_right(engine: Engine, kind: str, scale: Fraction) -> None:
    table = engine.table
    columns = 1 << table.column_bits
    assert len(table.alias) == len(table.first_bits) == columns >= 2 * engine.family.rows + 2 > columns // 2
    thresholds, last = true_thresholds(weights_of(kind, scale), table.alias, columns)
    for column, threshold in enumerate(thresholds):
        if column == last:
            assert abs(float(threshold - 1)) < CLOSE
            assert table.first_bits[column] == 1 << table.fraction_bits
        else:
            assert 0 <= threshold < 1
            assert table.first_bits[column] == int(gmpy2.floor(gmpy2.mul_2exp(threshold, table.fraction_bits)))
    assert table.column_bits + table.fraction_bits == engine.layout.first == 32


def boundary_results(table: AliasTable, column: int, threshold: Fraction) -> None:
    """Further words on both sides of a threshold decide, and the one at it asks for another, and so on."""
    scaled, before = threshold * (1 << table.fraction_bits), list[int]()
    fraction = scaled.numerator // scaled.denominator
    assert fraction == table.first_bits[column]
    for _ in range(2):
        scaled = (scaled - scaled.numerator // scaled.denominator) * (1 << 64)
        word = scaled.numerator // scaled.denominator
        for other in (word - 1, word + 1) if before else {0, word - 1, word + 1, (1 << 64) - 1} - {word}:
            if 0 <= other < 1 << 64:
                expected = column if other < word else table.alias[column]
                assert table.decide(column, fraction, Choices([*before, other])) == expected
        if threshold:
            with pytest.raises(NeedBits) as asked:
                table.decide(column, fraction, Choices([*before, word]))
            assert asked.value.count == 64
        else:
            assert table.decide(column, fraction, Choices([*before, word])) == table.alias[column]
        before.append(word)


@ENGINES
def test_a_fraction_that_does_not_decide_is_continued_to_the_true_threshold(
    engine: Engine, kind: str, scale: Fraction
) -> None:
    table = engine.table
    thresholds, last = true_thresholds(weights_of(kind, scale), table.alias, len(table.alias))
    columns = [column for column in range(len(table.alias)) if column != last]
    chosen = random.Random(1).sample(columns, min(2, len(columns)))
    # The tails' own columns have the smallest thresholds; columns without a cell have 0.
    tails = [column for column in (2 * engine.family.rows, 2 * engine.family.rows + 1) if column != last]
    for column in {*chosen, *tails, columns[-1]}:
        boundary_results(table, column, as_fraction(thresholds[column]))


@ENGINES
def test_fractions_that_decide_take_no_bits(engine: Engine, kind: str, scale: Fraction) -> None:
    table, no_bits = engine.table, Choices()
    for column, first in enumerate(table.first_bits):
        if first:
            assert table.decide(column, first - 1, no_bits) == table.decide(column, 0, no_bits) == column
        if first + 1 < 1 << table.fraction_bits:
            assert table.decide(column, first + 1, no_bits) == table.alias[column]
            assert table.decide(column, (1 << table.fraction_bits) - 1, no_bits) == table.alias[column]


@ENGINES
def test_cells_have_their_probabilities(engine: Engine, kind: str, scale: Fraction) -> None:
    """Rebuilt from the room's own weights, aliases and order: what a cell gets from its column and from others."""
    table, truth = engine.table, weights_of(kind, scale)
    columns = len(table.alias)
    assert sorted(table.order) == list(range(columns))
    place = {column: at for at, column in enumerate(table.order)}
    assert all(place[column] < place[table.alias[column]] for column in table.order[:-1])
    bits, sum_of_truth = gmpy2.get_context().precision, sum(truth)
    weights = [low for low, _ in table.weights(bits)]
    content = [columns * weight for weight in weights] + [0] * (columns - len(weights))
    total = sum(weights)
    for column in table.order[:-1]:
        content[table.alias[column]] -= total - content[column]
    assert content[table.order[-1]] == total
    mass = list(content)
    for column in table.order[:-1]:
        mass[table.alias[column]] += total - content[column]
    for cell, weight in enumerate(truth):
        assert relative(gmpy2.mpfr(mass[cell]) / (columns * total), weight / sum_of_truth) < CLOSE
    assert not any(mass[len(truth) :])


# The whole scheme


@dataclass
class Followed:
    """The probability of one way through a tail: every draw is told its result, and says how likely that is."""

    low: int
    count: int
    probability: Any = field(default_factory=lambda: gmpy2.mpfr(1))
    rates: list[Fraction] = field(default_factory=list)

    def bits(self, count: int) -> int:
        self.probability = self.probability / (1 << count)
        return self.low

    def bernoulli_exp(self, exponent: Fraction, stream: Any) -> bool:
        assert stream is self
        assert exponent >= 0
        self.probability *= exp_minus(exponent)
        return True

    def geometric_exp(self, rate: Fraction, stream: Any) -> int:
        assert stream is self
        self.rates.append(rate)
        self.probability *= -gmpy2.expm1(-real(rate)) * exp_minus(rate * self.count)
        return int(self.count)


def tail_probability(family: Family, x: int, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The chance that the tail that x is in, once picked, gives x."""
    sign, magnitude = int(x < 0), x if x >= 0 else -x - 1
    row, low = divmod(magnitude, 1 << family.shift)
    beyond = row - family.rows if isinstance(family, Laplace) else abs(x) - family.start - sign
    assert beyond >= 0
    way = Followed(low, beyond)
    with monkeypatch.context() as patch:
        patch.setattr(families, "bernoulli_exp", way.bernoulli_exp)
        patch.setattr(families, "geometric_exp", way.geometric_exp)
        assert family.tail(sign, way) == abs(x)  # type: ignore[arg-type]
    assert len(way.rates) == 1
    return way.probability


def points(family: Family) -> list[int]:
    """Values of several rows, on both sides of edges of cells, and in the tails, near and deep."""
    width, start = 1 << family.shift, family.start
    rows = sorted({0, 1, 2, family.rows // 2, family.rows - 1} & set(range(family.rows)))
    lows = set(range(width)) if width <= 64 else {0, 1, 2, 3, width // 3, width // 2, width - 2, width - 1}
    near = [row * width + low for row in rows for low in lows]
    scale = math.ceil(family.scale)
    deep = [start, start + 1, start + 2, start + width - 1, start + width, start + 5 * scale, start + 5 * width + 1]
    magnitudes = {*near, *deep, 2 * start + 3}
    return sorted({*magnitudes, *(-x for x in magnitudes), *(-x - 1 for x in magnitudes)})


@ENGINES
def test_every_value_is_proposed_and_accepted_in_proportion_to_its_pmf(
    engine: Engine, kind: str, scale: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    family = engine.family
    weights = weights_of(kind, scale)
    total = sum(weights)

    def chance(x: int) -> Any:
        cell, low = cell_of(family, x)
        if cell >= 2 * family.rows:
            return weights[cell] / total * tail_probability(family, x, monkeypatch)
        corner = family.corner(cell)
        assert abs(x) == corner + low
        return weights[cell] / total / (1 << family.shift) * exp_minus(family.exponent(corner, low))

    # One constant for all values: so given that something is accepted, values have exactly their probabilities.
    constant = chance(0)
    for x in points(family):
        assert relative(chance(x), constant * exp_minus(energy(kind, scale, x))) < CLOSE


@ENGINES
def test_a_refused_tail_is_drawn_again(
    engine: Engine, kind: str, scale: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(families, "bernoulli_exp", lambda *_: False)
    monkeypatch.setattr(families, "geometric_exp", lambda *_: 1)
    assert engine.family.tail(0, Followed(0, 1)) is None  # type: ignore[arg-type]
    assert engine.family.tail(1, Followed(0, 1)) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("sign", [0, 1])
@pytest.mark.parametrize(
    "family",
    [
        Laplace(Fraction(3), 2, 0),
        Laplace(Fraction(7, 2), 3, 2),
        Laplace(Fraction(1, 100), 1, 0),
        Gaussian(Fraction(3), 2, 0),
        Gaussian(Fraction(7, 2), 3, 2),
        Gaussian(Fraction(1, 100), 1, 0),
    ],
    ids=str,
)
def test_tails_are_in_proportion_to_the_pmf_value_by_value(
    family: Family, sign: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = kind_of(family)
    values = range(family.start, family.start + 40) if not sign else range(-family.start - 40, -family.start)
    with gmpy2.context(precision=precision_for(family)):
        ratios = [tail_probability(family, x, monkeypatch) / exp_minus(energy(kind, family.scale, x)) for x in values]
        assert all(relative(ratio, ratios[0]) < CLOSE for ratio in ratios)


# What the float paths rest on


@pytest.mark.parametrize("kind", KINDS)
def test_exponents_of_acceptance_are_at_most_one_at_any_scale(kind: str) -> None:
    """The Taylor polynomial is good up to 1: no scale may cut cells so coarsely that an exponent is larger."""
    drawn = random.Random(3)
    scales = [Fraction(drawn.randrange(1, 2**60), drawn.randrange(1, 2**20)) for _ in range(300)]
    near = (0, Fraction(1, 7), -Fraction(1, 9))
    scales += [Fraction(2) ** power + delta for power in range(-3, 52) for delta in near]
    edge = Fraction(511, 25) if kind == LAPLACE else Fraction(1022, 19)
    scales += [edge * 2**power + delta for power in range(40) for delta in (0, Fraction(1, 10**9))]
    reach = noise._LAPLACE_REACH if kind == LAPLACE else noise._GAUSSIAN_REACH
    largest = Fraction(0)
    for scale in scales:
        if 0 < scale <= 2**52:
            family = noise._cut(FAMILIES[kind], scale, reach)
            top = family.exponent(family.corner(2 * family.rows - 1), (1 << family.shift) - 1)
            largest = max(largest, top)
    assert Fraction(1, 20) < largest < Fraction(1, 2)


@for_each("kind", KINDS)
@for_each("scale", SCALES)
def test_slopes_give_the_exponent(kind: str, scale: Fraction) -> None:
    family = production_engine(kind, scale).family
    slope, curvature = family.slopes()
    for cell in {0, 1, 2, 3, 2 * family.rows - 1} & set(range(2 * family.rows)):
        corner = family.corner(cell)
        assert corner == (cell // 2) * 2**family.shift + cell % 2
        for low in (0, 1, (1 << family.shift) - 1):
            assert family.exponent(corner, low) == low * (slope(corner) + low * curvature)
            expected = energy(kind, scale, corner + low) - energy(kind, scale, corner)
            assert family.exponent(corner, low) == expected


@pytest.mark.parametrize(("kind", "other"), [(LAPLACE, GAUSSIAN), (GAUSSIAN, LAPLACE)])
def test_tables_of_one_scale_are_not_taken_for_another(kind: str, other: str) -> None:
    scales = [Fraction(7, 3), Fraction(7, 3) + Fraction(1, 10**30), Fraction(7), Fraction(1, 7)]
    engines = [production_engine(one, scale) for one in (kind, other) for scale in scales]
    assert [engine.family.scale for engine in engines] == scales * 2
    assert len({id(engine) for engine in engines}) == len(engines)
    assert production_engine(kind, Fraction(14, 6)) is engines[0]
