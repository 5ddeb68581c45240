"""Compiled routers in files: what is written, and what is checked when it is read."""
