"""Selection: the law is exact, whichever stage decides; extremes, ties and overflow; what is refused."""

from __future__ import annotations

import itertools
import math
import struct
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.cases import for_each
from tests.sampling.oracles import (
    FALSE_ALARM,
    boundaries,
    chances_laplace,
    exp_to_bits,
    exponents,
    located,
    p_value,
    tape,
)

from viameter.errors import NotExact, NumberError, ParameterError
from viameter.sampling import Tape, TapeExhausted, selection
from viameter.sampling.selection import exponential, noisy_max_laplace, permute_and_flip, top_k
from viameter.sampling.weights import Weights

Stage = Callable[[Weights, int, int], int | None]
STAGES: dict[str, tuple[Stage, ...]] = {
    "as they come": selection._STAGES,
    "pairs": (selection._by_pairs,),
    "integers": (),
}
PICKS = (exponential, permute_and_flip, noisy_max_laplace)

CASES: dict[str, tuple[NDArray[Any], Fraction]] = {
    "two": (np.array([0, 1]), Fraction(1)),
    "equal": (np.array([5, 5, 5]), Fraction(1, 7)),
    "integers": (np.array([3, 0, 7, 7, -2]), Fraction(5, 2)),
    "floats": (np.array([0.1, -0.7, 1e-3, 0.1]), Fraction(1, 3)),
    "one far above": (np.array([0, 40, 1]), Fraction(1)),
    "too far for floats": (np.array([0, 90, 1]), Fraction(1)),
    "too far for pairs": (np.array([0, 180, 1, 179]), Fraction(1)),
    "ends of int64": (np.array([2**63 - 1, -(2**63), 0]), Fraction(2**63)),
    "ends of int64, nearly equal": (np.array([2**63 - 1, -(2**63), 2**62]), Fraction(10**30)),
    "ends of floats": (np.array([1.7e308, -1.7e308, 5e-324, 1e308]), Fraction(10**308)),
    "subnormal floats": (np.array([5e-324, 0.0, 1e-323]), Fraction(1, 10**323)),
    "huge scale": (np.array([1.7e308, -1.7e308, 0.0]), Fraction(10**400)),
    "tiny scale": (np.array([0, 7, 7]), Fraction(1, 10**400)),
}


