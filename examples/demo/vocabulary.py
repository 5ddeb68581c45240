"""The words of the demo's domain, an online shop and its logistics, of which binding keys and routing keys are made."""

from __future__ import annotations

COUNTRIES = {
    "de": "eu", "fr": "eu", "nl": "eu", "es": "eu", "it": "eu", "pl": "eu", "se": "eu",
    "gb": "uk", "ie": "uk",
    "us": "na", "ca": "na", "mx": "na",
    "jp": "apac", "au": "apac", "sg": "apac",
}  # fmt: skip
"""The region that serves each country; within a region, countries with more orders come first."""

REGIONS = tuple(dict.fromkeys(COUNTRIES.values()))

ORDER_EVENTS = ("placed", "confirmed", "packed", "shipped", "delivered", "cancelled", "returned")
CART_EVENTS = ("item-added", "item-removed", "checkout-started", "abandoned")
PROVIDERS = ("card", "wallet", "invoice", "transfer", "giftcard")
PAYMENT_EVENTS = ("authorized", "captured", "declined", "refunded", "chargeback")
CUSTOMER_EVENTS = ("updated", "registered", "tier-changed", "consent-changed", "deleted")
FAMILIES = ("books", "electronics", "fashion", "grocery", "garden", "toys")
CATALOG_EVENTS = ("price-changed", "updated", "created", "delisted")
CHANNELS = ("email", "push", "sms")
TEMPLATES = ("order-confirmed", "parcel-on-its-way", "password-reset", "we-miss-you")
PARTNERS = ("acme", "brightmart", "corvid", "dunlin")

CARRIERS = ("aeropost", "blueline", "cargonaut", "nordpak", "parcelo", "swiftvan")
SHIPMENT_EVENTS = ("in-transit", "created", "labelled", "picked-up", "delivered", "failed", "returned")
WAREHOUSES = ("ams1", "ber2", "lis1", "lon3", "nyc1", "tyo1")
ZONES = ("storage", "picking", "packing", "inbound", "outbound")
STOCK_EVENTS = ("moved", "picked", "reserved", "received", "counted", "short")
SENSORS = ("temperature", "gps", "battery", "humidity", "door")
