"""What automata can prove about binding sets, each answer with a shortest key that shows it.

A trie can match; an automaton can also prove that bindings are equal, that one is covered, or that a change loses a key.
Everything here works for every dialect, and takes texts:

>>> from dfa_router.analysis import difference, relation
>>> relation("stock.*", "stock.#").only_second
'stock'
>>> difference([("stock.#", "q")], [("stock.*", "q")])["q"].lost.shortest
('stock', 'stock.stock.stock', 'stock.stock.stock.stock')

Proofs take a budget of steps and raise :class:`CapacityError` when it is spent: some questions are exponential. What this
leaves out: limits on the length of keys.
"""

from __future__ import annotations

from dfa_router.analysis.costs import BrokerCost, Growth, broker_cost, growth
from dfa_router.analysis.coverage import Redundancy, RedundancyKind, UnprovenError, cover, redundant, unreachable
from dfa_router.analysis.differences import Change, Keys, Remainder, difference
from dfa_router.analysis.explaining import Explanation, Match, Miss, explain, why_not
from dfa_router.analysis.intersections import intersection
from dfa_router.analysis.normalising import Normalised, Proof, normalise
from dfa_router.analysis.overlaps import Crowd, Overlap, ambiguous, crowd
from dfa_router.analysis.relations import Relation, RelationKind, relation

__all__ = [
    "BrokerCost",
    "Change",
    "Crowd",
    "Explanation",
    "Growth",
    "Keys",
    "Match",
    "Miss",
    "Normalised",
    "Overlap",
    "Proof",
    "Redundancy",
    "RedundancyKind",
    "Relation",
    "RelationKind",
    "Remainder",
    "UnprovenError",
    "ambiguous",
    "broker_cost",
    "cover",
    "crowd",
    "difference",
    "explain",
    "growth",
    "intersection",
    "normalise",
    "redundant",
    "relation",
    "unreachable",
    "why_not",
]
