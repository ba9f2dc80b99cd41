"""The service's own tables: people, tokens, grants, logins, datasets, questions, acts. Spending is in the ledger."""

from __future__ import annotations

import sqlalchemy as sa

REVISIONS = ("0001", "0002")
"""The versions of the tables, oldest first; each is a migration that leads there."""
VERSION_TABLE = "viameter_version"
VERSION = 2
"""What versions before there were migrations look at: they refuse tables of this number."""

METADATA = sa.MetaData()

ABOUT = sa.Table(
    "viameter_service",
    METADATA,
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("ledger", sa.Text, nullable=False),
)
PEOPLE = sa.Table(
    "viameter_people",
    METADATA,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("created", sa.Text, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
)
GRANTS = sa.Table(
    "viameter_grants",
    METADATA,
    sa.Column("person", sa.Text, sa.ForeignKey(PEOPLE.c.name), primary_key=True),
    sa.Column("role", sa.Text, primary_key=True),
    sa.Column("dataset", sa.Text, primary_key=True),
)
TOKENS = sa.Table(
    "viameter_tokens",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("hash", sa.Text, nullable=False, unique=True),
    sa.Column("person", sa.Text, sa.ForeignKey(PEOPLE.c.name), nullable=False, index=True),
    sa.Column("label", sa.Text, nullable=False),
    sa.Column("created", sa.Text, nullable=False),
    sa.Column("expires", sa.Text, nullable=False),
    sa.Column("revoked", sa.Text),
)
LOGINS = sa.Table(
    "viameter_logins",
    METADATA,
    sa.Column("hash", sa.Text, primary_key=True),
    sa.Column("token", sa.Text, sa.ForeignKey(TOKENS.c.id), nullable=False),
    sa.Column("expires", sa.Text, nullable=False),
)
DATASETS = sa.Table(
    "viameter_datasets",
    METADATA,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("document", sa.Text, nullable=False),
    sa.Column("place", sa.Text, nullable=False, unique=True),
    sa.Column("registered", sa.Text, nullable=False),
    sa.Column("by", sa.Text, nullable=False),
    sa.Column("retired", sa.Text),
)
QUESTIONS = sa.Table(
    "viameter_questions",
    METADATA,
    sa.Column("by", sa.Text, primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("dataset", sa.Text, nullable=False),
    sa.Column("document", sa.Text, nullable=False),
    sa.Column("asked", sa.Text, nullable=False),
)
ACTS = sa.Table(
    "viameter_acts",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("at", sa.Text, nullable=False),
    sa.Column("by", sa.Text, nullable=False),
    sa.Column("what", sa.Text, nullable=False),
    sa.Column("about", sa.Text, nullable=False),
)
