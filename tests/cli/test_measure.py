"""``dfa-router measure``: the files that it reads, the table and the JSON, what it says of them, and what it refuses."""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dfa_router as dr
from dfa_router.cli import ExitCode, main
from dfa_router.cli.measuring import Measurement, Pass, in_words

PATTERNS = ["a.*", "#.b", "a.#", "c"]
KEYS = ["a.b", "c", "a.b", "nobody", ""]
PAIRS = 3 + 1 + 3

Write = Callable[[str, str | bytes], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return what writes a file of that name and returns its path."""

    def written(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return written


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Return what runs the command in this process and returns its exit code, stdout and stderr."""

    def ran(bindings: str, keys: str, *more: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(["measure", "--bindings", bindings, "--keys", keys, "--rounds", "1", *more])
        captured = capsys.readouterr()
        return int(end.value.code or 0), captured.out, captured.err

    return ran


Run = Callable[..., tuple[int, str, str]]


def definitions(kind: str = "topic") -> str:
    """Return a definitions file with an exchange of patterns, one of another type and a vhost of its own."""
    bindings = [
        {"vhost": "v", "source": "x", "destination": f"q{n}", "destination_type": "queue", "routing_key": pattern}
        for n, pattern in enumerate(PATTERNS)
    ]
    exchanges = [{"vhost": "v", "name": "x", "type": kind}, {"vhost": "v", "name": "h", "type": "headers"}]
    return json.dumps({"vhosts": [{"name": "v"}], "exchanges": exchanges, "bindings": bindings})


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


def test_every_format_of_bindings_means_the_same(write: Write, run: Run) -> None:
    keys = write("keys.txt", "\n".join(KEYS) + "\n")
    csv = "".join(f'"{pattern}",q{n}\n' for n, pattern in enumerate(PATTERNS))
    objects = [{"pattern": pattern, "other": 1} for pattern in PATTERNS]
    for path, more in [
        (write("b.txt", "".join(f"{pattern}\tq{n}\r\n" for n, pattern in enumerate(PATTERNS))), ()),
        (write("b.csv", "routing_key,destination\n" + csv), ()),
        (write("b.jsonl", "\n\n".join(map(json.dumps, objects))), ()),
        (write("b.json", definitions()), ("--exchange", "x", "--vhost", "v")),
    ]:
        code, out, err = run(path, keys, "--json", "--engine", "scan", *more)
        assert code == ExitCode.OK, err
        facts = json.loads(out)
        assert (facts["bindings"], facts["engines"][0]["pairs"], facts["dialect"]) == (4, PAIRS, "amqp"), path


def test_every_format_of_keys_means_the_same(write: Write, run: Run, tmp_path: Path) -> None:
    bindings = write("p.txt", "\n".join(PATTERNS))
    pq.write_table(pa.table({"n": range(5), "routing_key": KEYS}), tmp_path / "k.parquet")
    pq.write_table(pa.table({"key": pa.array(KEYS).dictionary_encode()}), tmp_path / "d.parquet")
    for path, more in [
        (write("k.log", "\n".join(KEYS) + "\n"), ()),
        (write("k.csv", "n,routing_key\n" + "".join(f'1,"{key}"\n' for key in KEYS)), ()),
        (write("k.jsonl", "\n".join(json.dumps({"routing_key": key, "n": [1]}) for key in KEYS)), ()),
        (write("k.json", "\n".join(json.dumps({"key": key}) for key in KEYS)), ("--key-column", "key")),
        (str(tmp_path / "k.parquet"), ()),
        (str(tmp_path / "d.parquet"), ("--key-column", "key")),
    ]:
        code, out, err = run(bindings, path, "--json", "--engine", "scan", *more)
        assert code == ExitCode.OK, err
        facts = json.loads(out)
        assert (facts["keys"], facts["distinct_keys"], facts["engines"][0]["pairs"]) == (5, 4, PAIRS), path


def test_a_byte_order_mark_is_no_part_of_a_file(write: Write, run: Run) -> None:
    mark = b"\xef\xbb\xbf"
    bindings = [("b", b"a\n"), ("b.csv", b"pattern\na\n"), ("b.jsonl", b'{"pattern": "a"}\n')]
    keys = [("k", b"a\n"), ("k.csv", b"routing_key\na\n"), ("k.jsonl", b'{"routing_key": "a"}\n')]
    for (binding_name, binding), (key_name, key) in itertools.product(bindings, keys):
        _, out, _ = run(write(binding_name, mark + binding), write(key_name, mark + key))
        assert "1 pairs of a key" in out, (binding_name, key_name)
    in_v = ("--vhost", "v", "--exchange", "x")
    _, out, _ = run(write("b.json", mark + definitions().encode()), write("k", mark + b"c"), *in_v)
    assert "1 pairs of a key" in out


def test_a_direct_exchange_is_read_in_its_own_dialect(write: Write, run: Run) -> None:
    bindings, keys = write("b.json", definitions("direct")), write("k", "c\na.*\na.b")
    code, out, _ = run(bindings, keys, "--json", "--exchange", "x", "--vhost", "v", "--engine", "naive")
    assert code == ExitCode.OK
    facts = json.loads(out)
    assert (facts["dialect"], facts["engines"][0]["pairs"]) == ("exact", 2)


def test_null_keys_and_bytes_that_are_no_utf8_are_keys(write: Write, run: Run) -> None:
    bindings = write("p", "#")
    _, out, _ = run(bindings, write("k.jsonl", '{"routing_key": "a"}\n{"routing_key": null}\n{}\n'), "--engine", "scan")
    assert out.startswith("1 bindings (amqp), 3 keys, 1 distinct, 2 null\n1 pairs")
    for path in (write("k", b"\xff\nb"), write("k.csv", b"routing_key\n\xff\nb\n")):
        _, out, _ = run(bindings, path, "--engine", "scan")
        assert out.startswith("1 bindings (amqp), 2 keys, 2 distinct\n2 pairs")


BAD_BINDINGS: list[tuple[str, str | bytes, str]] = [
    ("b.txt", "", "b.txt: has no bindings; write a pattern per line"),
    ("b.txt", b"a\nb\xff\n", "b.txt:2: no valid UTF-8: save the file as UTF-8"),
    ("b.csv", "", "b.csv: has no bindings"),
    ("b.csv", "pattern\n", "b.csv: has no bindings"),
    (
        "b.csv",
        "key,destination\na,q\n",
        "b.csv:2: has no field 'pattern' or 'routing_key'; fields: 'key', 'destination'",
    ),
    ("b.csv", "pattern,destination\na,q\nb\n", "b.csv:3: has 1 fields, the first line names 2: correct the line"),
    ("b.csv", 'pattern\n"a"b\n', "b.csv:2: is no CSV"),
    ("b.csv", b"pattern\n\xff\n", "b.csv:2: no valid UTF-8"),
    ("b.jsonl", "", "b.jsonl: has no bindings"),
    ("b.jsonl", '{"pattern": "a"}\n\n{"pattern"}\n', "b.jsonl:3: is no JSON"),
    (
        "b.jsonl",
        '{"pattern": "b"}\n{"pattern": "a", "pattern": "b"}\n',
        'b.jsonl:2: the key \'pattern\' stands twice in the object that begins with {"pattern": "a"',
    ),
    ("b.jsonl", '{"pattern": "a\\ud800"}\n', "b.jsonl:1: "),
    (
        "b.jsonl",
        '{"pattern": "a"}\n{"pattern": "a", "destination": "q\\ud800"}\n',
        "b.jsonl:2: binding 0: the destination 'q\\ud800' has a lone surrogate",
    ),
    ("b.jsonl", '["a"]\n', "b.jsonl:1: is no JSON object; write one per line"),
    ("b.jsonl", '{"pattern": 1}\n', "b.jsonl:1: pattern and destination are 1 and None: write text"),
    ("b.json", definitions(), "b.json: holds many exchanges; choose one with --exchange: vhost '/' has none"),
    ("b.json", "[]", "b.json: holds an empty list; expected a definitions file"),
]


@pytest.mark.parametrize(("name", "content", "said"), BAD_BINDINGS, ids=[said[:60] for *_, said in BAD_BINDINGS])
def test_bindings_that_cannot_be_read(write: Write, run: Run, name: str, content: str | bytes, said: str) -> None:
    refused(run(write(name, content), write("k", "a")), said)


BAD_KEYS: list[tuple[str, str | bytes, str]] = [
    ("k", "", "k: has no keys; name a file with at least one"),
    ("k.csv", "", "k.csv: Empty CSV file; correct the file"),
    ("k.csv", "routing_key\n", "k.csv: has no keys"),
    ("k.csv", "a,b\n1,2\n", "k.csv: has no column 'routing_key'; its columns: 'a', 'b'. Name one with --key-column"),
    ("k.csv", "n,routing_key\n1,a\n2,b,c\n", "Row #3: Expected 2 columns, got 3"),
    ("k.jsonl", "", "k.jsonl: has no keys"),
    ("k.jsonl", '{"key": "a"}\n', "k.jsonl: no line has a 'routing_key'; name the field"),
    ("k.jsonl", '{"routing_key": "a"}\nnope\n', "k.jsonl:2: is no JSON"),
    ("k.jsonl", '{"routing_key": "a"}\n[1]\n', "k.jsonl:2: is a JSON list"),
    ("k.jsonl", '{"routing_key": "a"}\n{"routing_key": 7}\n', "k.jsonl:2: 'routing_key' is 7; write keys as strings"),
    (
        "k.jsonl",
        '{"routing_key": "b"}\n{"routing_key": "a", "routing_key": "b"}\n',
        'k.jsonl:2: the key \'routing_key\' stands twice in the object that begins with {"routing_key": "a"',
    ),
    (
        "k.jsonl",
        '{"routing_key": "b"}\n{"routing_key": "a\\ud800"}\n',
        "k.jsonl:2: 'routing_key' has half of a character",
    ),
    ("k.parquet", "", "k.parquet: Parquet file size is 0 bytes; is it a Parquet file?"),
    ("k.parquet", "no parquet at all", "is it a Parquet file?"),
]


@pytest.mark.parametrize(("name", "content", "said"), BAD_KEYS, ids=[said[:60] for *_, said in BAD_KEYS])
def test_keys_that_cannot_be_read(write: Write, run: Run, name: str, content: str | bytes, said: str) -> None:
    refused(run(write("p", "a"), write(name, content)), said)


def test_tables_without_keys(write: Write, run: Run, tmp_path: Path) -> None:
    patterns, path = write("p", "a"), tmp_path / "k.parquet"
    pq.write_table(pa.table({"routing_key": [1, 2], "other": ["a", "b"]}), path)
    refused(run(patterns, str(path)), "the column 'routing_key' holds int64; name one of text")
    refused(run(patterns, str(path), "--key-column", "key"), "has no column 'key'; its columns: 'routing_key', 'other'")
    pq.write_table(pa.table({"routing_key": pa.array([], pa.string())}), path)
    refused(run(patterns, str(path)), "k.parquet: has no keys")


def test_files_that_are_not_there_and_options_that_do_not_fit(write: Write, run: Run, tmp_path: Path) -> None:
    patterns, keys, exchanges = write("p", "a"), write("k", "a"), write("b.json", definitions())
    for missing in ("none", "none.csv", "none.jsonl", "none.json"):
        refused(run(str(tmp_path / missing), keys), missing)
    for missing in ("none", "none.csv", "none.jsonl", "none.parquet"):
        refused(run(patterns, str(tmp_path / missing)), f"{missing}: there is no such file")
    refused(run(patterns, str(tmp_path)), "are of several formats")
    refused(run(patterns, keys, "--exchange", "x"), "--exchange chooses from a definitions file")
    in_v = (exchanges, keys, "--vhost", "v")
    refused(run(*in_v), "choose one with --exchange: 'x'")
    refused(run(*in_v, "--exchange", "h"), "'h' is of type headers, whose bindings are no patterns; choose one of type")
    refused(run(*in_v, "--exchange", "y"), "no exchange 'y' in vhost 'v'")
    refused(run(exchanges, keys, "--exchange", "x"), "no vhost '/' in")
    refused(run(patterns, keys, "--engine", "fast"), "'fast' is not one of")
    refused(
        run(patterns, keys, "--engine", "dfa", "--engine", "word_index", "--dialect", "mqtt"), "does not speak 'mqtt'"
    )


def test_a_pattern_that_the_dialect_refuses_is_named_with_its_line(write: Write, run: Run) -> None:
    keys = write("k", "a")
    for name, content in [
        ("p", "a\nb/#/c\n"),
        ("p.csv", 'pattern\na\n"b/#/c"\n'),
        ("p.jsonl", '\n{"pattern": "b/#/c"}'),
    ]:
        line = content.removesuffix("\n").count("\n") + 1
        refused(
            run(write(name, content), keys, "--dialect", "mqtt"),
            f"{name}:{line}: the pattern 'b/#/c' is refused by mqtt",
        )


def refused(result: tuple[int, str, str], said: str) -> None:
    """Check that a run ended with exit code 2 and said something, without a traceback and without a result."""
    code, out, err = result
    assert (code, out) == (ExitCode.USAGE, ""), err
    assert said in err.replace("\n", " ")
    assert "Traceback" not in err


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
        (measurement({}, {"fallbacks": 30_000}), "30% of the keys are simulated even in a warm pass"),
        (measurement({}, {"fallbacks": 100_000}, states=0), "1,000 bytes have no room for a cache"),
        (
            measurement({}, {"misses": 5}, settled=False, passes=16),
            "after 16 passes transitions were still being built",
        ),
        (measurement({}, {"key_cache_hits": 90_000}), "the key cache answers 90% of them"),
        (measurement({}, {}, cache_bound=0), "this engine has no cache"),
    ],
    ids=["fits", "cleared", "often", "simulated", "no room", "not settled", "recurring", "no cache"],
)
def test_what_the_figures_mean(measured: Measurement, said: str) -> None:
    import re

    assert re.search(said, in_words(measured, 100_000))
    assert "are few" not in in_words(measured, 100_000)


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
