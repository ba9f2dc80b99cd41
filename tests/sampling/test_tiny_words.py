"""Engines whose words have few bits, so that what is rare at full width happens all the time; every word is tried.

A prototype once had an error of probability exp(-24), which no statistic of draws can see. Here every combination of
words is enumerated, and every continuation of those that do not decide, in exact fractions.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.cases import for_each
from tests.sampling.oracles import (
    PRECISION,
    as_fraction,
    bin_probabilities,
    binned,
    cell_of,
    energy,
    exp_fraction,
    exp_minus,
    fit,
    kind_of,
    pmf,
    precision_for,
    true_thresholds,
    true_weights,
    value_of,
)
from tests.sampling.streams import (
    PATHS,
    Choices,
    Explored,
    Fill,
    NeedBits,
    TinyWords,
    all_words,
    batch,
    bernoulli_module,
    by_draw,
    by_one,
    by_vector,
    explore,
    tiny_engine,
    use_coins,
    wide_classes,
)

from viameter.sampling import engine as engine_module
from viameter.sampling import noise
from viameter.sampling.engine import LARGEST, Engine
from viameter.sampling.entropy import Stream, Tape
from viameter.sampling.families import Family, Gaussian, Laplace

# Family, bits of the fraction, bits of acceptance, bits of L in the second word.
TINY: list[tuple[Family, int, int, int]] = [
    # Single values: nothing is refused.
    (Laplace(Fraction(3, 2), 3, 0), 2, 0, 0),
    (Laplace(Fraction(1, 3), 1, 0), 3, 0, 0),
    (Gaussian(Fraction(3, 2), 3, 0), 2, 0, 0),
    (Gaussian(Fraction(3, 4), 1, 0), 3, 0, 0),
    # Rows of 2, 4 and 8 values; L in one word or in two; columns that have no cell of their own.
    (Laplace(Fraction(3), 3, 1), 2, 3, 1),
    (Laplace(Fraction(7, 2), 3, 2), 1, 2, 1),
    (Laplace(Fraction(8), 2, 3), 0, 1, 3),
    (Laplace(Fraction(15), 3, 3), 1, 2, 1),
    (Laplace(Fraction(20), 1, 2), 1, 4, 2),
    (Gaussian(Fraction(3), 3, 1), 2, 3, 1),
    (Gaussian(Fraction(13, 2), 3, 2), 1, 3, 1),
    (Gaussian(Fraction(7), 1, 3), 0, 1, 3),
    (Gaussian(Fraction(15), 3, 3), 1, 2, 1),
    (Gaussian(Fraction(12), 2, 2), 1, 4, 2),
    # So coarse that an exponent is above 1, and that sums would leave 32 bits.
    (Laplace(Fraction(2), 2, 2), 1, 3, 1),
    (Gaussian(Fraction(2), 2, 2), 1, 3, 2),
]
IDS = [f"{kind_of(family)}-{family.scale}-{family.rows}x{1 << family.shift}" for family, *_ in TINY]
EVERY_TINY = pytest.mark.parametrize("number", range(len(TINY)), ids=IDS)
EVERY_PATH = pytest.mark.parametrize("path", PATHS)

OPEN_CELL, TAIL, OPEN_ACCEPTANCE = "open cell", "tail", "open acceptance"
Expected = int | None | str
"""A value, None for a refusal, or why more bits are needed."""


@lru_cache
def tiny(number: int) -> Engine:
    family, fraction, accept, high = TINY[number]
    return tiny_engine(family, fraction=fraction, accept=accept, high=high)


@lru_cache
def thresholds_of(number: int) -> tuple[list[Fraction], int]:
    engine = tiny(number)
    with gmpy2.context(precision=precision_for(engine.family)):
        found, last = true_thresholds(true_weights(engine.family), engine.table.alias, len(engine.table.alias))
    return [as_fraction(threshold) for threshold in found], last


@lru_cache
def acceptance(family: Family, cell: int, low: int) -> Fraction:
    """By the definition: how much less likely a value is than the first of its cell."""
    kind, corner = kind_of(family), (cell // 2) * (1 << family.shift) + cell % 2
    x = energy(kind, family.scale, corner + low) - energy(kind, family.scale, corner)
    return exp_fraction(x)


def expected(number: int, first: int, second: int) -> Expected:
    """What the words decide, computed from the law and the aliases alone."""
    family, fraction_bits, accept_bits, _ = TINY[number]
    engine = tiny(number)
    thresholds, last = thresholds_of(number)
    column, fraction = divmod(first, 1 << fraction_bits)
    scaled = thresholds[column] * (1 << fraction_bits)
    if column != last and scaled.numerator // scaled.denominator == fraction:
        return OPEN_CELL
    cell = column if column == last or fraction < scaled else engine.table.alias[column]
    if cell >= 2 * family.rows:
        return TAIL
    low, drawn = divmod(second, 1 << accept_bits)
    chance = acceptance(family, cell, low)
    if drawn + 1 <= chance * (1 << accept_bits):
        return value_of(family, cell, low)
    if drawn >= chance * (1 << accept_bits):
        return None
    return OPEN_ACCEPTANCE


@lru_cache
def classified(number: int) -> dict[tuple[int, int], Expected]:
    return {words: expected(number, *words) for words in all_words(tiny(number))}


def test_every_rare_path_is_common_here() -> None:
    for kind in (Laplace, Gaussian):
        for by_rows in (False, True):
            numbers = [
                n for n, (family, *_) in enumerate(TINY) if isinstance(family, kind) and by_rows == (family.shift > 0)
            ]
            rare = (OPEN_CELL, TAIL, OPEN_ACCEPTANCE) if by_rows else (OPEN_CELL, TAIL)
            for way in rare:
                assert sum(way in classified(number).values() for number in numbers) >= 2
    for number in range(len(TINY)):
        assert OPEN_CELL in classified(number).values()


@pytest.mark.parametrize("kind", [Laplace, Gaussian])
def test_words_that_are_refused_are_common_too(kind: type[Family]) -> None:
    refused = [
        number
        for number in range(len(TINY))
        if isinstance(TINY[number][0], kind) and None in classified(number).values()
    ]
    assert len(refused) >= 2


@EVERY_TINY
@EVERY_PATH
def test_every_word_is_decided_as_it_must_be(number: int, path: str) -> None:
    """With no further bits: the words that decide do, with the right result, and all others ask for more."""
    engine = tiny(number)
    for (first, second), truth in classified(number).items():
        try:
            result: Expected = PATHS[path](engine, first, second, Choices())
        except NeedBits:
            assert isinstance(truth, str), f"{first}, {second} asked for more bits: {truth} is decided"
        else:
            assert result == truth, f"{first}, {second}"


@EVERY_TINY
def test_both_paths_continue_a_word_in_the_same_way(number: int) -> None:
    engine, random = tiny(number), np.random.default_rng(number)
    for way in (OPEN_CELL, TAIL, OPEN_ACCEPTANCE):
        places = [words for words, truth in classified(number).items() if truth == way]
        for first, second in places[:: 1 + len(places) // 16]:
            for _ in range(2):
                further = [int(word) for word in random.integers(2**63, size=40)]
                tapes = [Bits64(further), Bits64(further)]
                assert by_one(engine, first, second, tapes[0]) == by_vector(engine, first, second, tapes[1])
                assert tapes[0].used == tapes[1].used > 0


class Bits64(Choices):
    """Numbers of 63 bits, of which each request takes the upper bits of one."""

    def bits(self, count: int) -> int:
        number = self.choices[self.used]
        self.used += 1
        return number << 1 >> (64 - count) if count < 64 else number << 1 | (number & 1)


@EVERY_TINY
def test_all_words_at_once_give_what_each_gives(number: int) -> None:
    engine = tiny(number)
    decided = [words for words, truth in classified(number).items() if not isinstance(truth, str)]
    kept = [classified(number)[words] for words in decided]
    assert batch(engine, decided, Choices()) == [value for value in kept if value is not None]
    # Now with those that are continued by zeros or by ones among them. A tail of zeros would not end.
    for bit in (0, 1):
        slow = {TAIL, OPEN_CELL}
        words = [words for words, truth in classified(number).items() if truth not in slow]
        if bit:
            places = [words for words, truth in classified(number).items() if truth in slow]
            words = sorted([*words, *places[:: 1 + len(places) // 32]])
        single = [by_one(engine, first, second, Fill(bit)) for first, second in words]
        assert batch(engine, words, Fill(bit)) == [value for value in single if value is not None]
        for place, truth in enumerate(map(classified(number).__getitem__, words)):
            if truth == OPEN_ACCEPTANCE:
                assert (single[place] is None) == bool(bit)


def test_the_vector_path_goes_through_all_its_branches(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, int] = {"taylor": 0, "special": 0, "exact": 0}
    taylor, special, exact = engine_module._taylor_exp, Engine._decide_special, Engine._accepted

    def counted_taylor(x: Any) -> Any:
        seen["taylor"] += len(x)
        return taylor(x)

    def counted_special(self: Engine, values: Any, marked: Any, first: Any, second: Any, stream: Stream) -> Any:
        seen["special"] += int(marked.sum())
        return special(self, values, marked, first, second, stream)

    def counted_exact(self: Engine, cell: int, second: int, stream: Stream) -> int | None:
        seen["exact"] += 1
        return exact(self, cell, second, stream)

    monkeypatch.setattr(engine_module, "_taylor_exp", counted_taylor)
    monkeypatch.setattr(Engine, "_decide_special", counted_special)
    monkeypatch.setattr(Engine, "_accepted", counted_exact)
    for number in (IDS.index("laplace-7/2-3x4"), IDS.index("gaussian-13/2-3x4")):
        words = [words for words, truth in classified(number).items() if truth not in {TAIL, OPEN_CELL}]
        before = dict(seen)
        batch(tiny(number), words, Fill(0))
        # Some of what is not sure is decided by the polynomial, the rest exactly.
        assert seen["taylor"] - before["taylor"] > seen["exact"] - before["exact"] > 0
        batch(tiny(number), list(classified(number)), Fill(1))
        assert seen["special"] > before["special"]


# The law of what comes out

BEYOND = 10**6


def marked_tails(family: Family) -> Family:
    """The same noise, but a tail gives `BEYOND`: what tails give has tests of its own."""

    def tail(self: Family, sign: int, stream: Stream) -> int | None:
        return BEYOND

    # Weights are asked for again by every word that does not decide.
    weights = staticmethod(lru_cache(family.weights))
    marked = type("Marked", (type(family),), {"tail": tail, "weights": weights})(
        family.scale, family.rows, family.shift
    )
    assert isinstance(marked, type(family))
    return marked


def law_of_a_proposal(number: int, path: str, least: Fraction) -> Explored[int | None]:
    """Every word and every continuation; what a tail gives is `BEYOND`."""
    family, fraction_bits, accept, high = TINY[number]
    thresholds, _ = thresholds_of(number)
    engine = tiny_engine(marked_tails(family), fraction=fraction_bits, accept=accept, high=high)
    law: Explored[int | None] = Explored()
    share = Fraction(1, 1 << (engine.layout.first + engine._second))
    for (first, second), truth in classified(number).items():
        if not isinstance(truth, str):
            # Shown by another test.
            law.found[truth] = law.found.get(truth, Fraction(0)) + share
            continue

        def run(stream: Choices, first: int = first, second: int = second) -> int | None:
            return PATHS[path](engine, first, second, stream)

        wide = wide_classes(thresholds[first >> fraction_bits], fraction_bits)
        law.add(explore(run, least=least, wide=wide), share)
    return law


def check_law_of_a_proposal(law: Explored[int | None], family: Family) -> None:
    """The probability of every value, of each tail, and of a refusal."""
    assert sum(law.found.values()) + law.open == 1
    with gmpy2.context(precision=PRECISION):
        weights = true_weights(family)
        # A value x has the chance exp(-energy(x)) / (2^m sum of weights), and a tail its weight / sum of weights.
        per_value = as_fraction(1 / (sum(weights) * (1 << family.shift)))
        chances = {
            x: as_fraction(exp_minus(energy(kind_of(family), family.scale, x))) * per_value
            for x in range(-family.start, family.start)
        }
        chances |= {sign * BEYOND: as_fraction(weights[at] / sum(weights)) for sign, at in ((1, -2), (-1, -1))}
    assert set(law.found) - {None} <= set(chances)
    for result, chance in chances.items():
        assert law.encloses(result, chance), result
    assert law.encloses(None, 1 - sum(chances.values(), Fraction(0)))


@EVERY_TINY
@EVERY_PATH
def test_a_proposal_has_exactly_its_law(number: int, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use_coins(monkeypatch)
    law = law_of_a_proposal(number, path, Fraction(1, 1 << 70))
    assert law.open < Fraction(1, 1 << 60)
    check_law_of_a_proposal(law, TINY[number][0])


@pytest.mark.parametrize("number", [4, 9], ids=lambda number: IDS[number])
@EVERY_PATH
def test_a_proposal_has_exactly_its_law_bit_by_bit(number: int, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bernoulli_module, "FIRST_BITS", 2)
    law = law_of_a_proposal(number, path, Fraction(1, 1 << 12))
    assert law.open < Fraction(1, 1 << 12)
    check_law_of_a_proposal(law, TINY[number][0])


@pytest.mark.parametrize("number", [4, 9], ids=lambda number: IDS[number])
def test_after_a_refusal_all_is_drawn_again(number: int) -> None:
    engine = tiny(number)
    refused = [
        first << engine._second | second for (first, second), truth in classified(number).items() if truth is None
    ]
    kept = {
        first << engine._second | second: truth
        for (first, second), truth in classified(number).items()
        if isinstance(truth, int)
    }
    for word, value in kept.items():
        tape = Choices([*refused[: word % 3], word])
        assert engine.draw(tape) == value
        assert tape.used == len(tape.choices)


@EVERY_TINY
@pytest.mark.parametrize("sign", [0, 1])
def test_a_tail_has_exactly_its_law(number: int, sign: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every way through a tail, coin by coin."""
    use_coins(monkeypatch)
    family = TINY[number][0]
    law = explore(lambda stream: family.tail(sign, stream), least=Fraction(1, 1 << 11))
    assert law.open < Fraction(1, 4)
    with gmpy2.context(precision=PRECISION):
        # Given that the tail is picked, a value of it has its chance over that of the tail.
        weight = true_weights(family)[2 * family.rows + sign] * (1 << family.shift)
        corner = family.start + sign
        for magnitude in range(corner, corner + 10 * math.ceil(family.scale)):
            chance = exp_minus(energy(kind_of(family), family.scale, magnitude)) / weight
            assert law.encloses(magnitude, as_fraction(chance)), magnitude
    assert all(magnitude is None or magnitude >= corner for magnitude in law.found)


