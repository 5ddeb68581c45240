"""Lint of a whole topology, and of a list of bindings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dfa_router.language.bindings import binding_set
from dfa_router.language.dialects import AMQP, EXACT, Dialect, dialect_named
from dfa_router.lint.findings import RULES, Finding, so_do
from dfa_router.lint.internal import lint_internal
from dfa_router.lint.patterns import lint_patterns
from dfa_router.rabbitmq import Binding, Topology
from dfa_router.rabbitmq.topology import check_topology
from dfa_router.reports import Report

__all__ = ["lint_bindings", "lint_topology"]

_WILDCARDS = {"*", "#"}


def lint_bindings(
    bindings: Iterable[tuple[str, str]],
    dialect: str | Dialect = "amqp",
    *,
    places: Sequence[int | str] | None = None,
    report: Report | None = None,
) -> tuple[Finding, ...]:
    """Return what is wrong with bindings of one matcher, in the order of their places.

    A pattern that the dialect refuses is a finding and no error. ``places`` names them in findings; else their positions do. Of many bindings
    ``report`` is told what is being done, and how much of it of how much is done.

    Raises :class:`BindingError` for an entry that is no pair of strings, and :class:`OptionError` for an unknown dialect.
    """
    given = binding_set(bindings)
    names = [str(place) for place in places] if places is not None else [f"bindings[{i}]" for i in range(len(given))]
    told = [(one.pattern, one.destination, name) for one, name in zip(given, names, strict=True)]
    order = {name: number for number, name in enumerate(names)}
    found = lint_patterns(told, dialect_named(dialect), report=report)
    return tuple(sorted(found, key=lambda one: order[one.place]))


def lint_topology(topology: Topology, report: Report | None = None) -> tuple[Finding, ...]:
    """Return what is wrong with a RabbitMQ topology: first what its declarations lack, then what its bindings do.

    Of topic and direct exchanges patterns are proven to be covered, of fanout exchanges repeated bindings are found; headers
    exchanges, and types that go by more than the key, are left alone.

    Raises :class:`OptionError` for what is no topology, such as the path of its file.
    """
    check_topology(topology)
    found = list(_declarations(topology))
    groups: dict[tuple[str, str], list[int]] = {}
    for number, binding in enumerate(topology.bindings):
        groups.setdefault((binding.vhost, binding.source), []).append(number)
    for done, ((vhost, name), numbers) in enumerate(groups.items()):
        if report is not None:
            report("proving", done, len(groups))
        found += _exchange(topology, vhost, name, numbers, report)
    found += lint_internal(topology)
    return tuple(found)


def _declarations(topology: Topology) -> Iterator[Finding]:
    for warning in topology.warnings:
        place = warning.place_in(topology.source)
        yield Finding(
            rule=RULES[warning.kind],
            place=place,
            vhost=warning.vhost,
            subject=warning.name,
            message=warning.advice + warning.others,
        )


def _exchange(
    topology: Topology, vhost: str, name: str, numbers: Sequence[int], report: Report | None
) -> Iterator[Finding]:
    kind = topology.exchanges_by_name[vhost, name].type
    listed = [(topology.bindings[number], f"bindings[{number}]") for number in numbers]
    where = f"exchange {name!r}"
    if kind == "topic":
        told = [(one.routing_key, _destination(one), place) for one, place in listed]
        yield from lint_patterns(told, AMQP, vhost=vhost, where=where, report=report)
    elif kind == "direct" and name:
        told = [(one.routing_key, _destination(one), place) for one, place in listed]
        for key, _, place in told:
            wild = sorted(_WILDCARDS & set(key.split(".")))
            if wild:
                message = f"{where} is direct: there {wild[0]!r} is a literal word; make the exchange a topic exchange, or spell keys out"
                yield Finding(
                    rule=RULES["wildcard-in-direct-binding"],
                    place=place,
                    vhost=vhost,
                    subject=key,
                    message=message,
                    witness=key,
                )
        yield from lint_patterns(told, EXACT, vhost=vhost, where=where, report=report)
    elif kind == "fanout":
        yield from _repeated(listed, where)


def _repeated(listed: Sequence[tuple[Binding, str]], where: str) -> Iterator[Finding]:
    """Yield bindings of a fanout exchange that repeat one of their destination, whatever their keys are."""
    groups: dict[str, list[tuple[Binding, str]]] = {}
    for one, place in listed:
        groups.setdefault(_destination(one), []).append((one, place))
    for destination, (first, *others) in groups.items():
        if others:
            binding, place = others[0]
            further = so_do(len(others) - 1)
            yield Finding(
                rule=RULES["equal-binding"],
                place=place,
                vhost=binding.vhost,
                subject=binding.routing_key,
                message=f"{where} is a fanout, which reads no key: it does for {destination} what {first[1]} does{further}: "
                "keep one of them",
            )


def _destination(binding: Binding) -> str:
    return f"{binding.destination_type} {binding.destination!r}"
