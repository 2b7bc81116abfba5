"""The errors a caller may meet: each message is one sentence saying what, where and how to fix it.

Never raised for uncertainty: "the articles do not say" is an Answer, not an error.

    AssistantError
    ├── InputError        a message, option or file that can't be used
    │   └── SourceError   … and it is a file, such as an article (names file and line)
    ├── ModelError        an embedding model can't be built, loaded or reached
    ├── IndexUnavailable  the index is missing, unreachable, or was built for another model
    ├── StoreUnavailable  the store of conversations can't be opened or reached
    ├── OutputLost        standard output can't be written
    ├── Outdated          a draft of which somebody else has saved another version
    └── AccessRefused     a token, session, page or role that does not open the staff desk
        └── LockedOut     … for a while, because too many wrong tokens were tried
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any


class AssistantError(Exception):
    """Anything this project raises on purpose; `str(error)` is fit to show to the person who caused it."""


class InputError(AssistantError):
    """A message, option or request that can't be used."""


class SourceError(InputError):
    """A file that can't be used.

    Args:
        path: the file as the user named it.
        reason: a clause that completes "path:line: …" and says how to fix it.
        line: 1-based, or None where the whole file is meant.
    """

    def __init__(self, path: Path, reason: str, line: int | None = None) -> None:
        super().__init__(f"{path}:{line}: {reason}" if line else f"{path}: {reason}")
        self.path, self.reason, self.line = path, reason, line


class ModelError(AssistantError):
    """A model can't be built, loaded or reached."""


class IndexUnavailable(AssistantError):
    """The index is missing, unreachable, or was built with another model or format."""


class StoreUnavailable(AssistantError):
    """The store of conversations can't be opened, reached or written."""


class OutputLost(AssistantError):
    """Nothing can be shown."""


class AccessRefused(AssistantError):
    """What was shown does not open the staff desk, or not this part of it.

    Args:
        status: the HTTP status that says so: 401 for nobody, 403 for somebody who may not.
    """

    def __init__(self, sentence: str, status: int = 401) -> None:
        super().__init__(sentence)
        self.status = status


class LockedOut(AccessRefused):
    """Too many wrong tokens were tried.

    Args:
        seconds: until the next may be.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = max(1, round(seconds))
        super().__init__(f"too many wrong tokens were tried from here; try again in {self.seconds} s", 429)


class Outdated(AssistantError):
    """Somebody else has saved another version meanwhile, which must not be overwritten unseen.

    Args:
        changed_by, changed_at: who that was, and when (seconds since 1970).
    """

    def __init__(self, changed_by: str, changed_at: float) -> None:
        super().__init__(f"{changed_by} has saved another version; look at it, then save yours on top of it")
        self.changed_by, self.changed_at = changed_by, changed_at


def what_is_wrong(problem: Mapping[str, Any]) -> str:
    """What one of pydantic's errors says, without the words that it puts before those of a check of ours."""
    return str(problem["msg"]).removeprefix("Value error, ")
