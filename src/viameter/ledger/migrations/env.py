"""What Alembic runs: migrations on a connection that was opened elsewhere, in its transaction."""

from alembic import context

attributes = context.config.attributes
context.configure(
    connection=attributes["connection"], version_table=attributes["version_table"], transactional_ddl=True
)
with context.begin_transaction():
    context.run_migrations()
