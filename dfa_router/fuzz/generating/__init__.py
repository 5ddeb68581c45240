"""Generators of rounds: patterns and keys that matchers have tripped over.

``choices`` is where every decision comes from (a seed, or Hypothesis), ``language`` a dialect with pools of words,
``making`` makes words, patterns and keys. ``sketches`` makes the core of a case for each class of historic bug, ``classes``
lists them, ``rounds`` makes a whole round of a number, and ``strategies`` offers the same to Hypothesis.
"""
