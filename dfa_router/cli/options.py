"""The options that several commands take, each defined once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from dfa_router.build import DEFAULT_CACHE_BYTES
from dfa_router.errors import OptionError
from dfa_router.language.dialects import DIALECTS

__all__ = [
    "bindings_dialect_option",
    "cache_bytes_option",
    "chosen_form",
    "count_option",
    "dialect_option",
    "findings_option",
    "json_option",
]

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def cache_bytes_option(help_text: str, *, by_automaton: bool = False) -> Decorator:
    """Add ``--cache-bytes``; the text says which caches that bounds. The default may be left to the automaton."""
    if by_automaton:
        shown = "the automaton's own bytes and 64 MiB, but an eighth of the memory at most"
        return click.option(
            "--cache-bytes", type=click.IntRange(min=0), default=None, show_default=shown, help=help_text
        )
    return count_option("--cache-bytes", DEFAULT_CACHE_BYTES, help_text, least=0)


def count_option(name: str, default: int, help_text: str, *, least: int = 1) -> Decorator:
    """Add an option that takes a whole number."""
    return click.option(name, type=click.IntRange(min=least), default=default, show_default=True, help=help_text)


def dialect_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--dialect``, which is None where it is not given."""
    return click.option("--dialect", type=click.Choice(list(DIALECTS)), help="The pattern language.  [default: amqp]")(
        command
    )


def bindings_dialect_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--dialect`` to a command that reads bindings, which may be those of an exchange."""
    return click.option(
        "--dialect", type=click.Choice(list(DIALECTS)), help="The pattern language.  [default: amqp, or the exchange's]"
    )(command)


def findings_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--format``, the form in which findings are written."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(["text", "json", "sarif"]),
        default="text",
        show_default=True,
        help="How findings are written to stdout; sarif is what GitHub's code scanning takes.",
    )(command)


def chosen_form(form: str, *, as_json: bool) -> str:
    """Return the form of ``--format``, or JSON for ``--json``; raises :class:`OptionError` where they say different things."""
    if as_json and form == "sarif":
        raise OptionError("--json is the same as --format json: leave it out, or --format sarif")
    return "json" if as_json else form


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--json``, which arrives as ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help="Write the result to stdout as JSON.")(command)
