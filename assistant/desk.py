"""The way to a person, as a reply offers it: a page, or an e-mail that is drafted.

In: the settings' targets, a reason, what was asked. Out: a Handover. Never: sends anything: see `handover`.
"""

from __future__ import annotations

from urllib.parse import quote

from assistant.records import Handover, HandoverReason
from assistant.settings import Settings


class Desk:
    """Where people are to be found."""

    def __init__(self, settings: Settings) -> None:
        self.url, self.email = str(settings.handover_url or ""), settings.handover_email
        self.has_hook = settings.handover_webhook is not None

    @property
    def address(self) -> str:
        """The address as a reply shows it; "" where there is none."""
        return f"<{self.url}>" if self.url else self.email

    @property
    def is_manned(self) -> bool:
        """Whether a person can be reached at all."""
        return bool(self.address) or self.has_hook

    def offer(self, reason: HandoverReason, asked: str = "") -> Handover:
        """The way to a person; the draft of an e-mail holds what was asked, for its sender to see and change."""
        if self.url or not self.email:
            return Handover(reason, self.url)
        return Handover(reason, f"mailto:{quote(self.email, safe='@')}?body={quote(asked)}")
