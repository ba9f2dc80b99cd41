"""The composition as a measurement: what it costs at every distance, what it releases, and who may meter it."""

from typing import Any

import pytest
from tests.cases import for_each

import viameter as vm
from viameter import neighborhood as nb
from viameter.arith import INFINITY
from viameter.errors import NoTheorem, ParameterError, ViameterError

VISITS = vm.Space(vm.tables({"ward": str, "wait": int}), vm.SymmetricDistance())
DATA = {"ward": ["A", "B", "B", "C"], "wait": [10, 20, 30, 40]}
NUMBERS = vm.Space(vm.vectors(int), vm.SymmetricDistance())


def noisy_count(scale: int = 10) -> Any:
    """A count with noise; it costs one over the scale."""
    return vm.count() >> vm.laplace(scale=scale)


def wards(space: vm.Space = VISITS) -> Any:
    """A part for each of three wards."""
    return nb.split(space, [["A"], ["B"], ["C"]], column="ward")


def counts(*scales: int, target: Any = None, space: vm.Space = VISITS, mode: Any = "separate") -> Any:
    """Counts of the wards, composed."""
    parts = zip(wards(space), scales, strict=False)
    return nb.compose(target or nb.unbounded(), [nb.leaf(part, noisy_count(scale), mode=mode) for part, scale in parts])


def test_the_loss_at_each_distance_is_that_of_the_worst_so_many_steps() -> None:
    release = nb.measurement(counts(10, 5, 4))
    assert release.map(0) == vm.pure(0)
    assert release.map(1) == vm.pure("1/4")
    for steps in (2, 3, 10):
        assert release.map(steps) == vm.pure(f"{steps}/4")
    assert release.map(INFINITY) == vm.PureDP.infinite
    assert not release.map(INFINITY).is_finite


def test_laws_that_are_no_lines_are_asked_at_every_way_to_spread_the_steps() -> None:
    def clamped(part: Any) -> Any:
        return vm.measurement(
            part.transformation.output_space,
            function=lambda rows: min(1, len(rows)),
            measure=vm.PureDP,
            privacy=lambda d: vm.pure(min(d, 1)),
            trust="a count that is clamped to 0 and 1",
        )

    parts = nb.split(NUMBERS, [[1], [2], [3]])
    release = nb.measurement(nb.compose(nb.unbounded(), [nb.leaf(part, clamped(part)) for part in parts]))
    assert [release.map(steps) for steps in range(5)] == [vm.pure(min(steps, 3)) for steps in range(5)]


def test_it_releases_what_each_measurement_releases_of_its_part() -> None:
    space = vm.Space(vm.tables({"ward": str, "wait": int}), vm.SymmetricDistance())

    def size(part: Any) -> Any:
        return vm.measurement(
            part.transformation.output_space,
            function=lambda rows: len(rows["wait"]),
            measure=vm.PureDP,
            privacy=vm.pure,
            trust="test",
        )

    release = nb.measurement(nb.compose(nb.unbounded(), [nb.leaf(part, size(part)) for part in wards(space)]))
    assert list(release(DATA)) == [1, 2, 1]
    assert list(release({"ward": ["D"], "wait": [1]})) == [0, 0, 0]


def test_the_last_part_of_a_split_with_rest_holds_all_other_rows() -> None:
    parts: Any = nb.split(NUMBERS, [[1], [2, 3]], rest=True)
    kept = [list(part.transformation([1, 2, 3, 4, 5, 1])) for part in parts]
    assert kept == [[1, 1], [2, 3], [4, 5]]
    edges: Any = nb.bins(NUMBERS, [0, 2, 4])
    assert [list(part.transformation([-1, 0, 1, 2, 3, 4])) for part in edges] == [[0, 1], [2, 3]]


@for_each(
    ("metric", "target"),
    [
        (vm.SymmetricDistance(), nb.unbounded()),
        (vm.ChangeOneDistance(), nb.bounded()),
        (vm.HammingDistance(), nb.bounded_ordered()),
        (vm.InsertDeleteDistance(), nb.insert_delete()),
    ],
)
def test_where_every_part_is_the_whole_it_is_sequential_composition(metric: Any, target: Any) -> None:
    space = vm.Space(vm.vectors(int), metric)
    members = [space >> noisy_count(scale) for scale in (10, 4)]
    release = nb.measurement(nb.compose(target, [nb.leaf(nb.whole(), each) for each in members]), space)
    plain = vm.compose(space, members)
    for distance in (0, 1, 2, 7, INFINITY):
        assert release.map(distance) == plain.map(distance)
    assert len(list(release([1, 2, 3]))) == 2


@for_each(
    ("metric", "target"),
    [
        (vm.SymmetricDistance(), nb.unbounded()),
        (vm.ChangeOneDistance(), nb.bounded()),
        (vm.HammingDistance(), nb.bounded_ordered()),
        (vm.InsertDeleteDistance(), nb.insert_delete()),
    ],
)
@for_each("mode", ["separate", "common"])
def test_it_never_costs_more_than_sequential_composition_of_the_chains(metric: Any, target: Any, mode: Any) -> None:
    space = vm.Space(vm.vectors(int), metric)
    parts: Any = nb.split(space, [[1], [2]], rest=True)
    leaves = [nb.leaf(part, noisy_count(), mode=mode) for part in parts]
    release = nb.measurement(nb.compose(target, leaves))
    chains: list[Any] = [part.transformation >> noisy_count() for part in parts]
    plain = vm.compose(space, chains)
    for distance in (0, 1, 2, 3):
        assert release.map(distance) <= plain.map(distance)
    # A replaced record is in two parts at most; one that comes or goes, in one.
    parts_touched = 1 if target in (nb.unbounded(), nb.insert_delete()) else 2
    worst = max(chain.map(1).epsilon for chain in chains)
    assert release.map(1) <= vm.pure(worst * parts_touched)
    assert vm.pure("1/10") <= release.map(1)


