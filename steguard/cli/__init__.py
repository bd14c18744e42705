"""The ``steguard`` command. One module is one command.

Exit status: 0 clean, 1 findings or an answer that broke the rules, 2 usage or bad input.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; always ends in ``SystemExit``."""
    from steguard.cli.app import build
    from steguard.errors import SteguardError

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        build()(args=_with_revision(sys.argv[1:] if arguments is None else arguments))
    except SteguardError as error:
        print(f"steguard: {error}", file=sys.stderr)  # noqa: T201 - the terminal is the surface
        raise SystemExit(2) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(0) from None


def _with_revision(arguments: Sequence[str]) -> list[str]:
    """The arguments with ``--changed`` alone as ``--changed=HEAD``; its value may be left out."""
    result: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--changed":
            bare = not rest or rest[0].startswith("-") or Path(rest[0]).exists()
            word = f"--changed={'HEAD' if bare else rest.pop(0)}"
        result.append(word)
    return result
