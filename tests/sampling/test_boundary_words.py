"""Words at full width that are as near as can be to where a decision changes: floats decide only what they may.

Most words are far from any boundary, and draws by the million would not meet the others. Here they are written down:
beside exp(-x) and beside 1 - x, in every kind of engine that the library uses. Scales are also made such that exp(-x),
or a threshold of an alias table, is within 1e-50 of a word, on either side, so that a float cannot know.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.sampling.oracles import (
    GAUSSIAN,
    KINDS,
    LAPLACE,
    SCALES,
    as_fraction,
    energy,
    exp_fraction,
    exp_minus,
    kind_of,
    real,
    true_thresholds,
    true_weights,
    value_of,
)
from tests.sampling.streams import Choices, Fill, NeedBits, batch, by_draw, by_one, by_vector

from viameter.sampling import engine as engine_module
from viameter.sampling import noise
from viameter.sampling.alias import AliasTable
from viameter.sampling.engine import Engine
from viameter.sampling.families import Family, Gaussian, Laplace

ACCEPTED, REFUSED, OPEN = "accepted", "refused", "open"


def engine_of(kind: str, scale: Fraction) -> Engine:
    return noise.laplace_engine(scale) if kind == LAPLACE else noise.gaussian_engine(scale)


def word_of(engine: Engine, cell: int) -> int:
    """A first word that picks a cell and leaves no doubt."""
    table = engine.table
    if table.first_bits[cell]:
        return cell << table.fraction_bits
    column = next(column for column, alias in enumerate(table.alias) if alias == cell and column != cell)
    fraction = (1 << table.fraction_bits) - 1
    assert fraction > table.first_bits[column]
    return column << table.fraction_bits | fraction


@lru_cache(maxsize=100_000)
def acceptance(family: Family, cell: int, low: int) -> Fraction:
    kind, corner = kind_of(family), (cell // 2) * (1 << family.shift) + cell % 2
    x = energy(kind, family.scale, corner + low) - energy(kind, family.scale, corner)
    return exp_fraction(x) if x else Fraction(1)


def decision(engine: Engine, cell: int, low: int, drawn: int) -> str:
    scaled = acceptance(engine.family, cell, low) * (1 << engine._accept_bits)
    return ACCEPTED if drawn + 1 <= scaled else REFUSED if drawn >= scaled else OPEN


def words_beside(engine: Engine, cell: int, low: int, spread: Sequence[int]) -> list[int]:
    """The bits of a uniform number around exp(-x), around 1 - x, and at the ends."""
    bits = engine._accept_bits
    chance = acceptance(engine.family, cell, low)
    corner = engine.family.corner(cell)
    straight = 1 - engine.family.exponent(corner, low)
    middles = [number.numerator * (1 << bits) // number.denominator for number in (chance, straight)]
    found = {0, (1 << bits) - 1, *(middle + delta for middle in middles for delta in spread)}
    return sorted(word for word in found if 0 <= word < 1 << bits)


def check(engine: Engine, places: Sequence[tuple[int, int, int]]) -> dict[str, int]:
    """(Cell, L, bits of the uniform number): both paths decide them as they must, and ask for bits where they must."""
    family = engine.family
    truths = [decision(engine, *place) for place in places]
    words = [(word_of(engine, cell), low << engine._accept_bits | drawn) for cell, low, drawn in places]
    values = [value_of(family, cell, low) for cell, low, _ in places]
    # What is decided takes no bits, in one batch.
    decided = [at for at, truth in enumerate(truths) if truth != OPEN]
    kept = [values[at] for at in decided if truths[at] == ACCEPTED]
    assert batch(engine, [words[at] for at in decided], Choices()) == kept
    # What is open is continued: by zeros it is accepted, by ones it is refused.
    for bit in (0, 1):
        expected = [
            value
            for value, truth in zip(values, truths, strict=True)
            if truth == ACCEPTED or (truth == OPEN and not bit)
        ]
        assert batch(engine, words, Fill(bit)) == expected
    for (first, second), truth, value in zip(words, truths, values, strict=True):
        if truth == OPEN:
            for path in (by_draw, by_vector):
                with pytest.raises(NeedBits):
                    path(engine, first, second, Choices())
        else:
            expected_one = value if truth == ACCEPTED else None
            assert by_draw(engine, first, second, Choices()) == expected_one
            assert by_one(engine, first, second, Choices()) == expected_one
    return {name: truths.count(name) for name in (ACCEPTED, REFUSED, OPEN)}


BY_ROWS = [(kind, scale) for kind in KINDS for scale in SCALES if engine_of(kind, scale).family.shift]


@pytest.mark.parametrize(("kind", "scale"), BY_ROWS, ids=str)
def test_words_beside_a_boundary_are_decided_as_they_must_be(kind: str, scale: Fraction) -> None:
    engine = engine_of(kind, scale)
    family, draw = engine.family, random.Random(5)
    size, cells = 1 << family.shift, 2 * family.rows
    chosen = {0, 1, 2, 3, cells - 2, cells - 1, draw.randrange(cells)}
    lows = {0, 1, 2, size // 2, size - 1, draw.randrange(size)} & {*range(3), *range(size // 2, size)} or {0, 1}
    # A word where the upper bits of L change, and one where all lower bits are 1.
    lows |= {size // 4 - 1, size // 4} if size >= 8 else set()
    spread = (-1000, -3, -2, -1, 0, 1, 2, 3, 1000)
    places = [
        (cell, low, drawn)
        for cell in sorted(chosen)
        for low in sorted(lows)
        for drawn in words_beside(engine, cell, low, spread)
    ]
    seen = check(engine, places)
    assert all(seen.values())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [Fraction(1000), Fraction(2**40)], ids=str)
def test_a_word_in_every_cell(kind: str, scale: Fraction) -> None:
    """Every cell, from its own column or from another's, with the longest L."""
    engine = engine_of(kind, scale)
    low = (1 << engine.family.shift) - 1
    places = [
        (cell, low, drawn)
        for cell in range(2 * engine.family.rows)
        for drawn in words_beside(engine, cell, low, (-1, 1))
    ]
    assert all(decision(engine, *place) for place in places)
    truths = [decision(engine, *place) for place in places]
    words = [(word_of(engine, cell), low << engine._accept_bits | drawn) for cell, low, drawn in places]
    decided = [at for at, truth in enumerate(truths) if truth != OPEN]
    expected = [value_of(engine.family, places[at][0], low) for at in decided if truths[at] == ACCEPTED]
    assert batch(engine, [words[at] for at in decided], Choices()) == expected


