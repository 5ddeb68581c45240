"""Verification that takes too long for the tests.

``soak`` matches random sets for minutes, ``brokers`` compares the engine with live brokers, ``topologies`` routing with a live
RabbitMQ, and ``findings`` tests released packages with the fuzzer.
"""
