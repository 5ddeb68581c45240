"""Automata and matches as text, for a terminal.

An NFA is a trie, so it is drawn as a tree; a DFA is a table with a row per state; a match has a row per word. Lines are
folded to the width that is given.
"""
