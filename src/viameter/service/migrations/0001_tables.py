"""The first version: people, grants, tokens, logins, datasets, questions, acts."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "viameter_service",
        sa.Column("version", sa.Integer, primary_key=True),
        sa.Column("ledger", sa.Text, nullable=False),
    )
    op.create_table(
        "viameter_people",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("created", sa.Text, nullable=False),
        sa.Column("active", sa.Boolean, nullable=False),
    )
    op.create_table(
        "viameter_grants",
        sa.Column("person", sa.Text, sa.ForeignKey("viameter_people.name"), primary_key=True),
        sa.Column("role", sa.Text, primary_key=True),
        sa.Column("dataset", sa.Text, primary_key=True),
    )
    op.create_table(
        "viameter_tokens",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("hash", sa.Text, nullable=False, unique=True),
        sa.Column("person", sa.Text, sa.ForeignKey("viameter_people.name"), nullable=False, index=True),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("created", sa.Text, nullable=False),
        sa.Column("expires", sa.Text, nullable=False),
        sa.Column("revoked", sa.Text),
    )
    op.create_table(
        "viameter_logins",
        sa.Column("hash", sa.Text, primary_key=True),
        sa.Column("token", sa.Text, sa.ForeignKey("viameter_tokens.id"), nullable=False),
        sa.Column("expires", sa.Text, nullable=False),
    )
    op.create_table(
        "viameter_datasets",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("place", sa.Text, nullable=False, unique=True),
        sa.Column("registered", sa.Text, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
    )
    op.create_table(
        "viameter_questions",
        sa.Column("by", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("dataset", sa.Text, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("asked", sa.Text, nullable=False),
    )
    op.create_table(
        "viameter_acts",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("what", sa.Text, nullable=False),
        sa.Column("about", sa.Text, nullable=False),
    )
