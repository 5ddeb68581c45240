"""The page in a real browser: stepping, editing, links, words that attack, and the same states as the engine's."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from compiler.automata import powerset
from tests.viz.material import ATTACKS, FOUR, KEY, random_sets
from viz import lecture, teach
from viz.page.lesson import nfa_arrays
from viz.page.server import link, serve
from viz.patterns import nfa_of, words_of
from viz.text import shown, visible
from viz.trie_walk import trie_walk
from viz.walk import failures, members, steps

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = pytest.mark.browser

WIDTHS = (360, 1600)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the address of the page of the four patterns, on disk."""
    path = tmp_path_factory.mktemp("page") / "page.html"
    teach(FOUR, KEY, path)
    return path.as_uri()


@pytest.fixture
def visits(browser: Browser) -> Iterator[Visits]:
    """Open pages, and fail if any of them says something on the console or asks for anything but itself."""
    visits = Visits(browser)
    yield visits
    visits.close()


class Visits:
    """Pages under watch."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.complaints: list[str] = []

    def open(self, address: str, *, width: int = 1600, scheme: Any = "light", **options: Any) -> Page:
        """Open an address; the network is switched off for pages on disk."""
        origin = address.partition("#")[0]
        local = address.startswith("file:")
        context = self._browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=local, **options
        )
        self._contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
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


def until(page: Page, condition: str, argument: object = None) -> None:
    """Wait for a condition; the page's policy forbids the script by which playwright would."""
    started = time.monotonic()
    while not page.evaluate(condition, argument):
        assert time.monotonic() - started < 60, condition
        page.wait_for_timeout(30)


def at(page: Page) -> int:
    """Return the step that the page is at, which chips, slider and text must agree on."""
    step = int(page.input_value("#slider"))
    assert page.inner_text("#position").startswith(f"Step {step} of ")
    current = page.evaluate(
        "[...document.querySelectorAll('#words li')].findIndex((li) => li.classList.contains('current'))"
    )
    assert current == step
    return step


def active(page: Page) -> tuple[list[int], list[str]]:
    """Return the NFA positions and the DFA states that are lit."""
    ids = "(box) => [...document.querySelectorAll(`#${box} .node.hit`)].map((node) => node.id)"
    nfa = sorted(int(name[1:]) for name in page.evaluate(ids, "nfa-canvas"))
    return nfa, page.evaluate(ids, "dfa-canvas")


def test_buttons_keys_chips_and_slider_step_through(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file)
    read = steps(nfa_of(FOUR), words_of(KEY))
    assert at(page) == 0
    for number in range(1, 6):
        page.click("#next")
        assert at(page) == number
        assert active(page)[0] == list(members(nfa_of(FOUR), read[number].state))
        assert active(page)[1] == [f"s{[0, 1, 2, 3, 3, 4][number]}"]
    assert page.is_disabled("#next")
    page.click("#back")
    assert at(page) == 4
    page.click("#first")
    assert at(page) == 0
    page.click("#last")
    assert at(page) == 5
    page.click("h1")
    for key, step in (
        ("Home", 0),
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("ArrowLeft", 1),
        ("End", 5),
        ("ArrowRight", 5),
    ):
        page.keyboard.press(key)
        assert at(page) == step, key
    page.focus("#slider")
    page.keyboard.press("ArrowLeft")
    assert at(page) == 4
    page.click("#words li:nth-child(3) button")
    assert at(page) == 2


def test_play_runs_to_the_end_and_stops(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file)
    page.clock.install()
    page.click("h1")
    page.keyboard.press("Space")
    assert page.get_attribute("#play", "aria-pressed") == "true"
    page.clock.run_for(20_000)
    assert at(page) == 5
    assert page.get_attribute("#play", "aria-pressed") == "false"


def test_the_end_tells_who_accepted_and_where_the_others_failed(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file)
    page.click("#last")
    assert "accepted by a.#.c" in page.inner_text("#story")
    assert page.locator("#bindings .why").all_inner_texts() == [
        "failed at word 2, d",
        "failed at word 3, d",
        "accepts the key",
        "failed at word 1, a",
    ]
    page.fill("#key", "a.b")
    page.click("#last")
    assert page.locator("#bindings .why").all_inner_texts() == [
        *["failed after word 2: the key ended too soon"] * 3,
        "failed at word 1, a",
    ]


