"""A database URL -> an open engine whose schema is current: SQLite files, SQLite in memory, PostgreSQL.

In: a URL. Out: `Engine`: reading and writing connections, upserts, errors in one sentence. Never: knows a table.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from filelock import FileLock
from sqlalchemy import Connection, Table, create_engine, event, inspect, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from assistant.errors import InputError, StoreUnavailable

REVISION = "0006_parts"  # the newest file under migrations/versions
MEMORY = "sqlite://"
WAIT_S = 10  # for a lock or a connection
LOCK = 0x6661_7173  # PostgreSQL's advisory lock while a schema is brought up to date: any number of ours


class Engine:
    """Connections to one database.

    Raises:
        InputError: the URL is none that can be used.
        StoreUnavailable: the database can't be opened.
    """

    def __init__(self, url: str) -> None:
        self.url = _read_url(url)
        self.shown = self.url.render_as_string(hide_password=True)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        in_memory = self.is_sqlite and not self.url.database
        self._lock = threading.RLock() if in_memory else nullcontext()  # in memory there is but one connection
        if self.is_sqlite:
            options: dict[str, Any] = {"connect_args": {"timeout": WAIT_S, "check_same_thread": False}}
            options |= {"poolclass": StaticPool} if in_memory else {}
        else:
            options = {"pool_pre_ping": True, "pool_timeout": WAIT_S, "connect_args": {"connect_timeout": WAIT_S}}
        with self.translated():
            if self.is_sqlite and not in_memory:
                Path(str(self.url.database)).parent.mkdir(parents=True, exist_ok=True)
            try:
                self._engine = create_engine(self.url, hide_parameters=True, **options)
            except ImportError as error:
                raise InputError(f"ASSISTANT_STORE_URL needs the extra `postgres` ({error}); install it") from None
            if self.is_sqlite:
                _set_up_sqlite(self._engine)
            try:
                self._migrate()
            except BaseException:
                self._engine.dispose()
                raise

    @contextmanager
    def translated(self) -> Iterator[None]:
        """The driver's errors in one sentence, without what was written or read."""
        try:
            yield
        except (SQLAlchemyError, OSError) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            reason = " ".join(str(cause).split())[:200] if not isinstance(error, SQLAlchemyError) or cause else ""
            advice = "see that it runs, that its address and rights are right, and that there is room"
            raise StoreUnavailable(f"the store {self.shown} can't be used: {reason}; {advice}") from None

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that sees what is committed."""
        with self._lock, self.translated(), self._engine.connect() as connection:
            yield connection.execution_options(isolation_level="AUTOCOMMIT")

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction: all or nothing."""
        with self._lock, self.translated(), self._engine.begin() as connection:
            yield connection

    @property
    def sqlalchemy(self) -> Any:
        """SQLAlchemy's own engine, for libraries that bring their statements along."""
        return self._engine

    def lock(self, connection: Connection, number: int) -> None:
        """Makes other writers that ask for the same number wait for this transaction, as all do with SQLite."""
        if not self.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": number})

    def insert(self, table: Table) -> Any:
        """An INSERT that can say ON CONFLICT, which both databases understand alike."""
        return sqlite.insert(table) if self.is_sqlite else postgresql.insert(table)

    def close(self) -> None:
        """Lets go of all connections."""
        self._engine.dispose()

    def _migrate(self) -> None:
        """Brings the schema up to date; one process at a time does it, the others wait."""
        with self.read() as connection:
            if _revision(connection) == REVISION:
                return
        file = self.url.database if self.is_sqlite else None
        with FileLock(f"{file}.lock", timeout=WAIT_S) if file else nullcontext(), self.write() as connection:
            self.lock(connection, LOCK)
            if _revision(connection) != REVISION:
                _upgrade(connection)


def _read_url(url: str) -> URL:
    try:
        found = make_url(url)
    except ArgumentError:
        found = URL.create("")
    backend = found.get_backend_name() if found.drivername else ""
    if backend not in ("sqlite", "postgresql", "postgres"):
        raise InputError(
            "ASSISTANT_STORE_URL can't be used: write sqlite:///file or postgresql://user:password@host/database"
        )
    return found if backend == "sqlite" else found.set(drivername="postgresql+psycopg")


def _set_up_sqlite(engine: Any) -> None:
    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None  # SQLAlchemy says BEGIN itself, below
        _write_ahead(connection)
        for pragma in ("synchronous=NORMAL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get("isolation_level") != "AUTOCOMMIT":
            connection.exec_driver_sql("BEGIN IMMEDIATE")  # a lock taken late could fail half-way


def _write_ahead(connection: Any) -> None:
    """Turns the write-ahead log on; SQLite does not wait by itself where another connection is doing just that."""
    deadline = time.monotonic() + WAIT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def _revision(connection: Connection) -> str:
    if not inspect(connection).has_table("alembic_version"):
        return ""
    return str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar() or "")


def _upgrade(connection: Connection) -> None:
    from alembic import command  # .2 s, and needed once a version
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    assert ScriptDirectory.from_config(config).get_current_head() == REVISION
    try:
        command.upgrade(config, "head")
    except CommandError:
        raise StoreUnavailable("the store was written by a newer version of the assistant; update this one") from None
