"""What ``dfa-router explain`` and ``why-not`` say of a message's way through a definitions file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click

from dfa_router.analysis.explaining import KEY_END, Miss
from dfa_router.counted import counted
from dfa_router.errors import BindingError, OptionError
from dfa_router.inspection.arrows import quoted_exchange
from dfa_router.inspection.way import Barrier, Met, Way
from dfa_router.rabbitmq import Topology
from dfa_router.rabbitmq.nodes import queues_of
from dfa_router.strict_json import RepeatedKeyError, loads

__all__ = [
    "barrier_lines",
    "check_queue",
    "message_options",
    "nearest_key",
    "read_attributes",
    "taken_texts",
    "way_lines",
    "why_missed",
]


def message_options(command: Any) -> Any:
    """Add what else is known of a message: ``--headers``, ``--cc`` and ``--bcc``."""
    for option in (
        click.option("--bcc", multiple=True, metavar="KEY", help="A further routing key that consumers do not see."),
        click.option("--cc", multiple=True, metavar="KEY", help="A further routing key; may be repeated."),
        click.option("--headers", metavar="JSON", help="The message's headers, an object of names and values."),
    ):
        command = option(command)
    return command


def read_attributes(headers: str | None, cc: tuple[str, ...], bcc: tuple[str, ...]) -> dict[str, Any]:
    """Return what was given; raises :class:`OptionError` for headers that are no JSON object, or have a name twice."""
    given: dict[str, Any] = {name: list(keys) for name, keys in (("cc", cc), ("bcc", bcc)) if keys}
    if headers is not None:
        try:
            given["headers"] = loads(headers)
        except RepeatedKeyError as error:
            raise OptionError(f"--headers: {error}; remove one of them") from None
        except RecursionError:
            raise OptionError("--headers is nested too deeply: no broker takes such a table") from None
        except ValueError as error:
            raise OptionError(
                f'--headers is no JSON: {error}; write an object such as \'{{"type": "order"}}\''
            ) from None
        if not isinstance(given["headers"], dict):
            raise OptionError('--headers is no object: write names and values, such as \'{"type": "order"}\'')
    return given


def check_queue(topology: Topology, queue: str, vhost: str) -> None:
    """Raise :class:`BindingError` for a queue that is not there."""
    if (vhost, queue) not in queues_of(topology):
        raise BindingError(f"{topology.source}: vhost {vhost!r} has no queue {queue!r}, neither declared nor bound")


def way_lines(file: str, found: Way) -> Iterator[str]:
    """Yield the hops of a message, a line for each exchange and for each binding that is met."""
    for hop in found.hops:
        name = quoted_exchange(hop.exchange)
        if hop.remark is not None:
            yield f"{name} {hop.remark}"
        elif hop.met:
            yield f"{name} ({hop.type})"
        elif hop.alternate:
            yield f"{name} ({hop.type}): no binding is met, and its alternate exchange {hop.alternate!r} gets the message"
        else:
            yield f"{name} ({hop.type}): no binding is met"
        for one in hop.met:
            place = f" ({file}:bindings[{one.binding}])" if one.binding >= 0 else ""
            taken = "".join(f", {text}" for text in taken_texts(one.taken, "."))
            yield f"  {one.demand}{place}{taken}: to {_end(one)}"
    held = [
        f"{name} (holds nothing: only who consumes at that moment gets it)" if name in found.route.unheld else name
        for name in found.route.queues
    ]
    none = "none for certain" if found.route.one_of else "none"
    yield f"queues: {', '.join(held) or none}"


def taken_texts(taken: Iterable[tuple[str, Sequence[str]]], separator: str) -> Iterator[str]:
    """Yield what each word of a pattern took.

    >>> list(taken_texts([("*", ("",)), ("#", ("b", "c")), ("#", ())], "/"))
    ["* took ''", '# took b/c', '# took nothing']
    """
    for token, words in taken:
        yield f"{token or repr('')} took {(separator.join(words) or repr('')) if words else 'nothing'}"


def barrier_lines(file: str, key: str, barred: Iterable[Barrier]) -> Iterator[str]:
    """Yield what keeps a message from a queue: two lines for a pattern, one for another demand."""
    for one in barred:
        place = f" ({file}:bindings[{one.binding}])" if one.binding >= 0 else ""
        head = f"{quoted_exchange(one.exchange)}: {one.demand}{place} to {_end(one)}"
        if one.undecided is not None:
            yield f"{head}: the exchange {one.undecided}"
        elif one.miss is None:
            yield f"{head} is not met"
        else:
            yield f"{head} does not match {key!r}: {why_missed(one.miss)}"
            yield f"    {nearest_key(one.miss)}"


def _end(one: Met | Barrier) -> str:
    """Return where a binding leads; one to the default exchange leads to no queue."""
    if one.destination_type == "exchange" and not one.destination:
        return "the default exchange, where its way ends"
    return f"{one.destination_type} {one.destination!r}"


def why_missed(miss: Miss) -> str:
    """Return what broke a match."""
    if miss.rule is not None:
        return miss.rule
    expected = " or ".join("the key's end" if one == KEY_END else repr(one) for one in miss.expected)
    if miss.broken_by is None:
        return f"the key ends too early; expected {expected}"
    behind = f"behind {miss.prefix!r}" if miss.prefix else "at its beginning"
    return f"{behind}, {miss.broken_by!r} breaks it; expected {expected}"


def nearest_key(miss: Miss) -> str:
    """Return the nearest key that matches, in words."""
    if miss.nearest is None:
        return "no key matches it"
    return f"nearest key that does, {counted(miss.edits, 'word')} away: {miss.nearest!r}"
