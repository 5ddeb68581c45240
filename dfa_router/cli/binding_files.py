"""Bindings from files: text, CSV, JSON lines, and the definitions of a RabbitMQ broker."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from dfa_router.cli.definition_options import check_vhost
from dfa_router.cli.pattern_options import check_pattern, read_lines, read_patterns
from dfa_router.counted import counted
from dfa_router.errors import BindingError, OptionError
from dfa_router.inspection.way import language_of
from dfa_router.language.dialects import Dialect
from dfa_router.language.one_binding import one_binding
from dfa_router.no_text import no_text
from dfa_router.rabbitmq import Topology, load_definitions
from dfa_router.strict_json import RepeatedKeyError, loads

__all__ = ["BindingFile", "check_bindings", "exchange_bindings", "of_destination", "read_bindings", "read_set"]

_PATTERN_NAMES = ("pattern", "routing_key")
"""What the field with the pattern may be called; exports of brokers call it routing_key."""


class BindingFile(NamedTuple):
    """What a file says."""

    bindings: list[tuple[str, str]]
    """(pattern, destination); where a file names no destination, the pattern stands for it."""
    places: Sequence[int | str]
    """For each binding its line, or its place in a definitions file."""
    dialect: str | None
    """The dialect of the patterns, where the file tells."""
    unnamed: frozenset[int] = frozenset()
    """The positions of bindings for which the file names no destination."""

    def by_consumer(self) -> list[tuple[str, str]]:
        """Return the bindings with ``""`` for each destination that is not named: those are one consumer's."""
        return [
            (pattern, "" if position in self.unnamed else destination)
            for position, (pattern, destination) in enumerate(self.bindings)
        ]


def read_bindings(path: Path, *, exchange: str | None = None, vhost: str = "/") -> BindingFile:
    """Read a file in the format that its name ends in; ``exchange`` and ``vhost`` choose from a definitions file.

    Raises an :class:`InputError` that names file, line and remedy: for a file that cannot be read, an entry that is no
    binding, a file without bindings, and an exchange without patterns.
    """
    kind = path.suffix.lower()
    if kind == ".json":
        found = _from_definitions(path, exchange, vhost)
    elif exchange is not None:
        raise OptionError(f"--exchange chooses from a definitions file, whose name ends in .json: {path} is none")
    elif vhost != "/":
        raise OptionError(f"--vhost is of an exchange of a definitions file, whose name ends in .json: {path} is none")
    elif kind in _LISTS:
        found = _from_entries(path, _LISTS[kind](path))
    else:
        given = read_lines(str(path))
        found = _listed(given, range(1, len(given) + 1))
    if not found.bindings and exchange is not None:
        raise BindingError(f"{path}: exchange {exchange!r} of vhost {vhost!r} has no bindings; choose another one")
    if not found.bindings:
        below = " below its first line, which names the columns: pattern, destination" if kind == ".csv" else ""
        raise BindingError(f"{path}: has no bindings{below}; write a pattern per line")
    return found


def of_destination(file: str, bindings: BindingFile, destination: str | None) -> list[int]:
    """Return the positions of the bindings of a destination, of all for None; raises :class:`BindingError` if there is none."""
    chosen = [i for i, (_, one) in enumerate(bindings.bindings) if destination in (None, one)]
    if not chosen:
        names = ", ".join(sorted({repr(one) for _, one in bindings.bindings})[:8])
        raise BindingError(f"{file}: no binding has the destination {destination!r}; there are {names}")
    return chosen


def read_set(name: str, dialect: Dialect) -> list[str]:
    """Return the patterns of a list, which may be empty; - is stdin. Raises what :func:`read_bindings` and :func:`check_bindings` do."""
    if Path(name).suffix.lower() == ".json":
        raise OptionError(
            f"{name}: holds many exchanges, and a set is one list of patterns; compare definitions with 'dfa-router diff'"
        )
    if Path(name).suffix.lower() in _LISTS:
        found = read_bindings(Path(name))
        check_bindings(name, found, dialect)
        return [pattern for pattern, _ in found.bindings]
    return read_patterns((), name, dialect)


def check_bindings(path: str | Path, file: BindingFile, dialect: Dialect) -> None:
    """Raise :class:`PatternError` or :class:`BindingError` for the first binding that is refused; the text names its line."""
    for binding, place in zip(file.bindings, file.places, strict=True):
        check_pattern(f"{path}:{place}", binding[0], dialect)
        try:
            one_binding(*binding)
        except BindingError as error:
            raise BindingError(f"{path}:{place}: {error}") from None


