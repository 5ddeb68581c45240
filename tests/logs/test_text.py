"""Logs of text: what is read as it stands, what is marked, and what is left to Spark, which would read something else."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dfa_router.errors import MessagesError
from dfa_router.logs.csv_lines import csv_columns, csv_line_by_line, header_of, plain_csv, without_header
from dfa_router.logs.hadoop_codecs import check_codecs
from dfa_router.logs.json_lines import json_line_by_line, plain_json
from dfa_router.logs.json_text import json_lines
from dfa_router.logs.marks import TWICE
from dfa_router.logs.partitions import OtherWayError
from dfa_router.logs.planning import Plan
from dfa_router.logs.scanning import plan_log
from dfa_router.logs.stores import place_of
from dfa_router.logs.text_planning import text_parts, text_plan
from dfa_router.logs.text_reading import SeeText


def planned(log: Path, kind: str = "jsonl") -> Plan:
    place = place_of(str(log))
    assert place is not None
    divided = text_parts(place, kind, pattern=False, cores=2)
    return text_plan(place, kind, divided, [SeeText(place.store, kind)(part) for part in divided])


def rows(plan: Plan, most: int = 1_000) -> list[dict[str, Any]]:
    tables = [table for part in plan.parts for table in plan.read(part, most)]
    assert all(len(table) <= most for table in tables)
    found: list[dict[str, Any]] = pa.concat_tables(tables).to_pylist()
    return found


def test_columns_are_those_of_all_lines_sorted_and_what_is_nothing_but_null_is_text(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(
        '{"z": 1, "exchange": "x", "at": "2024-01-01"}\n{"b": {"d": [], "c": null}, "z": 0.5, "never": null}\n'
    )
    plan = planned(log)
    assert [(field.name, str(field.type)) for field in plan.schema] == [
        ("at", "string"),
        ("b", "struct<c: string, d: list<item: string>>"),
        ("exchange", "string"),
        ("never", "string"),
        ("z", "double"),
    ]
    assert [row["z"] for row in rows(plan, 1)] == [1.0, 0.5]
    assert plan.rows == 2


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (['{"a": 1}', '{"a": "x"}'], "string"),
        (['{"a": {"b": 1}}', '{"a": [1]}'], "object|struct"),
        (['{"a": 9223372036854775808}'], "more than 64 bits"),
        (['{"a": -0}', '{"a": 0.5}'], "-0"),
        (['{"a": NaN}'], "NaN|none"),
        ([f'{{"a": {"[" * 200_000}{"]" * 200_000}}}'], "very deep objects"),  # Arrow would end the process
        ([f'{{"a": {"[" * 900}{"]" * 900}, "b": {json.dumps("[" * 2000)}}}'], "over 100 levels"),
        ([f'{{"a": {"[" * 500}1{"]" * 500}}}'], "over 100 levels"),
        (['{"a": ' * 300 + "1" + "}" * 300], "over 100 levels"),
        (['{"a": 1, "A": 2}'], "case"),
        (['{"a": {"k": 1, "k": 2}}'], "twice"),
        (['{"a": 1, "a": 2}'], "twice"),
        (['{"a": {}}'], "empty objects"),
        (['{"": 1}'], "empty text"),
        (['{"a": 1}', '{"a": 1, "b\udcff": 1}'], "UTF-8"),
        (["{'a': 1}"], "strict"),
        (['{"a": 1} {"a": 2}'], "strict"),
        (['{"a": +INF}'], "strict"),
        (['[{"a": 1}]'], "arrays"),
        (["null"], "null"),
        (['{"exchange": 5}'], "exchange"),
        (["nothing", "at all"], "no line"),
    ],
)
def test_what_spark_reads_otherwise_is_left_to_it(tmp_path: Path, lines: list[str], reason: str) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes("\n".join(lines).encode(errors="surrogateescape"))
    with pytest.raises(OtherWayError, match=reason):
        planned(log)


@pytest.mark.parametrize(
    "lines",
    [
        ['{"a": [null, 1]}', '{"a": [2]}'],
        ['{"a": [null, null]}', '{"a": []}'],
        ['{"a": [[null, "x"], null, [null]]}'],
        ['{"a": [{"b": [null, 2]}, {"b": null}]}', '{"a": [null, {"b": [null]}]}'],
    ],
)
def test_nulls_in_front_of_a_list_stay(tmp_path: Path, lines: list[str]) -> None:
    """Where Arrow finds the types by itself, it leaves them out, and the list ends behind its values."""
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(lines))
    assert [row["a"] for row in rows(planned(log))] == [json.loads(line)["a"] for line in lines]


def test_two_blocks_may_look_alike_and_only_one_be_plain() -> None:
    """An object over two lines, and two objects in one, are as many rows as lines to Arrow."""
    assert plain_json(b'{"a": "}"}\n{"a": "{"}\n') is not None
    assert plain_json(b'{"a": 1}{"a": 2}\n{"a":\n3}\n') is None
    assert plain_json(b'{"a": "\xff"}\n') is None
    assert plain_json(b'{"a": "\\ud83d\\ude00"}\n') is None
    assert plain_json(b'\x0c{"a": 1}\n') is None
    broken = json_line_by_line(b'{"a":\n3}\n')
    assert (broken.data, [mark.line for mark in broken.marks]) == (b"{}\n{}\n", [b'{"a":', b"3}"])


@pytest.mark.parametrize("line", [b'x"y', b'"a"b', b'a, "b"', b'"a', b'a""', b"\0a"])
def test_stray_quotation_marks_are_left_to_spark(line: bytes) -> None:
    assert plain_csv(line + b",c\n" + line + b"\n") is None
    with pytest.raises(OtherWayError, match="stray"):
        csv_line_by_line(line + b"\n", 1)


@pytest.mark.parametrize("fields", [1, 3])
def test_zeros_that_a_crash_has_left_are_a_line_that_is_no_record(fields: int) -> None:
    block = csv_line_by_line(b"\0\0\n", fields)
    assert (block.rows, [(mark.row, mark.line) for mark in block.marks]) == (1, [(0, b"\0\0")])
    assert csv_columns(block, "abc"[:fields]).to_pylist() == [dict.fromkeys("abc"[:fields])]


@pytest.mark.parametrize("header", [b"a,A", b" a,b", b'a,b"', b"a,\xff"])
def test_headers_that_spark_would_change_are_left_to_it(header: bytes) -> None:
    with pytest.raises(OtherWayError, match="header"):
        header_of(header + b"\n1,2\n")


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("exchange,routing_key,n,n", r"its header names column 'n' twice: rename"),
        ("exchange,routing_key,", r"its header has no name for column 3 of 3: give it one"),
        ('exchange,"",routing_key', r"its header has no name for column 2 of 3: give it one"),
    ],
)
def test_a_header_that_nobody_reads_is_refused_with_its_file(tmp_path: Path, header: str, told: str) -> None:
    """It was left to Spark, which refuses it, too, as it expects other names."""
    (tmp_path / "good.csv").write_text("exchange,routing_key\nx,a\n")
    (tmp_path / "odd.csv").write_text(f"{header}\nx,a,1\n")
    with pytest.raises(MessagesError, match=rf"/odd\.csv: {told}"):
        plan_log(str(tmp_path), "csv")


@pytest.mark.parametrize("kind", ["jsonl", "csv", "trace"])
@pytest.mark.parametrize(
    ("encoding", "given"), [("utf-16", "UTF-16"), ("utf-16-le", "UTF-16LE"), ("utf-16-be", "UTF-16BE")]
)
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_log_in_utf_16_is_told_as_one(tmp_path: Path, kind: str, encoding: str, given: str, ending: str) -> None:
    line = {
        "jsonl": '{"exchange": "x", "routing_key": "a"}\n',
        "csv": "exchange,routing_key\nx,a\n",
        "trace": "=" * 80 + "\n",
    }
    log = tmp_path / f"log{ending}"
    data = (line[kind] * 3).encode(encoding)
    log.write_bytes(gzip.compress(data) if ending else data)
    with pytest.raises(MessagesError, match=rf"log{ending}: is UTF-16.*: iconv -f {given} -t UTF-8"):
        planned(log, kind)


@pytest.mark.parametrize(
    "beginning", [b"\x1f\x8b\x08", "{".encode("utf-16"), b"PAR1"], ids=["gzip", "utf-16", "parquet"]
)
def test_a_damaged_first_line_that_begins_as_another_format_is_a_row_with_a_problem(
    tmp_path: Path, beginning: bytes
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(beginning + b'"a"}\n{"exchange": "x", "routing_key": "a"}\n')
    first, second = rows(planned(log))
    assert first["exchange"] is None
    assert first["unreadable_line"].startswith(beginning.decode(errors="replace")[:1])
    assert (second["exchange"], second["unreadable_line"]) == ("x", None)


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
@pytest.mark.parametrize("other", ["a", "z"])
def test_one_file_in_utf_16_among_others_is_told(tmp_path: Path, kind: str, other: str) -> None:
    line = {"jsonl": '{"exchange": "x", "routing_key": "a"}\n', "csv": "exchange,routing_key\nx,a\n"}[kind]
    (tmp_path / f"m.{kind}").write_text(line)
    (tmp_path / f"{other}.{kind}").write_bytes(line.encode("utf-16"))
    with pytest.raises(MessagesError, match=rf"/{other}\.{kind}: is UTF-16"):
        planned(tmp_path, kind)
    (tmp_path / f"{other}.{kind}").write_bytes(b"\xe9\n" * 3)  # lines that cannot be read are rows, elsewhere
    if kind == "jsonl":
        assert planned(tmp_path, kind).rows == 4


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_zeros_behind_gzip_are_padding(tmp_path: Path, kind: str) -> None:
    log = tmp_path / f"log.{kind}.gz"
    line = {"jsonl": b'{"exchange": "x", "routing_key": "a"}\n', "csv": b"x,a\n"}[kind]
    head = b"exchange,routing_key\n" * (kind == "csv")
    data = gzip.compress(head + line * 2_000_000) + gzip.compress(line) + bytes(512)  # several blocks
    log.write_bytes(data)
    assert planned(log, kind).rows == 2_000_001
    damaged = bytearray(data)
    damaged[1_000:1_100] = b"\xff" * 100  # no code of deflate
    for other in (data[:-520] + bytes(512), bytes(damaged)):
        log.write_bytes(other)
        with pytest.raises(OtherWayError, match=rf"log\.{kind}\.gz: "):
            planned(log, kind)


@pytest.mark.parametrize(
    "content", [b"\0" * 99 + b"exchange,routing_key\nx,a\n", b"\n\0\0\nexchange,routing_key\nx,a\n"]
)
def test_zeros_in_front_of_a_header_are_told(tmp_path: Path, content: bytes) -> None:
    log = tmp_path / "log.csv"
    log.write_bytes(content)
    with pytest.raises(MessagesError, match=r"log\.csv: its first line, .*, begins with zeros, .*: remove them$"):
        planned(log, "csv")


def test_a_compressed_log_without_its_ending_is_told_as_one(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_bytes(gzip.compress(b"exchange,routing_key\nx,a\n"))
    with pytest.raises(MessagesError, match=r"log\.csv: is compressed with gzip: give it the ending \.gz"):
        planned(log, "csv")


@pytest.mark.parametrize("name", ['a, "b"', '"', "x" * 200_000])
def test_a_header_is_read_whatever_stands_in_quotation_marks(name: str) -> None:
    quoted = name.replace('"', '""')
    assert header_of(f'"{quoted}",routing_key\n1,2\n'.encode()) == (name, "routing_key")


@pytest.mark.parametrize("header", ["exchange,routing_key,note", "Exchange,Routing_Key,Note"])
@pytest.mark.parametrize("lines", [",q1,\nx,,a\n", ",q1,\nx,,a\nx\n"])
def test_an_empty_name_is_text_in_whatever_case_its_column_is_written(tmp_path: Path, header: str, lines: str) -> None:
    log = tmp_path / "log.csv"
    log.write_text(f"{header}\n{lines}")
    found = [tuple(row.values())[:3] for row in rows(planned(log, "csv"))]
    assert found == [("", "q1", None), ("x", "", "a"), ("x", None, None)][: len(found)]


def test_json_is_written_so_that_it_is_read_back() -> None:
    texts = ["", '"', "\\", "a\\u0041", *map(chr, range(128)), "ä\u2028\U0001f600", None]
    numbers = [0.0, -0.0, 3.0, 1e300, 5e-324, 0.1, None]
    made = [
        {
            'k"\\': text,
            "n": numbers[place % len(numbers)],
            "whole": (-(2**63), 2**63 - 1, None)[place % 3],
            "flag": (True, False, None)[place % 3],
            "lists": ([], None, [text, None])[place % 3],
            "nested": {"a": [{"b": text}], "c": None} if place % 4 else None,
        }
        for place, text in enumerate(texts)
    ]
    table = pa.Table.from_pylist(made).slice(3)
    index = table.schema.get_field_index("nested")
    kind = pa.struct([("a", pa.list_(pa.struct([("b", pa.string())]))), ("c", pa.string())])
    table = table.set_column(index, "nested", table["nested"].cast(kind))
    lines = json_lines(table).to_pylist()
    assert all(line.endswith("}\n") and line.count("\n") == 1 for line in lines)
    read = [json.loads(line) for line in lines]
    assert read == made[3:]
    assert [math.copysign(1, row["n"]) for row in read if row["n"] == 0] == [
        math.copysign(1, row["n"]) for row in made[3:] if row["n"] == 0
    ]
    assert isinstance(next(row["n"] for row in read if row["n"] == 3), float), "a double stays one"


def test_keys_that_stand_twice_in_a_long_line() -> None:
    """A client's text may have as many: 8,000 took ten seconds where each was compared with all others."""
    line = ", ".join(f'"k{number % 99_999}": "{number}"' for number in range(100_000))
    block = json_line_by_line(f"{{{line}}}\n".encode())
    assert [mark.problem for mark in block.marks] == [TWICE]
    held = json.loads(block.data)
    assert (len(held), held["k0"], held["k1"]) == (99_999, "99999", "1")


