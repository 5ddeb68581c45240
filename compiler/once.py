"""Attributes that are made when they are first asked for, and kept with their object: without a lock.

``functools.cached_property`` does the same, but before Python 3.12 it holds a lock meanwhile, one for all objects of a class. So
threads that ask different objects wait for each other, and in a child that was forked while another thread was inside, the lock is
held for ever. Here two threads that ask at the same time may both make the value, and the one that is put there first is everybody's:
so making it should have no other effect.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, cast, overload

__all__ = ["once"]

Made = TypeVar("Made")


class once(Generic[Made]):  # noqa: N801 - a decorator, read as property is
    """A method as an attribute: it is called when the attribute is first read, and what it returns is the attribute from then on.

    The value lies in the object's ``__dict__`` by the method's name, so reading it again costs what any attribute costs; it is copied and
    pickled with the others, and ``del`` has it made again. An exception of the method is the reader's, and nothing is kept.
    An object without a ``__dict__`` has nowhere to keep it: ``AttributeError``.

    >>> class Text:
    ...     def __init__(self, text):
    ...         self.text = text
    ...     @once
    ...     def words(self):
    ...         print("split")
    ...         return self.text.split()
    >>> text = Text("a b")
    >>> text.words, text.words
    split
    (['a', 'b'], ['a', 'b'])
    """

    def __init__(self, make: Callable[[Any], Made]) -> None:
        """Take the method."""
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        """Be told the name that the class has for it."""
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Made: ...

    def __get__(self, instance: object | None, owner: type | None = None) -> Self | Made:
        """Make the value and put it in the place of this: Python asks here only for what an object has not in its ``__dict__``."""
        if instance is None:
            return self
        made = self._make(instance)
        if (
            getattr(type(instance), self._name, None) is not self
        ):  # a derived class has its own, to be kept by that name
            return made
        # In one step of the interpreter, so that all threads get one object.
        return cast("Made", instance.__dict__.setdefault(self._name, made))
