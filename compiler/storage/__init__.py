"""Automata in files: arrays as they lie in memory, and what is checked before a kernel may see them."""
