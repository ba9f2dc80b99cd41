"""Genuine certificates, one or more for every rule of the checker, that forgeries are made from."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tests.viameter_check import zoo

import viameter as vm
from viameter.composition.derivations import compose_derivations
from viameter.core import Loss
from viameter.core.certificate import certify
from viameter.logic import program_from_source
from viameter.measures import group_derivation
from viameter.mechanisms.additive import rounding_to_a_grid
from viameter.mechanisms.smoothed import smoothed_gaussian
from viameter.theorem import Derivation, find_theorem

Document = dict[str, Any]
ROWS, SIZED, SCORES = zoo.ROWS, zoo.SIZED, zoo.SCORES
SPACE = vm.Space(vm.vectors(int, bounds=(0, 9)), zoo.ADDED)
COUNTED = SPACE >> vm.count() >> vm.laplace(scale=10)
VISITS = {"u": ["a"], "k": ["x"], "x": [1], "day": [3]}
PLAIN, OTHER_ROWS = vm.per("u", rows=3), vm.per("u", rows=3, groups=2, per_group=2, replace=True)


def _vouched(loss: Loss, space: vm.Space = ROWS) -> vm.Measurement:
    """A measurement with this loss, because somebody says so."""
    return vm.measurement(space, function=len, measure=loss.measure, privacy=lambda _: loss, trust="it is so")


def _bounded(metric: Any) -> vm.Space:
    return vm.Space(vm.vectors(int, bounds=(-5, 240)), metric)


def _opened(unit: Any, budget: Loss) -> Any:
    return vm.open(VISITS, unit=unit, budget=budget)


def _asked(unit: Any, spend: Loss) -> Any:
    table = _opened(unit, spend)
    asked = table.filter(table["x"] > 0).group_by("k", keys=["x", "y"]).agg(s=vm.sum("x", bounds=(-3, 10)))
    return asked.measurement(spend=spend)


def _found(unit: Any, spend: Loss) -> Any:
    return _opened(unit, spend).heavy_hitters("k").release(spend=spend).measurement


def _ranked(unit: Any, spend: Loss) -> Any:
    return _opened(unit, spend).group_by("k", keys=["x", "y"]).top(2).measurement(spend=spend)


def _picked(unit: Any, spend: Loss) -> Any:
    median = vm.median("x", bounds=(0, 8), interval=False)
    return _opened(unit, spend).group_by("k", keys=["x", "y"]).agg(m=median).measurement(spend=spend)


def _smoothed() -> vm.Measurement:
    space = vm.Space(vm.vectors(int, size=3), vm.L2Distance())
    made = smoothed_gaussian(space, distance=Fraction(1), mu_squared=Fraction(1, 16))
    assert made is not None
    return made


def _program() -> Any:
    text = "def noisy(x: int, n: int, eps: vm.Eps) -> int: return x + vm.lap(n / eps)"
    made = program_from_source(text, adjacent=vm.all_differ("x", by=2), requires="n >= 1")
    return made.measurement(eps="1/2", n=3)


def _variation() -> vm.Measurement:
    variation = vm.measure("Variation", adds=True, trust="total variation adds")
    tell = vm.measurement(
        SPACE, function=len, measure=variation, privacy=lambda d: variation(d / 8), trust="it is private"
    )
    return vm.compose(SPACE, [tell, tell])


def _metered(measure: Any) -> Any:
    meter = vm.Odometer(SPACE, measure, convert=True)([1, 2, 3])
    meter(COUNTED)
    meter(SPACE >> vm.sum() >> vm.laplace(scale=90))
    return meter


def _resumed() -> Any:
    meter = vm.Odometer.resume(_metered(vm.ZCDP).state(d_in=[1, 5]), [1, 2, 3])
    meter(COUNTED)
    return meter


def _both(measure: Any, loss: Loss) -> vm.Measurement:
    """Two measurements at once, under the rule of a measure."""
    return vm.compose(ROWS, [_vouched(loss), _vouched(loss)], measure=measure)


MADE: dict[str, tuple[Callable[[], Any], Any]] = {
    # transformations
    "clamp": (lambda: ROWS >> vm.clamp(bounds=(0, 9)), 1),
    "clamp sized": (lambda: vm.Space(SIZED, zoo.ADDED) >> vm.clamp(bounds=(0, 9)), 1),
    "select of users": (lambda: vm.Space(zoo.TABLE, zoo.USERS) >> vm.select(["age", "who"]), 1),
    "clamp grid": (
        lambda: vm.Space(vm.vectors(float, bounds=(0, 10)), zoo.ADDED) >> vm.clamp(bounds=(0, "0.01")),
        1,
    ),
    "grid": (lambda: vm.Space(vm.vectors(float, bounds=(0, 10)), zoo.ADDED) >> vm.to_grid(step="0.01"), 1),
    "cast": (lambda: vm.Space(vm.vectors(str), zoo.ADDED) >> vm.cast(to=int, default=0), 1),
    "impute": (lambda: vm.Space(vm.vectors(float, nan=True), zoo.ADDED) >> vm.impute(value=2), 1),
    "impute bounded": (
        lambda: vm.Space(vm.vectors(float, bounds=(0, 1), nan=True), zoo.ADDED) >> vm.impute(value=2),
        1,
    ),
    "impute below": (
        lambda: vm.Space(vm.vectors(float, bounds=(0, 1), nan=True), zoo.ADDED) >> vm.impute(value=-2),
        1,
    ),
    "column": (lambda: vm.Space(zoo.TABLE, zoo.ADDED) >> vm.column("age"), 1),
    "count": (lambda: _bounded(zoo.ADDED) >> vm.count(), 1),
    "count public": (lambda: vm.Space(SIZED, zoo.ADDED) >> vm.count(), 1),
    "sum": (lambda: _bounded(zoo.ADDED) >> vm.sum(), 1),
    "sum replaced": (lambda: _bounded(zoo.REPLACED) >> vm.sum(), 1),
    "sum sized": (lambda: vm.Space(SIZED, zoo.ADDED) >> vm.sum(), 2),
    "sum floats": (lambda: vm.Space(zoo.FLOATS, zoo.REPLACED) >> vm.sum(), 1),
    "mean": (lambda: vm.Space(SIZED, zoo.REPLACED) >> vm.mean(), 1),
    "histogram": (lambda: _bounded(zoo.ADDED) >> vm.histogram(edges=[0, 10, 100], metric=vm.L1Distance()), 1),
    "histogram replaced": (
        lambda: _bounded(zoo.REPLACED) >> vm.histogram(edges=[0, 10, 100], metric=vm.L1Distance()),
        1,
    ),
    "histogram sized": (
        lambda: vm.Space(SIZED, zoo.ADDED) >> vm.histogram(edges=[0, 10, 100], metric=vm.L1Distance()),
        2,
    ),
    "filter": (lambda: _bounded(zoo.ADDED) >> vm.filter(vm.between(0, None)), 1),
    "filter of users": (lambda: vm.Space(zoo.TABLE, zoo.USERS) >> vm.filter(vm.between(0, 9), column="age"), 1),
    "filter replaced": (lambda: vm.Space(SIZED, zoo.REPLACED) >> vm.filter(vm.between(0, None)), 1),
    "filter of replaced users": (
        lambda: vm.Space(zoo.TABLE, zoo.USERS_REPLACED) >> vm.filter(vm.between(0, 9), column="age"),
        1,
    ),
    "resize": (lambda: _bounded(zoo.ADDED) >> vm.resize(size=3, fill=0), 1),
    "resize replaced": (lambda: _bounded(zoo.REPLACED) >> vm.resize(size=3, fill=0), 1),
    "limit": (lambda: vm.Space(zoo.TABLE, zoo.USERS) >> vm.limit_rows(per_id=5), 1),
    "limit replaced": (lambda: vm.Space(zoo.TABLE, zoo.USERS_REPLACED) >> vm.limit_rows(per_id=5), 1),
    "quantile": (lambda: _bounded(zoo.ADDED) >> vm.quantile_scores(alpha="9/10", candidates=[1, 2, 3]), 1),
    "quantile replaced": (
        lambda: _bounded(zoo.REPLACED) >> vm.quantile_scores(alpha="9/10", candidates=[1, 2, 3]),
        1,
    ),
    "clamp numbers": (
        lambda: vm.Space(vm.vectors(float, bounds=(0, 1), size=3), vm.L2Distance()) >> vm.clamp(bounds=(0, "1/2")),
        1,
    ),
    "replaced to added": (lambda: vm.Space(SIZED, zoo.REPLACED) >> vm.measured_by(zoo.ADDED), 1),
    "users replaced to added": (lambda: vm.Space(zoo.TABLE, zoo.USERS_REPLACED) >> vm.measured_by(zoo.USERS), 1),
    "ordered to added": (lambda: vm.Space(SIZED, zoo.ORDERED) >> vm.measured_by(zoo.ADDED), 1),
    "L1 to L2": (lambda: vm.Space(SIZED, vm.L1Distance()) >> vm.measured_by(vm.L2Distance()), 1),
    "added to replaced": (lambda: vm.Space(SIZED, zoo.ADDED) >> vm.measured_by(zoo.REPLACED), 2),
    "L2 to L1": (lambda: vm.Space(SIZED, vm.L2Distance()) >> vm.measured_by(vm.L1Distance()), 1),
    "Linf to L1": (lambda: vm.Space(SIZED, vm.LInfDistance()) >> vm.measured_by(vm.L1Distance()), 1),
    "own map": (
        lambda: vm.transformation(
            ROWS, function=len, output=zoo.NUMBER, stability=lambda d: 3 * d, trust="it is 3-stable"
        ),
        1,
    ),
    # mechanisms
    "laplace": (lambda: vm.Space(vm.vectors(int, size=3), vm.L1Distance()) >> vm.laplace(scale=3), 1),
    "gaussian": (lambda: vm.Space(vm.vectors(int, size=3), vm.L2Distance()) >> vm.gaussian(scale=3), 1),
    "smoothed": (_smoothed, 1),
    "program": (_program, 2),
    "laplace grid": (
        lambda: vm.Space(vm.vectors(float, size=5), vm.L1Distance()) >> vm.laplace(scale=3, grid="1/8"),
        1,
    ),
    "gaussian grid": (
        lambda: vm.Space(vm.vectors(float, size=5), vm.L2Distance()) >> vm.gaussian(scale=3, grid="1/8"),
        1,
    ),
    "exponential": (lambda: vm.exponential(SCORES, scale=4), 1),
    "exponential monotone": (lambda: vm.exponential(SCORES, scale=4, monotone=True), 1),
    "noisy max": (lambda: vm.noisy_max(SCORES, scale=4, noise="exponential"), 1),
    "noisy max monotone": (lambda: vm.noisy_max(SCORES, scale=4, noise="exponential", monotone=True), 1),
    "noisy max laplace": (lambda: vm.noisy_max(SCORES, scale=4, noise="laplace"), 1),
    "noisy max laplace monotone": (lambda: vm.noisy_max(SCORES, scale=4, noise="laplace", monotone=True), 1),
    "top": (lambda: vm.top_k(SCORES, k=3, scale=4, noise="exponential", measure=vm.PureDP), 1),
    "top monotone": (lambda: vm.top_k(SCORES, k=3, scale=4, noise="exponential", measure=vm.PureDP, monotone=True), 1),
    "response": (lambda: vm.randomized_response(vm.Space(zoo.WARDS, vm.DiscreteDistance()), probability="3/4"), 1),
    "responses": (lambda: vm.randomized_response(vm.Space(vm.vectors(zoo.WARDS), zoo.PLACED), probability="3/4"), 2),
    "keys": (lambda: vm.thresholded_counts(vm.Space(vm.vectors(str), zoo.ADDED), scale="3/2", threshold=30), 1),
    "sparse": (lambda: vm.sparse_vector(ROWS, threshold=500, scale=8, limit=3, d_in=2, sensitivity="7/2"), 1),
    "post": (lambda: _vouched(vm.zcdp("1/2")) >> vm.postprocess(abs), 1),
    "vouched": (lambda: _vouched(vm.pure(1)), 1),
    # chains and compositions
    "chain": (lambda: ROWS >> vm.clamp(bounds=(0, 240)) >> vm.sum() >> vm.laplace(scale=2400), 1),
    "batch": (lambda: _both(None, vm.pure("1/2")), 1),
    "both pure": (lambda: _both(vm.PureDP, vm.pure("1/2")), 1),
    "both approx": (lambda: _both(vm.ApproxDP, vm.approx("1/2", "1/100")), 1),
    "both zcdp": (lambda: _both(vm.ZCDP, vm.zcdp("1/2")), 1),
    "both approx zcdp": (lambda: _both(vm.ApproxZCDP, vm.approx_zcdp("1/2", "1/100")), 1),
    "both gdp": (lambda: _both(vm.GaussianDP, vm.gdp("1/2")), 1),
    "both renyi": (lambda: _both(vm.RenyiDP, vm.renyi({2: "1/2", 5: 1})), 1),
    "both ranges": (lambda: _both(vm.BoundedRange, vm.bounded_range("1/2")), 1),
    "both variation": (_variation, 1),
    "adaptive": (lambda: vm.adaptive(SPACE, d_in=2, losses=[vm.pure("1/10"), vm.pure("1/5")]), 1),
    "meter": (lambda: _metered(vm.PureDP), 1),
    "meter zcdp": (lambda: _metered(vm.ZCDP), 1),
    "resumed": (_resumed, 1),
    "filter of losses": (lambda: vm.Odometer(SPACE, vm.ZCDP).filter(d_in=2, budget=vm.zcdp("1/2")), 1),
    **{
        f"{rule} filter": (
            lambda rule=rule: vm.Odometer(SPACE, vm.ApproxDP).filter(  # type: ignore[misc]
                d_in=2, budget=vm.approx(1, "1e-6"), rule=rule
            ),
            1,
        )
        for rule in ("concentrated", "advanced")
    },
    # tables
    "units": (lambda: _asked(PLAIN, vm.zcdp("1/10")), 1),
    "units replaced": (lambda: _asked(OTHER_ROWS, vm.zcdp("1/10")), 1),
    "found": (lambda: _found(PLAIN, vm.approx("1/10", "1/1000000")), 1),
    "found replaced": (lambda: _found(OTHER_ROWS, vm.approx("1/10", "1/1000000")), 1),
    "found gaussian": (lambda: _found(PLAIN, vm.approx_zcdp("1/10", "1/1000000")), 1),
    "found gaussian replaced": (lambda: _found(OTHER_ROWS, vm.approx_zcdp("1/10", "1/1000000")), 1),
    "picked": (lambda: _picked(PLAIN, vm.pure("1/10")), 1),
    "picked zcdp": (lambda: _picked(PLAIN, vm.zcdp("1/10")), 1),
    "picked replaced": (lambda: _picked(OTHER_ROWS, vm.pure("1/10")), 1),
    "ranked": (lambda: _ranked(PLAIN, vm.pure("1/10")), 1),
    "ranked zcdp": (lambda: _ranked(PLAIN, vm.zcdp("1/10")), 1),
}
"""Name, constructor and distance."""

CONVERTED: dict[str, tuple[Loss, Any, dict[str, Any]]] = {
    "pure-to-zcdp": (vm.pure("1/3"), vm.ZCDP, {"by": "pure-to-zcdp"}),
    "pure-to-zcdp-quadratic": (vm.pure("1/3"), vm.ZCDP, {"by": "pure-to-zcdp-quadratic"}),
    "pure-to-approx-zcdp": (vm.pure("1/3"), vm.ApproxZCDP, {}),
    "pure-to-bounded-range": (vm.pure("1/3"), vm.BoundedRange, {}),
    "pure-is-renyi": (vm.pure("1/3"), vm.RenyiDP, {}),
    "pure-to-renyi": (vm.pure("1/3"), vm.RenyiDP, {"order": [2, 64]}),
    "pure-is-approx": (vm.pure("1/3"), vm.ApproxDP, {}),
    "pure-to-approx": (vm.pure("1/3"), vm.ApproxDP, {"delta": "1/1000"}),
    "pure-to-approx-at-epsilon": (vm.pure("1/3"), vm.ApproxDP, {"epsilon": "1/100"}),
    "approx-is-pure": (vm.approx("1/3", 0), vm.PureDP, {}),
    "approx-at-larger-delta": (vm.approx(1, "1/100"), vm.ApproxDP, {"delta": "1/10"}),
    "approx-at-other-epsilon": (vm.approx(1, "1/100"), vm.ApproxDP, {"epsilon": "1/10"}),
    "approx-to-approx-zcdp": (vm.approx(1, "1/100"), vm.ApproxZCDP, {}),
    "approx-to-approx-zcdp-quadratic": (
        vm.approx(1, "1/100"),
        vm.ApproxZCDP,
        {"by": "approx-to-approx-zcdp-quadratic"},
    ),
    "approx-zcdp-is-zcdp": (vm.approx_zcdp("1/3", 0), vm.ZCDP, {}),
    "approx-zcdp-to-approx": (vm.approx_zcdp("1/3", "1/1000"), vm.ApproxDP, {"delta": "1/100"}),
    "approx-zcdp-to-approx-at-epsilon": (vm.approx_zcdp("1/3", "1/1000"), vm.ApproxDP, {"epsilon": 2}),
    "bounded-range-is-pure": (vm.bounded_range("1/3"), vm.PureDP, {}),
    "bounded-range-to-approx": (vm.bounded_range("1/3"), vm.ApproxDP, {"delta": "1/1000"}),
    "bounded-range-to-approx-at-epsilon": (vm.bounded_range("1/3"), vm.ApproxDP, {"epsilon": "1/100"}),
    "bounded-range-to-zcdp": (vm.bounded_range("1/3"), vm.ZCDP, {"by": "bounded-range-to-zcdp"}),
    "bounded-range-to-zcdp-sharp": (vm.bounded_range("1/3"), vm.ZCDP, {"by": "bounded-range-to-zcdp-sharp"}),
    "gdp-to-zcdp": (vm.gdp("1/3"), vm.ZCDP, {}),
    "gdp-to-renyi": (vm.gdp("1/3"), vm.RenyiDP, {"order": [2, 3]}),
    "gdp-to-approx": (vm.gdp("1/3"), vm.ApproxDP, {"delta": "1/1000"}),
    "gdp-to-approx-at-epsilon": (vm.gdp("1/3"), vm.ApproxDP, {"epsilon": "1/100"}),
    "profile-to-approx": (vm.profile({1: "1/8", 3: "1/64"}), vm.ApproxDP, {"delta": "1/9"}),
    "profile-to-approx-at-epsilon": (vm.profile({1: "1/8", 3: "1/64"}), vm.ApproxDP, {"epsilon": 2}),
    "renyi-is-pure": (vm.renyi({2: "1/9", "inf": "1/3"}), vm.PureDP, {}),
    "renyi-to-approx": (vm.renyi({2: "1/9", 8: "1/3"}), vm.ApproxDP, {"delta": "1/1000"}),
    "renyi-to-approx-at-epsilon": (vm.renyi({2: "1/9", 8: "1/3"}), vm.ApproxDP, {"epsilon": "1/2"}),
    "zcdp-is-approx-zcdp": (vm.zcdp("1/3"), vm.ApproxZCDP, {}),
    "zcdp-to-renyi": (vm.zcdp("1/3"), vm.RenyiDP, {"order": [2, 9]}),
    "zcdp-to-approx": (vm.zcdp("1/3"), vm.ApproxDP, {"delta": "1/1000"}),
    "zcdp-to-approx-at-epsilon": (vm.zcdp("1/3"), vm.ApproxDP, {"epsilon": "1/2"}),
}
"""A vouched loss, and what it is converted to."""

GROUPED: dict[str, Loss] = {
    "group-pure": vm.pure("1/10"),
    "group-approx": vm.approx("1/10", "1e-9"),
    "group-zcdp": vm.zcdp("1/7"),
    "group-gdp": vm.gdp("1/3"),
    "group-bounded-range": vm.bounded_range("1/3"),
    "group-renyi": vm.renyi({2: "1/10", 4: "1/5", 7: 1, "inf": 3}),
}


def _rounding() -> Document:
    before = vm.Space(vm.vectors(float, size=5), vm.L1Distance())
    after = vm.Space(vm.vectors(int, size=5), vm.L1Distance())
    step, d_in = Fraction(1, 4), Fraction(5)
    made = Derivation(
        "rounding",
        find_theorem("rounding-to-a-grid"),
        "",
        "",
        given_value=d_in,
        bound_value=rounding_to_a_grid(d_in, step=step, size=5, norm=1),
        parameters=(("step", step), ("size", 5), ("norm", 1)),
        space=before,
        output=after,
    )
    return certify(made, space=before, d_in=d_in).to_json()


def _same() -> Document:
    below = COUNTED.explain(1).derivation
    loss = below.bound_value
    made = Derivation(
        "to(PureDP)", find_theorem("same-measure"), "", "", premises=(below,), given_value=loss, bound_value=loss
    )
    return certify(made, space=SPACE, d_in=Fraction(1)).to_json()


def _grouped(loss: Loss, distance: int) -> Document:
    space = vm.Space(vm.vectors(int), vm.HammingDistance())
    made = group_derivation(_vouched(loss, space).explain(1).derivation, distance)
    return certify(made, space=space, d_in=made.given_value).to_json()


def _grouped_twice() -> Document:
    made = group_derivation((ROWS >> vm.count() >> vm.laplace(scale=3)).explain(1).derivation, 4)
    twice = compose_derivations(vm.PureDP, vm.PureDP.rules[0], (made, made))
    return certify(twice, space=ROWS, d_in=Fraction(4)).to_json()


def sample(name: str) -> Document:
    """The genuine certificate of this name."""
    if name in MADE:
        made, d_in = MADE[name]
        document: Document = made().certificate(d_in).to_json()
        return document
    if name in CONVERTED:
        loss, measure, how = CONVERTED[name]
        converted: Document = _vouched(loss).to(measure, **how).certificate(1).to_json()
        return converted
    if name in GROUPED:
        return _grouped(GROUPED[name], 3)
    by_hand: dict[str, Callable[[], Document]] = {
        "rounding": _rounding,
        "same": _same,
        "group-ends": lambda: _grouped(vm.approx_zcdp("1/3", "1/9"), 1),
        "grouped twice": _grouped_twice,
    }
    return by_hand[name]()


def names() -> list[str]:
    """The names of all samples."""
    return [*MADE, *CONVERTED, *GROUPED, "rounding", "same", "group-ends", "grouped twice"]
