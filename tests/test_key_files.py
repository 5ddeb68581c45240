"""Routing keys of folders, patterns and tables, through the same door as those of a file."""

from __future__ import annotations

import gzip
import io
import os
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dfa_router as dr
from dfa_router.key_files import distinct_count, read_keys


@pytest.mark.parametrize("ending", ["txt", "jsonl", "parquet", "csv"])
def test_keys_of_a_folder_or_a_pattern_are_those_of_its_files(tmp_path: Path, ending: str) -> None:
    folder = tmp_path / "keys"
    for number, key in enumerate(["b", "c", "a"]):
        file = folder / f"day={number}/part.{ending}"
        file.parent.mkdir(parents=True)
        if ending == "parquet":
            pq.write_table(
                pa.table({"routing_key": pa.array([key], pa.large_string() if number else pa.string())}), file
            )
        else:
            file.write_text(
                {"txt": key, "jsonl": f'{{"routing_key": "{key}"}}', "csv": f"routing_key\n{key}\n"}[ending]
            )
    (folder / "_SUCCESS").touch()
    (folder / f".part.{ending}.crc").write_bytes(b"\xff")
    for path in (folder, str(folder), f"{tmp_path}/k*/day=*"):
        assert read_keys(path).to_pylist() == [b"b", b"c", b"a"]
    assert read_keys(f"{folder}/day=[02]/*.{ending}").to_pylist() == [b"b", b"a"]


def test_each_file_is_reported_before_it_is_read(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_text("a.b\n")
    for path, files in ((tmp_path, 3), (f"{tmp_path}/[ab]", 2), (tmp_path / "a", 1)):
        said: list[tuple[int, int]] = []
        read_keys(path, report=lambda *told, said=said: said.append(told))
        assert said == [(number, files) for number in range(files)]


@pytest.mark.parametrize("ending", ["txt", "jsonl", "csv"])
def test_zeros_behind_gzip_are_padding(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"k.{ending}.gz"
    lines = [{"txt": f"{n}\n", "jsonl": f'{{"routing_key": "{n}"}}\n', "csv": f"{n}\n"}[ending] for n in range(100_000)]
    half = "".join(lines[:50_000]).encode()
    members = gzip.compress(b"routing_key\n" * (ending == "csv") + half) + gzip.compress(
        "".join(lines[50_000:]).encode()
    )
    for zeros in (512, 4, 3, 2, 1):
        path.write_bytes(members + bytes(zeros))
        assert read_keys(path).to_pylist() == [str(n).encode() for n in range(100_000)]
    path.write_bytes(members[:-12] + bytes(512))
    with pytest.raises(dr.MessagesError, match=rf"k\.{ending}\.gz: cannot be read: "):
        read_keys(path)
    path.write_bytes(members + bytes(512) + b"x" + bytes(512))
    with pytest.raises(dr.MessagesError, match=rf"k\.{ending}\.gz: cannot be read: "):
        read_keys(path)


@pytest.mark.parametrize("content", [b"\0" * 4096 + b"routing_key\na\n", b"\0" * 4096 + b"\nrouting_key\na\n"])
def test_zeros_in_front_of_the_names_of_columns_are_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "k.csv"
    path.write_bytes(content)
    with pytest.raises(dr.MessagesError, match=r"k\.csv: its first line, .*, begins with zeros, .*: remove them$"):
        read_keys(path)


def through_a_pipe(pipe: Path, content: bytes) -> threading.Thread:
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[content])
    writer.start()
    return writer


def test_a_pipe_has_a_key_per_line(tmp_path: Path) -> None:
    writer = through_a_pipe(tmp_path / "keys", b"\xef\xbb\xbfb\n\r\na\xff\n")
    assert read_keys(tmp_path / "keys").to_pylist() == [b"b", b"", b"a\xff"]
    writer.join()


def test_standard_input_has_a_key_per_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"b\na\n")))
    assert read_keys("-").to_pylist() == [b"b", b"a"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"b\n"))))
    with pytest.raises(dr.MessagesError, match=r"standard input: .*gzip"):
        read_keys("-")
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(dr.MessagesError, match=r"standard input: cannot be read: .*Bad file descriptor"):
        read_keys("-")


