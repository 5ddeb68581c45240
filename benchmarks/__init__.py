"""Measurements, and verification that takes longer than tests may: ``python -m benchmarks NAME ...`` in a checkout.

============================  ============================================================================================
:mod:`.commands`              the commands; README.md says what each measures, needs and writes
:mod:`.engine`                nanoseconds per key beside other ways to match, threads, memory, start-up
:mod:`.seeds`                 the tables of published articles, measured again
:mod:`.growth`                time and bytes by the number of bindings, words and ``#``
:mod:`.ablations`             what each choice of the engine's layout is worth
:mod:`.verification`          the soak of random sets; live brokers; released packages
:mod:`.compiled_trie`         a trie compiled by numba: what the engine is measured against
:mod:`.workloads`             the binding sets and keys
:mod:`.agreement`             how the answers of contestants are compared
:mod:`.measure`               how contestants are timed
============================  ============================================================================================

It is part of a checkout, not of the installed package, and nothing in the product imports it.
"""
