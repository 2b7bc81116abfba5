"""Replies to customers. In: the tables of the staff desk. Out: drafts, draft_versions, proposals. Never: fills them."""

import sqlalchemy as sa
from alembic import op

revision = "0004_drafts"
down_revision = "0003_access"


def upgrade() -> None:
    """Creates the tables."""
    op.create_table(
        "drafts",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("conversation_id", sa.String(128), sa.ForeignKey("conversations.id", ondelete="CASCADE"), index=True),
        sa.Column("version", sa.Integer, nullable=False),
        *(sa.Column(name, sa.String(16), nullable=False) for name in ("state", "outcome")),
        sa.Column("distance", sa.Integer, nullable=False),
        sa.Column("share", sa.Double, nullable=False),
        *(sa.Column(name, sa.String(16), nullable=False) for name in ("language", "agent_language")),
        sa.Column("excerpt", sa.Text, nullable=False),
        *(sa.Column(name, sa.Integer, nullable=False) for name in ("questions", "open_gaps")),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("touched", sa.Double, nullable=False, index=True),
        sa.Column("changed_by", sa.String(128), nullable=False),
    )
    op.create_table(
        "draft_versions",
        sa.Column("draft_id", sa.String(64), sa.ForeignKey("drafts.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True),
        sa.Column("what", sa.String(16), nullable=False),
        sa.Column("changed_by", sa.String(128), nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("letter", sa.JSON, nullable=False),
    )
    op.create_table(
        "proposals",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column(
            "draft_id", sa.String(64), sa.ForeignKey("drafts.id", ondelete="CASCADE"), nullable=False, index=True
        ),
        sa.Column("language", sa.String(16), nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("question", "answer")),
        sa.Column("anchor", sa.String(64), nullable=False),
        sa.Column("proposed_by", sa.String(128), nullable=False),
        sa.Column("at", sa.Double, nullable=False, index=True),
    )


def downgrade() -> None:
    """Removes them."""
    for name in ("proposals", "draft_versions", "drafts"):
        op.drop_table(name)
