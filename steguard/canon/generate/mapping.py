"""The mapping file: how the actions of each subject become SQL or HTTP.

::

    canon-mapping: v1.0
    sql:
      inventory_check:
        request:
          select: inventory
          columns: [sku, available]
          where: {sku: sku, available: {op: ">=", field: quantity}}
          conditions: {stock_level: available}
    http:
      inventory_check:
        request:
          method: GET
          url: https://shop.example/stock/{sku}
          query: {quantity: quantity}
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from steguard import yamlfile
from steguard.canon.generate.http import METHODS, HttpMapping, check_url
from steguard.canon.generate.sql import KINDS, OPERATORS, SqlMapping
from steguard.canon.generate.values import GenerationError
from steguard.canon.model import Message
from steguard.canon.subjectfile import raise_all
from steguard.errors import ProfileError
from steguard.yamlfile import Marked, nearest

Key = tuple[str, str]
_Plan = TypeVar("_Plan")
_COLUMN = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_TABLE = re.compile(rf"(?:{_COLUMN.pattern}\.)?{_COLUMN.pattern}")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_SQL_KEYS = (*KINDS, "columns", "values", "where", "conditions", "ignore")
_HTTP_KEYS = ("method", "url", "query", "headers", "json", "ignore", "ignore_if")


@dataclass(frozen=True)
class Mapping:
    """The mappings of one file, by subject and action."""

    sql: dict[Key, SqlMapping] = field(default_factory=dict)
    http: dict[Key, HttpMapping] = field(default_factory=dict)

    def sql_for(self, message: Message) -> SqlMapping:
        """The SQL mapping of a message. Raises :class:`GenerationError`."""
        return _found(self.sql, message, "sql")

    def http_for(self, message: Message) -> HttpMapping:
        """The HTTP mapping of a message. Raises :class:`GenerationError`."""
        return _found(self.http, message, "http")


def _found(table: dict[Key, _Plan], message: Message, kind: str) -> _Plan:
    found = table.get((message.subject, message.action))
    if found is None:
        listed = ", ".join(f"{s} {a}" for s, a in table) or "nothing"
        raise GenerationError(
            f"the mapping has no {kind} for '{message.subject}' {message.action}; it has {listed}"
        )
    return found


def load_mapping(path: str | Path) -> Mapping:
    """Read a mapping file. Raises :class:`ProfileError` with every fault and its position."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"the mapping cannot be read: {error}", file=str(path)) from None
    return read_mapping(text, str(path))


def read_mapping(text: str, file: str = "<mapping>") -> Mapping:
    """Read the text of a mapping file. Raises :class:`ProfileError`."""
    reader = _Reader(yamlfile.parse(text, file, plain=True))
    mapping = reader.mapping()
    raise_all(reader.problems)
    return mapping


