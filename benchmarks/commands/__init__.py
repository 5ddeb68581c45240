"""The commands of ``python -m benchmarks``, a module each.

What a command runs is imported when it runs: the help of all commands would else wait for numba and pyarrow.
"""
