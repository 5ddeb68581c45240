"""The result as a page: what was compared, how often each feature occurred, and what differs."""

from __future__ import annotations

from pathlib import Path

from benchmarks.measure import machine
from benchmarks.result_files import write_page
from benchmarks.verification.topologies.comparison import LEAST, Compared

__all__ = ["write"]

METHOD = """\
Each topology was declared on the broker exchange by exchange, its messages were published, and its queues were read until
they were empty. Who received what was compared with three answers of ours: `Topology.route`, `route_columns` through
the compiled relay, and `route_columns` from exchange to exchange with the naive specification. Where an exchange
takes one of its destinations, one of those that we name must have the message, and no other."""

SHOWN = 20


def write(compared: Compared, folder: Path, *, command: str) -> Path:
    """Write ``topologies.md`` into a folder, which is made; return its path."""
    features = "\n".join(
        f"| {name} | {count:,} | {100 * count / max(1, compared.topologies):.0f} % |"
        for name, count in sorted(compared.features.items(), key=lambda item: (-item[1], item[0]))
    )
    shown = "\n".join(
        f"* topology {one.number}, {one.way}: {one.message!r}: the broker gave it to {one.broker!r}, we say {one.ours}"
        for one in compared.differences[:SHOWN]
    )
    return write_page(
        folder,
        "topologies",
        f"""# Random topologies on a live RabbitMQ

Written by `{command}` on {machine()}.

{METHOD}

| broker | topologies | messages | copies | unroutable | met a choice | differences | seconds |
|--|--:|--:|--:|--:|--:|--:|--:|
| {compared.product} | {compared.topologies:,} | {compared.messages:,} | {compared.copies:,} | {compared.unroutable:,} | \
{compared.chosen:,} | {len(compared.differences):,} | {compared.seconds:.0f} |

## Features

Each must be in {100 * LEAST:.0f} % of the topologies; too rare: {", ".join(compared.rare) or "none"}.

| feature | topologies | of all |
|--|--:|--:|
{features}

## Differences

{shown or "None."}
""",
    )
