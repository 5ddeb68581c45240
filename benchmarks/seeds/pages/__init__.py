"""The result: a CSV file of all figures, a page with tables beside the published figures, a page of claims, and plots.

=================  ====================================================================================================
:mod:`.prose`      what the page says in words
:mod:`.tables`     its tables, of rows
:mod:`.claims`     the page of claims
:mod:`.plots`      bars and lines
:mod:`.files`      the files
=================  ====================================================================================================
"""

from __future__ import annotations

from benchmarks.seeds.pages.files import write

__all__ = ["write"]
