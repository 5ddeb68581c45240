"""Results of ``dfa-router bench``, and what the engine is measured against: a trie that is compiled like it."""
