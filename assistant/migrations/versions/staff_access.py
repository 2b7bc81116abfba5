"""Who may enter the staff desk. In: the first tables. Out: members, sessions, attempts, audit. Never: fills them."""

import sqlalchemy as sa
from alembic import op

revision = "0003_access"
down_revision = "0002_slack"
FINAL = "CREATE TRIGGER audit_is_final BEFORE UPDATE ON audit "


def upgrade() -> None:
    """Creates the tables, and the trigger that keeps the audit log as it was written."""
    op.create_table(
        "members",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("name", sa.String(128), nullable=False, unique=True),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("token_hash", sa.String(64), unique=True),
        sa.Column("subject", sa.String(512), unique=True),
        sa.Column("invited", sa.Double, nullable=False),
        sa.Column("revoked", sa.Double),
    )
    member = sa.ForeignKey("members.id", ondelete="CASCADE")
    op.create_table(
        "sessions",
        sa.Column("id_hash", sa.String(64), primary_key=True),
        sa.Column("member_id", sa.String(32), member, nullable=False, index=True),
        sa.Column("begun", sa.Double, nullable=False, index=True),
        sa.Column("seen", sa.Double, nullable=False),
    )
    op.create_table(
        "attempts",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("client", sa.String(64), nullable=False, index=True),
        sa.Column("at", sa.Double, nullable=False, index=True),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("at", sa.Double, nullable=False, index=True),
        sa.Column("name", sa.String(128), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("action", sa.String(64), nullable=False),
        sa.Column("target", sa.String(128), nullable=False),
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute(FINAL + "BEGIN SELECT RAISE(ABORT, 'the audit log is not changed'); END")
        return
    op.execute(
        "CREATE FUNCTION audit_is_final() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the audit log is not changed'; END $$"
    )
    op.execute(FINAL + "FOR EACH ROW EXECUTE FUNCTION audit_is_final()")


def downgrade() -> None:
    """Removes them."""
    for name in ("audit", "attempts", "sessions", "members"):
        op.drop_table(name)
    if op.get_bind().dialect.name != "sqlite":
        op.execute("DROP FUNCTION audit_is_final()")
