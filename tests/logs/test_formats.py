"""What a path says of the log that lies there, and what it says where nothing can be read."""

from __future__ import annotations

import contextlib
import gzip
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dfa_router.errors import MessagesError
from dfa_router.logs.formats import format_of
from dfa_router.logs.scanning import plan_log

NOBODY = 65534


@contextmanager
def as_nobody() -> Iterator[None]:
    """Have no rights but everybody's within: root may read everything."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if user == 0:
            os.seteuid(user)


@pytest.fixture
def closed() -> Iterator[Path]:
    """Return a folder with a log that nobody may enter, in a folder that everybody may."""
    with tempfile.TemporaryDirectory() as outer:
        Path(outer).chmod(0o755)
        folder = Path(outer, "logs", "closed")
        folder.mkdir(parents=True)
        (folder / "log.csv").write_text("exchange,routing_key\nx,a\n")
        folder.chmod(0)
        yield folder
        folder.chmod(0o700)


def test_what_may_not_be_looked_at_is_told(closed: Path) -> None:
    for path in (closed / "log.csv", closed, closed.parent):
        with as_nobody(), pytest.raises(MessagesError, match=r"closed.*: cannot be read: Permission denied"):
            format_of(str(path))
        with as_nobody(), pytest.raises(MessagesError, match=r"closed.*: cannot be read: Permission denied"):
            format_of(str(path), "csv")
    with as_nobody(), pytest.raises(MessagesError, match=r"closed.*: cannot be read as csv: .*Permission denied"):
        plan_log(str(closed / "*.csv"), "csv")


@pytest.mark.parametrize("kind", [None, "csv", "trace"])
def test_what_cannot_be_read_twice_is_no_log(tmp_path: Path, kind: str | None) -> None:
    os.mkfifo(tmp_path / "log.csv")
    for path in (str(tmp_path / "log.csv"), "/dev/null", "-"):
        with pytest.raises(MessagesError, match=r"cannot be read twice, as a log is: save the messages to a file"):
            format_of(path, kind)


def test_a_folder_without_files_is_told_whatever_the_format(tmp_path: Path) -> None:
    (tmp_path / "_delta").mkdir()
    (tmp_path / "_SUCCESS").touch()
    for given in (None, "csv"):
        with pytest.raises(MessagesError, match="there are no files in this folder"):
            format_of(str(tmp_path), given)
    (tmp_path / "elsewhere").symlink_to(Path(__file__).parent)
    assert format_of(str(tmp_path), "csv") == "csv"
    with pytest.raises(MessagesError, match="no ending that tells its format"):
        format_of(str(tmp_path))


@pytest.mark.parametrize("given", [None, "csv"])
def test_a_pattern_that_names_no_file_is_told_before_anybody_starts_spark(tmp_path: Path, given: str | None) -> None:
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=1" / "_log.csv").touch()
    for pattern in ("*.csv", "day=*/*.csv", "day=[2-9]/*.csv", "none/*.csv", "{a,b}.csv"):
        with pytest.raises(MessagesError, match="there are no files whose names match this pattern; name a log"):
            format_of(str(tmp_path / pattern), given)
    (tmp_path / "day=1" / "log.csv").touch()
    for pattern in ("day=*/*.csv", "day=[1-9]/{log,b}.csv", r"day=\1/*.csv"):
        assert format_of(str(tmp_path / pattern), given) == "csv"


def test_the_files_that_a_pattern_names_tell_the_format_where_its_ending_does_not(tmp_path: Path) -> None:
    for name in ("day=1/hour=2/log.csv.gz", "day=2/log [1].csv", "day=3/log.jsonl", "day=4/_log.csv", "week.csv/part"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for pattern in ("day=[12]", "day={1,2}", "day=[1-2]/*", "*.csv"):
        assert format_of(str(tmp_path / pattern)) == "csv"
    for pattern, said in (
        ("day=[1-3]", r"several formats \(csv, jsonl\).* Say which with --format"),
        ("day=[4-9]", "there are no files whose names match this pattern"),
        ("week*/*", "no ending that tells its format"),
    ):
        with pytest.raises(MessagesError, match=said):
            format_of(str(tmp_path / pattern))


def test_nobody_is_sent_to_a_command_that_cannot_read_it_either(tmp_path: Path, closed: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("exchange,routing_key\nx,a\n")
    damaged = tmp_path / "log.parquet"
    damaged.write_bytes(b"PAR1 and no more")
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(b'{"exchange": "x", "routing_key": "a"}\n' * 1_000)[:-8])
    empty = tmp_path / "empty"
    empty.write_bytes(b"\n")
    closed.chmod(0o755)
    (closed / "log.csv").chmod(0)
    for path, kind, said in (
        (damaged, "parquet", "Parquet magic bytes not found"),
        (log, "parquet", "cannot be read as parquet"),
        (tmp_path / "*.jsonl", "jsonl", "there are no files"),
        (closed / "log.csv", "csv", "Permission denied"),
        (cut, "jsonl", "Truncated compressed stream"),
        (empty, "csv", "no file has a line that names columns"),
        (empty, "jsonl", "no line is a JSON object"),
    ):
        rights = as_nobody() if path.is_relative_to(closed) else contextlib.nullcontext()
        with rights, pytest.raises(MessagesError, match=said) as refused:
            plan_log(str(path), kind)
        assert "route it first" not in str(refused.value)
