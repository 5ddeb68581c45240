"""The tables of several threads, by an interpreter with its global lock and, where one is named, by one without.

===================  ==================================================================================================
:mod:`.contestants`  the dynamic reference matchers with their bindings, as a router has them
:mod:`.work`         mixes of reads and writes, inserts beside look-ups, and the slowest look-ups
:mod:`.child`        a program that measures one contestant, in whatever interpreter runs it
:mod:`.interpreters` runs the program in both interpreters
===================  ==================================================================================================

The work is done by a process of its own, because numba has no build for a free-threaded Python 3.13. So neither this
package's own ``__init__`` nor the engine may be imported there: the program makes empty packages in their place, and imports
the reference matchers alone. It is run in the same way with the interpreter's lock, so that the two figures compare.
"""
