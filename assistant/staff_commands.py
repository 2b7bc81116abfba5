"""`assistant staff invite | list | revoke`: who may enter the staff desk.

In: arguments; the store. Out: a new member's token, the list of members. Never: shows a token a second time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from assistant.audit import Audit
    from assistant.members import Member, Members

staff = typer.Typer(name="staff", help="Who may enter the staff desk.")
Name = Annotated[str, typer.Argument(help="what the list and the audit log call them")]
PRINTED_ONCE = "This is shown only now; it opens the staff desk, and serves programs as a bearer token."


@staff.command()
def invite(
    name: Name,
    role: Annotated[Literal["agent", "editor"], typer.Option(help="editors also approve, audit and forget")] = "agent",
) -> None:
    """Give somebody, or a program, a token to sign in with."""
    with _open() as (members, audit):
        token = members.invite(name, role)
        audit.add(_operator(), "member.invited", name.strip().replace(" ", "_"))
    typer.echo(token)
    if sys.stdout.isatty():
        typer.echo(PRINTED_ONCE, err=True)


@staff.command(name="list")
def list_members() -> None:
    """Show everybody who has or had access: name, role, way of signing in, since when, until when."""
    with _open() as (members, _):
        rows = members.everybody()
    for row in rows:
        until = f"revoked {_day(row.revoked)}" if row.revoked else "active"
        typer.echo("\t".join((row.name, row.role, row.way, _day(row.invited), until)))


@staff.command()
def revoke(name: Name) -> None:
    """End somebody's access, and every session, at once."""
    with _open() as (members, audit):
        members.revoke(name)
        audit.add(_operator(), "member.revoked", name.replace(" ", "_"))
    typer.echo(f"{name} has no access any more")


@contextmanager
def _open() -> Iterator[tuple[Members, Audit]]:
    from assistant import bootstrap
    from assistant.audit import Audit
    from assistant.members import Members
    from assistant.settings import read_settings

    settings = read_settings()
    store = bootstrap.open_store(settings)
    try:
        yield Members(store.engine), Audit(store.engine, settings.staff_audit_days)
    finally:
        store.close()


def _operator() -> Member:
    """What the audit log calls whoever may use this command line."""
    from assistant.members import Member

    return Member("", "command line", "editor")


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()
