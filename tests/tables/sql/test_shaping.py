"""What a SELECT shows of an answer: HAVING, ORDER BY, LIMIT and arithmetic see its noisy numbers, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from tests.tables.sql.hospital import SCHEMA

from viameter.errors import ParameterError
from viameter.tables.question import Question, Top
from viameter.tables.sql import SqlQuestion, read_sql


@dataclass(frozen=True)
class Made:
    """An answer that was made up."""

    rows: list[dict[str, Any]]

    def to_dicts(self) -> list[dict[str, Any]]:
        return self.rows


def answer(*groups: tuple[Any, ...], names: tuple[str, ...] = ("ward", "n")) -> Made:
    made = []
    for group in groups:
        row = dict(zip(names, group, strict=True))
        numbers = {f"{names[-1]}_{end}": row[names[-1]] for end in ("lower", "upper")}
        made.append(row | numbers)
    return Made(made)


WARDS = answer(("A", 12.0), ("B", 30.0), (None, 7.0), ("C", None), ("D", 30.0))


def shape(sql: str, made: Made = WARDS, **given: Any) -> list[tuple[Any, ...]]:
    return list(read_sql(sql, SCHEMA).shape(made, **({"intervals": False} | given)).rows)


COUNTS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


def test_rows_are_those_of_the_answer_in_the_order_of_the_select_list() -> None:
    found = read_sql("SELECT COUNT(*) AS n, ward AS w FROM visits GROUP BY ward", SCHEMA).shape(WARDS)
    assert found.columns == ("n", "n_lower", "n_upper", "w")
    assert found.rows[0] == (12.0, 12.0, 12.0, "A")
    assert found.to_dicts()[1] == {"n": 30.0, "n_lower": 30.0, "n_upper": 30.0, "w": "B"}
    assert found.to_columns()["w"] == ["A", "B", None, "C", "D"]
    assert list(found.to_pandas().columns) == list(found.columns)
    assert len(found) == 5 and found.answer is WARDS


def test_having_keeps_rows_for_which_it_is_true() -> None:
    assert shape(f"{COUNTS} HAVING n > 10") == [("A", 12.0), ("B", 30.0), ("D", 30.0)]
    # What is unknown is not above, and not below.
    assert shape(f"{COUNTS} HAVING NOT n > 10") == [(None, 7.0)]
    assert shape(f"{COUNTS} HAVING ward IN ('A', 'C') OR COUNT(*) = 7") == [("A", 12.0), (None, 7.0), ("C", None)]
    assert shape(f"{COUNTS} HAVING n IS NULL") == [("C", None)]


def test_order_is_stable_and_has_what_is_unknown_last() -> None:
    assert [row[0] for row in shape(f"{COUNTS} ORDER BY n")] == [None, "A", "B", "D", "C"]
    assert [row[0] for row in shape(f"{COUNTS} ORDER BY n DESC")] == ["B", "D", "A", None, "C"]
    assert [row[0] for row in shape(f"{COUNTS} ORDER BY n DESC NULLS FIRST, ward DESC")] == ["C", "D", "B", "A", None]
    assert [row[0] for row in shape(f"{COUNTS} ORDER BY -n, 1")] == ["B", "D", "A", None, "C"]


def test_limit_and_offset_come_last() -> None:
    assert [row[0] for row in shape(f"{COUNTS} ORDER BY n DESC LIMIT 2")] == ["B", "D"]
    assert [row[0] for row in shape(f"{COUNTS} ORDER BY n DESC LIMIT 2 OFFSET 1")] == ["D", "A"]
    assert shape(f"{COUNTS} LIMIT 0") == []
    assert shape(f"{COUNTS} OFFSET 9") == []


def test_arithmetic_on_aggregates_has_no_interval() -> None:
    asked = "SELECT ward, COUNT(*) AS n, COUNT(*) / 4 AS quarter, UPPER(ward) AS big FROM visits"
    found = read_sql(f"{asked} GROUP BY ward HAVING quarter > 1", SCHEMA).shape(WARDS)
    assert found.columns == ("ward", "n", "n_lower", "n_upper", "quarter", "big")
    assert [row[-2:] for row in found.rows] == [(3.0, "A"), (7.5, "B"), (1.75, None), (7.5, "D")]


def test_groups_without_a_name_and_without_rows_are_shaped() -> None:
    assert shape("SELECT COUNT(*) AS n FROM visits", answer((5.0,), names=("n",))) == [(5.0,)]
    assert shape(f"{COUNTS} HAVING ward <> 'A' ORDER BY ward", Made([])) == []


def test_the_answer_must_have_aggregates() -> None:
    asked = SqlQuestion(Question(asked=Top(3)), ())
    with pytest.raises(ParameterError, match="has aggregates"):
        asked.shape(WARDS)
