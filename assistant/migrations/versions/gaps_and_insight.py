"""Channels, latencies, citings, gaps. In: the first tables. Out: what is counted. Never: reads a question."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0005_insight"
down_revision = "0004_drafts"
SECTIONS = "SELECT id, at, language, cited FROM answers"
CUT = "UPDATE answers SET day = CAST(at / 86400 AS INTEGER)"
FLOORED = "UPDATE answers SET day = CAST(floor(at / 86400) AS INTEGER)"  # PostgreSQL's CAST rounds
GAP_INDEX = ["topic", "at", "language", "channel", "is_rated", "closeness", "answer_id"]
BATCH = 1000


def upgrade() -> None:
    """Adds them; what earlier answers cited is counted, their channel and latency stay unknown."""
    op.add_column("answers", sa.Column("channel", sa.String(16), nullable=False, server_default=""))
    op.add_column("answers", sa.Column("took_ms", sa.Double, nullable=False, server_default="0"))
    op.add_column("answers", sa.Column("day", sa.Integer, nullable=False, server_default="0"))
    op.add_column("answers", sa.Column("step", sa.Integer, nullable=False, server_default="0"))
    op.execute(CUT if op.get_bind().dialect.name == "sqlite" else FLOORED)
    op.create_index("answers_by_day", "answers", ["day", "language", "channel", "outcome", "step", "intent"])
    citings = op.create_table(
        "citings",
        _answer(),
        sa.Column("section", sa.String(256), primary_key=True),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("language", sa.String(16), nullable=False),
        sa.Column("channel", sa.String(16), nullable=False),
    )
    op.create_index("citings_by_section", "citings", ["section", "at", "language", "channel", "answer_id"])
    op.create_table(
        "gap_questions",
        _answer(),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("language", sa.String(16), nullable=False),
        sa.Column("channel", sa.String(16), nullable=False),
        sa.Column("is_rated", sa.Boolean, nullable=False),
        sa.Column("model", sa.String(255), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("vector", sa.LargeBinary, nullable=False),
        sa.Column("topic", sa.String(64), nullable=False),
        sa.Column("closeness", sa.Double, nullable=False),
    )
    op.create_index("gap_questions_by_topic", "gap_questions", GAP_INDEX)
    rows = [
        {"answer_id": name, "section": section, "at": at, "language": language, "channel": ""}
        for name, at, language, cited in op.get_bind().execute(sa.text(SECTIONS))
        for section in {passage.rpartition(".")[0] for passage in _read(cited)}
    ]
    for start in range(0, len(rows), BATCH):
        op.bulk_insert(citings, rows[start : start + BATCH])


def _answer() -> sa.Column[str]:
    return sa.Column("answer_id", sa.String(64), sa.ForeignKey("answers.id", ondelete="CASCADE"), primary_key=True)


def _read(cited: object) -> list[str]:
    """SQLite gives the text of a JSON column, PostgreSQL its value."""
    found: list[str] = json.loads(cited) if isinstance(cited, str) else cited  # type: ignore[assignment]
    return found


def downgrade() -> None:
    """Removes them."""
    op.drop_table("gap_questions")
    op.drop_table("citings")
    op.drop_index("answers_by_day", "answers")
    for name in ("step", "day", "took_ms", "channel"):
        op.drop_column("answers", name)
