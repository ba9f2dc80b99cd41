"""Which filters one row can pass at once: against every row of small domains."""

from __future__ import annotations

import itertools
import random
from datetime import date, datetime
from typing import Any

import pytest

from viameter.tables import overlapping
from viameter.tables.expressions import Column, Expression, Kind, Type, case, evaluate, literal
from viameter.tables.overlapping import compares_text, conjuncts, is_known, touch_patterns

number, text = Column("number", Type(Kind.INTEGER)), Column("text", Type(Kind.TEXT))
flag, real = Column("flag", Type(Kind.BOOLEAN)), Column("real", Type(Kind.REAL))
day, moment = Column("day", Type(Kind.DATE)), Column("time", Type(Kind.TIMESTAMP))
DOMAINS: dict[str, list[Any]] = {
    "number": [None, *range(-1, 6)],
    "text": [None, "a", "b", "c", "A"],
    "flag": [None, False, True],
    "real": [None, *(x / 4 for x in range(-2, 11))],
    "day": [None, *(date(2024, 1, day) for day in range(1, 8))],
    "time": [None, *(datetime(2024, 1, 1, hour) for hour in range(8))],
}
CONSTANTS: dict[str, list[Any]] = {
    "number": [0, 2, 3],
    "text": ["a", "b"],
    "flag": [False, True],
    "real": [0.0, 1.0, 1.5],
    "day": [date(2024, 1, 3), date(2024, 1, 4), date(2024, 1, 6)],
    "time": [datetime(2024, 1, 1, 2), datetime(2024, 1, 1, 5)],
}
COLUMNS = {column.name: column for column in (number, text, flag, real, day, moment)}


def random_predicate(dice: random.Random, names: list[str], depth: int = 2) -> Expression:
    if depth and dice.random() < 0.6:
        left = random_predicate(dice, names, depth - 1)
        if dice.random() < 0.3:
            return ~left
        right = random_predicate(dice, names, depth - 1)
        return left & right if dice.random() < 0.5 else left | right
    name = dice.choice(names)
    column, constants = COLUMNS[name], CONSTANTS[name]
    one, other = sorted(dice.choices(constants, k=2))
    ways: list[Expression] = [column == one, column != one, column.is_null(), column.is_in([one, other])]
    if name == "flag":
        return dice.choice([column, *ways])
    if name != "text":
        ways += [column < one, column <= one, column > one, column >= one, column.between(one, other)]
    return dice.choice(ways)


def passed(filters: list[list[Expression]], row: dict[str, Any]) -> frozenset[int]:
    return frozenset(
        place
        for place, predicates in enumerate(filters)
        if all(evaluate(predicate, row) is True for predicate in predicates)
    )


def rows_over(names: list[str]) -> list[dict[str, Any]]:
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*(DOMAINS[name] for name in names))]


@pytest.mark.parametrize(
    "names", [["number"], ["text"], ["flag", "number"], ["real", "text"], ["day", "flag"], ["time"]]
)
def test_patterns_are_those_of_all_rows_of_a_domain_that_has_every_kind_of_value(names: list[str]) -> None:
    dice = random.Random(20240 + len(names) + sum(map(len, names)))
    rows = rows_over(names)
    for _ in range(40):
        filters = [
            [random_predicate(dice, names) for _ in range(dice.randrange(3))] for _ in range(dice.randrange(1, 6))
        ]
        found = touch_patterns(filters)
        assert found is not None and len(set(found)) == len(found)
        assert set(found) == {passed(filters, row) for row in rows}


def test_what_is_not_known_may_hold_together_with_everything() -> None:
    dice = random.Random(7)
    rows = rows_over(["number", "real"])
    strange = [
        number + 1 > 2,
        number.fill_null(0) == 1,
        number % 2 == 0,
        case((number > 1, True), default=False),
        real == real,  # noqa: PLR0124
    ]
    for _ in range(40):
        filters = [
            [random_predicate(dice, ["number", "real"], 1), *dice.choices(strange, k=dice.randrange(2))]
            for _ in range(3)
        ]
        if dice.random() < 0.5:
            filters[0] = [filters[0][0] & dice.choice(strange)]
            filters[1] = [filters[1][0] | dice.choice(strange), ~dice.choice(strange)]
        found = touch_patterns(filters)
        assert found is not None
        for row in rows:
            assert any(passed(filters, row) <= pattern for pattern in found)
    assert not any(is_known(predicate) for predicate in strange)
    assert touch_patterns([[number % 2 == 0], [number % 2 == 1]]) == [frozenset({0, 1})]


