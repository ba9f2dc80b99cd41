"""One noise: its width is the least that the law allows, or one more where it says so."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.tables.estimates.laws import chance_beyond

from viameter.errors import NumberError, ParameterError
from viameter.tables.estimates import Noise
from viameter.tables.estimates.noise import SUMMED, Kind

F = Fraction


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", [F(1, 100), F(1, 3), F(1), F(7, 2), F(19), F(21), F(150)])
@pytest.mark.parametrize("alpha", [F(1, 2), F(1, 20), F(1, 1000), F(1, 10**6)])
def test_a_width_is_the_least_or_one_more_where_it_says_so(kind: Kind, scale: Fraction, alpha: Fraction) -> None:
    width = Noise(kind, scale).width(alpha)
    reach = int(width) + 20 * int(scale + 1)
    assert width.denominator == 1
    assert chance_beyond(kind, scale, int(width), reach) <= alpha
    spare = 1 if kind == "gaussian" and scale > SUMMED else 0
    if width > spare:
        assert chance_beyond(kind, scale, int(width) - 1 - spare, reach) > alpha


def test_noise_of_a_tiny_scale_has_the_width_of_a_larger_one_at_most() -> None:
    kinds: tuple[Kind, ...] = ("laplace", "gaussian")
    for kind in kinds:
        tiny = Noise(kind, F(1, 10**9))
        assert tiny.width("1/20") == 0
        assert tiny.width("1e-40") <= Noise(kind, F(1, 64)).width("1e-40")
        assert Noise(kind, F(0)).width("1e-40") == 0


def test_what_is_no_noise_is_refused() -> None:
    with pytest.raises(ParameterError, match="kind"):
        Noise("uniform", F(1))  # type: ignore[arg-type]
    with pytest.raises(NumberError, match="negative"):
        Noise("laplace", F(-1))
    for alpha in (0, 1, "3/2", -1):
        with pytest.raises(NumberError, match="alpha"):
            Noise("laplace", F(1)).width(alpha)
