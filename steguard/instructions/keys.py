"""What a semantic key names: ``report.max_words`` is the upper limit of the words of a report.

A key is a path. Its last part can hold a role (``max_``, ``required``, ``forbidden`` ...); the
rest is a subject in a space. The space is the product (``report``, ``summary``), or ``output``
for whatever the agent writes. Different spellings of one subject give the same subject.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

OUTPUT = "output"


class Role(StrEnum):
    """What a key says of its subject."""

    PLAIN = "plain"
    MAX = "max"
    MIN = "min"
    REQUIRED = "required"
    FORBIDDEN = "forbidden"
    ALLOWED = "allowed"
    STARTS = "starts"
    ENDS = "ends"
    ENABLED = "enabled"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """A thing that rules speak of."""

    space: str
    name: str

    def __str__(self) -> str:
        return f"{self.space}.{self.name}"


_OUTPUT_NAMES = {"output", "answer", "response", "reply", "text", "artifact", "product", "result"}
_ROLES = {
    "max": Role.MAX,
    "maximum": Role.MAX,
    "limit": Role.MAX,
    "at_most": Role.MAX,
    "min": Role.MIN,
    "minimum": Role.MIN,
    "at_least": Role.MIN,
    "required": Role.REQUIRED,
    "require": Role.REQUIRED,
    "requires": Role.REQUIRED,
    "mandatory": Role.REQUIRED,
    "must_include": Role.REQUIRED,
    "must_contain": Role.REQUIRED,
    "must_have": Role.REQUIRED,
    "include": Role.REQUIRED,
    "includes": Role.REQUIRED,
    "forbidden": Role.FORBIDDEN,
    "forbid": Role.FORBIDDEN,
    "forbids": Role.FORBIDDEN,
    "prohibited": Role.FORBIDDEN,
    "banned": Role.FORBIDDEN,
    "disallowed": Role.FORBIDDEN,
    "denied": Role.FORBIDDEN,
    "deny": Role.FORBIDDEN,
    "must_not_include": Role.FORBIDDEN,
    "must_not_contain": Role.FORBIDDEN,
    "exclude": Role.FORBIDDEN,
    "excludes": Role.FORBIDDEN,
    "avoid": Role.FORBIDDEN,
    "allowed": Role.ALLOWED,
    "allow": Role.ALLOWED,
    "permitted": Role.ALLOWED,
    "must_start": Role.STARTS,
    "must_start_with": Role.STARTS,
    "starts_with": Role.STARTS,
    "must_end": Role.ENDS,
    "must_end_with": Role.ENDS,
    "ends_with": Role.ENDS,
    "enabled": Role.ENABLED,
    "disabled": Role.DISABLED,
}
_AFFIXES: tuple[str, ...] = (
    "max", "maximum", "limit", "min", "minimum", "required", "forbidden", "prohibited",
    "banned", "disallowed", "denied", "allowed", "permitted",
)  # fmt: skip
_PREFIXES = {
    **dict.fromkeys(("allow", "permit"), Role.ALLOWED),
    **dict.fromkeys(("require", "include", "has", "must_have"), Role.REQUIRED),
    **dict.fromkeys(("no", "forbid", "deny", "ban", "exclude", "avoid"), Role.FORBIDDEN),
}
_ALONE = {"must_include", "must_contain", "include", "includes", "must_not_include"}
_ALONE |= {"must_not_contain", "exclude", "excludes", "avoid"}

TERM = "term"
_TERMS = {"term", "keyword", "phrase", "string", "wording", "vocabulary"}

_NOUNS = {
    "char": "character",
    "chars": "character",
    "letter": "character",
    "bullet_point": "bullet",
    "citation_id": "citation",
    "reference": "citation",
    "lang": "language",
    "file_format": "format",
    "output_format": "format",
    "letter_case": "case",
    "casing": "case",
    "sentence_length": "sentence.word",
    "words_per_sentence": "sentence.word",
    "sentence_word": "sentence.word",
    "characters_per_sentence": "sentence.character",
    "paragraph_length": "paragraph.sentence",
    "sentences_per_paragraph": "paragraph.sentence",
    "paragraph_sentence": "paragraph.sentence",
    "words_per_paragraph": "paragraph.word",
    "paragraph_word": "paragraph.word",
    "output_token": "token",
    "response_token": "token",
    "completion_token": "token",
}
MEASURES = (
    "word",
    "character",
    "sentence",
    "paragraph",
    "line",
    "bullet",
    "section",
    "token",
    "page",
    "sentence.word",
    "sentence.character",
    "paragraph.sentence",
    "paragraph.word",
)
"""Counts of a text that depend on each other."""
COUNTS = {*MEASURES, "call", "attempt", "retry", "step", "item", "citation", "table", "figure"}
COUNTS |= {"heading", "title", "example", "link", "list", "image", "source", "result", "query"}
LENGTHS = {"length", "size", "extent"}
_TRAITS = {*MEASURES, *LENGTHS, TERM, "format", "language", "case", "tone", "style", "schema"}
_TRAITS |= {"template", "title", "start", "end", "profile", "audience"}
_PARTS = {"sentence", "paragraph"}
_NO_PRODUCT = {"tools", "tool", "budget", "needs", "retry", *_PARTS, *_OUTPUT_NAMES}


@dataclass(frozen=True, slots=True)
class Key:
    """A key, read: the path of the subject without the role, and the role."""

    path: tuple[str, ...]
    role: Role

    @property
    def name(self) -> str:
        return ".".join(self.path)

    def product(self) -> str | None:
        """The product that the key seems to name: ``report`` in ``report.max_words``."""
        if len(self.path) < 2 or self.path[0] in _NO_PRODUCT:
            return None
        return self.path[0] if ".".join(self.path[1:]) in _TRAITS else None

    def subject(self, products: frozenset[str]) -> Subject:
        """The subject, given the names of products."""
        first, rest = self.path[0], self.path[1:]
        if rest and first in _OUTPUT_NAMES:
            return Subject(OUTPUT, ".".join(rest))
        if rest and first in products:
            return Subject(first, ".".join(rest))
        return Subject(OUTPUT, self.name)


@cache
def read_key(key: str) -> Key:
    """Read a semantic key."""
    given = [part for part in key.split(".") if part]
    if given[0] in ("tools", "tool"):
        return _tool_key(given)
    parts = [_snake(part) for part in given]
    last = parts.pop()
    if last in ("count", "number") and parts:
        last = parts.pop()
    role, noun = _split(last, alone=not parts)
    path = [*parts, noun] if noun else parts
    if not path:
        path, role = [last], Role.PLAIN
    return Key(_normal(path), role)


def _snake(part: str) -> str:
    """``maxWords`` and ``max-words`` are ``max_words``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", part).lower().replace("-", "_")


