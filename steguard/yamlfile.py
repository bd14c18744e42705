"""YAML with the position of every value, so that an error can say where it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import yaml

from steguard.errors import ProfileError

Path = tuple[str | int, ...]

MAX_VALUES = 50_000
"""Values in one file at the most; aliases can make few lines into very many values."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a file; line and column start at 1."""

    file: str
    line: int
    column: int


@dataclass
class Marked:
    """Plain data and the mark of every value and key in it."""

    data: Any
    marks: dict[Path, Mark] = field(default_factory=dict)

    def mark(self, path: Sequence[str | int]) -> Mark | None:
        """The mark of the value at this path, or of the nearest value around it."""
        for length in range(len(path), -1, -1):
            found = self.marks.get(tuple(path[:length]))
            if found is not None:
                return found
        return None

    def error(self, message: str, path: Sequence[str | int] = ()) -> ProfileError:
        """An error at this path."""
        at = self.mark(path)
        if at is None:
            return ProfileError(message)
        return ProfileError(message, file=at.file, line=at.line, column=at.column)


class _PlainLoader(yaml.SafeLoader):
    """Every scalar stays the text that stands in the file: ``no`` is no truth value."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - the form that PyYAML reads


def parse(text: str, file: str, *, plain: bool = False) -> Marked:
    """Read one YAML document; with ``plain`` every scalar stays text.

    Raises :class:`ProfileError` with file, line and column.
    """
    try:
        loader = _PlainLoader(text) if plain else yaml.SafeLoader(text)
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark or error.context_mark
        raise ProfileError(
            f"this is no YAML: {error.problem or error.context}",
            file=file,
            line=at.line + 1 if at else None,
            column=at.column + 1 if at else None,
        ) from None
    except yaml.YAMLError as error:
        raise ProfileError(f"this is no YAML: {error}", file=file) from None
    marked = Marked(None)
    if node is not None:
        marked.data = _build(loader, node, (), marked.marks, file, frozenset())
    return marked


def _build(
    loader: yaml.SafeLoader,
    node: yaml.Node,
    path: Path,
    marks: dict[Path, Mark],
    file: str,
    inside: frozenset[int],
) -> Any:
    mark = Mark(file, node.start_mark.line + 1, node.start_mark.column + 1)
    marks.setdefault(path, mark)
    if len(marks) > MAX_VALUES:
        raise ProfileError("too many values", file=file, line=mark.line, column=mark.column)
    if id(node) in inside:
        raise ProfileError(
            "an alias contains itself", file=file, line=mark.line, column=mark.column
        )
    inside = inside | {id(node)}
    if isinstance(node, yaml.MappingNode):
        loader.flatten_mapping(node)
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = str(loader.construct_object(key_node, deep=True))
            at = Mark(file, key_node.start_mark.line + 1, key_node.start_mark.column + 1)
            if key in result:
                raise ProfileError(
                    f"the key '{key}' stands here twice", file=file, line=at.line, column=at.column
                )
            marks[(*path, key)] = at
            result[key] = _build(loader, value_node, (*path, key), marks, file, inside)
        return result
    if isinstance(node, yaml.SequenceNode):
        return [
            _build(loader, item, (*path, index), marks, file, inside)
            for index, item in enumerate(node.value)
        ]
    try:
        return loader.construct_object(node, deep=True)
    except (yaml.YAMLError, ValueError) as error:
        raise ProfileError(
            f"this value cannot be read: {error}", file=file, line=mark.line, column=mark.column
        ) from None


def nearest(name: str, valid: Sequence[str]) -> str:
    """A hint that names the valid name most like this one, or all of them if they are few."""
    near = get_close_matches(name, valid, n=1, cutoff=0.5)
    if near:
        return f"; did you mean '{near[0]}'?"
    if 0 < len(valid) <= 12:
        return f"; valid: {', '.join(valid)}"
    return ""
