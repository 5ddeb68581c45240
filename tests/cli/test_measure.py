"""``dfa-router measure``: the table and the JSON, what it says of the figures, engines that differ, and Ctrl-C."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
from typing import Any

import pytest

import dfa_router as dr
from dfa_router.cli import ExitCode
from dfa_router.cli.measuring import Measurement, Pass, in_words
from tests.cli.measuring import KEYS, PAIRS, PATTERNS, Run, Write, run, write

__all__ = ["run", "write"]


def test_the_table_has_a_column_per_engine_and_ends_in_words(write: Write, run: Run) -> None:
    paths = write("patterns.txt", "\n".join(PATTERNS)), write("keys.txt", "\n".join(KEYS) + "\n")
    code, out, err = run(*paths, "--engine", "dfa", "--engine", "trie", "--engine", "dfa", "--threads", "2")
    assert code == ExitCode.OK, err
    lines = out.splitlines()
    assert lines[:2] == ["4 bindings (amqp), 5 keys, 4 distinct", f"{PAIRS} pairs of a key and a matching binding"]
    assert lines[3].split() == ["dfa", "trie"]
    rows = {line.strip()[:20].strip(): line.split()[-2:] for line in lines[4:] if line and ":" not in line}
    assert int(rows["states"][0]) > 1
    assert rows["states"][1] == "0"
    assert rows["automaton, bytes"][1] == "-"
    assert rows["passes until warm"] == ["2", "1"]
    assert float(rows["cold pass, ns/key"][0].replace(",", "")) > 0
    assert len({len(line) for line in lines[4:] if line.startswith(("states", "cache", "cold", "warm"))}) == 1
    assert lines[-2].startswith("dfa: ")
    assert lines[-1] == (
        "trie: this engine has no cache, so each pass costs about the same. "
        "5 keys are few: for times that mean something, measure 50,000 or more."
    )
    assert "cold pass" in err, "progress goes to stderr"


def test_progress_begins_before_the_keys_are_read(write: Write, run: Run) -> None:
    """Millions of keys take seconds to be read, and to be told apart."""
    paths = write("patterns.txt", "a.*"), write("keys.txt", "a.b\n")
    _, out, err = run(*paths)
    said = err.splitlines()
    assert said[0] == "reading the keys ..."
    assert said[-1] == "counting distinct keys ..."
    assert " ..." not in out


def test_keys_that_are_typed_are_read_before_anything_is_drawn(
    write: Write, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = io.TextIOWrapper(io.BytesIO(b"a.b\n"))
    monkeypatch.setattr(typed, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", typed)
    code, _, err = run(write("patterns.txt", "a.*"), "-")
    assert code == ExitCode.OK
    assert "reading the keys" not in err
    assert "cold pass" in err


def test_one_thing_is_told_as_one(write: Write, run: Run) -> None:
    code, out, err = run(write("patterns.txt", "a.*"), write("keys.txt", "a.b\n"))
    assert code == ExitCode.OK, err
    assert out.splitlines()[:2] == ["1 binding (amqp), 1 key, 1 distinct", "1 pair of a key and a matching binding"]


def test_json_has_the_same_for_programs(write: Write, run: Run) -> None:
    code, out, _ = run(
        write("p", "\n".join(PATTERNS)), write("k", "\n".join(KEYS) + "\n"), "--json", "--cache-bytes", "100000"
    )
    assert code == ExitCode.OK
    facts = json.loads(out)
    assert {name: facts[name] for name in ("bindings", "keys", "null_keys", "distinct_keys", "dialect", "threads")} == {
        "bindings": 4, "keys": 5, "null_keys": 0, "distinct_keys": 4, "dialect": "amqp", "threads": 1,
    }  # fmt: skip
    (engine,) = facts["engines"]
    assert (engine["engine"], engine["pairs"], engine["cache_bound"], engine["settled"]) == (
        "dfa",
        PAIRS,
        100_000,
        True,
    )
    assert engine["cold"]["misses"] > 0 == engine["warm"]["misses"]
    assert engine["warm"]["cpu_ns_per_key"] > 0 < engine["build_cpu_seconds"]
    assert engine["automaton_bytes"] > 0
    assert facts["difference"] is None
    assert len(facts["in_words"]) == 1


def test_engines_that_differ_are_an_error(write: Write, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    right = dr.compile

    def wrong(bindings: Any, **options: Any) -> dr.Router:
        return right([*list(bindings)[:-1], ("x", "")] if options["engine"] == "trie" else bindings, **options)

    monkeypatch.setattr(dr, "compile", wrong)
    paths = write("p", "\n".join(PATTERNS)), write("k", "\n".join(KEYS))
    code, out, err = run(*paths, "--engine", "scan", "--engine", "trie", "--engine", "inverted_opt")
    assert code == ExitCode.FOUND
    assert "pairs of a key" in out
    assert "engines differ: on key 1, b'c', scan says that the bindings [3] match (counted from 0), and trie []" in err
    code, out, _ = run(*paths, "--engine", "scan", "--engine", "trie", "--json")
    assert code == ExitCode.FOUND
    assert "key 1" in json.loads(out)["difference"]


def measurement(cold: dict[str, int], warm: dict[str, int], **changed: Any) -> Measurement:
    """Return figures of an engine."""
    counters = dict.fromkeys(["words", "hits", "misses", "clears", "fallbacks", "key_cache_hits"], 0)
    passes = [
        Pass(cpu_ns_per_key=ns, elapsed_ns_per_key=ns, **{**counters, **one}) for ns, one in ((100, cold), (50, warm))
    ]
    plain = {
        "engine": "dfa",
        "build_cpu_seconds": 0.1,
        "automaton_bytes": 1000,
        "cache_bytes": 500,
        "cache_bound": 1000,
    }
    plain |= {"states": 9, "transitions": 9, "accept_sets": 9, "pairs": 9, "passes": 2, "settled": True}
    return Measurement(cold=passes[0], warm=passes[1], **{**plain, **changed})


@pytest.mark.parametrize(
    ("measured", "said"),
    [
        (measurement({}, {}), "fits into the cache, 500 of 1,000 bytes; .* take 0.50 times"),
        (measurement({"clears": 1}, {}), "was cleared once in a pass: give --cache-bytes 4000"),
        (measurement({"clears": 1}, {"clears": 7}), "was cleared 7 times in a pass"),
        (
            measurement({}, {"fallbacks": 3}, closed=True),
            "is full, and is kept, as it knows most: 0.0% of the keys need more",
        ),
        (measurement({}, {"fallbacks": 30_000}), "30% of the keys are simulated even in a warm pass"),
        (measurement({}, {"fallbacks": 100_000}, states=0), "1,000 bytes have no room for a cache"),
        (
            measurement({}, {"misses": 5}, settled=False, passes=16),
            "after 16 passes transitions were still being built",
        ),
        (measurement({}, {"key_cache_hits": 90_000}), "90% of the keys are answered without reading their words"),
        (
            measurement({}, {"fallbacks": 100_000}, states=0, cache_bound=0),
            "0 bytes have no room for a cache, .* --cache-bytes",
        ),
        (measurement({}, {}, engine="trie", cache_bound=0), "this engine has no cache"),
    ],
    ids=[
        "fits",
        "cleared",
        "often",
        "closed",
        "simulated",
        "no room",
        "not settled",
        "recurring",
        "no bytes",
        "no cache",
    ],
)
def test_what_the_figures_mean(measured: Measurement, said: str) -> None:
    assert re.search(said, in_words(measured, 100_000))
    assert " few: " not in in_words(measured, 100_000)
    assert "1 key is few: " in in_words(measured, 1)


@pytest.mark.parametrize("engine", ["dfa", "scan"])
def test_an_interrupt_ends_a_pass(write: Write, engine: str) -> None:
    """Of minutes of passes: over compiled kernels, and over a matcher in Python."""
    keys = write("keys.txt", "".join(f"{'a.' * (n % 50)}b\n" for n in range(20_000)))
    command = ["measure", "--bindings", write("patterns.txt", "#.a.#.b\n" * 50), "--keys", keys, "--engine", engine]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job inherits it ignored
    process = subprocess.Popen(
        [sys.executable, "-m", "dfa_router", *command, "--rounds", "1000000"], stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        told = iter(process.stderr.readline, "")
        assert any("cold pass" in line for line in told)
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=250)[1]
    finally:
        process.kill()
        signal.signal(signal.SIGINT, before)
    assert process.returncode == ExitCode.INTERRUPTED
    assert "interrupted" in rest
    assert "Traceback" not in rest
