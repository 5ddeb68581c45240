"""Exchanges that hand each message to one of their destinations: which one, where that can be told, and else the chances."""
