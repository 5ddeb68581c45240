"""DataFrames of Arrow tables, on all versions of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def from_arrow(spark: SparkSession, table: pa.Table) -> DataFrame:
    """Return a DataFrame of a table, which Spark takes as it is from 4.0 on."""
    if int(spark.version.split(".")[0]) >= 4:
        return spark.createDataFrame(table)
    from pyspark.sql.pandas.types import from_arrow_schema

    return spark.createDataFrame([tuple(row.values()) for row in table.to_pylist()], from_arrow_schema(table.schema))
