"""One function for each class of bug, which makes its sketch: patterns, and keys that are aimed at them.

Each is a case from a bug report (a pattern, a key, a wrong answer) with the words left open. ``wildcards`` has those about what
wildcards take, ``words`` those about what is in a word, and ``binding_sets`` those about whole patterns and several of them.
:mod:`dfa_router.fuzz.generating.classes` lists all in one table.
"""
