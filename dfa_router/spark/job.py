"""The routing job of the command line: a log in, a routed log and its summary out.

A local result is a draft (:mod:`dfa_router.spark.drafts`) until it is complete and holds as many rows as the input. So a
failed or interrupted job leaves nothing of its own behind, and an old result stays as it was. The draft is removed only
when the job's last task has ended, as a task that still writes would create it again. On remote file systems there is no
draft: that nothing half-written stays is left to Spark's own committer.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf
from pyspark.sql.types import StringType, StructField, StructType

from dfa_router.build import DEFAULT_CACHE_BYTES
from dfa_router.errors import JobError, MessagesError
from dfa_router.rabbitmq.topology import Topology
from dfa_router.spark.cancel import cancellable
from dfa_router.spark.csv_logs import NO_FIELDS
from dfa_router.spark.drafts import staged
from dfa_router.spark.errors import SPARK_ERRORS, cause
from dfa_router.spark.json_logs import NO_JSON
from dfa_router.spark.log_lines import READ_PROBLEM
from dfa_router.spark.logs import MessageLog, is_remote, read_messages, writable
from dfa_router.spark.progress import Report, watched
from dfa_router.spark.route import OUTPUT, route

__all__ = ["Summary", "check_output", "route_log"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a routing job did."""

    out: str
    messages: int
    routed: int
    """Messages that at least one queue gets."""
    unroutable: int
    """Messages that nobody gets: no queue, and no exchange on the way that is not simulated."""
    undecided: int
    """Messages without a queue so far that reach an exchange that is not simulated."""
    problems: dict[str, int]
    """The most frequent texts of ``problem``, with their numbers of messages."""
    problem_rows: int
    """Messages with a problem."""
    not_simulated: dict[str, int]
    """Exchanges that are not simulated, with the number of messages that reach them."""
    copies: int
    """Copies in all queues together."""
    copies_per_queue: dict[str, int]
    """The queues with most copies; if there are several vhosts, those outside of "/" are named ``queue (vhost)``."""
    other_queues: int
    """How many more queues get messages."""
    other_copies: int
    """Copies in these other queues together."""
    unroutable_keys: list[tuple[str | None, str | None, int]]
    """The most frequent (exchange, routing key) that nobody gets, with their numbers of messages."""
    seconds: float
    """Time of the job that reads, routes and writes."""

    @property
    def messages_per_second(self) -> float:
        """Throughput of the routing job, reading and writing included."""
        return self.messages / self.seconds if self.seconds else 0.0


def check_output(messages: str, out: str, *, overwrite: bool) -> None:
    """Raise :class:`MessagesError` where the result must not be written; looks at local paths only."""
    if is_remote(out):
        return
    target = Path(out).absolute()
    if not is_remote(messages):
        source = Path(messages).absolute()
        if target == source or target in source.parents or source in target.parents:
            raise MessagesError(
                f"{out}: lies in, or holds, the messages in {messages}; choose another folder with --out"
            )
    if target.exists() and not overwrite:
        raise MessagesError(
            f"{out}: exists already; choose another folder with --out, or pass --overwrite to replace it"
        )
    if target.exists() and not target.is_dir():
        raise MessagesError(f"{out}: is a file, and the result is a folder; choose another name with --out")


def route_log(
    session: SparkSession,
    topology: Topology,
    messages: str,
    out: str,
    *,
    kind: str,
    out_kind: str,
    engine: str = "dfa",
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    vhost: str = "/",
    overwrite: bool = False,
    top: int = 10,
    report: Report | None = None,
) -> Summary:
    """Route the log at ``messages`` and write the result to the folder ``out``; formats are those of ``logs.FORMATS``.

    ``top`` bounds the lists of the summary; 0 means all. Raises :class:`MessagesError` for a log that cannot be read or
    an output that exists, and :class:`JobError` where the job fails, the result has not as many rows as the input, or
    something appeared at ``out`` meanwhile; then the text names the folder in which the result is. It can be interrupted (Ctrl-C): its Spark jobs are cancelled and what they wrote is removed, which may take seconds.
    """
    check_output(messages, out, overwrite=overwrite)

    def read() -> tuple[MessageLog, DataFrame]:
        with watched(session, "reading", report):
            log = read_messages(session, messages, kind)
        return log, _routed(log, topology, engine, cache_bytes, vhost)

    log, routed = cancellable(session, read)

    def write(target: str) -> Summary:
        started = time.monotonic()
        with watched(session, "routing", report), _failing():
            try:
                _write(writable(routed, out_kind), target, out_kind, overwrite=overwrite)
            except AnalysisException as error:
                if error.getCondition() != "PATH_ALREADY_EXISTS":
                    raise
                raise MessagesError(f"{out}: exists already; choose another --out, or pass --overwrite") from None
        seconds = time.monotonic() - started
        with watched(session, "counting", report), _failing():
            result = _read_back(session, target, out_kind, with_vhost="vhost" in routed.columns)
            summary = _summarised(result, out, seconds, top, several_vhosts=len(topology.vhosts) > 1)
        if summary.messages != log.rows:
            raise JobError(
                f"{out}: {summary.messages} rows were written, but {messages} holds {log.rows}; nothing was kept. "
                "If the log is still being written to, route a copy of it"
            )
        return summary

    with nullcontext(out) if is_remote(out) else staged(out, overwrite=overwrite) as target:
        return cancellable(session, lambda: write(target))


