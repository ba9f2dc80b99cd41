"""The first version: entries, and what follows from them."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables, with a head before the first entry."""
    big = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    op.create_table(
        "ledger_entries",
        sa.Column("seq", big, primary_key=True, autoincrement=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
    )
    head = op.create_table(
        "ledger_head",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
    )
    op.create_table(
        "ledger_scopes",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "ledger_requests",
        sa.Column("by", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("query", sa.String(64), nullable=False),
        sa.Column("nonce", sa.String(32), nullable=False),
        sa.Column("reserved", sa.BigInteger, nullable=False),
        sa.Column("settled", sa.BigInteger, nullable=True),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "ledger_answers",
        sa.Column("reserved", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("query", sa.String(64), nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=True),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "ledger_documents",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.bulk_insert(head, [{"id": 1, "seq": 0, "hash": "0" * 64}])
