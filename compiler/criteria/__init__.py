"""Criteria: demands on the fields of messages, matched by bitmaps; what they are to keys that automata are to words."""
