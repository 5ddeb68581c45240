"""The files that ``dfa-router measure`` reads mean the same in every format."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dfa_router.cli import ExitCode
from dfa_router.cli.binding_files import read_bindings
from tests.cli.measuring import KEYS, PAIRS, PATTERNS, Run, Write, definitions, run, write

__all__ = ["run", "write"]


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


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("character", ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_characters_that_end_no_line_of_csv_are_part_of_a_pattern(
    write: Write, character: str, end: str, quote: str
) -> None:
    pattern = f"a{character}b.#"
    lines = ["pattern,destination", f"{quote}{pattern}{quote},q", "c,r", ""]
    found = read_bindings(Path(write("b.csv", end.join(lines))))
    assert (found.bindings, list(found.places)) == ([(pattern, "q"), ("c", "r")], [2, 3])
    alone = read_bindings(Path(write("one.csv", end.join(["pattern", f"{quote}{pattern}{quote}", ""]))))
    assert alone.bindings == [(pattern, pattern)]


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
        assert "1 pair of a key" in out, (binding_name, key_name)
    in_v = ("--vhost", "v", "--exchange", "x")
    _, out, _ = run(write("b.json", mark + definitions().encode()), write("k", mark + b"c"), *in_v)
    assert "1 pair of a key" in out


def test_a_direct_exchange_is_read_in_its_own_dialect(write: Write, run: Run) -> None:
    bindings, keys = write("b.json", definitions("direct")), write("k", "c\na.*\na.b")
    code, out, _ = run(bindings, keys, "--json", "--exchange", "x", "--vhost", "v", "--engine", "naive")
    assert code == ExitCode.OK
    facts = json.loads(out)
    assert (facts["dialect"], facts["engines"][0]["pairs"]) == ("exact", 2)


def test_null_keys_and_bytes_that_are_no_utf8_are_keys(write: Write, run: Run) -> None:
    bindings = write("p", "#")
    _, out, _ = run(bindings, write("k.jsonl", '{"routing_key": "a"}\n{"routing_key": null}\n{}\n'), "--engine", "scan")
    assert out.startswith("1 binding (amqp), 3 keys, 1 distinct, 2 null\n1 pair ")
    for path in (write("k", b"\xff\nb"), write("k.csv", b"routing_key\n\xff\nb\n")):
        _, out, _ = run(bindings, path, "--engine", "scan")
        assert out.startswith("1 binding (amqp), 2 keys, 2 distinct\n2 pairs")