def test_blank_lines_in_front_of_a_header() -> None:
    """A block of nothing else took minutes where the rest was copied for each of them."""
    blank = b"\n" * (2 << 20) + b" \t\r\n\x0b\n"
    assert header_of(blank + b"a,b\nc,d\n") == ("a", "b")
    assert without_header(blank + b"a,b\nc,d\n") == b"c,d\n"
    assert (header_of(blank), without_header(blank)) == ((), b"")


def test_logs_of_lz4_are_read_in_the_form_that_everybody_writes(tmp_path: Path) -> None:
    """Of several frames, as a file is that was appended to."""
    log = tmp_path / "log.jsonl.lz4"
    frame = pa.compress(b'{"exchange": "x"}\n' * 1_000, "lz4", asbytes=True)
    log.write_bytes(frame * 2)
    assert [row["exchange"] for row in rows(planned(log))] == ["x"] * 2_000


@pytest.mark.parametrize("name", ["log.lz4", "log.snappy", "log.deflate"])
def test_hadoops_own_form_is_left_to_spark(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(bytes(6) + b"\x00\x05" + b'{"a"}')
    with pytest.raises(OtherWayError, match=f"{name} is compressed in a form that Arrow does not read"):
        planned(tmp_path / name)
    check_codecs(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("log.jsonl.lz4", pa.compress(b"{}\n", "lz4", asbytes=True)),
        ("log.jsonl.lz4", pa.compress(b"{}\n" * 9, "lz4_raw", asbytes=True)),
        ("log.jsonl.snappy", pa.compress(b"{}\n" * 9, "snappy", asbytes=True)),
        ("log.jsonl.snappy", b"\xff\x06\x00\x00sNaPpY" + bytes(100)),
    ],
    ids=["lz4 frame", "lz4 block", "snappy block", "snappy frame"],
)
def test_spark_is_not_handed_what_it_would_die_of(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(MessagesError, match=rf"{name}: is compressed, but not in the form of Hadoop's.*decompress it"):
        check_codecs(str(tmp_path))


def test_a_line_that_is_kept_is_text_whatever_its_bytes(tmp_path: Path) -> None:
    """Else no reader of Parquet but Spark would take any column of the result."""
    log = tmp_path / "log.jsonl"
    log.write_bytes(b'{"exchange": "x"}\nbroken \xff\xed\xa0\x80 line\n')
    plan = planned(log)
    for part in plan.parts:
        for table in plan.read(part, 10):
            table.validate(full=True)
    assert [row["unreadable_line"] for row in rows(plan)] == [None, "broken \ufffd\ufffd\ufffd\ufffd line"]
