"""Gaps of a message's parts. In: answers, gap_questions. Out: each unanswered part has a row. Never: keeps gathered
rows: they are gathered again, by the rules that come with this."""

import sqlalchemy as sa
from alembic import op

revision = "0006_parts"
down_revision = "0005_insight"
OLD = ["topic", "at", "language", "channel", "is_rated", "closeness", "answer_id"]
NEW = ["topic", "at", "language", "channel", "is_rated", "words", "closeness", "answer_id"]


def upgrade() -> None:
    """Adds what answers leave open, and makes the table anew."""
    op.add_column("answers", sa.Column("unanswered", sa.JSON, nullable=False, server_default="[]"))
    op.drop_table("gap_questions")
    part = sa.Column("part", sa.Integer, primary_key=True, autoincrement=False)
    _create(NEW, part, sa.Column("words", sa.BigInteger, nullable=False))


def _create(index: list[str], *more: sa.Column[int]) -> None:
    op.create_table(
        "gap_questions",
        sa.Column("answer_id", sa.String(64), sa.ForeignKey("answers.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("language", sa.String(16), nullable=False),
        sa.Column("channel", sa.String(16), nullable=False),
        sa.Column("is_rated", sa.Boolean, nullable=False),
        sa.Column("model", sa.String(255), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("vector", sa.LargeBinary, nullable=False),
        sa.Column("topic", sa.String(64), nullable=False),
        sa.Column("closeness", sa.Double, nullable=False),
        *more,
    )
    op.create_index("gap_questions_by_topic", "gap_questions", index)


def downgrade() -> None:
    """Makes the table as it was, and drops what answers leave open."""
    op.drop_table("gap_questions")
    _create(OLD)
    op.drop_column("answers", "unanswered")
