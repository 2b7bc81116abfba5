"""Tables as CSV for spreadsheet programs, which see the encoding by a mark and run what looks like a formula.

In: rows of texts and numbers. Out: a download. Never: lets a customer's words begin a formula.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

import regex
from starlette.responses import Response

BYTE_ORDER_MARK = "\ufeff"
# What begins a formula (OWASP, "CSV Injection"), and the full-width forms that some programs take for the same.
FORMULA = r"[=+\-@\uff1d\uff0b\uff0d\uff20\ufe62\ufe63\ufe66\ufe6b|%]"
# Where a cell begins: also behind what programs of other countries take for the end of one, and behind invisible signs.
BEGINNING = regex.compile(rf"^(?=[\t\r\n])|(?:^|(?<=[^\t\r\n][;\t\r\n]|\r\n))(?=[\p{{Z}}\p{{C}}]*{FORMULA})")
QUOTE = "'"


def download(name: str, rows: Iterable[Sequence[str | float]]) -> Response:
    """The rows as a file of that name, the first being the heading."""
    written = io.StringIO()
    csv.writer(written).writerows([_cell(value) for value in row] for row in rows)
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(BYTE_ORDER_MARK + written.getvalue(), headers=headers, media_type="text/csv; charset=utf-8")


def _cell(value: str | float) -> str | float:
    return BEGINNING.sub(QUOTE, value) if isinstance(value, str) else value