def _tool_key(parts: list[str]) -> Key:
    """A tool keeps its name as it is; only whole words after it are roles."""
    *path, last = parts
    if not path:
        return Key(("tools",), Role.PLAIN)
    if any(part in ("arguments", "args") for part in path[2:]):
        return Key(("tools", *path[1:], last), Role.PLAIN)
    if last in _ROLES and _ROLES[last] in (Role.REQUIRED, Role.FORBIDDEN, Role.ALLOWED):
        return Key(("tools", *path[1:]), _ROLES[last])
    if len(path) > 1 and last.startswith(("max_", "min_")):
        return Key(("tools", *path[1:], _noun(last[4:])), _ROLES[last[:3]])
    return Key(("tools", *path[1:], last), Role.PLAIN)


def _split(last: str, *, alone: bool) -> tuple[Role, str]:
    """The role in a last part and the noun that is left."""
    if last in _ROLES:
        role = _ROLES[last]
        if last in _ALONE or role in (Role.STARTS, Role.ENDS):
            return role, TERM if last in _ALONE else role.value
        return (Role.PLAIN, last) if alone else (role, "")
    for affix in _AFFIXES:
        if last.startswith(affix + "_"):
            return _ROLES[affix], last[len(affix) + 1 :]
        if last.endswith("_" + affix):
            return _ROLES[affix], last[: -len(affix) - 1]
    for prefix, role in _PREFIXES.items():
        if last.startswith(prefix + "_") and not last.startswith("no_of_"):
            return role, last[len(prefix) + 1 :]
    if last.startswith("exact_"):
        return Role.PLAIN, last[6:]
    return Role.PLAIN, last


def _normal(path: list[str]) -> tuple[str, ...]:
    if path in (["tools"], ["tool"]):
        return ("tools",)
    noun = _noun(path[-1])
    before = path[:-1]
    if path[0] == "budget" and noun in ("time", "duration"):
        noun = "second"
    if "." not in noun and before and singular(before[-1]) in _PARTS:
        owner = singular(before[-1])
        if noun in ("length", "size"):
            noun = "word" if owner == "sentence" else "sentence"
        if f"{owner}.{noun}" in MEASURES:
            before, noun = before[:-1], f"{owner}.{noun}"
    head = [singular(part) if part in ("sentences", "paragraphs") else part for part in before]
    return (*head, *noun.split(".", 1)) if "." in noun else (*head, noun)


def _noun(part: str) -> str:
    for start in ("number_of_", "num_", "n_", "count_of_"):
        part = part.removeprefix(start)
    part = part.removesuffix("_count")
    if part in _NOUNS:
        return _NOUNS[part]
    part = singular(part)
    if part in _TERMS:
        return TERM
    return _NOUNS.get(part, part)


def singular(word: str) -> str:
    """``citations`` is ``citation``; ``class`` stays."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return word[:-1]
    return word


def is_a(artifact: str, name: str) -> bool:
    """Whether an artifact is of a kind: a ``comparison_report`` is a ``report``."""
    one, other = (text.lower().replace("-", "_") for text in (artifact, name))
    return one == other or one.endswith("_" + other)
