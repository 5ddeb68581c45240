"""``python -m benchmarks findings``: the fuzzer tests released packages, and a live broker judges what it finds."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchmarks.options import out_option, seed_option, url_option

if TYPE_CHECKING:
    from benchmarks.verification.findings import Examined, Subject
    from dfa_router.brokers import Broker
    from dfa_router.cli.terminal import Terminal

__all__ = ["findings"]


@click.command(short_help="Test released packages with the fuzzer.")
@click.argument("packages", nargs=-1)
@out_option("findings.csv and findings.md")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=15.0,
    show_default=True,
    help="How long each package is asked.",
)
@click.option(
    "--environments",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="A folder for the packages' environments, which is used again.  [default: one that is removed]",
)
@seed_option
@url_option("amqp", "The RabbitMQ that judges.")
@url_option("mqtt", "The MQTT broker that judges.")
@url_option("nats", "The NATS server that judges.")
@click.pass_context
def findings(
    context: click.Context,
    *,
    packages: tuple[str, ...],
    out: Path,
    seconds: float,
    environments: Path | None,
    seed: int,
    amqp: str,
    mqtt: str,
    nats: str,
) -> None:
    """Find what released packages answer wrong, and shrink it to the simplest case.

    PACKAGES are named as in the table (kombu, qlobber, ...); all by default. Each is installed in an environment of its own,
    from PyPI or npm; what cannot be is listed with the reason.

    A live broker is asked every minimal case, which is stated as a finding only if the broker answers as we do. Without a
    broker the cases are written as not confirmed.

    \b
    Example:
      python -m benchmarks findings kombu qlobber --seconds 20 --out /tmp/findings
    """  # noqa: D301 - click wants the control character itself
    from benchmarks.verification.findings import SUBJECTS, write

    known = {subject.name: subject for subject in SUBJECTS}
    unknown = sorted(set(packages) - set(known))
    if unknown:
        raise click.BadParameter(f"no package {unknown[0]!r}: use {', '.join(known)}", param_hint="PACKAGES")
    terminal: Terminal = context.obj.terminal
    chosen = [known[name] for name in packages or known]
    with ExitStack() as stack:
        folder = environments or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="findings-")))
        brokers = {
            scheme: _broker(url, terminal, stack)
            for scheme, url in (("amqp", amqp), ("mqtt", mqtt), ("nats", nats))
            if any(subject.broker == scheme for subject in chosen)
        }
        found = _examined(chosen, folder.resolve(), brokers, seconds, seed, terminal)
    options = f" --seconds {seconds:g} --seed {seed}"
    for path in write(found, out, command=" ".join(["python -m benchmarks findings", *packages]) + options):
        terminal.show(f"wrote {path}")


def _examined(
    chosen: Sequence[Subject],
    folder: Path,
    brokers: dict[str, Broker | None],
    seconds: float,
    seed: int,
    terminal: Terminal,
) -> list[Examined]:
    from benchmarks.verification.findings import Examined, InstallError, examine, installed

    found = []
    for subject in chosen:
        with terminal.progress("steps") as report:
            if report is not None:
                report(f"{subject.name}: installing", 0, 3)
            try:
                environment = installed(subject, folder)
            except InstallError as error:
                one = Examined(subject=subject, reason=str(error))
            else:
                one = examine(environment, brokers[subject.broker], seconds=seconds, seed=seed, progress=report)
        found.append(one)
        terminal.show(_summary(one))
    return found


def _broker(url: str, terminal: Terminal, stack: ExitStack) -> Broker | None:
    """Return the broker that judges; None, after a message, where none answers."""
    from dfa_router.brokers import connect
    from dfa_router.errors import EnvironmentLacksError

    try:
        return stack.enter_context(connect(url))
    except EnvironmentLacksError as error:
        terminal.show(f"nothing will be stated without a broker: {error}")
        return None


def _summary(one: Examined) -> str:
    name = one.subject.name
    if one.version is None:
        return f"{name}: not asked: {one.reason}"
    stated = [judged.finding.case for judged in one.judged if judged.stated]
    simplest = "".join(f"\n  {', '.join(case.table[:4])!r} with the key {case.key!r}" for case in stated[:3])
    others = len(one.judged) - len(stated)
    said = f"{name} {one.version}: {one.cases:,} cases, {len(stated) or 'no'} finding{'s' * (len(stated) != 1)}"
    return said + (f", {others} not confirmed" if others else "") + simplest
