"""``dfa-router fuzz``: a campaign against a matcher, a program or a live broker."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dfa_router.cli.exit_codes import ExitCode
from dfa_router.cli.spark_session import spark_session
from dfa_router.language.dialects import DIALECTS

if TYPE_CHECKING:
    from dfa_router.cli.terminal import Terminal
    from dfa_router.fuzz.tally import Campaign, Plan, Tally
    from dfa_router.target import Round

__all__ = ["fuzz"]

_REDRAWN, _SAID = 0.2, 10.0
"""Seconds between two updates of the progress: redrawn on a terminal, and as lines elsewhere."""


@click.command(short_help="Find where a matcher or broker is wrong, and shrink it to one line.")
@click.option("--target", "spec", required=True, metavar="SPEC", help="What to test, see above.")
@click.option(
    "--dialect", type=click.Choice(list(DIALECTS)), default="amqp", show_default=True, help="The pattern language."
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    help="How long to test.  [default: 60, or as long as --rounds take]",
)
@click.option("--rounds", type=click.IntRange(min=1), help="How many rounds to ask, if that is reached first.")
@click.option("--seed", type=click.IntRange(min=0), help="Repeat the run of this seed.  [default: a new one]")
@click.option(
    "--size", metavar="PxK", help="Patterns and keys of a round, such as 100x500.  [default: small and some large ones]"
)
@click.option("--keep-going", is_flag=True, help="Go on after a disagreement, and report each kind once.")
@click.option(
    "--validity/--no-validity",
    default=None,
    help="Whether the target must refuse what the dialect refuses.  [default: if it refuses anything]",
)
@click.option(
    "--corpus",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="A folder that keeps what is found, a text file per case; its cases are asked first.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    help="Seconds that a program or callable may take for one answer.",
)
@click.option(
    "--spark", "master", metavar="MASTER", help="Spread the rounds over Spark, such as local[4] or spark://host:7077."
)
@click.option("--json", "as_json", is_flag=True, help="Write the result to stdout as one JSON object.")
@click.pass_context
def fuzz(
    context: click.Context,
    *,
    spec: str,
    dialect: str,
    seconds: float | None,
    rounds: int | None,
    seed: int | None,
    size: str | None,
    keep_going: bool,
    validity: bool | None,
    corpus: Path | None,
    timeout: float,
    master: str | None,
    as_json: bool,
) -> None:
    """Compare a matcher with the specification, on binding sets and keys that matchers have tripped over.

    \b
    SPEC is one of
      dfa                     an engine of this package: dfa, nfa, trie, scan and others
      module:callable         Python: f(patterns: list[str], key: str), which returns the
                              positions of the patterns that match; ValueError refuses one
      cmd:./my-matcher        a program that reads and answers JSON lines (docs/fuzz-protocol.md)
      amqp://guest@localhost  a live broker, as mqtt://localhost and nats://localhost are;
                              bindings and queues of the run are removed after it

    The first disagreement is shrunk to the fewest bindings and the shortest pattern and key, explained, and printed
    with a test case; --keep-going goes on and reports each kind of disagreement once. Ctrl-C ends the run with what
    was found so far.

    Exit codes: 0 no disagreement, 1 a disagreement was found or the target failed, 2 wrong usage, 3 the machine lacks
    something, 130 interrupted before anything was found.

    \b
    Examples:
      dfa-router fuzz --target mypackage.router:match --seconds 60
      dfa-router fuzz --target cmd:./matcher --dialect mqtt --corpus tests/corpus --keep-going
      dfa-router fuzz --target amqp://guest:guest@localhost --size 100x500
    """  # noqa: D301 - click wants the control character itself
    from dfa_router.fuzz.campaign import run
    from dfa_router.fuzz.generating.rounds import Size
    from dfa_router.fuzz.tally import Plan
    from dfa_router.fuzz.targets import open_target
    from dfa_router.fuzz.text.corpus import read_corpus, write_corpus
    from dfa_router.fuzz.text.report import campaign_json, finding_text, summary_text
    from dfa_router.language.dialects import dialect_named

    terminal: Terminal = context.obj.terminal
    language = dialect_named(dialect)
    measure = None if size is None else Size.parse(size)
    replayed = [] if corpus is None else read_corpus(corpus, language)
    seed = time.time_ns() % 1_000_000_000 if seed is None else seed
    seconds = 60.0 if seconds is None and rounds is None else seconds
    target = open_target(spec, language, timeout=timeout)
    terminal.show(f"{target.name} against the specification of {dialect}, seed {seed}")
    try:
        if master is None:
            with _progress(terminal) as progress:
                campaign = run(
                    target,
                    language,
                    seconds=seconds,
                    rounds=rounds,
                    seed=seed,
                    size=measure,
                    keep_going=keep_going,
                    validity=validity,
                    corpus=replayed,
                    progress=progress,
                )
        else:
            target.close()  # the workers open their own: this one has shown, before Spark starts, that there is one
            plan = Plan(dialect=language, seed=seed, size=measure, keep_going=keep_going, validity=validity)
            campaign = _on_spark(terminal, master, spec, plan, seconds, rounds, timeout, replayed)
    finally:
        target.close()
    kept = [] if corpus is None else write_corpus(corpus, campaign.findings)
    if as_json:
        click.echo(json.dumps(campaign_json(campaign), indent=2))
    else:
        for finding in campaign.findings:
            click.echo(finding_text(finding) + "\n")
        click.echo(summary_text(campaign))
    for path in kept:
        terminal.show(f"kept {path}")
    if not campaign.agrees:
        context.exit(ExitCode.FOUND)
    if campaign.interrupted:
        context.exit(ExitCode.INTERRUPTED)


def _on_spark(
    terminal: Terminal,
    master: str,
    spec: str,
    plan: Plan,
    seconds: float | None,
    rounds: int | None,
    timeout: float,
    corpus: list[tuple[str, Round]],
) -> Campaign:
    """Run the campaign in a session of its own, which is stopped at the end."""
    from dfa_router.spark.session import require_spark

    require_spark()
    from dfa_router.spark.campaign import run_on_spark

    with spark_session(terminal, master, app_name="dfa-router fuzz") as session, _progress(terminal) as progress:
        return run_on_spark(
            session,
            spec,
            plan,
            seconds=seconds,
            rounds=rounds,
            timeout=timeout,
            corpus=corpus,
            progress=progress,
        )


@contextmanager
def _progress(terminal: Terminal) -> Iterator[Callable[[Tally, float], None] | None]:
    """Yield a function that shows how far a campaign is, redrawn on a terminal and as a line from time to time elsewhere."""
    if terminal.quiet:
        yield None
        return
    last = 0.0
    if not terminal.console.is_terminal:

        def say(tally: Tally, passed: float) -> None:
            nonlocal last
            if passed - last >= _SAID:
                last = passed
                terminal.show(_status(tally, passed))

        yield say
        return
    from rich.live import Live

    with Live(console=terminal.console, transient=True, auto_refresh=False) as live:

        def redraw(tally: Tally, passed: float) -> None:
            nonlocal last
            if passed - last >= _REDRAWN:
                last = passed
                counts = ", ".join(f"{name} {count:,}" for name, count in sorted(tally.classes.items()))
                live.update(f"{_status(tally, passed)}\nrounds by class: {counts}", refresh=True)

        yield redraw


def _status(tally: Tally, passed: float) -> str:
    rate = tally.cases / max(passed, 1e-9)
    asked = f"{tally.rounds:,} rounds of {len(tally.classes)} classes, {tally.cases:,} cases"
    return f"{passed:.0f} s: {asked}, {rate:,.0f} cases/s, {len(tally.findings)} findings"
