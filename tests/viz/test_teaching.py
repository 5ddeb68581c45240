"""The step-through page as a file, and the server of ``play``: what they hold, and what they refuse."""

from __future__ import annotations

import http.client
import json
import re
import threading
import time
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from compiler import PatternError, build_dfa
from compiler.errors import InputError
from tests.viz.material import ATTACKS, FOUR, KEY
from viz import DrawingTooLargeError, teach
from viz.examples import EXAMPLES
from viz.page.lesson import lesson
from viz.page.server import link, serve
from viz.patterns import nfa_of


def _data(html: str) -> dict[str, Any]:
    found = re.search(r'<script id="lesson" type="application/json">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_the_page_is_one_file_that_names_no_other(tmp_path: Path) -> None:
    html = teach(FOUR, KEY, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == html
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:)[^"']*""", html)
    links = set(re.findall(r"https?://[^\s\"'<)]+", html))
    assert links <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}, links
    assert "default-src 'none'" in html
    assert "@" not in re.sub(r"@(?:media|keyframes)", "", re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL))


def test_ten_patterns_make_a_small_page_quickly() -> None:
    patterns = [*FOUR, "forex.*", "stock.#", "*.usd", "stock.nyse.ibm", "#", "*.stock.#"]
    teach(FOUR, KEY)  # the renderer is loaded
    started = time.process_time()
    html = teach(patterns, "stock.nyse.ibm")
    assert len(html.encode()) < 1_500_000
    assert time.process_time() - started < 20  # seconds of the processor; it takes 0.1


def test_states_have_the_numbers_of_a_cache_that_reads_the_key() -> None:
    states = lesson(FOUR, KEY)["states"]
    assert [state["positions"] for state in states[:5]] == [(0,), (1, 3), (3, 4), (3,), (3,)]
    assert len(states) == len(build_dfa(nfa_of(FOUR)))


def test_a_blow_up_is_drawn_along_the_key_and_says_so() -> None:
    data = lesson(["#.a" + ".*" * 8], "a.b.a")
    assert not data["complete"]
    assert len(data["states"]) == 4
    assert "more than 48 states" in data["note"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.title)
def test_every_example_is_a_lesson(example: Any) -> None:
    data = lesson(example.patterns, example.key, editable=True)
    assert data["dfaSvg"].startswith("<svg")
    assert len(data["nfaSvg"]) + len(data["dfaSvg"]) < 600_000


def test_attacking_words_cannot_leave_the_data() -> None:
    patterns = [word.replace(".", "") for word in ATTACKS]
    html = teach(patterns, ATTACKS[0])
    assert _data(html)["patterns"] == patterns
    assert html.count("</script>") == teach(FOUR, KEY).count("</script>")
    assert "<img" not in html


def test_what_a_page_cannot_show_is_refused_with_a_remedy() -> None:
    with pytest.raises(PatternError, match=r"65 patterns are more than .* give at most 64"):
        lesson(["a"] * 65, "")
    with pytest.raises(PatternError, match=r"pattern 1 has 256 bytes: AMQP carries at most 255"):
        lesson(["a", "é" * 128], "")
    with pytest.raises(InputError, match="the routing key has 300 bytes"):
        lesson(["a"], "x" * 300)


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    """Run the server of ``play``."""
    with serve() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def _ask(server: ThreadingHTTPServer, body: object, **headers: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection.request("POST", "/lesson", raw, {"Content-Type": "application/json", **headers})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, json.loads(content) if answer.getheader("Content-Type") == "application/json" else content


def test_the_server_binds_to_loopback_and_answers_to_its_own_names_only(server: ThreadingHTTPServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert _ask(server, {"patterns": [], "key": ""}, Host="evil.example")[0] == 403
    assert _ask(server, {"patterns": [], "key": ""}, Host=f"localhost:{server.server_port}")[0] == 200


def test_the_server_lays_patterns_out(server: ThreadingHTTPServer) -> None:
    status, data = _ask(server, {"patterns": ["a.#"], "key": "a.b"})
    assert status == 200
    assert data["patterns"] == ["a.#"]
    assert "<svg" in data["dfaSvg"]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (b"{", "no JSON"),
        ({"patterns": "a", "key": ""}, "expected"),
        ({"patterns": [1], "key": ""}, "expected"),
        ({"patterns": ["a"] * 65, "key": ""}, "at most 64"),
        ({"patterns": ["x" * 256], "key": ""}, "AMQP carries at most 255"),
        ({"patterns": [], "key": "x" * 256}, "the routing key has 256 bytes"),
        (b"x" * 100_001, "longer than"),
    ],
)
def test_the_server_says_what_is_wrong(server: ThreadingHTTPServer, question: object, message: str) -> None:
    status, data = _ask(server, question)
    assert status == 400
    assert message in data["error"]


def test_other_content_types_are_refused(server: ThreadingHTTPServer) -> None:
    """A form of another site can send text/plain here without asking first, and no JSON."""
    status, _ = _ask(server, {"patterns": [], "key": ""}, **{"Content-Type": "text/plain"})
    assert status == 400


def test_many_questions_at_once_are_answered(server: ThreadingHTTPServer) -> None:
    answers: list[int] = []
    threads = [
        threading.Thread(target=lambda i=i: answers.append(_ask(server, {"patterns": [f"a{i}.#"], "key": ""})[0]))
        for i in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [200] * 8


def test_links_carry_patterns_and_key(server: ThreadingHTTPServer) -> None:
    assert link(server, ["a.#", ""], "x&y").endswith("/#p=a.%23&p=&key=x%26y")


def test_a_lone_surrogate_is_a_word_like_any_other(server: ThreadingHTTPServer) -> None:
    status, data = _ask(server, {"patterns": ["\ud800.#"], "key": "\ud800"})
    assert status == 200
    assert data["nfa"]["words"] == ["\ud800"]


def test_a_set_that_is_too_large_for_a_picture_is_refused_before_it_takes_long() -> None:
    with pytest.raises(DrawingTooLargeError, match="positions are more than the 250"):
        lesson([".".join(f"{i}" for _ in range(80)) for i in range(60)], "")
