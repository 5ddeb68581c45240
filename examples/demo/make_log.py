"""Write a log of messages like those that the demo's deployment might publish in a day, from a seed.

    python -m examples.demo.make_log --out build/demo/messages.parquet

Columns: ``timestamp`` (UTC, ascending), ``message_id``, ``vhost``, ``exchange``, ``routing_key``, ``size`` (bytes of
the payload). The same seed and number of messages give the same log.

Exchanges, and the keys of direct exchanges, come from the definitions file; the words of topic keys come from the
domain's vocabulary. A few words are much more frequent than the others, and numbers in the keys make most keys occur
once. About one message in twenty reaches no queue, for reasons that real logs have: events without a subscriber,
misspelt words, renamed commands, and replies to clients that have disconnected.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from examples.demo import vocabulary as words

DEFINITIONS = Path(__file__).with_name("definitions.json")
OUT = Path("build/demo/messages.parquet")
START = np.datetime64("2025-03-03T00:00:00", "us")
DAY = 24 * 60 * 60 * 1_000_000
ROWS_PER_GROUP = 100_000
ROWS_AT_A_TIME = 1_000_000
"""Messages that are held in memory: some 300 MB."""


class Draw:
    """Draws columns of n random words."""

    def __init__(self, rng: np.random.Generator, n: int) -> None:
        self.rng = rng
        self.n = n

    def pick(self, choices: Sequence[str], skew: float = 1.0) -> pa.Array:
        """Draw words: the k-th is k ** skew times rarer than the first (Zipf's law); skew 0 makes all equal."""
        weights = np.arange(1, len(choices) + 1) ** -skew
        return pa.array(choices, pa.string()).take(
            pa.array(self.rng.choice(len(choices), self.n, p=weights / weights.sum()))
        )

    def number(self, below: int, prefix: str = "") -> pa.Array:
        """Draw numbers of at least five digits, behind a prefix."""
        drawn = pc.cast(pa.array(self.rng.integers(10_000, 10_000 + below, self.n)), pa.string())
        return pc.binary_join_element_wise(prefix, drawn, "") if prefix else drawn

    def key(self, *columns: str | pa.Array) -> pa.Array:
        """Join words and columns of words with dots, to a column of routing keys."""
        return pc.binary_join_element_wise(*columns, ".")

    def spoil(self, keys: pa.Array, share: float) -> pa.Array:
        """Misspell the first word of a share of the keys, as a publisher with a typing error would."""
        spoilt = pc.binary_join_element_wise("x", keys, "-")
        return pc.if_else(pa.array(self.rng.random(self.n) < share), spoilt, keys)


class Stream(NamedTuple):
    """The messages of one kind of publisher."""

    weight: float
    """Its share of the log is its weight divided by the sum of all weights."""
    vhost: str
    exchange: str
    keys: Callable[[Draw], pa.Array]
    size: int
    """The payload's median size in bytes."""


def streams(definitions: dict[str, Any]) -> list[Stream]:
    """Return the publishers; raises SystemExit where the definitions lack an exchange that one of them publishes to."""
    countries = [f"{region}.{country}" for country, region in words.COUNTRIES.items()]
    queues = [queue["name"] for queue in definitions["queues"] if queue["vhost"] == "shop"]

    def bound_keys(exchange: str) -> list[str]:
        """Return the keys that are bound to a direct exchange, in the order of the file."""
        return list(dict.fromkeys(b["routing_key"] for b in definitions["bindings"] if b["source"] == exchange))

    def orders(draw: Draw) -> pa.Array:
        keys = draw.key("order", draw.pick(countries), draw.pick(words.ORDER_EVENTS, 0.7), draw.number(9_000_000))
        return draw.spoil(keys, 0.01)

    def old_orders(draw: Draw) -> pa.Array:
        return draw.key("v1.order", draw.pick(tuple(words.COUNTRIES)), draw.number(1_000_000))

    def payments(draw: Draw) -> pa.Array:
        country = draw.pick(tuple(words.COUNTRIES))
        event = draw.pick(words.PAYMENT_EVENTS, 1.5)
        return draw.key("payment", draw.pick(words.PROVIDERS), country, event, draw.number(5_000_000, "p"))

    def customers(draw: Draw) -> pa.Array:
        country = draw.pick(tuple(words.COUNTRIES))
        return draw.key("customer", country, draw.pick(words.CUSTOMER_EVENTS), draw.number(400_000, "c"))

    def carts(draw: Draw) -> pa.Array:
        country = draw.pick(tuple(words.COUNTRIES))
        return draw.key("cart", country, draw.pick(words.CART_EVENTS[::-1], 0.4), draw.number(800_000, "s"))

    def catalog(draw: Draw) -> pa.Array:
        return draw.key(
            "catalog", draw.pick(words.FAMILIES), draw.pick(words.CATALOG_EVENTS), draw.number(60_000, "sku")
        )

    def notices(draw: Draw) -> pa.Array:
        template = draw.pick(words.TEMPLATES)
        return draw.key("notify", draw.pick(words.CHANNELS), draw.pick(tuple(words.COUNTRIES)), template)

    def webhooks(draw: Draw) -> pa.Array:
        return draw.key(draw.pick((*words.PARTNERS, "egret")), draw.pick(("order", "stock", "price")), "changed")

    def commands(draw: Draw) -> pa.Array:
        return draw.pick((*bound_keys("shop.commands"), "rebuild-index"))

    def replies(draw: Draw) -> pa.Array:
        """Draw names of queues and, less often, of reply queues of clients that have disconnected."""
        lasting = draw.pick(queues, 0.3)
        return pc.if_else(pa.array(draw.rng.random(draw.n) < 0.6), lasting, draw.number(10**9, "amq.gen-"))

    def shipments(draw: Draw) -> pa.Array:
        carrier, country = draw.pick(words.CARRIERS), draw.pick(tuple(words.COUNTRIES))
        return draw.key("shipment", carrier, country, draw.pick(words.SHIPMENT_EVENTS), draw.number(20_000_000, "P"))

    def tracking(draw: Draw) -> pa.Array:
        carrier, country = draw.pick(words.CARRIERS), draw.pick(tuple(words.COUNTRIES))
        event = draw.pick(("in-transit", "out-for-delivery", "customs", "delivered"))
        return draw.key("shipment", carrier, country, event, draw.number(20_000_000, "P"))

    def stock(draw: Draw) -> pa.Array:
        event = draw.pick(words.STOCK_EVENTS)
        keys = draw.key("stock", draw.pick(words.WAREHOUSES), draw.pick(words.ZONES), event, draw.number(60_000, "sku"))
        return draw.spoil(keys, 0.01)

    def telemetry(draw: Draw) -> pa.Array:
        device = draw.number(300, "truck")
        keys = draw.key("telemetry", draw.pick(words.WAREHOUSES), device, draw.pick(words.SENSORS))
        return draw.spoil(keys, 0.03)

    def carriers(draw: Draw) -> pa.Array:
        return draw.pick((*bound_keys("lx.carriers"), "pigeon"), 0.8)

    def nothing(draw: Draw) -> pa.Array:
        return draw.pick(("",))

    def reports(draw: Draw) -> pa.Array:
        return draw.pick(("report.daily", "report.weekly", ""))

    found = [
        Stream(26, "shop", "shop.events", orders, 1400),
        Stream(1, "shop", "shop.events", old_orders, 2100),
        Stream(11, "shop", "shop.events", payments, 600),
        Stream(5, "shop", "shop.events", customers, 500),
        Stream(3.5, "shop", "shop.events", carts, 300),
        Stream(6, "shop", "shop.events", catalog, 900),
        Stream(3, "shop", "shop.notifications", notices, 250),
        Stream(1.5, "shop", "shop.webhooks", webhooks, 700),
        Stream(2, "shop", "shop.commands", commands, 120),
        Stream(0.3, "shop", "shop.jobs", lambda draw: draw.pick(bound_keys("shop.jobs")), 80),
        Stream(2, "shop", "shop.cache", nothing, 60),
        Stream(0.2, "shop", "shop.broadcast", nothing, 60),
        Stream(2.5, "shop", "", replies, 400),
        Stream(0.5, "shop", "shop.reports", reports, 30_000),
        Stream(13, "logistics", "lx.events", shipments, 800),
        Stream(4, "logistics", "lx.tracking", tracking, 350),
        Stream(8, "logistics", "lx.events", stock, 450),
        Stream(10, "logistics", "lx.events", telemetry, 90),
        Stream(1.5, "logistics", "lx.carriers", carriers, 5000),
    ]
    declared = {(exchange["vhost"], exchange["name"]) for exchange in definitions["exchanges"]}
    missing = {(stream.vhost, stream.exchange) for stream in found if stream.exchange} - declared
    if missing:
        raise SystemExit(
            f"make_log: the definitions file lacks the exchanges {sorted(missing)}, so it is not the demo's"
        )
    return found


def write_log(
    definitions: dict[str, Any], messages: int, seed: int, out: Path, at_a_time: int = ROWS_AT_A_TIME
) -> None:
    """Write a log of that many messages to a Parquet file, a part of the day after the other."""
    starts = range(0, messages, at_a_time)
    with ExitStack() as closing:
        writer: pq.ParquetWriter | None = None
        for number, first in enumerate(starts):
            rows = min(at_a_time, messages - first)
            hours = (DAY * first // messages, DAY * (first + rows) // messages)
            part = make_log(definitions, rows, [seed, number] if number else seed, hours)
            if writer is None:
                writer = closing.enter_context(pq.ParquetWriter(out, part.schema))
            writer.write_table(part, row_group_size=ROWS_PER_GROUP)


def make_log(
    definitions: dict[str, Any], messages: int, seed: int | list[int], hours: tuple[int, int] = (0, DAY)
) -> pa.Table:
    """Return a log of that many messages, published between two times of the day, in microseconds."""
    rng = np.random.default_rng(seed)
    publishers = streams(definitions)
    weights = np.array([publisher.weight for publisher in publishers])
    publisher_of = rng.choice(len(publishers), messages, p=weights / weights.sum()).astype(np.int8)
    counts = np.bincount(publisher_of, minlength=len(publishers))
    # Each publisher's keys are drawn as one column; then row i takes the next key of its publisher.
    keys = pa.chunked_array([publishers[i].keys(Draw(rng, int(n))) for i, n in enumerate(counts)], pa.string())
    place = np.empty(messages, np.int64)
    place[np.argsort(publisher_of, kind="stable")] = np.arange(messages)
    medians = np.array([publisher.size for publisher in publishers])[publisher_of]
    chosen = pa.array(publisher_of)
    return pa.table(
        {
            "timestamp": pa.array(START + np.sort(rng.integers(*hours, messages)), pa.timestamp("us", "UTC")),
            "message_id": message_ids(rng, messages),
            "vhost": pa.array([publisher.vhost for publisher in publishers]).take(chosen),
            "exchange": pa.array([publisher.exchange for publisher in publishers]).take(chosen),
            "routing_key": keys.combine_chunks().take(pa.array(place)),
            "size": pa.array((medians * rng.lognormal(0, 0.6, messages)).astype(np.int32)),
        }
    )


def message_ids(rng: np.random.Generator, n: int) -> pa.Array:
    """Draw n identifiers of 32 hexadecimal digits."""
    digits: npt.NDArray[np.uint8] = np.frombuffer(rng.bytes(16 * n).hex().encode(), np.uint8)
    offsets = np.arange(0, 32 * n + 1, 32, dtype=np.int32)
    return pa.StringArray.from_buffers(n, pa.py_buffer(offsets), pa.py_buffer(digits))


def main() -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=10_000_000, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=2011, help="(default: %(default)s)")
    parser.add_argument("--definitions", type=Path, default=DEFINITIONS, help="(default: %(default)s)")
    parser.add_argument("--out", type=Path, default=OUT, help="a Parquet file, replaced (default: %(default)s)")
    options = parser.parse_args()
    if options.messages < 1:
        parser.error("--messages must be at least 1")
    started = time.perf_counter()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    # The file gets its name when it is complete, so that an interrupted run leaves no part of a log under that name.
    draft = options.out.with_name(options.out.name + ".part")
    write_log(json.loads(options.definitions.read_bytes()), options.messages, options.seed, draft)
    draft.replace(options.out)
    seconds = time.perf_counter() - started
    print(
        f"{options.out}: {options.messages:,} messages of seed {options.seed}, made in {seconds:.1f} s", file=sys.stderr
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
