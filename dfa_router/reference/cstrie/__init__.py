"""CS-trie: a concurrent subscription trie without locks, with linearizable snapshots in constant time.

Tyler Treat's design ("Breaking and Entering: Lose the Lock While Embracing Concurrency" and "Fast Topic Matching"),
built at Workiva as *matchbox*: the trie of words, made concurrent as in the Ctrie of Prokopec, Bronson, Bagwell and
Odersky, "Concurrent Tries with Efficient Non-Blocking Snapshots" (2012).

=============================  ========================================================================================
:mod:`.cell`                   a reference with compare-and-set: cereggii's, or one small lock
:mod:`.nodes`                  I-nodes, C-nodes, branches, T-nodes, generations
:mod:`.gcas`                   compare-and-set of a node under a generation, and the swap of the root under a snapshot
:mod:`.snapshot`               the walk of a key, and snapshots
:mod:`.trie`                   subscribe, unsubscribe, match, snapshot
=============================  ========================================================================================
"""

from __future__ import annotations

from dfa_router.reference.cstrie.snapshot import Snapshot
from dfa_router.reference.cstrie.trie import ENGINE, ConcurrentTrie

__all__ = ["ENGINE", "ConcurrentTrie", "Snapshot"]
