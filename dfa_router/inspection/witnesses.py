"""The shortest keys that two topologies treat differently, for each exchange and queue: what a change gains and loses.

For an exchange where anything behind it has changed, the patterns of both topologies behind it become one NFA, whose DFA is
searched from its start, shortest keys first: at each state the conditions that are met tell where the message ends, before and after
(:mod:`~dfa_router.inspection.sides`). The first key that shows a queue gained or lost is a shortest one. Keys can differ only if they
match a pattern that changed, so the search leaves what has none of these ahead of it: a change of one binding among a million is
found among its neighbours.

What this leaves out: CC and BCC, as every message has one key here; with more, one may open the way to an exchange and another match
behind it. And exchanges where something besides the key decides; a message that reaches one ends there as far as this is
concerned. Where one of them changed, or anything behind it, that is told as such; of one that only one side declares, nothing behind
it counts as lost or gained. The search has a budget (:data:`STEPS`); what
was not searched to its end is named; exchanges with few bindings behind them come first. The default exchange needs no search: it knows each declared queue by its name.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, product
from operator import length_hint
from string import ascii_lowercase

from compiler.automata.nfa import Nfa, build_nfa
from compiler.automata.paths import parents_of, path_to
from compiler.automata.pattern import Pattern, Wildcard
from compiler.automata.powerset import State, default_successor, literal_successors, start
from dfa_router.inspection.sides import Destination, Met, Side
from dfa_router.rabbitmq import Topology
from dfa_router.reports import Report
from dfa_router.short_strings import MAX_BYTES

__all__ = ["Change", "Changes", "changes_between"]

STEPS = 200_000
"""Transitions that are made in all, some 20 us each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Messages that get somewhere after a change and did not before, or the other way around."""

    vhost: str
    exchange: str
    """Where they are published."""
    kind: str
    """``queue``; ``exchange`` for one behind it; or ``nobody``: messages become unroutable (gained), or no longer are (lost)."""
    destination: str
    gained: bool
    key: str
    """A shortest key of such a message."""


@dataclass(slots=True, kw_only=True)
class Changes:
    """What differs between two topologies."""

    changes: list[Change] = field(default_factory=list)
    unsearched: list[tuple[str, str, str]] = field(default_factory=list)
    """(vhost, exchange, reason) of exchanges that were not searched to the end; the exchange is ``""`` for a whole vhost."""


def changes_between(old: Topology, new: Topology, *, report: Report | None = None) -> Changes:
    """Compare what two topologies do with messages without CC and BCC, whatever their keys.

    >>> from dfa_router.rabbitmq import Binding, Exchange, topology_of
    >>> def topology(pattern):
    ...     return topology_of(exchanges=[Exchange(name="x", type="topic")],
    ...                        bindings=[Binding(source="x", destination="q", routing_key=pattern)])
    >>> [(change.gained, change.kind, change.key) for change in changes_between(topology("a.#"), topology("a.*")).changes]
    [(False, 'queue', 'a'), (True, 'nobody', 'a')]
    """
    sides = Side(old), Side(new)
    found = Changes()
    budget = iter(range(STEPS))
    both = {*old.vhosts} & {*new.vhosts}
    for vhost in sorted({*old.vhosts} ^ {*new.vhosts}):
        reason = f"only {'the old' if vhost in old.vhosts else 'the new'} definitions have this vhost: nothing in it was compared"
        found.unsearched.append((vhost, "", reason))
    places = sorted(
        {place for side in sides for place in side.places if place[0] in both and place[1]},
        # A large exchange would leave no steps to those after it, most of which need few.
        key=lambda place: (sum(side.size(*place) for side in sides), place),
    )
    for number, (vhost, exchange) in enumerate(places):
        if report is not None:
            report("comparing", number, len(places))
        ends = [side.places[vhost, exchange] for side in sides if (vhost, exchange) in side.places]
        # Exports leave internal exchanges out, so one that is bound and not declared may be the same as ever.
        if not any(end.internal for end in ends) or any(not end.internal and end.is_declared for end in ends):
            _compare(sides, vhost, exchange, found, budget)
    found.changes.sort(key=lambda change: (change.vhost, change.exchange))
    found.unsearched.sort(key=lambda one: one[:2])
    found.changes += _by_name(old, new, both)
    return found


def _by_name(old: Topology, new: Topology, vhosts: Container[str]) -> Iterator[Change]:
    """Yield what messages to the default exchange do otherwise: those with the name of a queue that one side lacks."""
    before, after = ({(one.vhost, one.name) for one in side.queues if one.vhost in vhosts} for side in (old, new))
    for gained, places in ((False, before - after), (True, after - before)):
        told: set[str] = set()
        for vhost, name in sorted(places, key=lambda place: (place[1].count("."), len(place[1].encode()), place)):
            yield Change(vhost=vhost, exchange="", kind="queue", destination=name, gained=gained, key=name)
            if vhost not in told:
                told.add(vhost)
                yield Change(vhost=vhost, exchange="", kind="nobody", destination="", gained=not gained, key=name)


def _compare(sides: tuple[Side, Side], vhost: str, exchange: str, found: Changes, budget: Iterator[int]) -> None:
    names = {name for side in sides for name in side.behind(vhost, exchange)}
    found.unsearched += [(vhost, exchange, reason) for reason in _undecided(sides, vhost, names)]
    changed: set[Met] = set()
    entered = [side.places[vhost, exchange].internal for side in sides if (vhost, exchange) in side.places]
    anything = len({*entered}) > 1
    for name in names:
        ends = [side.places.get((vhost, name)) for side in sides]
        decided = {place is None or place.is_decided for place in ends}
        if decided == {False} or {place.is_declared for place in ends if place is not None} == {True, False}:
            continue  # where the key does not decide, or nobody knows what does, nothing counts as lost or gained
        leads = [{} if place is None else place.leads for place in ends]
        changed |= {(name, one) for one in leads[0].keys() | leads[1].keys() if leads[0].get(one) != leads[1].get(one)}
        # Messages that match nothing there go elsewhere. An exchange that one side lacks is reached by what changed before it.
        if name == exchange or None not in ends:
            alternates = {None if place is None else place.alternate for place in ends}
            anything |= len(decided) > 1 or len(alternates) > 1
    if not changed and not anything:
        return
    if length_hint(budget):
        patterns = _patterns(sides, vhost, names, None if anything else changed)
        if _Search(sides, vhost, exchange, patterns, None if anything else changed).run(found, budget):
            return
    reason = f"the search was ended after {STEPS:,} steps of all exchanges: there may be more, and shorter keys"
    found.unsearched.append((vhost, exchange, reason))


def _undecided(sides: tuple[Side, Side], vhost: str, names: Iterable[str]) -> Iterator[str]:
    """Yield what changed where the key alone does not decide, and behind it: no search looks there."""
    different = {name: some for name in sorted(names) if (some := _differences(sides, vhost, name))}
    for name in sorted(names):
        places = [side.places[vhost, name] for side in sides if (vhost, name) in side.places]
        if not different or all(place.is_decided for place in places):
            continue
        what = list(different.get(name, ()))
        if not different.keys().isdisjoint(one for side in sides for one in side.behind(vhost, name) if one != name):
            what.append("what is behind it")
        if what:
            yield f"{name!r}, where the key alone does not decide, changed ({', '.join(what)}): compare with --messages"


def _differences(sides: tuple[Side, Side], vhost: str, name: str) -> list[str]:
    """Return in words what of an exchange is not the same on both sides."""
    old, new = (side.places.get((vhost, name)) for side in sides)
    return ["it is on one side only"] if old is None or new is None else old.differences(new)


def _patterns(
    sides: tuple[Side, Side], vhost: str, names: Iterable[str], changed: set[Met] | None
) -> dict[Met, Pattern]:
    """Return the patterns of exchanges; of a few changed ones, only those that a key can match together with one of them."""
    found: dict[Met, Pattern] = {}
    for side in sides:
        for name in sorted(names):
            place = side.places.get((vhost, name))
            if place is not None:
                found.update({(name, condition): pattern for condition, pattern in place.patterns})
    if changed is None:
        return found
    firsts, lasts = (_words([found[one] for one in changed if one in found], place) for place in (0, -1))

    def fits(pattern: Pattern, place: int, words: set[object] | None) -> bool:
        end = pattern[place] if pattern else b""
        return words is None or isinstance(end, Wildcard) or end in words

    return {
        met: pattern
        for met, pattern in found.items()
        if met in changed or (fits(pattern, 0, firsts) and fits(pattern, -1, lasts))
    }


def _words(patterns: Sequence[Pattern], place: int) -> set[object] | None:
    """Return the words with which patterns begin or end, or None where one does with a wildcard."""
    ends = {pattern[place] if pattern else b"" for pattern in patterns}
    return None if any(isinstance(end, Wildcard) for end in ends) else set(ends)


class _Search:
    """The search through the keys of an exchange."""

    def __init__(
        self,
        sides: tuple[Side, Side],
        vhost: str,
        exchange: str,
        patterns: dict[Met, Pattern],
        changed: set[Met] | None,
    ) -> None:
        self._sides, self._vhost, self._exchange = sides, vhost, exchange
        # Equal patterns of several exchanges are one, with all of their conditions.
        distinct: dict[tuple[Hashable, ...], list[Met]] = defaultdict(list)
        for met, pattern in patterns.items():
            distinct[tuple(pattern)].append(met)
        self._conditions = list(distinct.values())
        self._nfa = build_nfa(list(distinct))  # type: ignore[arg-type]  # the patterns again
        self._ahead = None if changed is None else _positions(self._nfa, self._conditions, changed)
        self._other = next(
            word
            for length in count(1)
            for word in map("".join, product("xyz" + ascii_lowercase, repeat=length))
            if word.encode() not in self._nfa.symbol_of
        )
        self._known: dict[tuple[int, ...], tuple[set[Destination], set[Destination]]] = {}

    def run(self, found: Changes, budget: Iterator[int]) -> bool:
        """Add the changes; return whether all keys were looked at."""
        first = start(self._nfa)
        seen = {first}
        shown: set[tuple[Destination, bool]] = set()
        # Shortest by words, then by bytes; the number keeps the order of what is equal.
        heap: list[tuple[int, int, int, str, State]] = [(0, 0, 0, "", first)]
        number = count(1)
        while heap:
            words, size, _, key, state = heapq.heappop(heap)
            # One empty word by itself is no key: "" has no word.
            for gained, ends in enumerate(((), ()) if words == 1 and not key else self._differing(state.tags)):
                for end in sorted(ends):
                    if (end, bool(gained)) not in shown:
                        shown.add((end, bool(gained)))
                        found.changes.append(self._change(end, bool(gained), key))
            if self._ahead is not None and self._ahead.isdisjoint(state.positions):
                continue
            for word, successor in self._successors(state):
                if next(budget, None) is None:
                    return False
                longer = size + len(word.encode()) + (words > 0)
                if successor not in seen and longer <= MAX_BYTES:
                    if words or word:
                        seen.add(successor)
                    item = (words + 1, longer, next(number), f"{key}.{word}" if words else word, successor)
                    heapq.heappush(heap, item)
        return True

    def _successors(self, state: State) -> Iterator[tuple[str, State]]:
        following = [(self._other, default_successor(self._nfa, state))]
        for symbol, successor in literal_successors(self._nfa, state).items():
            following.append((self._nfa.symbols.word(symbol).decode(errors="replace"), successor))
        return iter(sorted(following, key=lambda item: (len(item[0]), item[0])))

    def _differing(self, tags: tuple[int, ...]) -> tuple[set[Destination], set[Destination]]:
        """Return what messages that meet these conditions lose, and what they gain."""
        known = self._known.get(tags)
        if known is None:
            met = {one for tag in tags for one in self._conditions[tag]}
            old, new = (side.outcome(self._vhost, self._exchange, met) for side in self._sides)
            known = self._known[tags] = (
                set(old.ends - new.ends - self._unproven(new.undeclared)),
                set(new.ends - old.ends - self._unproven(old.undeclared)),
            )
        return known

    def _unproven(self, undeclared: Iterable[str]) -> set[Destination]:
        """Return where a message may get to behind exchanges that one side does not declare, as exports leave internal ones out."""
        places = ((self._vhost, name) for name in undeclared)
        one_sided = [place for place in places if any(self._declares(side, place) for side in self._sides)]
        return {end for vhost, name in one_sided for side in self._sides for end in side.beyond(vhost, name)}

    def _declares(self, side: Side, place: tuple[str, str]) -> bool:
        return place in side.places and side.places[place].is_declared

    def _change(self, end: Destination, gained: bool, key: str) -> Change:
        return Change(
            vhost=self._vhost,
            exchange=self._exchange,
            kind=end.kind,
            destination=end.name,
            gained=gained,
            key=key,
        )


def _positions(nfa: Nfa, conditions: Sequence[Sequence[Met]], changed: set[Met]) -> frozenset[int]:
    """Return the positions on the way to where changed patterns end."""
    parents = parents_of(nfa)
    tags = {tag for tag, some in enumerate(conditions) if not changed.isdisjoint(some)}
    ends = [position for position in range(len(nfa)) if not tags.isdisjoint(nfa.tags_of(position))]
    return frozenset(one for position in ends for one in path_to(parents, position))
