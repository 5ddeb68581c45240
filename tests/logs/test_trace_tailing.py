"""Traces that grow: whatever is appended in whatever pieces, each record is read once, and none in halves."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from dfa_router.errors import MessagesError
from dfa_router.logs import trace_tailing
from dfa_router.logs.stores import Place, place_of
from dfa_router.logs.trace_reading import trace_tables
from dfa_router.logs.trace_tailing import Offset, ends_of, pieces_between

DATA = Path(__file__).parents[1] / "data" / "traces"


def place(folder: Path) -> Place:
    found = place_of(str(folder))
    assert found is not None
    return found


def between(folder: Path, start: Offset, end: Offset) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for piece in pieces_between(place(folder), start, end):
        for block, table in trace_tables(place(folder).store, piece, published=False):
            assert block.marks == ()
            rows += table.to_pylist()
    return rows


@pytest.mark.parametrize("form", ["json", "text"])
@pytest.mark.parametrize("seed", range(6))
def test_each_record_once_however_the_files_grow(
    form: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(trace_tailing, "PIECE_BYTES", 700)
    monkeypatch.setattr(trace_tailing, "BLOCK_BYTES", 500)
    data = (DATA / f"rabbitmq-3.10-{form}.log").read_bytes()
    whole = between_whole(data, tmp_path / "whole", form)
    held = {"a.log": b"", "b.log": b""}
    offset: Offset = {}
    rows: list[dict[str, Any]] = []
    folder = tmp_path / "traces"
    folder.mkdir()
    while any(len(one) < len(data) for one in held.values()):
        name = chance.choice(sorted(held))
        held[name] = data[: len(held[name]) + chance.choice([1, 30, 81, 400, 2_000])]
        (folder / name).write_bytes(held[name])
        if chance.random() < 0.7:
            end = ends_of(place(folder), pattern=False)
            assert between(folder, offset, end) == between(folder, offset, end)
            rows += between(folder, offset, end)
            offset = end
    rows += between(folder, offset, ends_of(place(folder), pattern=False))
    expected = 2 * (whole[:-1] if form == "text" else whole)
    assert sorted(map(str, rows)) == sorted(map(str, expected))


def between_whole(data: bytes, folder: Path, form: str) -> list[dict[str, Any]]:
    folder.mkdir()
    (folder / "a.log").write_bytes(data + (data[:300] if form == "text" else b""))
    return between(folder, {}, ends_of(place(folder), pattern=False))


def test_another_file_under_the_old_name_is_read_from_its_beginning(tmp_path: Path) -> None:
    data = (DATA / "rabbitmq-3.10-json.log").read_bytes()
    log = tmp_path / "a.log"
    log.write_bytes(data)
    first = ends_of(place(tmp_path), pattern=False)
    log.write_bytes(data.replace(b"127.0.0.1", b"127.0.0.7") + data)
    assert len(between(tmp_path, first, ends_of(place(tmp_path), pattern=False))) == 30
    log.write_bytes(data[: data.index(b"\n") + 1])
    assert len(between(tmp_path, first, ends_of(place(tmp_path), pattern=False))) == 1


def test_a_file_that_is_gone_or_cut_is_told_where_something_of_it_was_not_read(tmp_path: Path) -> None:
    data = (DATA / "rabbitmq-3.10-json.log").read_bytes()
    first, second = data[: data.index(b"\n") + 1], data
    log = tmp_path / "a.log"
    log.write_bytes(first)
    start = ends_of(place(tmp_path), pattern=False)
    log.write_bytes(second)
    end = ends_of(place(tmp_path), pattern=False)
    log.write_bytes(first)
    with pytest.raises(MessagesError, match=r"a\.log: was cut while it was read; start with a new checkpoint"):
        between(tmp_path, start, end)
    log.unlink()
    for begun in ({}, start):
        with pytest.raises(MessagesError, match=r"a\.log: is not there any more; start with a new checkpoint"):
            between(tmp_path, begun, end)
    assert between(tmp_path, end, end) == []


def test_what_is_not_there_yet_and_what_cannot_grow(tmp_path: Path) -> None:
    (tmp_path / "empty.log").write_bytes(b"")
    (tmp_path / "begun.log").write_bytes(b'{"type":')
    assert ends_of(place(tmp_path), pattern=False) == {}
    (tmp_path / "old.log.gz").write_bytes(b"")
    with pytest.raises(MessagesError, match="compressed"):
        ends_of(place(tmp_path), pattern=False)
