"""Benchmarks that come with the package, so that a figure in a report can be had again on any machine."""
