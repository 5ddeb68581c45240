"""Released packages as functions ``f(patterns, key)``: each adapter calls the package's own matching code, unchanged.

Packages are imported by name inside the functions, as they are optional and few have types. What an adapter builds from the
patterns is kept until the patterns change, as a campaign asks many keys for one set of patterns.
"""

from __future__ import annotations
