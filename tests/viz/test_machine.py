"""The page's machine, in Node.js and in a browser, does what the engine does: every frame, every number, every counter."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import dfa_router as dr
from dfa_router.cli.page_dialects import page_dialects
from tests.viz.streams import Stream, random_streams
from viz.page.scripts import AMQP, ENGINE, part

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HERE = Path(__file__).parent
SCRIPTS = HERE.parents[1] / "viz" / "page" / "script"
ASK = (HERE / "ask.js").read_text()


def asked_in_node(questions: list[dict[str, Any]], folder: Path = SCRIPTS) -> list[Any]:
    """Return what the scripts of a folder say in Node.js."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node.js")
    command = [
        node,
        str(HERE / "run_machine.mjs"),
        *(str(folder / f"{name}.js") for name in ENGINE),
        str(HERE / "ask.js"),
    ]
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    run = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in run.stdout.split("\n") if line]  # words may have other breaks


def assert_same(stream: Stream, told: list[dict[str, Any]]) -> None:
    """Hold what a script says to what the engine does."""
    for number, (here, engine) in enumerate(zip(told, stream.traced(), strict=True)):
        where = stream.patterns, stream.dialect.name, stream.capacity, stream.keys[: number + 1]
        assert here == {name: engine[name] for name in here}, where
        assert all(count >= 0 for count in here["stats"].values()), where


def assert_all_same(streams: list[Stream], told: list[list[dict[str, Any]]]) -> None:
    for stream, one in zip(streams, told, strict=True):
        assert_same(stream, one)


def test_the_record_is_that_of_a_router_that_nobody_records() -> None:
    clears = fallbacks = remembered = 0
    for stream in random_streams(3, 60):
        router = stream.router()
        for key, told in zip(stream.keys, dr.trace(router, stream.keys), strict=True):
            assert router.match(key) == tuple(dict.fromkeys(stream.patterns[tag] for tag in told.tags))
            assert asdict(router.stats()) == asdict(told.stats)
            remembered += told.route == "remembered"
        clears, fallbacks = clears + router.stats().clears, fallbacks + router.stats().fallbacks
    assert min(clears, fallbacks, remembered) > 50  # or it would show little


def test_the_machine_does_in_node_what_the_engine_does() -> None:
    streams = random_streams(1, 40)
    assert_all_same(streams, asked_in_node([stream.question() for stream in streams]))


@pytest.mark.long
def test_the_machine_does_in_node_what_the_engine_does_for_five_hundred_sets() -> None:
    streams = random_streams(2, 500)
    assert_all_same(streams, asked_in_node([stream.question() for stream in streams]))


@pytest.mark.browser
@pytest.mark.parametrize("count", [12, pytest.param(500, marks=pytest.mark.long)])
def test_the_machine_does_in_a_browser_what_the_engine_does(browser: Browser, count: int) -> None:
    page = browser.new_page()
    page.add_script_tag(content="\n".join([*(part(f"script/{name}.js") for name in ENGINE), ASK]))
    for stream in random_streams(4, count):
        told = page.evaluate("question => Ask(JSON.parse(question))", json.dumps(stream.question()))
        assert_same(stream, told)
    page.close()


@pytest.mark.parametrize(
    ("was", "planted"),
    [
        ("8 * (this.transitions + 1) > ", "4 * (this.transitions + 1) > "),  # a table that is full later
        ("SMALL = 2 ** 12", "SMALL = 2 ** 7"),  # small tables that double
        ("SPARSE = 0.5, DENSE = 0.75", "SPARSE = 0.5, DENSE = 0.5"),  # tables that are never dense
        ("fits ? room : room - spare", "room"),  # pools that leave nothing for whole keys
        ("larger(size, DENSE, room - spare)", "larger(size, DENSE, room)"),  # nor do tables of states
        ("state.default = number;\n", "state.default = number; this.counts.builds++;\n"),  # a pace that is misled
        ("if (chance * BigInt(children) < 1n << 32n)", "if (false)"),  # no wide filters
    ],
)
def test_a_machine_that_differs_is_found(was: str, planted: str, tmp_path: Path) -> None:
    scripts = {name: part(f"script/{name}.js") for name in ENGINE}
    assert any(was in text for text in scripts.values())
    for name, text in scripts.items():
        (tmp_path / f"{name}.js").write_text(text.replace(was, planted))
    streams = random_streams(5, 40)
    told = asked_in_node([stream.question() for stream in streams], tmp_path)
    with pytest.raises(AssertionError):
        assert_all_same(streams, told)


def test_the_dialect_of_a_page_that_was_given_none_is_amqp() -> None:
    assert page_dialects()[0] == AMQP
