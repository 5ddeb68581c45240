"""The automata in their textbook form: patterns, the NFA, subset construction, the complete DFA, a lazy DFA in Python.

Nothing here is compiled by numba, and nothing knows the flat tables of the kernels. Tests compare the kernels with this
package, state by state.
"""
