"""The routing job of logs that Spark reads and writes: JSON lines, CSV, and whatever Arrow does not read as Spark does.

Each row crosses from Java to Python and back, and the result is read once more to be counted.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, StringType, StructField, StructType

from dfa_router.errors import MessagesError
from dfa_router.logs.counting import COUNTS, Totals
from dfa_router.logs.marks import NO_FIELDS, NO_JSON, NO_RECORD, READ_PROBLEM
from dfa_router.rabbitmq.topology import Topology
from dfa_router.spark.logs import MessageLog, writable
from dfa_router.spark.route import route
from dfa_router.spark.shapes import ONE_OF, output, spelt_keys

__all__ = ["count_result", "routed_log", "write_result"]


def routed_log(log: MessageLog, topology: Topology, engine: str, cache_bytes: int, vhost: str) -> DataFrame:
    """Route a log, and merge what was wrong with its lines into ``problem``; raises :class:`MessagesError`."""
    marked = READ_PROBLEM in log.messages.columns
    if not marked:
        return route(log.messages, topology, engine=engine, cache_bytes=cache_bytes, vhost=vhost)
    try:
        routed = route(log.messages, topology, engine=engine, cache_bytes=cache_bytes, vhost=vhost)
    except MessagesError as error:  # its list of columns should be that of the log
        raise MessagesError(str(error).replace(f", {READ_PROBLEM} string", "")) from None
    read, found = sf.col(f"`{READ_PROBLEM}`"), sf.col("problem")
    # Such a line has no columns: their absence is not worth a word.
    unread = sf.coalesce(read.isin(NO_JSON, NO_FIELDS) | read.startswith(NO_RECORD), sf.lit(False))
    both = sf.when(unread, read).otherwise(sf.nullif(sf.concat_ws("; ", read, found), sf.lit("")))
    return routed.withColumn("problem", both).drop(READ_PROBLEM)


def write_result(routed: DataFrame, target: str, kind: str, *, overwrite: bool) -> None:
    """Write a result; raises :class:`MessagesError` where there is one already."""
    rows = writable(routed, kind)
    writer = rows.write.mode("overwrite" if overwrite else "error")
    try:
        if kind == "parquet":
            writer.parquet(target)
        elif kind == "jsonl":
            writer.json(target, ignoreNullFields=False)
        else:
            # Spark would trim blanks from values otherwise.
            writer.csv(target, header=True, escape='"', ignoreLeadingWhiteSpace=False, ignoreTrailingWhiteSpace=False)
    except AnalysisException as error:
        if "PATH_ALREADY_EXISTS" not in str(error):  # what asks for the condition has another name in each version
            raise
        raise MessagesError(f"{target}: exists already; choose another --out, or pass --overwrite") from None


def count_result(
    session: SparkSession, target: str, kind: str, *, names: Sequence[str], vhost: str, top: int, chooses: bool
) -> tuple[Totals, pa.Table]:
    """Read a result, with columns of these names, once more and count it.

    Of keys that nobody gets, the ``top`` most frequent are counted, or all for 0. ``chooses`` is :attr:`Topology.chooses`; exchanges
    that choose count as not simulated.
    """
    spelt = spelt_keys(names)
    rows = _read_back(session, target, kind, list(spelt.values()), chooses).withColumnsRenamed(
        {name: key for key, name in spelt.items()}
    )
    if chooses:
        rows = rows.withColumn("not_simulated", sf.concat("not_simulated", sf.col(f"{ONE_OF.name}.exchange")))
    return _counted(rows if "vhost" in spelt else rows.withColumn("vhost", sf.lit(vhost)), top)


def _read_back(session: SparkSession, target: str, kind: str, names: Sequence[str], chooses: bool) -> DataFrame:
    fields = output(chooses)
    keys = [StructField(name, StringType()) for name in names]
    if kind == "parquet":
        return session.read.parquet(target).withColumn("routing_key", sf.col("routing_key").cast(StringType()))
    if kind == "jsonl":
        return session.read.schema(StructType([*keys, *fields])).json(target)
    rows = session.read.csv(target, header=True, escape='"', multiLine=True)
    lists = {
        field.name: sf.from_json(field.name, field.dataType.simpleString())
        for field in fields
        if isinstance(field.dataType, ArrayType)
    }
    texts = {name: sf.coalesce(name, sf.lit("")) for name in ("exchange", "routing_key")}  # CSV has no null
    return rows.withColumns({**lists, **texts, "routed": sf.col("routed").cast("boolean")})


def _counted(rows: DataFrame, top: int) -> tuple[Totals, pa.Table]:
    """Count in one pass: each row is taken apart into (facet, vhost, name, detail), and these are counted."""

    def facet(facet_name: str, name: Column, detail: Column | None = None, vhost: Column | None = None) -> Column:
        return sf.struct(
            sf.lit(facet_name).alias("facet"),
            (vhost if vhost is not None else sf.lit(None)).cast(StringType()).alias("vhost"),
            name.cast(StringType()).alias("name"),
            (detail if detail is not None else sf.lit(None)).cast(StringType()).alias("detail"),
        )

    place = sf.col("vhost")
    nobody = ~sf.col("routed") & (sf.size("not_simulated") == 0)
    fate = sf.when(sf.col("routed"), "routed").when(nobody, "unroutable").otherwise("undecided")
    # Rows that have no key are listed among the problems.
    problem = sf.coalesce("problem", sf.lit(""))
    keyless = problem.contains("is null")
    for text in (NO_JSON, NO_FIELDS, NO_RECORD):
        keyless |= problem.startswith(text)
    facets = sf.concat(
        sf.array(
            facet("fate", fate), facet("problem", sf.col("problem")), facet("exchange", sf.col("exchange"), None, place)
        ),
        sf.transform("queues", lambda queue: facet("queue", queue, None, place)),
        sf.transform("not_simulated", lambda exchange: facet("not_simulated", exchange, None, place)),
        sf.array(sf.when(nobody & ~keyless, facet("unroutable", sf.col("exchange"), sf.col("routing_key"), place))),
    )
    keys = ("f.facet", "f.vhost", "f.name", "f.detail")
    counted = rows.select(sf.explode(facets).alias("f")).where("f is not null").groupBy(*keys)
    # There may be millions of keys. With the limit on the rank, Spark keeps only the first ones of each partition.
    most = Window.partitionBy("facet").orderBy(sf.desc("count"), "name", "detail")
    ranked = counted.count().withColumn("rank", sf.row_number().over(most))
    shown = ranked.where((sf.col("facet") != "unroutable") | (sf.col("rank") <= top)) if top else ranked
    fates: dict[str, int] = {}
    counts: list[tuple[str, str | None, str, bytes | None, int]] = []
    for kind, vhost, name, detail, count, _ in shown.collect():
        if kind == "fate":
            fates[name] = count
        elif name is not None:
            counts.append((kind, vhost, name, None if detail is None else detail.encode(errors="replace"), count))
    columns = [list(column) for column in zip(*counts, strict=True)] or [[]] * len(COUNTS)
    totals = Totals(
        messages=sum(fates.values()),
        routed=fates.get("routed", 0),
        unroutable=fates.get("unroutable", 0),
        undecided=fates.get("undecided", 0),
        problem_rows=sum(row[-1] for row in counts if row[0] == "problem"),
        copies=sum(row[-1] for row in counts if row[0] == "queue"),
    )
    return totals, pa.table(columns, schema=COUNTS)
