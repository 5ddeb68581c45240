"""``python -m benchmarks ablations``: what each choice of the engine's layout is worth."""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.options import out_option, rounds_option

__all__ = ["ablations"]


@click.command(short_help="Take out one choice of the layout after the other, and measure what is lost.")
@out_option("ablations.md")
@rounds_option(5)
@click.pass_context
def ablations(context: click.Context, *, out: Path, rounds: int) -> None:
    """Measure the engine without each choice of its layout, beside the engine as it is.

    For each choice the sources are copied and a few lines replaced; all copies are compiled, and must give the same
    answers. Takes 20 minutes of a machine that does nothing else.

    \b
    Example:
      python -m benchmarks ablations --rounds 3 --out /tmp/figures
    """  # noqa: D301 - click wants the control character itself
    from benchmarks.ablations import run, write

    terminal = context.obj.terminal
    measured = run(rounds=rounds, progress=terminal.show)
    terminal.show(f"wrote {write(measured, out, command=f'python -m benchmarks ablations --rounds {rounds}')}")
