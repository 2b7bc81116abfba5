"""The `ticket` section of phrases/<language>.yaml: what e-mails are made of, and what replies to them are framed by.

In: the section's values. Out: TicketWords, checked. Never: reads a file or knows a language.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Phrases = Annotated[list[Text], Field(min_length=1)]
Tone = Literal["formal", "friendly", "brief"]
TONES: tuple[Tone, ...] = ("formal", "friendly", "brief")


class TicketWords(BaseModel):
    """One language's section.

    Args:
        quoted: ends of the line that introduces a quoted message; headers: names of the lines above a forwarded one.
        farewells: what a signature begins with; postscripts: what may still follow one.
        opens, ends: what a question without a question mark begins or ends with.
        requests: what makes a question of a statement ("please let me know").
        announces: what says that the list below holds questions, however its items end.
        conditions: what a clause opens with, or ends with after "…", that belongs to the one behind it; in a language
            that parts whole sentences with commas. Where it is empty, a question is never cut at a comma.
        courtesies: what asks nothing, whatever its punctuation; taken away before it is seen whether anything is left.
        gap: stands for an answer that the articles do not give.
        reason_…: why a sentence is not supported, told to the agent.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    quoted: Phrases
    headers: Phrases
    farewells: Phrases
    postscripts: Phrases
    opens: list[Text]
    ends: list[Text]
    requests: Phrases
    announces: Phrases
    conditions: list[Text]
    courtesies: Phrases
    greeting_formal: Text
    greeting_friendly: Text
    greeting_brief: Text
    closing_formal: Text
    closing_friendly: Text
    closing_brief: Text
    gap: Text
    reason_figure: Text
    reason_name: Text
    reason_contrary: Text
    reason_addition: Text
    reason_meaning: Text
    reason_language: Text
    reason_question: Text

    def greeting(self, tone: Tone) -> str:
        """What a reply opens with."""
        return str(getattr(self, f"greeting_{tone}"))

    def closing(self, tone: Tone) -> str:
        """What a reply closes with."""
        return str(getattr(self, f"closing_{tone}"))
