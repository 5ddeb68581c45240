"""``dfa-router fuzz``: a campaign against a matcher, a program or a live broker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dfa_router.cli.exit_codes import ExitCode
from dfa_router.cli.fuzz_asking import asked_of
from dfa_router.cli.fuzz_options import READ, Outcome, outcome_options, scope_options
from dfa_router.cli.fuzz_progress import progress_on
from dfa_router.cli.options import dialect_option
from dfa_router.cli.spark_session import spark_session
from dfa_router.cli.tables import write_line
from dfa_router.cli.written import GivenPath

if TYPE_CHECKING:
    from collections.abc import Callable

    from dfa_router.cli.fuzz_asking import Asked
    from dfa_router.cli.terminal import Terminal
    from dfa_router.fuzz.tally import Campaign
    from dfa_router.target import Target

__all__ = ["fuzz"]


@click.command(short_help="Find where a matcher or broker is wrong, and shrink it to one line.")
@click.option("--target", "spec", required=True, metavar="SPEC", help="What to test, see above.")
@dialect_option
@click.option(
    "--dialect-file",
    type=READ,
    metavar="FILE",
    help="A pattern language of your own, in TOML: the fields of dfa_router.Dialect, and like, the name of one whose other fields "
    "it takes; without like, they are the defaults.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    help="How long to test, from the start of the command.  [default: 60, or as long as --rounds take]",
)
@click.option("--rounds", type=click.IntRange(min=1), help="How many rounds to ask, if that is reached first.")
@click.option("--seed", type=click.IntRange(min=0), help="Repeat the run of this seed.  [default: a new one]")
@click.option("--round", "only", type=click.IntRange(min=0), metavar="N", help="Ask the round of this number alone.")
@click.option(
    "--case",
    "case_file",
    type=READ,
    metavar="FILE",
    help="Ask the cases of this file alone, as a corpus keeps them.",
)
@click.option(
    "--resume",
    type=READ,
    metavar="FILE",
    help="Go on where the run ended that wrote this --json result. A round that it did not ask to its end is asked, and counted, again.",
)
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
    type=GivenPath(file_okay=False),
    metavar="DIR",
    help="A folder that keeps what is found, a text file per case; its cases are asked first.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    help="Seconds that a program or callable may take for one answer; at most about a quarter of --seconds.",
)
@click.option("--python", metavar="PATH", help="The interpreter that imports a callable, if it is not this one.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes that ask at once.")
@click.option(
    "--spark", "master", metavar="MASTER", help="Spread the rounds over Spark, such as local[4] or spark://host:7077."
)
@scope_options
@outcome_options
@click.option("--json", "as_json", is_flag=True, help="Write the result to stdout as one JSON object.")
@click.pass_context
def fuzz(context: click.Context, /, **options: Any) -> None:
    """Compare a matcher with the specification, on binding sets and keys that matchers have tripped over.

    \b
    SPEC is one of
      dfa                     an engine of this package: dfa, nfa, trie, scan and others
      module:callable         Python: f(patterns: list[str], key: str), which returns the
                              positions of the patterns that match; ValueError refuses one.
                              Or a class: Matcher(patterns), with match(key), bind(pattern)
                              and unbind(position)
      cmd:./my-matcher        a program that reads and answers JSON lines (docs/fuzz-protocol.md)
      amqp://guest@localhost  a live broker, as mqtt://localhost and nats://localhost are;
                              bindings and queues of the run are removed after it

    The first disagreement is shrunk to the fewest bindings and the shortest pattern and key, or to the shortest history
    that shows it in a target that was started anew; it is explained, and printed with a test case. --keep-going goes on
    and reports each kind of disagreement once. Ctrl-C ends the run with what was found so far.

    Exit codes: 0 no disagreement, 1 a disagreement was found or the target failed, 2 wrong usage, 3 the machine lacks
    something, 130 interrupted before anything was found.

    \b
    Examples:
      dfa-router fuzz --target mypackage.router:match --seconds 60
      dfa-router fuzz --target cmd:./matcher --dialect mqtt --corpus tests/corpus --keep-going
      dfa-router fuzz --target amqp://guest:guest@localhost --size 100x500
      dfa-router fuzz --target adapters.kombu:match --python envs/kombu/bin/python --confirm amqp://localhost
    """  # noqa: D301 - click wants the control character itself
    from dfa_router.fuzz.targets import open_target
    from dfa_router.fuzz.text.report import campaign_json, finding_text, summary_text

    terminal: Terminal = context.obj.terminal
    outcome = Outcome(
        **{name: options.pop(name) for name in ("confirm", "baseline", "junit", "github")},
        corpus=options["corpus"],
        as_json=options["as_json"],
    )
    asked = asked_of(options, context.obj.since)
    plan, before = asked.plan, asked.before
    outcome.check(plan.dialect)
    patience = min(asked.timeout, asked.seconds or asked.timeout)
    target = open_target(asked.spec, plan.dialect, timeout=patience, python=asked.python)
    try:
        asked.check_target(target)
        if before is not None:
            before.check(target.name)
        terminal.show(f"{target.name} against the specification of {plan.dialect.name}, seed {plan.seed}")
        if spread := options["master"] is not None or options["jobs"] > 1:
            target.close()  # the workers open their own: this one has shown, before they start, that there is one

        def campaign_of(asked: Asked) -> Campaign:
            if spread:
                return _spread(terminal, asked, options["master"], options["jobs"])
            return _alone(terminal, asked, target)

        campaign, judged = _beyond_what_is_known(terminal, asked, outcome, campaign_of)
    finally:
        target.close()
    asked.check(campaign)
    if before is not None:
        campaign, judged = before.continued(campaign), None
    campaign = judged or outcome.judged(campaign)
    if options["as_json"]:
        click.echo(json.dumps(campaign_json(campaign), indent=2))
    else:
        report = "\n\n".join([*map(finding_text, campaign.findings), summary_text(campaign)])
        for line in report.split("\n"):
            write_line(line)  # a terminal takes no orders from what a target says
    for path in outcome.write(campaign):
        terminal.show(f"kept {path}")
    if not campaign.agrees:
        context.exit(ExitCode.FOUND)
    if campaign.interrupted:
        context.exit(ExitCode.INTERRUPTED)


def _beyond_what_is_known(
    terminal: Terminal, asked: Asked, outcome: Outcome, campaign_of: Callable[[Asked], Campaign]
) -> tuple[Campaign, Campaign | None]:
    """Run a campaign, and once more past a first finding that is known or not confirmed; return it, and it judged if it was."""
    campaign = campaign_of(asked)
    if not asked.ended_by_its_finding(campaign):
        return campaign, None
    judged = outcome.judged(campaign)
    if not judged.agrees:
        return campaign, judged
    again = asked.may_begin_again(campaign)
    then = "begins again, and goes on after it" if again else "ends there: --keep-going goes on after it"
    terminal.show(f"what was found is known or not confirmed: the run {then}")
    if not again:
        return campaign, judged
    further = campaign_of(asked.going_on)
    for finding in campaign.findings:  # which an interrupt may have kept from being found again
        further.tally.add(finding)
    return further, None


def _alone(terminal: Terminal, asked: Asked, target: Target) -> Campaign:
    """Run the campaign in this process, whose start counts as its time."""
    from dfa_router.fuzz.campaign import run

    plan = asked.plan
    with progress_on(terminal) as progress:
        return run(
            target,
            plan.dialect,
            **asked.limits,
            seed=plan.seed,
            size=plan.size,
            keep_going=plan.keep_going,
            validity=plan.validity,
            scope=plan.scope,
            replay_only=asked.replay_only,
            progress=progress,
        )


def _spread(terminal: Terminal, asked: Asked, master: str | None, jobs: int) -> Campaign:
    """Run the campaign on a Spark session of its own, which is stopped at the end, or by processes of this machine."""
    if master is None:
        from dfa_router.fuzz.spread import Task, run_on_cores

        task = Task(
            spec=asked.spec,
            plan=asked.plan,
            timeout=asked.timeout,
            folder=str(Path.cwd()),
            python=asked.python,
        )
        with progress_on(terminal) as progress:
            return run_on_cores(jobs, task, progress=progress, **asked.limits)
    from dfa_router.spark.session import require_spark

    require_spark()
    from dfa_router.spark.campaign import run_on_spark

    with spark_session(terminal, master, app_name="dfa-router fuzz") as session, progress_on(terminal) as progress:
        return run_on_spark(
            session,
            asked.spec,
            asked.plan,
            timeout=asked.timeout,
            python=asked.python,
            progress=progress,
            **asked.limits,
        )
