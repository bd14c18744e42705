"""What the commands read: files, folders, standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from steguard.contract import Contract, Verdict
from steguard.errors import SteguardError
from steguard.forms import TextForm
from steguard.htmltemplate import HtmlForm
from steguard.jsonform import JsonForm
from steguard.text.model import Kind

SUFFIXES = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "plain",
    ".text": "plain",
    ".html": "html",
    ".htm": "html",
    ".json": "json",
}
_SKIPPED = {"node_modules", "__pycache__", "build", "dist"}


class InputError(SteguardError):
    """A file cannot be read."""


@dataclass(frozen=True)
class Source:
    """A text to check and the name to show for it; ``path`` is None for standard input."""

    name: str
    text: str
    path: Path | None

    def contract(self, base: Contract) -> Contract:
        """The contract for this file: a profile for text reads a file by its suffix."""
        kind = SUFFIXES.get(self.path.suffix.lower()) if self.path else None
        if kind is None or not isinstance(base.form, TextForm):
            return base
        fields = base.profile.spec.output.fields
        if kind == "html":
            return replace(base, form=HtmlForm(fields=fields))
        if kind == "json":
            return replace(base, form=JsonForm(fields=fields, recover="off"))
        return replace(base, form=TextForm(kind))


@dataclass(frozen=True)
class Checked:
    """A source and what the checks say of it."""

    source: Source
    verdict: Verdict
    contract: Contract

    @cached_property
    def words(self) -> int:
        """The words of its prose; for Chinese text, the characters."""
        return sum(
            token.kind is not Kind.PUNCT
            for part in self.verdict.extract.parts
            for sentence in self.contract.sentences(part)
            for token in sentence.tokens
        )


def read_sources(arguments: Iterable[str]) -> Iterator[Source]:
    """The texts of files, folders (recursively, text files only) and ``-``.

    Raises :class:`InputError` for what cannot be read.
    """
    for argument in arguments:
        if argument == "-":
            yield Source("<stdin>", _decode(sys.stdin.buffer.read(), "<stdin>"), None)
            continue
        path = Path(argument)
        if path.is_dir():
            yield from (read_file(inner) for inner in _inside(path))
        else:
            yield read_file(path)


def read_file(path: Path) -> Source:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file or folder") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    return Source(str(path), _decode(data, str(path)), path)


def _decode(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        raise InputError(f"{name}:{line}:{column}: this is no UTF-8 text") from None


def _inside(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name in _SKIPPED:
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _inside(path)
        elif path.is_file() and path.suffix.lower() in SUFFIXES:
            yield path
