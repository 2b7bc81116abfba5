"""The tables of the store: conversations, answers (each with its question), feedback, handovers, events.

In and out: nothing but their description, for SQLite and PostgreSQL alike. Never: connects to anything.

Times are seconds since 1970, UTC. What a table looks like in a store that exists is the migrations' matter: a change
here needs a new file under migrations/versions/.
"""

from sqlalchemy import JSON, Boolean, Column, Double, ForeignKey, Index, Integer, MetaData, String, Table, Text

metadata = MetaData()

conversations = Table(
    "conversations",
    metadata,
    Column("id", String(128), primary_key=True),
    Column("begun", Double, nullable=False),
    Column("touched", Double, nullable=False, index=True),
)


def _conversation() -> Column[str]:
    return Column("conversation_id", String(128), ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False)


answers = Table(
    "answers",
    metadata,
    Column("id", String(64), primary_key=True),
    _conversation(),
    Column("at", Double, nullable=False, index=True),
    Column("question", Text, nullable=False),  # masked
    Column("said", Text, nullable=False),  # masked
    Column("language", String(16), nullable=False),
    Column("intent", String(16), nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("confidence", Double, nullable=False),
    Column("searched", JSON, nullable=False),  # the questions as searched for, masked
    Column("found", JSON, nullable=False),  # [[passage id, score]]
    Column("cited", JSON, nullable=False),  # passage ids
    Column("offered", JSON, nullable=False),  # suggestions or options
    Column("signals", JSON, nullable=False),
    Index("answers_of_conversation", "conversation_id", "at"),
)

feedback = Table(
    "feedback",
    metadata,
    Column("answer_id", String(64), ForeignKey("answers.id", ondelete="CASCADE"), primary_key=True),
    Column("client", String(128), primary_key=True),
    Column("value", String(8), nullable=False),  # up, down
    Column("comment", Text, nullable=False),  # masked
    Column("at", Double, nullable=False),
)

handovers = Table(
    "handovers",
    metadata,
    Column("id", String(64), primary_key=True),
    _conversation(),
    Column("reason", String(32), nullable=False),
    Column("body", JSON, nullable=False),  # what the hook is told
    Column("at", Double, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("due", Double, nullable=False, index=True),  # when to try (again); claimed by moving it
    Column("state", String(16), nullable=False),  # waiting, delivered, failed
)

events = Table(
    "events",
    metadata,
    Column("source", String(32), primary_key=True),
    Column("event_id", String(128), primary_key=True),
    Column("leased_until", Double, nullable=False),
    Column("done", Boolean, nullable=False),
    Column("at", Double, nullable=False, index=True),
)
