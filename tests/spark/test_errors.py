"""What is told of a job that failed: what happened and to which file, without the names of classes that users never see."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import dfa_router as dr

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (dr.OptionError("no such target\nwrite another"), "no such target\nwrite another"),
        (FileNotFoundError("/log: is gone"), "/log: is gone"),
        (pa.ArrowInvalid("no codec"), "no codec"),
        (RuntimeError(""), "RuntimeError"),
        (KeyError(3), "KeyError: 3"),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("written", [False, True], ids=["collected", "written"])
def test_an_exception_of_a_worker_is_told_by_its_text(
    spark: SparkSession, tmp_path: Path, error: Exception, told: str, written: bool
) -> None:
    from dfa_router.spark.errors import SPARK_ERRORS, cause

    def fails(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches
        raise error

    rows = spark.range(3).mapInArrow(fails, "id long")
    with pytest.raises(SPARK_ERRORS) as failed:
        rows.write.parquet(str(tmp_path / "out")) if written else rows.collect()
    assert cause(failed.value) == told


def test_a_file_that_spark_cannot_read_is_told_with_what_is_wrong_with_it(spark: SparkSession, tmp_path: Path) -> None:
    from dfa_router.spark.errors import SPARK_ERRORS, cause

    path = tmp_path / "cut.txt.gz"
    path.write_bytes(gzip.compress(bytes(range(256)) * 9)[:-12])
    with pytest.raises(SPARK_ERRORS) as failed:
        spark.read.text(str(path)).collect()
    assert cause(failed.value).endswith("/cut.txt.gz: Unexpected end of input stream")
