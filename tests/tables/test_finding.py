"""Where a table is, and where a path leads into one; what is no table is left to those who read files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dfa_router.errors import MessagesError
from dfa_router.tables import Found, table_at


def made(folder: Path, *files: str) -> Path:
    for name in files:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return folder


def test_plain_logs_are_no_tables(tmp_path: Path) -> None:
    made(tmp_path, "a.parquet", "day=1/b.parquet", "metadata/notes.json", "x@v3/c.parquet")
    for path in (tmp_path, tmp_path / "a.parquet", tmp_path / "day=1", tmp_path / "*.parquet", tmp_path / "missing"):
        assert table_at(str(path)) is None
    assert table_at(str(tmp_path / "x@v3")) is None
    assert table_at(str(tmp_path / "day=1@v3")) is None


def test_a_table_whose_name_looks_like_a_version_is_found_by_its_name(tmp_path: Path) -> None:
    made(tmp_path, "x@v3/_delta_log/0.json", "x/_delta_log/0.json")
    assert table_at(f"{tmp_path}/x@v3") == Found(format="delta", root=f"{tmp_path}/x@v3")
    assert table_at(f"{tmp_path}/x@v4") == Found(format="delta", root=f"{tmp_path}/x", version=4)


@pytest.mark.parametrize("inside", ["day=1", "day=1/hour=2", "*.parquet", "day=*/x.parquet", "_delta_log"])
def test_a_folder_or_pattern_inside_of_a_table_is_refused(
    tmp_path: Path, inside: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path, "_delta_log/0.json", "day=1/hour=2/a.parquet")
    told = "lies in the Delta table .*, and files there may have been replaced: give the folder of the table"
    with pytest.raises(MessagesError, match=told):
        table_at(f"{tmp_path}/{inside}")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MessagesError, match=told):
        table_at(inside)


def test_a_single_file_of_a_table_may_be_named(tmp_path: Path) -> None:
    made(tmp_path, "_delta_log/0.json", "day=1/a.parquet")
    assert table_at(f"{tmp_path}/day=1/a.parquet") is None


def test_a_log_may_lie_below_folders_that_nobody_may_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As ``/home`` often is; that a name is there can be seen all the same."""
    made(
        tmp_path, "closed/metadata/x", "closed/logs/a.parquet", "closed/table/_delta_log/0.json", "closed/table/day=1/a"
    )
    listed = os.listdir

    def refusing(folder: str) -> list[str]:
        if folder in (f"{tmp_path}/closed", f"{tmp_path}/closed/metadata"):
            raise PermissionError(13, "Permission denied", folder)
        return listed(folder)

    monkeypatch.setattr(os, "listdir", refusing)
    assert table_at(f"{tmp_path}/closed/logs/a.parquet") is None
    assert table_at(f"{tmp_path}/closed/logs") is None
    assert table_at(f"{tmp_path}/closed/table") == Found(format="delta", root=f"{tmp_path}/closed/table")
    with pytest.raises(MessagesError, match="lies in the Delta table"):
        table_at(f"{tmp_path}/closed/table/day=1")


def test_hudi_is_refused_with_what_to_do_instead(tmp_path: Path) -> None:
    made(tmp_path, ".hoodie/hoodie.properties", "a.parquet")
    with pytest.raises(MessagesError, match="is a Hudi table, which is not read: read it in Spark"):
        table_at(str(tmp_path))


def test_of_several_newest_versions_of_an_iceberg_table_one_is_to_be_named(tmp_path: Path) -> None:
    made(tmp_path, *(f"metadata/{name}.metadata.json" for name in ("00009-a", "00010-b", "00010-c")))
    with pytest.raises(MessagesError, match=r"several newest versions .00010-b.metadata.json, 00010-c.metadata.json."):
        table_at(str(tmp_path))
    named = f"{tmp_path}/metadata/00010-c.metadata.json"
    assert table_at(named) == Found(format="iceberg", root=str(tmp_path), metadata=named)


@pytest.mark.parametrize("name", ["v10.metadata.json", "00010-ab.metadata.json", "v10.gz.metadata.json"])
def test_the_newest_version_is_that_of_the_highest_number(tmp_path: Path, name: str) -> None:
    made(tmp_path, "metadata/v9.metadata.json", f"metadata/{name}", "metadata/version-hint.text")
    found = table_at(str(tmp_path))
    assert found is not None
    assert found.metadata == f"{tmp_path}/metadata/{name}"


def test_remote_folders_are_asked_for_few_names() -> None:
    asked = []

    def names(folder: str, pattern: str) -> list[str]:
        asked.append((folder, pattern))
        return ["_delta_log"] if (folder, pattern) == ("s3://bucket/table", "_delta_log") else []

    assert table_at("s3://bucket/table@v2", names) == Found(format="delta", root="s3://bucket/table", version=2)
    with pytest.raises(MessagesError, match="lies in the Delta table s3://bucket/table"):
        table_at("s3://bucket/table/day=*", names)
    assert all(folder.startswith("s3://bucket") for folder, _ in asked)


@pytest.mark.parametrize(("kind", "library"), [("delta", "deltalake"), ("iceberg", "pyiceberg")])
def test_without_its_library_a_table_says_what_to_install(kind: str, library: str) -> None:
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "from dfa_router.tables import Found, read_table\n"
        f"read_table(Found(format={kind!r}, root='logs', metadata='m'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"EnvironmentLacksError: logs: is a{'n' * (kind == 'iceberg')} {kind.capitalize()} table" in done.stderr
    assert f"the package {library} reads: install dfa-router[{kind}]" in done.stderr
