"""The tables of a ledger: entries are what happened; the others are what follows from them, kept to be found fast."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Integer, LargeBinary, MetaData, String, Table, Text

REVISIONS = ("0001", "0002")
"""The versions of the schema, oldest first; each is a migration that leads there."""

VERSION_TABLE = "ledger_version"

metadata = MetaData()

entries = Table(
    "ledger_entries",
    metadata,
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("body", Text, nullable=False),
    Column("hash", String(64), nullable=False),
)
head = Table(
    "ledger_head",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("seq", BigInteger, nullable=False),
    Column("hash", String(64), nullable=False),
)
scopes = Table(
    "ledger_scopes",
    metadata,
    Column("name", Text, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    sqlite_with_rowid=False,
)
requests = Table(
    "ledger_requests",
    metadata,
    Column("by", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("query", String(64), nullable=False),
    Column("nonce", String(32), nullable=False),
    Column("reserved", BigInteger, nullable=False),
    Column("settled", BigInteger, nullable=True),
    sqlite_with_rowid=False,
)
answers = Table(
    "ledger_answers",
    metadata,
    Column("reserved", BigInteger, primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("seq", BigInteger, nullable=False),
    Column("query", String(64), nullable=False),
    Column("content", LargeBinary, nullable=True),
    sqlite_with_rowid=False,
)
documents = Table(
    "ledger_documents",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("text", Text, nullable=False),
    sqlite_with_rowid=False,
)
signatures = Table(
    "ledger_signatures",
    metadata,
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("signature", String(128), nullable=False),
)
