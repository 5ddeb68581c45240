"""Kernels: the loops over routing keys, compiled to machine code by numba.

:mod:`compiler.kernels.walk` is where to begin: it takes a column of keys through the lazy DFA. The tables that it reads are
described in :mod:`compiler.kernels.tables`. Three modules import numba: ``_jit`` (decorators and machine instructions),
``_lanes`` and ``_vectors`` (eight keys at a time). Subset construction, the lazy DFA and the simulation each have a twin in
plain Python, :mod:`compiler.automata.twin`, that tests hold the kernels to; ``_plain`` is the same for the vectors.
"""