# Scales for which a float cannot know


def rounded(number: Any, *, up: bool) -> Fraction:
    """To 50 digits after the first, on the side named."""
    exact = as_fraction(number)
    unit = Fraction(10) ** (50 - len(str(int(exact) or 1)))
    return Fraction(int(exact * unit) + up) / unit


def nearly(kind: str, roughly: int, cell_row: int, low: int, part: Fraction, *, above: bool) -> tuple[Engine, int, int]:
    """An engine with a cell such that exp(-x) is within 1e-45 of some n 2^-k, on the side named; the cell and n."""
    guess = engine_of(kind, Fraction(roughly))
    bits, shift = guess._accept_bits, guess.family.shift
    cell = 2 * cell_row
    corner = cell_row << shift
    n = int((1 - (1 - acceptance(guess.family, cell, low)) * part) * (1 << bits))
    with gmpy2.context(precision=400):
        x = -gmpy2.log(real(Fraction(n, 1 << bits)))
        # A larger scale makes x smaller, and exp(-x) larger.
        scale = low / x if kind == LAPLACE else gmpy2.sqrt(low * (low + 2 * corner) / (2 * x))
        engine = engine_of(kind, rounded(scale, up=above))
    assert (engine._accept_bits, engine.family.shift) == (bits, shift)
    away = acceptance(engine.family, cell, low) * (1 << bits) - n
    assert 0 < away < Fraction(1, 10**35) if above else 0 > away > -Fraction(1, 10**35)
    return engine, cell, n