def test_the_explanation_shows_the_theorem_the_pattern_and_what_is_trusted() -> None:
    part = nb.partition(2)[0].through(wards()[0].transformation, trust="rows of ward A are those of part 0")
    release = nb.measurement(nb.compose(nb.unbounded(), [nb.leaf(part, noisy_count())]))
    text = str(release.explain(2))
    assert "composition-over-parts" in text
    assert "rows of ward A are those of part 0" in text
    assert "pure(1/5)" in text
    assert str(nb.measurement(counts(10, 5, 4)).explain(1)).count("laplace(scale=4)") == 1


def test_there_is_no_certificate_that_a_checker_could_not_repeat() -> None:
    with pytest.raises(ViameterError):
        nb.measurement(counts(10, 5, 4)).certificate(1)


def test_an_odometer_meters_a_composed_measurement() -> None:
    release = nb.measurement(counts(10, 5, 4))
    meter = vm.Odometer(VISITS, vm.PureDP)(DATA)
    meter(release)
    meter(VISITS >> noisy_count())
    assert meter.loss(1) == vm.pure("7/20")
    assert meter.loss(3) == vm.pure("21/20")
    assert vm.compose(VISITS, [release, VISITS >> noisy_count()]).map(1) == vm.pure("7/20")


def test_losses_are_converted_on_the_way() -> None:
    composed = nb.compose(nb.unbounded(), [nb.leaf(part, noisy_count()) for part in wards()], measure=vm.ZCDP)
    release = nb.measurement(composed)
    assert release.measure == vm.ZCDP
    single: Any = (VISITS >> noisy_count()).to(vm.ZCDP)
    assert release.map(1) == single.map(1)
    assert not release.map(2) < single.map(2)


@for_each(
    "composed",
    [
        lambda: nb.compose(nb.unbounded(), nb.leaves(nb.partition(2), vm.pure(1))),
        lambda: nb.compose(nb.unbounded(), [nb.leaf(nb.partition(2)[0], VISITS >> noisy_count())]),
        lambda: nb.compose(nb.unbounded(), [nb.leaf(wards()[0].then(stability=1).then(stability=2), noisy_count())]),
        lambda: nb.compose(nb.unbounded(), [nb.leaf(wards()[0], noisy_count()).also(vm.pure(1))]),
        lambda: nb.compose(nb.unbounded(), [nb.leaf(wards()[0], counts(10, 10, 10))]),
        lambda: nb.compose(nb.unbounded(), [nb.leaf(wards()[0], VISITS >> noisy_count(), mode="common")]),
        lambda: nb.compose(nb.unbounded(), [nb.leaf(nb.whole(), NUMBERS >> noisy_count())]),
        lambda: None,
    ],
)
def test_what_cannot_run_is_refused(composed: Any) -> None:
    with pytest.raises(ViameterError):
        nb.measurement(composed(), VISITS)


def test_parts_of_two_spaces_are_refused() -> None:
    other = vm.Space(vm.tables({"ward": str, "wait": int, "age": int}), vm.SymmetricDistance())
    leaves = [nb.leaf(wards()[0], noisy_count()), nb.leaf(wards(other)[0], noisy_count())]
    with pytest.raises(ParameterError, match="its map takes data of"):
        nb.measurement(nb.compose(nb.unbounded(), leaves))


@pytest.mark.parametrize("metric", [vm.ChangeOneDistance(), vm.InsertDeleteDistance(), vm.HammingDistance()])
def test_a_composition_for_another_granularity_than_the_data_s_is_refused(metric: Any) -> None:
    space = vm.Space(vm.tables({"ward": str, "wait": int}), metric)
    with pytest.raises(NoTheorem, match="compose for the granularity of that metric"):
        nb.measurement(counts(10, 10, 10, target=nb.unbounded(), space=space))
    with pytest.raises(NoTheorem):
        nb.measurement(counts(10, 10, 10, target=nb.group(nb.unbounded(), 2)))


def test_users_with_few_rows_are_not_those_of_a_metric_that_allows_any_number() -> None:
    users = vm.Space(vm.tables({"id": str, "ward": str}), vm.SymmetricIdDistance("id"))
    parts = nb.split(users, [["A"], ["B"]], column="ward")

    def released(part: Any) -> Any:
        return vm.measurement(
            part.transformation.output_space,
            function=lambda _: 0,
            measure=vm.PureDP,
            privacy=vm.pure,
            trust="test",
        )

    leaves = [nb.leaf(part, released(part)) for part in parts]
    assert nb.measurement(nb.compose(nb.user(), leaves)).map(1) == vm.pure(2)  # one user may be in both wards
    for other in (nb.user(rows=1), nb.user(alters=True), nb.user(times=1)):
        with pytest.raises(ViameterError):
            nb.measurement(nb.compose(other, leaves))
        with pytest.raises(ViameterError):
            nb.leaf(parts[0], released(parts[0]), granularity=other)
