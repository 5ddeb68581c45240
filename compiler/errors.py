"""Everything that can go wrong, as one tree.

The root lives in this package because imports run one way; users meet it as ``dfa_router.RouterError``.

::

    RouterError                      anything this project raises on purpose
    ├── InputError                   (ValueError) what the caller handed over is wrong
    │   ├── PatternError             a binding pattern: which one, and what is wrong with it
    │   ├── CapacityError            an automaton would outgrow the limit it was given
    │   └── FileFormatError          a file of a compiled router: which defect, and in which section
    └── (see dfa_router.errors)      bindings, definitions files, the environment
"""

from __future__ import annotations

from enum import StrEnum


class RouterError(Exception):
    """Base of every error that the project raises on purpose; its text says what to do next."""


class InputError(RouterError, ValueError):
    """The caller's input is wrong: the text names the place, what was expected and the remedy."""


class PatternError(InputError):
    """A binding pattern cannot be compiled."""


class CapacityError(InputError):
    """An automaton would outgrow the stated limit on its states or bytes; the text names both."""


class Defect(StrEnum):
    """What can be wrong with a file of a compiled router, in the order in which loading looks for it."""

    UNREADABLE = "unreadable"
    """There is no such file, or it cannot be read."""
    LABEL = "label"
    """It does not begin with the label of such files: it is something else."""
    BYTE_ORDER = "byte order"
    """It was written on a machine that orders the bytes of a number the other way round."""
    VERSION = "version"
    """It was written in another version of the format."""
    SIZE = "size"
    """It is shorter or longer than it says."""
    CHECKSUM = "checksum"
    """Its bytes are not those that were written."""
    TABLE = "table"
    """The table of sections does not describe sections that follow each other to the end of the file."""
    SECTION = "section"
    """A section is missing or unknown, of the wrong type, or its length does not fit the others."""
    OFFSETS = "offsets"
    """Offsets do not ascend from zero to the length of what they point into."""
    TREE = "tree"
    """Ranges of children do not make a tree that is numbered level by level."""
    LABELS = "labels"
    """Labels are out of range, out of order, or a wildcard follows the one for any number of words."""
    TAGS = "tags"
    """The accept tags are not each binding once, ascending at each position, with one at every leaf."""
    WORDS = "words"
    """Literal words occur twice, are of no use, or contain what no word can contain."""
    TEXT = "text"
    """A pattern or a destination is no UTF-8, or names are repeated or used by nobody."""
    OPTIONS = "options"
    """The description of dialect, engine and options cannot be understood."""
    PATTERNS = "patterns"
    """The automaton is not that of the patterns."""
    FINGERPRINT = "fingerprint"
    """Dialect, options and destinations are not those that were saved."""


class FileFormatError(InputError):
    """A file of a compiled router cannot be used; the text names file, section, what was expected and the remedy."""

    def __init__(self, message: str, *, kind: Defect = Defect.UNREADABLE, section: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        """What is wrong."""
        self.section = section
        """The section that is wrong, or an empty string where it is the file as a whole."""