def test_a_conjunct_that_is_known_counts_beside_one_that_is_not() -> None:
    odd = number % 2 == 1
    found = touch_patterns([[(number < 3) & odd], [(number >= 3) & odd]])
    assert set(found or ()) == {frozenset(), frozenset({0}), frozenset({1})}


def test_a_row_without_a_value_passes_neither_side() -> None:
    found = touch_patterns([[number < 3], [number >= 3], [~(number < 3)], [number.is_null()]])
    assert set(found or ()) == {frozenset({0}), frozenset({1, 2}), frozenset({3})}


def test_what_is_joined_with_null_is_null_unless_the_other_side_decides() -> None:
    either, both = flag | (number < 2), flag & (number < 2)
    without = flag.is_null()
    found = set(touch_patterns([[~either], [~~either], [~both], [~~both], [without]]) or ())
    assert {pattern for pattern in found if 4 in pattern} == {
        frozenset({1, 4}),  # a number below 2
        frozenset({2, 4}),  # another
        frozenset({4}),  # none
    }


def test_integers_as_real_numbers_are_compared_with_real_numbers() -> None:
    assert set(touch_patterns([[number < 2.5], [number > 2.5]]) or ()) == {frozenset(), frozenset({0}), frozenset({1})}
    # As integers and as real numbers they are taken to be two columns.
    assert frozenset({0, 1}) in set(touch_patterns([[number < 2], [number > 2.5]]) or ())


def test_between_neighboring_integers_and_days_is_nothing_and_between_others_something() -> None:
    assert frozenset() not in set(touch_patterns([[number <= 2], [number >= 3], [number.is_null()]]) or ())
    assert frozenset() in set(touch_patterns([[number <= 2], [number >= 4], [number.is_null()]]) or ())
    assert frozenset() in set(touch_patterns([[real <= 2], [real >= 3], [real.is_null()]]) or ())
    first, second = datetime(2024, 1, 1), datetime(2024, 1, 1, microsecond=1)
    # Engines have moments between those that Python can name.
    assert frozenset() in set(touch_patterns([[moment <= first], [moment >= second], [moment.is_null()]]) or ())
    assert frozenset() not in set(
        touch_patterns([[day <= date(2024, 2, 29)], [day >= date(2024, 3, 1)], [day.is_null()]]) or ()
    )


def test_constants_alone_are_true_or_not() -> None:
    always, never = literal(True), literal(False)
    assert touch_patterns([[always], [never], []]) == [frozenset({0, 2})]
    assert touch_patterns([[literal(None, Kind.BOOLEAN)], [number.is_in([])]]) is not None
    assert all(not pattern for pattern in touch_patterns([[literal(None, Kind.BOOLEAN)], [number.is_in([])]]) or ())


def test_four_hundred_intervals_have_as_many_patterns_and_few_more() -> None:
    found = touch_patterns([[number.between(10 * i, 10 * i + 9)] for i in range(400)])
    assert set(found or ()) == {frozenset(), *(frozenset({i}) for i in range(400))}
    sliding = touch_patterns([[real >= float(i), real < float(i + 3)] for i in range(400)])
    assert max(map(len, sliding or ())) == 3


def test_too_many_combinations_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    filters = [[number == 1, text == "a", flag == True]]  # noqa: E712
    assert len(touch_patterns(filters) or ()) == 2
    # NULL, the constant, below and above; NULL, the constant and others; NULL, false and true.
    monkeypatch.setattr(overlapping, "MOST_COMBINATIONS", 4 * 3 * 3)
    assert touch_patterns(filters) is not None
    monkeypatch.setattr(overlapping, "MOST_COMBINATIONS", 4 * 3 * 3 - 1)
    assert touch_patterns(filters) is None


def test_conjuncts_are_taken_apart_and_texts_are_found() -> None:
    parts = conjuncts((number < 1) & ((text == "a") & (flag | (number > 2))))
    assert [repr(part) for part in parts] == ["number < 1", "text == 'a'", "flag | (number > 2)"]
    assert [compares_text(part) for part in parts] == [False, True, False]
    assert compares_text(~text.is_null()) and not compares_text(number == 1)
