"""The page in a real browser: it shows what the engine does, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import dfa_router as dr
from dfa_router.language.rules import compile_nfa
from tests.viz.material import FOUR, KEY
from tests.viz.visits import Visits, boxes, fragment, go_through, until

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

FOREX = ("forex.*", "stock.#", "*.usd", "stock.nyse.ibm", "#")
BLOW_UP = ("#.a" + ".*" * 6,)


def counters(page: Page) -> dict[str, int]:
    """Return the counters that the page shows."""
    cells = page.eval_on_selector_all("#counters > *", "all => all.map(one => one.textContent)")
    return {name: int(value.replace(",", "")) for name, value in zip(cells[::2], cells[1::2], strict=True)}


@pytest.mark.parametrize(
    ("patterns", "key", "size"), [(FOUR, KEY, (6, 6)), (FOREX, "stock.nyse.ibm", (6, 6)), (("a.#.c",), "a.d.c", (4, 4))]
)
def test_what_is_in_the_cache_is_what_is_in_the_router_s(
    visits: Visits, page_file: str, patterns: tuple[str, ...], key: str, size: tuple[int, int]
) -> None:
    router = dr.compile([(pattern, pattern) for pattern in patterns], cache_bytes=64 << 20)
    router.match(key)
    stats = router.stats()
    assert (stats.states, stats.transitions) == size
    page = visits.open(page_file + fragment(patterns, key, step=99))
    shown = counters(page)
    assert (shown["states"], shown["transitions"], shown["bytes"]) == (*size, stats.bytes)
    assert f"{size[0]} states, {size[1]} transitions" in page.inner_text("#facts")
    assert page.locator("#subsets tbody tr").count() == size[0]


@pytest.mark.parametrize(
    ("patterns", "keys", "capacity", "dialect"),
    [
        (FOUR, [KEY, "a.b.c", "b.b.c.d.e", KEY], 64 << 20, "amqp"),
        (FOUR, [KEY, "a.b.c", "b.b.c.d.e", "a.d.b.c"], 1300, "amqp"),
        (BLOW_UP, [".".join("aababbaababaabb"), "b.a"], 1300, "amqp"),
        (("#.a.#.b",), ["a.b.a"], 64 << 20, "amqp"),
        (("#", "+/lamp", "$SYS/#"), ["$SYS/lamp", "hall/lamp", "a/+"], 64 << 20, "mqtt"),
    ],
)
def test_every_step_has_the_engine_s_numbers_and_draws_what_is_built_as_built(
    visits: Visits, page_file: str, patterns: tuple[str, ...], keys: list[str], capacity: int, dialect: str
) -> None:
    router = dr.compile([(pattern, pattern) for pattern in patterns], dialect=dialect, cache_bytes=capacity)
    nfa = compile_nfa([pattern.encode() for pattern in patterns], dr.dialect_named(dialect))
    page = visits.open(page_file + fragment(patterns, *keys, dialect=dialect, cache=capacity))
    told = [frame for one in dr.trace(router, keys) for frame in one.frames or [None]]
    built: set[tuple[int, int]] = set()
    for step in go_through(page):
        frame = told[step]
        if frame is None:
            assert page.locator(".hit").count() == 0
            continue
        if frame.how == "cleared":
            built = set()
            assert "The cache is full" in page.inner_text("#story")
        if frame.how == "simulated":
            assert "simulat" in page.inner_text("#dfa-now")
        for kind, *what in frame.built:
            if kind == "default":
                built.add((int(what[0]), 0))
            elif kind in ("literal", "stray"):
                built.add((int(what[0]), int(what[1])))
        state = "none" if frame.state is None else str(frame.state)
        assert page.inner_text("#facts").split("DFA state\n")[1].split()[0] == state
        # The picture: the numbers in it, and which of its transitions are solid.
        drawn = page.evaluate(DRAWN)
        numbers = {int(one["number"]): one["set"] for one in drawn["nodes"] if one["number"] != "–"}
        if frame.state is not None:
            assert drawn["hit"] == [str(frame.state)]
            assert frame.state in numbers
        for edge in drawn["edges"]:
            symbols = [0] if edge["other"] else [nfa.symbol_of[word.encode()] for word in edge["words"]]
            for symbol, solid in zip(symbols, edge["solid"], strict=True):
                number = -1 if edge["number"] == "–" else int(edge["number"])
                assert solid == ((number, symbol) in built), (step, edge)


DRAWN = """() => {
  const canvas = document.getElementById("dfa-canvas");
  const number = (node) => node.querySelector(".number").textContent;
  const nodes = [...canvas.querySelectorAll(".node:not(.entry)")];
  const edges = [...canvas.querySelectorAll(".edge:not(.entry)")].map((edge) => {
    const parts = [...edge.querySelectorAll("tspan")], dotted = edge.classList.contains("absent");
    const other = edge.classList.contains("other");
    return {
      number: number(canvas.querySelector(`[id="${edge.id.split("-")[0]}"]`)), other, words: parts.map((part) => part.textContent),
      solid: parts.map((part) => !dotted && (other || !part.classList.contains("absent"))),
    };
  });
  return { nodes: nodes.map((node) => ({ number: number(node), set: node.querySelector(".more").textContent })), edges,
    hit: [...canvas.querySelectorAll(".hit")].map(number) };
}"""


MARKED = """selector => [...document.querySelectorAll(selector)].filter((one) => one.marked).length"""
MARK = """() => { for (const one of document.querySelectorAll("#bindings li, #set > span, #subsets tr, figure svg")) one.marked = true; }"""


def test_a_step_makes_anew_only_what_it_changes(visits: Visits, page_file: str) -> None:
    """Text that is set anew is laid out anew, which took most of the time of a step where patterns are many."""
    patterns = tuple(f"w{number}.#" for number in range(60))
    page = visits.open(page_file + fragment(patterns, "w7.x.y", "w8.x.y"))
    page.evaluate(MARK)
    for _ in range(2):
        page.dispatch_event("#next", "click")
    assert page.evaluate(MARKED, "#bindings li") == page.evaluate(MARKED, "#set > span") == 60
    assert page.inner_text("#bindings li:first-child .why") == "would accept if the key ended here"
    assert page.locator("#bindings .failed").count() == 59
    rows = page.locator("#subsets tbody tr").count()
    assert rows > 2
    page.evaluate(MARK)
    page.dispatch_event("#next", "click")
    assert page.evaluate(MARKED, "#subsets tbody tr") >= rows - 2
    page.dispatch_event("#key-next", "click")
    page.dispatch_event("#next", "click")
    assert "w8" in page.inner_text("#bindings li:first-child")
    page.dispatch_event("#key-back", "click")
    page.dispatch_event("#next", "click")
    assert "w7" in page.inner_text("#bindings li:first-child")


def test_pictures_are_kept_where_another_key_has_the_same_and_ghosts_come_back(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file + fragment(FOUR, KEY, "b.b.c"))
    page.evaluate(MARK)
    page.dispatch_event("#key-next", "click")
    assert page.evaluate(MARKED, "figure svg") == 2
    drawn = page.evaluate(DRAWN)
    page.check("#ghosts")
    more = page.evaluate(DRAWN)
    assert len(more["nodes"]) > len(drawn["nodes"]) > 2
    assert {one["number"] for one in more["nodes"]} == {*(one["number"] for one in drawn["nodes"]), "–"}
    page.uncheck("#ghosts")
    assert page.evaluate(DRAWN) == drawn
    page.check("#ghosts")
    assert page.evaluate(DRAWN) == more


def test_a_word_that_is_built_is_told_from_one_that_is_not(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file + fragment(("#.a.#.b",), "a.b.a", step=1))
    edges = page.evaluate(DRAWN)["edges"]
    assert any(edge["words"] == ["a"] and edge["solid"] == [True] for edge in edges)
    assert any(edge["other"] and edge["solid"] == [False] for edge in edges), "the table has a question mark there"


def test_clears_and_simulation_happen_on_the_page(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file + fragment(BLOW_UP, ".".join("aababbaababaabb"), cache=1300, step=999))
    shown = counters(page)
    assert (shown["clears"], shown["simulated keys"]) == (3, 1)
    events = page.inner_text("#events")
    assert events.count("the cache was cleared") == 3
    assert "the NFA was simulated" in events
    page.fill("#capacity", "10")
    until(page, "document.getElementById('counters').textContent.includes('clears0')")


def test_a_cache_is_kept_for_another_key(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file + fragment(BLOW_UP, "a.a.b", step=99))
    states = counters(page)["states"]
    page.click("#keep")
    page.keyboard.type("b.b.a")
    until(page, "document.getElementById('slider').max === '7'")
    assert page.input_value("#keys") == "a.a.b\nb.b.a"
    page.dispatch_event("#first", "click")
    page.dispatch_event("#key-next", "click")
    assert page.inner_text("#key-name") == "Key 2 of 2"
    assert f"{states} states" in page.inner_text("#facts"), "it begins with what the key before has left"
    page.click("#empty")
    assert page.input_value("#keys") == "b.b.a"


FORM = """() => ["patterns", "keys", "dialect", "capacity"].map((id) => document.getElementById(id).value)"""


@pytest.mark.parametrize("button", ["keep", "empty", "add-match", "add-miss"])
def test_no_button_throws_away_what_is_typed(visits: Visits, page_file: str, button: str) -> None:
    page = visits.open(page_file)
    page.select_option("#dialect", "mqtt")
    page.fill("#patterns", "home/+/lamp\nhome/lamp+\nhome/#")
    until(page, "!document.getElementById('error').hidden")
    page.fill("#keys", "home/hall/lamp")
    page.fill("#capacity", "2")
    form = page.evaluate(FORM)
    page.click(f"#{button}")
    assert page.evaluate(FORM) == form
    assert "Pattern 2" in page.inner_text("#error")
    # Mended and pressed at once, before it is shown.
    page.evaluate(
        """(button) => {
          const field = document.getElementById("patterns");
          field.value = field.value.replace("lamp+", "lamp");
          field.dispatchEvent(new Event("input"));
          document.getElementById(button).click();
        }""",
        button,
    )
    assert page.locator("#error").is_hidden()
    patterns, keys, *others = page.evaluate(FORM)
    assert patterns == "home/+/lamp\nhome/lamp\nhome/#"
    assert keys.split("\n")[0] == "home/hall/lamp"
    assert others == form[2:]
    assert page.inner_text("#summary").startswith("3 patterns")


def test_the_last_step_keeps_the_focus_and_keys_go_on_working(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file)
    page.focus("#next")
    for _ in range(7):
        page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "next"
    assert page.get_attribute("#next", "aria-disabled") == "true"
    assert page.input_value("#slider") == "5"
    page.keyboard.press("ArrowLeft")
    assert page.input_value("#slider") == "4"
    page.keyboard.press("Home")
    assert page.input_value("#slider") == "0"


def test_letters_are_the_same_in_upper_case(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file)
    for key, button in (("L", "lecture"), ("P", "predict")):
        page.keyboard.press(key)
        assert page.get_attribute(f"#{button}", "aria-pressed") == "true"


def test_letters_can_be_switched_off_and_stay_so(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file)
    page.get_by_label("L lecture, P predict").uncheck()
    for step in ("1", "2"):
        for key, button in (("l", "lecture"), ("p", "predict")):
            page.keyboard.press(key)
            assert page.get_attribute(f"#{button}", "aria-pressed") == "false"
        page.keyboard.press("ArrowRight")
        assert page.input_value("#slider") == step, "other keys do what they did"
        page.reload()
    page.get_by_label("L lecture, P predict").check()
    page.reload()
    page.keyboard.press("l")
    assert page.get_attribute("#lecture", "aria-pressed") == "true"


def test_a_presenter_steps_in_lecture_mode(visits: Visits, page_file: str) -> None:
    """Its buttons are a keyboard's Page Down and Page Up."""
    page = visits.open(page_file)
    page.fill("#keys", f"{KEY}\na.b.c")
    until(page, "document.getElementById('summary').textContent.includes('2 keys')")
    page.focus("#next")
    for lecture, steps in ((True, "2 1"), (False, "6 0")):
        page.keyboard.press("Home")
        if lecture != (page.get_attribute("#lecture", "aria-pressed") == "true"):
            page.keyboard.press("l")
        reached = []
        for key in ("PageDown", "PageDown", "PageUp") if lecture else ("PageDown", "PageUp"):
            page.keyboard.press(key)
            reached.append(page.input_value("#slider"))
        assert " ".join(reached[-2:]) == steps, lecture


