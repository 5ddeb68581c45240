"""``python -m dfa_router``: the same as the command ``dfa-router``."""

from __future__ import annotations

from dfa_router.cli import main

main()