def test_the_cache_fills_step_by_step_and_the_second_time_is_cached(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file)
    present = "document.querySelectorAll('#dfa-canvas .node:not(.absent):not(.entry)').length"
    edges = "document.querySelectorAll('#dfa-canvas .edge:not(.absent)').length"
    rows = "document.querySelectorAll('#subsets tbody tr').length"
    seen = []
    for _ in range(6):
        seen.append([*map(page.evaluate, (present, edges, rows)), page.inner_text("#facts .badge")])
        page.keyboard.press("ArrowRight")
    built = "just built"
    assert seen == [[1, 1, 1, "start"], *([n, n, n, built] for n in (2, 3, 4)), [4, 5, 4, built], [5, 6, 5, built]]
    assert page.inner_text("#subsets tbody tr:nth-child(4)").split("\t") == ["3", "{3}", "·", "·", "4", "3", "–"]
    assert page.inner_text("#subsets tbody tr:nth-child(1)").split("\t") == ["0", "{0}", "1", "?", "·", "?", "–"]
    page.click("#keep")
    assert page.evaluate(present) == 5
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#facts .badge") == "cached"
    page.click("#empty")
    assert page.evaluate(present) == 1


def test_nodes_never_move_between_steps(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file)
    places = "[...document.querySelectorAll('.canvas svg .node')].map((n) => { const b = n.getBBox(); return [n.id, b.x, b.y]; })"
    before = page.evaluate(places)
    page.click("#last")
    assert page.evaluate(places) == before


def test_the_key_can_be_changed_in_the_page(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file)
    for key in ("a.x.b.c", "", "a..c", "b.b.c", "🙂.é", "a" * 255):
        page.fill("#key", key)
        page.click("#last") if key else None
        read = steps(nfa_of(FOUR), words_of(key))
        assert at(page) == len(words_of(key))
        assert active(page)[0] == list(members(nfa_of(FOUR), read[-1].state))


def test_the_fragment_carries_key_and_step(visits: Visits, page_file: str) -> None:
    page = visits.open(f"{page_file}#key=a.x%26y.c&step=2")
    assert page.input_value("#key") == "a.x&y.c"
    assert at(page) == 2
    page.keyboard.press("ArrowRight")
    again = visits.open(page.url)
    assert again.input_value("#key") == "a.x&y.c"
    assert at(again) == 3


def test_the_script_of_the_page_walks_like_the_engine(visits: Visits, page_file: str) -> None:
    """2,000 random sets and keys: the same states, moves, failures and counts at every step."""
    page = visits.open(page_file)
    pairs = random_sets(11, 2000)
    automata = [nfa_of(patterns) for patterns, _ in pairs]
    answers = page.evaluate(
        """(questions) => questions.map(([data, key]) => {
            const nfa = Engine.readNfa(data);
            const { frames } = Engine.run(nfa, key, { states: new Map(), transitions: new Map() });
            return {
                states: frames.map(({ state }) => [state.positions, state.tags]),
                moves: frames.map(({ moves }) => moves),
                members: frames.map(({ state }) => Engine.members(nfa, state)),
                final: frames.map(({ state }) => Engine.isFinal(nfa, state)),
                failed: [...Engine.failures(nfa, frames)].sort(([a], [b]) => a - b),
                walk: Engine.trieWalk(nfa, Engine.wordsOf(key)),
            };
        })""",
        [[nfa_arrays(nfa), key] for nfa, (_, key) in zip(automata, pairs, strict=True)],
    )
    for nfa, (patterns, key), answer in zip(automata, pairs, answers, strict=True):
        read = steps(nfa, words_of(key))
        assert answer["states"] == [[list(step.state.positions), list(step.state.tags)] for step in read], (
            patterns,
            key,
        )
        assert answer["moves"] == [[list(move) for move in step.moves] for step in read]
        assert answer["members"] == [list(members(nfa, step.state)) for step in read]
        assert answer["final"] == [powerset.is_final(nfa, step.state) for step in read]
        assert answer["failed"] == [list(pair) for pair in sorted(failures(nfa, read).items())]
        walk = trie_walk(nfa, words_of(key))
        assert answer["walk"] == {
            "visits": walk.visits,
            "backtracks": walk.backtracks,
            "reads": list(walk.reads),
            "tags": list(walk.tags),
            "complete": walk.complete,
        }


