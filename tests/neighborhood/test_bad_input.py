"""Bad input: every wrong argument is an error of the library or an infinite loss, and never a small number."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from tests.cases import for_each

import viameter as vm
from viameter import neighborhood
from viameter.errors import ParameterError, ViameterError
from viameter.neighborhood.changes import Records

nb: Any = neighborhood
"""The room, of which a checker of types asks nothing, so that what is wrong can be given."""
PART = nb.partition(2)[0]
LEAF = nb.leaf(PART, vm.pure(1))
NAN, INF = math.nan, math.inf
ROWS = vm.Space(vm.vectors(int), vm.SymmetricDistance())

NO_COUNT: list[Any] = [0, -1, 1.0, 1.5, NAN, INF, True, "2", None, Fraction(3, 2), [1], (), {}]
"""What is no number of things."""
NO_LIST: list[Any] = [None, 3, NAN, object(), 2.5]
"""What is no list of anything."""


def refused(*makers: Callable[[], Any]) -> None:
    """Each is an error of the library."""
    for make in makers:
        with pytest.raises(ViameterError):
            make()


@for_each("count", NO_COUNT)
@for_each(
    "make",
    [
        lambda n: nb.group(nb.unbounded(), n),
        nb.k_edge,
        nb.w_event,
        lambda n: nb.subsets(n, at_most=1),
        lambda n: nb.subsets(3, at_most=n),
        nb.induced,
        nb.incident,
        nb.by_source,
        lambda n: nb.contributions(n, l1=2),
        lambda n: nb.windows(length=n, horizon=10),
        lambda n: nb.windows(length=1, horizon=n),
        lambda n: nb.windows(length=1, horizon=10, step=n),
        lambda n: nb.constrained(n, most=1),
        lambda n: nb.partition(2, values=n) if n != 2 else nb.partition(0),
        lambda n: nb.foreign_keys({"a": {}, "b": {"a": n}}),
    ],
)
def test_what_is_no_number_of_things_is_refused(make: Callable[[Any], Any], count: Any) -> None:
    with pytest.raises(ViameterError):
        make(count)


@for_each("count", [each for each in NO_COUNT if each is not None])
@for_each(
    "make",
    [
        lambda n: nb.user(rows=n),
        lambda n: nb.user(times=n),
        lambda n: nb.node(degree=n),
        lambda n: nb.node(nodes=n),
        lambda n: nb.node_rewire(degree=n),
        lambda n: nb.out_link(nodes=n),
        lambda n: nb.attribute(columns=n),
        lambda n: nb.bounded_ordered(columns=n),
        lambda n: nb.local(columns=n),
        lambda n: nb.contributions(3, l0=n, l1=2),
        lambda n: nb.contributions(3, l1=n),
        lambda n: nb.contributions(3, linf=n),
    ],
)
def test_limits_that_are_no_numbers_are_refused(make: Callable[[Any], Any], count: Any) -> None:
    with pytest.raises(ViameterError):
        make(count)


TAKES_A_LIST: dict[str, Callable[[Any], Any]] = {
    "partition": nb.partition,
    "memberships": nb.memberships,
    "parts of a value": lambda x: nb.memberships({"a": x}),
    "tree": nb.tree,
    "intervals": nb.intervals,
    "a span": lambda x: nb.intervals([x]),
    "patterns": nb.patterns,
    "a pattern": lambda x: nb.patterns([x]),
    "projections": nb.projections,
    "a projection": lambda x: nb.projections([x]),
    "predicates": lambda x: nb.predicates(x, domains={"a": [1]}),
    "domains": lambda x: nb.predicates([{"a": [1]}], domains=x),
    "a conjunction": lambda x: nb.predicates([x], domains={"a": [1]}),
    "foreign keys": nb.foreign_keys,
    "policy": nb.policy,
    "a pair": lambda x: nb.policy([x]),
    "personalised": nb.personalised,
    "a constraint": lambda x: nb.constrained(2, most=1, constraints=[x]),
    "compose": lambda x: nb.compose(nb.unbounded(), x),
    "leaves": lambda x: nb.leaves(x, vm.pure(1)),
    "brute force": lambda x: nb.brute_force(nb.unbounded(), x),
    "split": lambda x: nb.split(ROWS, x),
    "a part of a split": lambda x: nb.split(ROWS, [x]),
    "bins": lambda x: nb.bins(ROWS, x),
    "edits": lambda x: nb.granularity("g", protects="p", edits=x, distance=lambda _: 1, trust="t"),
}


@for_each("name", TAKES_A_LIST)
def test_what_is_no_list_is_refused(name: str) -> None:
    for wrong in NO_LIST:
        if name == "partition" and wrong == 3:
            continue  # so many parts
        with pytest.raises(ViameterError):
            TAKES_A_LIST[name](wrong)


@for_each("wrong", [None, 1, "unbounded", nb.unbounded, vm.SymmetricDistance(), vm.pure(1)])
def test_what_is_no_granularity_is_refused(wrong: Any) -> None:
    refused(
        lambda: nb.compose(wrong, [LEAF]),
        lambda: nb.group(wrong, 2),
        lambda: nb.stability(wrong, nb.unbounded()),
        lambda: nb.translate(vm.pure(1), frm=nb.unbounded(), to=wrong),
        lambda: nb.brute_force(wrong, [LEAF]),
        lambda: nb.PatternTally(wrong, vm.PureDP),
    )
    if wrong is not None:
        refused(
            lambda: nb.leaf(PART, vm.pure(1), granularity=wrong),
            lambda: LEAF.also(vm.pure(1), granularity=wrong),
            lambda: nb.personalised(["a"], wrong),
        )


@for_each("wrong", [None, 1, 0.5, "0.5", Fraction(1, 2), NAN, [vm.pure(1)], vm.PureDP])
def test_what_is_no_loss_is_refused(wrong: Any) -> None:
    refused(
        lambda: nb.leaf(PART, wrong),
        lambda: LEAF.also(wrong),
        lambda: nb.leaf(PART, {1: wrong}),
        lambda: nb.leaf(PART, {"a": wrong}),
        lambda: nb.leaves(nb.partition(2), wrong),
        lambda: nb.translate(wrong, frm=nb.unbounded(), to=nb.bounded()),
        lambda: nb.PatternTally(nb.unbounded(), vm.PureDP).charge(wrong),
        lambda: nb.compose(nb.unbounded(), [wrong]),
    )


@for_each("wrong", [None, 1, nb.partition(2), "part", vm.pure(1)])
def test_what_is_no_map_is_refused(wrong: Any) -> None:
    refused(
        lambda: nb.leaf(wrong, vm.pure(1)),
        lambda: nb.leaves([wrong], vm.pure(1)),
        lambda: nb.function(wrong),
    )


@for_each("wrong", [-1, "-1/2", NAN, 0.5, INF, None, "x", [1], True])
def test_what_is_no_stability_or_radius_is_refused(wrong: Any) -> None:
    refused(lambda: nb.opaque(stability=wrong), lambda: PART.then(stability=wrong), lambda: nb.geo(wrong))


def test_overlapping_parts_are_no_partition() -> None:
    with pytest.raises(ParameterError, match="overlap"):
        nb.partition([["a", "b"], ["b"]])
    with pytest.raises(ParameterError, match="in another part"):
        nb.split(ROWS, [[1, 2], [2]])
    with pytest.raises(ViameterError):
        nb.bins(ROWS, [0, 5, 3])
    with pytest.raises(ViameterError):
        nb.bins(ROWS, [0, 0])
    refused(lambda: nb.partition([]), lambda: nb.partition([[]]), lambda: nb.partition([["a"], []]))
    for by in ("values", None, 1, ["value"]):
        with pytest.raises(ViameterError):
            nb.partition(2, by=by)
    with pytest.raises(ParameterError):
        nb.partition([["a"]], by="id")


@for_each(
    "make",
    [
        lambda: nb.memberships({"a": [-1]}),
        lambda: nb.memberships({"a": [0.0]}),
        lambda: nb.memberships({"a": [True]}),
        lambda: nb.memberships({"a": [3]}, parts=2),
        lambda: nb.memberships({}),
        lambda: nb.patterns([(1, -1)]),
        lambda: nb.patterns([(1, 0.5)]),
        lambda: nb.patterns([(1, NAN)]),
        lambda: nb.patterns([(1,), (1, 2)]),
        lambda: nb.patterns([()]),
        lambda: nb.patterns([]),
        lambda: nb.intervals([(2, 1)]),
        lambda: nb.intervals([(0, 1.0)]),
        lambda: nb.intervals([(0, 1, 2)]),
        lambda: nb.intervals([]),
        lambda: nb.windows(length=5, horizon=4),
        lambda: nb.tree({"a": "a"}),
        lambda: nb.tree({"a": "b", "b": "a"}),
        lambda: nb.tree({"a": "c"}),
        lambda: nb.foreign_keys({"a": {"b": 1}, "b": {"a": 1}}),
        lambda: nb.foreign_keys({"a": {"a": 1}}),
        lambda: nb.foreign_keys({"a": {"c": 1}}),
        lambda: nb.predicates([{"x": [1]}], domains={"y": [1]}),
        lambda: nb.predicates([], domains={"y": [1]}),
        lambda: nb.policy([("a", "a")]),
        lambda: nb.policy([("a", "b", "c")]),
        lambda: nb.policy([]),
        lambda: nb.personalised([]),
        lambda: nb.personalised(["a", "a"]),
        lambda: nb.entity(""),
        lambda: nb.entity(3),
        lambda: nb.constrained(2, most=[1]),
        lambda: nb.constrained(2, most=-1),
        lambda: nb.constrained(2, most=1, constraints=[({5: 1}, 1)]),
        lambda: nb.constrained(2, most=1, constraints=[({0: 0.5}, 1)]),
        lambda: nb.constrained(2, most=1, constraints=[({0: 1}, NAN)]),
        lambda: nb.contributions(3),
        lambda: nb.leaf(PART, vm.pure(1), mode="shared"),
        lambda: nb.leaf(PART, nb.compose(nb.unbounded(), [LEAF]), mode="common"),
        lambda: nb.leaf(PART, nb.compose(nb.unbounded(), [LEAF]), granularity=nb.unbounded()),
        lambda: nb.leaf(PART, nb.compose(nb.unbounded(), [LEAF])).also(vm.pure(1)),
        lambda: nb.leaf(PART, {"a": vm.pure(1)}).also(vm.pure(1)),
        lambda: PART.through(None, trust="x"),
        lambda: nb.granularity("g", protects="p", edits=[], distance=lambda _: 1, trust="t"),
        lambda: nb.granularity("g", protects="p", edits=[Records(1, 0)], distance=lambda _: 1, trust=" "),
        lambda: nb.split(1, [[1]]),
        lambda: nb.split(ROWS, ["a"]),
        lambda: nb.split(ROWS, [[]]),
        lambda: nb.split(ROWS, []),
        lambda: nb.bins(ROWS, [1]),
        lambda: nb.bins(ROWS, "12"),
        lambda: nb.measurement(None),
        lambda: nb.brute_force(nb.unbounded(), [LEAF, nb.leaf(nb.partition(2)[0], vm.pure(1))]),
        lambda: nb.brute_force(nb.unbounded(), []),
    ],
)
def test_what_makes_no_sense_is_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(ViameterError):
        make()


@pytest.mark.parametrize("unhashable", [[["a"]], {"a": 1}])
def test_values_without_a_hash_are_refused(unhashable: Any) -> None:
    refused(lambda: nb.partition([[unhashable]]), lambda: nb.policy([(unhashable, "a")]))


def test_a_policy_of_values_that_no_part_lists_is_refused() -> None:
    cut = nb.memberships({"a": [0], "b": [1]})
    with pytest.raises(ParameterError, match="in no list"):
        nb.compose(nb.policy([("a", "z")]), nb.leaves(cut, vm.pure(1), mode="common"))


def test_constraints_that_no_pattern_satisfies_are_refused() -> None:
    for rows in ([({0: 1}, -1)], [({0: 1, 1: 1}, 1), ({0: -1, 1: -1}, -2)]):
        cut = nb.constrained(2, most=3, constraints=rows)
        with pytest.raises(ParameterError, match="no amounts satisfy"):
            nb.compose(nb.unbounded(), nb.leaves(cut, vm.pure(1)))


@for_each("far", [-1, NAN, 0.5, None, "1", True, Fraction(-1, 2)])
def test_a_distance_of_one_s_own_that_is_no_number_of_steps_is_an_error(far: Any) -> None:
    own = nb.granularity("g", protects="p", edits=[Records(1, 0)], distance=lambda _: far, trust="t")
    with pytest.raises(ViameterError):
        nb.compose(own, [nb.leaf(nb.whole(), vm.pure(1))])
    with pytest.raises(ViameterError):
        nb.stability(own, nb.unbounded())


def test_a_distance_of_one_s_own_that_fails_says_so() -> None:
    def fail(_: Any) -> int:
        raise ZeroDivisionError("own code")

    own = nb.granularity("g", protects="p", edits=[Records(1, 0)], distance=fail, trust="t")
    with pytest.raises((ViameterError, ZeroDivisionError)):
        nb.compose(own, [nb.leaf(nb.whole(), vm.pure(1))])


def test_relations_that_are_not_symmetric_and_maps_that_leave_their_class_are_refused() -> None:
    with pytest.raises(ParameterError, match="not symmetric"):
        nb.PrivacySpace(range(3), relation=lambda a, b: a < b)
    with pytest.raises(ParameterError, match="triangle"):
        nb.PrivacySpace(range(3), metric=lambda a, b: (a - b) ** 2)
    space = nb.PrivacySpace(range(3), relation=lambda a, b: abs(a - b) == 1)
    leaf = nb.leaf(nb.function(lambda n: n), vm.pure(1))
    assert nb.compose(space, [leaf]).loss == vm.pure(1)
    for wrong in (
        [LEAF],
        [],
        [nb.leaf(nb.function(lambda n: [n]), vm.pure(1))],
        [leaf.also(vm.pure(1))],
        [nb.leaf(nb.function(lambda n: n).then(stability=2), vm.pure(1))],
    ):
        with pytest.raises(ViameterError):
            nb.compose(space, wrong)
    with pytest.raises(ViameterError):
        nb.compose(nb.unbounded(), [leaf])


def test_changes_that_a_cut_says_nothing_of_are_refused() -> None:
    for target, cut in (
        (nb.edge(), nb.partition(2)),
        (nb.unbounded(), nb.induced(2)),
        (nb.entity("patient"), nb.partition(2)),
        (nb.unbounded(), nb.foreign_keys({"patient": {}})),
        (nb.node(), nb.by_source(2)),
        (nb.bounded_ordered(), nb.partition(2, by="position")),
    ):
        with pytest.raises(ViameterError, match="nothing is known of how"):
            nb.compose(target, nb.leaves(cut, vm.pure(1)))
    with pytest.raises(ParameterError, match="no table"):
        nb.compose(nb.entity("doctor"), nb.leaves(nb.foreign_keys({"patient": {}}), vm.pure(1)))


def test_granularities_of_other_data_promise_nothing() -> None:
    for own in (nb.edge(), nb.entity("patient"), nb.out_link(), nb.node(), nb.geo(1), nb.policy([("a", "b")])):
        assert not nb.compose(nb.unbounded(), [nb.leaf(nb.whole(), vm.pure(1), granularity=own)]).loss.is_finite
        for mode in ("separate", "common"):
            leaf = nb.leaf(PART, vm.pure(1), granularity=own, mode=mode)
            assert not nb.compose(nb.unbounded(), [leaf]).loss.is_finite
    for own in (nb.unbounded(), nb.event(), nb.user(), nb.bounded()):
        assert not nb.compose(nb.edge(), [nb.leaf(nb.whole(), vm.pure(1), granularity=own)]).loss.is_finite


def test_errors_show_no_records() -> None:
    secret = "XSECRETX"
    makers: list[Callable[[], Any]] = [
        lambda: nb.partition([[secret], [secret]]),
        lambda: nb.memberships({secret: [-1]}),
        lambda: nb.compose(nb.policy([("a", secret)]), nb.leaves(nb.memberships({"a": [0]}), vm.pure(1))),
    ]
    for make in makers:
        with pytest.raises(ViameterError) as caught:
            make()
        assert secret not in str(caught.value)