class _Reader:
    def __init__(self, marked: Marked) -> None:
        self._marked = marked
        self.problems: list[ProfileError] = []

    def _problem(self, message: str, *path: str) -> None:
        self.problems.append(self._marked.error(message, path))

    def mapping(self) -> Mapping:
        data = self._marked.data
        if not isinstance(data, dict) or data.get("canon-mapping") != "v1.0":
            self._problem("a mapping file starts with 'canon-mapping: v1.0'", "canon-mapping")
            return Mapping()
        for key in data:
            if key not in ("canon-mapping", "sql", "http"):
                self._problem(f"unknown key '{key}'{nearest(key, ['sql', 'http'])}", key)
        return Mapping(self._part(data, "sql", self._sql), self._part(data, "http", self._http))

    def _part(self, data: dict[str, Any], name: str, read: Callable[..., Any]) -> dict[Key, Any]:
        found = {}
        for subject, actions in self._group(data, (), name).items():
            for action, options in self._group({subject: actions}, (name,), subject).items():
                path = (name, subject, action)
                if not isinstance(options, dict):
                    self._problem(f"'{action}' is a group of settings", *path)
                    continue
                before = len(self.problems)
                made = read(options, path)
                if len(self.problems) == before:
                    found[(subject, action)] = made
        return found

    def _group(self, data: dict[str, Any], path: tuple[str, ...], key: str) -> dict[str, Any]:
        value = data.get(key, {})
        if isinstance(value, dict):
            return value
        self._problem(f"'{key}' is a mapping of names", *path, key)
        return {}

    def _known(
        self, options: dict[str, Any], known: tuple[str, ...], path: tuple[str, ...]
    ) -> None:
        for key in options:
            if key not in known:
                self._problem(f"unknown key '{key}'{nearest(key, known)}", *path, key)

    def _sql(self, options: dict[str, Any], path: tuple[str, ...]) -> SqlMapping | None:
        self._known(options, _SQL_KEYS, path)
        kinds = [kind for kind in KINDS if kind in options]
        if len(kinds) != 1:
            self._problem(f"write one of {', '.join(KINDS)} with the name of a table", *path)
            return None
        kind = kinds[0]
        plan = SqlMapping(
            kind,
            self._identifier(options[kind], *path, kind),
            tuple(
                self._identifier(c, *path, "columns") for c in self._list(options, "columns", path)
            ),
            self._names(options, "values", path),
            self._where(options, path),
            {
                k: self._identifier(v, *path, "conditions", k)
                for k, v in self._names(options, "conditions", path).items()
            },
            tuple(self._list(options, "ignore", path)),
        )
        for column in (*plan.values, *plan.where):
            self._identifier(column, *path)
        if kind == "select" and not plan.columns:
            self._problem("a select names its 'columns'", *path)
        if kind in ("insert", "update") and not plan.values:
            self._problem(f"an {kind} has 'values' (column: field)", *path)
        return plan

    def _where(self, options: dict[str, Any], path: tuple[str, ...]) -> dict[str, tuple[str, str]]:
        found: dict[str, tuple[str, str]] = {}
        for column, given in self._group(options, path, "where").items():
            if isinstance(given, str):
                found[column] = ("==", given)
            elif isinstance(given, dict) and set(given) == {"op", "field"}:
                op = str(given["op"])
                if op not in OPERATORS:
                    self._problem(
                        f"'{op}' is no operator; write {', '.join(OPERATORS)}",
                        *path,
                        "where",
                        column,
                    )
                found[column] = (op, str(given["field"]))
            else:
                self._problem(
                    "write 'column: field' or 'column: {op: \">=\", field: name}'",
                    *path,
                    "where",
                    column,
                )
        return found

    def _http(self, options: dict[str, Any], path: tuple[str, ...]) -> HttpMapping:
        self._known(options, _HTTP_KEYS, path)
        method, url = str(options.get("method", "")), str(options.get("url", ""))
        if method not in METHODS:
            self._problem(f"'method' is one of {', '.join(METHODS)}", *path, "method")
        wrong = check_url(url)
        if wrong:
            self._problem(f"'url': {wrong}", *path, "url")
        headers = self._names(options, "headers", path)
        for name in headers:
            if not _HEADER.fullmatch(name):
                self._problem(f"'{name}' is no name of a header", *path, "headers", name)
        ignore_if = options.get("ignore_if", "false")
        if ignore_if not in ("true", "false"):
            self._problem("'ignore_if' is true or false", *path, "ignore_if")
        return HttpMapping(
            method,
            url,
            self._names(options, "query", path),
            headers,
            self._names(options, "json", path),
            tuple(self._list(options, "ignore", path)),
            ignore_if == "true",
        )

    def _names(self, options: dict[str, Any], key: str, path: tuple[str, ...]) -> dict[str, str]:
        """A mapping of names to fields; a list of names maps each to itself."""
        value = options.get(key, {})
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return {item: item for item in value}
        if isinstance(value, dict) and all(isinstance(item, str) for item in value.values()):
            return value
        self._problem(f"'{key}' is a mapping of names to fields", *path, key)
        return {}

    def _list(self, options: dict[str, Any], key: str, path: tuple[str, ...]) -> list[str]:
        value = options.get(key, [])
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return value
        self._problem(f"'{key}' is a list of names", *path, key)
        return []

    def _identifier(self, value: Any, *path: str) -> str:
        form, what = (_TABLE, "table") if path[-1] in KINDS else (_COLUMN, "column")
        if not isinstance(value, str) or not form.fullmatch(value):
            self._problem(f"'{value}' is no name of a {what}", *path)
            return "_"
        return value
