"""The command ``dfa-router``.

Results go to stdout, reports among them; what is told meanwhile, as progress and warnings, goes to stderr. Exit codes are those of
:class:`dfa_router.cli.exit_codes.ExitCode`.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import NoReturn

from dfa_router.cli.exit_codes import ExitCode
from dfa_router.started import STARTED, start_is_over

__all__ = ["ExitCode", "main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit; ``arguments`` stands for ``sys.argv[1:]``."""
    try:
        from dfa_router.cli.app import run
    except ModuleNotFoundError as error:
        if error.name not in {"click", "rich"}:
            raise
        sys.stderr.write(f"dfa-router needs {error.name} for its commands: pip install 'dfa-router[cli]'\n")
        sys.exit(ExitCode.ENVIRONMENT)
    start_is_over()
    code = run(arguments, since=STARTED)
    gc.freeze()  # the interpreter would look for cycles among all objects once more: half a second where numba was loaded
    sys.exit(code)
