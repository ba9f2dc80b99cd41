"""Odometers and filters: what a query costs beside its mechanism, however many came before; viameter and OpenDP."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from bench.model import Benchmark, Case, Variant

DATA = [1, 2, 3]
AT_ONCE = 20
"""Queries in one timed call."""


def viameter_parts() -> tuple[Any, Any, Any]:
    """The library, a space and a count with noise."""
    vm: Any = import_module("viameter")
    space = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    return vm, space, vm.count(space) >> vm.laplace(scale=10)


def viameter_alone(before: int) -> Callable[[], object]:
    """The mechanism without an odometer, on data that were checked before."""
    _, space, count = viameter_parts()
    member = space.domain.admit(DATA)
    return lambda: [count.release(member) for _ in range(AT_ONCE)]


def viameter_meter(before: int, *, capped: bool) -> Any:
    """An odometer or a filter that has answered so many queries."""
    vm, space, count = viameter_parts()
    odometer = vm.Odometer(space, vm.PureDP)
    meter = odometer.filter(d_in=1, budget=vm.pure(10**9))(DATA) if capped else odometer(DATA)
    for _ in range(before):
        meter(count)
    return meter


def viameter_odometer(before: int) -> Callable[[], object]:
    """A query under an odometer."""
    count, meter = viameter_parts()[2], viameter_meter(before, capped=False)
    meter(count)
    return lambda: [meter(count) for _ in range(AT_ONCE)]


def viameter_filter(before: int) -> Callable[[], object]:
    """A query under a filter."""
    count, meter = viameter_parts()[2], viameter_meter(before, capped=True)
    meter(count)
    return lambda: [meter(count) for _ in range(AT_ONCE)]


def viameter_loss(before: int) -> Callable[[], object]:
    """What was spent so far, for a distance that was asked about before."""
    meter = viameter_meter(before, capped=False)
    meter.loss(3)
    return lambda: [meter.loss(3) for _ in range(AT_ONCE)]


def opendp_parts() -> tuple[Any, Any, Any]:
    """OpenDP, an odometer and a count with noise."""
    dp: Any = import_module("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=dp.i32)), dp.symmetric_distance()
    odometer = dp.c.make_fully_adaptive_composition(*space, dp.max_divergence())
    return dp, odometer, space >> dp.t.then_count() >> dp.m.then_laplace(10.0)


def opendp_queries(before: int, *, capped: bool) -> Callable[[], object]:
    """A query under OpenDP's odometer or filter."""
    dp, odometer, count = opendp_parts()
    meter = (dp.c.make_privacy_filter(odometer, 1, 1e9) if capped else odometer)(DATA)
    for _ in range(before):
        meter.invoke(count)
    return lambda: [meter.invoke(count) for _ in range(AT_ONCE)]


def opendp_odometer(before: int) -> Callable[[], object]:
    """A query under OpenDP's odometer."""
    return opendp_queries(before, capped=False)


def opendp_filter(before: int) -> Callable[[], object]:
    """A query under OpenDP's filter."""
    return opendp_queries(before, capped=True)


def opendp_loss(before: int) -> Callable[[], object]:
    """What was spent so far under OpenDP's odometer."""
    _, odometer, count = opendp_parts()
    meter = odometer(DATA)
    for _ in range(before):
        meter.invoke(count)
    return lambda: [meter.privacy_loss(3) for _ in range(AT_ONCE)]


def viameter_calibration() -> Callable[[], object]:
    """The scale for a target loss, by a formula."""
    vm, space, _ = viameter_parts()
    count, target = vm.count(space), vm.pure("1/3")
    return lambda: vm.calibrate(vm.laplace, count, d_in=1, loss=target)


def opendp_calibration() -> Callable[[], object]:
    """The scale for a target loss, by search."""
    dp: Any = import_module("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=dp.i32)), dp.symmetric_distance()
    count = space >> dp.t.then_count()
    return lambda: dp.binary_search_param(lambda scale: count >> dp.m.then_laplace(scale), d_in=1, d_out=1 / 3)


def viameter_conversion() -> Callable[[], object]:
    """A concentrated loss as an epsilon at a delta."""
    vm: Any = import_module("viameter")
    loss = vm.zcdp("1/5")
    return lambda: loss.to(vm.ApproxDP, delta="1e-6")


def opendp_conversion() -> Callable[[], object]:
    """The same by OpenDP: a measurement's curve at a delta."""
    dp: Any = import_module("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.atom_domain(T=dp.f64, nan=False), dp.absolute_distance(T=dp.f64)
    gaussian = space >> dp.m.then_gaussian((5 / 2) ** 0.5)
    curve = dp.c.make_zCDP_to_approxDP(gaussian)
    return lambda: curve.map(1.0).epsilon(1e-6)


def epsilon_at_1(made: Any) -> float:
    """The epsilon of a measurement, for data 1 apart."""
    return float(made.map(1).epsilon)


def epsilon(loss: Any) -> float:
    """The epsilon of a loss."""
    return float(loss.epsilon)


def epsilons(losses: Any) -> list[float]:
    """The epsilons of losses."""
    return [float(loss.epsilon) for loss in losses]


def query_case(name: str, before: int, ours: Any, peer: Any) -> Case:
    """One query after so many, beside the bare mechanism and a peer if it gets there in time."""
    variants = [Variant("viameter", ours), Variant("viameter, the mechanism alone", viameter_alone)]
    if peer is not None:
        variants.append(Variant("OpenDP", peer, environment="opendp"))
    return Case(
        name=name,
        parameters={"before": before},
        variants=variants,
        units=AT_ONCE,
        unit="query",
        difference_to="viameter, the mechanism alone",
    )


BENCHMARK = Benchmark(
    title="Odometers and filters",
    about=(
        "A noisy count under an odometer or a filter that has answered so many queries before. What the library adds "
        "to the mechanism is the difference to the row of the mechanism alone. OpenDP's filter adds up all losses at "
        "every query, so that it is measured after a thousand only."
    ),
    cases=[
        query_case("a query under an odometer", 10, viameter_odometer, opendp_odometer),
        query_case("a query under an odometer", 100_000, viameter_odometer, None),
        query_case("a query under a filter", 10, viameter_filter, opendp_filter),
        query_case("a query under a filter", 1_000, viameter_filter, opendp_filter),
        query_case("a query under a filter", 100_000, viameter_filter, None),
        *(
            Case(
                name="the loss so far, for a distance seen before",
                parameters={"before": before},
                variants=[Variant("viameter", viameter_loss, read=epsilons), *others],
                units=AT_ONCE,
                unit="reading",
            )
            for before, others in (
                (10, [Variant("OpenDP", opendp_loss, environment="opendp")]),
                (10_000, [Variant("OpenDP", opendp_loss, environment="opendp")]),
                (100_000, []),
            )
        ),
        Case(
            name="the scale for a target loss",
            variants=[
                Variant("viameter, by formula", viameter_calibration, read=epsilon_at_1),
                Variant("OpenDP, by search", opendp_calibration, environment="opendp"),
            ],
        ),
        Case(
            name="from zCDP to epsilon at a delta",
            variants=[
                Variant("viameter", viameter_conversion, read=epsilon),
                Variant("OpenDP", opendp_conversion, environment="opendp"),
            ],
        ),
    ],
)
