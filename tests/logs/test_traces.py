"""Trace logs of RabbitMQ: both forms say the same, wherever a file is divided, and what is damaged is a marked row."""

from __future__ import annotations

import base64
import gzip
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import fs

from dfa_router.errors import MessagesError
from dfa_router.logs import erlang_terms, lines, trace_text
from dfa_router.logs.blocks import Mark
from dfa_router.logs.erlang_terms import TermError, read_term
from dfa_router.logs.marks import NO_RECORD, READ_PROBLEM, UNREADABLE
from dfa_router.logs.parts import TextPiece
from dfa_router.logs.trace_reading import form_of, publication_counts, trace_tables
from dfa_router.logs.trace_records import TRACE, json_records
from dfa_router.logs.trace_text import NO_END, text_records
from tests.logs.test_text import planned, rows

DATA = Path(__file__).parents[1] / "data" / "traces"
LOGS = {form: DATA / f"rabbitmq-3.10-{form}.log" for form in ("json", "text")}

each_form = pytest.mark.parametrize("form", ["json", "text"])


def read(
    path: Path, form: str, start: int = 0, end: int | None = None, *, published: bool = True
) -> list[dict[str, Any]]:
    piece = TextPiece(str(path), start, end, 0, 0, (form,))
    found = [table for _, table in trace_tables(fs.LocalFileSystem(), piece, published=published)]
    assert all(table.schema == TRACE for table in found)
    kept: list[dict[str, Any]] = pa.concat_tables([TRACE.empty_table(), *found]).to_pylist()
    if published:
        assert sum(publication_counts(fs.LocalFileSystem(), piece)) == len(kept)
    return kept


def test_both_forms_say_the_same() -> None:
    by_form = {form: read(path, form, published=False) for form, path in LOGS.items()}
    assert [len(found) for found in by_form.values()] == [15, 15]
    for one, other in zip(*by_form.values(), strict=True):
        for row in (one, other):
            row["properties"], row["headers"] = json.loads(row["properties"]), json.loads(row["headers"])
            del row["timestamp"]  # of the two writers
        if "dec" in one["headers"]:  # the plugin's JSON has 1.15 for the decimal 1.5
            one["headers"]["dec"] = one["properties"]["headers"]["dec"] = 1.5
        assert one == other


@each_form
def test_what_a_record_says(form: str) -> None:
    first, second, *_ = found = read(LOGS[form], form, published=False)
    assert (first["type"], first["exchange"], first["vhost"], first["channel"]) == ("published", "x", "/", 1)
    assert (first["routing_key"], first["routed_queues"], first["queue"]) == ("a.b", ["q.ü", "q1"], None)
    assert (first["headers"], first["payload"], first["payload_bytes"]) == ("{}", "aGk=", 2)
    assert second["routing_keys"] == ["a.b", "c.b", "zz", "a.q"]
    assert json.loads(second["headers"])["CC"] == ["c.b", "zz"]
    assert "BCC" not in second["headers"]
    keys = [row["routing_key"] for row in found]
    assert {"a.\n.b", 'quote"\\.b', "a.\x01.b", "", "ü.b"} <= set(keys)
    payloads = [base64.b64decode(row["payload"]) for row in found]
    assert bytes(range(256)) in payloads
    assert b"\n" + b"=" * 80 + b"\n2026: Message published\n\nNode: x" in payloads
    assert [len(payload) for payload in payloads] == [row["payload_bytes"] for row in found]
    assert [(row["queue"], row["routed_queues"]) for row in found if row["type"] == "received"] == [("q1", None)]


