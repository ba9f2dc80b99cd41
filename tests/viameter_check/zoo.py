"""One or more computations of every constructor, to be certified."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import viameter as vm
from viameter.core import Computation

ADDED, ORDERED = vm.SymmetricDistance(), vm.InsertDeleteDistance()
REPLACED, PLACED = vm.ChangeOneDistance(), vm.HammingDistance()
USERS, USERS_REPLACED = vm.SymmetricIdDistance("who"), vm.ChangeOneIdDistance("who")

INTS, BOUNDED = vm.vectors(int), vm.vectors(int, bounds=(-5, 240))
SIZED = vm.vectors(int, bounds=(-5, 240), size=7)
FLOATS = vm.vectors(float, bounds=("-0.5", 100), size=7)
TABLE = vm.tables({"who": str, "age": int, "it's": float})
NUMBER = vm.Space(vm.scalars(int), vm.AbsoluteDistance())
REAL = vm.Space(vm.scalars(float), vm.AbsoluteDistance())
SCORES = vm.Space(vm.vectors(int, size=5), vm.LInfDistance())
WARDS = vm.categories(["A", "B", "it's"])
COUNT = vm.Space(INTS, ADDED) >> vm.count()
ROWS = vm.Space(INTS, ADDED)


def transformations() -> Iterator[Computation]:
    """Every constructor of transformations, under the metrics that it knows."""
    for metric in (ADDED, ORDERED, REPLACED, PLACED):
        space = vm.Space(BOUNDED, metric)
        yield space >> vm.count()
        yield space >> vm.sum()
        yield space >> vm.clamp(bounds=(0, 9)) >> vm.sum()
        yield vm.Space(SIZED, metric) >> vm.count()
        yield vm.Space(SIZED, metric) >> vm.sum()
        yield vm.Space(SIZED, metric) >> vm.mean()
        yield vm.Space(FLOATS, metric) >> vm.sum()
        yield vm.Space(FLOATS, metric) >> vm.mean()
        yield space >> vm.filter(vm.between(0, None)) >> vm.count()
        yield space >> vm.resize(size=3, fill=0) >> vm.sum()
        yield space >> vm.quantile_scores(alpha="9/10", candidates=[1, 2, 3])
        yield vm.Space(SIZED, metric) >> vm.quantile_scores(alpha="1/2", candidates=[1, 2])
        for norm in (vm.L1Distance(), vm.L2Distance(), vm.LInfDistance()):
            yield space >> vm.histogram(edges=[0, 10, 100], metric=norm)
            yield space >> vm.histogram(edges=[0, 10], metric=norm)
            yield vm.Space(vm.vectors(WARDS, size=4), metric) >> vm.histogram(metric=norm, other=True)
        yield vm.Space(TABLE, metric) >> vm.select(["age", "who"]) >> vm.column("age")
        yield vm.Space(vm.vectors(float, nan=True), metric) >> vm.impute(value=0) >> vm.cast(to=int, default=0)
        yield vm.Space(vm.vectors(float, bounds=(0, 10)), metric) >> vm.to_grid(step="0.01") >> vm.sum()
    for users in (USERS, USERS_REPLACED):
        yield (
            vm.Space(TABLE, users) >> vm.limit_rows(per_id=5) >> vm.column("age") >> vm.clamp(bounds=(0, 9)) >> vm.sum()
        )
        yield (
            vm.Space(TABLE, users) >> vm.filter(vm.between(0, 9), column="age") >> vm.limit_rows(per_id=2) >> vm.count()
        )
    yield ROWS >> vm.map_rows(function=abs, output=vm.scalars(int), default=0, trust="abs is a function") >> vm.count()
    yield from views()
    yield vm.Space(vm.vectors(float, bounds=(0, 1), size=3), vm.L2Distance()) >> vm.clamp(bounds=(0, "1/2"))
    yield NUMBER >> vm.clamp(bounds=(0, 9))
    yield vm.transformation(ROWS, function=len, output=NUMBER, stability=lambda d: 3 * d, trust="it is 3-stable")


def views() -> Iterator[Computation]:
    """The same data under other metrics."""
    pairs: list[tuple[Any, Any]] = [
        (ADDED, ADDED),
        (ORDERED, ADDED),
        (PLACED, REPLACED),
        (REPLACED, ADDED),
        (PLACED, ADDED),
        (PLACED, ORDERED),
        (ADDED, REPLACED),
        (ORDERED, REPLACED),
        (vm.L1Distance(), vm.L2Distance()),
        (vm.L2Distance(), vm.LInfDistance()),
        (vm.L2Distance(), vm.L1Distance()),
        (vm.LInfDistance(), vm.L2Distance()),
        (vm.LInfDistance(), vm.L1Distance()),
    ]
    for frm, to in pairs:
        yield vm.Space(SIZED, frm) >> vm.measured_by(to)
    yield vm.Space(TABLE, USERS_REPLACED) >> vm.measured_by(USERS)


def mechanisms() -> Iterator[vm.Measurement]:
    """Every constructor of mechanisms."""
    yield COUNT >> vm.laplace(scale="7/3")
    yield COUNT >> vm.laplace(scale=0)
    yield COUNT >> vm.gaussian(scale=10) >> vm.postprocess(abs) >> vm.postprocess(float)
    yield COUNT >> vm.geometric(scale=3)
    yield vm.Space(vm.vectors(int, size=3), vm.L1Distance()) >> vm.laplace(scale=3)
    yield vm.Space(vm.vectors(int), vm.L2Distance()) >> vm.gaussian(scale="1/3")
    for size in (1, 2, 5):
        yield vm.Space(vm.vectors(float, size=size), vm.L1Distance()) >> vm.laplace(scale=3, grid="1/1024")
        yield vm.Space(vm.vectors(float, size=size), vm.L2Distance()) >> vm.gaussian(scale=3, grid="1/8")
    yield REAL >> vm.laplace(scale=3, grid=2)
    yield REAL >> vm.gaussian(scale=3, grid=2)
    for monotone in (False, True):
        for measure in (vm.BoundedRange, vm.PureDP, vm.ZCDP):
            yield vm.exponential(SCORES, scale=4, measure=measure, monotone=monotone)
        for noise in ("exponential", "laplace", "gumbel"):
            yield vm.noisy_max(SCORES, scale="4/3", noise=noise, monotone=monotone)
            yield vm.top_k(SCORES, k=3, scale=4, noise=noise, measure=vm.PureDP, monotone=monotone)
        yield vm.top_k(SCORES, k=2, scale=4, monotone=monotone)
    # The sum of the picks has a denominator of more than 512 bits, and is rounded up.
    yield vm.top_k(SCORES, k=3, scale=Fraction(3**400, 2**600), noise="laplace", measure=vm.PureDP)
    yield vm.private_quantile(ROWS, alpha="1/3", candidates=range(9), scale=2, measure=vm.ZCDP)
    yield vm.randomized_response(vm.Space(WARDS, vm.DiscreteDistance()), probability="3/4")
    yield vm.randomized_response(vm.Space(vm.vectors(WARDS), PLACED), probability="1/3")
    yield vm.randomized_response(vm.Space(WARDS, vm.DiscreteDistance()), probability=1)
    for threshold in (1, 3, 30):
        yield vm.thresholded_counts(vm.Space(vm.vectors(str), ADDED), scale="3/2", threshold=threshold)
    yield vm.sparse_vector(ROWS, threshold=500, scale=8, limit=3, d_in=2, sensitivity="7/2")
    yield vm.measurement(
        ROWS, function=len, measure=vm.PureDP, privacy=lambda d: vm.pure(2 * d), trust="it does not look"
    )
    yield own_parts()


def own_parts() -> vm.Measurement:
    """A measurement in which domain, metric and measure are somebody's own."""
    odd = vm.Space(
        vm.domain("Odd", member=lambda value: value % 2 == 1, trust="oddness"),
        vm.metric("Apart", distance=lambda a, b: abs(a - b), trust="apartness"),
    )
    variation = vm.measure("Variation", trust="variation")
    step = vm.transformation(function=abs, output=odd, stability=lambda d: 2 * d, trust="abs is 2-stable")
    tell = vm.measurement(function=abs, measure=variation, privacy=variation, trust="it is private")
    return odd >> step >> tell >> vm.postprocess(abs)


