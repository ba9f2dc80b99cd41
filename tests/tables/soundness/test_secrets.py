"""Nothing of a row is in an error, a warning, a log, or the text of anything that people see before noise."""

from __future__ import annotations

import logging
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import viameter as vm
from viameter.errors import SealedError, ViameterError
from viameter.tables.engines import EngineTable

Load = Callable[[Any, str, Any], EngineTable]
WORD, NUMBER = "canary5a17c0de", 730_451_962_883
COLUMNS = {
    "u": [WORD, f"{WORD}'", WORD],
    "k": ["a", WORD, f'"{WORD}'],
    "n": [NUMBER, -NUMBER, 3],
    "x": [NUMBER + 0.5, 1e300, 0.0],
}
LOGGERS = ("viameter", "ibis", "pyspark", "py4j", "SQLQueryContextLogger", "DataFrameQueryContextLogger", "")


def shows(text: str) -> bool:
    return WORD in text or str(NUMBER) in text or f"{NUMBER:,}" in text


class Heard(logging.Handler):
    """All that is logged."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(f"{record.name}: {record.getMessage()} {record.exc_info} {vars(record)}")


@pytest.fixture
def heard() -> Iterator[list[str]]:
    """What is logged, at every level, and what is warned of."""
    handler, before = Heard(), {}
    for name in LOGGERS:
        logger = logging.getLogger(name)
        before[name] = logger.level
        logger.setLevel(logging.INFO if name in ("py4j", "") else logging.DEBUG)
        logger.addHandler(handler)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        yield handler.texts
    for name, level in before.items():
        logging.getLogger(name).removeHandler(handler)
        logging.getLogger(name).setLevel(level)
    assert not any(shows(str(one.message)) for one in warned)


def said(error: BaseException) -> str:
    """All that an error says, with those behind it; and the lines of code, but no values of theirs."""
    parts = ["".join(traceback.format_exception(error))]
    behind: BaseException | None = error
    while behind is not None:
        parts += [repr(behind), str(behind), repr(behind.args), repr(getattr(behind, "__notes__", ""))]
        behind = behind.__cause__ or behind.__context__
    return "\n".join(parts)


def test_what_people_see_shows_no_row(backend: Any, load: Load, heard: list[str], capfd: Any) -> None:
    table = vm.open(
        load(backend, "canaries", COLUMNS).expression, unit=vm.per("u", rows=2), budget=vm.approx(9, "1e-3")
    )
    asked = table.filter(table["n"] > 0).group_by("k", keys=["a", "b"], other=True)
    question = asked.agg(
        rows=vm.count(), mean=vm.mean("x", bounds=(0, 1)), middle=vm.median("n", bounds=(0, 1), bins=2)
    )
    seen = [table, table.relation, table.relation.rows(), asked, question, question.preview(spend=vm.approx("1/10", 0))]
    seen += [question.question, question.plan, question.to_json(), table.session.relation(table.source)]
    seen += [question.plan.collecting, question.measurement(spend=vm.approx("1/10", 0))]
    answer = question.release(spend=vm.approx("1/10", 0))
    seen += [answer, answer.measurement, table.session, table.history, table, answer.to_columns()]
    assert not any(shows(repr(one)) or shows(str(one)) for one in seen)
    assert not any(map(shows, heard))
    assert not any(map(shows, capfd.readouterr()))


def test_an_error_that_rows_cause_is_sealed(backend: Any, load: Load, heard: list[str], capfd: Any) -> None:
    # Under a name of its own: a table that a view reads cannot be replaced.
    load(backend, "viewed", COLUMNS)
    # A view is taken at its word, so that nothing guards it: an engine's error says the text that is no number.
    backend.raw_sql("CREATE OR REPLACE TEMPORARY VIEW failing AS SELECT u, CAST(k AS BIGINT) AS bad FROM viewed")
    table = vm.open(backend.table("failing"), unit=vm.per("u", rows=2), budget=vm.pure(1))
    with pytest.raises(ViameterError) as caught:
        table.agg(total=vm.sum("bad", bounds=(0, 1))).release(spend=vm.pure("1/2"))
    assert isinstance(caught.value, SealedError)
    assert not shows(said(caught.value))
    assert table.spent == vm.pure("1/2"), "what fails has been paid for"
    assert not any(map(shows, heard))
    assert not any(map(shows, capfd.readouterr()))


MISTAKES: list[Callable[[Any], Any]] = [
    lambda table: table["nothing"],
    lambda table: table.filter(table["k"]),
    lambda table: table.filter(table["k"] > 3),
    lambda table: table.group_by("k", keys=[3]),
    lambda table: table.group_by("x", keys=[3]),
    lambda table: table.agg(total=vm.sum("k", bounds=(0, 1))),
    lambda table: table.agg(total=vm.sum("x", bounds=(1, 0))),
    lambda table: table.join(vm.public({"k": [1], "z": [2]}), on="k"),
    lambda table: table.agg(n=vm.count()).release(spend=vm.pure(100)),
    lambda table: table.group_by("k").agg(n=vm.count()).release(spend=vm.pure("1/10")),
    lambda table: table.limit(rows=100),
]


def test_mistakes_are_refused_without_a_word_of_rows(heard: list[str]) -> None:
    table = vm.open(COLUMNS, unit=vm.per("u", rows=2), budget=vm.pure(1))
    for mistake in MISTAKES:
        with pytest.raises(ViameterError) as caught:
            mistake(table)
        assert not shows(said(caught.value)) and not isinstance(caught.value, SealedError)
    assert table.spent == vm.pure(0)
    assert not any(map(shows, heard))
