"""What stands in a database beside the tables of a ledger, or hangs on them: a trigger can undo what was charged."""

from __future__ import annotations

import sqlalchemy as sa

from viameter.ledger.stores import tables

_COLUMNS = {table.name: tuple(table.columns.keys()) for table in tables.metadata.sorted_tables} | {
    tables.VERSION_TABLE: ("version_num",)
}

_ON_A_SERVER = """
WITH own AS (SELECT * FROM pg_class WHERE relname = ANY(:names) AND relkind <> 'i' AND pg_table_is_visible(oid))
SELECT 'a trigger on ' || relname FROM own JOIN pg_trigger ON tgrelid = own.oid
UNION ALL SELECT 'a rule on ' || relname FROM own JOIN pg_rewrite ON ev_class = own.oid
UNION ALL SELECT 'a table that inherits from ' || relname FROM own JOIN pg_inherits ON inhparent = own.oid
UNION ALL SELECT relname || ', which is no table' FROM own WHERE relkind <> 'r'
UNION ALL SELECT relname || ', which a crash of the server would empty (UNLOGGED)' FROM own WHERE relpersistence <> 'p'
UNION ALL SELECT relname || ', of which some rows may be hidden (row security)' FROM own WHERE relrowsecurity
"""
_COLUMNS_ON_A_SERVER = """
SELECT relname, attname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
WHERE relname = ANY(:names) AND relkind <> 'i' AND pg_table_is_visible(pg_class.oid) AND attnum > 0
AND NOT attisdropped ORDER BY attnum
"""


def strange(connection: sa.Connection) -> list[str]:
    """What is there and not of this library, or missing; on a server, other tables may stand beside the ledger's."""
    if connection.dialect.name == "sqlite":
        found, columns = _in_a_file(connection)
    else:
        names = {"names": list(_COLUMNS)}
        found = [str(what) for (what,) in connection.execute(sa.text(_ON_A_SERVER), names)]
        columns = [(table, name) for table, name in connection.execute(sa.text(_COLUMNS_ON_A_SERVER), names)]
    there: dict[str, list[str]] = {}
    for table, name in columns:
        there.setdefault(table, []).append(name)
    for table, expected in _COLUMNS.items():
        if sorted(there.get(table, [])) != sorted(expected):
            found.append(f"{table}, which has other columns than it should")
    versions = connection.exec_driver_sql(f"SELECT count(*) FROM {tables.VERSION_TABLE}").scalar()
    if versions != 1:
        found.append(f"{tables.VERSION_TABLE}, which should name one version")
    return found


def _in_a_file(connection: sa.Connection) -> tuple[list[str], list[tuple[str, str]]]:
    # Names that begin with sqlite_ are SQLite's own: indexes of primary keys, and what ANALYZE keeps.
    parts = connection.exec_driver_sql(
        "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    )
    found = [f"a {kind} that it does not have" for kind, name in parts if kind != "table" or name not in _COLUMNS]
    columns = connection.exec_driver_sql(
        "SELECT m.name, c.name FROM sqlite_master AS m, pragma_table_xinfo(m.name) AS c WHERE m.type = 'table'"
    )
    return found, [(table, name) for table, name in columns]
