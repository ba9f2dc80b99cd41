"""Datasets can be retired. The first version looks at a number of its own, which tells it that this is a later one."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add when, by whom and why a dataset was retired."""
    op.add_column("viameter_datasets", sa.Column("retired", sa.Text))
    op.execute("UPDATE viameter_service SET version = 2")