def test_a_key_of_the_keyboard_that_has_nothing_to_do_is_left_to_the_browser(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file)
    page.evaluate("addEventListener('keydown', (event) => { window.taken = event.defaultPrevented; })")
    for keys, taken in ((KEY, False), (f"{KEY}\na.b.c", True)):
        page.fill("#keys", keys)
        until(page, f"document.getElementById('summary').textContent.includes('{keys.count(chr(10)) + 1} key')")
        page.focus("#next")
        for key in ("PageDown", "PageUp"):
            page.keyboard.press(key)
            assert page.evaluate("window.taken") == taken


def test_each_step_is_described_and_the_dead_state_is_drawn(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file + fragment(FOUR, "x.y"))
    said: list[Any] = [
        [page.get_attribute(canvas, "aria-label") for canvas in ("#nfa-canvas", "#dfa-canvas")]
        for _ in go_through(page)
    ]
    assert len(set(map(tuple, said))) == len(said)
    assert page.get_attribute("#dfa-canvas .hit", "class") == "node dead hit"
    assert "the dead state" in (page.get_attribute("#dfa-canvas .hit", "aria-label") or "")
    assert page.locator("#dfa-canvas .hit[tabindex='0']").count() == 1


def test_predict_mode_asks_before_it_shows_and_keeps_the_score(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file)
    page.keyboard.press("p")
    before = boxes(page, "figure .node > rect")
    page.click("#next")
    assert page.input_value("#slider") == "0", "nothing is shown yet"
    assert boxes(page, "figure .node > rect") == before, "and nothing moves"
    assert page.eval_on_selector("#dfa-canvas .absent > .more", "one => getComputedStyle(one).visibility") == "hidden"
    for position in (1, 3):
        page.click(f"#question [data-position='{position}']")
    page.click("#question .primary")
    assert page.inner_text("#story").startswith("Right. 1 of 1.")
    page.click("#next")
    page.click("#question .primary")
    assert "missed 3, 4" in page.inner_text("#story")
    assert "1 of 2" in page.inner_text("#story")