@pytest.mark.parametrize("name", ["k.csv", "k.jsonl", "k.parquet", "k.gz"])
def test_a_pipe_of_another_format_is_refused_before_it_is_read(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(dr.MessagesError, match=f"{name}: is a pipe .*: save it to a file"):
        read_keys(tmp_path / name)


@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view(), pa.large_string(), pa.binary()])
def test_keys_of_each_type_of_text_are_counted(tmp_path: Path, kind: pa.DataType) -> None:
    table = pa.table({"routing_key": pa.array(["b", None, "a", "b"]).cast(kind)})
    try:
        pq.write_table(table, tmp_path / "k.parquet")
    except pa.ArrowNotImplementedError:  # before version 21
        pytest.skip(f"this version of Arrow writes no {kind} to Parquet")
    keys = read_keys(tmp_path / "k.parquet")
    assert keys.to_pylist() == [b"b", None, b"a", b"b"]
    assert distinct_count(keys) == 2
    assert dr.compile([("b", "q")]).match_batch(keys).pair_count == 2


@pytest.mark.parametrize("size", [1 << 20, 2_200_000, 5_000_000])
def test_a_line_of_json_may_be_as_long_as_it_likes(tmp_path: Path, size: int) -> None:
    """Arrow reads blocks of a megabyte, and no line that lies over the ends of two."""
    path = tmp_path / "k.jsonl"
    path.write_text(f'{{"routing_key": "a"}}\n{{"routing_key": "b", "body": "{"x" * size}"}}\n{{"routing_key": "c"}}')
    assert read_keys(path).to_pylist() == [b"a", b"b", b"c"]
    with path.open("a") as file:
        file.write('\n{"routing_key": 1}\n')
    with pytest.raises(dr.MessagesError, match=r"k\.jsonl:4: 'routing_key' is 1; write keys as strings"):
        read_keys(path)


