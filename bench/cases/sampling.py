"""Exact noise and exact choices: viameter, numpy's inexact generators, and OpenDP."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from bench.model import Benchmark, Case, Variant

SIZES = (1_000, 1_000_000)
SCALES = (1, 10, 1_000, 1_000_000, 1_000_000_000)
CANDIDATES = 1_000_000
PEER_DRAWS = 1_000
"""OpenDP draws so many; its time for one is the same at every size."""


def viameter_noise(family: str) -> Callable[..., Callable[[], object]]:
    """Draws of the library, with the table of the scale made before."""

    def prepare(draws: int, scale: int) -> Callable[[], object]:
        sampling: Any = import_module("viameter.sampling")
        draw = getattr(sampling, f"discrete_{family}")
        draw(1, scale)
        return lambda: draw(draws, scale)

    return prepare


def numpy_noise(method: str) -> Callable[..., Callable[[], object]]:
    """Continuous noise of numpy, inexact and not for privacy."""

    def prepare(draws: int, scale: int) -> Callable[[], object]:
        import numpy as np

        draw = getattr(np.random.default_rng(), method)
        return lambda: draw(0, scale, draws)

    return prepare


def opendp() -> Any:
    """OpenDP with what it calls contrib."""
    dp = import_module("opendp.prelude")
    dp.enable_features("contrib")
    return dp


def opendp_noise(family: str) -> Callable[..., Callable[[], object]]:
    """OpenDP's measurement on zeros, which is its sampler and little else."""

    def prepare(draws: int, scale: int) -> Callable[[], object]:
        import numpy as np

        dp = opendp()
        make, metric = (
            (dp.m.make_laplace, dp.l1_distance) if family == "laplace" else (dp.m.make_gaussian, dp.l2_distance)
        )
        measurement = make(dp.vector_domain(dp.atom_domain(T="i64")), metric(T="i64"), scale=float(scale))
        zeros = np.zeros(PEER_DRAWS, dtype=np.int64)
        return lambda: measurement(zeros)

    return prepare


def viameter_scalar(family: str) -> Callable[..., Callable[[], object]]:
    """One draw at a time."""

    def prepare(scale: int) -> Callable[[], object]:
        sampling: Any = import_module("viameter.sampling")
        draw = getattr(sampling, f"discrete_{family}")
        draw(scale=scale)
        return lambda: [draw(scale=scale) for _ in range(1_000)]

    return prepare


def numpy_scalar(method: str) -> Callable[..., Callable[[], object]]:
    """One draw at a time."""

    def prepare(scale: int) -> Callable[[], object]:
        import numpy as np

        draw = getattr(np.random.default_rng(), method)
        return lambda: [draw(0, scale) for _ in range(1_000)]

    return prepare


def viameter_table(family: str) -> Callable[..., Callable[[], object]]:
    """A scale that was not used before: its table, and one draw."""

    def prepare(scale: int) -> Callable[[], object]:
        from fractions import Fraction

        noise: Any = import_module("viameter.sampling.noise")
        make, draw = getattr(noise, f"{family}_engine"), getattr(noise, f"discrete_{family}")
        scales = iter(range(1, 10**9))

        def fresh() -> object:
            make.cache_clear()
            return draw(1, Fraction(scale) + Fraction(1, 1_000 + next(scales)))

        return fresh

    return prepare


def scores(candidates: int) -> Any:
    """Integer scores, the same in every environment."""
    import numpy as np

    return np.random.default_rng(7).integers(0, 1_000, candidates, dtype=np.int64)


def viameter_choice(name: str) -> Callable[..., Callable[[], object]]:
    """A choice among scores by one of the library's samplers."""

    def prepare(candidates: int) -> Callable[[], object]:
        from fractions import Fraction

        sampling: Any = import_module("viameter.sampling")
        choose, data, scale = getattr(sampling, name), scores(candidates), Fraction(50)
        return lambda: choose(data, scale)

    return prepare


def opendp_choice(measure: str) -> Callable[..., Callable[[], object]]:
    """OpenDP's report-noisy-max: Gumbel noise for zCDP, exponential noise for pure privacy."""

    def prepare(candidates: int) -> Callable[[], object]:
        dp, data = opendp(), scores(candidates)
        divergence = dp.zero_concentrated_divergence() if measure == "zcdp" else dp.max_divergence()
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
        choose = dp.m.make_noisy_max(*space, divergence, scale=50.0)
        return lambda: choose(data)

    return prepare


def whole_measurement(draws: int) -> Callable[[], object]:
    """A Laplace measurement on data: membership, noise, saturation."""
    import numpy as np

    import viameter as vm

    space = vm.Space(vm.vectors(int), vm.L1Distance())
    measurement = vm.laplace(space, scale=10)
    data = np.arange(draws, dtype=np.int64)
    return lambda: measurement(data)


def bare_sampler(draws: int) -> Callable[[], object]:
    """The sampler that the measurement calls."""
    return viameter_noise("laplace")(draws, 10)


def noise_cases(family: str, method: str) -> list[Case]:
    """Draws of one family at all sizes and scales."""
    return [
        Case(
            name=f"discrete {family.title()}",
            parameters={"draws": draws, "scale": scale},
            variants=[
                Variant("viameter", viameter_noise(family)),
                Variant(f"numpy {method} (inexact)", numpy_noise(method)),
                Variant("OpenDP", opendp_noise(family), environment="opendp", units=PEER_DRAWS),
            ],
            units=draws,
            unit="draw",
        )
        for draws in SIZES
        for scale in SCALES
    ]


BENCHMARK = Benchmark(
    title="Sampling",
    about=(
        "Exact discrete noise by the thousand, by the million and one by one, and exact choices among a million "
        "candidates. numpy's generators are continuous, inexact and not meant for privacy: they are there as a measure "
        "of speed. OpenDP draws 1,000 at a time, and its time is scaled to one draw. Every call of viameter takes a "
        "fresh key from the operating system, which is what small calls mostly pay for."
    ),
    cases=[
        *noise_cases("laplace", "laplace"),
        *noise_cases("gaussian", "normal"),
        *(
            Case(
                name=f"one discrete {family.title()} at a time",
                parameters={"scale": scale},
                variants=[
                    Variant("viameter", viameter_scalar(family)),
                    Variant("numpy (inexact)", numpy_scalar(method)),
                ],
                units=1_000,
                unit="draw",
            )
            for family, method in (("laplace", "laplace"), ("gaussian", "normal"))
            for scale in (10, 1_000_000)
        ),
        *(
            Case(
                name=f"a new scale, {family.title()}",
                parameters={"scale": scale},
                variants=[Variant("viameter", viameter_table(family))],
            )
            for family in ("laplace", "gaussian")
            for scale in (10, 1_000_000)
        ),
        Case(
            name="exponential mechanism",
            parameters={"candidates": CANDIDATES},
            variants=[
                Variant("viameter", viameter_choice("exponential")),
                Variant("OpenDP, Gumbel", opendp_choice("zcdp"), environment="opendp"),
            ],
        ),
        Case(
            name="report-noisy-max, exponential noise",
            parameters={"candidates": CANDIDATES},
            variants=[
                Variant("viameter, permute-and-flip", viameter_choice("permute_and_flip")),
                Variant("OpenDP", opendp_choice("pure"), environment="opendp"),
            ],
        ),
        Case(
            name="a whole Laplace measurement",
            parameters={"draws": 1_000_000},
            variants=[Variant("the bare sampler", bare_sampler), Variant("the measurement", whole_measurement)],
            units=1_000_000,
            unit="number",
        ),
    ],
)
