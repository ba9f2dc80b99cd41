"""Signatures of heads. A ledger of the first version goes on without any."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the table of signatures."""
    op.create_table(
        "ledger_signatures",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=False),
        sa.Column("signature", sa.String(128), nullable=False),
    )
