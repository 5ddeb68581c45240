"""The commands that draw: files, pages, the terminal, and what they say when they cannot."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import dfa_router as dr
from dfa_router.cli import ExitCode, main

FOUR = ["-p", "a.b.c", "-p", "a.*.b.c", "-p", "a.#.c", "-p", "b.b.c"]
KEY = ["--key", "a.d.d.d.c"]


def run(capsys: pytest.CaptureFixture[str], *line: str) -> tuple[int, str, str]:
    """Run a command in this process; return its exit code, stdout and stderr."""
    with pytest.raises(SystemExit) as end:
        main(line)
    captured = capsys.readouterr()
    return int(end.value.code or 0), captured.out, captured.err


@pytest.mark.parametrize("what", ["nfa", "dfa", "minimal", "cache", "trie", "bitmaps"])
def test_render_draws_each_thing(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = [] if what == "trie" else KEY
    code, out, err = run(capsys, "render", what, *FOUR, *key, "--out", str(tmp_path / "x.svg"))
    assert (code, out) == (ExitCode.OK, "")
    assert "wrote" in err
    assert "<svg" in (tmp_path / "x.svg").read_text(encoding="utf-8")


def test_the_columns_of_bitmaps_are_headed_by_their_patterns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    patterns, keys = ["forex.*", "stock.nyse", "*.*"], ["forex.usd", "stock.nyse"]
    given = [*(f"--pattern={one}" for one in patterns), *(f"--key={one}" for one in keys)]
    code, _, err = run(capsys, "render", "bitmaps", *given, "--out", str(tmp_path / "x.dot"))
    assert (code, "the columns topic, forex.*, stock.nyse, *.*" in " ".join(err.split())) == (0, True)
    columns = "{topic|forex.usd|stock.nyse}|{forex.*|1|0}|{stock.nyse|0|1}|{*.*|1|1}"
    assert f'label="{columns}"' in (tmp_path / "x.dot").read_text(encoding="utf-8")


def test_render_takes_patterns_from_a_topology(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    definitions = {
        "vhosts": [{"name": "/"}],
        "exchanges": [{"name": "x", "vhost": "/", "type": "topic"}],
        "queues": [{"name": "q", "vhost": "/"}],
        "bindings": [
            {"vhost": "/", "source": "x", "destination": "q", "destination_type": "queue", "routing_key": key}
            for key in ("stock.#", "forex.*")
        ],
    }
    (tmp_path / "defs.json").write_text(json.dumps(definitions))
    source = ["--definitions", str(tmp_path / "defs.json")]
    assert run(capsys, "render", "topology", *source, "--out", str(tmp_path / "t.dot"))[0] == 0
    assert "stock.#, forex.*" in (tmp_path / "t.dot").read_text()
    assert run(capsys, "render", "nfa", *source, "--exchange", "x", "--out", str(tmp_path / "n.tex"))[0] == 0
    assert r"stock.\#" in (tmp_path / "n.tex").read_text()
    code, _, err = run(capsys, "render", "nfa", *source, "--exchange", "y", "--out", str(tmp_path / "n.svg"))
    assert code == ExitCode.USAGE
    assert "no exchange 'y'" in err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["render", "nfa", "--out", "x.svg"], "give --pattern"),
        (["render", "nfa", "-p", "a", "--out", "x.gif"], "should end in one of .svg, .png, .pdf, .dot, .tex"),
        (["render", "topology", "--out", "x.svg"], "needs --definitions FILE"),
        (["render", "dfa", "-p", "#.a" + ".*" * 9, "--out", "x.svg"], "draw what one key visits (--key KEY)"),
        (
            ["render", "dfa", "-p", "#.a" + ".*" * 20, "--out", "x.svg"],
            "more than 20,000 states: draw a part of them, or what a key visits, with 'cache' and --key KEY",
        ),
        (
            ["render", "film", "-p", "a.b", "--key", "a.b", "--max-nodes", "1", "--out", "x.svg"],
            "raise the limit (--max-nodes 4)",
        ),
        (
            ["render", "nfa", "-p", "a", "--exchange", "x", "--out", "x.svg"],
            "--exchange is one of a definitions file: give --definitions",
        ),
        (
            ["render", "nfa", "-p", "a", "--vhost", "x", "--out", "x.svg"],
            "--vhost is one of a definitions file: give --definitions",
        ),
        (["render", "nfa", "-p", "a", "--theme", "dark", "--out", "x.tex"], "--theme dark changes nothing in TikZ"),
        (["render", "nfa", "-p", "a", "--key", "a", "--key", "b", "--out", "x.svg"], "'cache' takes several"),
        (
            ["render", "nfa", "-p", "a", "--out", "no/such/folder/x.dot"],
            "choose another with --out, in a folder that exists",
        ),
        (["render", "nfa", "--patterns-from", "nofile", "--out", "x.svg"], "cannot read the patterns in nofile"),
        (["teach", "-p", "x" * 256, "--out", "x.html"], "amqp carries at most 255"),
        (["teach", "-p", "a"], "--out FILE for a page, or --site DIR"),
        (["teach", "--dialect", "mqtt", "-p", "a/#/b", "--out", "x.html"], "is not the last word"),
        (
            ["render", "topology", "--definitions", "defs.json", "--vhost", "none", "--out", "x.dot"],
            "the file has no such vhost",
        ),
        (["render", "bitmaps", "--dialect", "nats", "-p", "a.>", "--out", "x.dot"], "does not speak nats"),
        (["teach", "--out", "no/such/folder/x.html"], "choose another with --out, in a folder that exists"),
        (["teach", "--out", "-"], "standard output is not meant by it here"),
        (["show"], "give patterns with --pattern"),
        (["show", "-p", "\udcff"], "no valid UTF-8"),
    ],
)
def test_what_cannot_be_done_says_what_to_do(
    line: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "defs.json").write_text(
        json.dumps({"vhosts": [{"name": "/"}], "exchanges": [], "queues": [], "bindings": []})
    )
    code, out, err = run(capsys, *line)
    assert (code, out) == (ExitCode.USAGE, "")
    assert message in " ".join(err.split())
    assert "Traceback" not in err


@pytest.mark.parametrize("what", ["nfa", "dfa", "minimal", "cache", "film", "trie", "bitmaps", "topology"])
def test_an_option_changes_the_picture_or_is_refused(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "x.svg"
    source = ["--definitions", "examples/demo/definitions.json"]
    plain = source if what == "topology" else FOUR
    if what in ("cache", "film", "bitmaps"):
        plain = [*plain, "--key", "a.d.c"]
    assert run(capsys, "render", what, *plain, "--out", str(out))[0] == 0
    before = out.read_text(encoding="utf-8")
    options = [
        ["-p", "x"],
        ["--patterns-from", "-"],
        ["--exchange", "shop.events"],
        ["--dialect", "exact"],
        ["--key", "a.b"],
        ["--theme", "dark"],
        ["--dead"],
        ["--no-other"],
        ["--max-nodes", "1"],
    ]
    refused = set()
    for option in options:
        if option[0] in ("--patterns-from", "--exchange") and what != "topology":
            continue  # they say where patterns come from, of which there is none here
        code, _, err = run(capsys, "render", what, *plain, *option, "--out", str(out))
        if code == 0:
            assert out.read_text(encoding="utf-8") != before, option
        else:
            assert code == ExitCode.USAGE
            assert option[0].replace("-p", "--pattern", option[0] == "-p") in err
            assert out.read_text(encoding="utf-8") == before, option
            refused.add(option[0])
        out.write_text(before, encoding="utf-8")
    assert refused == {
        "nfa": {"--dead", "--no-other", "--max-nodes"},
        "dfa": {"--max-nodes"},
        "minimal": {"--max-nodes"},
        "cache": {"--max-nodes"},
        "film": {"--dead", "--max-nodes"},
        "trie": {"--key", "--dead", "--no-other", "--max-nodes"},
        "bitmaps": {"--dead", "--no-other", "--max-nodes"},
        "topology": {"-p", "--patterns-from", "--exchange", "--dialect", "--key", "--dead", "--no-other", "--max-nodes"},
    }[what]  # fmt: skip


def test_a_missing_renderer_is_a_lack_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, _, err = run(capsys, "render", "nfa", "-p", "a", "--out", str(tmp_path / "x.png"))
    assert code == ExitCode.ENVIRONMENT
    assert "install Graphviz" in err


def test_a_blow_up_is_drawn_along_a_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(
        capsys, "render", "dfa", "-p", "#.a" + ".*" * 20, "--key", "a.b", "--out", str(tmp_path / "x.svg")
    )
    assert code == 0
    assert "3 states" in err
    assert "accepted by none" in err


VISITED = "draw what one key visits (--key KEY)"
STATES = (
    "draw the fewest states that tell the same ('render minimal'), draw the states that keys have needed ('render cache' with --key, as "
    "often as you like)"
)
FEWER = "draw fewer patterns (--pattern), or raise the limit (--max-nodes 12)"


@pytest.mark.parametrize(
    ("what", "ways"),
    [
        ("dfa", f"{VISITED}, {STATES}, or raise the limit (--max-nodes 1024)"),
        ("minimal", f"{VISITED}, or raise the limit (--max-nodes 1024)"),
        ("nfa", f"{VISITED}, {FEWER}"),
        ("trie", FEWER),
        ("cache", "give fewer or shorter keys (--key), or raise the limit (--max-nodes 4)"),
        ("film", "give fewer or shorter keys (--key), or raise the limit (--max-nodes 4)"),
        ("topology", "draw one vhost (--vhost NAME), or raise the limit (--max-nodes 124)"),
    ],
)
def test_what_is_too_large_names_a_command_or_an_option_for_each_way_to_less(
    what: str, ways: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ["-p", "#.a" + ".*" * 9] if what != "topology" else ["--definitions", "examples/demo/definitions.json"]
    key = ["--key", "a.b.c"] if what in {"cache", "film"} else []
    bound = ["--max-nodes", "3"] if what not in {"dfa", "minimal"} else []
    code, _, err = run(capsys, "render", what, *chosen, *key, *bound, "--out", str(tmp_path / "x.svg"))
    assert code == ExitCode.USAGE
    assert err.endswith(f" that a picture can hold: {ways}\n")


def test_a_vhost_that_is_too_large_is_not_told_to_draw_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vhost = ["--definitions", "examples/demo/definitions.json", "--vhost", "shop", "--max-nodes", "3"]
    _, _, err = run(capsys, "render", "topology", *vhost, "--out", str(tmp_path / "x.svg"))
    assert err.endswith("can hold: raise the limit (--max-nodes 83)\n")


def test_teach_writes_a_page_in_time(tmp_path: Path) -> None:
    started = os.times()
    command = [sys.executable, "-m", "dfa_router", "teach", *FOUR, *KEY, "--out", str(tmp_path / "page.html")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    ended = os.times()
    # Processor time, as other work on the machine is no fault of the command.
    assert ended.children_user - started.children_user + ended.children_system - started.children_system < 3
    assert "page.html in a browser" in done.stderr
    assert "Step through a match" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_show_fits_the_terminal_and_prints_to_stdout(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(capsys, "show", *FOUR, *KEY)
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "✓ a.#.c  accepts" in out
    monkeypatch.setenv("COLUMNS", "1")
    assert run(capsys, "show", *FOUR)[:2] == run(capsys, "show", *FOUR, "--width", "20")[:2]


def test_show_leaves_a_large_dfa_out_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "show", "-p", "#.a" + ".*" * 9)
    assert code == 0
    assert "NFA: 12 positions" in out
    assert "more than 100 states" in err


@pytest.mark.parametrize(
    ("number", "code", "said"), [(signal.SIGINT, 0, "stopped\n"), (signal.SIGTERM, ExitCode.TERMINATED, "terminated\n")]
)
def test_play_serves_until_it_is_interrupted(number: signal.Signals, code: int, said: str) -> None:
    command = [sys.executable, "-m", "dfa_router", "play", "--no-open", *FOUR, *KEY]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        with urllib.request.urlopen(address, timeout=250) as answer:
            assert b"Step through a match" in answer.read()
        process.send_signal(number)
        _, err = process.communicate(timeout=250)
    assert process.returncode == code
    assert err.endswith(said)


def test_a_port_in_use_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    from viz.page.server import serve

    with serve({"/": ""}) as taken:
        code, _, err = run(capsys, "play", "--no-open", "--port", str(taken.server_port))
    assert code == ExitCode.USAGE
    assert "choose another --port" in err


def test_states_have_one_numbering_in_all_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    patterns = ["-p", "a.#.c", "--key", "a.d.c"]
    _, out, _ = run(capsys, "show", *patterns, "--width", "120")
    table = dict(re.findall(r"^[> ] (\d+) +(\S+) ", out, re.MULTILINE))
    match = re.findall(r"^[\d ]  +\S+ +(\S+) +(\d+)", out, re.MULTILINE)
    assert {number: positions for positions, number in match}.items() <= table.items()
    assert table["1"] == "∅"
    assert "The cache has 4 states and 4 transitions." in out
    engine = dr.trace(dr.compile([("a.#.c", "q")]), ["a.d.c"])[0]
    assert [int(number) for _, number in match] == [frame.state for frame in engine.frames]
    for what in ("dfa", "cache"):
        _, _, err = run(capsys, "render", what, *patterns, "--out", str(tmp_path / f"{what}.dot"))
        assert "4 states, the dead state among them, which is not drawn," in err
        drawn = re.findall(r'label="(\d+)\\n(\{[\d,]+\})', (tmp_path / f"{what}.dot").read_text())
        assert len(drawn) == 3
        assert set(drawn) <= set(table.items())


@pytest.mark.parametrize("what", ["nfa", "dfa", "minimal", "cache", "trie"])
def test_dialects_are_read_as_their_brokers_do(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "x.dot"
    key = [] if what == "trie" else ["--key", "home/hall/lamp"]
    code, _, err = run(capsys, "render", what, "--dialect", "mqtt", "-p", "home/+/lamp", *key, "--out", str(out))
    assert code == 0, err
    assert 'label=" lamp "' in out.read_text() or 'label=" 3: lamp "' in out.read_text(), "it is a word of three"


@pytest.mark.parametrize("what", ["nfa", "dfa", "minimal"])
@pytest.mark.parametrize(
    ("patterns", "key", "verdict"),
    [
        (["home/+/lamp"], "home/hall/lamp", "accepted by home/+/lamp"),
        (["#", "$SYS/#"], "$SYS/lamp", "accepted by $SYS/#"),
        (["#"], "$SYS/lamp", "accepted by none"),
    ],
)
def test_a_picture_tells_what_the_broker_does_with_a_key(
    what: str, patterns: list[str], key: str, verdict: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = [part for pattern in patterns for part in ("-p", pattern)]
    _, _, err = run(
        capsys, "render", what, "--dialect", "mqtt", *chosen, "--key", key, "--out", str(tmp_path / "x.dot")
    )
    said = " ".join(err.split())
    assert f"The key {key} " in said
    assert said.endswith(f"is {verdict}.")


@pytest.mark.parametrize("what", ["nfa", "dfa", "minimal", "cache", "film"])
def test_a_key_that_is_not_routed_has_no_path_in_a_picture(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / ("x.svg" if what == "film" else "x.dot")
    code, _, err = run(capsys, "render", what, "--dialect", "nats", "-p", ">", "--key", "a..b", "--out", str(out))
    assert "The key 'a..b' matches nothing, whatever the patterns: it has an empty word" in " ".join(err.split())
    assert "accepted by" not in err
    assert code == (ExitCode.USAGE if what == "film" else ExitCode.OK), "a film of no key shows nothing"


def test_show_and_teach_take_a_dialect(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "show", "--dialect", "mqtt", "-p", "home/+/lamp", "--key", "home/hall/lamp")
    assert "✓ home/+/lamp  accepts" in out
    _, out, _ = run(capsys, "show", "--dialect", "nats", "-p", "a.>", "--key", "a..b")
    assert "matches nothing, whatever the patterns: it has an empty word" in out
    path = tmp_path / "page.html"
    assert (
        run(
            capsys, "teach", "--dialect", "nats", "-p", "a.>", "--key", "a.b", "--cache-bytes", "0", "--out", str(path)
        )[0]
        == 0
    )
    assert '"dialect":"nats","capacity":0' in path.read_text(encoding="utf-8")


def test_a_vhost_is_drawn_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    definitions = ["--definitions", "examples/demo/definitions.json", "--out", str(tmp_path / "t.dot")]
    _, _, every = run(capsys, "render", "topology", *definitions)
    _, _, shop = run(capsys, "render", "topology", *definitions, "--vhost", "shop")
    assert "124 nodes" in every
    assert "83 nodes" in shop


def test_a_site_is_written_into_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "teach", "--site", str(tmp_path / "new" / "site"))
    assert (code, out) == (0, "")
    assert "index.html in a browser" in err
    assert len(list((tmp_path / "new" / "site").glob("*.html"))) == 8


@pytest.mark.parametrize("what", ["nfa", "dfa"])
def test_the_binding_that_accepts_is_named_by_its_pattern(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, _, err = run(capsys, "render", what, *FOUR, *KEY, "--out", str(tmp_path / "x.dot"))
    assert "accepted by a.#.c" in err
    assert "binding 2" not in err


def test_one_of_something_is_no_plural(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "show", "-p", "", "--key", "")
    _, _, err = run(capsys, "render", "nfa", "-p", "", "--out", str(tmp_path / "x.dot"))
    assert "NFA: 1 position" in out
    assert "1 position" in err
    assert not re.search(r"\b1 (positions|states|transitions|words|edges|nodes)\b", out + err)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    ("command", "name"), [(["teach"], "x.html"), (["render", "nfa"], "x.svg"), (["teach", "--site"], "index.html")]
)
def test_a_full_disk_is_told_as_that(
    command: list[str], name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).symlink_to("/dev/full")
    where = [str(tmp_path)] if "--site" in command else ["--out", str(tmp_path / name)]
    code, _, err = run(capsys, *command, *where, *FOUR)
    assert code == ExitCode.ENVIRONMENT
    told = " ".join(err.split())
    assert f"cannot write {tmp_path / name}: No space left on device" in told
    assert f"make room, or choose another place with {'--site' if '--site' in command else '--out'}" in told
    assert "folder that exists" not in told
