"""The errors of the compiler, and the root of all errors of the project.

The root is here because ``dfa_router`` imports ``compiler`` and never the reverse; users know it as
``dfa_router.RouterError``.

::

    RouterError                      anything this project raises on purpose
    ├── InputError                   (ValueError) the caller's input is wrong
    │   ├── PatternError             a binding pattern
    │   ├── CapacityError            an automaton would exceed the limit that it was given
    │   └── FileFormatError          a file of a compiled router: .kind is the defect, .section where it is
    └── (see dfa_router.errors)      bindings, definitions files, the environment
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["CapacityError", "Defect", "FileFormatError", "InputError", "PatternError", "RouterError"]


class RouterError(Exception):
    """Base of every error that the project raises on purpose; its text says what to do next."""


class InputError(RouterError, ValueError):
    """The caller's input is wrong: the text names the place, what was expected and the remedy."""


class PatternError(InputError):
    """A binding pattern cannot be compiled."""


class CapacityError(InputError):
    """An automaton would exceed a limit on its states or bytes; the text names the limit and its value."""


class Defect(StrEnum):
    """What can be wrong with a file of a compiled router, in the order in which loading checks it."""

    UNREADABLE = "unreadable"
    """There is no such file, or it cannot be read."""
    LABEL = "label"
    """It does not begin with the label of such files: it is something else."""
    BYTE_ORDER = "byte order"
    """It was written on a machine of the other byte order (big-endian or little-endian)."""
    VERSION = "version"
    """It was written in another version of the format."""
    SIZE = "size"
    """It is shorter or longer than its header says."""
    CHECKSUM = "checksum"
    """Its bytes are not those that were written."""
    TABLE = "table"
    """The table of sections does not describe sections that follow each other to the end of the file."""
    SECTION = "section"
    """A section is missing or unknown, of the wrong type, or its length does not fit the others."""
    OFFSETS = "offsets"
    """Offsets do not ascend from zero to the length of the array that they point into."""
    TREE = "tree"
    """The ranges of children are not those of a tree that is numbered level by level."""
    LABELS = "labels"
    """Labels are out of range or out of order, or a wildcard follows one that stands for any number of words."""
    TAGS = "tags"
    """An accept tag is missing or occurs twice, the tags of a position do not ascend, or a leaf has none."""
    WORDS = "words"
    """A literal word occurs twice, or is in no pattern."""
    TEXT = "text"
    """A pattern or destination is not UTF-8, a pattern is not valid in the dialect, or the destinations are not each of the
    bindings' destinations once."""
    OPTIONS = "options"
    """The description of dialect, engine and options cannot be understood."""
    PATTERNS = "patterns"
    """The automaton was not built from the patterns in the file."""
    FINGERPRINT = "fingerprint"
    """Dialect, options or destinations are not those that were saved."""
    SEAL = "seal"
    """Sealed tables are malformed, or are not those of the automaton in the file."""


class FileFormatError(InputError):
    """A file of a compiled router cannot be used; the text names the file, the section, the problem and the remedy."""

    def __init__(self, message: str, *, kind: Defect = Defect.UNREADABLE, section: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        """What is wrong."""
        self.section = section
        """The section that is wrong; empty if it is the file as a whole."""
