"""filter: which rows are kept, and how stable that is."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import for_each
from tests.spaces.oracles import GREATEST, INFINITY, LEAST, NORMS, loose, name_of, rows_of, sequences, table_of
from tests.transforms.oracles import check_order_is_ignored, check_stability, drawn, image

import viameter as vm
from viameter.core import Metric
from viameter.errors import NoTheorem, ParameterError
from viameter.transforms import Predicate

NAN, INF = math.nan, math.inf
SYMMETRIC = vm.SymmetricDistance()
ADDING: tuple[Metric, ...] = (SYMMETRIC, vm.InsertDeleteDistance())
REPLACED: dict[Metric, Metric] = {
    vm.ChangeOneDistance(): SYMMETRIC,
    vm.HammingDistance(): vm.InsertDeleteDistance(),
}
PREDICATES: list[tuple[Any, Any, list[Any]]] = [
    (vm.scalars(int), vm.between(0, "1.5"), [LEAST, 0, 1, GREATEST]),
    (vm.scalars(int), ~vm.between(0, None), [LEAST, 0, GREATEST]),
    (vm.scalars(float, nan=True), vm.between(0, 1), [NAN, -0.0, 1.0, INF]),
    (vm.scalars(float, nan=True), ~vm.between("0.1", None), [NAN, 0.1, -INF]),
    (vm.scalars(str), vm.is_in(["a", "b"]), ["a", "b", "c"]),
    (vm.scalars(str), ~vm.is_in(["a"]) & vm.is_in(["a"]), ["a", "b"]),
    (vm.categories([1, 2, 3]), vm.is_in([1]) | vm.is_in([3]), [1, 2, 3]),
]
EACH = for_each(("element", "predicate", "letters"), PREDICATES)
TABLE = vm.tables({"user": str, "value": int})
TABLE_LETTERS = list(itertools.product("uv", (0, 1)))


def tables_of(most: int) -> list[dict[str, list[Any]]]:
    return [table_of(TABLE.names, rows) for rows in sequences(TABLE_LETTERS, most)]


class AboveTheMean(Predicate):
    """What may not be: a predicate for which whether a row is kept depends on all rows."""

    def check(self, domain: Any) -> None:
        """Everything."""

    def mask(self, values: Any) -> Any:
        """Depends on all."""
        return values > values.mean() if len(values) else values > 0


@EACH
@for_each("metric", ADDING)
def test_filter_of_added_rows_ensures_d_in(metric: Metric, element: Any, predicate: Any, letters: list[Any]) -> None:
    made = vm.Space(vm.vectors(element), metric) >> vm.filter(predicate)
    attained = check_stability(made, sequences(letters, 3 if len(letters) < 4 else 2))
    assert made.output_space.metric == metric
    assert [made.map(d) for d in (0, 1, 7, INFINITY)] == [0, 1, 7, INFINITY]
    if image(made, letters).size:
        assert {1, 2} <= attained


def test_filter_of_added_rows_ensures_d_in_for_users() -> None:
    space = vm.Space(TABLE, vm.SymmetricIdDistance("user"))
    for recipe in (
        vm.filter(vm.between(1, None), column="value"),
        vm.filter(vm.is_in(["u"]), column="user"),
        vm.filter(lambda row: row["value"] == 1, trust="it is a function of the row"),
    ):
        made = space >> recipe
        assert 1 in check_stability(made, tables_of(3))
        assert made.output_space == space


@pytest.mark.parametrize("metric", ADDING, ids=name_of)
def test_filter_of_added_rows_ensures_d_in_for_tables(metric: Metric) -> None:
    made = vm.Space(TABLE, metric) >> vm.filter(vm.between(1, None), column="value")
    assert {1, 2} <= check_stability(made, tables_of(2))


def test_filter_of_added_rows_ensures_that_the_order_stays_overlooked() -> None:
    for element, predicate, letters in PREDICATES:
        made = vm.Space(vm.vectors(element), SYMMETRIC) >> vm.filter(predicate)
        check_order_is_ignored(made, [letters, letters[:2] * 2])


@EACH
def test_filter_of_added_rows_requires_that_keeping_a_row_depends_on_that_row_alone(
    element: Any, predicate: Any, letters: list[Any]
) -> None:
    made = vm.Space(vm.vectors(element), SYMMETRIC) >> vm.filter(predicate)
    alone = [rows_of(image(made, [letter])) for letter in letters]
    assert rows_of(image(made, letters * 5)) == tuple(row for rows in alone for row in rows) * 5


def test_filter_of_added_rows_requires_a_row_alone_and_fails_for_the_rows_above_the_mean() -> None:
    one, other = [0, 1, 2, 3], [0, 1, 2, 3, 100]
    assert SYMMETRIC.distance(np.array(one), np.array(other)) == 1
    kept = [np.array([value for value in data if value > sum(data) / len(data)]) for data in (one, other)]
    assert SYMMETRIC.distance(*kept) == 3


# The images of two datasets that are 1 apart would be 3 apart, and the map says 1.
def test_filter_of_added_rows_requires_trust_for_a_predicate_of_ones_own() -> None:
    space, own, known = vm.Space(vm.vectors(int), SYMMETRIC), AboveTheMean(), vm.between(0, 9)
    for predicate in (own, ~own, own & known, known & own, own | known, known | own, ~(known & ~own)):
        with pytest.raises(ParameterError, match="trust"):
            space >> vm.filter(predicate)
        made = space >> vm.filter(predicate, trust="it is a function of the row")
        assert any("it is a function of the row" in text for text in made.explain(1).assumptions)
    assert not (space >> vm.filter(~(known & ~known) | known)).explain(1).assumptions


def test_filter_of_added_rows_requires_that_a_function_of_ones_own_is_deterministic() -> None:
    space = vm.Space(vm.vectors(int), SYMMETRIC)
    coin = itertools.cycle([True, False])
    made = space >> vm.filter(lambda _: next(coin), trust="it is deterministic")
    assert made.map(0) == 0
    assert rows_of(made([1, 2, 3])) != rows_of(made([1, 2, 3]))
    assert made.explain(1).assumptions == ("it is deterministic (filter <lambda>)",)
    assert "it is deterministic" in str((made >> vm.count()).explain(1))
    for trust in (None, "", " "):
        with pytest.raises(ParameterError, match="trust="):
            space >> vm.filter(lambda _: True, trust=trust)
    assert (space >> vm.filter(vm.between(0, 1))).explain(1).assumptions == ()


def test_filter_of_added_rows_requires_that_a_row_for_which_it_raises_is_not_kept() -> None:
    made = vm.Space(vm.vectors(int), SYMMETRIC) >> vm.filter(lambda value: 1 / value > 0, trust="it is a function")
    assert image(made, [0, 1, -1, 2]).tolist() == [1, 2]
    no_truth = vm.Space(vm.vectors(int), SYMMETRIC) >> loose.filter(
        lambda _: np.array([1, 2]), trust="it is a function"
    )
    assert image(no_truth, [0, 1]).tolist() == []
    check_stability(made, sequences([0, 1, -1], 3))


def test_filter_of_added_rows_requires_that_a_row_for_which_it_leaves_the_program_is_not_kept() -> None:
    def leaves(value: int) -> bool:
        if value == 1:
            raise SystemExit
        return True

    made = vm.Space(vm.vectors(int), SYMMETRIC) >> vm.filter(leaves, trust="it is a function")
    assert image(made, [0, 1, 2]).tolist() == [0, 2]


@EACH
@for_each("metric", REPLACED)
def test_filter_of_replaced_rows_ensures_2_d_in(
    metric: Metric, element: Any, predicate: Any, letters: list[Any]
) -> None:
    made = vm.Space(vm.vectors(element), metric) >> vm.filter(predicate)
    check_stability(made, sequences(letters, 3 if len(letters) < 4 else 2))
    assert made.output_space.metric == REPLACED[metric]
    assert [made.map(d) for d in (0, 1, 7, INFINITY)] == [0, 2, 14, INFINITY]


@pytest.mark.parametrize("metric", REPLACED, ids=name_of)
def test_filter_of_replaced_rows_ensures_a_bound_that_is_attained(metric: Metric) -> None:
    made = vm.Space(vm.vectors(int), metric) >> vm.filter(vm.between(0, None))
    assert {1, 2} <= check_stability(made, sequences([-1, 0, 1], 2))


def test_filter_of_replaced_rows_ensures_2_d_in_for_users() -> None:
    made = vm.Space(TABLE, vm.ChangeOneIdDistance("user")) >> vm.filter(vm.between(1, None), column="value")
    assert made.output_space.metric == vm.SymmetricIdDistance("user")
    assert made.map(3) == 6
    check_stability(made, tables_of(3))
    everything = vm.Space(TABLE, vm.ChangeOneIdDistance("user")) >> vm.filter(vm.between(0, None), column="value")
    assert {1, 2} <= check_stability(everything, tables_of(2))


def test_filter_of_replaced_rows_requires_that_keeping_a_row_depends_on_that_row_alone() -> None:
    # For the rows above the mean the conclusion fails: one row is replaced, and three go.
    one, other = [0, 1, 2, 2, 2], [100, 1, 2, 2, 2]
    assert vm.ChangeOneDistance().distance(np.array(one), np.array(other)) == 1
    kept = [np.array([value for value in data if value > sum(data) / len(data)]) for data in (one, other)]
    assert SYMMETRIC.distance(*kept) > 2


def test_filter_of_replaced_rows_requires_that_the_size_is_not_taken_for_public_any_more() -> None:
    for domain in (vm.vectors(int, size=2), vm.tables({"a": int}, size=2)):
        for metric in (*ADDING, *REPLACED):
            recipe = vm.filter(vm.between(0, None), column=None if isinstance(domain, type(vm.vectors(int))) else "a")
            made = vm.Space(domain, metric) >> recipe
            assert made.output_space.domain.size is None  # type: ignore[attr-defined]
            assert (made >> vm.count()).map(1) >= 1


@given(
    left=st.lists(st.integers(-3, 3), max_size=8),
    right=st.lists(st.integers(-3, 3), max_size=8),
    ends=st.tuples(st.integers(-3, 3), st.integers(-3, 3)),
)
@drawn
def test_a_filter_keeps_rows_in_order_and_is_stable_for_whatever_is_drawn(
    left: list[int], right: list[int], ends: tuple[int, int]
) -> None:
    predicate = vm.between(min(ends), max(ends))
    for metric in (*ADDING, *REPLACED):
        made = vm.Space(vm.vectors(int), metric) >> vm.filter(predicate)
        check_stability(made, [left, right])
        assert image(made, left).tolist() == [value for value in left if min(ends) <= value <= max(ends)]


def test_a_filter_of_a_table_keeps_whole_rows() -> None:
    made = vm.Space(TABLE, SYMMETRIC) >> vm.filter(vm.is_in(["u"]), column="user")
    kept = image(made, {"user": ["u", "v", "u"], "value": [1, 2, 3]})
    assert kept["user"].tolist() == ["u", "u"]
    assert kept["value"].tolist() == [1, 3]


@for_each("metric", [*NORMS, vm.DiscreteDistance()])
def test_a_filter_is_not_known_for_other_metrics(metric: Metric) -> None:
    with pytest.raises(NoTheorem, match="not for"):
        vm.Space(vm.vectors(int), metric) >> vm.filter(vm.between(0, 1))


@for_each(
    ("domain", "recipe", "said"),
    [
        (vm.vectors(int), vm.filter(vm.between(0, 1), column="a"), "has no columns"),
        (vm.vectors(int), loose.filter(5), "predicate=5"),
        (vm.vectors(int), loose.filter(None), "predicate=None"),
        (vm.vectors(int), vm.filter(vm.is_in(["a"])), "no element"),
        (vm.vectors(str), vm.filter(vm.between(0, 1)), "compares numbers"),
        (TABLE, vm.filter(vm.between(0, 1)), "needs column="),
        (TABLE, vm.filter(vm.between(0, 1), column="age"), "'age' does not exist"),
        (TABLE, vm.filter(vm.between(0, 1), column="user"), "compares numbers"),
        (TABLE, loose.filter(len, column="value", trust="t"), "whole row"),
    ],
)
def test_filters_that_make_no_sense_are_refused_by_name(domain: Any, recipe: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        vm.Space(domain, SYMMETRIC) >> recipe


def test_a_filter_takes_vectors_and_tables_only() -> None:
    with pytest.raises(ParameterError, match="takes vectors and tables"):
        vm.Space(vm.scalars(int), vm.AbsoluteDistance()) >> vm.filter(vm.between(0, 1))
