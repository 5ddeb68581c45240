"""Reference matchers: ways to match patterns that are not automata.

They import nothing of the automaton compiler, because an oracle that shares code with what it checks is no oracle.
"""
