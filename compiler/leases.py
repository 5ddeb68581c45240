"""Who uses what now: each thing is lent to one call at a time, and comes back even if that call was broken off.

A signal can end a call between any two steps, also between taking something and the ``try`` that would give it back, and
after a ``fork`` the child has the loans of threads that it does not have. A lock or a queue would then be lost, and whoever
waits for it would wait for ever. So a loan is an entry in a dictionary, made and removed in a single step of the
interpreter, with a *lease* that its call holds in a local variable. A loan to whose lease nothing else refers has outlived its
call, and is taken over. Where something does, that is the call, or a traceback of it: who has waited for some time looks at the
stacks of all threads, as a call that is in none of them has ended. A loan itself costs 0.1 us.

Looking at stacks is the last resort: before Python 3.12 garbage may be collected in the middle of it, what is run by that lets other
threads go on, and the interpreter writes to a frame that has gone meanwhile. (With four threads that ask a router key by key, and garbage
that has finalizers, two runs in twelve ended in a hang or a crash when each of them looked as soon as it had to wait.)

What is lent may have been left in the middle of something: that is for the next call to find out, see
:class:`compiler.machine.walker.Walker`.

Rejected: a lock (in a ``with`` statement it survives signals, but not a fork, nor an exception that a debugger or a trace
function raises on the way out), and a queue of idle things (it lost one at up to every thirteenth interrupt).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Collection
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import CodeType, FrameType

__all__ = ["Lease", "Leases"]

Lease = dict[int, "Lease"]
"""What a call holds while something is lent to it: a new dictionary, which is told from others by identity. Once a loan
has been taken over, its number leads to the lease that followed."""

LONGEST_WAIT = 0.001
"""Seconds between two tries to get what is lent, at most; the first ones follow each other at once."""
LOOKS = 100
"""How often the stacks of all threads are looked at, at most, where one ends at a generator, as that of a thread may whose calls C code makes."""
YIELDS = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
"""The flags of code whose frames have no caller while they are stopped."""
LOOK = 64
"""The stacks of all threads are looked at in every so manieth try in vain: after 40 ms at first."""


class Leases:
    """Loans of numbered things; safe to use from several threads without any lock."""

    def __init__(self, calls: Collection[CodeType]) -> None:
        """Lend within these functions only; each keeps its lease in a local variable called ``lease``."""
        self._calls = frozenset(calls)
        self.loans: dict[int, Lease] = {}
        """What is lent now: its number and the lease. A call may try ``loans.setdefault(number, lease) is lease`` itself,
        which is what :meth:`take` does first, and gives back by ``loans.pop(number, None)``."""
        self._in_vain = 0
        """Tries in vain, about."""

    def take(self, lease: Lease, numbers: Collection[int], *, wait: bool = True) -> int | None:
        """Take the first of these numbers that can be had, waiting until one can unless that is not wanted.

        Returns None if all are lent and one of them to a call further up in the stack of this thread, as when a signal
        handler asks the router that it has interrupted: waiting for that would never end.
        """
        tries, own = 0, False
        while True:
            for number in numbers:
                holder, last, references = _held(self.loans, number, lease)
                if holder is lease:
                    return number
                lost = references <= LOST[last is holder]
                if not lost:
                    own |= tries == 0 and self._is_here(last)
                    self._in_vain += 1
                    lost = self._in_vain % LOOK == 0 and self._thread_of(last) is None
                # Of several who see that it has outlived its call, the first one is the heir. If it came back while we looked, it
                # is somebody else's by now, or nobody's.
                if lost and self.loans.get(number) is holder and last.setdefault(number, lease) is lease:
                    self.loans[number] = lease
                    return number
            if own or not wait:
                return None
            tries += 1
            time.sleep(min(LONGEST_WAIT, 1e-6 * tries * tries))

    def give_back(self, number: int) -> None:
        """Give back what :meth:`take` has returned."""
        self.loans.pop(number, None)

    def lent_here(self) -> bool:
        """Tell whether anything is lent to a call further up in the stack of this thread, so that nobody else may wait for it on its behalf."""
        return any(self._is_here(_last(holder, number)) for number, holder in list(self.loans.items()))

    def _is_here(self, lease: Lease) -> bool:
        """Tell whether a call further up in the stack of this thread holds the lease."""
        return self._is_in(sys._getframe(), lease)[0]  # noqa: SLF001 - there is no other way to see the calls further up

    def _is_in(self, top: FrameType, lease: Lease) -> tuple[bool, FrameType]:
        """Tell whether one of these calls holds the lease, and at which one looking at them ended."""
        frame: FrameType | None = top
        last = top
        while frame is not None:
            if frame.f_code in self._calls and frame.f_locals.get("lease") is lease:
                return True, frame
            last, frame = frame, frame.f_back
        return False, last

    def _thread_of(self, lease: Lease) -> int | None:
        """Return the thread one of whose calls holds the lease, or None where no call does any more.

        Threads go on while their stacks are looked at. A generator that has yielded meanwhile has no caller any more, so the calls below it
        are not seen: then all is looked at again. (One call in some hundred thousand was taken for ended so, and two threads used one walker.)
        """
        for _ in range(LOOKS):
            whole = True
            for thread, top in sys._current_frames().items():  # noqa: SLF001 - nor those of another thread
                held, last = self._is_in(top, lease)
                if held:
                    return thread
                whole &= not last.f_code.co_flags & YIELDS
            if whole:
                return None
        return None


def _last(lease: Lease, number: int) -> Lease:
    """Return the last heir of a lease: one may have been broken off before the loan was its own, and has heirs itself."""
    while number in lease:
        lease = lease[number]
    return lease


def _held(loans: dict[int, Lease], number: int, lease: Lease) -> tuple[Lease, Lease, int]:
    """Lend a number if nobody has it. Return who has it then, the last of his heirs, and how many references there are to that one."""
    holder = loans.setdefault(number, lease)
    last = _last(holder, number)
    return holder, last, sys.getrefcount(last)


def _references_when_lost(loans: dict[int, Lease]) -> int:
    """Return as how many :func:`_held` counts those to a lease to which these loans alone refer: the least, as the interpreter may change how it calls."""
    return min(_held(loans, 0, {})[2] for _ in range(64))


LOST = {True: _references_when_lost({0: {}}), False: _references_when_lost({0: {0: {}}})}
"""The references to a lease that is lost, where the loan is to that, and where it is to one before."""
