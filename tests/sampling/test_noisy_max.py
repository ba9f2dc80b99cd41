"""Report noisy max: sums are compared exactly, ties go to the first, and noise that was stopped goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.cases import for_each
from tests.sampling.oracles import FALSE_ALARM, chances_laplace, laplace_cdf, p_value

from viameter.sampling import Entropy, Tape, discrete_laplace, selection
from viameter.sampling.selection import noisy_max_laplace

# Report noisy max


def reference_max(scores: NDArray[np.int64], scale: Any, entropy: Entropy) -> int:
    """The same with integers of Python."""
    totals: list[int] = []
    for start in range(0, len(scores), selection._CHUNK):
        part = scores[start : start + selection._CHUNK].tolist()
        noise = discrete_laplace(len(part), scale, entropy=entropy).tolist()
        totals += [score + value for score, value in zip(part, noise, strict=True)]
    return totals.index(max(totals))


@for_each(
    "scores",
    [
        np.zeros(3, dtype=np.int64),
        np.array([2**63 - 1, 2**63 - 1, 2**63 - 4, 0]),
        np.array([-(2**63), -(2**63), 3 - 2**63]),
        np.array([2**63 - 1, -(2**63), 2**63 - 2]),
        np.full(20, -(2**63)),
        np.repeat([2**63 - 1, 2**63 - 3], 17_000),
        np.random.default_rng(5).integers(0, 5, 50_000),
    ],
)
@for_each("scale", ["1/2", "3", 2**52])
def test_sums_are_compared_without_bounds(scores: NDArray[np.int64], scale: Any) -> None:
    for seed in range(5 if len(scores) > 1000 else 25):
        expected = reference_max(scores, scale, Tape.seeded(seed))
        assert noisy_max_laplace(scores, scale, entropy=Tape.seeded(seed)) == expected


@pytest.mark.parametrize("scores", [(0, 0), (0, 1, 0), (1, 0, 1, 1), (0, 0, 0, 0, 0)])
def test_noisy_max_against_the_law(scores: tuple[int, ...]) -> None:
    """Ties are common at this scale, and go to the first."""
    source, draws = Tape.seeded(21), 2_500
    counts = Counter(noisy_max_laplace(np.array(scores), "2/3", entropy=source) for _ in range(draws))
    chances = chances_laplace(scores, 2 / 3)
    cells = [counts[i] for i in range(len(scores))]
    if len(scores) % 2 == 0:
        # An odd number of degrees of freedom: fair coins split the first cell.
        split = sum(source.stream(0).bits(1) for _ in range(cells[0]))
        cells, chances = [split, cells[0] - split, *cells[1:]], [chances[0] / 2, chances[0] / 2, *chances[1:]]
    assert p_value(cells, chances) > FALSE_ALARM
    if len(scores) == 5:
        assert p_value(cells, [0.2] * 5) < FALSE_ALARM


class Engine:
    """Noise that is given."""

    def __init__(self, *noise: int) -> None:
        self.noise = list(noise)

    def draw_many(self, count: int, entropy: Entropy) -> NDArray[np.int64]:
        taken, self.noise = self.noise[:count], self.noise[count:]
        return np.array(taken)


@pytest.mark.parametrize(
    ("scores", "noise", "expected"),
    [
        ([0, 0, 0], [1, 2, 2], 1),
        ([5, 4, 3], [0, 1, 2], 0),
        ([2**63 - 1, 2**63 - 2, 0], [1, 2, 5], 0),
        ([2**63 - 1, 2**63 - 2, 0], [1, 3, 5], 1),
        ([-(2**63), 1 - 2**63, -(2**63)], [-5, -6, -4], 2),
        ([-(2**63), 1 - 2**63, -(2**63)], [-5, -6, -6], 0),
        ([2**63 - 1, -(2**63)], [2**63 - 2, 2**63 - 2], 0),
    ],
)
def test_ties_go_to_the_first(
    monkeypatch: pytest.MonkeyPatch, scores: list[int], noise: list[int], expected: int
) -> None:
    for chunk in (selection._CHUNK, 1, 2):
        monkeypatch.setattr(selection, "_CHUNK", chunk)
        engine = Engine(*noise)
        monkeypatch.setattr(selection, "laplace_engine", lambda _, engine=engine: engine)
        assert noisy_max_laplace(np.array(scores), 1, entropy=Tape.seeded(0)) == expected


def noise_cells(values: Sequence[int]) -> list[int]:
    counts = Counter(max(-5, min(5, value)) for value in values)
    return [counts[value] for value in range(-5, 6)]


def noise_chances(scale: float) -> list[float]:
    inner = [laplace_cdf(value, scale) - laplace_cdf(value - 1, scale) for value in range(-4, 5)]
    return [laplace_cdf(-5, scale), *inner, 1 - laplace_cdf(4, scale)]


@pytest.mark.parametrize("largest", [1, 3])
def test_noise_that_was_stopped_goes_on(monkeypatch: pytest.MonkeyPatch, largest: int) -> None:
    """A sum of one candidate is its noise: stopped early and continued, it has the same law; and sums are not lost."""
    source = Tape.seeded(31)
    stopped = np.clip(discrete_laplace(2_500, 2, entropy=source), -largest, largest)
    engine = Engine(*stopped.tolist())
    monkeypatch.setattr(selection, "laplace_engine", lambda _: engine)
    monkeypatch.setattr(selection, "LARGEST", largest)
    stream = source.stream(0)
    values = [selection._largest_sum(np.array([-1]), Fraction(2), stream)[0] + 1 for _ in range(2_500)]
    assert p_value(noise_cells(values), noise_chances(2.0)) > FALSE_ALARM


def test_noise_beyond_int64_still_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two candidates whose noise was stopped are not a tie."""
    monkeypatch.setattr(selection, "laplace_engine", lambda _: Engine(2**63 - 1, 2**63 - 1, 1 - 2**63))
    picked = Counter(noisy_max_laplace(np.array([-9, -9, 5]), 10**6, entropy=Tape.seeded(seed)) for seed in range(60))
    assert min(picked[0], picked[1]) > 10 and picked[2] == 0


def test_noise_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is drawn for scales above 2^52, at a scale where its law shows."""
    monkeypatch.setattr(selection, "LARGEST_SCALE", 0)
    stream = Tape.seeded(41).stream(0)
    values = [selection._largest_sum(np.array([7]), Fraction(2), stream)[0] - 7 for _ in range(2_000)]
    assert p_value(noise_cells(values), noise_chances(2.0)) > FALSE_ALARM
    assert p_value(noise_cells(values), noise_chances(2.5)) < FALSE_ALARM


def test_scales_above_2_to_52() -> None:
    scores = np.array([0, 2**63 - 1, -(2**63)])
    assert noisy_max_laplace(scores, 2**53, entropy=Tape.seeded(1)) == 1
    assert {noisy_max_laplace(scores, 10**25, entropy=Tape.seeded(seed)) for seed in range(25)} == {0, 1, 2}
