"""Verification that takes too long for the tests: a soak of random sets, live brokers, and released packages."""
