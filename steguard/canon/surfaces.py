"""The surface forms as data: templates of sentences, keywords, units and key names by language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import yaml

from steguard import resources
from steguard.errors import UsageError

LANGUAGES = ("en", "zh", "ja")

_PIECE = re.compile(r"\{(\w+)\}|(\[)|(\])|([^\s{}\[\]]+)")


@dataclass(frozen=True, slots=True)
class Word:
    """A word that stands in the sentence as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A part of the sentence that the writer fills in."""

    name: str


@dataclass(frozen=True, slots=True)
class Optional:
    """A part that may be left out."""

    parts: tuple[Word | Slot, ...]


Element = Word | Slot | Optional
Template = tuple[Element, ...]


@dataclass(frozen=True)
class Surface:
    """One language of Canon. ``head`` of a template is its first word with the colon."""

    language: str
    sentences: Mapping[str, Template]
    aliases: Mapping[str, Template]
    modals: Mapping[str, str]
    units: Mapping[str, str]
    words: Mapping[str, str]
    keys: Mapping[str, str]
    heads: Mapping[str, tuple[str, Template, bool]] = field(default_factory=dict)

    @property
    def condition_words(self) -> dict[str, str]:
        """The keywords of conditions, from this language to English."""
        return {own: english for english, own in self.words.items()}


def parse_template(text: str) -> Template:
    """The elements of a template such as ``{verb} {target}[ within {time}]``."""
    return tuple(_elements(_PIECE.finditer(text)))


def _elements(pieces: Iterator[re.Match[str]]) -> Iterator[Element]:
    for piece in pieces:
        slot, opened, closed, word = piece.groups()
        if closed:
            return
        if opened:
            yield Optional(tuple(one for one in _elements(pieces) if not isinstance(one, Optional)))
        elif slot:
            yield Slot(slot)
        else:
            yield Word(word)


@cache
def surface(language: str = "en") -> Surface:
    """The surface of this language: ``en``, ``zh`` or ``ja``."""
    data = _data()
    if language not in data:
        raise UsageError(f"unknown language '{language}'; write {', '.join(data)}")
    one = data[language]
    sentences = {kind: parse_template(text) for kind, text in one["sentences"].items()}
    aliases = {kind: parse_template(text) for kind, text in one.get("aliases", {}).items()}
    heads = {}
    for templates, alias in ((sentences, False), (aliases, True)):
        for kind, template in templates.items():
            first = template[0]
            if isinstance(first, Word) and first.text[-1] in ":：":
                heads[first.text[:-1]] = (kind, template, alias)
    rest = {key: one[key] for key in ("modals", "units", "words", "keys")}
    return Surface(language=language, sentences=sentences, aliases=aliases, heads=heads, **rest)


@cache
def _data() -> dict[str, Any]:
    text = resources.data("canon/surfaces.yaml").read_text(encoding="utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    data: dict[str, Any] = yaml.load(text, Loader=loader)
    return data
