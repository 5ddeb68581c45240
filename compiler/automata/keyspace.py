"""Which sequences of words are keys, so that a proof speaks of no key that cannot exist.

A pattern says which words it takes; that not every sequence of words is a key is a rule of the dialect. In AMQP the key of
one empty word has no spelling, as the empty text has no words; NATS has no empty words at all; MQTT's keys that begin with
``$`` start at a root of their own. :class:`KeySpace` is these rules as a small deterministic automaton that runs beside
the automata of patterns: a *phase*, and what each word makes of it.

Words are infinitely many and automata tell few of them apart: the literals that occur, and every other word. ``None``
stands for any such *fresh* word until :meth:`KeySpace.filled` writes real ones.

What this leaves out: limits on the length of keys in bytes or words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, product

__all__ = ["INSIDE", "LONE_EMPTY", "START", "START_RESERVED", "KeySpace", "Word"]

Word = bytes | None
"""A word of a key; None is any word that is no literal of the patterns."""

START, START_RESERVED, INSIDE, LONE_EMPTY, UNSEEN = range(5)
"""Phases: no word yet, and none yet of a key that begins with the reserved byte; in a key; behind one empty word and
nothing else; behind the first word of ``unseen``. ``UNSEEN + n`` is behind n more of its words."""

_LETTERS = b"xyzabcdefghijklmnopqrstuvw"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySpace:
    """The rules about keys.

    >>> space = KeySpace()
    >>> space.is_key([]), space.is_key([b"a", b""]), space.is_key([b""])
    (True, True, False)
    """

    empty_text: bool = True
    """Whether there is a key without words."""
    empty_words: bool = True
    """Whether a word may be empty. One empty word alone is never a key: it has no spelling."""
    dropped: bytes = b""
    """No word has one of these bytes."""
    reserved: bytes = b""
    """Keys that begin with this byte start at the second root."""
    unseen: tuple[bytes, ...] = ()
    """No key begins with these words, of which the last may be the beginning of a word; none if it is empty."""

    def starts(self) -> tuple[int, ...]:
        """Return the phase at which keys start, for each root of an automaton."""
        return (START, START_RESERVED) if self.reserved else (START,)

    def ends(self, phase: int) -> bool:
        """Tell whether what was read is a key."""
        return phase not in (START_RESERVED, LONE_EMPTY) and (phase != START or self.empty_text)

    def step(self, phase: int, word: Word) -> int | None:
        """Return the phase after a word, or None if no key goes on so."""
        if word is not None:
            if (not word and not self.empty_words) or any(byte in word for byte in self.dropped):
                return None
            if (
                phase <= START_RESERVED
                and self.reserved
                and word.startswith(self.reserved) != (phase == START_RESERVED)
            ):
                return None
        if phase in (START, START_RESERVED):
            return self._unseen(0, word, LONE_EMPTY if word == b"" else INSIDE)
        return self._unseen(phase - UNSEEN + 1, word, INSIDE) if phase >= UNSEEN else INSIDE

    def _unseen(self, behind: int, word: Word, other: int) -> int | None:
        """Return the phase after a word that stands where word ``behind`` of ``unseen`` does."""
        if not self.unseen or word is None:
            return other
        if behind == len(self.unseen) - 1:
            return None if word.startswith(self.unseen[behind]) else other
        return UNSEEN + behind if word == self.unseen[behind] else other

    def is_key(self, words: Sequence[Word]) -> bool:
        """Tell whether the words are a key."""
        for start in self.starts():
            phase: int | None = start
            for word in words:
                phase = None if phase is None else self.step(phase, word)
            if phase is not None and self.ends(phase):
                return True
        return False

    def fresh(self, literals: Collection[bytes], *, reserved: bool = False) -> Iterator[bytes]:
        """Yield words that are no literals and under no rule, the shortest first; or such that begin with the reserved byte.

        >>> next(KeySpace().fresh({b"x", b"y"}))
        b'z'
        """
        beginning = self.reserved if reserved else b""
        for length in count(1):
            for letters in product(_LETTERS, repeat=length):
                word = beginning + bytes(letters)
                plain = reserved or not self.reserved or not word.startswith(self.reserved)
                seen = not any(word.startswith(part) for part in self.unseen if part)
                if plain and seen and word not in literals and not any(byte in word for byte in self.dropped):
                    yield word

    def filled(self, words: Sequence[Word], literals: Collection[bytes], start: int = START) -> tuple[bytes, ...]:
        """Return the words with a fresh one for each None, different ones if they are different places.

        >>> KeySpace().filled([b"x", None, None], {b"x"})
        (b'x', b'y', b'z')
        """
        fresh = self.fresh(literals)
        written = []
        for place, word in enumerate(words):
            if word is None and place == 0 and start == START_RESERVED:
                written.append(next(self.fresh(literals, reserved=True)))
            else:
                written.append(next(fresh) if word is None else word)
        return tuple(written)
