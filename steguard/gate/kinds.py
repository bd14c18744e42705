"""What a field or an argument is, told from its name, its type and its description.

These are general rules about words, the same for every tool of every domain. They classify the
arguments of calls (must this value be protected?) and the fields of observations (who can write
this?).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import Any

import regex

from steguard.gate.model import SideEffect, Trust
from steguard.gate.words import word_groups


class Kind(StrEnum):
    """What an argument is for. The first three say who or what an action reaches."""

    ADDRESS = "address"
    SECRET = "secret"
    ID = "id"
    PATH = "path"
    NAME = "name"
    TITLE = "title"
    WHEN = "when"
    NUMBER = "number"
    CHOICE = "choice"
    TEXT = "text"


WORDS = word_groups("gate_names.txt")
"""The word lists, by the names of their groups."""


@lru_cache(maxsize=4096)
def tokens(name: str) -> tuple[str, ...]:
    """The lower-case words of an identifier: ``fileId``, ``file_id`` and ``file-id`` alike."""
    spaced = regex.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return tuple(part for part in regex.split(r"[^a-z0-9]+", spaced.lower()) if part)


def _types(schema: Mapping[str, Any]) -> set[str]:
    said = schema.get("type")
    found = {said} if isinstance(said, str) else set(said or ())
    for inner in schema.get("anyOf") or schema.get("oneOf") or ():
        if isinstance(inner, Mapping):
            found |= _types(inner)
    return found - {"null"}


def kind_of(name: str, schema: Mapping[str, Any] | None = None) -> Kind:
    """What an argument is for."""
    schema = schema or {}
    words = tokens(name)
    named = set(words)
    types = _types(schema)
    about = str(schema.get("description", "")).lower()
    if named & WORDS["secret"] or ("api" in named and "key" in named):
        return Kind.SECRET
    if "enum" in schema or types == {"boolean"}:
        return Kind.CHOICE
    if words and (words[-1] in ("id", "ids", "uuid", "guid", "key")):
        return Kind.ID
    if types and types <= {"number", "integer"}:
        return Kind.NUMBER
    if schema.get("format") in ("email", "uri", "url", "hostname", "ipv4"):
        return Kind.ADDRESS
    if schema.get("format") in ("date", "date-time", "time"):
        return Kind.WHEN
    last = words[-1] if words else ""
    for group, kind in _BY_NAME:
        if last in group:
            return kind
    if _ABOUT_ADDRESS.search(about):
        return Kind.ADDRESS
    for group, kind in _BY_NAME:
        if named & group:
            return kind
    return Kind.NAME


_BY_NAME: tuple[tuple[frozenset[str], Kind], ...] = (
    (WORDS["path"], Kind.PATH),
    (WORDS["text"], Kind.TEXT),
    (WORDS["title"], Kind.TITLE),
    (WORDS["when"], Kind.WHEN),
    (WORDS["address"], Kind.ADDRESS),
)
_ABOUT_ADDRESS = regex.compile(
    r"\b(?:e-?mail address|email of|iban|url|account number|phone number|wallet|recipient|"
    r"username|handle)\b"
)


def trust_of(keys: tuple[str, ...], value: Any, document: bool) -> Trust:
    """Who can write a field: its names from the outside in, its value, whether it is of a document.

    A short value in a field with a plain name is the system's. A field with a name for prose, a
    long text, and a text without a field of its own in a document are content.
    """
    if keys and _names(keys[-1], WORDS["content"]):
        return Trust.CONTENT
    if any(_names(key, WORDS["inside"]) for key in keys[:-1]):
        return Trust.CONTENT
    if not isinstance(value, str):
        return Trust.SYSTEM
    if not keys and document:
        return Trust.CONTENT
    return Trust.SYSTEM if is_short(value) else Trust.CONTENT


def _names(key: str, group: frozenset[str]) -> bool:
    words = tokens(key)
    return bool(words) and (words[-1] in group or "_".join(words) in group)


def is_short(text: str) -> bool:
    """Whether a text is a plain value: one line, few words, no sentence."""
    text = text.strip()
    return len(text) <= 80 and "\n" not in text and len(text.split()) <= 6


def is_party(keys: tuple[str, ...]) -> bool:
    """Whether a field names the person who wrote or sent the record."""
    return any(set(tokens(key)) & WORDS["party"] for key in keys[-1:])


def is_document(tool: str, description: str = "") -> bool:
    """Whether a tool gives back what people wrote."""
    return bool(set(tokens(tool)) & WORDS["document"]) or bool(_READS.search(description.lower()))


_READS = regex.compile(
    r"\b(?:contents? of|text of|body of)\b.{0,40}\b(?:file|page|website|document|url|message)"
)

_OUT_ABOUT = regex.compile(
    r"\b(?:sends?|emails?|notif(?:y|ies|ying)|publish(?:es)?|posts?|transfers?|pays?|invites?|"
    r"shares?|transactions?|payments?|uploads?)\b"
)


def side_effect_of(
    name: str, description: str = "", schema: Mapping[str, Any] | None = None
) -> SideEffect:
    """What a tool changes, from its name, its description and its parameters."""
    words = tokens(name)
    if not set(words) & (_READ | _DELETE | _OUT | _CHANGE):
        words = tuple(word.removesuffix("s") for word in tokens(description)[:1])
    joined = {b for a, b in pairwise(words) if a in ("and", "then", "or")}
    first = words[0] if words else ""
    verb = next((w for w in words if w in _READ | _DELETE | _OUT), first)
    if joined & _DELETE or (verb in _DELETE and first not in _READ):
        return SideEffect.DESTRUCTIVE
    if first in _OUT or joined & _OUT:
        return SideEffect.EXTERNAL
    if not joined & _CHANGE and (first in _READ or (verb in _READ and first not in _CHANGE)):
        return SideEffect.READ
    properties = (schema or {}).get("properties") or {}
    reaches = any(kind_of(key, inner) is Kind.ADDRESS for key, inner in properties.items())
    if verb in _OUT or reaches or _OUT_ABOUT.search(description.lower()):
        return SideEffect.EXTERNAL
    return SideEffect.WRITE


_READ, _DELETE, _OUT, _CHANGE = (WORDS[name] for name in ("read", "delete", "out", "change"))
