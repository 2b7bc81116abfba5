"""CSV for spreadsheet programs."""

from __future__ import annotations

import csv
import io

import pytest

from assistant.surfaces.staff.sheets import download

HIDDEN = {"semicolon": "foo;=1+1;x", "next line": "礼品\n+1", "zero width": "\u200b=1", "small equals": "\ufe66A1"}


@pytest.mark.parametrize("text", HIDDEN.values(), ids=HIDDEN)
def test_no_cell_of_any_country_begins_a_formula(text: str) -> None:
    """Also behind the separators of other countries' programs, and behind signs nobody sees, a formula is quoted."""
    sheet = bytes(download("a.csv", [[text]]).body).decode("utf-8-sig")
    cell = next(csv.reader(io.StringIO(sheet)))[0]
    assert cell.replace("'", "") == text
    assert "'" in cell


@pytest.mark.parametrize("text", ["ok - fine; yes", "価格=料金？", "¿a+b?", "1; 2"])
def test_other_texts_stay(text: str) -> None:
    """What begins no formula is given as it is."""
    assert bytes(download("a.csv", [[text]]).body).decode("utf-8-sig").strip().strip('"') == text
