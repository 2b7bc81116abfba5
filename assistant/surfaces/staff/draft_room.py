"""What the drafts' routes work with: the letters that are kept, and what writes and judges them.

In: the parts of the desk. Out: drafts as bodies; 404 and 409 where there is none, or another one by now.
Never: builds what writes letters before it is needed, or overwrites what somebody else has saved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from assistant.bootstrap import build_drafter
from assistant.cabinet import Cabinet, Kept
from assistant.drafts import Drafter
from assistant.errors import IndexUnavailable, InputError, Outdated
from assistant.language import normalise_code
from assistant.pipeline import Assistant
from assistant.surfaces.staff.access import StaffParts
from assistant.surfaces.staff.draft_bodies import ConflictBody, DraftBody
from assistant.surfaces.staff.draft_views import draft_body

GONE = "there is no such draft; it may have expired"
UNKNOWN = "there is no such conversation; it may have expired"


class Room:
    """What the routes work with, built once the assistant is loaded."""

    def __init__(self, staff: StaffParts) -> None:
        self.staff, self.cabinet = staff, Cabinet(staff.store)
        self._drafter: Drafter | None = None

    @property
    def drafter(self) -> Drafter:
        """What writes letters.

        Raises:
            NotReady: the assistant is still loading.
            IndexUnavailable: it has no articles.
        """
        assistant = self.staff.backend.now()
        if not isinstance(assistant, Assistant):
            raise IndexUnavailable("there are no articles to write from; start the server with `assistant serve`")
        self._drafter = self._drafter or build_drafter(assistant)
        return self._drafter

    def language(self, code: str, name: str) -> str:
        """The code as the phrases have it; "" where none is given.

        Args:
            name: the field it was given in.

        Raises:
            InputError: there are no phrases in that language.
        """
        found = normalise_code(code) if code else ""
        if found and found not in self.staff.wordings.languages:
            raise InputError(f"{name}: {code} is unknown; take one of {', '.join(self.staff.wordings.languages)}")
        return found

    def message(self, given: str, conversation_id: str) -> str:
        """The message to reply to: the one given, else a conversation's; 404 where there is no such conversation."""
        asked = self.cabinet.asked_in(conversation_id) if conversation_id else ""
        if conversation_id and not asked:
            raise HTTPException(404, UNKNOWN)
        return given or asked

    def told(self, reader: str) -> Callable[[str], str]:
        """A reason of `recheck` in the reader's words."""
        words = self.staff.wordings.nearest(reader).ticket
        return lambda reason: str(getattr(words, f"reason_{reason}"))

    def kept(self, name: str, version: int = 0) -> Kept:
        """A draft as it stands, or stood; 404 where there is none."""
        kept = self.cabinet.get(name, version)
        if kept is None:
            raise HTTPException(404, GONE)
        return kept

    def body(self, kept: Kept, reader: str) -> DraftBody:
        """A draft for a reader of that language; of the one it was written for where it is ""."""
        reader = self.reader(kept, reader)
        return draft_body(kept, self.drafter, reader, self.told(reader))

    def reader(self, kept: Kept, code: str) -> str:
        """The language that evidence is shown in: the one asked for, else the one it was written for."""
        return self.language(code, "agent_language") or kept.slip.agent_language

    def save(self, name: str, reader: str, change: Callable[[], Kept]) -> Any:
        """What `change` has saved; where somebody else has saved first, 409 with what stands now."""
        try:
            return self.body(change(), reader)
        except Outdated as error:
            current = self.body(self.kept(name), reader)
            body = ConflictBody(str(error), error.changed_by, error.changed_at, current)
            return JSONResponse(asdict(body), 409)


def check_once(names: Sequence[str], field: str) -> None:
    """That a list names nothing twice.

    Args:
        field: of the request, for the sentence.

    Raises:
        InputError: it does; the first is named.
    """
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise InputError(f"{field}: {twice[:60]} is there twice; name it once")
