"""The benchmarks and the long verification runs, each a command: ``python -m benchmarks NAME ...`` in a checkout."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from benchmarks.commands.ablations import ablations
from benchmarks.commands.accusations import accusations
from benchmarks.commands.brokers import brokers
from benchmarks.commands.engine import engine
from benchmarks.commands.families import families
from benchmarks.commands.findings import findings
from benchmarks.commands.frames import frames
from benchmarks.commands.growth import growth
from benchmarks.commands.pipeline import pipeline
from benchmarks.commands.regret import regret
from benchmarks.commands.sealed import sealed
from benchmarks.commands.seeds import seeds
from benchmarks.commands.soak import soak
from benchmarks.commands.topologies import topologies
from benchmarks.commands.topology import topology
from dfa_router.cli.running import begin, common_options, run_group

__all__ = ["run"]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@common_options
@click.pass_context
def benchmarks(context: click.Context, *, quiet: bool, verbose: bool, debug: bool) -> None:
    """Measure the engines beside what they are compared with, or verify them for longer than tests can.

    Each command writes a page of tables that names the machine and the command; all but ablations, soak,
    topologies and accusations write their figures as CSV, too. Exit codes are those of dfa-router.
    """
    begin(context, quiet=quiet, verbose=verbose, debug=debug)


COMMANDS = (
    *(engine, families, regret, sealed, seeds, growth, topology, frames, pipeline, ablations),
    *(soak, brokers, topologies, findings, accusations),
)
for command in COMMANDS:
    benchmarks.add_command(command)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    return run_group(benchmarks, arguments, "python -m benchmarks")


if __name__ == "__main__":
    sys.exit(run())
