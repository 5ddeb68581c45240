"""Who can use the page: contrast, forced colours, names that are said, the focus, motion, and what there is without scripts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.viz.material import FOUR, KEY
from tests.viz.visits import SIZES, Visits, boxes, fragment, go_through

pytestmark = pytest.mark.browser


LIGHT = """
  const level = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * level(r / 255) + 0.7152 * level(g / 255) + 0.0722 * level(b / 255);
  const parsed = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
"""


BORDERS = f"""all => {{ {LIGHT}
  return all.map((one) => ratio(parsed(getComputedStyle(one).borderTopColor), parsed(getComputedStyle(one.closest(".card")).backgroundColor)));
}}"""


CONTRAST = (
    f"() => {{ {LIGHT}"
    """
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parsed(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const text of document.querySelectorAll("svg[role=group] text, svg[role=group] tspan")) {
    const rect = text.closest(".node")?.querySelector("rect"), fill = rect && getComputedStyle(rect).fill;
    const back = fill && fill !== "none" ? parsed(fill) : behind(text.closest(".canvas"));
    found.push(["text", text.textContent, ratio(parsed(getComputedStyle(text).fill), back), 4.5]);
  }
  for (const shape of document.querySelectorAll("svg[role=group] .node > rect, svg[role=group] .edge > path"))
    found.push(["shape", shape.parentNode.id, ratio(parsed(getComputedStyle(shape).stroke), behind(shape.closest(".canvas"))), 3]);
  for (const one of document.querySelectorAll("button, p, dt, dd, li, td, th, label, h1, h2, summary")) {
    if (!one.textContent.trim() || !one.checkVisibility()) continue;
    found.push(["text", one.textContent.slice(0, 40), ratio(parsed(getComputedStyle(one).color), behind(one)), 4.5]);
  }
  return found.filter(([, , is, least]) => is < least).map(([kind, what, is]) => `${kind} ${what}: ${is.toFixed(2)}`);
}"""
)


def test_without_scripts_nothing_is_shown_that_does_nothing(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file, java_script_enabled=False)
    assert page.locator("noscript p").is_visible()
    for dead in ("#lecture", "#patterns", "#next", "figure", "#subsets"):
        assert page.locator(dead).first.is_hidden(), dead


@pytest.mark.parametrize(
    ("scheme", "size"),
    [
        ("light", SIZES[0]),
        ("dark", SIZES[2]),
        *(pytest.param(scheme, size, marks=pytest.mark.long) for scheme in ("light", "dark") for size in SIZES),
    ],
)
def test_contrast_is_enough_at_every_step(visits: Visits, page_file: str, scheme: Any, size: tuple[int, int]) -> None:
    page = visits.open(page_file + fragment(FOUR, KEY, "a.b.c", cache=1300), size=size, color_scheme=scheme)
    page.check("#ghosts")
    for step in go_through(page):
        assert page.evaluate(CONTRAST) == [], step


def test_forced_colours_take_the_reader_s(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file, forced_colors="active")
    for _ in go_through(page):
        colours = page.evaluate(
            """() => [...document.querySelectorAll("svg[role=group] .number")].map((one) => getComputedStyle(one).fill)"""
        )
        assert set(colours) == {page.evaluate("getComputedStyle(document.querySelector('h1')).color")}
    assert page.evaluate("getComputedStyle(document.querySelector('.hit > rect')).stroke") != page.evaluate(
        "getComputedStyle(document.querySelector('.node:not(.hit) > rect')).stroke"
    )


def test_forced_colours_show_where_the_key_is_and_what_is_pressed(visits: Visits, page_file: str) -> None:
    """Though browsers show neither fills nor shadows then."""
    page = visits.open(page_file, forced_colors="active")
    page.click("#predict")
    page.keyboard.press("ArrowRight")
    page.click("#question [data-position='1']")
    page.focus("#slider")
    drawn = "all => [...new Set(all.map((one) => getComputedStyle(one).outlineStyle))]"
    choice = "#question [data-position]"
    for what in ("tbody tr{}", "#words li{} button"):
        assert page.eval_on_selector_all(what.format(".current"), drawn) == ["solid"], what
        assert page.eval_on_selector_all(what.format(":not(.current)"), drawn) in ([], ["none"]), what
    for what in ("#predict", f"{choice}[aria-pressed=true]"):
        assert page.eval_on_selector_all(what, drawn) == ["solid"], what
    for what in ("#lecture", f"{choice}[aria-pressed=false]"):
        assert page.eval_on_selector_all(what, drawn) == ["none"], what


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_where_a_field_ends_can_be_seen(visits: Visits, page_file: str, scheme: Any) -> None:
    page = visits.open(page_file, color_scheme=scheme)
    ratios = page.eval_on_selector_all("textarea, select", BORDERS)
    assert len(ratios) == 4
    assert min(ratios) >= 3


def test_everything_has_a_name_that_is_seen(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file)
    nameless = page.evaluate("""() => [...document.querySelectorAll("button, input, select, textarea, [role=img], [role=group], [role=meter]")].filter((one) =>
      !(one.getAttribute("aria-label") || one.getAttribute("aria-labelledby") || one.labels?.length || one.textContent.trim())).map((one) => one.outerHTML.slice(0, 80))""")
    assert nameless == []
    # What is seen must be a part of what is said, or speech control cannot press it.
    assert page.evaluate("""() => [...document.querySelectorAll("button[aria-label]")].filter((one) => one.innerText.trim().length > 1 &&
      !one.getAttribute("aria-label").includes(one.innerText.trim())).map((one) => one.id)""") == []  # fmt: skip


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("press", ["Tab", "Shift+Tab"])
def test_what_has_the_focus_is_seen_below_the_steps(
    visits: Visits, page_file: str, size: tuple[int, int], press: str
) -> None:
    page = visits.open(page_file, size=size)
    page.evaluate(f"scrollTo(0, {0 if press == 'Tab' else 'document.body.scrollHeight'})")
    met = []
    for _ in range(60):
        page.keyboard.press(press)
        if page.evaluate("document.activeElement.closest('main') !== null"):
            met.append(page.evaluate("document.activeElement.ariaLabel ?? document.activeElement.id"))
            _, y, _, height = boxes(page, ":focus")[0]
            assert height > 0, met
            assert y >= boxes(page, "#dock")[0][1] + boxes(page, "#dock")[0][3], met
    assert {"Bindings", "Look-ups by word", "ghosts"} <= set(met)


@pytest.mark.parametrize("state", ["light", "dark", "lecture", "predict"])
def test_axe_finds_nothing(visits: Visits, page_file: str, state: str) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="needs axe: pip install 'dfa-router[dev]'"
    )
    page = visits.open(page_file, color_scheme="dark" if state == "dark" else "light")
    for _ in range(3):
        page.dispatch_event("#next", "click")
    if state in ("lecture", "predict"):
        page.click(f"#{state}")
        page.dispatch_event("#next", "click")
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_axe_finds_nothing_where_patterns_scroll(visits: Visits, page_file: str) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="needs axe: pip install 'dfa-router[dev]'"
    )
    page = visits.open(page_file + fragment(("x" * 200, "a.#", "b.*") * 5, "a.b"))
    assert page.eval_on_selector("#set", "one => one.scrollHeight > one.clientHeight")
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_reduced_motion_stops_what_moves(visits: Visits, page_file: str) -> None:
    page = visits.open(page_file)
    assert page.evaluate("getComputedStyle(document.querySelector('.node > rect')).transitionDuration") in ("0s", "")