@pytest.mark.parametrize("above", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("roughly", [100, 1000, 30_000, 10**6, 2**40, 2**51])
def test_where_a_float_cannot_know_integers_decide(kind: str, roughly: int, above: bool) -> None:
    for cell_row in (0, 1, 7, 100):
        for numerator in range(60, 100, 7):
            low = (1 << engine_of(kind, Fraction(roughly)).family.shift) - 1
            engine, cell, n = nearly(kind, roughly, cell_row, low, Fraction(numerator, 100), above=above)
            places = [(cell, low, drawn) for drawn in range(n - 2, n + 2)]
            truths = [decision(engine, *place) for place in places]
            # u in [n - 1, n) 2^-k is below exp(-x) only if exp(-x) is above n 2^-k.
            expected = [ACCEPTED, ACCEPTED, OPEN, REFUSED] if above else [ACCEPTED, OPEN, REFUSED, REFUSED]
            assert truths == expected
            check(engine, places)


def test_further_bits_are_compared_with_all_the_bits_of_the_chance() -> None:
    """exp(-x) is n 2^-k and less than 1e-45 more: 64 further bits are all 0, and so are the next."""
    engine, cell, n = nearly(LAPLACE, 1000, 3, 63, Fraction(9, 10), above=True)
    word = (word_of(engine, cell), 63 << engine._accept_bits | n)
    for path in (by_draw, by_vector):
        assert path(engine, *word, Choices([1])) is None
        assert path(engine, *word, Choices([0, 1 << 63])) is None
        with pytest.raises(NeedBits):
            path(engine, *word, Choices([0]))
        assert path(engine, *word, Choices([0, 0, 0])) == value_of(engine.family, cell, 63)


@pytest.mark.parametrize("above", [False, True])
def test_a_cell_that_is_nearly_as_heavy_as_a_column_is_settled_on_its_true_side(above: bool) -> None:
    """With exp(-1/s) = 3/5 the cell of 0 would fill its column exactly: 4 weights 1, t, t/(1 - t), t^2/(1 - t)."""
    with gmpy2.context(precision=400):
        scale = rounded(1 / gmpy2.log(real(Fraction(5, 3))), up=above)
        family = Laplace(scale, 1, 0)
        asked: list[int] = []

        class Counted(Laplace):
            def weights(self, bits: int) -> list[tuple[int, int]]:
                asked.append(bits)
                return super().weights(bits)

        table = AliasTable.build(Counted(scale, 1, 0).weights, column_bits=2, fraction_bits=3)
        assert asked == [128, 256], "128 bits do not tell"
        weights = true_weights(family)
        assert (4 * weights[0] < sum(weights)) == above
        thresholds, last = true_thresholds(weights, table.alias, 4)
        for column, threshold in enumerate(thresholds):
            assert -1e-100 < threshold < 1 + 1e-100
            assert column == last or table.first_bits[column] == int(gmpy2.floor(threshold * 8))


@pytest.mark.parametrize("above", [False, True])
def test_a_threshold_that_is_nearly_a_word_is_on_its_true_side(above: bool) -> None:
    """The threshold of the column of -1 is 4t(1 - t)/(1 + t): 5/8 with an irrational t, and a scale next to it."""
    with gmpy2.context(precision=400):
        # 4t(1 - t) = 5/8 (1 + t), the smaller solution.
        b, c = Fraction(-27, 32), Fraction(5, 32)
        t = (-real(b) - gmpy2.sqrt(real(b * b - 4 * c))) / 2
        scale = rounded(-1 / gmpy2.log(t), up=above)
        asked: list[int] = []

        class Counted(Laplace):
            def weights(self, bits: int) -> list[tuple[int, int]]:
                asked.append(bits)
                return super().weights(bits)

        table = AliasTable.build(Counted(scale, 1, 0).weights, column_bits=2, fraction_bits=3)
        assert asked == [128, 256], "128 bits do not tell"
        weights = true_weights(Laplace(scale, 1, 0))
        own = 4 * weights[1] / sum(weights)
        assert (own > real(Fraction(5, 8))) == above
        assert table.first_bits[1] == (5 if above else 4)
        # The word at the threshold is continued, by 45 digits of zeros or ones.
        fraction = table.first_bits[1]
        further = [0, 0] if above else [(1 << 64) - 1] * 2
        with pytest.raises(NeedBits):
            table.decide(1, fraction, Choices(further))
        assert table.decide(1, fraction, Choices([*further, 0])) == (1 if above else 1)
        assert table.decide(1, fraction, Choices([*further, (1 << 64) - 1])) == table.alias[1]


# The polynomial


def test_the_polynomial_is_as_near_as_its_margin_asks() -> None:
    x = np.concatenate([np.linspace(0, 1, 2001), np.geomspace(1e-20, 1, 500)])
    near = engine_module._taylor_exp(x.copy())
    with gmpy2.context(precision=200):
        errors = [
            abs(float(gmpy2.mpfr(y) - gmpy2.exp(-gmpy2.mpfr(z))))
            for y, z in zip(near.tolist(), x.tolist(), strict=True)
        ]
    # The remainder of the series, and roundings: less than a fifth of the margin.
    assert max(errors) < 1 / 6227020800 + 1e-14 < engine_module._NEAR / 5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_float_exponents_are_within_their_margin(kind: str, scale: Fraction) -> None:
    """The slopes that floats are computed from are the family's, rounded once."""
    engine = engine_of(kind, scale)
    slope, curvature = engine.family.slopes()
    assert engine._slopes == (float(slope(1)), float(curvature))
    assert engine._slopes[0] > 0
    assert (engine._slopes[1] > 0) == (kind == GAUSSIAN)


@pytest.mark.parametrize(("kind", "scale"), BY_ROWS, ids=str)
def test_the_first_step_rests_on_upper_bounds(kind: str, scale: Fraction) -> None:
    """x <= L times the steepest slope, for every L of every cell; and not by much more."""
    engine = engine_of(kind, scale)
    family, top = engine.family, (1 << engine.family.shift) - 1
    for cell in range(2 * family.rows):
        bound = Fraction(engine._steepest[cell], 1 << 64)
        corner = family.corner(cell)
        for low in {1, top}:
            assert family.exponent(corner, low) <= low * bound
        assert top * bound <= family.exponent(corner, top) * (1 + Fraction(2, top)) + Fraction(top, 1 << 63)


def test_exponents_above_one_are_left_to_integers() -> None:
    for family in (Laplace(Fraction(2), 3, 4), Gaussian(Fraction(3), 3, 3)):
        engine = Engine(family)
        places = [
            (cell, low, drawn)
            for cell in range(2 * family.rows)
            for low in range(1 << family.shift)
            for drawn in words_beside(engine, cell, low, (-2, -1, 0, 1, 2))
        ]
        assert any(family.exponent(family.corner(cell), low) > 5 for cell, low, _ in places)
        assert all(check(engine, places).values())


def test_these_tests_can_see_a_wrong_word() -> None:
    """`exp_minus` and `acceptance` agree with what the engine's own comparison rests on."""
    family = Laplace(Fraction(1000), 391, 6)
    with gmpy2.context(precision=100):
        assert abs(float(exp_minus(Fraction(63, 1000)) - real(acceptance(family, 5, 63)))) < 1e-29
