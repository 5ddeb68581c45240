"""The questions that an assistant may ask of a binding table, as plain functions of texts and numbers.

Each answers exactly, by the engines and proofs of this package, where a language model would guess. They read files of the
machine they run on, and write none. :mod:`dfa_router.cli.mcp` offers them by the Model Context Protocol.

Commands also read addresses of brokers and standard input, and tools do not: who asks may repeat what a text told it to ask, and
so could send the broker's password to any address; standard input is where the questions come from.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from dfa_router.analysis.differences import difference
from dfa_router.analysis.explaining import why_not as misses_of
from dfa_router.analysis.relations import relation as relation_of
from dfa_router.build import compile
from dfa_router.cli.binding_files import BindingFile, check_bindings, of_destination, read_bindings
from dfa_router.cli.configurations import ENDINGS, lint_configuration
from dfa_router.cli.ways import check_queue
from dfa_router.errors import OptionError
from dfa_router.file_names import local_name
from dfa_router.inspection.way import barriers, way
from dfa_router.language.dialects import dialect_named
from dfa_router.lint.linting import lint_bindings, lint_topology
from dfa_router.rabbitmq import load_definitions
from dfa_router.rabbitmq.sources import is_address

__all__ = ["TOOLS", "diff", "lint", "relation", "route", "why_not"]


def route(file: str, key: str, exchange: str = "", vhost: str = "/", dialect: str = "") -> dict[str, Any]:
    """Tell who gets a message with this routing key.

    `file` is a RabbitMQ definitions file (.json), with the `exchange` that it is published to, or a list of bindings (.csv,
    .jsonl, or text with a pattern, a tab and a destination on each line) with a `dialect`: amqp, mqtt, nats or solace.

    Besides `queues`, one of the candidates of each choice in `one_of` gets it, and nobody can tell which; there may be more queues
    behind exchanges that are `not_simulated`.
    """
    if file.lower().endswith(".json"):
        _check_untold(file, dialect)
        found = load_definitions(_file(file), vhost).route(exchange, key, vhost)
        choices = [
            {"exchange": one.exchange, "candidates": [candidate._asdict() for candidate in one.candidates]}
            for one in found.one_of
        ]
        return {"queues": list(found.queues), "one_of": choices, "not_simulated": list(found.not_simulated)}
    bindings, language = _read(file, exchange, vhost, dialect)
    check_bindings(file, bindings, dialect_named(language))
    return {"destinations": list(compile(bindings.bindings, dialect=language).match(key))}


def why_not(
    file: str, key: str, exchange: str = "", vhost: str = "/", dialect: str = "", queue: str = "", most: int = 3
) -> dict[str, Any]:
    """Tell why bindings do not match this routing key: the nearest ones, the word that breaks each, and the nearest key that matches.

    `file` is read as by `route`; of a definitions file, the bindings of one topic or direct exchange. With a `queue`, the bindings
    of this destination, and `gets` tells whether one matches; of a definitions file, the message is followed from `exchange` hop by
    hop, and `barriers` are what keeps it from the queue at each exchange on its way.
    """
    if queue and exchange and file.lower().endswith(".json"):
        _check_untold(file, dialect)
        return _barred(file, key, exchange, vhost, queue, most)
    bindings, language = _read(file, exchange, vhost, dialect)
    positions = of_destination(file, bindings, queue or None)
    chosen = [bindings.bindings[one] for one in positions]
    part = BindingFile(chosen, [bindings.places[one] for one in positions], bindings.dialect)
    check_bindings(file, part, dialect_named(language))
    misses = [
        {
            "pattern": chosen[one.binding][0],
            "destination": chosen[one.binding][1],
            **asdict(one),
            "binding": positions[one.binding],
        }
        for one in misses_of(chosen, key, language, most=most)
    ]
    gets = {"gets": bool(compile(chosen, dialect=language).match(key))} if queue else {}
    return {**gets, "misses": misses}


def _barred(file: str, key: str, exchange: str, vhost: str, queue: str, most: int) -> dict[str, Any]:
    topology = load_definitions(_file(file), vhost)
    check_queue(topology, queue, vhost)
    found = way(topology, exchange, key, vhost)
    gets = queue in found.route.queues
    barred = () if gets else barriers(topology, found, key, queue, vhost, most=most)
    return {"gets": gets, "visited": [hop.exchange for hop in found.hops], "barriers": [asdict(one) for one in barred]}


def diff(old: str, new: str, exchange: str = "", vhost: str = "/", dialect: str = "") -> dict[str, Any]:
    """Tell what changes between two versions of a binding table: for each destination the keys gained and lost, exactly.

    `old` and `new` are files that are read as by `why_not`, both in one dialect.
    """
    before, language = _read(old, exchange, vhost, dialect)
    after, other = _read(new, exchange, vhost, dialect)
    if language != other:
        raise OptionError(
            f"{old} is read as {language} and {new} as {other}, and patterns are compared in one dialect: give `dialect`; or, if an "
            "exchange changes its type, run 'dfa-router diff' on two definitions files, which compares what becomes of messages"
        )
    for file, listed in ((old, before), (new, after)):
        check_bindings(file, listed, dialect_named(language))
    return {name: asdict(change) for name, change in difference(before.bindings, after.bindings, language).items()}


def lint(file: str, vhost: str = "/", dialect: str = "") -> list[dict[str, Any]]:
    """Find defects of a binding table: bindings that repeat, are covered by others, or do not do what they seem to.

    `file` is a RabbitMQ definitions file (.json), read as a whole, configuration of Mosquitto or NATS (.conf, .cfg, .acl), or a list
    of bindings as for `route`.
    """
    path = Path(_file(file))
    if path.suffix.lower() == ".json":
        found = lint_topology(load_definitions(path, vhost))
    elif path.suffix.lower() in ENDINGS:
        if dialect:
            raise OptionError(f"{file} is configuration of a broker, which says its dialect: leave out --dialect")
        found = lint_configuration(path)
    else:
        bindings, language = _read(file, "", "/", dialect)
        found = lint_bindings(bindings.by_consumer(), language, places=bindings.places)
    return [{**asdict(one), "rule": one.rule.name, "severity": one.severity.name.lower()} for one in found]


def relation(first: str, second: str, dialect: str = "amqp") -> dict[str, Any]:
    """Tell whether two patterns are equal, overlap, are disjoint, or one covers the other, with a key that shows it."""
    return asdict(relation_of(first, second, dialect))


TOOLS = (route, why_not, diff, lint, relation)
"""What is offered, in this order."""


def _read(file: str, exchange: str, vhost: str, dialect: str) -> tuple[BindingFile, str]:
    found = read_bindings(Path(_file(file)), exchange=exchange or None, vhost=vhost)
    return found, dialect or found.dialect or "amqp"


def _check_untold(file: str, dialect: str) -> None:
    """Raise :class:`OptionError` for a dialect where a message is followed through exchanges, which have theirs."""
    if dialect:
        raise OptionError(
            f"--dialect is for lists of bindings: the exchanges of {file} say by their types what theirs is"
        )


def _file(name: str) -> str:
    """Return the name of a file; raises :class:`OptionError` for whatever else commands would read by it."""
    if is_address(name) or name == "-":
        raise OptionError(
            f"{name}: tools read files of this machine and nothing else; save it to a file, for instance with "
            "'rabbitmqctl export_definitions FILE', and give its name"
        )
    return local_name(name)
