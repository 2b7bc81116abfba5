"""What the pages Gaps and Insight are asked for: a time, a language, a channel; as a form, an address, a Selection.

In: a request's query. Out: the same, checked; the form's HTML. Never: needs a script.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Annotated, Literal
from urllib.parse import urlencode

from babel import Locale
from babel.numbers import format_decimal
from fastapi import Depends, Query

from assistant.insight import Selection
from assistant.store import DAY_S
from assistant.surfaces.page import own_name
from assistant.wording import Wording

DAYS = (7, 30, 90, 365)
CHANNELS = ("widget", "slack", "staff", "api")


@dataclass(frozen=True, slots=True)
class Filters:
    """What was asked for; "" is all."""

    days: int
    asked_in: str
    channel: str

    @property
    def selection(self) -> Selection:
        """Today and the days before it."""
        today = int(time.time() // DAY_S)
        return Selection(today - self.days + 1, today, self.asked_in, self.channel)

    @property
    def query(self) -> str:
        """The same as an address's query."""
        return urlencode({"days": self.days, "asked_in": self.asked_in, "channel": self.channel})


def read_filters(
    days: Annotated[int, Query(ge=1, le=366, description="how many days, today included")] = 30,
    asked_in: Annotated[
        str, Query(pattern=r"^([A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,4})?$", description="only this language")
    ] = "",
    channel: Annotated[Literal["", "widget", "slack", "staff", "api"], Query(description="only this channel")] = "",
) -> Filters:
    """The filters of a request."""
    return Filters(days, asked_in, channel)


Filtered = Annotated[Filters, Depends(read_filters)]


def filter_form(filters: Filters, languages: Sequence[str], wording: Wording, sheet: str) -> str:
    """The form, and the address of the same as a sheet."""
    text = wording.staff_insight
    days = {str(number): text["last_days"].format(days=shown(number, wording)) for number in DAYS}
    spoken = {"": text["every"]} | {code: own_name(code) for code in sorted({*languages, filters.asked_in} - {""})}
    channels = {"": text["every"]} | {name: text[f"channel_{name}"] for name in CHANNELS}
    return (
        '<form class="filters" method="get">'
        + _choice("days", text["time"], days, str(filters.days))
        + _choice("asked_in", text["language"], spoken, filters.asked_in)
        + _choice("channel", text["channel"], channels, filters.channel)
        + f'<button class="quiet">{escape(text["show"])}</button>'
        f'<a class="export" href="{sheet}?{escape(filters.query)}" download>{escape(text["export"])}</a></form>'
    )


def shown(number: float, wording: Wording) -> str:
    """A number as the page's language writes it."""
    return format_decimal(number, locale=Locale.parse(wording.language.replace("-", "_")))


def channel_name(channel: str, wording: Wording) -> str:
    """A channel's label; of answers that were kept before channels were, that it is not known."""
    return wording.staff_insight[f"channel_{channel or 'unknown'}"]


def _choice(name: str, label: str, options: Mapping[str, str], chosen: str) -> str:
    items = "".join(
        f'<option value="{escape(value)}"{" selected" if value == chosen else ""}>{escape(text)}</option>'
        for value, text in options.items()
    )
    return f'<p><label for="{name}">{escape(label)}</label><select id="{name}" name="{name}">{items}</select></p>'
