"""What a binding set may cost: states of an automaton, and steps of a broker that backtracks.

An automaton that is built as keys need it may have to build exponentially many states (``#.a.*.*.*`` doubles with every
``*``, ``#.a.#`` with every further binding of that form); :func:`growth` builds until a budget is spent, and says whose
positions were in the most different sets.

A broker that walks a trie and tries each way anew (RabbitMQ before 4.3.5) takes a number of steps that grows with a power of
the key's length: the number of ``#`` on a way. :func:`broker_cost` counts them, on a key that it makes as bad as it can.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, product

from compiler import CapacityError, Token, Wildcard
from compiler.automata.nfa import OTHER
from compiler.automata.positions import States
from dfa_router.analysis.blame import most_parts
from dfa_router.analysis.questions import BUDGET, Question
from dfa_router.errors import OptionError
from dfa_router.language.bindings import binding_set
from dfa_router.language.dialects import Dialect
from dfa_router.short_strings import MAX_BYTES
from dfa_router.whole_numbers import whole_number

__all__ = ["BrokerCost", "Growth", "broker_cost", "growth"]

_LETTERS = b"xyzabcdefghijklmnopqrstuvwABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
_BLAMED = 5
"""The most bindings that are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """How large the complete automaton of a binding set is."""

    states: int
    """States that keys can reach; those found, if not all were."""
    complete: bool
    """Whether these are all, or the budget was spent before."""
    blamed: tuple[tuple[int, int], ...]
    """Bindings, by position, whose positions were in the most different sets, and in how many. A binding without a ``#``
    before other words is in one set for each of its words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerCost:
    """What a key costs a broker that backtracks."""

    key: str
    """The worst key that was found."""
    steps: int
    """Steps of the walk for it: nodes of the trie that are visited, each as often as a way leads there."""
    plain: str
    """A key of as many words and bytes none of which is in a binding, as far as there are other words of as many bytes."""
    plain_steps: int
    """Steps of the walk for that."""
    binding: int | None
    """The binding that costs the most of it alone; None if there are none."""
    versions: str
    """Of which brokers this is true."""


def growth(bindings: Iterable[tuple[str, str]], dialect: str | Dialect = "amqp", *, budget: int = BUDGET) -> Growth:
    """Count the states of the complete automaton of a binding set, within a budget of steps.

    Raises :class:`PatternError` and :class:`BindingError` for what cannot be compiled.

    >>> growth([("a.b", "q")])
    Growth(states=4, complete=True, blamed=((0, 3),))
    >>> exploding = [(f"#.{letter}.#", letter) for letter in "abcdefghijklmnopqrst"]
    >>> found = growth(exploding, budget=2_000)
    >>> found.complete, found.states > 100
    (False, True)
    """
    given = binding_set(bindings)
    question = Question([one.pattern for one in given], dialect, budget)
    machine, everything = question.machine, question.side(range(len(given)))
    agenda = deque((machine.begin(root, everything), phase) for root, phase in enumerate(machine.space.starts()))
    met: dict[tuple[States, int], None] = dict.fromkeys(agenda)
    # What a literal leads to besides what any word does: few of a state's positions have it.
    led = [
        [
            (symbol, machine.step(position, symbol, everything))
            for symbol in map(machine.symbol, machine.literals(position))
        ]
        for position in range(len(machine.nfa))
    ]
    complete = True
    try:
        while agenda:
            states, phase = agenda.popleft()
            other = machine.step_all(states, OTHER, everything)
            further: defaultdict[int, list[Iterable[int]]] = defaultdict(list)
            for position in states:
                for symbol, ends in led[position]:
                    further[symbol].append(ends)
            for symbol in (*sorted(further), OTHER):
                question.budget.spend(1 + len(states) // 16)
                after = machine.space.step(phase, machine.word(symbol))
                if after is not None:
                    target = (other.union(*further.get(symbol, ())), after)
                    if target not in met:
                        met[target] = None
                        agenda.append(target)
    except CapacityError:
        complete = False
    blamed = most_parts(question, [states for states, _ in met], _BLAMED)
    return Growth(states=len({states for states, _ in met}), complete=complete, blamed=blamed)


def broker_cost(bindings: Iterable[tuple[str, str]], *, most_bytes: int = MAX_BYTES) -> BrokerCost:
    """Make a key that costs a backtracking AMQP broker as much as possible, and count what it costs.

    Keys are made of each binding's own words, in their order and each alone, as often as fits into ``most_bytes``, and the
    worst of them is told; a worse key may exist.

    Raises :class:`PatternError` and :class:`BindingError` for what cannot be compiled, and :class:`OptionError` for ``most_bytes`` that are no
    number from 0 to 255: AMQP 0-9-1 carries no longer key, so no broker pays for one.

    >>> found = broker_cost([("#.a.#.a.#.a.#.b", "q")], most_bytes=39)
    >>> found.key, found.steps, found.plain_steps
    ('a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a', 8897, 22)
    """
    expected = f"a number of bytes from 0 to {MAX_BYTES}, as AMQP carries no longer routing key"
    most_bytes = whole_number("most_bytes", most_bytes, 0, expected)
    if most_bytes > MAX_BYTES:
        raise OptionError(f"most_bytes is {most_bytes}: expected {expected}")
    given = binding_set(bindings)
    question = Question([one.pattern for one in given], "amqp")
    trie = _trie(question.tokens)
    worst: tuple[int, list[bytes]] = (_steps(trie, ()), [])
    for words in dict.fromkeys(_suspects(question.tokens, most_bytes)):
        worst = max(worst, (_steps(trie, words), list(words)), key=lambda one: one[0])
    steps, key = worst
    other = [_plain(len(word), question.literals) for word in key]
    alone = [_steps(_trie([tokens]), key) if Wildcard.MANY in tokens else 0 for tokens in question.tokens]
    return BrokerCost(
        key=b".".join(key).decode(),
        steps=steps,
        plain=b".".join(other).decode(),
        plain_steps=_steps(trie, other),
        binding=alone.index(max(alone)) if alone else None,
        versions="RabbitMQ before 4.3.5, which tries each way anew; 4.3.5 remembers them, and refuses bindings with over two '#'",
    )


def _plain(length: int, literals: Collection[bytes]) -> bytes:
    """Return a word of so many bytes that is no literal; if all are, as the empty one may be, one of them."""
    words = map(bytes, product(_LETTERS, repeat=length))
    return next((word for word in words if word not in literals), b"x" * length)


def _suspects(patterns: Iterable[Sequence[Token]], most_bytes: int) -> Iterator[tuple[bytes, ...]]:
    """Yield keys that may cost much: the literals of each pattern, round and round, all of them and each alone."""
    for tokens in patterns:
        literals = [token for token in tokens if isinstance(token, bytes)] or [b"x"]
        for round_of in (literals, *([word] for word in dict.fromkeys(literals)), literals[:-1] or literals):
            words: list[bytes] = []
            length = -1
            while length + 1 + len(round_of[len(words) % len(round_of)]) <= most_bytes:
                words.append(round_of[len(words) % len(round_of)])
                length += 1 + len(words[-1])
            if words != [b""]:  # its text would be that of the key without words
                yield tuple(words)


_Node = dict[Token, "_Node"]


def _trie(patterns: Iterable[Sequence[Token]]) -> _Node:
    """Return the trie that the broker keeps: of the patterns as they are written, not of their normal forms."""
    root: _Node = {}
    for tokens in patterns:
        node = root
        for token in tokens:
            node = node.setdefault(token, {})
    return root


def _steps(root: _Node, words: Sequence[bytes]) -> int:
    """Return how many calls a walk makes that tries each way anew.

    A call at a node with some words left calls the literal's child and that of ``*`` with one word fewer, and that of ``#``
    with all of them, with one fewer, and so on to none. They are counted, not made: from the root down, how many calls a node gets
    with each number of words left. Nodes that no call reaches are left out, nearly all
    of a large trie: of 365 bindings all keys take 0.08 s, where counting from the leaves up took 9 s.
    """
    places: defaultdict[Token, list[int]] = defaultdict(list)
    for at, word in enumerate(words):
        places[word].append(at)
    steps = 0
    agenda = [(root, [1, *(0 for _ in words)])]
    while agenda:
        node, calls = agenda.pop()
        steps += sum(calls)
        if not node:
            continue
        one, many = node.get(Wildcard.ONE), node.get(Wildcard.MANY)
        if many is not None:
            agenda.append((many, list(accumulate(calls))))
        if one is not None and any(calls[:-1]):
            agenda.append((one, [0, *calls[:-1]]))
        for literal in node.keys() & places.keys():
            further = [0] * len(calls)
            for at in places[literal]:
                further[at + 1] = calls[at]
            if any(further):
                agenda.append((node[literal], further))
    return steps
