"""What Alembic runs: migrations on a connection that was opened elsewhere, in its transaction."""

from alembic import context

from viameter.ledger.stores.tables import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
