"""Alembic's folder: how a store of an earlier version becomes one of this version."""