@pytest.mark.parametrize(
    "family", [Laplace(Fraction(3, 2), 3, 0), Gaussian(Fraction(3, 2), 3, 0), Gaussian(Fraction(3), 3, 1)], ids=str
)
def test_a_tail_has_exactly_its_law_bit_by_bit(family: Family, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bernoulli_module, "FIRST_BITS", 1)
    law = explore(lambda stream: family.tail(1, stream), least=Fraction(1, 1 << 10))
    assert law.open < Fraction(1, 8)
    with gmpy2.context(precision=PRECISION):
        weight = true_weights(family)[2 * family.rows + 1] * (1 << family.shift)
        for magnitude in range(family.start + 1, family.start + 10):
            chance = exp_minus(energy(kind_of(family), family.scale, magnitude)) / weight
            assert law.encloses(magnitude, as_fraction(chance)), magnitude


@pytest.mark.parametrize(
    ("family", "fraction", "accept"),
    [
        (Laplace(Fraction(1), 1, 0), 1, 0),
        (Laplace(Fraction(2), 1, 1), 0, 1),
        (Gaussian(Fraction(1), 1, 0), 1, 0),
        (Gaussian(Fraction(3, 2), 1, 1), 0, 1),
    ],
    ids=str,
)
def test_a_single_draw_has_exactly_its_law(
    family: Family, fraction: int, accept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole of `draw`: words, tails, and what starts again after a refusal."""
    use_coins(monkeypatch)
    engine = tiny_engine(family, fraction=fraction, accept=accept, high=1)
    with gmpy2.context(precision=precision_for(family)):
        thresholds, _ = true_thresholds(true_weights(family), engine.table.alias, len(engine.table.alias))
    # All columns' classes at once: a word of 64 bits that is in one class for each of them.
    cuts = sorted({0, 1 << 64, *(c for t in thresholds for c in edges_of(as_fraction(t), fraction))})
    pairs = itertools.pairwise(cuts)
    wide = [((a + b) // 2 if b - a > 1 else None, Fraction(b - a, 1 << 64)) for a, b in pairs]
    law = explore(engine.draw, least=Fraction(1, 1 << 11), wide=wide)
    assert law.open < Fraction(1, 8)
    with gmpy2.context(precision=PRECISION):
        for x in range(-12, 13):
            assert law.encloses(x, as_fraction(pmf(kind_of(family), family.scale, x)))


def edges_of(threshold: Fraction, known_bits: int) -> tuple[int, int]:
    scaled = threshold * (1 << (known_bits + 64))
    at = (scaled.numerator // scaled.denominator) % (1 << 64)
    return at, at + 1


# Many draws of tiny words


@pytest.mark.parametrize("number", [0, 5, 9, 10], ids=lambda number: IDS[number])
def test_many_draws_of_tiny_words_fit(number: int) -> None:
    engine, family = tiny(number), TINY[number][0]
    count = 3000
    drawn = engine.draw_many(count, TinyWords(engine, seed=number))
    edges = list(range(-2 * family.start, 2 * family.start + 1))
    probabilities = bin_probabilities(kind_of(family), family.scale, edges)
    assert fit(binned(drawn, edges), probabilities, least=30).good
    # The tails are reached, on both sides.
    assert drawn.max() >= family.start
    assert drawn.min() < -family.start


@pytest.mark.parametrize("chunk", [1, 2, 7, 64])
@pytest.mark.parametrize("number", [0, 4, 6, 9, 12], ids=lambda number: IDS[number])
def test_draws_are_what_is_accepted_in_every_chunk(number: int, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """No draw is kept twice or refused ones at all: a model of `draw_many` on words that are known."""
    monkeypatch.setattr(engine_module, "_CHUNK", chunk)
    engine = tiny(number)
    asked: list[tuple[list[int], list[int]]] = []
    propose = Engine._propose

    def watched(self: Engine, count: int, stream: Stream) -> Any:
        values, refused = propose(self, count, stream)
        asked.append((values.tolist(), refused.tolist()))
        return values, refused

    monkeypatch.setattr(Engine, "_propose", watched)
    for count in (1, 5, 64, 100):
        asked.clear()
        drawn = engine.draw_many(count, TinyWords(engine, seed=count)).tolist()
        modeled: list[int] = []
        for values, refused in asked:
            missing = min(count - len(modeled), chunk)
            assert len(values) >= missing > 0
            behind = [value for place, value in enumerate(values) if place >= missing and place not in refused]
            front: list[int | None] = [*values[:missing]]
            for hole in (place for place in refused if place < missing):
                front[hole] = behind.pop(0) if behind else None
            modeled += [value for value in front if value is not None]
        assert drawn == modeled
        assert len(drawn) == count


@for_each("wanted", [0, 1, 5, 10, 12])
@for_each("refused", [[], [0], [9], [0, 4, 9], [11, 10, 2, 3], list(range(12)), [5, 6, 7, 8, 9, 10, 11]])
def test_refused_proposals_are_replaced_by_accepted_ones_and_by_each_once(refused: list[int], wanted: int) -> None:
    values = np.arange(100, 112)
    accepted = [100 + place for place in range(12) if place not in refused]
    kept = engine_module._fill(values, np.array(refused, dtype=np.int64), wanted).tolist()
    assert len(kept) == min(wanted, len(accepted))
    assert len(set(kept)) == len(kept) and set(kept) <= set(accepted)


@for_each("scale", [200, 1000, 12345, 10**6, 10**9])
@for_each("name", ["laplace", "gaussian"])
def test_about_as_many_are_refused_as_is_planned_for(name: str, scale: int) -> None:
    make = noise.gaussian_engine if name == "gaussian" else noise.laplace_engine
    engine = make(Fraction(scale))
    count = 1 << 18
    _, refused = engine._propose(count, Tape.seeded(scale).stream(0))
    assert 0.7 * engine.family.refusals <= len(refused) / count <= 1.05 * engine.family.refusals


# Saturation


class Far(Laplace):
    """Noise whose tails give what they are told."""

    magnitude = 0

    def tail(self, sign: int, stream: Stream) -> int | None:
        stream.bits(8)
        return Far.magnitude


@for_each("magnitude", [2**62, LARGEST - 1, LARGEST, LARGEST + 1, 2**63 + 1, 2**64, 2**64 + 5, 2**200])
def test_noise_beyond_64_bits_stops_at_the_largest_and_never_wraps(magnitude: int) -> None:
    family = Far(Fraction(3), 3, 1)
    engine = tiny_engine(family, fraction=2, accept=3, high=1)
    Far.magnitude = magnitude
    stop = min(magnitude, LARGEST)
    assert LARGEST == 2**63 - 1
    tails = [words for words, truth in classified(IDS.index("laplace-3-3x2")).items() if truth == TAIL]
    for first, second in tails:
        # Python's integers do not stop.
        alone = by_one(engine, first, second, Choices([1]))
        assert alone in {magnitude, -magnitude}
        assert by_draw(engine, first, second, Choices([1])) == alone
        assert by_vector(engine, first, second, Choices([1])) == (stop if alone == magnitude else -stop)
    assert set(batch(engine, tails, Fill(1))) == {stop, -stop}


def test_cell_of_and_value_of_are_inverse() -> None:
    for family, *_ in TINY:
        for x in range(-family.start, family.start):
            cell, low = cell_of(family, x)
            assert cell < 2 * family.rows
            assert value_of(family, cell, low) == x
            assert abs(x) == family.corner(cell) + low
