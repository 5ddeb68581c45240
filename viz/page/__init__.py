"""The page that steps through a match: its data, the HTML file that holds them, and a server for changing the patterns.

The page's script (``engine.js``, ``page.js``) reads keys without a server. What it computes is also written in Python
(:mod:`viz.walk`, :mod:`viz.trie_walk`, :mod:`viz.text`), and tests compare the two.
"""
