"""The routing job of the command line: a log in, a routed log and its summary out.

There are two ways. A log that Arrow reads as Spark does is routed where it is read: Spark's workers read,
match and write parts of files by themselves (:mod:`dfa_router.spark.files`). Every other log goes through DataFrames
(:mod:`dfa_router.spark.frame_job`). Both give the same rows, counts and errors.

A local result is a draft (:mod:`dfa_router.logs.drafts`) until it is complete and holds as many rows as the input. So a
failed or interrupted job leaves nothing of its own behind, and an old result stays as it was. The draft is removed only
when the job's last task has ended, as a task that still writes would create it again. In a store that Arrow writes to,
:mod:`dfa_router.logs.publishing` says what a killed run leaves; on other remote file systems that nothing half-written stays
is left to Spark's own committer.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from dfa_router.build import DEFAULT_CACHE_BYTES
from dfa_router.counted import counted
from dfa_router.errors import JobError, MessagesError
from dfa_router.logs.counts_file import counts_file
from dfa_router.logs.drafts import staged
from dfa_router.logs.outputs import check_output
from dfa_router.logs.partitions import UnreadableError
from dfa_router.logs.planning import OtherWayError, Plan
from dfa_router.logs.publishing import attempts_of, publish, staged_remotely
from dfa_router.logs.ranking import counts_of, ranked
from dfa_router.logs.routing import Written
from dfa_router.logs.stores import STORE_ERRORS, Place, is_remote, place_of
from dfa_router.logs.summary import Summary, limits, summary_of
from dfa_router.rabbitmq.topology import Topology
from dfa_router.reports import Report
from dfa_router.spark.cancel import cancellable
from dfa_router.spark.errors import SPARK_ERRORS, failure
from dfa_router.spark.files import plan_of, route_parts
from dfa_router.spark.frame_job import count_result, routed_log, write_result
from dfa_router.spark.logs import MessageLog, SparkReadError, read_messages
from dfa_router.spark.progress import watched
from dfa_router.spark.shapes import spelt_keys

__all__ = ["Summary", "route_log"]

T = TypeVar("T")
WriteCounts = Callable[[pa.Table], None] | None

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """What both ways are told, and the seconds of each stage so far."""

    session: SparkSession
    topology: Topology
    messages: str
    out: str
    engine: str
    cache_bytes: int
    vhost: str
    overwrite: bool
    top: int
    report: Report | None
    alone: bool
    stages: dict[str, float] = field(default_factory=dict)

    def cancellable(self, work: Callable[[], T]) -> T:
        """Run Spark jobs that end when this is interrupted; see :func:`dfa_router.spark.cancel.cancellable`."""
        return cancellable(self.session, work, alone=self.alone)

    @contextmanager
    def stage(self, label: str, rows: int | None = None) -> Iterator[None]:
        """Time a stage, and report its tasks, as messages where their number is known."""
        started = time.monotonic()
        with watched(self.session, label, self.report, rows):
            yield
        self.stages[label] = time.monotonic() - started


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
    counts: str | None = None,
    report: Report | None = None,
    alone: bool = False,
) -> Summary:
    """Route the log at ``messages`` and write the result to the folder ``out``; formats are those of
    :data:`~dfa_router.logs.formats.FORMATS`.

    ``top`` bounds the lists of the summary; 0 means all. ``counts`` is the path of a Parquet file for all counts, of keys that
    nobody gets those of the summary (:data:`dfa_router.logs.counting.COUNTS`).

    Raises :class:`MessagesError` for a log that cannot be read, if only in the middle, or an output that exists, and :class:`JobError` where the job
    fails, the result has not as many rows as the input, or something appeared at ``out`` meanwhile; then the text names the
    folder in which the result is. It can be interrupted (Ctrl-C): its Spark jobs are cancelled and what they wrote is removed,
    which may take seconds; less where it is ``alone``, as nobody uses the session otherwise or afterwards.
    """
    check_output(messages, out, overwrite=overwrite, counts=counts)
    started = time.monotonic()
    job = _Job(
        session=session,
        topology=topology,
        messages=messages,
        out=out,
        engine=engine,
        cache_bytes=cache_bytes,
        vhost=vhost,
        overwrite=overwrite,
        top=top,
        report=report,
        alone=alone,
    )
    plan = _plan(job, kind, out_kind)
    with _failing(), counts_file(counts) as write:  # appears behind the result, or not at all
        if isinstance(plan, OtherWayError):
            summary = _through_frames(job, kind, out_kind, plan, write)
        else:
            summary = _through_files(job, plan, out_kind, write)
    known = sum(job.stages.values())
    seconds = time.monotonic() - started
    return replace(summary, seconds=seconds, stages={**job.stages, "committing": seconds - known})


def _plan(job: _Job, kind: str, out_kind: str) -> Plan | OtherWayError:
    """Return the plan of a log, or the reason why Spark has to read or write it."""
    if kind == "parquet" and out_kind != "parquet":
        return OtherWayError(f"columns of Parquet are written as {out_kind} by Spark alone")
    if is_remote(job.out) and place_of(job.out) is None:
        return OtherWayError(f"{job.out.partition('://')[0]}:// is a store that Arrow does not write to")
    try:
        with job.stage("planning"), _failing():
            return job.cancellable(lambda: plan_of(job.session, job.messages, kind, out_kind))
    except OtherWayError as error:
        return error


def _through_files(job: _Job, plan: Plan, out_kind: str, write_counts: WriteCounts) -> Summary:
    run = route_parts(
        job.session,
        plan,
        job.topology,
        engine=job.engine,
        cache_bytes=job.cache_bytes,
        vhost=job.vhost,
        kind=out_kind,
    )

    def routed(attempts: Place, finish: Callable[[list[Written]], None]) -> Summary:
        with job.stage("routing", plan.rows), _failing():
            written = job.cancellable(lambda: run(attempts))
        with job.stage("counting"), _failing():
            totals, tables = counts_of(written, attempts)
            if totals.messages != plan.rows:
                raise _other_rows(job, totals.messages, plan.rows)
            apart = "vhost" in spelt_keys(plan.schema.names) and len(job.topology.vhosts) > 1
            summary = summary_of(job.out, totals, ranked(tables, limits(job.top), write_counts), vhosts_apart=apart)
        finish(written)
        return summary

    place = place_of(job.out) if is_remote(job.out) else None
    if place is not None:
        with staged_remotely(job.out, place, overwrite=job.overwrite) as draft:
            return routed(draft.attempts, draft.publish)
    with staged(job.out, overwrite=job.overwrite) as folder:
        local = _local(folder)
        return routed(attempts_of(local), lambda written: publish(local, written))


def _through_frames(job: _Job, kind: str, out_kind: str, reason: OtherWayError, write_counts: WriteCounts) -> Summary:
    def read() -> tuple[MessageLog, DataFrame]:
        with job.stage("reading"):
            try:
                log = read_messages(job.session, job.messages, kind)
            except SparkReadError as error:  # Spark says that it failed, and Arrow had said at what
                told = str(error)
                if isinstance(reason, UnreadableError) and not is_remote(job.messages):
                    told = (
                        f"{job.messages}: cannot be read: neither Arrow nor Spark can open it. Check that it is whole, yours to read, and "
                        f"{kind}, or give another --format"
                    )
                raise MessagesError(f"{told}. It was left to Spark because: {reason}") from error
        return log, routed_log(log, job.topology, job.engine, job.cache_bytes, job.vhost)

    log, routed = job.cancellable(read)
    _log.warning("%s: Spark reads it, row by row, which takes several times as long: %s", job.messages, reason)

    def write(target: str) -> Summary:
        with job.stage("routing", log.rows), _failing():
            write_result(routed, target, out_kind, overwrite=job.overwrite)
        with job.stage("counting"), _failing():
            known = "vhost" in spelt_keys(routed.columns)
            totals, rows = count_result(
                job.session,
                target,
                out_kind,
                names=routed.columns,
                vhost=job.vhost,
                top=job.top,
                chooses=job.topology.chooses,
            )
            if totals.messages != log.rows:
                raise _other_rows(job, totals.messages, log.rows)
            listed = ranked([rows], limits(job.top), write_counts)
            apart = known and len(job.topology.vhosts) > 1
            return replace(summary_of(job.out, totals, listed, vhosts_apart=apart), way="frames")

    with nullcontext(job.out) if is_remote(job.out) else staged(job.out, overwrite=job.overwrite) as target:
        return job.cancellable(lambda: write(target))


def _local(folder: str) -> Place:
    place = place_of(folder)
    assert place is not None, "a path without a scheme is a local one"
    return place


def _other_rows(job: _Job, written: int, held: int) -> JobError:
    return JobError(
        f"{job.out}: {counted(written, 'row')} {'was' if written == 1 else 'were'} written, but {job.messages} holds {held}; nothing was kept. "
        "If the log is still being written to, route a copy of it"
    )


@contextmanager
def _failing() -> Iterator[None]:
    """Turn what Spark says about a failed job into an error with the cause in one line; see :func:`~dfa_router.spark.errors.failure`."""
    try:
        yield
    except SPARK_ERRORS as error:
        raise failure(error) from error
    except STORE_ERRORS as error:
        raise JobError(
            f"counts could not be added up or written, or the result not be moved to its place: {error}"
        ) from error
