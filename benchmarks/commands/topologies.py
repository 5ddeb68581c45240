"""``python -m benchmarks topologies``: random topologies on a live RabbitMQ, message by message."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchmarks.options import out_option, seed_option, url_option
from dfa_router.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from dfa_router.cli.terminal import Terminal

__all__ = ["topologies"]


@click.command(short_help="Compare routing with a live RabbitMQ on random topologies.")
@out_option("topologies.md")
@click.option(
    "--topologies",
    "count",
    type=click.IntRange(min=1),
    default=500,
    show_default=True,
    help="How many topologies are declared, with 50 messages each.",
)
@click.option("--first", type=click.IntRange(min=0), default=0, show_default=True, help="The number of the first one.")
@seed_option
@url_option("amqp", "The RabbitMQ to ask; rabbitmqctl must reach the same.")
@click.pass_context
def topologies(context: click.Context, *, out: Path, count: int, first: int, seed: int, amqp: str) -> None:
    """Declare random topologies on a live RabbitMQ, publish to them, and compare who gets each message.

    They have all exchange types that are simulated and that the broker has, alternate exchanges by argument and by policy,
    cycles, internal exchanges, CC and BCC, several vhosts, and names of every kind. Vhosts of their own are made, and
    removed afterwards. A topology follows from the seed and its number.

    The exit code is 1 if any message differs, or if a feature is in less than a tenth of the topologies, and 3 if the broker cannot
    be reached.

    \b
    Example:
      python -m benchmarks topologies --topologies 50 --out /tmp/topologies
    """  # noqa: D301 - click wants the control character itself
    from benchmarks.verification.topologies import compare, write
    from dfa_router.brokers.address import parse

    terminal: Terminal = context.obj.terminal
    with terminal.progress("topologies") as report:
        compared = compare(parse(amqp), topologies=count, seed=seed, first=first, progress=report)
    line = f"python -m benchmarks topologies --topologies {count} --seed {seed}"
    terminal.show(
        f"{compared.product}: {compared.topologies:,} topologies, {compared.messages:,} messages, {compared.copies:,} copies, "
        f"{len(compared.differences):,} differences; too rare: {', '.join(compared.rare) or 'nothing'}"
    )
    terminal.show(f"wrote {write(compared, out, command=line)}")
    if compared.differences or compared.rare:
        context.exit(ExitCode.FOUND)