def conversions() -> Iterator[vm.Measurement]:
    """Losses counted in other measures."""
    laplace, gaussian = COUNT >> vm.laplace(scale=3), COUNT >> vm.gaussian(scale=3)
    keys = vm.thresholded_counts(vm.Space(vm.vectors(str), ADDED), scale=1, threshold=30)
    chosen = vm.exponential(SCORES, scale=4)
    for by in ("pure-to-zcdp", "pure-to-zcdp-quadratic"):
        yield laplace.to(vm.ZCDP, by=by)
    yield laplace.to(vm.ApproxZCDP)
    yield laplace.to(vm.BoundedRange)
    yield laplace.to(vm.RenyiDP)
    yield laplace.to(vm.RenyiDP).to(vm.PureDP)
    yield laplace.to(vm.ApproxDP).to(vm.PureDP)
    yield laplace.to(vm.RenyiDP, order=["9/8", 2, 64, "inf"])
    for loss in (
        laplace,
        gaussian,
        laplace.to(vm.RenyiDP, order=["9/8", 2, 64]),
        gaussian.to(vm.RenyiDP, order=[2, 9]),
    ):
        for delta in (0, "1/1000000", "1/3", 1):
            yield loss.to(vm.ApproxDP, delta=delta)
        for epsilon in (0, "1/100", 3):
            yield loss.to(vm.ApproxDP, epsilon=epsilon)
    yield laplace.to(vm.RenyiDP).to(vm.ApproxDP, delta="1/100")
    yield laplace.to(vm.RenyiDP).to(vm.ApproxDP, epsilon="1/100")
    yield gaussian.to(vm.ApproxZCDP)
    yield gaussian.to(vm.ApproxZCDP).to(vm.ZCDP)
    yield gaussian.to(vm.ApproxZCDP).to(vm.ApproxDP, delta="1/1000000")
    yield gaussian.to(vm.ApproxZCDP).to(vm.ApproxDP, epsilon=1)
    yield keys.to(vm.ApproxZCDP)
    yield keys.to(vm.ApproxZCDP, by="approx-to-approx-zcdp-quadratic")
    yield keys.to(vm.ApproxZCDP).to(vm.ApproxDP, delta="1/100")
    yield keys.to(vm.ApproxDP, delta="1/10")
    yield keys.to(vm.ApproxDP, epsilon="1/10")
    for by in ("bounded-range-to-zcdp", "bounded-range-to-zcdp-sharp"):
        yield chosen.to(vm.ZCDP, by=by)
    yield vm.exponential(SCORES, scale="1/10000000").to(vm.ZCDP, by="bounded-range-to-zcdp-sharp")
    yield vm.exponential(SCORES, scale=4).to(vm.ApproxDP, delta="1e-6")
    yield vm.exponential(SCORES, scale=4).to(vm.ApproxDP, epsilon="1/10")
    # The best order is far from 2: a huge loss at a small epsilon, and a tiny one.
    yield (COUNT >> vm.gaussian(scale="1/6")).to(vm.ApproxDP, epsilon="1/1000000")
    yield (COUNT >> vm.gaussian(scale=10**9)).to(vm.ApproxZCDP).to(vm.ApproxDP, epsilon="1/2")
    vouched = vm.measurement(
        ROWS, function=len, measure=vm.GaussianDP, privacy=vm.gdp, trust="its noise is that of real Gaussians"
    )
    yield vouched.to(vm.ZCDP)
    for delta in ("1/1000000", "1/3", 1, 0):
        yield vouched.to(vm.ApproxDP, delta=delta)
    for epsilon in (0, "1/100", 3):
        yield vouched.to(vm.ApproxDP, epsilon=epsilon)
    yield vouched.to(vm.RenyiDP, order=[2, 3])
    listed = vm.measurement(ROWS, function=len, measure=vm.Profile, privacy=_listed, trust="it is so")
    yield listed.to(vm.ApproxDP, delta="1/9")
    yield listed.to(vm.ApproxDP, epsilon=2)


