"""``dfa-router measure``: what the engines take for a user's own bindings and keys."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from compiler.prepare import compile_kernels
from dfa_router.build import compile
from dfa_router.cli.binding_files import BindingFile, check_bindings, read_bindings
from dfa_router.cli.exit_codes import ExitCode
from dfa_router.cli.measuring import Measurement, Request, canonical_answers, in_words
from dfa_router.cli.measuring import measure as measure_engine
from dfa_router.cli.options import bindings_dialect_option, cache_bytes_option, count_option, json_option
from dfa_router.counted import counted
from dfa_router.engines.registry import engine_info, engines
from dfa_router.errors import BindingError, MessagesError, OptionError, PatternError
from dfa_router.file_names import local_name
from dfa_router.key_files import distinct_count, read_keys
from dfa_router.language.dialects import dialect_named

if TYPE_CHECKING:
    from dfa_router.cli.terminal import Terminal

__all__ = ["measure"]

_ENGINES = [name for name in engines() if not engine_info(name).needs_topics]


@click.command(short_help="Measure time, memory and the cache on bindings and keys of your own.")
@click.option(
    "--bindings",
    "bindings_file",
    required=True,
    type=local_name,
    metavar="FILE",
    help="The bindings: text, .csv, .jsonl, or .json as 'rabbitmqctl export_definitions' writes it.",
)
@click.option(
    "--keys",
    "keys_file",
    required=True,
    metavar="PATH",
    help="The routing keys: text, .csv, .jsonl or .parquet; a file, a folder, a pattern such as 'logs/*.jsonl', or a Delta or "
    "Iceberg table ('table@v3' for a version of it); - is stdin, with a key per line.",
)
@click.option(
    "--key-column",
    default="routing_key",
    show_default=True,
    help="The column or field with the keys, in a file that has several.",
)
@click.option("--exchange", help="The exchange of a definitions file whose bindings are measured.")
@click.option("--vhost", default="/", show_default=True, help="The vhost of the exchange.")
@bindings_dialect_option
@click.option(
    "--engine",
    "names",
    type=click.Choice(_ENGINES),
    multiple=True,
    default=("dfa",),
    show_default=True,
    help="The matcher; given several times, matchers are measured one after another and their answers compared.",
)
@cache_bytes_option("The bound on the automaton's cache.", by_automaton=True)
@count_option("--threads", 1, "Threads for a pass; each has an equal share of the cache.")
@count_option("--rounds", 5, "Warm passes, of which the median counts.")
@json_option
@click.pass_context
def measure(
    context: click.Context,
    *,
    bindings_file: str,
    keys_file: str,
    key_column: str,
    exchange: str | None,
    vhost: str,
    dialect: str | None,
    names: tuple[str, ...],
    cache_bytes: int | None,
    threads: int,
    rounds: int,
    as_json: bool,
) -> None:
    """Compile bindings, match keys, and tell what that takes: time, memory, and how the cache fares.

    The first pass over the keys begins with an empty cache. It is repeated until nothing is built any more, and then
    timed --rounds times. Times are processor time.

    \b
    Bindings, by the end of the file's name:
      .json            definitions of a RabbitMQ broker, with --exchange and --vhost
      .csv             columns pattern (or routing_key) and perhaps destination
      .jsonl, .ndjson  objects with the same fields
      others           a pattern per line, or pattern, tab, destination
    Keys:
      .csv, .jsonl, .ndjson, .json, .parquet, .pq, with --key-column
      others           a key per line
      a folder, a pattern such as 'logs/*.csv', or a Delta or Iceberg table: the keys of its files

    Exit codes: 0 measured, 1 engines differ in their answers, 2 wrong usage or input.

    \b
    Examples:
      dfa-router measure --bindings patterns.txt --keys keys.txt
      dfa-router measure --bindings defs.json --exchange market --keys log.parquet
      dfa-router measure --bindings patterns.txt --keys keys.txt --engine dfa --engine trie --json
    """  # noqa: D301 - click wants the control character itself
    terminal = context.obj.terminal
    if bindings_file == keys_file == "-":
        raise OptionError("--bindings and --keys cannot both be standard input: save one of them to a file")
    file = Path(bindings_file)
    found = read_bindings(file, exchange=exchange, vhost=vhost)
    language = dialect or found.dialect or "amqp"
    for name in names:
        compile((), engine=name, dialect=language, cache_bytes=cache_bytes)  # refuse what does not fit before measuring
    keys = _keys_of(terminal, keys_file, key_column)
    if not len(keys):
        raise MessagesError(f"{keys_file}: has no keys; name a file with at least one")
    request = Request(
        bindings=found.bindings, keys=keys, dialect=language, cache_bytes=cache_bytes, threads=threads, rounds=rounds
    )
    with terminal.progress("passes") as report:
        if report is not None:
            report("compiling kernels, if that was not done here before", 0, 0)
        compile_kernels()
        results, difference = _measure_all(tuple(dict.fromkeys(names)), request, report, file, found)
        if report is not None:
            report("counting distinct keys", 0, 0)
        distinct = distinct_count(keys)
    if as_json:
        facts = {
            "bindings": len(found.bindings),
            "keys": len(keys),
            "null_keys": keys.null_count,
            "distinct_keys": distinct,
            "dialect": language,
            "threads": threads,
            "engines": [asdict(one) for one in results],
            "in_words": [in_words(one, len(keys)) for one in results],
            "difference": difference,
        }
        click.echo(json.dumps(facts, indent=2))
    else:
        click.echo("\n".join(_table(request, distinct, results)))
    if difference is not None:
        click.echo(f"error: {difference}", err=True)
        context.exit(ExitCode.FOUND)


def _keys_of(terminal: Terminal, file: str, column: str) -> Any:
    if file == "-" and sys.stdin is not None and sys.stdin.isatty():  # a bar would be drawn over what is typed
        return read_keys(file, column)
    with terminal.progress("files") as report:
        return read_keys(file, column, report and partial(report, "reading the keys"))


def _measure_all(
    names: Sequence[str],
    request: Request,
    report: Callable[[str, int, int], None] | None,
    file: Path,
    found: BindingFile,
) -> tuple[list[Measurement], str | None]:
    """Measure one engine after another; return also how the first that differs from the first engine does so."""
    results: list[Measurement] = []
    numbers: dict[bytes, int] = {}
    expected = None
    difference = None
    for name in names:
        try:
            measured, matches = measure_engine(name, request, report)
        except (PatternError, BindingError):
            check_bindings(file, found, dialect_named(request.dialect))
            raise
        results.append(measured)
        if len(names) > 1:
            answers = canonical_answers(matches, numbers)
            if expected is None:
                expected = answers
            elif difference is None and not np.array_equal(answers, expected):
                row = int(np.flatnonzero(answers != expected)[0])
                sets = [np.frombuffer(one, np.int32).tolist() for one in numbers]
                difference = (
                    f"engines differ: on key {row}, {request.keys[row].as_py()!r}, {names[0]} says that the bindings "
                    f"{sets[expected[row]]} match (counted from 0), and {name} {sets[answers[row]]}; one of them is wrong, "
                    "so please report it with the bindings and the key"
                )
    return results, difference


def _table(request: Request, distinct: int, results: Sequence[Measurement]) -> Iterator[str]:
    """Yield the lines that people read: what was measured, a column per engine, and what it means."""
    keys = len(request.keys)
    nulls = f", {request.keys.null_count:,} null" if request.keys.null_count else ""
    yield f"{counted(len(request.bindings), 'binding')} ({request.dialect}), {counted(keys, 'key')}, {distinct:,} distinct{nulls}"
    yield f"{counted(results[0].pairs, 'pair')} of a key and a matching binding"
    yield ""
    rows = [("", [one.engine for one in results])]
    rows += [(label, [show(one) for one in results]) for label, show in _rows(request.threads)]
    first = max(len(label) for label, _ in rows)
    widths = [max(len(cells[number]) for _, cells in rows) for number in range(len(results))]
    for label, cells in rows:
        shown = "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        yield f"{label:{first}}  {shown}".rstrip()
    yield ""
    for one in results:
        yield in_words(one, keys)


def _rows(threads: int) -> Iterator[tuple[str, Callable[[Measurement], str]]]:
    """Yield the label of each row, and what it shows of an engine."""
    yield "compiling the bindings, ms", lambda one: f"{1e3 * one.build_cpu_seconds:,.1f}"
    yield "automaton, bytes", lambda one: "-" if one.automaton_bytes is None else f"{one.automaton_bytes:,}"
    yield "cache, bytes", lambda one: f"{one.cache_bytes:,}"
    yield "cache, bound in bytes", lambda one: f"{one.cache_bound:,}"
    yield "states", lambda one: f"{one.states:,}"
    yield "transitions", lambda one: f"{one.transitions:,}"
    yield "accept sets", lambda one: f"{one.accept_sets:,}"
    yield "passes until warm", lambda one: f"{one.passes}" if one.settled else f"over {one.passes}"
    for name in ("cold", "warm"):
        yield f"{name} pass, ns/key", _of_pass(name, "cpu_ns_per_key", ",.1f")
        if threads > 1:
            yield "  elapsed, ns/key", _of_pass(name, "elapsed_ns_per_key", ",.1f")
        yield "  hits", _of_pass(name, "hits")
        yield "  misses (transition not there)", _of_pass(name, "misses")
        yield "  clears of the cache", _of_pass(name, "clears")
        yield "  fallbacks (keys simulated)", _of_pass(name, "fallbacks")
        yield "  keys known whole", _of_pass(name, "key_cache_hits")


def _of_pass(name: str, field: str, spec: str = ",") -> Callable[[Measurement], str]:
    return lambda one: format(getattr(getattr(one, name), field), spec)
