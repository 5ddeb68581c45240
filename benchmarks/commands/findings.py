"""``python -m benchmarks findings``: the fuzzer tests released packages, and a live broker judges what it finds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchmarks.options import out_option, seed_option, url_option

if TYPE_CHECKING:
    from benchmarks.verification.findings import Examined
    from dfa_router.brokers import Broker
    from dfa_router.cli.terminal import Terminal

__all__ = ["findings"]


@click.command(short_help="Test released packages with the fuzzer.")
@click.argument("packages", nargs=-1)
@out_option("findings.csv and findings.md")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="How long each package is asked.",
)
@seed_option
@url_option("amqp", "The RabbitMQ that judges.")
@url_option("mqtt", "The MQTT broker that judges.")
@click.pass_context
def findings(
    context: click.Context, *, packages: tuple[str, ...], out: Path, seconds: float, seed: int, amqp: str, mqtt: str
) -> None:
    """Find what released packages answer wrong, and shrink it to the simplest case.

    PACKAGES are among kombu, faststream, hyperscan, google-re2, aiomqtt, paho, paho-matcher and amqtt; all by default.
    Those that are not installed are left out and named: pip install 'dfa-router[findings]' brings them.

    A live broker is asked every minimal case, which is stated as a finding only if the broker answers as we do. Without a
    broker the cases are written as not confirmed.

    \b
    Example:
      python -m benchmarks findings kombu faststream --seconds 20 --out /tmp/findings
    """  # noqa: D301 - click wants the control character itself
    from benchmarks.verification.findings import SUBJECTS, examine, write

    known = {subject.name: subject for subject in SUBJECTS}
    unknown = sorted(set(packages) - set(known))
    if unknown:
        raise click.BadParameter(f"no package {unknown[0]!r}: use {', '.join(known)}", param_hint="PACKAGES")
    terminal: Terminal = context.obj.terminal
    chosen = [known[name] for name in packages or known]
    brokers = {
        scheme: _broker(url, terminal)
        for scheme, url in (("amqp", amqp), ("mqtt", mqtt))
        if any(subject.broker == scheme for subject in chosen)
    }
    found = []
    try:
        for subject in chosen:
            with terminal.progress("steps") as report:
                one = examine(subject, brokers[subject.broker], seconds=seconds, seed=seed, progress=report)
            found.append(one)
            terminal.show(_summary(one))
    finally:
        for broker in brokers.values():
            if broker is not None:
                broker.close()
    options = f" --seconds {seconds:g} --seed {seed}"
    for path in write(found, out, command=" ".join(["python -m benchmarks findings", *packages]) + options):
        terminal.show(f"wrote {path}")


def _broker(url: str, terminal: Terminal) -> Broker | None:
    """Return the broker that judges; None, after a message, where none answers."""
    from dfa_router.brokers import connect
    from dfa_router.errors import EnvironmentLacksError

    try:
        return connect(url)
    except EnvironmentLacksError as error:
        terminal.show(f"nothing will be stated without a broker: {error}")
        return None


def _summary(one: Examined) -> str:
    name = one.subject.name
    if one.version is None:
        return f"{name}: not installed (pip install 'dfa-router[findings]')"
    stated = [judged.finding.case for judged in one.judged if judged.stated]
    simplest = "".join(f"\n  {', '.join(case.patterns)!r} with the key {case.key!r}" for case in stated[:3])
    others = len(one.judged) - len(stated)
    said = f"{name} {one.version}: {one.cases:,} cases, {len(stated) or 'no'} finding{'s' * (len(stated) != 1)}"
    return said + (f", {others} not confirmed" if others else "") + simplest