def test_words_are_made_visible_alike(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file)
    words = [
        *ATTACKS,
        "",
        "*",
        " a",
        "a,b",
        "\\",
        '"',
        "\u202e",
        "a\u00a0b",
        "e\u0301",
        *(chr(code) for code in range(0x3000)),
    ]
    assert page.evaluate("(words) => words.map(Engine.visible)", words) == [visible(word) for word in words]
    assert page.evaluate("(words) => words.map((word) => Engine.shown(word))", words) == [shown(word) for word in words]


def test_attacking_words_are_shown_as_text(visits: Visits, tmp_path: Path) -> None:
    patterns = [f"{word.replace('.', '')}.#" for word in ATTACKS if len(word) < 250] + ["", "a..b"]
    teach(patterns, f"{ATTACKS[0].replace('.', '')}..x", tmp_path / "page.html")
    page = visits.open((tmp_path / "page.html").as_uri())
    title = page.title()
    assert "</script>" in title
    for word in (word.replace(".", "") for word in ATTACKS):
        page.fill("#key", f"{word}..x")
        typed = page.input_value("#key").partition(".")[0]  # a field of one line cannot hold a newline; a link can
        page.click("#words li:nth-child(3) button")
        assert page.inner_text("#words li:nth-child(2) button") == shown(typed, 40)
        assert page.inner_text("#words li:nth-child(3) button") == '""'
        assert page.evaluate("document.scripts.length") == 2
        assert page.evaluate("document.querySelectorAll('img, iframe, object').length") == 0
        assert page.title() == title
    linked = visits.open(f"{(tmp_path / 'page.html').as_uri()}#key=new%0Aline.x&step=1")
    assert linked.inner_text("#words li:nth-child(2) button") == "new␊line"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_fits_and_is_legible_in_every_width_and_scheme(
    visits: Visits, page_file: str, width: int, scheme: str
) -> None:
    page = visits.open(page_file, width=width, scheme=scheme)
    page.click("#last")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # Every text against what is painted behind it: the ratio that WCAG asks of normal text is 4.5.
    poor = page.evaluate(
        """() => {
            const parse = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
            const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
                .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
                .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
            const behind = (element) => {
                for (let e = element; e; e = e.parentElement) {
                    const colour = parse(getComputedStyle(e).backgroundColor);
                    if (colour.length === 3 || colour[3] > 0.99) return colour;
                }
                return [255, 255, 255];
            };
            const poor = [];
            for (const element of document.querySelectorAll('h1, h2, p, li, td, th, dd, dt, label, button:enabled, output, figcaption span')) {
                if (!element.textContent.trim() || element.closest('[hidden], .sr')) continue;
                const [a, b] = [light(parse(getComputedStyle(element).color)), light(behind(element))].sort((x, y) => y - x);
                if ((a + 0.05) / (b + 0.05) < 4.5) poor.push([element.tagName, element.textContent.slice(0, 30), (a + 0.05) / (b + 0.05)]);
            }
            return poor;
        }"""
    )
    assert poor == []


def test_it_speaks_to_screen_readers(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file)
    page.click("#next")
    assert page.get_attribute("#story", "aria-live") == "polite"
    assert "Word 1, a, is a literal here" in page.inner_text("#story")
    unnamed = page.evaluate(
        """[...document.querySelectorAll('button, input, select, textarea')].filter((e) => !e.closest('[hidden]')
            && !e.getAttribute('aria-label') && !e.textContent.trim() && !e.labels?.length).map((e) => e.id)"""
    )
    assert unnamed == []
    for box in ("nfa", "dfa"):
        label = page.get_attribute(f"#{box}-canvas svg", "aria-label")
        assert label is not None
        assert "starts at 0" in label
    assert "after word 1 of 5" in str(page.get_attribute("#slider", "aria-valuetext"))
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids)), "an id is there twice"


