"""Kernels: the loops over keys, compiled by numba. Each has a plain-Python twin that tests hold it to."""
