"""Routers in files: what a file says of a router, and reading one or many of them from a file."""
