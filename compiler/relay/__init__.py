"""Relays: keys that go from station to station, each of which sends them on by its own patterns."""
