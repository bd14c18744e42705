"""A controlled vocabulary that the user brings: approved words, and words with a replacement.

steguard ships no dictionary. A user who has a copy of the standard can make a file of it with
:func:`build`, or write one by hand. The form is JSON Lines, one word and part of speech each::

    {"word": "open", "pos": "verb", "approved": true, "forms": ["opens", "opened"]}
    {"word": "commence", "pos": "verb", "approved": false, "use_instead": ["start"]}

``pos`` is one of noun, verb, adjective, adverb, preposition, pronoun, conjunction, article.
``forms`` are other forms of the word; regular forms of words that are not approved are made from
the word. ``meaning`` can hold the approved meaning in the user's own words.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from steguard.errors import MissingExtra, ProfileError
from steguard.text.inflect import plural, verb_forms
from steguard.vocabulary_pages import Page, PageWord, read_entries

Pos = Literal[
    "noun", "verb", "adjective", "adverb", "preposition", "pronoun", "conjunction", "article"
]


class Word(BaseModel):
    """One word as one part of speech."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    word: str = Field(min_length=1)
    pos: Pos
    approved: bool
    forms: tuple[str, ...] = ()
    use_instead: tuple[str, ...] = ()
    meaning: str = ""

    def all_forms(self) -> Iterator[str]:
        """Every form in lower case; an approved word has only the forms that are listed."""
        base = self.word.lower()
        yield base
        yield from (form.lower() for form in self.forms)
        if self.approved and self.forms:
            return
        if self.pos == "verb":
            forms = verb_forms(base)
            yield from (text for name, text in forms.items() if not self.approved or name != "ing")
        elif self.pos == "noun":
            yield plural(base)


@dataclass(frozen=True)
class Vocabulary:
    """Words by form: ``approved`` forms, and for each form that is not, its words."""

    words: tuple[Word, ...]
    approved: frozenset[str] = field(init=False)
    rejected: dict[str, tuple[Word, ...]] = field(init=False)

    def __post_init__(self) -> None:
        approved = {form for word in self.words if word.approved for form in word.all_forms()}
        rejected: dict[str, tuple[Word, ...]] = {}
        for word in self.words:
            if not word.approved:
                for form in set(word.all_forms()) - approved:
                    rejected[form] = (*rejected.get(form, ()), word)
        object.__setattr__(self, "approved", frozenset(approved))
        object.__setattr__(self, "rejected", rejected)


def load(path: str | Path) -> Vocabulary:
    """Read a vocabulary file.

    Raises :class:`ProfileError` with file and line; ``problems`` lists every line at fault.
    """
    file = Path(path).expanduser()
    try:
        stamp = file.stat()
    except OSError as error:
        raise ProfileError(
            f"the vocabulary cannot be read: {error.strerror}", file=str(path)
        ) from None
    return _load(str(file), stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=8)
def _load(path: str, changed: int, size: int) -> Vocabulary:  # noqa: ARG001 - keys of the cache
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ProfileError(f"the vocabulary is not UTF-8: {error.reason}", file=path) from None
    return Vocabulary(tuple(parse(text, path)))


def parse(text: str, file: str) -> list[Word]:
    """The words of a vocabulary text; blank lines are skipped."""
    words: list[Word] = []
    faults: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            words.append(Word.model_validate(json.loads(line)))
        except json.JSONDecodeError as error:
            faults.append((number, f"this is no JSON: {error.msg}"))
        except ValidationError as error:
            faults.append((number, _first_fault(error)))
    if faults:
        number, message = faults[0]
        raise ProfileError(
            message,
            file=file,
            line=number,
            problems=[f"{file}:{at}: {what}" for at, what in faults[1:]],
        )
    return words


def _first_fault(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else first["msg"]


def dump(words: Iterable[Word]) -> str:
    """Words as JSON Lines, without empty fields."""
    lines = [
        json.dumps(word.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False)
        for word in words
    ]
    return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True)
class BuildReport:
    """What :func:`build` found, with the counts that tell a bad parse."""

    words: tuple[Word, ...]
    pages: int
    pages_without_entries: tuple[int, ...]
    duplicates: tuple[str, ...]

    @property
    def approved(self) -> int:
        return sum(word.approved for word in self.words)

    @property
    def not_approved(self) -> int:
        return len(self.words) - self.approved

    @property
    def by_pos(self) -> dict[str, int]:
        return dict(sorted(Counter(word.pos for word in self.words).items()))

    @property
    def without_replacement(self) -> tuple[str, ...]:
        """Words that are not approved and for which no replacement was read."""
        return tuple(w.word for w in self.words if not w.approved and not w.use_instead)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Signs of a bad parse; a whole dictionary has about 900 and 1,700 words."""
        found = []
        for name, count, usual in (
            ("approved", self.approved, 900),
            ("not approved", self.not_approved, 1700),
        ):
            if not 0.8 * usual <= count <= 1.2 * usual:
                found.append(f"{count} words are {name}; a whole dictionary has about {usual}")
        lost = len(self.without_replacement)
        if lost * 20 > self.not_approved:
            found.append(f"{lost} words that are not approved have no replacement")
        if self.duplicates:
            found.append(f"{len(self.duplicates)} words were found two times")
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """The counts for a report."""
        return {
            "approved": self.approved,
            "not_approved": self.not_approved,
            "by_pos": self.by_pos,
            "duplicates": list(self.duplicates),
            "without_replacement": list(self.without_replacement),
            "pages": self.pages,
            "pages_without_entries": list(self.pages_without_entries),
            "warnings": list(self.warnings),
        }


def build(pdf: str | Path, *, first: int = 1, last: int | None = None) -> BuildReport:
    """Read the dictionary pages of the user's own copy of the standard.

    ``first`` and ``last`` are page numbers of the PDF, from 1. The result belongs to the user:
    the standard's licence does not let anyone pass it on. Needs the extra ``vocabulary``.
    """
    try:
        import pdfplumber
    except ImportError:
        raise MissingExtra("pdfplumber", "vocabulary") from None
    pages: list[Page] = []
    try:
        with pdfplumber.open(str(pdf)) as document:
            for page in document.pages[first - 1 : last]:
                found = page.extract_words(use_text_flow=False, keep_blank_chars=False)
                words = [PageWord(w["text"], w["x0"], w["x1"], w["top"]) for w in found]
                pages.append(Page(page.page_number, page.width, words))
    except Exception as error:  # the reader raises many kinds for a file that is no PDF
        raise ProfileError(f"this PDF cannot be read: {error}", file=str(pdf)) from error
    return assemble(pages)


def assemble(pages: Iterable[Page]) -> BuildReport:
    """Entries of all pages, each word and part of speech once."""
    words: dict[tuple[str, str, bool], Word] = {}
    duplicates: list[str] = []
    empty: list[int] = []
    count = 0
    for page in pages:
        count += 1
        entries = read_entries(page)
        if not entries:
            empty.append(page.number)
        for item in entries:
            word = Word(
                word=item.word.lower(),
                pos=item.pos,
                approved=item.approved,
                forms=tuple(form.lower() for form in item.forms),
                use_instead=tuple(use.lower() for use in item.use_instead),
            )
            key = (word.word, word.pos, word.approved)
            if key in words:
                duplicates.append(f"{word.word} ({word.pos})")
            else:
                words[key] = word
    return BuildReport(tuple(words.values()), count, tuple(empty), tuple(duplicates))