@each_form
@pytest.mark.parametrize("block", [300, 4 << 20])
def test_a_file_is_divided_anywhere(form: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", block)
    monkeypatch.setattr(trace_text, "BLOCK_BYTES", block)
    whole = read(LOGS[form], form)
    size = LOGS[form].stat().st_size
    data = LOGS[form].read_bytes()
    begins = [at.start() for at in re.finditer(rb"\n={80}\n2026-" if form == "text" else rb"\{\"channel", data)]
    assert len(begins) == 15
    for cut in [*range(1, size, 41), *begins[1:], *(at + 1 for at in begins), size - 1]:
        assert read(LOGS[form], form, 0, cut) + read(LOGS[form], form, cut, size) == whole


@each_form
def test_a_log_that_was_cut_keeps_its_end_as_a_marked_row(form: str, tmp_path: Path) -> None:
    data = LOGS[form].read_bytes()
    log = tmp_path / "cut.log"
    whole = {row["routing_key"] for row in rows(planned(LOGS[form], "trace"))}
    for length in range(400, 1500, 23):
        log.write_bytes(data[:length])
        plan = planned(log, "trace")
        found = rows(plan)
        assert len(found) == plan.rows
        *before, last = found
        assert {row["routing_key"] for row in before} <= whole
        assert all(row[READ_PROBLEM] is None for row in before)
        if last[READ_PROBLEM] is not None:
            assert last[READ_PROBLEM].startswith((NO_RECORD, NO_END))
            assert data[:length].endswith(last[UNREADABLE].encode())


@each_form
def test_a_log_whose_beginning_was_cut(form: str, tmp_path: Path) -> None:
    log = tmp_path / "cut.log"
    log.write_bytes(LOGS[form].read_bytes()[50:])
    first, *others = rows(planned(log, "trace"))
    assert first[READ_PROBLEM].startswith(NO_RECORD)
    assert first["exchange"] is None
    assert [row[READ_PROBLEM] for row in others] == [None] * 13


@each_form
def test_compressed_logs(form: str, tmp_path: Path) -> None:
    log = tmp_path / "t.log.gz"
    log.write_bytes(gzip.compress(LOGS[form].read_bytes()))
    assert rows(planned(log, "trace")) == rows(planned(LOGS[form], "trace"))


def test_another_file_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "syslog.log"
    log.write_text("Nov 22 14:00 host app: started\n")
    with pytest.raises(MessagesError, match=r"syslog\.log: is no trace log.*'Nov 22.*rabbitmq_tracing"):
        planned(log, "trace")
    log.write_text("\n")
    assert planned(log, "trace").rows == 0
    assert form_of(fs.LocalFileSystem(), str(log)) == "json"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"routing_keys": "a"}, "routing_keys"),
        ({"routing_keys": []}, "no routing key"),
        ({"exchange": None}, "exchange"),
        ({"type": "lost"}, "type"),
        ({"properties": 5}, "properties"),
    ],
)
def test_lines_that_are_no_records_are_marked(change: dict[str, Any], reason: str) -> None:
    good = json.loads(LOGS["json"].read_text("utf-8").splitlines()[0])
    line = json.dumps(good | change)
    block, table = json_records(f"{json.dumps(good)}\n{line}\n".encode())
    assert [(mark.row, mark.line) for mark in block.marks] == [(1, line.encode())]
    assert block.marks[0].problem.startswith(NO_RECORD)
    assert reason in block.marks[0].problem
    assert table["routing_key"].to_pylist() == ["a.b", None]


def test_a_channel_that_is_no_number_is_null() -> None:
    good = json.loads(LOGS["json"].read_text("utf-8").splitlines()[0])
    for channel in (True, "1", 2**31, None):
        block, table = json_records(json.dumps(good | {"channel": channel}).encode() + b"\nno json\n")
        assert [mark.row for mark in block.marks] == [1], "the record itself is one"
        assert table["channel"].to_pylist() == [None, None]


def test_deep_objects_are_marked_rows_and_no_crash() -> None:
    good = json.loads(LOGS["json"].read_text("utf-8").splitlines()[0])
    deep = json.dumps(good).replace(
        '"properties": {', '"properties": {"headers": {"x": ' + "[" * 100_000 + "]" * 100_000 + "}, "
    )
    block, table = json_records(deep.encode())
    assert (len(table), block.rows) == (1, 1)
    assert block.marks == () or block.marks[0].problem.startswith(NO_RECORD)


def test_older_forms_of_the_same() -> None:
    """Blanks between words, an empty table as a list, no routed queues: brokers before 3.6 have none."""
    good = json.loads(LOGS["json"].read_text("utf-8").splitlines()[0])
    good["properties"] = []
    del good["routed_queues"]
    block, table = json_records((json.dumps(good) + "\n").encode())
    assert block.marks == ()
    assert table["headers"].to_pylist() == ["{}"]
    assert table["routed_queues"].to_pylist() == [None]


def test_equal_whether_arrow_reads_the_lines_or_not() -> None:
    data = LOGS["json"].read_bytes()
    _, quick = json_records(data)
    _, slow = json_records(data + b"no json\n")
    for name in TRACE.names:
        some, others = quick[name].to_pylist(), slow[name].to_pylist()[:-1]
        if name in {"headers", "properties"}:
            some, others = [[json.loads(text) for text in texts] for texts in (some, others)]
        assert some == others, name


@pytest.mark.parametrize(
    "change",
    [
        {"type": "received", "routed_queues": ["q"], "queue": "q"},
        {"type": "received", "queue": None},
        {"routed_queues": [None]},
        {"routing_keys": ["a", None]},
        {"channel": -1},
        {"channel": 2**31},
        {"properties": []},
    ],
)
def test_an_odd_record_says_the_same_whatever_stands_beside_it(change: dict[str, Any]) -> None:
    good = json.loads(LOGS["json"].read_text("utf-8").splitlines()[0])
    line = json.dumps(good | change, separators=(",", ":")).encode() + b"\n"
    alone, table = json_records(line)
    beside, tables = json_records(line + b"no json\n")
    assert table.to_pylist() == tables.to_pylist()[:1]
    assert alone.marks == beside.marks[:-1]


