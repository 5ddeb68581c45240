"""Pages under watch: they may ask for nothing but themselves, and say nothing on the console."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dfa_router.cli.page_dialects import page_dialects
from tests.viz.material import FOUR, KEY
from viz.page.html import page as page_html
from viz.page.lessons import fragment

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

__all__ = ["BOX", "SIZES", "Visits", "boxes", "fragment", "go_through", "until", "whole_page"]

SIZES = ((1440, 900), (1280, 720), (390, 844))

BOX = "element => { const { x, y, width, height } = element.getBoundingClientRect(); return [x, y, width, height]; }"


class Visits:
    """Open pages; fails at the end if any of them complained."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.complaints: list[str] = []

    def open(self, address: str, *, size: tuple[int, int] = (1440, 900), **options: Any) -> Page:
        """Open an address; the network is switched off for pages on disk."""
        local = address.startswith("file:")
        width, height = size
        options = {"reduced_motion": "reduce", **options}
        context = self._browser.new_context(viewport={"width": width, "height": height}, offline=local, **options)
        self._contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        origin = address.partition("#")[0].rpartition("/")[0]
        page.on(
            "request",
            lambda request: None if request.url.startswith((origin, "data:")) else self.complaints.append(request.url),
        )
        page.goto(address)
        return page

    def close(self) -> None:
        """Close all pages; none of them may have complained."""
        for context in self._contexts:
            context.close()
        assert self.complaints == []


def whole_page() -> str:
    """Return the page that commands write: the four patterns, with all dialects."""
    return page_html(FOUR, [KEY], dialects=page_dialects())


def until(page: Page, condition: str) -> None:
    """Wait until a condition holds; Playwright's own waiting would need ``unsafe-eval``, which the page forbids."""
    for _ in range(1500):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"it never came about that {condition}")


def go_through(page: Page) -> Any:
    """Step from the beginning to the end; yield the number of each step."""
    page.dispatch_event("#first", "click")
    last = int(page.get_attribute("#slider", "max") or 0)
    for step in range(last + 1):
        assert page.input_value("#slider") == str(step)
        yield step
        if step < last:
            page.dispatch_event("#next", "click")


def boxes(page: Page, selector: str) -> list[list[float]]:
    """Return where elements are: x, y, width and height."""
    found: list[list[float]] = page.eval_on_selector_all(selector, f"all => all.map({BOX})")
    return found
