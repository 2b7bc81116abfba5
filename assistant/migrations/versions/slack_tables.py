"""Slack's tables. In: the first tables. Out: jobs, threads, and what its OAuth stores need. Never: fills them."""

import sqlalchemy as sa
from alembic import op

revision = "0002_slack"
down_revision = "0001"


def upgrade() -> None:
    """Creates the tables."""
    op.create_table(
        "slack_jobs",
        sa.Column("id", sa.String(200), primary_key=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("thread", sa.String(128), nullable=False),
        sa.Column("position", sa.String(32), nullable=False),
        sa.Column("needs", sa.String(8), nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
        sa.Column("plan", sa.JSON),
        sa.Column("state", sa.String(8), nullable=False),
        sa.Column("is_posting", sa.Boolean, nullable=False),
        sa.Column("reply", sa.String(32), nullable=False),
        sa.Column("answer_id", sa.String(64), nullable=False, index=True),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("due", sa.Double, nullable=False),
        sa.Column("owner", sa.String(32), nullable=False),
        sa.Column("leased_until", sa.Double, nullable=False),
        sa.Column("at", sa.Double, nullable=False, index=True),
    )
    op.create_index("slack_jobs_of_thread", "slack_jobs", ["thread", "state", "position"])
    op.create_index("slack_jobs_due", "slack_jobs", ["state", "due"])
    op.create_table(
        "slack_threads",
        sa.Column("id", sa.String(128), primary_key=True),
        sa.Column("asker", sa.String(32), nullable=False),
        sa.Column("addressed", sa.String(32), nullable=False),
        sa.Column("answered_by_person", sa.String(32), nullable=False),
        sa.Column("touched", sa.Double, nullable=False, index=True),
    )
    _create_oauth_tables()


def _create_oauth_tables() -> None:
    op.create_table(
        "slack_installations",
        *_application(),
        sa.Column("enterprise_url", sa.String(200)),
        *_bot(),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("user_token", sa.String(200)),
        sa.Column("user_scopes", sa.String(1000)),
        sa.Column("user_refresh_token", sa.String(200)),
        sa.Column("user_token_expires_at", sa.DateTime),
        sa.Column("incoming_webhook_url", sa.String(200)),
        sa.Column("incoming_webhook_channel", sa.String(200)),
        sa.Column("incoming_webhook_channel_id", sa.String(200)),
        sa.Column("incoming_webhook_configuration_url", sa.String(200)),
        sa.Column("is_enterprise_install", sa.Boolean, nullable=False),
        sa.Column("token_type", sa.String(32)),
        sa.Column("installed_at", sa.DateTime, nullable=False),
    )
    named = ["client_id", "enterprise_id", "team_id"]
    op.create_index("slack_installations_idx", "slack_installations", [*named, "user_id", "installed_at"])
    op.create_table(
        "slack_bots",
        *_application(),
        *_bot(),
        sa.Column("is_enterprise_install", sa.Boolean, nullable=False),
        sa.Column("installed_at", sa.DateTime, nullable=False),
    )
    op.create_index("slack_bots_idx", "slack_bots", [*named, "installed_at"])
    op.create_table(
        "slack_oauth_states",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("state", sa.String(200), nullable=False),
        sa.Column("expire_at", sa.DateTime, nullable=False),
    )


def _application() -> list[sa.Column]:  # type: ignore[type-arg]  # of several types
    return [
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("client_id", sa.String(32), nullable=False),
        sa.Column("app_id", sa.String(32), nullable=False),
        sa.Column("enterprise_id", sa.String(32)),
        sa.Column("enterprise_name", sa.String(200)),
        sa.Column("team_id", sa.String(32)),
        sa.Column("team_name", sa.String(200)),
    ]


def _bot() -> list[sa.Column]:  # type: ignore[type-arg]  # of several types
    return [
        sa.Column("bot_token", sa.String(200)),
        sa.Column("bot_id", sa.String(32)),
        sa.Column("bot_user_id", sa.String(32)),
        sa.Column("bot_scopes", sa.String(1000)),
        sa.Column("bot_refresh_token", sa.String(200)),
        sa.Column("bot_token_expires_at", sa.DateTime),
    ]


def downgrade() -> None:
    """Removes them."""
    for name in ("slack_oauth_states", "slack_bots", "slack_installations", "slack_threads", "slack_jobs"):
        op.drop_table(name)