def _from_definitions(path: Path, exchange: str | None, vhost: str) -> BindingFile:
    topology = load_definitions(path, vhost)
    if exchange is None:
        raise OptionError(f"{path}: holds many exchanges; choose one with --exchange: {_choice(topology, vhost)}")
    return exchange_bindings(topology, exchange, vhost)


def exchange_bindings(topology: Topology, exchange: str, vhost: str) -> BindingFile:
    """Return the bindings of an exchange, perhaps none; raises :class:`InputError` for one that is not there or has no patterns."""
    check_vhost(topology, vhost)
    kind, language = topology.exchange(exchange, vhost).type, language_of(topology, exchange, vhost)
    if language is None:
        raise OptionError(
            f"{topology.source}: exchange {exchange!r} is of type {kind}, whose bindings are no patterns; choose one of type topic or "
            f"direct: {_choice(topology, vhost)}"
        )
    chosen = [(i, one) for i, one in enumerate(topology.bindings) if (one.source, one.vhost) == (exchange, vhost)]
    bindings = [(one.routing_key, one.destination) for _, one in chosen]
    return BindingFile(bindings, [f"bindings[{position}]" for position, _ in chosen], language)


def _choice(topology: Topology, vhost: str) -> str:
    """List the exchanges whose bindings are patterns, or say what to try."""
    sources = {one.source for one in topology.bindings if one.vhost == vhost}
    names = sorted(name for name in sources if language_of(topology, name, vhost) is not None)
    if names:
        return ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
    others = ", ".join(repr(name) for name in topology.vhosts if name != vhost)
    return f"vhost {vhost!r} has none with bindings" + (f"; other vhosts for --vhost: {others}" if others else "")


def _from_entries(path: Path, entries: Iterator[tuple[int, dict[str, object]]]) -> BindingFile:
    given, places = [], []
    for line, entry in entries:
        name = next((name for name in _PATTERN_NAMES if name in entry), None)
        if name is None:
            named = ", ".join(map(repr, entry)) or "none"
            raise BindingError(f"{path}:{line}: has no field {' or '.join(map(repr, _PATTERN_NAMES))}; fields: {named}")
        pattern, destination = entry[name], entry.get("destination")
        if not isinstance(pattern, str) or not isinstance(destination, str | None):
            raise BindingError(
                f"{path}:{line}: pattern and destination are {pattern!r} and {destination!r}: write text"
            )
        given.append((pattern, destination or ""))
        places.append(line)
    return _listed(given, places)


def _listed(given: Sequence[tuple[str, str]], places: Sequence[int]) -> BindingFile:
    """Return the bindings of a list, of which those without a destination are named by their patterns."""
    bindings = [(pattern, destination or pattern) for pattern, destination in given]
    unnamed = frozenset(position for position, (_, destination) in enumerate(given) if not destination)
    return BindingFile(bindings, places, None, unnamed)


def _csv_rows(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    # Not str.splitlines, which also ends lines where CSV does not, as at U+2028.
    rows = csv.reader(io.StringIO(_text(path), newline=""), strict=True)
    try:
        header = next(rows, [])
        for row in rows:
            if len(row) != len(header):
                raise BindingError(
                    f"{path}:{rows.line_num}: has {counted(len(row), 'field')}, the first line names {len(header)}: correct the line"
                )
            yield rows.line_num, dict(zip(header, row, strict=True))
    except csv.Error as error:
        raise BindingError(f"{path}:{rows.line_num}: is no CSV: {error}; correct the line") from None


def _json_objects(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    for number, line in enumerate(_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            entry = loads(line)
        except RepeatedKeyError as error:
            raise BindingError(f"{path}:{number}: {error}; remove one of them") from None
        except ValueError as error:
            raise BindingError(f"{path}:{number}: is no JSON: {error}; write one JSON object per line") from None
        if not isinstance(entry, dict):
            raise BindingError(f"{path}:{number}: is no JSON object; write one per line, with a field 'pattern'")
        yield number, entry


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BindingError(f"{path}: cannot be read: {error.strerror}; name a file of bindings") from error
    if (meaning := no_text(raw)) is not None:
        raise BindingError(f"{path}: {meaning}")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BindingError(f"{path}:{line}: no valid UTF-8: save the file as UTF-8") from None


_LISTS = {".csv": _csv_rows, ".jsonl": _json_objects, ".ndjson": _json_objects}
"""How lists with names for their fields are read, by the ends of the files' names."""
