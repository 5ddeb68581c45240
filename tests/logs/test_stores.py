"""Names of logs: which files a path, a folder or a pattern means."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dfa_router.errors import MessagesError
from dfa_router.logs.listing import files_of
from dfa_router.logs.partitions import partition_types
from dfa_router.logs.stores import found, is_pattern, place_of


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.parquet", ["a.parquet", "b 1.parquet"]),
        ("?.parquet", ["a.parquet"]),
        ("{a,b*}.parquet", ["a.parquet", "b 1.parquet"]),
        ("[!a]*.parquet", ["b 1.parquet"]),
        ("day=[12]/*", ["day=1/c.parquet", "day=2/d.pq"]),
        ("day=*", ["day=1/c.parquet", "day=2/d.pq", "day=30/e.parquet"]),
        ("{day=1,day=30}/*.parquet", ["day=1/c.parquet", "day=30/e.parquet"]),
        ("*/c.parquet", ["day=1/c.parquet"]),
        ("nothing*", []),
    ],
)
def test_patterns_mean_what_they_mean_to_spark(tmp_path: Path, pattern: str, expected: list[str]) -> None:
    for name in ["a.parquet", "b 1.parquet", "day=1/c.parquet", "day=2/d.pq", "day=30/e.parquet", "_x.parquet", ".y"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    path = str(tmp_path / pattern)
    assert is_pattern(path)
    place = place_of(path)
    assert place is not None
    files = [Path(file.path).relative_to(tmp_path).as_posix() for file in found(place, pattern=True)]
    assert files == expected


@pytest.mark.parametrize(
    ("name", "brackets"), [("a[].csv", "[]"), ("[z-a]", "[z-a]"), ("[!]*", "[!]"), ("[a][^]", "[^]")]
)
def test_brackets_without_characters_are_no_pattern(tmp_path: Path, name: str, brackets: str) -> None:
    place = place_of(str(tmp_path / name))
    assert place is not None
    (tmp_path / "a").touch()
    with pytest.raises(MessagesError, match=re.escape(f"{brackets} names no character")):
        files_of(place, pattern=True)


def test_signs_of_regular_expressions_are_characters_between_brackets(tmp_path: Path) -> None:
    for name in ("&.csv", "[.csv", "\\.csv", "~.csv", "a.csv"):
        (tmp_path / name).touch()
    place = place_of(str(tmp_path / r"[&&[\~~].csv"))
    assert place is not None
    assert [Path(file.path).name for file in files_of(place, pattern=True)] == ["&.csv", "[.csv", "\\.csv", "~.csv"]


def test_a_name_that_looks_like_a_pattern_is_a_name_where_it_exists(tmp_path: Path) -> None:
    log = tmp_path / "log [1].parquet"
    log.touch()
    assert not is_pattern(str(log))
    assert not is_pattern("s3://bucket/log?region=eu")
    assert is_pattern("s3://bucket/log*?region=eu")


@pytest.mark.parametrize(
    ("texts", "kind", "values"),
    [
        (["1", "-2", None], "int32", [1, -2, None]),
        (["1", "3000000000"], "int64", [1, 3000000000]),
        (["1", "2.5"], "double", [1.0, 2.5]),
        (["2025-01-31"], "date32[day]", ["2025-01-31"]),
        (["2147483647", "-2147483648"], "int32", [2147483647, -2147483648]),
        (["2147483648"], "int64", [2147483648]),
        (["2025-02-31"], "string", ["2025-02-31"]),
        (["a", "1", "2025-01-31"], "string", ["a", "1", "2025-01-31"]),
        ([None], "string", [None]),
    ],
)
def test_values_of_folders_have_the_type_that_all_of_them_fit(
    texts: list[str | None], kind: str, values: list[object]
) -> None:
    found_kind, by_text = partition_types([(("c", text),) for text in texts])["c"]
    assert str(found_kind) == kind
    assert [str(by_text[text]) for text in texts] == [str(value) for value in values]
