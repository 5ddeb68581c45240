"""The options that several commands take, each defined once."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

__all__ = [
    "expected_steps",
    "new_seed_option",
    "out_option",
    "plots_option",
    "quick_option",
    "rounds_option",
    "seed_option",
    "url_option",
]

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def expected_steps(done: int, seconds: float, minutes: float | None) -> int:
    """Return how many steps a run of ``--minutes`` will have, of which so many took so many seconds; without, those that are done.

    >>> expected_steps(10, 30.0, 1.0), expected_steps(10, 30.0, None)
    (20, 10)
    """
    return int(done * max(1.0, 60 * (minutes or 0) / max(seconds, 0.001)))


def out_option(files: str) -> Decorator:
    """Add ``--out``, the folder for these files."""
    return click.option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path("benchmarks/results"),
        show_default=True,
        help=f"The folder for {files}; files of an earlier run are replaced.",
    )


def quick_option(what: str) -> Decorator:
    """Add ``--quick``; ``what`` says what is left out."""
    return click.option("--quick", is_flag=True, help=f"{what}: to see it work, not to quote.")


def rounds_option(default: int) -> Decorator:
    """Add ``--rounds``: a figure is the median of that many."""
    return click.option(
        "--rounds", type=click.IntRange(1), default=default, show_default=True, help="Rounds to take the median of."
    )


def seed_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--seed``, from which all cases are made."""
    return click.option(
        "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="What the cases are made from."
    )(command)


def new_seed_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--seed``, from which all workloads are drawn: another one in each run, unless it is given."""
    return click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=lambda: secrets.randbelow(2**31),
        show_default="a new one each time",
        help="What the workloads are drawn from.",
    )(command)


def plots_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--plots/--no-plots``; raises :class:`EnvironmentLacksError` before the run where matplotlib is missing."""
    return click.option(
        "--plots/--no-plots",
        default=True,
        show_default=True,
        callback=_drawable,
        help="Draw plots, which needs matplotlib.",
    )(command)


def _drawable(_context: click.Context, _option: click.Parameter, plots: bool) -> bool:
    from benchmarks.plotting import check_installed

    if plots:
        check_installed()
    return plots


def url_option(scheme: str, what: str) -> Decorator:
    """Add the address of a broker: ``--amqp``, ``--mqtt`` or ``--nats``; ``what`` says which broker that is."""
    return click.option(f"--{scheme}", metavar="URL", default=f"{scheme}://127.0.0.1", show_default=True, help=what)