def test_everything_can_be_reached_by_keyboard_alone(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file)
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id"))
    assert {"key", "next", "slider", "ghosts", "keep", "theme", "link", "nfa-canvas", "dfa-canvas"} <= reached


def test_print_shows_the_step_and_no_controls(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file, scheme="dark")
    page.click("#last")
    page.emulate_media(media="print")
    assert not page.is_visible(".transport")
    assert page.is_visible("#story")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


@pytest.fixture
def playground() -> Iterator[Any]:
    """Run the server of ``play``."""
    with serve() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_patterns_can_be_edited_where_there_is_a_server(visits: Visits, playground: Any) -> None:
    page = visits.open(link(playground))
    assert page.input_value("#patterns").split("\n") == list(FOUR)
    page.fill("#patterns", 'a.#\n""\n*.b')
    until(page, "document.querySelectorAll('#bindings li').length === 3")
    page.fill("#key", "a.b")
    page.click("#last")
    assert page.locator("#bindings .why").all_inner_texts() == [
        "accepts the key",
        "failed at word 1, a",
        "accepts the key",
    ]
    page.fill("#patterns", "x" * 300)
    page.wait_for_selector("#error:not([hidden])")
    assert "AMQP carries at most 255" in page.inner_text("#error")
    visits.complaints.clear()  # a browser reports the refused question on its console
    page.fill("#patterns", "a.b")
    page.wait_for_selector("#error", state="hidden")


def test_a_link_shows_the_same_to_somebody_else(visits: Visits, playground: Any) -> None:
    page = visits.open(link(playground))
    page.select_option("#examples", index=5)
    until(page, "document.querySelectorAll('#bindings li').length === 1")
    page.click("#next")
    other = visits.open(page.url)
    until(other, "document.querySelectorAll('#bindings li').length === 1")
    until(other, "document.querySelector('#slider').value === '1'")
    assert other.input_value("#patterns") == page.input_value("#patterns") == "#.a.*.*.*.*.*.*"
    assert other.input_value("#key") == page.input_value("#key")
    assert at(other) == 1
    assert other.inner_text("#story") == page.inner_text("#story")


def test_all_examples_can_be_stepped_through(visits: Visits, playground: Any) -> None:
    page = visits.open(link(playground))
    count = page.locator("#examples option").count()
    for index in range(1, count):
        page.select_option("#examples", index=index)
        wanted = page.evaluate(
            "(i) => JSON.parse(document.getElementById('lesson').textContent).examples[i - 1]", index
        )
        until(page, "(key) => document.querySelector('#key').value === key", wanted["key"])
        page.click("#last")
        assert at(page) == len(words_of(wanted["key"]))
        assert page.locator("#bindings li").count() == len(wanted["patterns"])


def test_a_key_beyond_the_picture_gets_a_new_picture_from_the_server(visits: Visits, playground: Any) -> None:
    page = visits.open(link(playground, ["#.a" + ".*" * 8], "a.b"))
    until(page, "document.querySelectorAll('#bindings li').length === 1")
    page.fill("#key", "b.a.a.b.a")
    until(page, "document.querySelectorAll('#dfa-canvas .node.state').length === 5")
    page.click("#last")
    assert len(active(page)[1]) == 1


def test_the_page_works_in_the_frame_of_a_notebook(visits: Visits) -> None:
    page = visits.open("about:blank")
    page.set_content(lecture(FOUR, KEY)._repr_mimebundle_()["text/html"])
    frame = page.frame_locator("iframe")
    frame.locator("#last").click()
    assert "accepted by a.#.c" in frame.locator("#story").inner_text()


def test_a_key_can_leave_the_picture_and_the_table_goes_on(visits: Visits, tmp_path: Path) -> None:
    teach(["#.a" + ".*" * 8], "a.b", tmp_path / "page.html")
    page = visits.open((tmp_path / "page.html").as_uri())
    page.fill("#key", "a.a.a.a")
    page.click("#last")
    assert page.inner_text("#dfa-now").endswith("(not in this picture)")
    assert page.locator("#subsets tbody tr").count() == 5
