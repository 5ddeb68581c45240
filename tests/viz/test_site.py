"""The page as a file, as a site of lessons from disk and from a plain server, and what ``play`` serves."""

from __future__ import annotations

import hashlib
import http.client
import re
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from compiler import PatternError
from compiler.errors import InputError
from dfa_router.cli.page_dialects import page_dialects
from tests.viz.material import ATTACKS, FOUR, KEY
from tests.viz.visits import Visits, boxes, fragment, until, whole_page
from viz import lecture, teach
from viz.examples import EXAMPLES
from viz.page.html import page as page_html
from viz.page.lessons import ESSAY, LESSONS
from viz.page.scripts import DAGRE_SHA256, part, script
from viz.page.server import serve
from viz.page.site import site_pages
from viz.patterns import nfa_of, words_of
from viz.trie_walk import trie_walk

PARTS = [one for lesson in (*LESSONS, ESSAY) for one in lesson.parts if one.shows]


def serving(documents: dict[str, str]) -> Iterator[ThreadingHTTPServer]:
    with serve(documents) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    yield from serving({"/": whole_page()})


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    for name, text in site_pages(whole_page(), page_dialects()).items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def request(server: ThreadingHTTPServer, method: str, path: str = "/", **headers: str) -> tuple[int, str]:
    with closing(http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)) as connection:
        connection.putrequest(method, path, skip_host=True)
        for name, value in {"Host": "localhost", **headers}.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def test_the_page_is_one_file_whose_policy_lets_no_other_script_run(tmp_path: Path) -> None:
    html = teach(FOUR, KEY, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == html
    assert not re.findall(r"(?:src|href)\s*=\s*[\"'](?!#|data:)", html)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "unsafe-eval" not in policy[1]
    assert "connect-src 'none'" in policy[1]
    assert html.count("<script") == 2 + script().count("<script")


def test_the_layout_s_library_is_the_one_that_was_released() -> None:
    library = part("vendor/dagre.min.js")
    assert hashlib.sha256(library.encode()).hexdigest() == DAGRE_SHA256
    assert "Permission is hereby granted" in part("vendor/dagre.LICENSE")


def test_attacking_words_cannot_leave_the_data() -> None:
    html = page_html([word.replace(".", "") for word in ATTACKS], [ATTACKS[0]])
    assert html.count("</script>") == teach(["a"], "a").count("</script>")
    assert "<img" not in html


def test_what_a_page_cannot_show_is_refused_with_a_remedy() -> None:
    with pytest.raises(PatternError, match="65 patterns are more than this page can show: give at most 64"):
        teach(["a"] * 65, "a")
    with pytest.raises(InputError, match="AMQP carries at most 255"):
        teach(["x" * 256], "a")
    for show in (teach, lambda *what: lecture(*what)._repr_mimebundle_()):
        with pytest.raises(InputError, match="has 300 bytes: AMQP carries at most 255; shorten it"):
            show(["a"], ["a", "x" * 300])
        with pytest.raises(InputError, match=r"the routing key, .* has a lone surrogate at character 1"):
            show(["a"], "x\ud800")
        with pytest.raises(PatternError, match=r"pattern 1, .* has a lone surrogate at character 0"):
            show(["a", "\ud800"], "a")


def test_a_notebook_gets_the_page_in_a_frame() -> None:
    bundle = lecture(FOUR, [KEY, "a.b.c"], cache_bytes=1300)._repr_mimebundle_()
    assert bundle["text/html"].startswith("<iframe srcdoc=")
    assert "a.d.d.d.c" in bundle["text/plain"]


def test_the_server_answers_to_its_own_names_only_and_reads_nothing(server: ThreadingHTTPServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert "Step through a match" in request(server, "GET")[1]
    assert request(server, "HEAD") == (200, "")
    assert request(server, "GET", "/lesson")[0] == 404
    for host in ("evil.example", "127.0.0.1.evil.example", "", "[::1", "]", "a b"):
        assert request(server, "GET", Host=host) == (403, "This server answers to its own machine only.\n")
    for method in ("POST", "PUT", "OPTIONS"):
        assert request(server, method, Origin="http://evil.example", **{"Content-Length": "0"})[0] == 501


@pytest.mark.browser
def test_play_serves_the_page_that_needs_no_server(visits: Visits, server: ThreadingHTTPServer) -> None:
    page = visits.open(f"http://127.0.0.1:{server.server_port}/")
    server.shutdown()
    page.fill("#patterns", "x.#\n*.y")
    page.fill("#keys", "x.y")
    until(page, "location.hash.startsWith('#p=x.%23&p=*.y&k=x.y&')")
    for _ in range(2):
        page.keyboard.press("Escape")
        page.dispatch_event("#next", "click")
    assert "accepted by x.# and *.y" in page.inner_text("#story")


@pytest.mark.browser
def test_a_link_shows_the_same_to_somebody_else(visits: Visits, page_file: str, server: ThreadingHTTPServer) -> None:
    mine = visits.open(page_file)
    mine.select_option("#dialect", "mqtt")
    mine.fill("#patterns", "home/+/lamp\n$SYS/#\n#")
    mine.fill("#keys", "home/hall/lamp\n$SYS/x")
    mine.fill("#capacity", "3")
    until(
        mine,
        "document.getElementById('capacity-text').textContent.startsWith('1,500') && document.getElementById('key-name').textContent.endsWith('of 2') && location.hash.includes('c=1500')",
    )
    for _ in range(5):
        mine.dispatch_event("#next", "click")
    theirs = visits.open(f"http://127.0.0.1:{server.server_port}/{mine.evaluate('location.hash')}")
    for what in ("#story", "#facts", "#counters", "#position", "#capacity-text", "#subsets", "#set"):
        assert theirs.inner_text(what) == mine.inner_text(what)
    assert theirs.input_value("#patterns") == mine.input_value("#patterns")


@pytest.mark.browser
def test_what_a_dialect_refuses_is_said_and_the_page_stays(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file)
    for dialect, pattern, why in [
        ("mqtt", "a/#/b", "is not the last word"),
        ("nats", "a..b", "has an empty word"),
        ("solace", "pre*", "matches within a level"),
        ("amqp-4.3.5", "#.a.#.b.#", "at most 2"),
        ("amqp", "x" * 256, "carries at most 255"),
    ]:
        page.fill("#patterns", "a")
        page.select_option("#dialect", dialect)
        until(page, "document.getElementById('error').hidden")
        page.fill("#patterns", pattern)
        until(page, "!document.getElementById('error').hidden")
        assert why in page.inner_text("#error")
        page.dispatch_event("#next", "click")
    page.fill("#patterns", "\n".join(["a"] * 65))
    until(page, "document.getElementById('error').textContent.startsWith('65 patterns')")


@pytest.mark.browser
@pytest.mark.parametrize(
    ("link", "why"),
    [
        ("#p=" + "&p=".join("abc" * 40), "120 patterns are more"),
        ("#" + "&".join(["k=a"] * 1001), "1001 keys are more"),
        ("#p=a%2F%23%2Fb&d=mqtt", "is not the last word"),
        ("#p=" + "x" * 70_000, "carries at most 255"),
        ("#c=-5&s=1e9&q=%00", ""),
        ("#d=mqqt&p=home/%2B/x", "for the dialect mqqt, which this page does not have: it has amqp, "),
        ("#c=99999999999999&k=%ED%A0%80&s=-3", ""),
        ("#" + "%" * 50, ""),
        ("#p=__proto__.%23&p=constructor&k=__proto__.constructor&k=toString", ""),
    ],
)
def test_links_that_say_what_cannot_be_leave_the_page_sound(
    visits: Visits, page_file: str, link: str, why: str
) -> None:
    page = visits.open(page_file + link)
    assert why in page.inner_text("#error")
    assert page.locator("#error").is_visible() == bool(why)
    page.dispatch_event("#last", "click")
    assert page.locator("#nfa-canvas .node").count() > 1
    assert "The key ends here" in page.inner_text("#story")


@pytest.mark.browser
def test_a_page_without_patterns_has_none_after_a_reload(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file)
    page.fill("#patterns", "")
    until(page, "document.getElementById('summary').textContent.startsWith('0 patterns')")
    page.reload()
    assert page.inner_text("#summary").startswith("0 patterns")
    assert page.input_value("#patterns") == ""
    assert visits.open(page_file + fragment((), "a")).inner_text("#summary").startswith("0 patterns")


@pytest.mark.browser
def test_words_that_are_no_line_of_a_field_stay_as_they_are(visits: Visits, page_file: str) -> None:
    odd = ('""', "", "a\nb", "a\rb", "a\r\nb", '"a"', '"\\n"', '"\\"\\""', '"a', "a\\nb", '"a"."b"')
    page = visits.open(page_file + fragment(odd, *odd))
    shown = page.inner_text("#set")
    for field, name in (("patterns", "p"), ("keys", "k")):
        page.fill(f"#{field}", page.input_value(f"#{field}") + "\nc")
        said = f"new URLSearchParams(location.hash.slice(1)).getAll('{name}')"
        until(page, f"{said}.length === {len(odd) + 1}")
        assert page.evaluate(said) == [*odd, "c"]
    assert shown in page.inner_text("#set")


@pytest.mark.browser
def test_a_page_that_begins_with_what_cannot_be_says_so_and_can_be_mended(visits: Visits, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(page_html(["a"], ["x" * 300], cache_bytes=1300), encoding="utf-8")
    page = visits.open((tmp_path / "page.html").as_uri())
    assert "Key 1 has 300 bytes" in page.inner_text("#error")
    assert page.locator("#nfa-canvas .node").count() > 1
    page.fill("#keys", "a")
    until(page, "document.getElementById('error').hidden")
    assert page.inner_text("#capacity-text") == "1,300 bytes"


@pytest.mark.browser
def test_every_page_of_a_site_works_from_disk_and_all_it_links_to_is_there(visits: Visits, site: Path) -> None:
    for path in sorted(site.iterdir()):
        page = visits.open(path.as_uri())
        for link in page.eval_on_selector_all("a[href]", "all => all.map(one => one.getAttribute('href'))"):
            assert link.startswith("#") or (site / link).exists()
        for link in page.query_selector_all("a[href^='#p=']"):
            link.dispatch_event("click")
            wanted = link.get_attribute("href")
            until(
                page,
                f"new URLSearchParams(location.hash.slice(1)).get('k') === new URLSearchParams({wanted!r}.slice(1)).get('k')",
            )
            assert page.locator("#error").is_hidden()
            assert page.locator("#nfa-canvas .node").count() > 1


@pytest.mark.browser
@pytest.mark.parametrize("name", ["index.html", "essay.html", "lesson-4.html"])
def test_axe_finds_nothing_on_a_site(visits: Visits, site: Path, name: str) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="needs axe: pip install 'dfa-router[dev]'"
    )
    found = axe.Axe().run(visits.open((site / name).as_uri()))
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.browser
def test_an_answer_opens_by_keyboard(visits: Visits, site: Path) -> None:
    page = visits.open((site / "lesson-4.html").as_uri())
    page.focus("summary")
    page.keyboard.press("Space")
    assert page.evaluate("document.querySelector('details').open")
    assert page.get_attribute("#play", "aria-label") == "Play"


@pytest.mark.browser
@pytest.mark.parametrize("size", [(360, 740), (1280, 720)])
@pytest.mark.parametrize("name", ["lesson-1.html", "essay.html"])
def test_what_a_link_of_a_lesson_shows_is_brought_into_sight(
    visits: Visits, site: Path, name: str, size: tuple[int, int]
) -> None:
    page = visits.open((site / name).as_uri(), size=size)
    link = page.locator("a.button[href^='#']").nth(1)
    link.focus()
    until(page, "!document.querySelector('[data-shows]') || document.querySelector('.read-now')")
    page.keyboard.press("Enter")
    shown = "(({ top, bottom }) => 0 <= top && bottom <= innerHeight)(document.getElementById('{}').getBoundingClientRect())"
    assert page.evaluate(shown.replace("{}", "story"))
    assert page.evaluate(shown.replace("{}", "next"))
    assert boxes(page, "#nfa-canvas")[0][1] < size[1]
    wanted = str(link.get_attribute("href"))
    assert parse_qs(page.evaluate("location.hash").lstrip("#"))["k"] == parse_qs(wanted[1:])["k"]


@pytest.mark.browser
def test_the_browser_goes_back_from_what_a_link_of_a_lesson_shows(visits: Visits, site: Path) -> None:
    page = visits.open((site / "lesson-1.html").as_uri())
    page.locator("a.button[href^='#']").nth(1).click()
    until(page, "document.getElementById('key-name').textContent === 'Key 1 of 2'")
    page.evaluate("history.back()")
    until(page, "document.getElementById('key-name').textContent === 'Key'")


@pytest.mark.browser
def test_an_essay_shows_what_comes_into_view(visits: Visits, site: Path) -> None:
    page = visits.open((site / "essay.html").as_uri())
    for number in range(len(ESSAY.parts)):
        page.evaluate(
            f"document.querySelectorAll('[data-shows]')[{number}].scrollIntoView({{ block: 'start' }}); scrollBy(0, -160)"
        )
        until(page, f"document.querySelectorAll('[data-shows]')[{number}].classList.contains('read-now')")
    assert "simulat" in page.inner_text("#dfa-now")


@pytest.mark.browser
@pytest.mark.parametrize("size", [(1280, 720), (360, 740)])
def test_lecture_mode_of_an_essay_fills_the_screen(visits: Visits, site: Path, size: tuple[int, int]) -> None:
    page = visits.open((site / "essay.html").as_uri(), size=size)
    page.keyboard.press("l")
    placed = {part: boxes(page, part)[0] for part in ("#story", "#words", "#next")}
    assert [part for part, (_, y, _, height) in placed.items() if not 0 <= y <= y + height <= size[1]] == []
    assert min(box[3] for box in boxes(page, ".canvas:not(.table)")) >= 250


@pytest.mark.browser
@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
def test_steps_beside_an_essay_cover_no_picture_while_predicting(
    visits: Visits, site: Path, size: tuple[int, int]
) -> None:
    page = visits.open((site / "essay.html").as_uri(), size=size)
    page.click("#predict")
    page.dispatch_event("#first", "click")
    page.dispatch_event("#next", "click")
    assert page.locator("#question .primary").is_visible()
    bottom = "document.getElementById('dock').getBoundingClientRect().bottom"
    until(page, f"{bottom} <= document.querySelector('.pictures').getBoundingClientRect().top")
    assert max(y + height for _, y, _, height in boxes(page, "figure .node")) <= size[1]


@pytest.mark.browser
def test_every_example_can_be_stepped_through(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file)
    for number, example in enumerate(EXAMPLES):
        page.select_option("#examples", str(number))
        assert page.locator("#error").is_hidden()
        assert page.inner_text("#example-note") == example.note
        page.dispatch_event("#last", "click")
        assert page.input_value("#keys").split("\n")[-1] == (example.keys[-1] or '""')


def test_the_answers_of_the_lessons_are_right() -> None:
    import dfa_router as dr

    router = dr.compile([(pattern, pattern) for pattern in FOUR])
    assert (router.match("a.c"), router.match("a..b.c")) == (("a.#.c",), ("a.*.b.c", "a.#.c"))
    told = dr.trace(router, ["b.b.c", "a.c.b.c.c", "a.b.c.c"])
    assert told[-1].stats.states == 14
    blow_up = dr.compile([("#.a" + ".*" * 6, "q")], cache_bytes=1300)
    assert dr.trace(blow_up, [".".join("aababbaababaabb")])[0].stats.clears == 3
    assert dr.trace(blow_up, ["b.b.b.b.b.b.b.b"])[0].stats.states == 1
    (stars,) = (example for example in EXAMPLES if "six stars" in example.title)
    built = dr.trace(dr.compile([(pattern, "q") for pattern in stars.patterns]), stars.keys)[0].stats.states
    assert f"builds {built}:" in stars.note
    assert len(PARTS) >= 20


def test_what_the_lesson_says_of_the_trie_s_work_is_what_its_keys_show() -> None:
    (asks,) = (one for one in PARTS if "third power" in one.answer)
    settings = parse_qs(asks.shows[1:])
    work = [sum(trie_walk(nfa_of(settings["p"]), words_of(key)).reads) for key in settings["k"]]
    first, second = (f"{after / before:.1f}" for before, after in pairwise(work))
    assert f"{first} times the look-ups, then {second}" in asks.answer


@pytest.mark.browser
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (fragment(("orders.>",), "orders..paid", dialect="nats"), "No broker routes this key"),
        (fragment(("#.a.*.*",), "a.b.a", cache=0), "the DFA, were it asked, 3 times"),
        (fragment(FOUR, KEY, KEY, step=99), "the DFA, were it asked, 5 times"),
        (fragment(FOUR, KEY), "; the DFA 5 times"),
    ],
    ids=["refused", "simulated", "remembered", "asked"],
)
def test_the_page_says_of_no_key_that_the_dfa_reads_it_where_it_does_not(
    visits: Visits, page_file: str, settings: str, said: str
) -> None:
    page = visits.open(page_file + settings)
    assert said in page.inner_text("#trie-story")


@pytest.mark.browser
def test_the_page_works_in_the_frame_of_a_notebook(visits: Visits, tmp_path: Path) -> None:
    frame: Any = lecture(FOUR, KEY)._repr_mimebundle_()["text/html"]
    (tmp_path / "notebook.html").write_text(f"<!doctype html><title>n</title>{frame}", encoding="utf-8")
    page = visits.open((tmp_path / "notebook.html").as_uri())
    inside = page.frames[1]
    inside.dispatch_event("#next", "click")
    assert "Word 1, a," in inside.inner_text("#story")


def test_fragments_hold_everything() -> None:
    assert fragment(("a.#", ""), "", dialect="nats", cache=0) == "#p=a.%23&p=&k=&d=nats&c=0&s=0"
    assert fragment((), "a", cache=0) == "#n=0&k=a&d=amqp&c=0&s=0"
