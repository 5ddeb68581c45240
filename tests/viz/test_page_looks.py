"""What the page looks like: on three screens, in lecture mode, and in print."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

import pytest

from tests.viz.material import ATTACKS, FOUR, KEY
from tests.viz.visits import SIZES, Visits, boxes, fragment, go_through, until

pytestmark = pytest.mark.browser

SIXTY = tuple(f"#.{chr(97 + i % 26)}{i // 26}.*.{chr(97 + i % 7)}" for i in range(60))
LONG_KEY = ".".join(f"{chr(97 + i % 26)}0" for i in range(30))
BLOW_UP = ("#.a" + ".*" * 6,)

OUTSIDE = """() => [...document.querySelectorAll("figure .canvas")].flatMap((canvas) => {
  const outer = canvas.getBoundingClientRect();
  return [...canvas.querySelectorAll(".hit")].filter((one) => {
    const inner = one.getBoundingClientRect();
    return inner.left < outer.left - 1 || inner.right > outer.right + 1 || inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1;
  }).map((one) => one.id);
})"""


@pytest.mark.parametrize(
    ("size", "stream"),
    [
        *((size, (FOUR, KEY)) for size in SIZES),
        (SIZES[1], (SIXTY, LONG_KEY)),
        (SIZES[2], (BLOW_UP, ".".join("aababbab"))),
        *(
            pytest.param(size, stream, marks=pytest.mark.long)
            for size in SIZES
            for stream in ((SIXTY, LONG_KEY), (BLOW_UP, ".".join("aababbab")))
        ),
    ],
)
def test_no_node_moves_while_stepping_and_nothing_active_is_out_of_sight(
    visits: Visits, page_file: str, size: tuple[int, int], stream: tuple[tuple[str, ...], str]
) -> None:
    page = visits.open(page_file + fragment(*stream), size=size)
    page.evaluate("document.getElementById('nfa-figure').scrollIntoView()")
    before = boxes(page, "figure .node > rect")
    assert len(before) > 5
    for step in go_through(page):
        assert page.evaluate(OUTSIDE) == [], step
        assert boxes(page, "figure .node > rect") == before, step
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page does not scroll sideways"


@pytest.mark.parametrize("size", [SIZES[0], SIZES[2]])
@pytest.mark.parametrize("word", ["a", "logging-service"])
def test_two_loops_of_one_state_do_not_lie_upon_each_other(
    visits: Visits, page_file: str, size: tuple[int, int], word: str
) -> None:
    """Of a state that a literal and any other word leave where it is."""
    page = visits.open(page_file + fragment((f"#.{word}.#", "*.*.*.*"), f"{word}.b.{word}.{word}.b"), size=size)
    page.check("#ghosts")
    ids = page.eval_on_selector_all("#dfa-canvas .edge", "all => all.map(one => one.id)")
    loops = [one for one in ids if f"{one}-other" in ids and one == f"{one.split('-')[0]}-{one.split('-')[0]}"]
    assert loops
    for loop in loops:
        for part in ("path", "text"):
            (x, y, width, height), (left, top, across, down) = (
                boxes(page, f"[id='{one}'] > {part}")[0] for one in (loop, f"{loop}-other")
            )
            assert x + width <= left or left + across <= x or y + height <= top or top + down <= y, (loop, part)
    box = boxes(page, "#dfa-canvas")[0]
    for x, y, width, height in boxes(page, "#dfa-canvas .edge > text"):
        assert box[0] <= x <= x + width <= box[0] + box[2]
        assert box[1] <= y <= y + height <= box[1] + box[3]


@pytest.mark.parametrize("size", SIZES)
def test_the_pattern_that_accepts_is_in_sight_among_sixty(
    visits: Visits, page_file: str, size: tuple[int, int]
) -> None:
    patterns = tuple(f"a{number}.#" for number in range(60))
    page = visits.open(page_file + fragment(patterns, "a59.x", step=99), size=size)
    for what in ("#set", "#bindings"):
        (_, y, _, height), (_, top, _, whole) = boxes(page, f"{what} .accepts")[0], boxes(page, what)[0]
        assert top - 1 <= y <= y + height <= top + whole + 1


@pytest.mark.parametrize("size", SIZES[:2])
def test_a_long_pattern_hides_neither_the_others_nor_the_end_of_the_story(
    visits: Visits, page_file: str, size: tuple[int, int]
) -> None:
    long = f"{'a' * 110}.*.{'b' * 100}"
    page = visits.open(page_file + fragment((long, "#.b"), long.replace("*", "x"), step=99), size=size)
    assert "accepted by" in page.inner_text("#story")
    for what in ("#set", "#story"):
        assert page.eval_on_selector(what, "one => one.scrollHeight <= one.clientHeight"), what
    assert long in page.inner_text("#bindings")


@pytest.mark.parametrize("size", [(320, 568), *SIZES[1:]])
@pytest.mark.parametrize("mode", ["", "predict"])
def test_every_sentence_has_room_and_moves_nothing_below(
    visits: Visits, page_file: str, size: tuple[int, int], mode: str
) -> None:
    """Of a phone too, where the last one, which says what accepts the key, takes six lines."""
    patterns = ("stock.#", "*.#", "stock.nyse.#", "stock.*.#", "#.ibm", "stock.nyse.ibm", f"#.{'b' * 60}")
    page = visits.open(page_file + fragment(patterns, "stock.nyse.ibm", "x", "stock.nyse.ibm"), size=size)
    if mode:
        page.click(f"#{mode}")
    tops = set()
    for _ in range(int(page.get_attribute("#slider", "max") or 0) + 1):
        assert page.eval_on_selector("#story", "one => one.scrollHeight - one.clientHeight") <= 1
        tops.add(page.evaluate("document.querySelector('main').getBoundingClientRect().top + scrollY"))
        page.keyboard.press("ArrowRight")
        for check in page.query_selector_all("#question:not([hidden]) .primary"):
            check.click()
    assert "accepted by" in page.inner_text("#story")
    assert mode or len(tops) == 1  # the question has rows of its own


@pytest.mark.parametrize("size", [(320, 568), (360, 640)])
def test_a_question_that_fills_a_phone_s_screen_scrolls_with_the_page(
    visits: Visits, page_file: str, size: tuple[int, int]
) -> None:
    page = visits.open(page_file + fragment(SIXTY, "a0.b.c.d"), size=size)
    page.click("#predict")
    page.click("#next")
    assert boxes(page, "#dock")[0][3] > size[1]
    until(page, "getComputedStyle(document.getElementById('dock')).position === 'static'")
    page.eval_on_selector("#question .primary", "one => one.scrollIntoView({ block: 'end' })")
    _, y, _, height = boxes(page, "#question .primary")[0]
    assert 0 <= y <= y + height <= size[1] + 1


def test_a_sentence_too_high_for_the_screen_is_scrolled_by_the_keyboard(visits: Visits, page_file: str) -> None:
    patterns = tuple(f"{'a' * 60}.#{'.#' * number}" for number in range(8))
    page = visits.open(page_file + fragment(patterns, f"{'a' * 60}", step=99), size=(320, 480))
    assert page.eval_on_selector("#story", "one => one.scrollHeight > one.clientHeight && one.tabIndex === 0")
    page.click("#first")
    assert page.get_attribute("#story", "tabindex") is None


def test_a_long_pattern_s_box_is_no_wider_than_what_is_seen_of_it(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file + fragment((f"{'a' * 100}.*", "#.b"), "b"))
    assert boxes(page, "#set > span")[0][2] <= boxes(page, "#set > span > .pattern")[0][2] + 24


@pytest.mark.parametrize("word", ["\u0637\u0644\u0628.#.\u0628\u0627\u0631\u064a\u0633", "mmmmmm.#.wwwwwwww"])
def test_what_is_bold_where_the_key_is_stays_within_its_border(visits: Visits, page_file: str, word: str) -> None:
    page = visits.open(page_file + fragment((word,), word.replace("#", "x"), step=99))
    for canvas in ("#nfa-canvas", "#dfa-canvas"):
        (left, _, width, _), *texts = (
            boxes(page, f"{canvas} .hit:has(.inner) > {part}")[at]
            for part, at in (("rect", 0), ("text", 0), ("text", -1))
        )
        assert all(left + 3 <= x and x + across <= left + width - 3 for x, _, across, _ in texts), canvas


def test_a_binding_that_failed_is_struck_out(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file + fragment(FOUR, KEY, step=99))
    for what, line in (("failed", "line-through"), ("accepts", "none")):
        for where in ("#bindings", "#set"):  # no line goes from an element into an inline block
            one = f"{where} .{what} .pattern"
            assert page.eval_on_selector(one, "one => getComputedStyle(one).textDecorationLine") == line


def test_the_bound_s_slider_is_as_wide_as_what_is_above_it(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file)
    (left, _, width, _), (x, _, across, _) = boxes(page, "#dialect")[0], boxes(page, "#capacity")[0]
    assert (x, across) == pytest.approx((left, width), abs=1)


def test_a_picture_that_was_zoomed_scrolls_to_where_the_key_is(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file, size=SIZES[1])
    for name in ("nfa", "dfa"):
        for _ in range(5):
            page.click(f"#{name}-figure [data-zoom='in']")
        assert page.eval_on_selector(f"#{name}-canvas", "one => one.scrollWidth > 2 * one.clientWidth")
    scrolled = set()
    for _ in go_through(page):
        assert not [one for one in page.evaluate(OUTSIDE) if one.startswith("s")], (
            "it is in one state, which is in sight"
        )
        scrolled.add(page.eval_on_selector("#dfa-canvas", "one => one.scrollLeft"))
    assert len(scrolled) > 2


def test_pictures_can_be_read_on_a_projector_with_the_story_in_sight(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file, size=(1280, 720))
    page.evaluate("document.getElementById('dock').scrollIntoView()")
    assert min(box[3] for box in boxes(page, "figure svg text")) >= 12
    story, nodes = boxes(page, "#story")[0], boxes(page, "figure .node")
    assert story[1] >= 0
    assert max(box[1] + box[3] for box in nodes) <= 720
    before = boxes(page, "#nfa-canvas .node")[0][3]
    page.click("#nfa-figure [data-zoom='in']")
    assert boxes(page, "#nfa-canvas .node")[0][3] > 1.2 * before
    page.click("#nfa-figure [data-zoom='fit']")
    assert boxes(page, "#nfa-canvas .node")[0][3] == before


@pytest.mark.parametrize("size", SIZES)
def test_the_story_stays_in_sight_beside_each_picture(visits: Visits, page_file: str, size: tuple[int, int]) -> None:
    page = visits.open(page_file, size=size)
    for figure in ("nfa-figure", "dfa-figure"):
        page.evaluate(f"document.getElementById('{figure}').scrollIntoView({{ block: 'end' }})")
        _, y, _, height = boxes(page, "#story")[0]
        assert 0 <= y <= y + height <= size[1]


def test_lecture_mode_fills_the_screen_with_large_text(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file, size=(1280, 720))
    page.keyboard.press("l")
    scale = "svg => [...svg.querySelectorAll('text')].map(t => parseFloat(t.getAttribute('font-size')) * svg.getBoundingClientRect().width / svg.dataset.width)"
    for canvas in ("#nfa-canvas", "#dfa-canvas"):
        assert min(page.eval_on_selector(f"{canvas} svg", scale)) >= 17.9
    sizes = page.evaluate(
        "[...document.querySelectorAll('#story, #set .word, #words button, .now')].map(one => parseFloat(getComputedStyle(one).fontSize))"
    )
    assert min(sizes) >= 18
    for _ in go_through(page):
        assert page.evaluate(OUTSIDE) == []
        for part in ("#story", "#words", "#nfa-canvas", "#dfa-canvas", "#next"):
            x, y, width, height = boxes(page, part)[0]
            assert x >= 0
            assert y >= 0
            assert x + width <= 1280
            assert y + height <= 720
    page.keyboard.press("Escape")
    assert page.locator("#editor").is_visible()


@pytest.mark.parametrize("size", [(360, 740), (1280, 720), (640, 360)])
def test_what_is_wrong_is_in_sight_of_who_types_it(visits: Visits, page_file: str, size: tuple[int, int]) -> None:
    page = visits.open(page_file + fragment(("a/b",), "a/b", dialect="mqtt"), size=size)
    for field, text, said in (("#patterns", "a/#/b", "Pattern 1"), ("#keys", "\x00" * 70000, "Key 1")):
        page.fill("#patterns", "a/b")
        page.fill(field, text)
        until(page, f"document.getElementById('error').textContent.startsWith({said!r})")
        _, y, _, height = boxes(page, "#error")[0]
        assert 0 <= y <= y + height <= size[1]
        assert boxes(page, field)[0][1] < size[1], "and so is the field"


def test_escape_leaves_lecture_mode_wherever_the_focus_is(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file + fragment(BLOW_UP, ".".join("aababbab")), size=(1280, 720))
    for place in ("#slider", "#dfa-canvas", "#next"):
        page.keyboard.press("l")
        page.focus(place)
        page.keyboard.press("Escape")
        assert page.locator("#editor").is_visible(), place
        page.evaluate("document.activeElement.blur()")


def test_the_heading_of_a_table_wider_than_a_phone_stays_in_sight(visits: Visits, page_file: str) -> None:
    page = visits.open(
        page_file + fragment(("home.*.lamp", "home.#", "x.y"), "home.hall.lamp", step=99), size=(360, 740)
    )
    assert page.eval_on_selector(".canvas.table", "one => one.scrollWidth > one.clientWidth")
    for scrolled in (0, 1000):
        page.eval_on_selector(".canvas.table", "(one, by) => { one.scrollLeft = by; }", scrolled)
        (left, _, width, _), (x, _, across, _) = boxes(page, ".canvas.table")[0], boxes(page, "caption > span")[0]
        assert left - 1 <= x
        assert x + across <= left + width + 1


@pytest.mark.parametrize("size", [(360, 740), (740, 360)])
def test_lecture_mode_scrolls_on_a_phone_where_nothing_lies_upon_anything(
    visits: Visits, page_file: str, size: tuple[int, int]
) -> None:
    page = visits.open(page_file, size=size)
    page.keyboard.press("l")
    parts = ["#lecture", "#predict", "#set", "#words", ".transport", "#story"]
    parts += [f"#{name}-figure {part}" for name in ("nfa", "dfa") for part in ("h2", ".now", ".zoom", ".canvas")]
    placed = [(part, boxes(page, part)[0]) for part in parts]
    for (one, (x, y, width, height)), (other, (left, top, across, down)) in combinations(placed, 2):
        apart = x + width <= left or left + across <= x or y + height <= top or top + down <= y
        assert apart, (one, other)
    for part in parts:
        page.eval_on_selector(part, "one => one.scrollIntoView({ block: 'end' })")
        _, y, _, height = boxes(page, part)[0]
        assert 0 <= y <= y + height <= size[1] + 1, part
    assert min(box[3] for box in boxes(page, ".canvas:not(.table)")) >= 250
    assert boxes(page, "#key-back")[0][1] == boxes(page, "#key-next")[0][1]


def test_words_from_right_to_left_reorder_no_pattern(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file + fragment(("#.\u05e9\u05dc\u05d5\u05dd", "\u05d0.\u05d1"), "\u05d0.\u05d1"))
    for chip in page.query_selector_all("#set .pattern"):
        lefts = [part.bounding_box()["x"] for part in chip.query_selector_all("bdi")]  # type: ignore[index]
        assert lefts == sorted(lefts)
        assert len(lefts) == 2


IN_PICTURES = """() => [...document.querySelectorAll('#nfa .node text, figure svg .node text')].filter((text) => text.textContent.startsWith('\u2713')).map((text) =>
    [...text.textContent].flatMap((sign, place) => (/[\\u2713#\u05d0\u05d1]/.test(sign) ? [text.getExtentOfChar(place).x] : [])))"""


def test_words_from_right_to_left_reorder_no_label_of_a_picture(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file + fragment(("#.\u05d0", "\u05d0.\u05d1"), "\u05d0.\u05d1"))
    labels = page.evaluate(IN_PICTURES)
    assert {len(places) for places in labels} == {3}
    assert all(places == sorted(places) for places in labels)


@pytest.mark.parametrize("patterns", [FOUR, SIXTY], ids=["four", "sixty"])
def test_a_step_is_printed_on_one_page_and_all_on_one_each(
    visits: Visits, page_file: str, patterns: tuple[str, ...]
) -> None:
    def pages(pdf: bytes) -> int:
        return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))

    page = visits.open(page_file + fragment(patterns, KEY, step=3))
    assert pages(page.pdf(prefer_css_page_size=True)) == 1
    page.evaluate("window.print = () => { window.printed = document.getElementById('pages').cloneNode(true); }")
    page.click("#print-all")
    page.evaluate(
        "document.body.classList.add('print-all'); document.getElementById('pages').replaceWith(window.printed)"
    )
    assert pages(page.pdf(prefer_css_page_size=True)) == 6


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_printed_of_all_steps_is_what_was_seen_in_the_colours_of_paper(
    visits: Visits, page_file: str, scheme: Any
) -> None:
    """Though what changes from step to step moves there, and is copied at once."""
    page = visits.open(page_file + fragment(FOUR, KEY, step=2), color_scheme=scheme, reduced_motion="no-preference")
    page.evaluate("window.print = () => { window.printed = document.getElementById('pages').cloneNode(true); }")
    page.click("#print-all")
    printed = page.evaluate("""() => [...window.printed.children].map((sheet) => [...sheet.querySelectorAll("svg")].map((svg) => ({
      ids: [...svg.querySelectorAll("[role=img]")].filter((one) => one.querySelector("rect").getAttribute("stroke-width") === "3.2px").length,
      seen: [...svg.querySelectorAll("*")].every((one) => one.getAttribute("opacity") !== "0"),
      fill: svg.querySelector("[role=img] > rect").getAttribute("fill"), ink: svg.querySelector("[role=img] > text").getAttribute("fill"),
      labels: [...svg.querySelectorAll("text:not([aria-hidden]) tspan")].map((one) => one.getAttribute("stroke")),
    })))""")
    assert [[svg["ids"] for svg in sheet] for sheet in printed] == [[1, 1], [2, 1], [2, 1], [1, 1], [1, 1], [2, 1]]
    for svg in (svg for sheet in printed for svg in sheet):
        assert svg["seen"]
        assert set(svg["labels"]) == {"none"}, "a line around a label's letters would cover them"
        assert sum(map(int, re.findall(r"\d+", svg["ink"])[:3])) < 300
    assert page.evaluate("document.documentElement.dataset.theme") == "auto"
    head = page.evaluate("window.printed.children[3].firstChild.textContent")
    assert head == f"Step 3 of 5 \u00b7 Key {KEY} \u00b7 Patterns {', '.join(FOUR)}"


def test_attacking_words_are_shown_as_text(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file)
    title = page.title()
    words = [word for word in ATTACKS if "\n" not in word]
    page.fill("#patterns", "\n".join(f"{word}.#" for word in words))
    page.fill("#keys", "\n".join(f"{word}.x" for word in words))
    until(page, f"document.getElementById('key-name').textContent.endsWith('of {len(words)}')")
    for _ in range(len(words)):
        page.dispatch_event("#key-next", "click")
    assert page.title() == title
    assert page.locator("img").count() == 0
    shown = page.inner_text("#set")
    assert "</script>" in shown
    assert not set(shown) & set("\u202e\u200b\x01\x7f")
    assert "‹U+202E›" in shown


def test_a_long_chain_is_laid_out_in_what_its_length_takes(visits: Visits, page_file: str) -> None:
    """Every state of it has an edge to the dead state, and the layout gives an edge a point for each rank that it crosses."""
    words = 40
    pattern = ".".join(f"w{number}" for number in range(words))
    page = visits.open(page_file + fragment((pattern,), pattern))
    paths = page.eval_on_selector_all("#dfa-canvas .edge.other > path", "all => all.map(one => one.getAttribute('d'))")
    assert len(paths) == words + 1
    assert sum(path.count("Q") for path in paths) <= 3 * words
    edges = page.evaluate("[...document.querySelectorAll('#dfa-canvas .edge')].map(one => one.id)")
    assert len(edges) == len(set(edges)) == 2 * words + 2
