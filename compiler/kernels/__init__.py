"""Kernels: the loops over routing keys, compiled to machine code by numba.

:mod:`compiler.kernels.walk` is where to begin: it takes a column of keys through the lazy DFA. The tables that it reads are
described in :mod:`compiler.kernels.tables`. Machine instructions for one number are in ``_jit``, with the decorators, and those for eight keys at a
time in the modules whose names end in ``_vectors``, by way of ``_lanes``. Subset construction, the lazy DFA and the simulation each have a twin in
plain Python, :mod:`compiler.automata.twin`, that tests hold the kernels to; ``_plain`` is the same for the vectors.
"""
