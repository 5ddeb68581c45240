"""The Arrow boundary: columns of keys in any form become the one layout that kernels read.

A kernel is compiled once for each combination of argument types, so all forms of a key column (string, large_string,
binary, views, dictionary, sliced, chunked, of another library, a list) become the same one here: 32-bit offsets into bytes,
and an optional mask of valid keys. Plain string columns are not copied.

=====================  ==================================================================================================
``keys``               from what a caller gives to a checked column
``checks``             what Arrow leaves unchecked, as files may hold anything: offsets, sizes, indices
``columns``            from a checked column to what kernels read
``dictionaries``       dictionary columns: each distinct key is matched once
``runs``               run-end encoded columns become dictionary columns
``capsules``           columns and tables of other libraries, in and out
``rows``               some rows of a batch, taken when they are read
``lists``              lists of names, as kernels write them
``sets``               the sets of a batch as lists: of bindings, and of their destinations' names
=====================  ==================================================================================================
"""

from __future__ import annotations

from dfa_router.arrow.checks import LONGEST_KEY, check_layout, too_long
from dfa_router.arrow.columns import key_column, key_columns
from dfa_router.arrow.keys import key_array
from dfa_router.arrow.rows import Rows

__all__ = ["LONGEST_KEY", "Rows", "check_layout", "key_array", "key_column", "key_columns", "too_long"]
