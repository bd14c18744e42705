"""Categories of terms, styles and languages that a Canon prompt can name, from one data file."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import regex
import yaml

from steguard import resources


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of expression that can be forbidden as a whole.

    ``pattern`` checks it; it is empty where a program cannot. ``limits`` says what stays unseen.
    """

    key: str
    names: tuple[str, ...]
    pattern: str
    limits: str

    @property
    def checkable(self) -> bool:
        return bool(self.pattern)

    def finds(self, text: str) -> bool:
        """Whether the check of this category hits the text."""
        found = self.checkable and regex.search(self.pattern, text, regex.IGNORECASE)
        return bool(found)


@dataclass(frozen=True, slots=True)
class Style:
    """A style: the line for the prompt and the rules that check it."""

    name: str
    line: str
    rules: tuple[str, ...]
    category: str | None = None


def same(term: str) -> str:
    """The form in which two terms are compared: case, width and blanks do not matter."""
    return " ".join(unicodedata.normalize("NFKC", term).casefold().split())


@cache
def categories() -> Mapping[str, Category]:
    """Every category by its key."""
    return {
        key: Category(key, tuple(raw["names"]), _pattern(raw), raw["limits"])
        for key, raw in _data()["categories"].items()
    }


def category(term: str) -> Category | None:
    """The category that a term names, if it names one."""
    return _by_name().get(same(term).replace("_", " ").replace("-", " "))


@cache
def styles() -> Mapping[str, Style]:
    """Every style by its name."""
    return {
        name: Style(name, raw["line"], tuple(raw["rules"]), raw.get("category"))
        for name, raw in _data()["styles"].items()
    }


def language_code(name: str) -> str | None:
    """The ISO 639-1 code of a language's name or code."""
    from steguard.rules.limits._language import code_of

    found = _languages().get(same(name))
    if found is not None:
        return found
    return code_of(name) if re.fullmatch(r"[A-Za-z]{2,3}(?:[-_][A-Za-z]{2,4})?", name) else None


def language_names() -> list[str]:
    """The names that a prompt can use, the English one of each language first."""
    return list(_languages())


@cache
def _languages() -> Mapping[str, str]:
    return {same(name): code for code, names in _data()["languages"].items() for name in names}


@cache
def _by_name() -> Mapping[str, Category]:
    return {
        same(name).replace("-", " "): one for one in categories().values() for name in one.names
    }


def _pattern(raw: Mapping[str, Any]) -> str:
    words = [word for line in raw.get("words", ()) for word in line.split()]
    latin = "|".join(regex.escape(word) for word in words if word.isascii())
    other = "|".join(regex.escape(word) for word in words if not word.isascii())
    parts = [*raw.get("find", ()), rf"\b(?:{latin})\b" if latin else "", other]
    return "|".join(part for part in parts if part)


@cache
def _data() -> dict[str, Any]:
    text = resources.data("canon/categories.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = yaml.safe_load(text)
    return data
