"""Automata in files: arrays as they are in memory (``sections``), and the checks before a kernel may use them (``verify``)."""
