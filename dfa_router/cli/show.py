"""``dfa-router show``: automata and a match as text, in the terminal."""

from __future__ import annotations

import shutil

import click

from dfa_router.cli.drawing import nfa_of, recorded, why_unrouted
from dfa_router.cli.options import dialect_option
from dfa_router.cli.pattern_options import checked_text, pattern_options, read_patterns
from dfa_router.errors import PatternError
from dfa_router.language.dialects import dialect_named
from dfa_router.siblings import check_sibling

__all__ = ["show"]

_LEAST_WIDTH = 20
"""Columns; with fewer nearly each word would have lines of its own."""


@click.command(short_help="Draw automata and a match in the terminal.")
@pattern_options
@dialect_option
@click.option("--key", callback=checked_text, help="A routing key to match, word by word.")
@click.option("--dfa/--no-dfa", default=True, show_default=True, help="Show the complete DFA, if it is small.")
@click.option("--width", type=click.IntRange(min=_LEAST_WIDTH), help="Columns to fill.  [default: the terminal's]")
@click.pass_context
def show(
    context: click.Context,
    *,
    patterns: tuple[str, ...],
    patterns_from: str | None,
    dialect: str | None,
    key: str | None,
    dfa: bool,
    width: int | None,
) -> None:
    """Draw the NFA of patterns as a tree, its DFA as a table, and the match of a key step by step.

    States have the numbers that the engine gives them while it reads the key; those that it does not build follow.

    \b
    Examples:
      dfa-router show -p 'a.b.c' -p 'a.#.c' --key a.d.d.c
      dfa-router show --dialect mqtt -p 'home/+/lamp' --key home/hall/lamp
    """  # noqa: D301 - click wants the control character itself
    check_sibling("viz")
    from compiler import CapacityError, build_dfa
    from viz.terminal.show import show as draw

    language = dialect_named(dialect or "amqp")
    chosen = read_patterns(patterns, patterns_from, language)
    if not chosen:
        raise PatternError("there is nothing to show: give patterns with --pattern or --patterns-from")
    nfa = nfa_of(chosen, language)
    why = why_unrouted([key] if key is not None else [], language)
    machine = recorded(nfa, [key], language) if key is not None and not why else None
    complete = None
    if dfa:
        known = None if machine is None else machine.snapshot()
        try:
            complete = build_dfa(nfa, max_states=100, first=known.states if known is not None else ())
        except CapacityError:
            context.obj.terminal.show(
                "The complete DFA has more than 100 states and is left out; 'render' can draw a part."
            )
    columns = width or max(_LEAST_WIDTH, shutil.get_terminal_size().columns)
    asked = key if machine is not None else None
    trace = machine.last if machine is not None else None
    click.echo(draw(nfa, asked, dfa=complete, names=chosen, width=columns, separator=language.separator, trace=trace))
    for text in why:
        click.echo(f"\n{text}")
