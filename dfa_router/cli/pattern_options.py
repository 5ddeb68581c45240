"""The options by which drawing commands take patterns and keys, and what they mean."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from dfa_router.counted import counted
from dfa_router.errors import PatternError
from dfa_router.file_names import local_name, standard_input
from dfa_router.language.dialects import Dialect
from dfa_router.language.validity import pattern_problem
from dfa_router.no_text import no_text
from dfa_router.strict_json import first_key

__all__ = ["check_pattern", "checked_text", "pattern_options", "read_lines", "read_patterns"]

_log = logging.getLogger(__name__)

_OTHERS = (".json", ".jsonl", ".ndjson", ".csv")
"""How names of files end that hold bindings in other forms."""


def checked_text(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Pass on the text of patterns or keys, after checking it: a shell may hand over bytes that are no valid UTF-8."""
    for text in value if isinstance(value, tuple) else [value or ""]:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise click.BadParameter(f"{text!r} is no valid UTF-8: type it as UTF-8 text", context, parameter) from None
    return value


def pattern_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--pattern`` and ``--patterns-from``, which arrive as ``patterns`` and ``patterns_from``."""
    command = click.option(
        "--patterns-from",
        type=local_name,
        metavar="FILE",
        help="A file of patterns, one per line, perhaps with a tab and a destination; - is stdin. An empty line is the pattern with no words.",
    )(command)
    return click.option(
        "-p",
        "--pattern",
        "patterns",
        multiple=True,
        callback=checked_text,
        metavar="PATTERN",
        help="A binding pattern; give it once for each.",
    )(command)


def check_pattern(place: str, pattern: str, dialect: Dialect) -> None:
    """Raise :class:`PatternError` with the place in a file for a pattern that the dialect refuses."""
    problem = pattern_problem(pattern, dialect)
    if problem is not None:
        raise PatternError(f"{place}: the pattern {pattern[:60]!r} is refused by {dialect.name}: {problem}")


def read_patterns(patterns: tuple[str, ...], patterns_from: str | None, dialect: Dialect) -> list[str]:
    """Return all patterns that were given, in order, without the destinations that a list may have behind tabs.

    Raises :class:`PatternError` for a file that cannot be read, or that by its name holds no pattern on each line, and for a line
    that the dialect refuses; of those that were given singly nothing is asked.
    """
    if patterns_from is None:
        return list(patterns)
    if Path(patterns_from).suffix.lower() in _OTHERS:
        raise PatternError(
            f"{patterns_from}: by its name it is no list with a pattern on each line: save its patterns to a text file"
        )
    listed = [pattern for pattern, _ in read_lines(patterns_from)]
    for number, pattern in enumerate(listed, 1):
        check_pattern(f"{patterns_from}:{number}", pattern, dialect)
    return [*patterns, *listed]


def read_lines(patterns_from: str) -> list[tuple[str, str]]:
    """Return the patterns of a text file and what stands behind the tabs, which is empty where there is none; - is stdin.

    Lines with blanks and no tab are patterns, of which a warning says so. Raises :class:`PatternError` for a file that cannot be read,
    is no text, or is JSON by what it holds.
    """
    try:
        raw = standard_input() if patterns_from == "-" else Path(patterns_from).read_bytes()
    except OSError as error:
        raise PatternError(
            f"cannot read the patterns in {patterns_from}: {error.strerror}: name a text file"
        ) from error
    if (meaning := no_text(raw)) is not None:
        raise PatternError(f"{patterns_from}: {meaning}")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise PatternError(f"{patterns_from}:{line}: no valid UTF-8: save the file as UTF-8") from error
    if first_key(text) is not None:  # no broker's pattern looks so
        raise PatternError(
            f"{patterns_from}: is JSON, and no list with a pattern on each line: name it .json, if it is a broker's definitions, or "
            ".jsonl, if each line is an object with a field 'pattern'"
        )
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n") if text]
    _hint_at_blanks(patterns_from, lines)
    return [(pattern, destination) for pattern, _, destination in (line.partition("\t") for line in lines)]


def _hint_at_blanks(file: str, lines: Sequence[str]) -> None:
    """Warn of lines with a blank and no tab, once for a file: brokers take such patterns, but most of these want a destination."""
    blank = [number for number, line in enumerate(lines, 1) if " " in line and "\t" not in line]
    if not blank:
        return
    others = f" (and {counted(len(blank) - 1, 'line')} like it)" if len(blank) > 1 else ""
    _log.warning(
        "%s:%d: has a blank and no tab%s, so that all of %r is the pattern: a destination stands behind a tab",
        file,
        blank[0],
        others,
        lines[blank[0] - 1][:60],
    )
