"""Where results and counts may be written: nothing that is read is written over, whatever it is called."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dfa_router.errors import MessagesError
from dfa_router.logs.counts_file import counts_file
from dfa_router.logs.outputs import check_output

AMONG = "lies in, or holds, the messages"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with logs, and links to them: the working folder."""
    for folder in ("logs/day1", "logs/day2", "v1", "sub", "mixed", "free"):
        (tmp_path / folder).mkdir(parents=True)
    for file in ("logs/day1/log.parquet", "logs/day2/log.parquet", "v1/log.parquet"):
        pq.write_table(pa.table({"exchange": ["x"], "routing_key": ["a"]}), tmp_path / file)
    (tmp_path / "current").symlink_to("v1")
    (tmp_path / "mixed" / "day").symlink_to("../logs/day1")
    (tmp_path / "mixed" / "log.parquet").symlink_to("../v1/log.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("messages", "out"),
    [
        ("logs", "logs"),
        ("logs", "logs/inside"),
        ("logs", "."),
        ("logs", "sub/../logs"),
        ("file://{home}/logs", "logs"),
        ("logs", "file://{home}/logs/out"),
        ("current", "v1"),
        ("current/log.parquet", "v1"),
        ("v1", "current/out"),
        ("mixed", "logs/day1"),
        ("mixed", "logs"),
        ("mixed", "v1"),
        ("logs/day*", "logs/day1"),
        ("logs/day*", "logs/day1/out"),
        ("logs/day*", "logs/day3"),
        ("logs/day*", "logs"),
        ("sub/../logs/day*", "logs/day3"),
        ("curren?", "v1"),
        ("*/log.parquet", "v1"),
        ("s3://b/log", "s3://b/log"),
        ("s3://key:secret@b/log?region=eu", "s3a://b/log/"),
        ("s3://b/log", "s3://b/log/routed"),
        ("s3://b/log/day=1", "s3://b/log"),
        ("s3://b/log/day=*", "s3://b/log/day=1"),
        ("s3://b/log/day=*", "s3://b/log"),
    ],
)
def test_no_result_is_written_over_the_messages(home: Path, messages: str, out: str) -> None:
    with pytest.raises(MessagesError, match=AMONG):
        check_output(messages.format(home=home), out.format(home=home), overwrite=True)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("messages", "out"),
    [
        ("logs/day1", "logs/day2"),
        ("logs/day1", "logs/day10"),
        ("logs/*.parquet", "logs/out"),
        ("logs/day?/log.parquet", "logs/out"),
        ("logs/*", "logs/_out"),
        ("current", "v2"),
        ("mixed", "free"),
        ("mixed", "logs/day2"),
        ("nothing", "out"),
        ("logs", "s3://b/logs"),
        ("s3://b/logs", "logs"),
        ("s3://b/log", "s3://b/log2"),
        ("s3://b/log", "s3://c/log"),
        ("s3://b/log", "gs://b/log"),
        ("s3://b/log/day=*", "s3://b/log/out"),
        ("abfs://one@account/log", "abfs://two@account/log"),
    ],
)
def test_a_result_is_written_beside_the_messages(messages: str, out: str) -> None:
    check_output(messages, out, overwrite=True)


def test_a_result_that_is_there_is_replaced_where_that_is_asked_for_alone(home: Path) -> None:
    with pytest.raises(MessagesError, match=r"exists already; .* pass --overwrite"):
        check_output("logs", "free", overwrite=False)
    for out, counts in [("n" * 300, None), ("out", "n" * 300)]:
        with pytest.raises(MessagesError, match=r"(?i)name too long; choose another name"):
            check_output("logs", out, overwrite=False, counts=counts)
    (home / "file").touch()
    with pytest.raises(MessagesError, match="is a file, and the result is a folder"):
        check_output("logs", "file", overwrite=True)


@pytest.mark.parametrize(
    ("out", "counts", "told"),
    [
        ("file/out", None, "file/out: .*/file is no folder"),
        ("file/sub/out", None, "file/sub/out: .*Not a directory"),
        ("n" * 230, None, "(?i)name too long"),  # for the draft's name alone
        ("out", "n" * 230, "(?i)name too long"),
        ("/proc/out", None, "/proc/out: "),
        ("new/folders/out", None, None),
    ],
)
def test_a_result_that_cannot_be_made_is_told_before_anything_is_read(
    home: Path, out: str, counts: str | None, told: str | None
) -> None:
    (home / "file").touch()
    before = sorted(home.rglob("*"))
    if told is None:
        check_output("logs", out, overwrite=False, counts=counts)
    else:
        with pytest.raises(MessagesError, match=rf"{told}.*; choose another place, or another name"):
            check_output("logs", out, overwrite=False, counts=counts)
    assert sorted(home.rglob("*")) == before


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("messages", "counts", "said"),
    [
        ("logs", "no/counts", "there is no folder"),
        ("logs", "free", "is a folder"),
        ("logs", "out/counts", "lies in the result"),
        ("logs", "s3://bucket/counts", "local file only"),
        ("logs/day1/log.parquet", "logs/day1/log.parquet", AMONG),
        ("logs/day1/log.parquet", "mixed/day/log.parquet", AMONG),
        ("logs/day?/*.parquet", "logs/day2/counts.parquet", AMONG),
        ("logs", "logs/counts.parquet", AMONG),
        ("mixed", "v1/log.parquet", AMONG),
        ("logs", "v1/log.parquet", "no file of counts"),
        ("logs", "defs.json", "no file of counts"),
        ("logs", "/dev/null", "no file of counts"),
    ],
)
def test_counts_are_written_over_nothing_else(home: Path, messages: str, counts: str, said: str) -> None:
    (home / "out").mkdir()
    (home / "defs.json").write_text("{}")
    with pytest.raises(MessagesError, match=said):
        check_output(messages, "out", overwrite=True, counts=counts)


def test_counts_are_written_over_earlier_ones_and_empty_files(home: Path) -> None:
    (home / "empty").touch()
    with counts_file("earlier"):
        pass
    for counts in ("earlier", "empty", "new", "logs/day1/counts"):
        check_output("logs/day1/log.parquet", "out", overwrite=False, counts=counts)


@pytest.mark.parametrize("out", [".", "..", "file://{home}", "/"])
def test_the_working_folder_is_not_replaced(home: Path, monkeypatch: pytest.MonkeyPatch, out: str) -> None:
    """With all that is in it, of which nothing needs to be a result."""
    work = home / "free"
    monkeypatch.chdir(work)
    (work / "kept").touch()
    with pytest.raises(MessagesError, match="is the working folder, or holds it"):
        check_output("s3://b/log", out.format(home=work), overwrite=True)
    (work / "routed").mkdir()
    check_output("s3://b/log", "routed", overwrite=True)
