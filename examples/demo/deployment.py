"""The demo's deployment: exchanges, queues and bindings of an online shop and its logistics.

It has two virtual hosts. In each, publishers send domain events to one topic exchange (``shop.events``, ``lx.events``),
and bindings between exchanges spread them over a topic exchange per domain, to which the teams bind their queues. There
are also the other exchanges of such platforms: direct ones for commands, fanouts for what all instances must receive, a
headers exchange for reports, and an alternate exchange for tracking events that match no binding.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from examples.demo.vocabulary import (
    CARRIERS,
    CHANNELS,
    COUNTRIES,
    FAMILIES,
    PARTNERS,
    PROVIDERS,
    REGIONS,
    SENSORS,
    WAREHOUSES,
    ZONES,
)

SHOP, LOGISTICS = "shop", "logistics"
VHOSTS = (SHOP, LOGISTICS)


class Exchange(NamedTuple):
    vhost: str
    name: str
    type: str
    arguments: dict[str, Any] = {}  # noqa: RUF012 -- never changed


class Binding(NamedTuple):
    vhost: str
    source: str
    destination: str
    pattern: str = ""
    to_exchange: bool = False
    arguments: dict[str, Any] = {}  # noqa: RUF012 -- never changed


EXCHANGES = (
    *(
        Exchange(SHOP, f"shop.{name}", "topic")
        for name in ("events", "orders", "payments", "customers", "catalog", "notifications", "audit", "webhooks")
    ),
    Exchange(SHOP, "shop.commands", "direct"),
    Exchange(SHOP, "shop.jobs", "direct"),
    Exchange(SHOP, "shop.cache", "fanout"),
    Exchange(SHOP, "shop.broadcast", "fanout"),
    Exchange(SHOP, "shop.dead", "fanout"),
    Exchange(SHOP, "shop.reports", "headers"),
    *(
        Exchange(LOGISTICS, f"lx.{name}", "topic")
        for name in ("events", "shipments", "warehouse", "telemetry", "billing")
    ),
    Exchange(LOGISTICS, "lx.tracking", "topic", {"alternate-exchange": "lx.unrouted"}),
    Exchange(LOGISTICS, "lx.carriers", "direct"),
    Exchange(LOGISTICS, "lx.alerts", "fanout"),
    Exchange(LOGISTICS, "lx.unrouted", "fanout"),
    Exchange(LOGISTICS, "lx.dead", "fanout"),
)


def between_exchanges() -> Iterator[Binding]:
    """Yield the bindings from exchange to exchange."""
    spread: dict[str, dict[str, dict[str, tuple[str, ...]]]] = {
        SHOP: {
            "shop.events": {
                "shop.orders": ("order.#", "v1.order.#"),
                "shop.payments": ("payment.#",),
                "shop.customers": ("customer.#", "cart.*.abandoned.*"),
                "shop.catalog": ("catalog.#",),
                "shop.audit": ("payment.#", "customer.*.deleted.*", "*.*.*.cancelled.#"),
                "shop.webhooks": ("order.*.*.shipped.*", "order.*.*.delivered.*", "catalog.*.price-changed.*"),
            },
            "shop.orders": {"shop.notifications": ("order.*.*.confirmed.*", "order.*.*.shipped.*")},
            "shop.payments": {"shop.notifications": ("payment.*.*.refunded.#",)},
        },
        LOGISTICS: {
            "lx.events": {
                "lx.shipments": ("shipment.#",),
                "lx.tracking": ("shipment.*.*.in-transit.#", "shipment.*.*.delivered.#"),
                "lx.warehouse": ("stock.#",),
                "lx.telemetry": ("telemetry.#",),
                "lx.alerts": ("#.failed.#", "stock.*.*.short.#"),
                "lx.billing": ("shipment.*.*.labelled.*", "shipment.*.*.returned.*"),
            }
        },
    }
    for vhost, sources in spread.items():
        for source, destinations in sources.items():
            for destination, patterns in destinations.items():
                for pattern in patterns:
                    yield Binding(vhost, source, destination, pattern, to_exchange=True)


def _bind(vhost: str, prefix: str, queue: str, exchange: str, *patterns: str) -> Iterator[Binding]:
    for pattern in patterns:
        yield Binding(vhost, f"{prefix}.{exchange}", queue, pattern)


def shop_queues() -> Iterator[Binding]:
    """Yield the bindings of the shop's queues."""
    bind = partial(_bind, SHOP, "shop")
    for country, region in COUNTRIES.items():
        order, payment = f"order.*.{country}", f"payment.*.{country}"
        yield from bind(f"fulfilment.{country}", "orders", f"{order}.placed.*", f"{order}.cancelled.#")
        if region in ("eu", "uk"):
            yield from bind(f"tax.{country}", "orders", f"{order}.delivered.*", f"{order}.returned.*")
            yield from bind(f"tax.{country}", "payments", f"{payment}.captured.*", f"{payment}.refunded.*")
    for region in REGIONS:
        yield from bind(f"analytics.{region}", "orders", f"order.{region}.#")
    for provider in PROVIDERS:
        settled = (f"payment.{provider}.*.{event}.*" for event in ("captured", "refunded", "chargeback"))
        yield from bind(f"settlement.{provider}", "payments", *settled)
    yield from bind("fraud", "payments", "payment.*.*.declined.*", "payment.#.chargeback.#", "payment.giftcard.#")
    yield from bind("fraud", "orders", "order.#.cancelled.*", "order.na.*.placed.*")
    yield from bind("ledger", "payments", "payment.#")
    yield from bind("legacy-erp", "orders", "v1.#", "order.*.*.placed.*", "order.*.*.delivered.*")
    yield from bind("crm", "customers", "customer.#")
    yield from bind("loyalty", "customers", "customer.*.tier-changed.*", "customer.*.registered.*")
    yield from bind("privacy", "customers", "customer.*.deleted.#", "customer.*.consent-changed.#")
    yield from bind("win-back", "customers", "cart.#")
    for family in FAMILIES:
        yield from bind(f"search.{family}", "catalog", f"catalog.{family}.#", "catalog.*.delisted.*")
        yield from bind("pricing", "catalog", f"catalog.{family}.price-changed.*")
    for channel in CHANNELS:
        yield from bind(
            f"notify.{channel}", "notifications", f"notify.{channel}.#", "order.#", "payment.*.*.refunded.*"
        )
    for partner in PARTNERS:
        yield from bind(
            f"webhook.{partner}", "webhooks", f"{partner}.#", "*.*.*.delivered.*", "catalog.*.price-changed.#"
        )
    yield from bind("audit", "audit", "#")
    yield from bind("audit.payments", "audit", "payment.#", "#.chargeback.*")
    for command in ("reindex", "reprice", "export-orders", "sync-stock", "resend-invoice"):
        yield from bind(f"worker.{command}", "commands", command)
        yield from bind("worker.all", "commands", command)
    yield from bind("worker.all", "jobs", "nightly", "hourly")
    yield from bind("worker.reindex", "jobs", "nightly")
    for node in ("web-1", "web-2", "web-3"):
        yield from bind(f"cache.{node}", "cache", "")
        yield from bind(f"cache.{node}", "broadcast", "")
    yield from bind("dead", "dead", "")
    matching: dict[str, dict[str, Any]] = {
        "reports.finance": {"x-match": "all", "kind": "report", "department": "finance"},
        "reports.urgent": {"x-match": "any", "priority": 9, "escalated": True},
        "reports.archive": {"x-match": "all", "kind": "report"},
    }
    for queue, arguments in matching.items():
        yield Binding(SHOP, "shop.reports", queue, arguments=arguments)