def _listed(d_in: Any) -> Any:
    return vm.Profile.infinite if d_in == float("inf") else vm.profile({d_in: "1/8", 3 * d_in: "1/64"})


def compositions() -> Iterator[vm.Measurement]:
    """Several measurements as one, and queryables with a budget."""
    count, total = vm.count() >> vm.laplace(scale=10), vm.sum() >> vm.laplace(scale=90)
    space = vm.Space(BOUNDED, ADDED)
    for measure in (None, vm.PureDP, vm.ZCDP, vm.ApproxZCDP, vm.RenyiDP, vm.ApproxDP, vm.BoundedRange):
        yield vm.compose(space, [count, total, count], measure=measure) >> vm.postprocess(sum)
    yield vm.compose(space, [], measure=vm.RenyiDP)
    vouched = vm.measurement(space, function=len, measure=vm.GaussianDP, privacy=vm.gdp, trust="its noise is real")
    yield vm.compose(space, [vouched, vouched])
    yield vm.compose(space, [vm.compose(space, [count, total]), count]).to(vm.ZCDP)
    yield vm.adaptive(space, d_in=2, losses=[vm.pure("1/10"), vm.pure("1/5")])
    yield vm.adaptive(space, d_in=2, losses=[vm.renyi({2: 1, 3: 2}), vm.renyi({2: 1})])
    yield vm.adaptive(space, d_in=2, losses=[vm.approx(1, "2/3"), vm.approx(1, "2/3")])
    yield vm.adaptive(space, d_in=2, losses=[], measure=vm.ApproxZCDP)
    odometer = vm.Odometer(space, vm.ApproxDP)
    for rule in ("sum", "concentrated", "advanced"):
        yield odometer.filter(d_in=2, budget=vm.approx(1, "1e-6"), rule=rule)
    yield vm.Odometer(space, vm.ZCDP).filter(d_in=2, budget=vm.zcdp("1/2"))


def computations() -> list[Computation]:
    """All of them."""
    return [*transformations(), *mechanisms(), *conversions(), *compositions()]
