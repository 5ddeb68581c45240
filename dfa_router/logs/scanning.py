"""A log gone through on this machine, without Spark: for whoever counts, and writes no rows.

The log is planned as for Spark's workers and read by the same readers, part by part, in a few threads: kernels and Arrow let go of
the interpreter's lock. What this leaves out: logs that Spark alone reads. Who has one routes it first; the result is a log
that anybody reads.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dfa_router.arrow.checks import is_text
from dfa_router.errors import MessagesError
from dfa_router.file_names import local_name
from dfa_router.logs.marks import READ_PROBLEM
from dfa_router.logs.partitions import OtherWayError, UnreadableError
from dfa_router.logs.parts import Part
from dfa_router.logs.planning import Plan, planned
from dfa_router.logs.routing import MOST_ROWS, gathered
from dfa_router.logs.stores import STORE_ERRORS, is_pattern, is_remote, place_of
from dfa_router.logs.table_planning import planned_table
from dfa_router.logs.text_planning import text_parts, text_plan
from dfa_router.logs.text_reading import SeeText
from dfa_router.reports import Report
from dfa_router.tables import read_table, table_at

__all__ = ["key_names", "plan_log", "rows_with_problems", "scanned"]

T = TypeVar("T")
R = TypeVar("R")

_KEYS = ("exchange", "routing_key", "vhost")


def plan_log(messages: str, kind: str, *, report: Report | None = None) -> Plan:
    """Plan a log of a format, one of :data:`~dfa_router.logs.formats.FORMATS`; text is read once for that.

    Raises :class:`MessagesError` for a log that is not there, is refused, or that Spark alone reads; the text says what to do.
    """
    cores = os.cpu_count() or 1
    messages = local_name(messages)
    try:
        place = place_of(messages)
        if place is None:
            raise OtherWayError(f"{messages.partition('://')[0]}:// is a store that Spark reaches, and Arrow does not")
        pattern = is_pattern(messages)
        if kind == "parquet":
            table = table_at(messages)
            return (
                planned(place, pattern=pattern, cores=cores)
                if table is None
                else planned_table(read_table(table), cores=cores)
            )
        parts = text_parts(place, kind, pattern=pattern, cores=cores)
        rows: list[int] = []
        see = SeeText(place.store, kind, rows.append)
        seen = list(_in_threads(see, parts, cores, report and (lambda _: report("reading", sum(rows), 0))))
        return text_plan(place, kind, parts, seen)
    except (OtherWayError, *STORE_ERRORS) as error:
        if isinstance(error, (UnreadableError, OSError)) and not is_remote(messages):
            raise MessagesError(
                f"{messages}: cannot be read as {kind}: {error}; check the path and the format"
            ) from error
        raise MessagesError(
            f"{messages}: cannot be read without Spark: {error}; route it first with 'dfa-router route --out FOLDER': the folder is a "
            "log that can be given here"
        ) from error


def scanned(
    plan: Plan,
    work: Callable[[Iterator[pa.Table]], R],
    names: Collection[str],
    *,
    rows: int = MOST_ROWS,
    report: Report | None = None,
) -> Iterator[R]:
    """Yield what a function makes of the tables of each part, in the log's order.

    The function is called from several threads. A table has at most ``rows`` rows. It has those of the named columns that
    the log has, and :data:`~dfa_router.logs.marks.READ_PROBLEM`: the others, such as payloads, are not decoded, or let go of block by block.
    """
    wanted = frozenset(names)
    ended = threading.Event()
    done = [0]

    def tables(part: Part[Any]) -> Iterator[pa.Table]:
        for table in gathered(plan.read(part, rows, wanted), rows):
            if ended.is_set():
                return
            yield table
            done[0] += len(table)

    def counted(_: int) -> None:
        if report is not None:
            report("routing", done[0], plan.rows)

    try:
        yield from _in_threads(lambda part: work(tables(part)), plan.parts, os.cpu_count() or 1, counted)
    finally:
        ended.set()  # after an error or an interrupt, parts that are being read end with their next table


def key_names(schema: pa.Schema, read: Sequence[str] = ()) -> Mapping[str, str]:
    """Return the columns by which messages are routed, whatever their case: exchange, routing_key, and vhost where there is one.

    ``read`` are attributes that a topology's exchanges read; those that the log has are among the result.
    Raises :class:`MessagesError` for a log without the first two, or with columns that are no text.

    >>> key_names(pa.schema({"Exchange": pa.string(), "routing_key": pa.binary()}))
    {'exchange': 'Exchange', 'routing_key': 'routing_key'}
    """
    spelt: dict[str, str] = {}
    for name in schema.names:
        spelt.setdefault(name.lower(), name)
    listed = ", ".join(f"{field.name} {field.type}" for field in schema) or "none"
    found = {key: spelt[key] for key in (*_KEYS, *read) if key in spelt}
    for key in _KEYS[:2]:
        if key not in found:
            raise MessagesError(f"the messages have no column {key!r}; they have: {listed}. Rename one to it")
    for key in filter(found.__contains__, _KEYS):
        kind = schema.field(found[key]).type
        if not is_text(kind.value_type if pa.types.is_dictionary(kind) else kind):
            raise MessagesError(
                f"column {found[key]!r} is {kind}: expected a string; the messages have: {listed}. Cast it first"
            )
    return found


def rows_with_problems(table: pa.Table, *problems: Any) -> npt.NDArray[np.bool_]:
    """Tell of each row of a table whether reading it met a problem, or routing it did: ``problems`` has columns of those, null for none.

    With several, such as those of two topologies, a row counts that has one in each of them.
    """
    routing = np.logical_and.reduce([one.is_valid().to_numpy(zero_copy_only=False) for one in problems])
    if READ_PROBLEM not in table.schema.names:
        return np.asarray(routing)
    return np.asarray(routing | table[READ_PROBLEM].combine_chunks().is_valid().to_numpy(zero_copy_only=False))


def _in_threads(
    function: Callable[[T], R], items: Sequence[T], threads: int, report: Callable[[int], None] | None
) -> Iterator[R]:
    """Yield the results in order; no more than twice as many as there are threads wait to be taken."""
    pool = ThreadPoolExecutor(threads)
    waiting: deque[Future[R]] = deque()
    number = 0
    try:
        for number, item in enumerate(items):
            waiting.append(pool.submit(function, item))
            while len(waiting) >= 2 * threads:
                yield _result(waiting.popleft(), number, report)
        while waiting:
            yield _result(waiting.popleft(), number, report)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _result(future: Future[R], number: int, report: Callable[[int], None] | None) -> R:
    while not wait([future], timeout=0.2).done:
        if report is not None:
            report(number)
    if report is not None:
        report(number)
    return future.result()
