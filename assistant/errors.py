"""The errors a caller may meet: each message is one sentence saying what, where and how to fix it.

Never raised for uncertainty: "the articles do not say" is an Answer, not an error.

    AssistantError
    ├── InputError        a message, option or file that can't be used
    │   └── SourceError   … and it is an article file (names file and line)
    ├── ModelError        an embedding model can't be built, loaded or reached
    ├── IndexUnavailable  the index is missing, unreachable, or was built for another model
    └── StoreUnavailable  the store of conversations can't be opened or reached
"""

from pathlib import Path


class AssistantError(Exception):
    """Anything this project raises on purpose; `str(error)` is fit to show to the person who caused it."""


class InputError(AssistantError):
    """A message, option or request that can't be used."""


class SourceError(InputError):
    """An article file that can't be used.

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