@pytest.mark.parametrize("nothing", [b"", b"\n", b'{"routing_key": null}\n'])
@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz"])
def test_some_files_of_json_may_have_no_keys_but_not_all(tmp_path: Path, ending: str, nothing: bytes) -> None:
    pack = gzip.compress if ending.endswith("gz") else bytes
    for name, content in (("1", nothing), ("2", b'{"routing_key": "a"}')):
        (tmp_path / f"{name}.{ending}").write_bytes(pack(content))
    expected = [None, b"a"] if b"null" in nothing else [b"a"]
    assert read_keys(tmp_path).to_pylist() == read_keys(f"{tmp_path}/*.{ending}").to_pylist() == expected
    (tmp_path / f"2.{ending}").unlink()
    for path in (tmp_path, tmp_path / f"1.{ending}", f"{tmp_path}/*.{ending}"):
        if b"null" in nothing:
            with pytest.raises(dr.MessagesError, match="no line has a 'routing_key'"):
                read_keys(path)
        else:
            assert read_keys(path).to_pylist() == []


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_two_columns_of_the_name_are_refused(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"k.{ending}"
    if ending == "csv":
        path.write_text("routing_key,n,routing_key\na,1,b\n")
    else:
        columns = [pa.array(["a"]), pa.array([1]), pa.array(["b"])]
        pq.write_table(pa.Table.from_arrays(columns, ["routing_key", "n", "routing_key"]), path)
    with pytest.raises(dr.MessagesError, match="has 2 columns of the name 'routing_key'; rename all but the one"):
        read_keys(path)
    with pytest.raises(dr.MessagesError, match="has no column 'key'"):
        read_keys(path, "key")


def test_folders_that_say_no_keys(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "mixed").mkdir()
    (tmp_path / "mixed/1.csv").write_text("routing_key\na\n")
    (tmp_path / "mixed/2.jsonl").write_text('{"routing_key": "a"}')
    said = {
        "empty": "there are no files",
        "none-*": "there are no files",
        "mixed": "1.csv and .*2.jsonl are of several",
    }
    for name, text in said.items():
        with pytest.raises(dr.MessagesError, match=text):
            read_keys(tmp_path / name)


def test_keys_of_a_table_are_what_its_log_says(tmp_path: Path) -> None:
    deltalake = pytest.importorskip("deltalake")
    for keys in (["old"], ["a", "b"]):
        deltalake.write_deltalake(
            tmp_path / "log", pa.table({"routing_key": keys, "n": [1] * len(keys)}), mode="overwrite"
        )
    deltalake.write_deltalake(tmp_path / "log", pa.table({"n": [1]}), mode="append", schema_mode="merge")
    assert sorted(map(str, read_keys(tmp_path / "log").to_pylist())) == ["None", "b'a'", "b'b'"]
    assert read_keys(f"{tmp_path}/log@v0").to_pylist() == [b"old"]
    deltalake.write_deltalake(
        tmp_path / "apart", pa.table({"routing_key": ["k", "k"], "n": [1, 2]}), partition_by=["routing_key"]
    )
    assert read_keys(tmp_path / "apart").to_pylist() == [b"k", b"k"]
    with pytest.raises(dr.MessagesError, match="holds int64; name one of text"):
        read_keys(tmp_path / "log", "n")


@pytest.mark.parametrize("name", ["K.TXT.GZ", "K.Csv.Gz", "k.JSONL.GZ"])
def test_compressed_files_are_known_by_their_names_in_any_case(tmp_path: Path, name: str) -> None:
    kind = name.lower().split(".")[1]
    content = {"txt": "a\nb\n", "csv": "routing_key\na\nb\n", "jsonl": '{"routing_key": "a"}\n{"routing_key": "b"}\n'}[
        kind
    ]
    (tmp_path / name).write_bytes(gzip.compress(content.encode()))
    assert read_keys(tmp_path / name).to_pylist() == [b"a", b"b"]


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_a_record_of_csv_may_be_as_long_as_it_likes(tmp_path: Path, ending: str) -> None:
    pack = gzip.compress if ending.endswith("gz") else bytes
    path = tmp_path / f"k.{ending}"
    lines = ["routing_key,body", "a,", f"b,{'x' * 3_000_000}", "c,"]
    path.write_bytes(pack("\n".join(lines).encode()))
    assert read_keys(path).to_pylist() == [b"a", b"b", b"c"]
    path.write_bytes(pack("\n".join([*lines, "d"]).encode()))
    with pytest.raises(dr.MessagesError, match=r"Row #5: Expected 2 columns, got 1: d; correct the file"):
        read_keys(path)


def test_names_of_columns_that_are_no_text_are_told(tmp_path: Path) -> None:
    path = tmp_path / "k.csv"
    path.write_bytes("routing_key,clé\na,1\n".encode("latin-1"))
    with pytest.raises(dr.MessagesError, match=r"k\.csv: its first line, which names columns, is no UTF-8: .*0xe9"):
        read_keys(path)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("k", "a Parquet file: give it the ending .parquet"),
        ("k.arrow", "a file of Arrow IPC: write text, or Parquet"),
        ("k.txt", "compressed with gzip: give it the ending .gz"),
        ("k.csv", "compressed with gzip: give it the ending .gz"),
        ("utf16", "UTF-16, .*: iconv -f UTF-16 -t UTF-8"),
        ("utf16.csv", "UTF-16, .*: iconv -f UTF-16 -t UTF-8"),
        ("utf16.jsonl", "UTF-16, .*: iconv -f UTF-16 -t UTF-8"),
    ],
)
def test_a_file_of_another_format_is_no_list_of_lines(tmp_path: Path, name: str, said: str) -> None:
    table = pa.table({"routing_key": ["a"]})
    path = tmp_path / name
    if name == "k":
        pq.write_table(table, path)
    elif name == "k.arrow":
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    else:
        path.write_bytes("a.b\n".encode("utf-16") if name.startswith("utf16") else gzip.compress(b"a.b\n"))
    with pytest.raises(dr.MessagesError, match=f"{name}: is {said}"):
        read_keys(path)
