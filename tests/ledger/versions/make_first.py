"""Make first.db, a ledger as the first version of the schema kept it: `python tests/ledger/versions/make_first.py`.

It was made once, and is kept as it was written. Whoever adds a migration adds a file for the version before it, by a
script of its own, while the library still writes that version.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

import viameter as vm
from viameter.ledger import Ledger
from viameter.ledger.migrations import migrate
from viameter.ledger.stores.dialects import Dialect, SQLite
from viameter.ledger.stores.sql import SQLStore

FIRST = Path(__file__).with_name("first.db")
SPACE = vm.Space(vm.vectors(int), vm.SymmetricDistance())


def make_first(dialect: Dialect) -> None:
    """A ledger at version 0001: two scopes, answers, a failure, a request that was not answered, and a certificate."""
    store = SQLStore(dialect)
    with dialect.alone(), store._engine.begin() as connection:
        migrate(connection, to="0001")
    with Ledger(lambda: store) as ledger:
        ledger.begin(by="custodian")
        ledger.define("visits", vm.pure(1), SPACE, by="custodian", why="decided in May")
        ledger.define("ann", vm.pure("1/2"), SPACE, by="custodian")
        meter = ledger.meter(SPACE, [3, 1, 4], scopes=["visits", "ann"], by="ann")
        meter(vm.count() >> vm.laplace(scale=10), key="how many", label="May")
        reserved = ledger.reserve(vm.pure("1/10"), scopes=["visits"], key="the answer", by="ann")
        ledger.commit(reserved, b"42")
        ledger.fail(ledger.reserve(vm.pure("1/10"), scopes=["visits"], key="failed", by="ann"))
        ledger.reserve(vm.pure("1/10"), scopes=["visits"], key="lost", by="ann")


if __name__ == "__main__":
    FIRST.unlink(missing_ok=True)
    make_first(SQLite(FIRST))
    FIRST.with_name("first.db-lock").unlink(missing_ok=True)
    with sa.create_engine(f"sqlite:///{FIRST}").connect() as connection:
        print(connection.execute(sa.text("SELECT version_num FROM ledger_version")).scalar())
