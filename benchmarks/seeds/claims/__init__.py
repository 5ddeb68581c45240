"""The statements of the documents, each with its verdict: agrees, disagrees, or cannot be tested here.

A claim is judged by the figures of the run that writes the page, by limits that stand in the claim, or by a test of the suite.
So a verdict may change with the engines, and its words with it.

=================  ====================================================================================================
:mod:`.claim`      what a claim is, and its verdict
:mod:`.topics`     Tyler Treat, "Fast Topic Matching"
:mod:`.locks`      Tyler Treat, "Breaking and Entering"
:mod:`.automata`   RabbitMQ, on topic routing
:mod:`.bitmaps`    ZeroMQ, "High-speed message matching"
:mod:`.predicates` Kevin Burns, skipfilter
=================  ====================================================================================================
"""

from __future__ import annotations

from benchmarks.seeds.claims.automata import AUTOMATA
from benchmarks.seeds.claims.bitmaps import BITMAPS
from benchmarks.seeds.claims.claim import Claim, Figures, Verdict
from benchmarks.seeds.claims.locks import LOCKS
from benchmarks.seeds.claims.predicates import PREDICATES
from benchmarks.seeds.claims.topics import TOPICS

__all__ = ["CLAIMS", "Claim", "Figures", "Verdict"]

CLAIMS: tuple[Claim, ...] = tuple(
    claim for document in (TOPICS, LOCKS, AUTOMATA, BITMAPS, PREDICATES) for claim in document.claims
)
"""All claims, document by document."""