@pytest.fixture(params=STAGES)
def stages(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """All stages, or only the later ones."""
    monkeypatch.setattr(selection, "_STAGES", STAGES[request.param])
    return str(request.param)


def law(stage: Stage, scores: NDArray[Any], scale: Fraction, depth: int, bits: int = 2) -> tuple[list[Fraction], int]:
    """The chance of each candidate from the tree of all bits up to a depth, and how many ends stay open there."""
    weights = Weights.of(scores, scale)
    chances, open_ = [Fraction(0)] * len(scores), [0]
    for width in range(bits, depth + 1, bits):
        words, open_ = [word << bits | more for word in open_ for more in range(1 << bits)], []
        for word in words:
            index = stage(weights, word, width)
            if index is None:
                open_.append(word)
            else:
                chances[index] += Fraction(1, 1 << width)
    return chances, len(open_)


# The exponential mechanism


@for_each("name", CASES)
@for_each("stage", ["_by_floats", "_by_pairs", "_by_integers"])
def test_the_tree_of_all_bits_gives_the_law(stage: str, name: str) -> None:
    """Nothing is sampled: what is not open after so many bits adds up to the chances that MPFR gives."""
    scores, scale = CASES[name]
    depth = 32
    chances, open_ = law(getattr(selection, stage), scores, scale, depth)
    assert sum(chances) == 1 - Fraction(open_, 1 << depth)
    assert open_ <= 2 * (len(scores) - 1)
    ends = [Fraction(0), *boundaries(scores.tolist(), scale)]
    for chance, (low, high) in zip(chances, itertools.pairwise(ends), strict=True):
        assert high - low - Fraction(open_, 1 << depth) <= chance <= high - low


@pytest.mark.parametrize("name", [name for name in CASES if name != "tiny scale"])
def test_every_bit_decides_on_the_right_side(stages: str, name: str) -> None:
    """Bits that agree with an end of a candidate for longer and longer, and then are just below it or just above."""
    scores, scale = CASES[name]
    ends = boundaries(scores.tolist(), scale)
    for end in ends[:-1]:
        for depth in (1, 20, 38, 45, 60, 63, 64, 65, 75, 90, 127, 128, 129, 200, 255, 256, 257, 300, 600):
            below = Fraction(math.floor(end * 2**depth), 2**depth)
            for u in (below, below + Fraction(1, 2**depth)):
                if u < 1:
                    assert exponential(scores, scale, entropy=tape(u)) == located(ends, u)


def test_which_stage_is_reached() -> None:
    """Bits that agree for 300 bits need the integers; the bits that were read tell."""
    scores, scale = CASES["integers"]
    end = boundaries(scores.tolist(), scale)[0]
    for agreeing, read in ((20, 8), (60, 16), (110, 32), (300, 64), (700, 128)):
        u = end + Fraction(1, 2**agreeing)
        exponential(scores, scale, entropy=tape(u, read))
        if read > 8:
            with pytest.raises(TapeExhausted):
                exponential(scores, scale, entropy=tape(u, read - 1))


@pytest.mark.parametrize(
    ("count", "spread", "scale"),
    [(1, 5, "1"), (2, 5, "1/3"), (1_023, 50, "7"), (1_025, 3, "10"), (16_384, 40, "3"), (40_000, 40, "5/3")],
)
def test_stages_agree_draw_for_draw(monkeypatch: pytest.MonkeyPatch, count: int, spread: int, scale: str) -> None:
    scores = np.random.default_rng(count).integers(0, spread, count)
    for seed in range(4):
        picked = set()
        for stages in STAGES.values():
            monkeypatch.setattr(selection, "_STAGES", stages)
            picked.add(exponential(scores, scale, entropy=Tape.seeded(seed)))
        assert len(picked) == 1


def test_float_scores_agree_draw_for_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(9).normal(size=1_200)
    for seed in range(3):
        picked = set()
        for stages in STAGES.values():
            monkeypatch.setattr(selection, "_STAGES", stages)
            picked.add(exponential(scores, "1/5", entropy=Tape.seeded(seed)))
        assert len(picked) == 1


def test_a_stage_never_contradicts_a_later_one() -> None:
    """Among so many candidates that rounding errors add up, at bits close to the ends of candidates."""
    scores = np.random.default_rng(3).integers(0, 30, 20_000)
    weights = Weights.of(scores, Fraction(4))
    fixed = weights.fixed(200)
    total = sum(fixed)
    ends = list(itertools.accumulate(fixed))
    decided = 0
    for index in range(0, 20_000, 331):
        for shift in (-36, -38, -40, -42, -44):
            for sign in (-1, 1):
                word = (ends[index] << 64) // total + sign * (1 << 64 + shift)
                by_floats = selection._by_floats(weights, word, 64)
                assert by_floats in (None, index if sign < 0 else index + 1)
                decided += by_floats is not None
    assert 200 < decided < 500


def test_floats_nearly_always_decide() -> None:
    weights = Weights.of(np.random.default_rng(4).integers(0, 1000, 10**6), Fraction(100))
    stream = Tape.seeded(5).stream(0)
    assert all(selection._by_floats(weights, stream.bits(64), 64) is not None for _ in range(25))


def test_margins_are_what_keeps_floats_from_deciding(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = Weights.of(np.array([0, 1, 2]), Fraction(1))
    monkeypatch.setattr(selection, "NEAR_ERROR", 1.0)
    assert selection._by_floats(weights, 1 << 63, 64) is None


def test_margins_are_what_keeps_pairs_from_deciding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both the relative error and the truncated units of each weight count."""
    scores, scale = CASES["integers"]
    weights, end = Weights.of(scores, scale), boundaries(scores.tolist(), scale)[1]

    def decided(distance: int) -> list[int | None]:
        words = (math.floor((end + sign * Fraction(1, 2**distance)) * 2**200) for sign in (-1, 1))
        return [selection._by_pairs(weights, word, 200) for word in words]

    assert decided(66) == [1, 2]
    assert decided(73) == [None, None]
    monkeypatch.setattr(selection, "FIXED_NEAR_ERROR_BITS", 400)
    assert decided(73) == [1, 2]
    assert decided(91) == [None, None]


def grouped(index: int, size: int) -> int:
    """Cells of a goodness-of-fit test: the first candidate, and four groups of the others."""
    return 0 if index == 0 else 1 + (index - 1) * 4 // size


def drawn_cells(pick: Any, scores: NDArray[Any], scale: Any, draws: int, seed: int) -> list[int]:
    source = Tape.seeded(seed)
    counts = Counter(grouped(pick(scores, scale, entropy=source), len(scores) - 1) for _ in range(draws))
    return [counts[cell] for cell in range(5)]


# One candidate above a thousand others, so that its chance depends much on the scale.
GAP, OTHERS = 7, 1000
STEEP = np.array([GAP] + [0] * OTHERS)


def chance_exponential(scale: float) -> float:
    return 1 / (1 + OTHERS * math.exp(-GAP / scale))


def chance_flip(scale: float) -> float:
    # The others' heads are binomial, and the mean of 1/(1 + heads) is known.
    p = math.exp(-GAP / scale)
    return float(-math.expm1((OTHERS + 1) * math.log1p(-p)) / ((OTHERS + 1) * p))


def cells_of(pick: Any, scale: float) -> list[float]:
    if pick is noisy_max_laplace:
        each = chances_laplace(STEEP.tolist(), scale)
        return [sum(each[i] for i in range(OTHERS + 1) if grouped(i, OTHERS) == cell) for cell in range(5)]
    best = chance_exponential(scale) if pick is exponential else chance_flip(scale)
    return [best] + [(1 - best) / 4] * 4


@pytest.mark.parametrize("pick", PICKS)
def test_goodness_of_fit_and_its_power(pick: Any) -> None:
    """A right law passes, with a false alarm in 1e9; the same draws are not of a scale that is 3 % off."""
    counts = drawn_cells(pick, STEEP, 1, 7_000, seed=11)
    assert p_value(counts, cells_of(pick, 1.0)) > FALSE_ALARM
    assert p_value(counts, cells_of(pick, 1.03)) < FALSE_ALARM
    assert p_value(counts, cells_of(pick, 0.97)) < FALSE_ALARM


@pytest.mark.parametrize("pick", [exponential, permute_and_flip])
def test_goodness_of_fit_for_floats(pick: Any) -> None:
    counts = drawn_cells(pick, STEEP / 8, "1/8", 2_000, seed=12)
    assert p_value(counts, cells_of(pick, 1.0)) > FALSE_ALARM


# What does not change the outcome


@pytest.mark.parametrize("pick", PICKS)
def test_a_constant_does_not_matter(pick: Any) -> None:
    scores = np.random.default_rng(1).integers(0, 9, 50)
    for seed in range(12):
        outcomes = {
            pick(scores + constant, 2, entropy=Tape.seeded(seed))
            for constant in (0, 77, -(2**62), 2**63 - 10, -(2**63))
        }
        assert len(outcomes) == 1


@pytest.mark.parametrize("pick", [exponential, permute_and_flip])
def test_a_unit_does_not_matter(pick: Any) -> None:
    """Powers of two in scores and scale alike, to the ends of the floats and beyond those of plain factors."""
    scores = np.random.default_rng(2).integers(-9, 9, 50)
    for seed in range(8):
        outcomes = {pick(scores, 2, entropy=Tape.seeded(seed))}
        for power in (0, -1074, -1000, 500, 1019, 1020):
            outcomes.add(pick(np.ldexp(scores, power), Fraction(2) ** (power + 1), entropy=Tape.seeded(seed)))
        assert len(outcomes) == 1


def test_the_law_goes_with_the_candidates() -> None:
    scores, scale = CASES["integers"]
    chances, open_ = law(selection._by_floats, scores, scale, 32)
    for order in itertools.islice(itertools.permutations(range(len(scores))), 0, 120, 17):
        permuted, more = law(selection._by_floats, scores[list(order)], scale, 32)
        for place, index in enumerate(order):
            assert abs(permuted[place] - chances[index]) <= Fraction(open_ + more, 2**32)


def test_the_order_reversed_is_the_number_reversed(stages: str) -> None:
    scores = np.random.default_rng(6).integers(0, 20, 2_500)
    for seed in range(5):
        bits = bytes(Tape.seeded(seed).stream(0).take(64))
        mirrored = bytes(255 - byte for byte in bits)
        picked = exponential(scores, 3, entropy=Tape(bits))
        assert exponential(scores[::-1], 3, entropy=Tape(mirrored)) == len(scores) - 1 - picked


def test_scores_are_not_written_to_and_may_be_strided() -> None:
    wide: Any = np.arange(40).reshape(20, 2)
    wide.flags.writeable = False
    for pick in PICKS:
        for dtype in (np.int64, np.float64) if pick is not noisy_max_laplace else (np.int64,):
            strided = wide.astype(dtype)[:, 1]
            strided.flags.writeable = False
            copied = strided.copy()
            assert pick(strided, 9, entropy=Tape.seeded(3)) == pick(copied, 9, entropy=Tape.seeded(3))
            assert (strided == copied).all()


# Permute-and-flip


def textbook(chances: Sequence[Fraction]) -> list[Fraction]:
    """In each order, the first that shows heads."""
    result = [Fraction(0)] * len(chances)
    orders = list(itertools.permutations(range(len(chances))))
    for order in orders:
        reached = Fraction(1, len(orders))
        for index in order:
            result[index] += reached * chances[index]
            reached *= 1 - chances[index]
    return result


def one_of_the_heads(chances: Sequence[Fraction]) -> list[Fraction]:
    result = [Fraction(0)] * len(chances)
    for pattern in itertools.product((False, True), repeat=len(chances)):
        weight = Fraction(1)
        for p, heads in zip(chances, pattern, strict=True):
            weight *= p if heads else 1 - p
        for index in range(len(chances)):
            if pattern[index]:
                result[index] += weight / sum(pattern)
    return result


@for_each("count", [1, 2, 3, 4])
def test_the_lemma_for_any_chances(count: int) -> None:
    """The two descriptions agree for rational chances, exactly; the largest score's is 1."""
    levels = [Fraction(0), Fraction(1, 7), Fraction(12, 13), Fraction(1)][: 7 - count]
    for others in itertools.product(levels, repeat=count - 1):
        for place in range(count):
            chances = [*others[:place], Fraction(1), *others[place:]]
            assert textbook(chances) == one_of_the_heads(chances)
            assert sum(textbook(chances)) == 1


def test_one_of_those_that_show_heads() -> None:
    """All patterns of coins, and all numbers that choose among the heads."""
    scores: Any = np.array([0, 1, 2, 0])
    for pattern in itertools.product((False, True), repeat=4):
        heads = [index for index in range(4) if pattern[index] or index == 2]
        words = struct.pack("=4I", *(0 if coin else 2**32 - 1 for coin in pattern))
        # The best shows heads whatever its word is, and zeros stay undecided for no one at this scale.
        width = (len(heads) - 1).bit_length()
        picked = Counter(
            permute_and_flip(scores, 2, entropy=Tape(words + bytes([number << (8 - width)])))
            for number in range(len(heads))
        )
        assert picked == Counter(heads)
        if len(heads) == 3:
            # The fourth number of two bits is refused, and the next one, 1, chooses the second.
            assert permute_and_flip(scores, 2, entropy=Tape(words + bytes([0b11000000, 0b01000000]))) == heads[1]


def reference_flip(scores: Sequence[Any], scale: Fraction, entropy: Tape) -> int:
    """The same with MPFR: words first, further bits for a coin whose first bits are those of its chance."""
    words = entropy.words(len(scores), 32).tolist()
    heads = []
    for index, (word, x) in enumerate(zip(words, exponents(scores, scale), strict=True)):
        chance, drawn, width = exp_to_bits(x, 600), word, 32
        while chance < 1 and drawn == math.floor(chance * 2**width):
            drawn, width = drawn << 64 | entropy.bits(64), width + 64
        if Fraction(drawn, 2**width) < chance:
            heads.append(index)
    width = (len(heads) - 1).bit_length()
    while True:
        number = entropy.bits(width) if width else 0
        if number < len(heads):
            return heads[number]


@pytest.mark.parametrize("margin", [None, 2.0**33], ids=["floats", "exact"])
@pytest.mark.parametrize("name", [name for name in CASES if name != "tiny scale"])
def test_coins_at_the_ends_of_their_chances(monkeypatch: pytest.MonkeyPatch, name: str, margin: float | None) -> None:
    """Words next to the first 32 bits of a chance, then further bits next to its further bits."""
    if margin:
        monkeypatch.setattr(selection, "_COIN_MARGIN", margin)
    scores, scale = CASES[name]
    chances = [exp_to_bits(x, 600) for x in exponents(scores.tolist(), scale)]
    rest = bytes(Tape.seeded(1).stream(0).take(200))
    for index, chance in enumerate(chances):
        first = min(math.floor(chance * 2**32), 2**32 - 1)
        further = math.floor((chance * 2**32 - first) * 2**64) if chance < 1 else 0
        for word, more in itertools.product(
            {max(first - 1, 0), first, min(first + 1, 2**32 - 1)},
            {max(further - 1, 0), further, min(further + 1, 2**64 - 1)},
        ):
            for others in (0x12345678, 2**32 - 1):
                words = [others] * len(scores)
                words[index] = word
                recorded = struct.pack(f"={len(words)}I", *words) + more.to_bytes(8, "big") + rest
                expected = reference_flip(scores.tolist(), scale, Tape(recorded))
                assert permute_and_flip(scores, scale, entropy=Tape(recorded)) == expected


@pytest.mark.parametrize("chunk", [selection._CHUNK, 64])
def test_coins_agree_draw_for_draw(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(selection, "_CHUNK", chunk)
    scores = np.random.default_rng(8).integers(0, 60, 400)
    for seed in range(6):
        by_floats = permute_and_flip(scores, 20, entropy=Tape.seeded(seed))
        with monkeypatch.context() as patch:
            patch.setattr(selection, "_COIN_MARGIN", 2.0**33)
            assert permute_and_flip(scores, 20, entropy=Tape.seeded(seed)) == by_floats


def test_coins_of_several_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the last candidates of the last chunk have a chance."""
    scores = np.zeros(40_000)
    scores[-3:] = 1000.0
    assert {permute_and_flip(scores, 1, entropy=Tape.seeded(seed)) for seed in range(30)} == {39_997, 39_998, 39_999}


# Extremes


@pytest.mark.parametrize("pick", PICKS)
def test_extremes(pick: Any) -> None:
    for seed in range(5):
        source = Tape.seeded(seed)
        assert pick(np.array([-4]), 1, entropy=source) == 0
        assert pick(np.array([2**63 - 1, -(2**63)]), 1, entropy=source) == 0
        assert pick(np.array([-(2**63), 2**63 - 1]), 1, entropy=source) == 1
        assert pick(np.array([3, 4, 3]), Fraction(1, 10**400), entropy=source) == 1
        if pick is not noisy_max_laplace:
            assert pick(np.array([-1.7e308, 1.7e308]), 1, entropy=source) == 1
            assert pick(np.array([0.0, 5e-324]), Fraction(1, 10**400), entropy=source) == 1
            assert pick(np.array([-0.0]), Fraction(10**400), entropy=source) == 0


@pytest.mark.parametrize("pick", [exponential, permute_and_flip])
def test_a_huge_scale_makes_all_equal(pick: Any) -> None:
    scores = np.array([-1.7e308, 1.7e308, 0.0, 1.0])
    picked = Counter(pick(scores, Fraction(10) ** 400, entropy=Tape.seeded(seed)) for seed in range(200))
    assert min(picked[index] for index in range(4)) > 20


# Peeling


def test_peeling_takes_each_once() -> None:
    scores = np.array([4, 4, 1, 9, 0])
    for pick in PICKS:
        for seed in range(20):
            assert sorted(top_k(scores, 3, 5, pick=pick, entropy=Tape.seeded(seed))) == [0, 1, 2, 3, 4]
    assert top_k(scores, "1/1000", 3, entropy=Tape.seeded(1)) in ([3, 0, 1], [3, 1, 0])
    assert top_k(scores, 1, 0) == []


def test_peeling_is_picking_among_the_rest() -> None:
    scores = np.random.default_rng(4).integers(0, 5, 30)
    for pick in PICKS:
        source = Tape.seeded(2)
        left = list(range(30))
        expected = []
        for _ in range(6):
            expected.append(left.pop(pick(scores[left], 2, entropy=source)))
        assert top_k(scores, 2, 6, pick=pick, entropy=Tape.seeded(2)) == expected


# What is refused


@for_each("pick", [*PICKS, lambda scores, scale, **more: top_k(scores, scale, 1, **more)])
def test_what_is_refused(pick: Any) -> None:
    for scores in (
        np.array([], dtype=np.int64),
        np.array([[1]]),
        np.array(1),
        [1, 2],
        np.array([True]),
        np.array([1], dtype=np.int32),
        np.array([1], dtype=np.uint64),
        np.array([1], dtype=">i8"),
    ):
        with pytest.raises(ParameterError, match="was given"):
            pick(scores, 1)
    for scale in (0, -1, "-1/2"):
        with pytest.raises(NumberError, match="not above 0"):
            pick(np.array([1]), scale)
    with pytest.raises(NotExact):
        pick(np.array([1]), 0.5)


def test_what_else_is_refused() -> None:
    for k in (-1, 4, True, 1.0):
        with pytest.raises(ParameterError, match="k="):
            top_k(np.array([1, 2, 3]), 1, k)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="integer scores"):
        noisy_max_laplace(np.array([1.0]), 1)
    for pick in (exponential, permute_and_flip):
        with pytest.raises(NumberError, match="not all finite"):
            pick(np.array([1.0, math.nan]), 1)


def test_masks_are_not_looked_at() -> None:
    masked = np.ma.masked_array([9, 0], mask=[True, False])
    for pick in PICKS:
        assert pick(masked, "1/1000", entropy=Tape.seeded(1)) == 0
