"""What a routing job did, as people and programs read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dfa_router.logs.counting import Totals
from dfa_router.logs.ranking import Ranked

__all__ = ["ExchangeCount", "QueueCount", "Summary", "limits", "summary_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCount:
    """Copies in a queue."""

    vhost: str | None
    queue: str
    copies: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeCount:
    """Messages published to an exchange."""

    vhost: str | None
    exchange: str
    messages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a routing job did."""

    out: str
    messages: int
    routed: int
    """Messages that at least one queue gets."""
    unroutable: int
    """Messages that nobody gets: no queue, and no exchange on the way that is not simulated."""
    undecided: int
    """Messages without a queue so far that reach an exchange that is not simulated."""
    problems: dict[str, int]
    """The most frequent texts of ``problem``, with their numbers of messages."""
    problem_rows: int
    """Messages with a problem. Each is one of the routed, the unroutable or the undecided, too, most of the unroutable."""
    not_simulated: dict[str, int]
    """Exchanges that are not simulated, with the number of messages that reach them."""
    copies: int
    """Copies in all queues together."""
    copies_per_queue: dict[str, int]
    """The queues with most copies; if there are several vhosts, those outside of "/" are named ``queue (vhost)``."""
    other_queues: int
    """How many more queues get messages."""
    other_copies: int
    """Copies in these other queues together."""
    unroutable_keys: list[tuple[str | None, str | None, int]]
    """The most frequent (exchange, routing key) that nobody gets, with their numbers of messages."""
    queues: list[QueueCount]
    """The same queues as in ``copies_per_queue``, with their vhosts apart."""
    exchanges: list[ExchangeCount]
    """The exchanges that most messages were published to."""
    seconds: float
    """Time of the whole job: reading, routing, writing, counting, and moving the result to its place."""
    stages: dict[str, float] = field(default_factory=dict)
    """The seconds of each stage."""
    way: str = "files"
    """Who read and wrote: ``files``, where tasks do so by Arrow, or ``frames``, where Spark does."""

    @property
    def messages_per_second(self) -> float:
        """Throughput of the whole job."""
        return self.messages / self.seconds if self.seconds else 0.0


def limits(top: int) -> dict[str, int | None]:
    """Return how many counts of each kind are listed; ``top`` 0 means all."""
    most = top or None
    return {"queue": most, "exchange": most, "not_simulated": None, "problem": most, "unroutable": most}


def summary_of(out: str, totals: Totals, counts: Mapping[str, Ranked], *, vhosts_apart: bool) -> Summary:
    """Return the summary of a job, but for its times; ``vhosts_apart`` says whether names tell their vhosts."""
    queues = counts["queue"].rows.to_pylist()
    named = _named(queues, vhosts_apart=vhosts_apart)
    listed = [row["messages"] for row in queues]
    unroutable = counts["unroutable"].rows.to_pylist()
    return Summary(
        out=out,
        messages=totals.messages,
        routed=totals.routed,
        unroutable=totals.unroutable,
        undecided=totals.undecided,
        problems={row["name"]: row["messages"] for row in counts["problem"].rows.to_pylist()},
        problem_rows=totals.problem_rows,
        not_simulated=_named(counts["not_simulated"].rows.to_pylist(), vhosts_apart=vhosts_apart),
        copies=totals.copies,
        copies_per_queue=named,
        other_queues=counts["queue"].distinct - len(listed),
        other_copies=counts["queue"].messages - sum(listed),
        unroutable_keys=[
            (
                _name(row["vhost"], row["name"], apart=vhosts_apart),
                None if row["key"] is None else row["key"].decode(errors="replace"),
                row["messages"],
            )
            for row in unroutable
        ],
        queues=[QueueCount(vhost=row["vhost"], queue=row["name"], copies=row["messages"]) for row in queues],
        exchanges=[
            ExchangeCount(vhost=row["vhost"], exchange=row["name"], messages=row["messages"])
            for row in counts["exchange"].rows.to_pylist()
        ],
        seconds=0.0,
    )


def _named(rows: Sequence[Mapping[str, object]], *, vhosts_apart: bool) -> dict[str, int]:
    """Return messages by name; where two would have one name, both are named in full.

    >>> rows = [{"vhost": "/", "name": "q (b)", "messages": 2}, {"vhost": "b", "name": "q", "messages": 1}]
    >>> _named(rows, vhosts_apart=True)
    {"'q (b)' of vhost '/'": 2, "'q' of vhost 'b'": 1}
    """
    texts = [(str(row["vhost"] or "/"), str(row["name"]), int(str(row["messages"]))) for row in rows]
    often = Counter(_name(vhost, name, apart=vhosts_apart) for vhost, name, _ in texts)
    named: dict[str, int] = {}
    for vhost, name, messages in texts:
        short = _name(vhost, name, apart=vhosts_apart)
        text = short if often[short] == 1 else f"{name!r} of vhost {vhost!r}"
        named[text] = named.get(text, 0) + messages
    return named


def _name(vhost: str | None, name: str, *, apart: bool) -> str:
    return f"{name} ({vhost})" if apart and vhost not in {None, "/"} else name
