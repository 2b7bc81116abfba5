"""Runs the migrations on the connection that the store gives.

In: a connection in the configuration's attributes. Out: its schema, at the wanted revision.
Never: connects by itself or reads a configuration file.
"""

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection, render_as_batch=True)  # SQLite alters a table by copying it
context.run_migrations()
