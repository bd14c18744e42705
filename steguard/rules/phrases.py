"""Rules as data: the types that a profile can use for rules of its own.

::

    rules:
      no-slang: {type: existence, words: [gonna, wanna]}
      our-terms: {type: substitution, swap: {utilise: use, log in to: sign in to}}
      few-exclamations: {type: limit, words: ["!"], max: 1, per: text}
      one-name: {type: consistency, groups: [[engine, motor]]}
      ticket-form: {type: pattern, pattern: '\\bJIRA-\\d+', message: Write the name of the ticket.}

All of them work on sentences and never see code. :data:`CUSTOM_TYPES` maps the name of a type to
a function that makes the rule from the name that the profile gives it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from typing import Any, Literal

import regex
from pydantic import Field, field_validator, model_validator

from steguard.rules._consistency import ConsistencyChecker, Groups, compile_groups
from steguard.rules._substitute import (
    Entry,
    Form,
    SubstitutionChecker,
    compile_entries,
    entry,
    is_phrase,
)
from steguard.rules._words import token_at
from steguard.rules.base import Checker, Options, Rule
from steguard.text.model import Document, Kind, Sentence
from steguard.text.phraseindex import PhraseIndex
from steguard.types import Edit, Hit, Safety, Status

Words = tuple[str, ...]


def _phrases(value: Iterable[str]) -> Iterable[str]:
    for phrase in value:
        if not is_phrase(phrase):
            raise ValueError("a phrase must have a word")
    return value


class Existence(Options):
    """Words and phrases that must not stand."""

    words: Words = Field(min_length=1, description="The words and phrases.")
    pos: Literal["verb", "noun"] | None = Field(
        default=None, description="Find all forms of a verb or a noun."
    )
    message: str | None = Field(default=None, description="{bad} stands for the words found.")
    suggestion: str = Field(default="", description="What to write.")

    _check_words = field_validator("words")(_phrases)


class Substitution(Options):
    """Bad phrase to good phrase; capitals and ``a``/``an`` are kept right."""

    swap: dict[str, str | list[str]] = Field(min_length=1, description="Bad phrase: good phrase.")
    pos: Literal["verb", "noun"] | None = Field(
        default=None, description="Find and write all forms of a verb or a noun."
    )
    safe: bool = Field(default=False, description="The fix keeps the meaning in every context.")
    message: str | None = Field(default=None, description="{bad} and {good} stand for the words.")

    _check_swap = field_validator("swap")(_phrases)


class Limit(Options):
    """How many times words can stand in a sentence or a text; without words: how many words."""

    words: Words = Field(default=(), description="The words, phrases or marks to count.")
    min: int | None = Field(default=None, ge=0, description="The smallest number.")
    max: int | None = Field(default=None, ge=0, description="The largest number.")
    per: Literal["sentence", "text"] = Field(default="sentence", description="Where to count.")
    message: str | None = Field(default=None, description="{count} and {max} or {min} can stand.")

    _check_words = field_validator("words")(_phrases)

    @model_validator(mode="after")
    def _limits_agree(self) -> Limit:
        if self.min is None and self.max is None:
            raise ValueError("give 'min' or 'max'")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"'min' ({self.min}) is larger than 'max' ({self.max})")
        return self


class Consistency(Options):
    """Groups of words of which a text must use only one each."""

    groups: list[list[str]] = Field(min_length=1, description="Groups of words.")
    message: str | None = Field(
        default=None, description="{bad} is the word found, {good} the word used before."
    )

    @field_validator("groups")
    @classmethod
    def _groups_have_two(cls, value: list[list[str]]) -> list[list[str]]:
        for group in value:
            _phrases(group)
            if len(group) < 2:
                raise ValueError("a group must have two words or more")
        return value


class Pattern(Options):
    """A regular expression that must not match in a sentence (syntax of the module ``regex``)."""

    pattern: str = Field(min_length=1, description="The regular expression.")
    ignore_case: bool = Field(default=True, description="Do not look at capitals.")
    replace: str | None = Field(default=None, description="The replacement; it can use groups.")
    safe: bool = Field(default=False, description="The fix keeps the meaning in every context.")
    message: str | None = Field(default=None, description="{bad} stands for the text found.")
    suggestion: str = Field(default="", description="What to write.")
    where: Literal["prose", "text"] = Field(
        default="prose",
        description="`prose`: sentences without code; `text`: all of the text at its end.",
    )
    timeout: float = Field(default=0.1, gt=0, le=10, description="Seconds for one sentence.")

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, value: str) -> str:
        try:
            regex.compile(value)
        except regex.error as error:
            raise ValueError(f"this is no regular expression: {error}") from None
        return value


class _LimitChecker:
    """Counts phrases; knows only the sentence, or sums up over the text."""

    def __init__(self, options: Limit) -> None:
        self._options = options
        self._index: PhraseIndex[str] = PhraseIndex()
        for phrase in options.words:
            self._index.add(phrase, phrase)
        self._total = 0
        low = options.min is not None or not options.words
        self.triggers: frozenset[str] | None = None if low else self._index.triggers

    def sentence(self, sentence: Sentence) -> Iterator[Hit]:
        options = self._options
        before = self._total if options.per == "text" else 0
        if not options.words:
            count = before + sentence.words
            if options.max is not None and count > options.max >= before:
                yield self._hit(sentence.start, sentence.end, count)
        else:
            count = before
            for _, at, end in self._index.find(sentence):
                count += 1
                if options.max is not None and count > options.max:
                    tokens = sentence.tokens
                    yield self._hit(tokens[at].start, tokens[end - 1].end, count)
        self._total = count
        if options.per == "sentence" and options.min is not None and count < options.min:
            yield self._hit(sentence.start, sentence.end, count)

    def finish(self, document: Document) -> Iterator[Hit]:
        least = self._options.min
        if self._options.per == "text" and least is not None and self._total < least:
            end = len(document.text)
            yield self._hit(end, end, self._total)

    def _hit(self, start: int, end: int, count: int) -> Hit:
        options = self._options
        high = options.max is not None and count > options.max
        what = ", ".join(repr(word) for word in options.words) or "the words"
        most, least = options.max, options.min
        message = options.message or (
            f"Here is number {count} of {what}. The maximum in one {options.per} is {most}."
            if high
            else f"The number of {what} is {count}. The minimum in one {options.per} is {least}."
        )
        for key, value in (("count", count), ("max", most), ("min", least)):
            message = message.replace(f"{{{key}}}", str(value))
        return Hit(start, end, message, "Use fewer." if high else "Use more.")


class _PatternChecker:
    """Runs one regular expression over each sentence, with a time limit."""

    triggers: frozenset[str] | None = None

    def __init__(self, options: Pattern) -> None:
        self._options = options
        self._pattern = _compiled(options.pattern, options.ignore_case)

    def sentence(self, sentence: Sentence) -> Iterator[Hit]:
        if self._options.where == "prose":
            yield from self._hits(sentence.text, sentence.start, sentence)

    def _hits(self, text: str, offset: int, sentence: Sentence | None = None) -> Iterator[Hit]:
        options = self._options
        try:
            matches = list(self._pattern.finditer(text, timeout=options.timeout))
        except TimeoutError:
            yield Hit(
                offset,
                offset + len(text),
                f"The pattern {options.pattern!r} needs more than {options.timeout} seconds here.",
                "Write a simpler pattern in the profile.",
            )
            return
        for match in matches:
            start, end = match.start() + offset, match.end() + offset
            if start < end and not (sentence and _touches_code(sentence, start, end)):
                yield self._hit(match, start, end)

    def _hit(self, match: Any, start: int, end: int) -> Hit:
        options = self._options
        good = None if options.replace is None else match.expand(options.replace)
        message = (options.message or "Do not write '{bad}'.").replace("{bad}", match[0])
        return Hit(
            start,
            end,
            message,
            good or options.suggestion or None,
            () if good is None else (Edit(start, end, good),),
            Safety.SAFE if options.safe else Safety.UNSAFE,
        )

    def finish(self, document: Document) -> Iterable[Hit]:
        return self._hits(document.text, 0) if self._options.where == "text" else ()


def _touches_code(sentence: Sentence, start: int, end: int) -> bool:
    tokens = sentence.tokens
    for index in range(token_at(sentence, start), len(tokens)):
        if tokens[index].start >= end:
            return False
        if tokens[index].kind is Kind.CODE:
            return True
    return False


@lru_cache(maxsize=64)
def _compiled(pattern: str, ignore_case: bool) -> regex.Pattern[str]:
    return regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)


@lru_cache(maxsize=64)
def _existence(key: str) -> PhraseIndex[Form]:
    options = Existence.model_validate_json(key)
    return compile_entries(
        Entry(word.lower(), advice=options.suggestion, pos=options.pos or "")
        for word in options.words
    )


@lru_cache(maxsize=64)
def _substitution(key: str) -> PhraseIndex[Form]:
    options = Substitution.model_validate_json(key)
    extra = {"pos": options.pos or "", "safe": "true" if options.safe else ""}
    return compile_entries(
        entry(bad.lower(), {"use": good, **extra}) for bad, good in options.swap.items()
    )


@lru_cache(maxsize=64)
def _groups(key: str) -> Groups:
    return compile_groups(Consistency.model_validate_json(key).groups)


def _make_existence(options: Existence) -> Checker:
    return SubstitutionChecker(_existence(options.model_dump_json()), options.message)


def _make_substitution(options: Substitution) -> Checker:
    return SubstitutionChecker(_substitution(options.model_dump_json()), options.message)


def _make_consistency(options: Consistency) -> Checker:
    return ConsistencyChecker(_groups(options.model_dump_json()), options.message)


def _rule(name: str, *, options: type[Options], make: Callable[[Any], Checker]) -> Rule:
    return Rule(
        code=name.upper(),
        name=name,
        since="0.1",
        status=Status.STABLE,
        fix=Safety.UNSAFE,
        source="profile",
        make=make,
        module=__name__,
        options=options,
        languages=frozenset(),
    )


CUSTOM_TYPES: dict[str, Callable[[str], Rule]] = {
    "existence": partial(_rule, options=Existence, make=_make_existence),
    "substitution": partial(_rule, options=Substitution, make=_make_substitution),
    "limit": partial(_rule, options=Limit, make=_LimitChecker),
    "consistency": partial(_rule, options=Consistency, make=_make_consistency),
    "pattern": partial(_rule, options=Pattern, make=_PatternChecker),
}
"""Type name in YAML to the function that makes the rule with a given name."""
