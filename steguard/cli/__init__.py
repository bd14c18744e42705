"""The ``steguard`` command. One module is one command.

Exit status: 0 clean, 1 findings or an answer that broke the rules, 2 usage or bad input.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    from steguard.cli.app import build
    from steguard.errors import SteguardError

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        build()()
    except SteguardError as error:
        print(f"steguard: {error}", file=sys.stderr)  # noqa: T201 - the terminal is the surface
        raise SystemExit(2) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(0) from None
