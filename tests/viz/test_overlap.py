"""A picture of 200 states can be read: no label lies on another, and every node's text fits into its node. So can a film's captions."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Literal

import pytest

from compiler import build_dfa
from viz import to_svg
from viz.formats.film import film
from viz.patterns import nfa_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_BOX = "const box = (element) => { const { x, y, width, height } = element.getBBox(); return [x, y, x + width, y + height]; };"
_MEASURE = """
() => {
  @BOX@
  const labels = [], spills = [];
  for (const group of document.querySelectorAll('.node, .edge')) {
    const texts = [...group.querySelectorAll(':scope > text')].filter((text) => text.textContent.trim());
    for (const text of texts) labels.push([group.id, text.textContent, ...box(text)]);
    const shape = group.querySelector(':scope > :is(path, polygon, ellipse)');
    if (group.classList.contains('node') && !group.classList.contains('ghost') && shape)
      for (const text of texts) {
        const [a, b] = [box(text), box(shape)];
        if (a[0] < b[0] || a[2] > b[2]) spills.push([group.id, text.textContent, a[2] - a[0], b[2] - b[0]]);
      }
  }
  return { labels, spills };
}
""".replace("@BOX@", _BOX)


def _sets() -> dict[str, list[str]]:
    choose = random.Random(7)
    words = ["stock", "forex", "nyse", "nasdaq", "usd", "eur", "audit", "error", "warning"]
    topics = [".".join(choose.choice([*words, "*"]) for _ in range(choose.randint(2, 5))) for _ in range(80)]
    return {
        "a table of topics": topics,
        "four bindings anywhere": [f"#.{word}.#" for word in words[:5]],
        "tails": [f"#.{word}.{other}" for word in words[:4] for other in words[4:6]],
    }


@pytest.mark.browser
@pytest.mark.usefixtures("renderer")
@pytest.mark.parametrize("name", _sets())
def test_no_label_overlaps_another_and_none_spills(browser: Browser, name: str) -> None:
    patterns = _sets()[name]
    dfa = build_dfa(nfa_of(patterns))
    assert len(dfa) >= (200 if name == "a table of topics" else 12), len(dfa)
    page = browser.new_page()
    page.set_content(to_svg(dfa, names=patterns))
    found = page.evaluate(_MEASURE)
    page.close()
    assert len(found["labels"]) >= 2 * (len(dfa) - 1), "every state has a number and a set"
    assert not found["spills"], found["spills"][:5]
    labels = sorted(found["labels"], key=lambda label: label[2])
    overlaps = []
    for i, (owner, text, _, top, right, bottom) in enumerate(labels):
        for other, other_text, other_left, other_top, other_right, other_bottom in labels[i + 1 :]:
            if other_left >= right - 1:
                break
            # Line boxes are taller than letters: two lines of one node touch, and are no overlap.
            shared = min(bottom, other_bottom) - max(top, other_top)
            if owner != other and shared > 0.35 * (bottom - top) and min(right, other_right) - other_left > 1:
                overlaps.append((owner, text, other, other_text))
    assert not overlaps, overlaps[:5]


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    "key",
    ["order.eu.de.placed.172077.with.many.words", "日本語" * 20, "", "a.b"],
    ids=["long", "wide", "empty", "short"],
)
def test_the_captions_of_a_film_lie_on_its_paper(browser: Browser, key: str, theme: Literal["light", "dark"]) -> None:
    page = browser.new_page()
    page.set_content(film(nfa_of(["#"]), [key], theme=theme))
    left, top, right, bottom = page.eval_on_selector("svg > rect", f"rect => {{ {_BOX} return box(rect); }}")
    captions = page.eval_on_selector_all(".caption", f"all => {{ {_BOX} return all.map(box); }}")
    view = page.eval_on_selector(
        "svg", "svg => { const v = svg.viewBox.baseVal; return [v.x, v.y, v.width, v.height]; }"
    )
    ink, paper = (
        page.eval_on_selector(which, "one => getComputedStyle(one).fill") for which in (".caption", "svg > rect")
    )
    page.close()
    assert [left, top, right - left, bottom - top] == pytest.approx(view)
    assert captions
    for caption in captions:
        assert left < caption[0] < caption[2] < right
        assert top < caption[1] < caption[3] < bottom
    assert (ink, paper) == {
        "light": ("rgb(28, 33, 39)", "rgb(255, 255, 255)"),
        "dark": ("rgb(232, 237, 242)", "rgb(15, 20, 26)"),
    }[theme]
