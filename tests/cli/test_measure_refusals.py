"""What ``dfa-router measure`` refuses, and what it says of it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.measuring import Run, Write, definitions, refused, run, write

__all__ = ["run", "write"]


BAD_BINDINGS: list[tuple[str, str | bytes, str]] = [
    ("b.txt", "", "b.txt: has no bindings; write a pattern per line"),
    ("b.txt", b"a\nb\xff\n", "b.txt:2: no valid UTF-8: save the file as UTF-8"),
    ("b.json.gz", gzip.compress(b"{}"), "b.json.gz: is compressed with gzip: unpack it first (gunzip)"),
    ("b.txt", b"\x83l\0", "b.txt: looks like an export in Erlang's own format: export it again with '--format json'"),
    ("b.json", b"\x83l\0", "b.json: looks like an export in Erlang's own format: export it again with '--format json'"),
    ("b.txt", "a".encode("utf-16"), "b.txt: is UTF-16, as PowerShell's '>' writes it: save it as UTF-8"),
    ("b.csv", b"\xfe\xff\0p", "b.csv: is UTF-16: save it as UTF-8"),
    ("b.csv", "", "b.csv: has no bindings"),
    ("b.csv", "pattern\n", "b.csv: has no bindings"),
    (
        "b.csv",
        "key,destination\na,q\n",
        "b.csv:2: has no field 'pattern' or 'routing_key'; fields: 'key', 'destination'",
    ),
    ("b.csv", "pattern,destination\na,q\nb\n", "b.csv:3: has 1 field, the first line names 2: correct the line"),
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
        "b.jsonl:2: the binding: the destination 'q\\ud800' has a lone surrogate",
    ),
    ("b.jsonl", '["a"]\n', "b.jsonl:1: is no JSON object; write one per line"),
    ("b.jsonl", '{"pattern": 1}\n', "b.jsonl:1: pattern and destination are 1 and None: write text"),
    ("b.json", definitions(), "b.json: holds many exchanges; choose one with --exchange: vhost '/' has none"),
    ("b.json", "[]", "b.json: holds an empty list; expected a definitions file"),
    ("b.json", "[5]", "b.json: holds a list of 1 entry; expected a definitions file"),
    ("b.json", "[5, 6]", "b.json: holds a list of 2 entries; expected a definitions file"),
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
    refused(
        run(*in_v, "--exchange", "h"), "'h' is of type x-unheard-of, whose bindings are no patterns; choose one of type"
    )
    refused(run(*in_v, "--exchange", "y"), "no exchange 'y' in vhost 'v'")
    refused(run(exchanges, keys, "--exchange", "x"), "no vhost '/' in")
    refused(run(patterns, keys, "--engine", "fast"), "'fast' is not one of")
    refused(
        run(patterns, keys, "--engine", "dfa", "--engine", "word_index", "--dialect", "mqtt"), "does not speak 'mqtt'"
    )


def test_one_standard_input_is_not_both_bindings_and_keys(run: Run) -> None:
    refused(run("-", "-"), "--bindings and --keys cannot both be standard input: save one of them to a file")


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
