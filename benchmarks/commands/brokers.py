"""``python -m benchmarks brokers``: the ``dfa`` engine compared with live brokers, millions of cases each."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchmarks.options import out_option, seed_option, url_option
from dfa_router.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from benchmarks.verification.brokers import Compared
    from dfa_router.cli.terminal import Terminal

__all__ = ["brokers"]


@click.command(short_help="Compare the dfa engine with live brokers.")
@out_option("brokers.csv and brokers.md")
@click.option(
    "--cases",
    type=click.IntRange(min=1),
    default=11_000_000,
    show_default=True,
    help="How many (pattern, key) pairs each broker answers.",
)
@seed_option
@url_option("amqp", "The RabbitMQ to ask.")
@url_option("mqtt", "The MQTT broker to ask.")
@url_option("nats", "The NATS server to ask.")
@click.pass_context
def brokers(context: click.Context, *, out: Path, cases: int, seed: int, amqp: str, mqtt: str, nats: str) -> None:
    """Compare the dfa engine with a live RabbitMQ, MQTT broker and NATS server, case by case.

    Each broker gets binding sets and keys; who received what must be what the engine says. Then the broker is asked about
    patterns one by one: whatever it refuses must be refused here. All queues and exchanges have names of their own and
    are removed afterwards.

    The exit code is 1 if anything differs, or if we take a pattern that a broker refuses. It is 3 if nothing differs, but
    a broker could not be reached.

    \b
    Example:
      python -m benchmarks brokers --cases 200000 --out /tmp/brokers
    """  # noqa: D301 - click wants the control character itself
    from benchmarks.verification.brokers import compare, write
    from dfa_router.brokers import connect
    from dfa_router.errors import EnvironmentLacksError

    urls = {"amqp": amqp, "mqtt": mqtt, "nats": nats}
    for scheme, url in urls.items():
        if not url.startswith(f"{scheme}://"):
            raise click.BadParameter(f"{url!r} is no {scheme}:// address", param_hint=f"--{scheme}")
    terminal: Terminal = context.obj.terminal
    compared, missing = [], {}
    with ExitStack() as stack:
        opened = []
        for scheme, url in urls.items():  # all before the first case: a wrong password shows at once
            try:
                opened.append(stack.enter_context(connect(url)))
            except EnvironmentLacksError as error:
                missing[scheme] = str(error)
                terminal.show(f"not asked: {error}")
        for broker in opened:
            with terminal.progress("thousand cases") as report:
                one = compare(broker, cases=cases, seed=seed, progress=report)
            compared.append(one)
            terminal.show(_summary(one))
    for path in write(
        compared, out, command=f"python -m benchmarks brokers --cases {cases} --seed {seed}", missing=missing
    ):
        terminal.show(f"wrote {path}")
    if not all(one.agrees for one in compared):
        context.exit(ExitCode.FOUND)
    if missing:
        context.exit(ExitCode.ENVIRONMENT)


def _summary(one: Compared) -> str:
    said = (
        f"{one.product}: {one.cases:,} cases in {one.seconds:.1f} seconds, "
        f"{one.disagreements or 'no'} disagreement{'s' * (one.disagreements != 1)}"
    )
    told = one.refusals
    said += f"; of {told.asked:,} patterns asked alone both refuse {told.both_refuse:,}"
    if told.unexplained:
        said += (
            f", and the broker alone refuses {len(told.unexplained):,}, such as {told.unexplained[0].pattern[:60]!r}"
        )
    deviations = sum(answer.deviates for answer in one.shared)
    if deviations:
        said += f"; {deviations} of {len(one.shared)} shared subscriptions are not as the specification has them"
    for finding in one.findings[:3]:
        said += f"\n  {finding.accused} {finding.kind}: {finding.case.patterns!r} with the key {finding.case.key!r}"
    return said + (f"\n  ended early: {one.ended}" if one.ended else "")