def _routed(log: MessageLog, topology: Topology, engine: str, cache_bytes: int, vhost: str) -> DataFrame:
    marked = READ_PROBLEM in log.messages.columns
    if not marked:
        return route(log.messages, topology, engine=engine, cache_bytes=cache_bytes, vhost=vhost)
    try:
        routed = route(log.messages, topology, engine=engine, cache_bytes=cache_bytes, vhost=vhost)
    except MessagesError as error:  # its list of columns should be that of the log
        raise MessagesError(str(error).replace(f", {READ_PROBLEM} string", "")) from None
    read, found = sf.col(f"`{READ_PROBLEM}`"), sf.col("problem")
    # Such a line has no columns: their absence is not worth a word.
    unread = sf.coalesce(read.isin(NO_JSON, NO_FIELDS), sf.lit(False))
    both = sf.when(unread, read).otherwise(sf.nullif(sf.concat_ws("; ", read, found), sf.lit("")))
    return routed.withColumn("problem", both).drop(READ_PROBLEM)


def _write(routed: DataFrame, target: str, kind: str, *, overwrite: bool) -> None:
    writer = routed.write.mode("overwrite" if overwrite else "error")
    if kind == "parquet":
        writer.parquet(target)
    elif kind == "jsonl":
        writer.json(target, ignoreNullFields=False)
    else:
        # Spark would trim blanks from values otherwise.
        writer.csv(target, header=True, escape='"', ignoreLeadingWhiteSpace=False, ignoreTrailingWhiteSpace=False)


def _read_back(session: SparkSession, target: str, kind: str, *, with_vhost: bool) -> DataFrame:
    names = ["exchange", "routing_key"] + ["vhost"] * with_vhost
    keys = [StructField(name, StringType()) for name in names]
    if kind == "parquet":
        return session.read.parquet(target).withColumn("routing_key", sf.col("routing_key").cast(StringType()))
    if kind == "jsonl":
        return session.read.schema(StructType([*keys, *OUTPUT])).json(target)
    rows = session.read.csv(target, header=True, escape='"', multiLine=True)
    lists = {name: sf.from_json(name, OUTPUT[name].dataType.simpleString()) for name in ("queues", "not_simulated")}
    texts = {name: sf.coalesce(name, sf.lit("")) for name in ("exchange", "routing_key")}  # CSV has no null
    return rows.withColumns({**lists, **texts, "routed": sf.col("routed").cast("boolean")})


def _summarised(rows: DataFrame, out: str, seconds: float, top: int, *, several_vhosts: bool) -> Summary:
    """Count the result in one pass: each row is taken apart into (facet, name, detail), and these are counted."""

    def facet(facet_name: str, name: Column, detail: Column | None = None) -> Column:
        return sf.struct(
            sf.lit(facet_name).alias("facet"),
            name.cast(StringType()).alias("name"),
            (detail if detail is not None else sf.lit(None)).cast(StringType()).alias("detail"),
        )

    def named(name: Column) -> Column:
        """Return the name of a queue or an exchange, told apart from those of other vhosts."""
        if not several_vhosts or "vhost" not in rows.columns:
            return name
        return sf.when(sf.coalesce("vhost", sf.lit("/")) == "/", name).otherwise(
            sf.format_string("%s (%s)", name, "vhost")
        )

    nobody = ~sf.col("routed") & (sf.size("not_simulated") == 0)
    fate = sf.when(sf.col("routed"), "routed").when(nobody, "unroutable").otherwise("undecided")
    # Rows that have no key are listed among the problems.
    problem = sf.coalesce("problem", sf.lit(""))
    keyless = problem.startswith(NO_JSON) | problem.startswith(NO_FIELDS) | problem.contains("is null")
    facets = sf.concat(
        sf.array(facet("fate", fate), facet("problem", sf.col("problem"))),
        sf.transform("queues", lambda queue: facet("queue", named(queue))),
        sf.transform("not_simulated", lambda exchange: facet("not_simulated", named(exchange))),
        sf.array(sf.when(nobody & ~keyless, facet("unroutable", named(sf.col("exchange")), sf.col("routing_key")))),
    )
    counted = rows.select(sf.explode(facets).alias("f")).where("f is not null").groupBy("f.facet", "f.name", "f.detail")
    # There may be millions of keys. With the limit on the rank, Spark keeps only the first ones of each partition.
    most = Window.partitionBy("facet").orderBy(sf.desc("count"), "name", "detail")
    ranked = counted.count().withColumn("rank", sf.row_number().over(most))
    shown = ranked.where((sf.col("facet") != "unroutable") | (sf.col("rank") <= top)) if top else ranked
    counts: dict[str, dict[str | None, int]] = {}
    unroutable = []
    for facet_name, name, detail, count, _ in shown.orderBy("facet", "rank").collect():
        if facet_name == "unroutable":
            unroutable.append((name, detail, count))
        else:
            counts.setdefault(facet_name, {})[name] = count
    fates = counts.get("fate", {})
    problems = {text: count for text, count in counts.get("problem", {}).items() if text is not None}
    queues = {str(name): count for name, count in counts.get("queue", {}).items()}
    listed = dict(list(queues.items())[: top or None])
    return Summary(
        out=out,
        messages=sum(fates.values()),
        routed=fates.get("routed", 0),
        unroutable=fates.get("unroutable", 0),
        undecided=fates.get("undecided", 0),
        problems=dict(list(problems.items())[: top or None]),
        problem_rows=sum(problems.values()),
        not_simulated={str(name): count for name, count in counts.get("not_simulated", {}).items()},
        copies=sum(queues.values()),
        copies_per_queue=listed,
        other_queues=len(queues) - len(listed),
        other_copies=sum(queues.values()) - sum(listed.values()),
        unroutable_keys=unroutable,
        seconds=seconds,
    )


@contextmanager
def _failing() -> Iterator[None]:
    """Turn what Spark says about a failed job into a :class:`JobError` with the cause in one line."""
    try:
        yield
    except SPARK_ERRORS as error:
        raise JobError(f"the Spark job failed: {cause(error)}") from error
