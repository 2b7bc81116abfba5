"""The store's tables: conversations with their answers, feedback, handovers, events; Slack; members; drafts; gaps.

In and out: nothing but their description, for SQLite and PostgreSQL alike. Never: connects to anything.

What Slack's library keeps of installations it describes itself; the migrations make those tables too.

Times are seconds since 1970, UTC. What a table looks like in a store that exists is the migrations' matter: a change
here needs a new file under migrations/versions/.
"""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

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


def _answer() -> Column[str]:
    return Column("answer_id", String(64), ForeignKey("answers.id", ondelete="CASCADE"), primary_key=True)


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
    Column("unanswered", JSON, nullable=False, server_default="[]"),  # of several: [[text, nearest passage]], masked
    Column("found", JSON, nullable=False),  # [[passage id, score]]
    Column("cited", JSON, nullable=False),  # passage ids
    Column("offered", JSON, nullable=False),  # suggestions or options
    Column("signals", JSON, nullable=False),
    Column("channel", String(16), nullable=False, server_default=""),  # widget, slack, staff, api; "" is not known
    Column("took_ms", Double, nullable=False, server_default="0"),  # 0 is not known
    Index("answers_of_conversation", "conversation_id", "at"),
    Column("day", Integer, nullable=False, server_default="0"),  # since 1970, UTC
    Column("step", Integer, nullable=False, server_default="0"),  # of took_ms on a scale: see insight
    Index("answers_by_day", "day", "language", "channel", "outcome", "step", "intent"),  # read alone, in its order
)

citings = Table(
    "citings",
    metadata,
    _answer(),
    Column("section", String(256), primary_key=True),  # folder/name#anchor
    Column("at", Double, nullable=False),
    Column("language", String(16), nullable=False),  # of the answer, as is the channel
    Column("channel", String(16), nullable=False),
    Index("citings_by_section", "section", "at", "language", "channel", "answer_id"),
)

gap_questions = Table(
    "gap_questions",
    metadata,
    _answer(),
    Column("part", Integer, primary_key=True, autoincrement=False),  # of the answer's unanswered questions
    Column("at", Double, nullable=False),
    Column("language", String(16), nullable=False),
    Column("channel", String(16), nullable=False),
    Column("is_rated", Boolean, nullable=False),  # it is here for a bad opinion alone
    Column("model", String(255), nullable=False),  # what embedded it
    Column("text", Text, nullable=False),  # what was embedded, masked
    Column("words", BigInteger, nullable=False),  # the same for the same words in one language
    Column("vector", LargeBinary, nullable=False),  # float16
    Column("topic", String(64), nullable=False),  # "" until it is gathered
    Column("closeness", Double, nullable=False),  # cosine to the topic's middle
    Index(
        "gap_questions_by_topic",
        *("topic", "at", "language", "channel", "is_rated", "words", "closeness", "answer_id"),
    ),
)

feedback = Table(
    "feedback",
    metadata,
    _answer(),
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

jobs = Table(
    "slack_jobs",
    metadata,
    Column("id", String(200), primary_key=True),  # names the message, command or click, however often it is delivered
    Column("kind", String(16), nullable=False),
    Column("thread", String(128), nullable=False),  # what belongs to one thread is dealt with in order
    Column("position", String(32), nullable=False),  # Slack's time stamp, whose texts sort as the times do
    Column("needs", String(8), nullable=False),  # "", join, joined: see `inbox`
    Column("body", JSON, nullable=False),  # what was written, until it is dealt with
    Column("plan", JSON(none_as_null=True)),  # the reply, once there is one; then what clicks need to know of it
    Column("state", String(8), nullable=False),  # waiting, held, done
    Column("is_posting", Boolean, nullable=False),  # a post was begun and its fate not yet noted
    Column("reply", String(32), nullable=False),  # the time stamp of the reply, which names it; "" while there is none
    Column("answer_id", String(64), nullable=False, index=True),
    Column("attempts", Integer, nullable=False),
    Column("due", Double, nullable=False),
    Column("owner", String(32), nullable=False),  # the process that works on it
    Column("leased_until", Double, nullable=False),
    Column("at", Double, nullable=False, index=True),
    Index("slack_jobs_of_thread", "thread", "state", "position"),
    Index("slack_jobs_due", "state", "due"),
)

threads = Table(
    "slack_threads",
    metadata,
    Column("id", String(128), primary_key=True),
    Column("asker", String(32), nullable=False),  # who mentioned the assistant last
    Column("addressed", String(32), nullable=False),  # when
    Column("answered_by_person", String(32), nullable=False),  # when somebody else last wrote; "" if nobody did
    Column("touched", Double, nullable=False, index=True),
)

members = Table(
    "members",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", String(128), nullable=False, unique=True),
    Column("role", String(16), nullable=False),  # agent, editor
    Column("token_hash", String(64), unique=True),  # none for who signs in elsewhere, or is revoked
    Column("subject", String(512), unique=True),  # who it is at the OpenID provider
    Column("invited", Double, nullable=False),
    Column("revoked", Double),
)

sessions = Table(
    "sessions",
    metadata,
    Column("id_hash", String(64), primary_key=True),
    Column("member_id", String(32), ForeignKey("members.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("begun", Double, nullable=False, index=True),
    Column("seen", Double, nullable=False),
)

attempts = Table(  # to sign in, that failed
    "attempts",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("client", String(64), nullable=False, index=True),
    Column("at", Double, nullable=False, index=True),
)

audit = Table(  # a trigger refuses changes
    "audit",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("at", Double, nullable=False, index=True),
    Column("name", String(128), nullable=False),
    Column("role", String(16), nullable=False),
    Column("action", String(64), nullable=False),
    Column("target", String(128), nullable=False),  # an id, never words
)

drafts = Table(  # replies to customers; deleted with their conversation, and when they expire
    "drafts",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("conversation_id", String(128), ForeignKey("conversations.id", ondelete="CASCADE"), index=True),
    Column("version", Integer, nullable=False),  # of the newest row in versions; who saves on another is told
    Column("state", String(16), nullable=False),  # open, sent, rejected
    Column("outcome", String(16), nullable=False),  # "", unedited, edited, rejected
    Column("distance", Integer, nullable=False),
    Column("share", Double, nullable=False),
    Column("language", String(16), nullable=False),
    Column("agent_language", String(16), nullable=False),
    Column("excerpt", Text, nullable=False),  # of the message, masked
    Column("questions", Integer, nullable=False),
    Column("open_gaps", Integer, nullable=False),
    Column("created", Double, nullable=False),
    Column("touched", Double, nullable=False, index=True),
    Column("changed_by", String(128), nullable=False),
)

versions = Table(
    "draft_versions",
    metadata,
    Column("draft_id", String(64), ForeignKey("drafts.id", ondelete="CASCADE"), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("what", String(16), nullable=False),  # written, edited, regenerated, sent, rejected
    Column("changed_by", String(128), nullable=False),
    Column("at", Double, nullable=False),
    Column("letter", JSON, nullable=False),  # its message masked
)

proposals = Table(  # FAQ entries that agents propose
    "proposals",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("draft_id", String(64), ForeignKey("drafts.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("language", String(16), nullable=False),
    Column("question", Text, nullable=False),  # masked
    Column("answer", Text, nullable=False),  # masked
    Column("anchor", String(64), nullable=False),
    Column("proposed_by", String(128), nullable=False),
    Column("at", Double, nullable=False, index=True),
)
