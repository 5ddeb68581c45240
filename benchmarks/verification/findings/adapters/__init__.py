"""Released packages as ``f(patterns, key)``: each adapter calls the package's own matching code, as it is.

Packages are imported by name inside the functions: none of them is needed for anything else, and few are typed. What an
adapter builds of the patterns is kept while the patterns stay the same, as a campaign asks many keys of one set.
"""

from __future__ import annotations
