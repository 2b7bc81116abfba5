"""The first tables. In: an empty store. Out: conversations, answers, feedback, handovers, events. Never: fills them."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Creates the tables."""
    op.create_table(
        "conversations",
        sa.Column("id", sa.String(128), primary_key=True),
        sa.Column("begun", sa.Double, nullable=False),
        sa.Column("touched", sa.Double, nullable=False, index=True),
    )
    op.create_table(
        "answers",
        sa.Column("id", sa.String(64), primary_key=True),
        _conversation(),
        sa.Column("at", sa.Double, nullable=False, index=True),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("said", sa.Text, nullable=False),
        sa.Column("language", sa.String(16), nullable=False),
        sa.Column("intent", sa.String(16), nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("confidence", sa.Double, nullable=False),
        *(sa.Column(name, sa.JSON, nullable=False) for name in ("searched", "found", "cited", "offered", "signals")),
    )
    op.create_index("answers_of_conversation", "answers", ["conversation_id", "at"])
    op.create_table(
        "feedback",
        sa.Column("answer_id", sa.String(64), sa.ForeignKey("answers.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("client", sa.String(128), primary_key=True),
        sa.Column("value", sa.String(8), nullable=False),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
    )
    op.create_table(
        "handovers",
        sa.Column("id", sa.String(64), primary_key=True),
        _conversation(),
        sa.Column("reason", sa.String(32), nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("due", sa.Double, nullable=False, index=True),
        sa.Column("state", sa.String(16), nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("source", sa.String(32), primary_key=True),
        sa.Column("event_id", sa.String(128), primary_key=True),
        sa.Column("leased_until", sa.Double, nullable=False),
        sa.Column("done", sa.Boolean, nullable=False),
        sa.Column("at", sa.Double, nullable=False, index=True),
    )


def _conversation() -> sa.Column[str]:
    return sa.Column(
        "conversation_id", sa.String(128), sa.ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False
    )


def downgrade() -> None:
    """Removes them."""
    for name in ("events", "handovers", "feedback", "answers", "conversations"):
        op.drop_table(name)
