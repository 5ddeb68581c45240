"""The options by which commands are told of a topology, each defined once."""

from __future__ import annotations

import click

from dfa_router.errors import OptionError, UnknownNameError
from dfa_router.rabbitmq import Topology
from dfa_router.rabbitmq.names import no_exchange
from dfa_router.reports import Report

__all__ = [
    "WHERE",
    "broker_option",
    "check_messages_given",
    "check_vhost",
    "definitions_option",
    "listing_option",
    "tell_loading",
    "vhost_option",
]

WHERE = (
    "a file that 'rabbitmqctl export_definitions' wrote, '-' for standard input, or the address of a management API, such as "
    "http://localhost:15672 (user and password: DFA_ROUTER_USER and DFA_ROUTER_PASSWORD in the environment)"
)
"""Where definitions may be."""

definitions_option = click.option("--definitions", required=True, metavar="WHERE", help=f"The topology: {WHERE}.")

listing_option = click.option(
    "--listing",
    "listings",
    multiple=True,
    metavar="WHERE",
    help="A listing with what exports leave out, internal exchanges and exclusive queues: what /api/exchanges, /api/queues or "
    "/api/bindings wrote, or 'rabbitmqctl list_exchanges --formatter json'. May be given several times; a management API as "
    "--definitions gives its own.",
)

broker_option = click.option(
    "--broker",
    metavar="VERSION",
    help="The version of RabbitMQ whose rules hold where versions differ, such as 3.10.  [default: the one that wrote the "
    "definitions, or the newest]",
)

vhost_option = click.option(
    "--vhost",
    default="/",
    show_default=True,
    help="Of messages without a vhost column, and of definitions that name no vhost.",
)


def check_messages_given(messages: str | None, kind: str | None) -> None:
    """Raise :class:`OptionError` for a format of messages where none are given."""
    if messages is None and kind is not None:
        raise OptionError("--format is of the messages: give --messages PATH, too, or leave it out")


def tell_loading(report: Report | None) -> None:
    """Say that definitions are being loaded: a broker's answer, or a large file, takes seconds in which nothing else is to be said."""
    if report is not None:
        report("loading definitions", 0, 0)


def check_vhost(topology: Topology, vhost: str) -> None:
    """Raise :class:`UnknownNameError` for a vhost that is not there; the text names the option that chooses one."""
    if vhost not in topology.vhosts:
        raise UnknownNameError(
            f"{no_exchange('', vhost, topology.vhosts, (), topology.source)}; choose one with --vhost"
        )
