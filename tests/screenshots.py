"""README's pictures of the widget, from a running server: `python -m tests.screenshots http://127.0.0.1:8000`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from assistant.surfaces.chat import QUESTIONS
from tests.conftest import FLAGS

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


def main(server: str) -> None:
    """All pictures."""
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name, (_, (width, height), scheme, _) in PICTURES.items():
            options = {"viewport": {"width": width, "height": height}, "color_scheme": scheme}
            page = browser.new_page(**options, reduced_motion="reduce", has_touch=width < 500)  # type: ignore[arg-type]
            draw(page, server, name)
            page.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"))
