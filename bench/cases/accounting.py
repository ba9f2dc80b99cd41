"""What many mechanisms cost together: epsilon at delta = 1e-6 by our accountant, Google's, Microsoft's and OpenDP."""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib import import_module
from typing import Any

from bench.model import Benchmark, Case, Variant

DELTA, TARGET = "1e-6", 1e-6
ERROR = 0.01
"""The error in epsilon that prv-accountant is asked for, as its documentation does."""


def epsilons(count: int) -> list[str]:
    """Different epsilons of pure mechanisms, between a thousandth and a tenth."""
    source = random.Random(20)
    return [f"0.{source.randint(1_000, 100_000):06d}" for _ in range(count)]


def number(epsilon: Any) -> float:
    """An epsilon as a float."""
    return float(epsilon)


# --- viameter ---------------------------------------------------------------------------------------------------------


def ours_equal(describe: Callable[[Any], Any]) -> Callable[..., Callable[[], object]]:
    """Count the same mechanism many times, from an accountant that has seen nothing."""

    def prepare(count: int) -> Callable[[], object]:
        accounting = import_module("viameter.composition.accounting")

        def run() -> object:
            accountant = accounting.Accountant(idealized=True)
            accountant.add(describe(accounting), count)
            return accountant.epsilon(delta=DELTA)

        return run

    return prepare


def ours_reading(count: int) -> Callable[[], object]:
    """Add a mechanism, read epsilon, and so on."""
    accounting = import_module("viameter.composition.accounting")
    mechanism = accounting.continuous_laplace(20)

    def run() -> object:
        accountant = accounting.Accountant(idealized=True)
        epsilon = None
        for _ in range(count):
            accountant.add(mechanism)
            epsilon = accountant.epsilon(delta=DELTA)
        return epsilon

    return run


def ours_different(count: int) -> Callable[[], object]:
    """Count different pure mechanisms once each."""
    accounting = import_module("viameter.composition.accounting")
    values = epsilons(count)

    def run() -> object:
        accountant = accounting.Accountant()
        for epsilon in values:
            accountant.add(accounting.pure(epsilon))
        return accountant.epsilon(delta=DELTA)

    return run


# --- Google -----------------------------------------------------------------------------------------------------------


def google_equal(make: Callable[[Any], Any]) -> Callable[..., Callable[[], object]]:
    """A privacy loss distribution, composed with itself."""

    def prepare(count: int) -> Callable[[], object]:
        pld = import_module("dp_accounting.pld.privacy_loss_distribution")
        return lambda: make(pld).self_compose(count).get_epsilon_for_delta(TARGET)

    return prepare


def google_reading(count: int) -> Callable[[], object]:
    """Google's accountant: compose an event, read epsilon, and so on."""
    library = import_module("dp_accounting")
    pld = import_module("dp_accounting.pld")
    event = library.LaplaceDpEvent(20.0)

    def run() -> object:
        accountant = pld.PLDAccountant()
        epsilon = None
        for _ in range(count):
            accountant.compose(event)
            epsilon = accountant.get_epsilon(TARGET)
        return epsilon

    return run


def google_different(count: int) -> Callable[[], object]:
    """Different privacy loss distributions, composed two by two in a tree."""
    pld = import_module("dp_accounting.pld.privacy_loss_distribution")
    common = import_module("dp_accounting.pld.common")
    values = [float(epsilon) for epsilon in epsilons(count)]

    def run() -> object:
        row = [pld.from_privacy_parameters(common.DifferentialPrivacyParameters(epsilon, 0)) for epsilon in values]
        while len(row) > 1:
            pairs = [row[n].compose(row[n + 1]) for n in range(0, len(row) - 1, 2)]
            row = pairs + row[len(row) - len(row) % 2 :]
        return row[0].get_epsilon_for_delta(TARGET)

    return run


# --- prv-accountant and OpenDP ----------------------------------------------------------------------------------------


