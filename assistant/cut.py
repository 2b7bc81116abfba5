"""A model's reply, piece by piece -> whole sentences with the numbers they cite, in every script.

In: chunks of text as they stream. Out: Pieces, each as soon as it is whole. Never: gives out half a sentence, keeps
more than a limit, or lets a marker stand in a text.
"""

from __future__ import annotations

from dataclasses import dataclass

import regex

from assistant.language import split_sentences

LONGEST = 1000  # characters; a sentence that is longer is cut there, and then not supported
MARKER = regex.compile(r"\s*[\[【［]\s*(\p{Nd}{1,4})\s*[\]】］]")
LEADING = regex.compile(rf"(?:{MARKER.pattern})+\s*[.。!！?？]?")
ENDS_MARKED = regex.compile(
    rf"(?:[.!?…。！？؟।॥۔][\"'”’»」』）)]*(?:{MARKER.pattern})+|(?:{MARKER.pattern})+\s*[.!?。！？؟।])\s*$"
)
BULLET = regex.compile(r"^\s*(?:[-*•・]\s+|\p{Nd}{1,2}[.)]\s+|#+\s+)")
OPEN_MARKER = regex.compile(r"[\[【［][\s\p{Nd}]{0,6}$")


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence without its markers, and the numbers they held, in order."""

    text: str
    markers: tuple[int, ...]


class Cutter:
    """Collects chunks of one reply."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, chunk: str) -> list[Piece]:
        """What has become whole."""
        self._held += chunk
        parts = _joined(self._held)
        if self._held.endswith("\n") or ENDS_MARKED.search(self._held) or len(self._held) > LONGEST:
            self._held = ""
        else:
            self._held = parts.pop() if parts else ""
            if parts and OPEN_MARKER.fullmatch(self._held.strip()):  # the marker of the sentence before may follow
                self._held = parts.pop() + self._held
        return _pieces(parts)

    def finish(self) -> list[Piece]:
        """What is left at the end."""
        parts, self._held = _joined(self._held), ""
        return _pieces(parts)


def _joined(text: str) -> list[str]:
    """The sentences, with markers that stand behind a full stop put back to their sentence."""
    parts: list[str] = []
    for part in split_sentences(text):
        leading = LEADING.match(part)
        if leading and parts and not parts[-1].endswith("\n"):
            parts[-1] += leading.group()
            part = part[leading.end() :]
        if part.strip() or (part and "\n" in part and parts):
            if part.strip():
                parts.append(part)
            else:
                parts[-1] += part
    return parts


def _pieces(parts: list[str]) -> list[Piece]:
    found = []
    for part in parts:
        markers = tuple(int(number) for number in MARKER.findall(part))
        text = BULLET.sub("", MARKER.sub("", _whole(part))).strip()
        if text:
            found.append(Piece(text, markers))
    return found


def _whole(text: str) -> str:
    """Halves of a character that came apart as UTF-16 put together; one alone becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
