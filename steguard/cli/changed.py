"""Which lines of a file a git working tree added since a revision."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from steguard.cli.inputs import InputError

_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


def added_lines(path: Path, revision: str) -> set[int] | None:
    """The numbers of the lines added since the revision; None means every line (a new file).

    Raises :class:`InputError` outside a git checkout and for an unknown revision.
    """
    folder = path.resolve().parent
    known = _git(folder, "ls-files", "--error-unmatch", "--", path.name)
    if known.returncode != 0:
        if _git(folder, "rev-parse", "--is-inside-work-tree").returncode != 0:
            raise InputError(f"{path}: '--changed' needs a git checkout")
        return None
    diff = _git(folder, "diff", "--no-ext-diff", "--no-color", "-U0", revision, "--", path.name)
    if diff.returncode != 0:
        raise InputError(
            f"git does not know the revision '{revision}': {diff.stderr.strip()[:200]}"
        )
    lines: set[int] = set()
    for start, count in _HUNK.findall(diff.stdout):
        lines.update(range(int(start), int(start) + int(count or 1)))
    return lines


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise InputError(f"'--changed' needs git: {error}") from None