def prv_equal(make: Callable[[Any], Any]) -> Callable[..., Callable[[], object]]:
    """Microsoft's accountant: the upper end of its interval."""

    def prepare(count: int) -> Callable[[], object]:
        library = import_module("prv_accountant")
        mechanisms = import_module("prv_accountant.privacy_random_variables")

        def run() -> object:
            accountant = library.PRVAccountant(
                prvs=[make(mechanisms)], max_self_compositions=[count], eps_error=ERROR, delta_error=1e-9
            )
            return accountant.compute_epsilon(delta=TARGET, num_self_compositions=[count])[2]

        return run

    return prepare


def opendp_gaussian(count: int) -> Callable[[], object]:
    """OpenDP: zCDP of discrete Gaussian noise, added up and converted."""
    dp = import_module("opendp.prelude")
    dp.enable_features("contrib")
    one = dp.m.make_gaussian(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=50.0)

    def run() -> object:
        whole = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(dp.c.make_composition([one] * count)), TARGET)
        return whole.map(1)[0]

    return run


def case(name: str, count: int, ours: Callable[..., Callable[[], object]], *peers: Variant) -> Case:
    """So many mechanisms; results are compared with ours within what the loosest of the peers gives away."""
    return Case(
        name=name,
        parameters={"count": count},
        variants=[Variant("viameter", ours, read=number), *peers],
        tolerance=0.12,
    )


BENCHMARK = Benchmark(
    title="Accounting",
    about=(
        "Epsilon at delta = 1e-6 of many mechanisms with fixed parameters. viameter's is an upper bound by a certified "
        "contour sum; Google's is the pessimistic privacy loss distribution of dp-accounting (its default interval), "
        f"prv-accountant's the upper end of an interval of half-width {ERROR}, and OpenDP's goes through zCDP. "
        "Continuous noise stands for the peers' idealized mechanisms; OpenDP's is discrete."
    ),
    cases=[
        case(
            "1000 Gaussians",
            1_000,
            ours_equal(lambda accounting: accounting.continuous_gaussian(50)),
            Variant(
                "dp-accounting",
                google_equal(lambda pld: pld.from_gaussian_mechanism(50.0)),
                "dp_accounting",
                read=number,
            ),
            Variant("prv-accountant", prv_equal(lambda m: m.GaussianMechanism(50.0)), "prv_accountant", read=number),
            Variant("opendp, discrete", opendp_gaussian, "opendp", read=number),
        ),
        case(
            "1000 Laplaces",
            1_000,
            ours_equal(lambda accounting: accounting.continuous_laplace(20)),
            Variant(
                "dp-accounting",
                google_equal(lambda pld: pld.from_laplace_mechanism(20.0)),
                "dp_accounting",
                read=number,
            ),
            Variant("prv-accountant", prv_equal(lambda m: m.LaplaceMechanism(mu=0.05)), "prv_accountant", read=number),
        ),
        case(
            "10000 subsampled Gaussians",
            10_000,
            ours_equal(lambda accounting: accounting.poisson_subsampled(accounting.continuous_gaussian(1), "0.01")),
            Variant(
                "dp-accounting",
                google_equal(lambda pld: pld.from_gaussian_mechanism(1.0, sampling_prob=0.01)),
                "dp_accounting",
                read=number,
            ),
            Variant(
                "prv-accountant",
                prv_equal(lambda m: m.PoissonSubsampledGaussianMechanism(0.01, 1.0)),
                "prv_accountant",
                read=number,
            ),
        ),
        case(
            "different pure mechanisms",
            10_000,
            ours_different,
            Variant("dp-accounting, tree", google_different, "dp_accounting", read=number),
        ),
        case(
            "add a Laplace, read epsilon",
            1_000,
            ours_reading,
            Variant("dp-accounting", google_reading, "dp_accounting", read=number),
        ),
    ],
)
