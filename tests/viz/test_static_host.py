"""The site as a plain static host serves it: every dialect can be typed, links hold everything, and nothing else is asked for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import dfa_router as dr
from dfa_router.cli import main
from dfa_router.language.dialects import DIALECTS
from tests.viz.test_page_steps import counters
from tests.viz.visits import Visits, until

pytestmark = pytest.mark.browser

TYPED = {
    "amqp": (["*.stock.#", "#"], ["eu.stock.nyse", ""]),
    "amqp-4.3.5": (["*.stock.#", "#"], ["eu.stock.nyse", ""]),
    "exact": (["a.b", "#"], ["a.b", "#"]),
    "mqtt": (["home/+/lamp", "#", "$SYS/#"], ["home/hall/lamp", "$SYS/load"]),
    "nats": (["orders.*.>", ">"], ["orders.eu.de.7", "orders"]),
    "solace": (["a/*/>", "a/>"], ["a/b/c", "a/b"]),
}
"""Patterns and keys to type, by dialect."""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[str]]]:
    """Serve what the command writes; return the address, and the paths that were asked for."""
    folder, asked = tmp_path_factory.mktemp("host"), []
    with pytest.raises(SystemExit) as end:
        main(["teach", "--site", str(folder)])
    assert not end.value.code

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - the name in the base class
            asked.append(self.path)

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("name", DIALECTS)
def test_what_is_typed_in_each_dialect_is_compiled_and_a_link_shows_the_same(
    visits: Visits, host: tuple[str, list[str]], name: str
) -> None:
    address, asked = host
    patterns, keys = TYPED[name]
    mine = visits.open(f"{address}/page.html")
    asked.clear()
    mine.select_option("#dialect", name)
    mine.fill("#patterns", "\n".join(patterns))
    mine.fill("#keys", "\n".join(keys) if keys[-1] else keys[0])
    keys = [key for key in keys if key]
    # The link is what the page shows: it tells when both fields, which are taken a moment after the typing, have been.
    told = "['p', 'k', 'd'].flatMap((field) => new URLSearchParams(location.hash.slice(1)).getAll(field))"
    until(mine, f"String({told}) === {','.join([*patterns, *keys, name])!r}")
    assert mine.locator("#error").is_hidden()
    mine.dispatch_event("#last", "click")
    router = dr.compile([(pattern, pattern) for pattern in patterns], dialect=name, cache_bytes=64 << 20)
    traced = dr.trace(router, keys)
    accepted = mine.eval_on_selector_all("#set .accepts .pattern", "all => all.map(one => one.title)")
    assert accepted == [patterns[tag] for tag in traced[-1].tags]
    assert counters(mine)["states"] == traced[-1].stats.states
    theirs = visits.open(f"{address}/page.html{mine.evaluate('location.hash')}")
    for what in ("#story", "#facts", "#counters", "#position", "#set"):
        assert theirs.inner_text(what) == mine.inner_text(what)
    assert theirs.input_value("#dialect") == name
    assert asked == ["/page.html"], "what is typed is sent to nobody"


def test_every_page_is_one_request_and_its_links_lead_to_pages_of_the_host(
    visits: Visits, host: tuple[str, list[str]], tmp_path: Path
) -> None:
    address, asked = host
    index = visits.open(f"{address}/")
    names = sorted(
        set(index.eval_on_selector_all("a[href$='.html']", "all => all.map(one => one.getAttribute('href'))"))
    )
    assert len(names) == 7
    for name in names:
        asked.clear()
        page = visits.open(f"{address}/{name}")
        assert asked == [f"/{name}"]
        page.dispatch_event("#last", "click")
        assert "The key ends here" in page.inner_text("#story")
