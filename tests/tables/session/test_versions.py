"""Questions and ledgers that older versions wrote: the same question under its key has the answer that is stored."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.tables.session.versions.asking import FIRST, QUESTIONS, asked, copied, opened, release, written

import viameter as vm
from viameter.errors import KeyTaken

VERSIONS = [FIRST]


@pytest.fixture(scope="module", params=VERSIONS, ids=lambda folder: folder.name)
def version(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("version") / "copy"
    return copied(request.param, folder), json.loads((folder / "answers.json").read_text())


def test_what_is_asked_here_is_what_was_asked(version: Any) -> None:
    """Else the answers below would be to other questions."""
    assert version[1]["questions"] == {name: asked(name) for name in QUESTIONS}


def test_every_question_has_the_answer_that_is_stored_and_nothing_is_charged(version: Any) -> None:
    ledger, document = version
    with opened(ledger) as table:
        spent, entries = table.spent, table.ledger.head.seq
        for name, answer in document["answers"].items():
            assert written(release(table, name)) == answer, name
        assert (table.spent, table.ledger.head.seq) == (spent, entries)
        assert vm.ledger.verify(table.ledger).ok


def test_another_question_under_a_key_is_refused(version: Any) -> None:
    ledger, _ = version
    with opened(ledger) as table:
        spent = table.spent
        for name, other in (("count", "found"), ("top", "heavy hitters"), ("numbers", "places"), ("within", "top")):
            kept = QUESTIONS[name]
            try:
                QUESTIONS[name] = QUESTIONS[other]
                with pytest.raises(KeyTaken):
                    release(table, name)
            finally:
                QUESTIONS[name] = kept
        assert table.spent == spent
