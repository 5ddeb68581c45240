"""Reference matchers: the specification, and the matchers of the literature, none of which is an automaton.

Most are engines, which :func:`dfa_router.compile` builds by name. Two match something else than patterns of words, and are
classes of their own: :class:`FieldMatcher` messages with fields, :class:`SkipFilter` subscribers with any predicate.

They judge the automata in tests, and are measured beside them. They import nothing of the compiler, because an oracle that
shares code with what it checks is no oracle. All take ``#`` anywhere and any number of times, where their sources leave it
out or restrict it. :mod:`~dfa_router.reference.naive` defines what is right; each other module tells in its docstring where it
comes from, how it works by an example, what it costs, and where it deviates from its source.

=======================  ================  =======================================================================
module                   engine            how it matches
=======================  ================  =======================================================================
:mod:`.naive`            ``naive``         the specification: a recursive definition, tried on every pattern
:mod:`.scan`             ``scan``          a hash map of patterns, each of which is tested
:mod:`.trie`             ``trie``          a trie of words, walked with backtracking
:mod:`.trie_branches`    ``trie``          ... with ``topics=``: ``*`` copied into every branch of a topic space
:mod:`.cstrie`           ``cstrie``        a concurrent trie without locks, with snapshots
:mod:`.inverted`         ``inverted``      a bitmap of bindings for each topic of a topic space
:mod:`.inverted_opt`     ``inverted_opt``  bitmaps for each word position, from both ends of the key
:mod:`.word_cache`       ``word_cache``    sets of bindings for the words of the keys seen so far
:mod:`.word_index`       ``word_index``    sets of bindings for the words of the patterns
:mod:`.skipfilter`       none              arbitrary predicates, and cached bitmaps for each topic
:mod:`.fields`           none              messages with fields: bitmaps for each criterion, and hits counted
=======================  ================  =======================================================================

Shared parts: :mod:`.words` (words, wildcards, the test of one pattern), :mod:`.topic_space` (keys outside of a topic space),
:mod:`.filtering` (whether anyone matches, for ``inverted_opt``), :mod:`.skiplist` (for the skipfilter).
"""

from __future__ import annotations

from dfa_router.reference.fields import FieldMatcher, parse_fields
from dfa_router.reference.skipfilter import SkipFilter, selects, uri_template

__all__ = ["FieldMatcher", "SkipFilter", "parse_fields", "selects", "uri_template"]
