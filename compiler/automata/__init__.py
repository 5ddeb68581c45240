"""The automata in their textbook form: patterns, the NFA, subset construction, the complete DFA, and a lazy DFA in Python.

Nothing here is compiled, and nothing knows the flat tables. What the kernels do is held to what this package says.
"""
