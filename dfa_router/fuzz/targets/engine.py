"""An engine of this package as a target, used as users do: compiled by name, and asked a batch of keys at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dfa_router.build import compile
from dfa_router.engines.registry import engine_info
from dfa_router.errors import PatternError
from dfa_router.language.dialects import Dialect
from dfa_router.language.validity import pattern_problem
from dfa_router.target import Answers, Refused

__all__ = ["EngineTarget"]


class EngineTarget:
    """One of :func:`dfa_router.engines`."""

    def __init__(self, engine: str, dialect: Dialect) -> None:
        """Take the engine of that name; raises :class:`OptionError` if it does not speak the dialect."""
        self.name, self.dialect = engine, dialect
        self._info = engine_info(engine)
        compile([], engine=engine, dialect=dialect, **self._topics(()))

    def _topics(self, keys: Sequence[str]) -> dict[str, Any]:
        return {"topics": list(keys)} if self._info.needs_topics else {}

    def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        """Return who matches each key; raises :class:`Refused`."""
        bindings = [(pattern, "") for pattern in patterns]
        try:
            router = compile(bindings, engine=self.name, dialect=self.dialect, **self._topics(keys))
        except PatternError as error:
            refused = (i for i, pattern in enumerate(patterns) if pattern_problem(pattern, self.dialect) is not None)
            raise Refused(str(error), pattern=next(refused, None)) from None
        batch = router.match_batch(list(keys))
        sets = [tuple(row) for row in batch.sets.to_pylist()]
        return [sets[number] for number in batch.set_ids.to_pylist()]

    def close(self) -> None:
        """Do nothing: an engine holds nothing outside of this process."""
