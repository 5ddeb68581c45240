"""``dfa-router teach --definitions``: a page that follows one message through a topology."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import dfa_router as dr
from dfa_router.cli import ExitCode
from tests.cli.test_drawing import run

ENTRY: dict[str, object] = {"vhost": "/", "arguments": {}}


def topic_to(queues: dict[str, str], folder: Path) -> list[str]:
    """Write a topology of one topic exchange, with a binding for each queue and routing key; return options that name it."""
    document = {
        "exchanges": [{"name": "t", "type": "topic", **ENTRY}],
        "queues": [{"name": queue, **ENTRY} for queue in queues],
        "bindings": [
            {"source": "t", "destination": queue, "destination_type": "queue", "routing_key": key, **ENTRY}
            for queue, key in queues.items()
        ],
    }
    file = folder / "definitions.json"
    file.write_text(json.dumps(document))
    return ["--definitions", str(file), "--exchange", "t"]


def followed(capsys: pytest.CaptureFixture[str], folder: Path, *line: str) -> str:
    """Return the page that the command writes."""
    code, _, err = run(capsys, "teach", *line, "--out", str(folder / "message.html"))
    assert code == 0, err
    return (folder / "message.html").read_text(encoding="utf-8")


def paragraphs(html: str) -> list[str]:
    """Return what is told of the message, as markup."""
    lesson = html.partition('aria-label="Lesson">')[2].partition('<form id="editor"')[0]
    return re.findall(r"<p>(?!<a)(.*?)</p>", lesson)


def test_a_message_is_followed_and_each_exchange_opens_its_automaton(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = ["--definitions", "examples/demo/definitions.json", "--vhost", "shop", "--exchange", "shop.events"]
    key, out = "order.eu.de.placed.172077", tmp_path / "message.html"
    assert run(capsys, "teach", *source, "--key", key, "--out", str(out))[0] == 0
    route = dr.load_definitions("examples/demo/definitions.json").route("shop.events", key, vhost="shop")
    html = out.read_text(encoding="utf-8")
    for name in (*route.queues, *route.exchanges):
        assert name in html
    assert html.count(">Open ") == sum(name != "(default)" for name in route.exchanges)
    assert run(capsys, "teach", *source, "--out", str(out))[0] == ExitCode.USAGE


def test_a_message_that_one_of_two_queues_gets_is_in_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry: dict[str, object] = {"vhost": "/", "arguments": {}}
    to_r = {"source": "x", "destination": "r", "destination_type": "exchange", "routing_key": "a.*", **entry}
    to_queues = [
        {"source": "r", "destination": name, "destination_type": "queue", "routing_key": "", **entry} for name in "ab"
    ]
    document = {
        "exchanges": [{"name": "x", "type": "topic", **entry}, {"name": "r", "type": "x-random", **entry}],
        "queues": [{"name": name, **entry} for name in "ab"],
        "bindings": [to_r, *to_queues],
    }
    file, out = tmp_path / "random.json", tmp_path / "message.html"
    file.write_text(json.dumps(document))
    line = ["teach", "--definitions", str(file), "--exchange", "x", "--key", "a.b", "--out", str(out)]
    assert run(capsys, *line)[0] == 0
    html = out.read_text(encoding="utf-8")
    assert "It takes one of a (50%), b (50%), and nobody can tell which." in html
    assert "r hands it to one of a, b." in html
    assert "None of them matches" not in html
    assert "no queue" not in html


def test_names_are_told_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = topic_to({"q`x`<b>": "#", "lines\n\u202e`": "`*`.#"}, tmp_path)
    told = paragraphs(followed(capsys, tmp_path, *source, "--key", "`*`.b"))
    assert told == [
        (
            "t, of type topic, has 2 bindings. It leads on to q`x`&lt;b&gt; by <code>#</code>, "
            "lines␊‹U+202E›` by <code>`*`.#</code>."
        ),
        "The message is in lines␊‹U+202E›`, q`x`&lt;b&gt;.",
    ]


def test_one_binding_and_an_empty_key_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    html = followed(capsys, tmp_path, *topic_to({"q": ""}, tmp_path), "--key", "")
    assert paragraphs(html)[0] == "t, of type topic, has 1 binding. It leads on to q by <code>&quot;&quot;</code>."
    assert "<h1>A message with the key &quot;&quot;</h1>" in html


def test_a_page_says_how_many_patterns_it_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = topic_to({f"q{number}": f"*.{number}" for number in range(102)}, tmp_path)
    html = followed(capsys, tmp_path, *source, "--key", "a.101")
    assert "has 102 bindings." in html
    assert "The page shows 64 of its 102 patterns; those that match come first." in html
    patterns = settings(html)["patterns"]
    assert len(patterns) == 64
    assert patterns[0] == "*.101"


def test_the_cache_is_bounded_as_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = topic_to({"q": "a.#"}, tmp_path)
    assert settings(followed(capsys, tmp_path, *source, "--key", "a.b", "--cache-bytes", "1300"))["capacity"] == 1300


def settings(html: str) -> Any:
    """Return what the page begins with."""
    return json.loads(html.partition('<script id="settings" type="application/json">')[2].partition("</script>")[0])


def test_what_no_page_can_follow_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = topic_to({"q": "a.#"}, tmp_path)
    out = tmp_path / "message.html"
    for line, why in [
        ([*source, "--key", "x" * 300], "has 300 bytes, but amqp carries at most 255: shorten it"),
        ([*source[:2], "--exchange", "", "--key", "q"], "no exchange with patterns: (default); choose another one"),
    ]:
        code, _, err = run(capsys, "teach", *line, "--out", str(out))
        assert code != 0
        assert why in " ".join(err.split())
        assert not out.exists()
