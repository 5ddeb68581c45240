"""Photographs the page for this folder: ``python -m examples.pictures.screens``; it needs chromium, Playwright and Pillow."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from PIL import Image
from playwright.sync_api import sync_playwright

from viz import teach
from viz.examples import FOUR_PATTERNS
from viz.page.lessons import fragment

SCREENS: dict[str, tuple[tuple[int, int], Literal["light", "dark"], str]] = {
    "page-desk": ((1440, 900), "light", "document.getElementById('dock').scrollIntoView()"),
    "page-lecture": ((1280, 720), "dark", "document.getElementById('lecture').click()"),
    "page-phone": ((390, 844), "light", "document.getElementById('dock').scrollIntoView()"),
}
"""For each picture the screen, its colours, and what is done before it is taken."""


def main() -> None:
    """Write all pictures."""
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "page.html"
        teach(FOUR_PATTERNS, "a.d.d.d.c", page_file)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, ((width, height), scheme, before) in SCREENS.items():
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
            )
            page.goto(page_file.as_uri() + fragment(FOUR_PATTERNS, "a.d.d.d.c", step=3))
            page.evaluate(before)
            image = Image.open(io.BytesIO(page.screenshot()))
            image.thumbnail((960, 700))
            image.quantize(160).save(Path(__file__).parent / f"{name}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
