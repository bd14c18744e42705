"""Checks of one argument against one constraint.

A check has three results. ``YES``: the argument is what the constraint says. ``NO``: it is not.
``UNKNOWN``: the constraint cannot be judged (the argument is omitted, or of another type). A rule
that permits needs ``YES``. A rule that forbids holds with ``YES`` and with ``UNKNOWN``, so nobody
passes it with an odd value.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any
from urllib.parse import unquote, urlsplit

import regex

from steguard.gate.policy import Constraint

TIMEOUT = 0.05
"""Seconds for one pattern; a pattern that needs more is an error, and an error denies."""

MISSING: Any = object()


class Verdict(Enum):
    YES = 1
    NO = 0
    UNKNOWN = -1


YES, NO, UNKNOWN = Verdict.YES, Verdict.NO, Verdict.UNKNOWN
Check = Callable[[Any], Verdict]
"""One compiled condition on one value."""

_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: type(v) is int or (type(v) is float and v.is_integer()),
    "number": lambda v: type(v) in (int, float),
    "boolean": lambda v: isinstance(v, bool),
    "array": lambda v: isinstance(v, list | tuple),
    "object": lambda v: isinstance(v, Mapping),
    "null": lambda v: v is None,
}


def is_type(value: Any, name: str) -> bool:
    """Whether a value has this JSON type; a boolean is no number, a text is no number."""
    return _TYPES[name](value)


def find(arguments: Mapping[str, Any], key: str) -> list[tuple[str, Any]]:
    """The values that a key of a rule means, each with its JSON pointer.

    A key is an argument name, or a JSON pointer in which ``*`` stands for every item.
    """
    if key[:1] != "/":
        return [("/" + key, arguments[key])] if key in arguments else []
    found: list[tuple[str, Any]] = [("", arguments)]
    for part in key[1:].split("/"):
        found = [inner for pointer, value in found for inner in _step(pointer, value, part)]
    return found


def _step(pointer: str, value: Any, part: str) -> Iterator[tuple[str, Any]]:
    name = part.replace("~1", "/").replace("~0", "~")
    if isinstance(value, Mapping):
        if part == "*":
            yield from ((f"{pointer}/{key}", inner) for key, inner in value.items())
        elif name in value:
            yield f"{pointer}/{part}", value[name]
    elif isinstance(value, list | tuple):
        if part == "*":
            yield from ((f"{pointer}/{index}", inner) for index, inner in enumerate(value))
        elif part.isdigit() and int(part) < len(value):
            yield f"{pointer}/{part}", value[int(part)]


def compile_value(constraint: Constraint, *, forbids: bool) -> tuple[Check, ...]:
    """The conditions of a constraint on one value, provenance apart."""
    c = constraint
    checks: list[Check] = []
    if c.type is not None:
        checks.append(_type_check(c.type))
    if c.enum is not None:
        checks.append(_enum_check(c.enum))
    if c.pattern is not None:
        checks.append(_pattern_check(c.pattern))
    if c.host is not None:
        checks.append(_host_check(c.host))
    if c.path is not None:
        checks.append(_path_check(c.path))
    if c.min is not None or c.max is not None:
        checks.append(_range_check(c.min, c.max))
    if c.min_length is not None or c.max_length is not None:
        checks.append(_length_check(c.min_length, c.max_length))
    if c.each is not None:
        checks.append(_each_check(compile_value(c.each, forbids=forbids), forbids))
    return tuple(checks)


def judge(checks: tuple[Check, ...], value: Any) -> Verdict:
    """All conditions together: one NO is NO, else one UNKNOWN is UNKNOWN."""
    verdict = YES
    for check in checks:
        said = check(value)
        if said is NO:
            return NO
        if said is UNKNOWN:
            verdict = UNKNOWN
    return verdict


def _bool(value: bool) -> Verdict:
    return YES if value else NO


def _type_check(name: str) -> Check:
    test = _TYPES[name]
    return lambda value: _bool(test(value))


def _enum_check(enum: list[Any]) -> Check:
    members = {(_family(item), item) for item in enum}
    texts = frozenset(item for item in enum if isinstance(item, str))
    known = {family for family, _ in members}

    def check(value: Any) -> Verdict:
        if type(value) is str and texts:
            return YES if value in texts else NO
        if isinstance(value, Mapping | list | tuple):
            return UNKNOWN
        if (_family(value), value) in members:
            return YES
        return NO if _family(value) in known else UNKNOWN

    return check


def _family(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return type(value).__name__


def _pattern_check(pattern: str) -> Check:
    matches = whole(pattern)

    def check(value: Any) -> Verdict:
        if not isinstance(value, str):
            return UNKNOWN
        return YES if matches(value) else NO

    return check


def whole(pattern: str) -> Callable[[str], Any]:
    """A match of the whole text. A pattern that could take long runs against the clock."""
    match = regex.compile(pattern).fullmatch
    if "(" not in pattern and sum(pattern.count(sign) for sign in "*+{?") <= 1:
        return match
    return lambda text: match(text, timeout=TIMEOUT)


def _range_check(low: float | None, high: float | None) -> Check:
    def check(value: Any) -> Verdict:
        if type(value) not in (int, float) or value != value:
            return UNKNOWN
        return _bool((low is None or value >= low) and (high is None or value <= high))

    return check


def _length_check(low: int | None, high: int | None) -> Check:
    def check(value: Any) -> Verdict:
        if not isinstance(value, str | list | tuple):
            return UNKNOWN
        return _bool((low is None or len(value) >= low) and (high is None or len(value) <= high))

    return check


def _each_check(checks: tuple[Check, ...], forbids: bool) -> Check:
    """Every item for a rule that permits; one item is enough for a rule that forbids."""

    def check(value: Any) -> Verdict:
        if not isinstance(value, list | tuple):
            return UNKNOWN
        said = [judge(checks, item) for item in value]
        if forbids:
            return YES if YES in said else UNKNOWN if UNKNOWN in said else NO
        return NO if NO in said else UNKNOWN if UNKNOWN in said else YES

    return check


def _host_check(hosts: list[str]) -> Check:
    names = [name.lower() for name in hosts]

    def check(value: Any) -> Verdict:
        host = host_of(value) if isinstance(value, str) else None
        if host is None:
            return UNKNOWN
        return _bool(any(_host_is(host, name) for name in names))

    return check


def _host_is(host: str, name: str) -> bool:
    return host.endswith(name[1:]) if name.startswith("*.") else host == name


def host_of(url: str) -> str | None:
    """The host that a URL leads to; None where programs could disagree about it.

    A user part (``good.com@evil.com``), a backslash, a blank, a control character, a percent sign
    or a letter that is no ASCII letter in the host make it None.
    """
    if regex.search(r"[\s\\\p{C}]", url):
        return None
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https", "") or "@" in parts.netloc or host is None:
        return None
    host = host.rstrip(".").lower()
    plain = regex.fullmatch(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9])?|[0-9a-f:]*:[0-9a-f:.]*", host)
    return host if plain and (port is None or port > 0) else None


def _path_check(folders: list[str]) -> Check:
    roots = [posixpath.normpath(folder) for folder in folders]

    def check(value: Any) -> Verdict:
        path = real_path(value) if isinstance(value, str) else None
        if path is None:
            return UNKNOWN
        return _bool(any(_inside(path, root) for root in roots))

    return check


def _inside(path: str, root: str) -> bool:
    if root == ".":
        return not path.startswith(("/", "../")) and path != ".."
    return path == root or path.startswith(root.rstrip("/") + "/")


def real_path(path: str) -> str | None:
    """A path with its percent codes and ``..`` resolved; None where programs could disagree."""
    for _ in range(4):
        plain = unquote(path)
        if plain == path:
            break
        path = plain
    else:
        return None
    if not path or path.startswith("~") or regex.search(r"[\\\p{Cc}\p{Cf}]|^\w+:", path):
        return None
    normal = posixpath.normpath(path)
    return normal[1:] if normal.startswith("//") else normal
