"""What the page of the articles' tables says in words."""

from __future__ import annotations

__all__ = [
    "FIELDS",
    "GROWTH",
    "INSERTS",
    "LATENCY",
    "LIMITS",
    "MEMORY",
    "MIX",
    "PREDICATES",
    "READS",
    "SOURCES",
    "TAIL",
    "THREADS",
    "THROUGHPUT",
]

SOURCES = """\
Published figures are in parentheses: Tyler Treat's from "Fast Topic Matching", in Go on a 2.6 GHz Core i7. Where there
is none, none was given, or it was only drawn. His naive matcher splits subscription and topic again for each pair, so its
figures stand beside "scan, split every time". Figures of one thread are of processor time: those of changes are medians,
those of look-ups and messages the fastest of many short batches. Those of several threads are elapsed time, the fastest of
five runs. What follows from the figures is in [seeds-claims.md](seeds-claims.md)."""

LIMITS = """\
What this comparison cannot show. The published figures are of other languages (Go, Erlang, C) on processors of another
decade, and of programs that we did not run: for gnatsd there stands a trie behind a lock. Here everything is Python in one
interpreter, where a call costs as much as a whole look-up there, so a figure mostly says how many calls a structure needs.
Do not compare a figure with the published one beside it: compare the *order* within a column, and the ratios. Two things
distort even these. Structures whose work is done in C (dictionaries, sets, roaring bitmaps) look better beside those that
walk nodes in Python. And these subscriptions are random and mostly literal, as in the sources: patterns with many `#`, where
the structures differ most, are in the benchmark of the engine (`python -m benchmarks engine`)."""

LATENCY = """\
One thread; *cold* is without subscriptions, *hot* with 1,000 random ones of five words. An engine that is not dynamic is
built anew for a subscription."""

THROUGHPUT = """\
1,000 subscriptions of three digits, one in eight with a `*`; 1,000 keys, looked up in turn. In the columns they are the
same thousand again and again, so the key cache knows them all: the line without it is what walking them costs."""

MEMORY = """\
Bytes per subscription with 1,000 random ones of five words, of the Python objects, arrays and bitmaps that only the
engine holds; a topic space, where one is needed, has as many topics and is counted with its bitmaps. After use, each
subscription has been looked up once: a lazy DFA has states then. The states of generated code are functions, whose size
Python does not tell: for them it is what was allocated while they were built. Treat's chart of memory has no figures but one:
the optimised bitmap takes 4.5 times less than the plain one for every subscription. He names neither topics nor subscriptions
for it, and the factor is anything: it grows with the topics, which only the plain bitmap has rows for, and falls with the
subscriptions, of which the optimised one holds each with its words. What a further subscription adds is about the same in
both if it takes one topic, and more in the plain one the more topics it takes.
Where patterns have wildcards, a DFA has many more states than a trie has nodes."""

GROWTH = """\
Nanoseconds of single operations at sizes that are far apart, for statements about growth."""

FIELDS = """\
Microseconds per message with two criteria a request; however many requests there are, a hundred are distinct. The selector
is a clause of SQL that SQLite interprets for each request."""

THREADS = """\
Without the interpreter's global lock the same program runs in a free-threaded Python, in which the tries stand alone: numba
and the bitmaps have no builds for its version. All but the CS-trie stand behind one lock each, which every subscription and
look-up holds. A free-threaded Python has small locks of its own, in each dictionary and list that
several threads change, counts the references to what they share with atomic instructions, and stops them all to
collect garbage.
The CS-trie's cells have a lock each there, which an update holds for two instructions and a look-up never takes: those of
cereggii, which have none, are not safe without the interpreter's lock. Up to 1.0.1 they read a reference and count themselves
among the object's holders without looking whether it is still the cell's object, which may have been freed in between; so a read
returns what was never put into the cell, now and then. `PYTHON benchmarks/seeds/threads/strangers.py` shows it on a busy
machine, where PYTHON is free-threaded and has cereggii."""

MIX = """\
Threads over 1,000 subscriptions, in milliseconds for the whole workload. At 50-50 half of the threads read and half
write; at 90-10 each thread does both. Keys and new subscriptions are Treat's, the same thousand for each thread. The word
cache did a fiftieth of the work, and its time is multiplied by 50: each write drops the cache, and the next read asks every
subscription."""

INSERTS = """\
Threads that insert into an empty structure beside threads that look up, as in "Breaking and Entering"; in milliseconds.
The second line of each is the same work in one thread: what runs at once takes less than that."""

READS = """\
Look-ups alone, in milliseconds: what two threads take for twice the work. Without any lock that would be as long as one takes."""

TAIL = """\
Look-ups one by one in one thread while another one subscribes and unsubscribes, in microseconds."""

PREDICATES = """\
Messages a second to subscribers with three selectors each, two topics a message, in one thread. Kevin Burns reports a factor
of 20,000 over Mercure's boolean cache for "certain highly concurrent and highly selective workloads". How large it is depends
on the number of subscribers, and on whether topics recur."""
