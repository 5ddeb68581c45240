"""``dfa-router bench``: the benchmarks, each a command."""

from __future__ import annotations

import click

from dfa_router.cli.bench_brokers import brokers
from dfa_router.cli.bench_engine import engine
from dfa_router.cli.bench_findings import findings
from dfa_router.cli.bench_growth import growth
from dfa_router.cli.bench_seeds import seeds
from dfa_router.cli.bench_soak import soak

__all__ = ["bench"]


@click.group(short_help="Measure the engines and what they are compared with.")
def bench() -> None:
    """Measure the engines and what they are compared with.

    Each benchmark writes a page of tables, with the machine's name, and all but the soak their figures as CSV.
    """


bench.add_command(brokers)
bench.add_command(engine)
bench.add_command(findings)
bench.add_command(growth)
bench.add_command(seeds)
bench.add_command(soak)
