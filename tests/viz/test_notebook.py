"""What notebooks show: pictures where they can be drawn, text always, and no error for want of a picture."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import EntryPoints
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

import dfa_router as dr
from compiler import build_dfa
from compiler.automata.minimize import minimize
from compiler.automata.twin import Twin
from compiler.machine.lazy import LazyDfa
from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of
from tests.viz.material import FOUR, KEY
from viz import picture
from viz.patterns import nfa_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

REPOSITORY = Path(__file__).parents[2]

UNDRAWN = """
import json, sys
import dfa_router as dr
from compiler import Wildcard, build_dfa, build_nfa
from compiler.minimize import minimize
from dfa_router.rabbitmq import Binding, Exchange, topology_of

nfa = build_nfa([[b"a", Wildcard.MANY]])
things = [
    nfa, build_dfa(nfa), minimize(build_dfa(nfa)), dr.compile([("a.#", "q")]),
    topology_of(exchanges=[Exchange(name="x", type="topic")], bindings=[Binding(source="x", destination="q")]),
]
drawn_with = [name for name in sys.modules if name.partition(".")[0] == "viz"]
print(json.dumps([drawn_with, [(type(thing).__name__, sorted(thing._repr_mimebundle_())) for thing in things]]))
"""
"""Makes each thing that draws itself, and shows it, without an import of the package that draws."""


@pytest.mark.usefixtures("renderer")
def test_five_things_draw_themselves_though_nobody_imports_what_draws() -> None:
    run = subprocess.run(
        [sys.executable, "-c", UNDRAWN], cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=120
    )
    imported, shown = json.loads(run.stdout)
    assert imported == []
    all_three = ["image/svg+xml", "text/html", "text/plain"]
    assert shown == [[name, all_three] for name in ("Nfa", "Dfa", "MinimalDfa", "Router", "Topology")]


def test_without_a_package_that_draws_a_notebook_shows_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def entry_points(**chosen: str) -> EntryPoints:
        if chosen.get("group") == "dfa_router.pictures":  # numba, which may begin here, asks for others
            asked.append(chosen)
        return EntryPoints()

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    for thing in _things()[:6]:
        assert thing._repr_mimebundle_() == {"text/plain": str(thing)}  # type: ignore[attr-defined]
    assert asked == [{"group": "dfa_router.pictures", "name": "notebook"}] * 6


def test_a_lazy_dfa_shows_its_text_until_it_is_asked_for_a_picture() -> None:
    for cache in (Twin(nfa_of(FOUR), b".", 1 << 20), LazyDfa(nfa_of(FOUR), b".", 1 << 20)):
        assert not hasattr(cache, "_repr_mimebundle_")
        assert picture(cache)._repr_mimebundle_()["text/plain"].startswith("Lazy DFA cache with ")


@pytest.mark.usefixtures("no_graphviz")
def test_a_notebook_never_fails_for_want_of_a_picture() -> None:
    for thing in _things():
        bundle = thing._repr_mimebundle_()  # type: ignore[attr-defined]
        assert set(bundle) == {"text/plain"}
        assert "no picture: there is no Graphviz" in bundle["text/plain"]


@pytest.mark.usefixtures("renderer")
def test_notebooks_show_pictures_with_text_beside() -> None:
    for thing in _things():
        bundle = thing._repr_mimebundle_(include=None, exclude=None)  # type: ignore[attr-defined]
        assert set(bundle) == {"image/svg+xml", "text/html", "text/plain"}
        ET.fromstring(bundle["image/svg+xml"])
        assert bundle["text/html"] == f"<div>{bundle['image/svg+xml']}</div>"


@pytest.mark.browser
@pytest.mark.usefixtures("renderer")
def test_a_picture_follows_the_notebook_s_theme_and_elsewhere_the_reader_s(browser: Browser) -> None:
    html = picture(build_dfa(nfa_of(FOUR)), names=FOUR, key=KEY)._repr_mimebundle_()["text/html"]
    other = '<svg id="other"><rect fill="#1c2127"/></svg>'
    light, dark = "rgb(28, 33, 39)", "rgb(232, 237, 242)"
    for reader in ("light", "dark"):
        context = browser.new_context(color_scheme=reader)
        page = context.new_page()
        for body, expected in [
            ('data-jp-theme-light="true"', light),
            ('data-jp-theme-light="false"', dark),
            ('class="vscode-light"', light),
            ('class="vscode-dark"', dark),
            ('class="vscode-high-contrast"', dark),
            ('class="vscode-high-contrast vscode-high-contrast-light"', light),
            ("", dark if reader == "dark" else light),
        ]:
            page.set_content(f"<!doctype html><body {body}>{html}{other}")
            inks = page.eval_on_selector_all("[fill='#1c2127']", "all => all.map(one => getComputedStyle(one).fill)")
            assert len(inks) > 10, "the titles of states are of this colour"
            assert set(inks[:-1]) == {expected}, (reader, body)
            assert inks[-1] == light, "what else is on the page keeps its colours"
        context.close()


def test_what_is_too_large_for_a_picture_is_text_in_a_notebook() -> None:
    many = nfa_of([f"w{i}.x" for i in range(300)])
    assert "no picture" in many._repr_mimebundle_()["text/plain"]
    router = dr.compile([(f"w{i}.x", "q") for i in range(300)])
    assert "300 bindings are too many" in router._repr_mimebundle_()["text/plain"]


def _things() -> list[object]:
    nfa = nfa_of(FOUR)
    topology = topology_of(
        exchanges=[Exchange(name="x", type="topic"), Exchange(name="y", type="fanout")],
        queues=[Queue(name="q")],
        bindings=[
            Binding(source="x", destination="q", routing_key="a.#"),
            Binding(source="x", destination="y", destination_type="exchange", routing_key="#"),
        ],
    )
    return [
        nfa,
        build_dfa(nfa),
        minimize(build_dfa(nfa)),
        dr.compile([(pattern, "q") for pattern in FOUR]),
        dr.compile([(pattern, "q") for pattern in FOUR], engine="trie"),
        topology,
        picture(nfa, names=FOUR, key=KEY),
    ]
