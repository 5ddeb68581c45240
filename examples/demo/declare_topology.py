"""Declare the demo's deployment on a running RabbitMQ, export its definitions, and remove it again.

Writes ``definitions.json`` beside this file: what ``rabbitmqctl export_definitions`` says of the deployment's virtual
hosts, sorted, without users, permissions and password hashes. Run it on the broker's machine in the repository's
folder, as a user who may use rabbitmqctl:

    python -m examples.demo.declare_topology

It creates the virtual hosts and removes them at the end, also after an error or Ctrl-C. If one of them exists already,
it does nothing, since that one is not its own.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pika

from examples.demo.deployment import BINDINGS, EXCHANGES, QUEUES, VHOSTS, queue_arguments

OUT = Path(__file__).with_name("definitions.json")

KEPT = ("vhosts", "exchanges", "queues", "bindings", "policies")
"""The parts of an export that describe the deployment; users, permissions and parameters describe the broker."""

INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


def main() -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="localhost", help="where the broker listens (default: %(default)s)")
    parser.add_argument("--port", type=int, default=5672, help="(default: %(default)s)")
    parser.add_argument("--user", default="guest", help="(default: %(default)s)")
    parser.add_argument("--password", default="guest", help="(default: %(default)s)")
    parser.add_argument("--out", type=Path, default=OUT, help="(default: %(default)s)")
    options = parser.parse_args()
    for number in INTERRUPTS:
        signal.signal(number, _interrupt)
    try:
        with ExitStack() as made:
            for vhost in VHOSTS:
                made.enter_context(virtual_host(vhost, options.user))
            for vhost in VHOSTS:
                parameters = pika.ConnectionParameters(
                    host=options.host,
                    port=options.port,
                    virtual_host=vhost,
                    credentials=pika.PlainCredentials(options.user, options.password),
                )
                declare(vhost, parameters)
            definitions = kept(json.loads(rabbitmqctl("export_definitions", "-")))
    except KeyboardInterrupt:
        print("interrupted: the virtual hosts are removed, nothing is written", file=sys.stderr)
        return 130
    except (pika.exceptions.AMQPError, RuntimeError) as error:
        print(f"declare_topology: {str(error) or repr(error)}", file=sys.stderr)
        return 3
    options.out.write_text(json.dumps(definitions, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{options.out}: " + ", ".join(f"{len(definitions[kind])} {kind}" for kind in KEPT))
    return 0


@contextmanager
def virtual_host(name: str, user: str) -> Iterator[None]:
    """Create a virtual host in which the user may do everything; at the end remove it with all that is in it."""
    if exists(name):
        raise RuntimeError(
            f"the broker has a virtual host {name!r} already. If it is left over from an earlier run, remove it: "
            f"rabbitmqctl delete_vhost {name}"
        )
    try:
        rabbitmqctl("add_vhost", name, "--description", "made by dfa-router's demo")
        rabbitmqctl("set_permissions", "--vhost", name, user, ".*", ".*", ".*")
        yield
    finally:
        for number in INTERRUPTS:
            signal.signal(number, signal.SIG_IGN)  # a second Ctrl-C must not interrupt the clean-up
        if exists(name):
            rabbitmqctl("delete_vhost", name)


def exists(vhost: str) -> bool:
    """Tell whether the broker has a virtual host of that name."""
    return vhost in rabbitmqctl("list_vhosts", "name", "--silent").splitlines()


def declare(vhost: str, parameters: pika.ConnectionParameters) -> None:
    """Declare the exchanges, queues and bindings of a virtual host."""
    connection = pika.BlockingConnection(parameters)
    channel = connection.channel()
    for exchange in EXCHANGES:
        if exchange.vhost == vhost:
            channel.exchange_declare(exchange.name, exchange.type, durable=True, arguments=exchange.arguments)
    for owner, queue in QUEUES:
        if owner == vhost:
            channel.queue_declare(queue, durable=True, arguments=queue_arguments(vhost, queue))
    for binding in BINDINGS:
        if binding.vhost == vhost:
            bind = channel.exchange_bind if binding.to_exchange else channel.queue_bind
            bind(binding.destination, binding.source, binding.pattern, arguments=binding.arguments)
    # Not closed after an error or Ctrl-C: in the middle of a call, close() would wait for an answer that never comes.
    # The broker closes the connection when its virtual host is deleted.
    connection.close()


def kept(export: dict[str, Any]) -> dict[str, Any]:
    """Return what an export says of the deployment's virtual hosts, in an order that the broker does not decide."""
    fields = ("vhost", "name", "source", "destination", "routing_key")
    versions = {name: export[name] for name in ("rabbit_version", "rabbitmq_version") if name in export}
    entries = {
        kind: sorted(
            (entry for entry in export[kind] if entry.get("vhost", entry.get("name")) in VHOSTS),
            key=lambda entry: [entry.get(field, "") for field in fields],
        )
        for kind in KEPT
    }
    return versions | entries


def rabbitmqctl(*arguments: str) -> str:
    """Run rabbitmqctl and return what it prints; raises RuntimeError with its error message."""
    try:
        # In a session of its own, rabbitmqctl does not get the SIGINT of a Ctrl-C, which would stop the clean-up.
        run = subprocess.run(
            ["rabbitmqctl", "--quiet", *arguments], capture_output=True, text=True, check=False, start_new_session=True
        )
    except FileNotFoundError:
        raise RuntimeError("rabbitmqctl is not on PATH: run this on the broker's machine") from None
    if run.returncode != 0:
        raise RuntimeError(f"rabbitmqctl {arguments[0]} failed: {(run.stderr or run.stdout).strip()}")
    return run.stdout


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    raise SystemExit(main())