def test_a_question_is_said_with_its_choices_and_the_next_step_asks_it_no_second_time(
    visits: Visits, page_file: str
) -> None:
    """A screen reader says what a group is called when the focus goes into it, and of a choice its number alone."""
    page = visits.open(page_file)
    page.click("#predict")
    page.keyboard.press("ArrowRight")
    assert page.locator("#question").get_by_role("button", name="0").count() == 1
    assert page.get_by_role("group", name="Where is the NFA after word 1, a?").count() == 1
    page.keyboard.press("Space")
    for press in ("ArrowRight", "ArrowRight"):
        page.keyboard.press(press)
        assert page.get_attribute("#question [data-position='0']", "aria-pressed") == "true"
        assert page.evaluate("document.activeElement.dataset.position") == "0"
    page.keyboard.press("Home")
    assert page.locator("#question").is_hidden()
    assert page.evaluate("document.activeElement.id") == "next"


def test_what_happened_first_to_the_cache_has_the_number_one(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file + fragment(BLOW_UP, ".".join("aababbaababaabb"), cache=1300, step=99))
    told = page.eval_on_selector_all("#events li", "all => all.map(one => one.textContent)")
    assert told == ["key 1: the NFA was simulated"] + ["key 1, word 5: the cache was cleared"] * 3
    assert page.eval_on_selector("#events", "one => [one.reversed, one.start]") == [True, 4]
    many = ["".join(chr(97 + number // 26**place % 26) for place in range(3)) for number in range(50)]
    page.fill("#keys", "\n".join(many + many))
    until(page, "document.querySelectorAll('#words > li').length === 2")
    page.dispatch_event("#last", "click")
    assert page.locator("#events li").count() == 40
    assert page.eval_on_selector("#events", "one => one.start") == 50, "those before have numbers, though no lines"


def test_the_bar_of_the_word_that_is_read_is_in_sight_among_many(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file + fragment(("#.a.#",), ".".join(["b"] * 70)))
    page.dispatch_event("#next", "click")
    for word in (1, 30, 64):
        page.locator("#words button").nth(word).dispatch_event("click")
        (_, top, _, whole), (_, y, _, height) = boxes(page, "#trie-bars")[0], boxes(page, "#trie-bars bdi")[word - 1]
        assert top - 1 <= y <= y + height <= top + whole + 1, word
    assert page.inner_text("#trie-bars > p") == "and 6 more words"


def test_every_question_can_be_answered(visits: Visits, page_file: str) -> None:
    words = tuple(f"w{number:02}" for number in range(64))
    page = visits.open(page_file + fragment(words, "w63"))
    page.keyboard.press("p")
    page.click("#next")
    page.click("#question [data-position='64']")
    page.click("#question .primary")
    assert page.inner_text("#story").startswith("Right. 1 of 1.")
    assert page.locator("#question [data-position]").count() == 48


def test_what_has_more_answers_than_choices_is_shown_and_not_asked(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file + fragment(("#" + ".a" * 52,), ".".join("a" * 52), step=46))
    page.keyboard.press("p")
    page.click("#next")
    assert page.locator("#question [data-position]").count() == 48
    page.click("#question .primary")
    assert page.input_value("#slider") == "47"
    page.click("#next")
    assert page.input_value("#slider") == "48"
    assert page.locator("#question").is_hidden()


def test_keys_to_practise_with_match_or_nearly_do(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file)
    router = dr.compile([(pattern, pattern) for pattern in FOUR])
    for matching in (True, False):
        keys = page.evaluate("""(matching) => { const dialect = JSON.parse(document.getElementById("settings").textContent).dialects[0];
            return Array.from({ length: 20 }, () => Predict.key({ patterns: ["a.#.c"], dialect }, matching)); }""", matching)  # fmt: skip
        assert {"a.#.c" in router.match(key) for key in keys} == {matching}
