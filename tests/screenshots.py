"""README's pictures, from a running server: `python -m tests.screenshots http://127.0.0.1:8000 TOKEN`.

The token is an editor's, as `assistant staff invite "Ana" --role editor` prints it; without one the widget's pictures
alone are drawn. The drafts page's picture leaves a draft behind.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from assistant.surfaces.chat import QUESTIONS
from tests.conftest import FLAGS
from tests.draft_desk import part, word
from tests.test_staff_drafts_story import TICKET, WRONG

FOLDER = Path(__file__).parent / "data"
ARABIC = "كم تبلغ قيمة أرصدة Trainium؟"
PICTURES = {
    "page-en-light": ("en", (1280, 800), "light", QUESTIONS["en"]),
    "phone-ja-light": ("ja", (390, 780), "light", QUESTIONS["ja"]),
    "panel-zh-dark": ("zh-Hans", (1280, 800), "dark", QUESTIONS["zh"]),
    "panel-ar-light": ("ar", (1280, 800), "light", ARABIC),
    "phone-ar-dark": ("ar", (390, 780), "dark", ARABIC),
}


def draw(page: Page, server: str, name: str) -> None:
    """One picture: a question answered, its first source open; of a panel alone, where the name says so."""
    language, _, _, question = PICTURES[name]
    page.goto(f"{server}/?language={language}")
    page.locator("faq-assistant .launcher").click()
    page.locator("faq-assistant .ask textarea").fill(question)
    page.locator("faq-assistant .ask textarea").press("Enter")
    page.locator("faq-assistant [data-outcome]").wait_for()
    page.locator("faq-assistant .cite:visible").first.click()
    page.mouse.move(0, 0)
    page.wait_for_timeout(500)
    target = page.locator("faq-assistant .panel") if name.startswith("panel") else page
    target.screenshot(path=FOLDER / f"{name}.png")


def draw_draft(page: Page, server: str, token: str) -> None:
    """The drafts page: a Japanese ticket read by a Spanish-reading editor, with a sentence that no article supports."""
    page.goto(f"{server}/staff/sign-in?language=es")
    page.locator("#token").fill(token)
    page.locator("#token").press("Enter")
    page.wait_for_url(lambda address: "sign-in" not in address)
    page.goto(f"{server}/staff/drafts?language=es")
    page.get_by_label(word("message")).fill(TICKET)
    page.get_by_role("button", name=word("write")).first.click()
    text = part(page, 2).locator("textarea")
    text.fill(text.input_value() + WRONG)
    part(page, 2).locator(".copy .unsupported").wait_for()
    expect(page.locator(".saved")).to_have_text(word("saved"))
    text.blur()
    page.locator(".choices").first.evaluate("shown => scrollTo(0, shown.getBoundingClientRect().top + scrollY - 4)")
    page.mouse.move(0, 0)
    page.wait_for_timeout(500)
    page.screenshot(path=FOLDER / "staff-draft-es-light.png")


def main(server: str, token: str = "") -> None:
    """All pictures; of the staff desk only with a token."""
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name, (_, (width, height), scheme, _) in PICTURES.items():
            options = {"viewport": {"width": width, "height": height}, "color_scheme": scheme}
            page = browser.new_page(**options, reduced_motion="reduce", has_touch=width < 500)  # type: ignore[arg-type]
            draw(page, server, name)
            page.close()
        if token:
            desk = browser.new_page(viewport={"width": 1280, "height": 1120}, reduced_motion="reduce")
            draw_draft(desk, server, token)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"), *sys.argv[2:3])