def test_text_that_is_no_record_ends_in_marks() -> None:
    data = LOGS["text"].read_bytes()
    record = data[: data.index(b"\n" + b"=" * 80, 1)]
    keys = re.search(rb"Routing keys: .*", record)
    properties = re.search(rb"Properties:   .*\n(?=Payload: )", record, re.DOTALL)
    assert keys is not None
    assert properties is not None
    for old, new in [
        (b"[<<", b"[<"),
        (b"Payload: ", b"Payloud: "),
        (b"Node:  ", b"Nude:  "),
        (b"Exchange: ", b"Exchunge: "),
        (keys[0], b"Routing keys: []"),
        (properties[0], b"Properties:   5\n"),
        (properties[0], b"Properties:   atom\n"),
        (properties[0], b'Properties:   [{<<"headers">>,longstr,<<"x">>}]\n'),
        (properties[0], b'Properties:   [{<<"headers">>,table,[{<<"n">>,decimal,{0,%b}}]}]\n' % (b"9" * 399)),
    ]:
        assert old in record
        block, table = text_records(record.replace(old, new))
        assert [mark.row for mark in block.marks] == [0]
        assert isinstance(block.marks[0], Mark)
        assert table["routing_key"].to_pylist() == [None]
        assert (block.marks[0].problem or "").startswith(NO_RECORD)


@given(st.binary(max_size=60))
def test_terms_of_anything_are_read_or_refused(data: bytes) -> None:
    with suppress(TermError):  # and nothing else
        read_term(data)


@given(st.lists(st.binary(max_size=20), max_size=4))
def test_lists_of_binaries_as_erlang_prints_them(binaries: list[bytes]) -> None:
    printed = b",".join(b"<<" + b",".join(str(byte).encode() for byte in one) + b">>" for one in binaries)
    assert read_term(b"[" + printed + b"]") == (binaries, len(printed) + 2)


_VALUES = st.one_of(
    st.integers(-(10**30), 10**30).map(lambda number: b"%d" % number),
    st.sampled_from(
        [b"true", b"undefined", b"'an atom'", b"1.5", b"2.0e-7", b"x}", b"", b'<<"a"/utf8>>', b"<<1,2>>", b"[]"]
    ),
    st.binary(max_size=8).map(lambda text: b'<<"' + text + b'">>'),
)
_BLANKS = st.sampled_from([b"", b" ", b"\n   "])
_ENTRIES = st.tuples(
    _BLANKS, st.sampled_from([b"longstr", b"t_1@x", b"Longstr", b"5", b""]), _BLANKS, _VALUES, _BLANKS
).map(lambda parts: b'{<<"name">>,%b%b,%b%b%b}' % parts)


_TABLES = st.lists(st.tuples(_ENTRIES, st.sampled_from([b",", b",\n  ", b" , ", b"", b" "])), max_size=4)


@given(entries=_TABLES, nested=st.booleans())
def test_entries_of_tables_are_read_at_once_as_they_are_term_by_term(
    entries: list[tuple[bytes, bytes]], *, nested: bool
) -> None:
    printed = b"[" + b"".join(entry + between for entry, between in entries) + b"]"
    printed = b'[{<<"headers">>,table,' + printed + b"}]" if nested else printed

    def read_or_refused() -> Any:
        try:
            return read_term(printed)
        except TermError as error:
            return str(error)

    at_once = read_or_refused()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(erlang_terms, "_PLAIN_FIELD", re.compile(rb"(?!)"))
        assert read_or_refused() == at_once


def test_plain_entries_of_a_table_take_one_step_each(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    each = erlang_terms._term

    def noted(data: bytes, place: int, depth: int) -> tuple[Any, int]:
        begun.append(place)
        return each(data, place, depth)

    monkeypatch.setattr(erlang_terms, "_term", noted)
    fields = [b'{<<"k%d">>,longstr,\n  <<"v%d">>}' % (number, number) for number in range(100)]
    found, _ = read_term(b"[" + b",\n ".join(fields) + b"]")
    assert found == [(b"k%d" % number, "longstr", b"v%d" % number) for number in range(100)]
    assert begun == [0], "the list is a term, and what it holds is read without looking for the terms of each entry"


def test_names_with_line_feeds_are_read_as_others_are() -> None:
    data = LOGS["text"].read_bytes()
    record = data[: data.index(b"\n" + b"=" * 80, 1)]
    _, table = text_records(record.replace(b"Exchange:     x", b"Exchange:       x\ny\nUser:         z"))
    assert table["exchange"].to_pylist() == ["  x\ny\nUser:         z"]
    assert table["user"].to_pylist() == ["guest"]


def test_deep_terms_are_refused() -> None:
    with pytest.raises(TermError, match="deeper"):
        read_term(b"[" * 100_000)
