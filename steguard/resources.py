"""Finds the files that ship with the package, in a wheel and in a checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent


@cache
def folder(kind: str) -> Path:
    """The folder of shipped ``profiles`` or ``prompts``.

    A wheel carries them inside the package; an editable install reads the checkout's own.
    """
    packed = _PACKAGE / "_resources" / kind
    return packed if packed.is_dir() else _PACKAGE.parent / kind


def names(kind: str, suffix: str) -> list[str]:
    """The names of the shipped files with this suffix, sorted, without the suffix."""
    return sorted(path.name.removesuffix(suffix) for path in folder(kind).glob(f"*{suffix}"))


def data(name: str) -> Path:
    """A data file of the package, such as a word table."""
    return _PACKAGE / "data" / name
