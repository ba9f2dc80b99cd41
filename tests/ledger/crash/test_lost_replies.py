"""A commit whose reply is lost: the retry finds what it wrote, writes nothing more, and is not refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from tests.ledger.conftest import SPACE
from tests.ledger.crash.kinds import requests_of_every_kind

import viameter as vm
from viameter import ledger as ledgers
from viameter.ledger import Ledger

pytestmark = pytest.mark.parametrize("location", ["postgres"], indirect=True)


def lose(book: Ledger, *, reply: bool, times: int = 1) -> list[str]:
    """Break the writer's connection at its next commits: their replies are lost, or they are. Lists the breaks."""
    dialect: Any = book.store._engine.dialect  # type: ignore[attr-defined]
    commit, broken = dialect.do_commit, list[str]()

    def breaking(connection: Any) -> None:
        if len(broken) < times:
            broken.append("commit")
            if reply:
                commit(connection)
            connection.driver_connection.close()
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        commit(connection)

    dialect.do_commit = breaking
    return broken


@pytest.mark.parametrize("reply", [True, False], ids=["the reply", "the commit"])
def test_each_kind_is_written_once_and_not_refused(reply: bool, opened: Callable[..., Ledger]) -> None:
    book = opened()
    for kind, (ask, is_right) in requests_of_every_kind(book).items():
        before, broken = book.head.seq, lose(book, reply=reply)
        assert is_right(ask()) and broken == ["commit"], kind
        assert [entry.kind for entry in book.entries(before + 1)] == [kind]
    assert ledgers.verify(book).ok


def test_a_reply_that_is_lost_again_and_again(opened: Callable[..., Ledger]) -> None:
    book, other = opened(), opened()
    ask, is_right = requests_of_every_kind(book)["reserve"]
    broken = lose(book, reply=True, times=3)  # after the first there is nothing to commit
    assert is_right(ask()) and broken == ["commit"]
    assert other.scope("visits").left == vm.pure(0) and ledgers.verify(other).ok


def test_others_write_before_it_is_tried_again(opened: Callable[..., Ledger]) -> None:
    book, other = opened(), opened()
    book.define("all", vm.pure(1), SPACE)
    dialect: Any = book.store._engine.dialect  # type: ignore[attr-defined]
    commit = dialect.do_commit

    def breaking(connection: Any) -> None:
        commit(connection)
        dialect.do_commit = commit
        connection.driver_connection.close()
        other.reserve(vm.pure("1/2"), scopes=["all"], key="other")
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    dialect.do_commit = breaking
    reserved = book.reserve(vm.pure("1/2"), scopes=["all"], key="own")
    assert reserved.new and book.scope("all").left == vm.pure(0)
    book.commit(reserved, b"answer")
    assert ledgers.verify(other).ok
