"""Dialects for the tests of several rooms: the named ones, others made up to combine the rules, and words that strain them."""

from __future__ import annotations

import dataclasses

import pytest

import dfa_router as dr
from dfa_router.language.dialects import DIALECTS

__all__ = ["ALL", "LONG", "MADE_UP", "each_dialect", "words_of"]

MADE_UP = (
    dataclasses.replace(dr.AMQP, name="reserved", reserved=b"$"),
    dataclasses.replace(dr.AMQP, name="some anywhere", many=None, some=b">", reserved=b"a"),
    dataclasses.replace(dr.AMQP, name="all three", separator=b"/", some=b"**", shared=b"$share"),
    dataclasses.replace(
        dr.SOLACE, name="stray", separator=b".", many=b"#", reserved=b"#", unseen=b"$.a", empty_text=True
    ),
    dataclasses.replace(dr.NATS, name="no empty words", empty_text=True, stray_tail="literal", dropped=b"+\xc3"),
    dataclasses.replace(dr.MQTT, name="mqtt by dots", separator=b".", shared=None, dropped=b"+", reserved=None),
    dataclasses.replace(dr.AMQP, name="no one", one=None, unseen=b"$", empty_words=False),
    dr.Dialect(name="words alone", separator=b" ", dropped=b"$", shared=b"a", empty_text=False),
)
ALL = (*DIALECTS.values(), *MADE_UP)
LONG = "longer-than-eight"

each_dialect = pytest.mark.parametrize("dialect", ALL, ids=lambda dialect: dialect.name)


def words_of(dialect: dr.Dialect) -> list[str]:
    """Return words with which the dialect's rules can go wrong."""
    special = (dialect.one, dialect.many, dialect.some, dialect.shared, dialect.reserved, dialect.unseen)
    own = [word.decode() for word in special if word is not None]
    own += [word + "x" for word in own] + [chr(byte) for byte in dialect.dropped if byte < 0x80]
    return ["a", "b", "", "$", "$x", "é", LONG, LONG[:-1] + "x", *own]