def logistics_queues() -> Iterator[Binding]:
    """Yield the bindings of the queues of logistics."""
    bind = partial(_bind, LOGISTICS, "lx")
    for carrier in CARRIERS:
        yield from bind(
            f"carrier.{carrier}", "shipments", f"shipment.{carrier}.*.created.*", f"shipment.{carrier}.*.returned.#"
        )
        yield from bind(f"carrier.{carrier}", "carriers", carrier, "all-carriers")
        yield from bind("carrier-billing", "billing", f"shipment.{carrier}.#")
    for warehouse in WAREHOUSES:
        yield from bind(f"floor.{warehouse}", "warehouse", *(f"stock.{warehouse}.{zone}.#" for zone in ZONES))
        yield from bind("replenishment", "warehouse", f"stock.{warehouse}.*.short.*", f"stock.{warehouse}.inbound.*.*")
        yield from bind(
            f"climate.{warehouse}",
            "telemetry",
            f"telemetry.{warehouse}.*.temperature",
            f"telemetry.{warehouse}.*.humidity",
        )
    yield from bind("stock-ledger", "warehouse", "stock.#", "stock.*.*.counted.#")
    yield from bind("tracking.web", "tracking", "shipment.*.*.in-transit.#", "shipment.*.*.delivered.*")
    yield from bind("tracking.customs", "tracking", "shipment.*.us.#", "shipment.*.gb.#", "#.customs.#")
    yield from bind("sla", "shipments", "shipment.*.*.failed.#", "shipment.#.returned.*", "shipment.*.*.delivered.*")
    yield from bind("fleet.map", "telemetry", "telemetry.*.*.gps")
    yield from bind("fleet.maintenance", "telemetry", "telemetry.*.*.battery", "telemetry.#.door")
    yield from bind("telemetry.lake", "telemetry", *(f"telemetry.*.*.{sensor}" for sensor in SENSORS[:-1]))
    yield from bind("alerts.pager", "alerts", "")
    yield from bind("alerts.chat", "alerts", "")
    yield from bind("unrouted", "unrouted", "")
    yield from bind("dead", "dead", "")


BINDINGS = (*between_exchanges(), *shop_queues(), *logistics_queues())

QUORUM = ("audit", "fulfilment", "ledger", "settlement", "stock-ledger", "tax")
"""First words of the names of quorum queues, which survive the loss of a node; the others are classic queues."""

QUEUES = tuple(dict.fromkeys((binding.vhost, binding.destination) for binding in BINDINGS if not binding.to_exchange))


def queue_arguments(vhost: str, queue: str) -> dict[str, Any]:
    """Return the arguments that a queue is declared with."""
    kind = "quorum" if queue.split(".", maxsplit=1)[0] in QUORUM else "classic"
    arguments: dict[str, Any] = {"x-queue-type": kind}
    if queue != "dead":
        arguments["x-dead-letter-exchange"] = "shop.dead" if vhost == SHOP else "lx.dead"
    return arguments
