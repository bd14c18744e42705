"""The text is in a given language.

Finds: a text that is for the most part in a language other than `language` (an ISO 639-1 code).
This is the published meaning of the response language instruction in benchmarks: the language
of the whole, so one foreign name or sentence is no fault. A text that is too short or that has no
words passes, because nothing tells its language.

The script decides, and in Latin, Cyrillic, Arabic and Devanagari script the frequent words,
endings and letters of the languages decide; no model is necessary. A text in a language that
steguard does not know gets the verdict of its nearest known language.

Why: the reader or the next program cannot use a text in another language.

Example: (language: en) Abra a válvula e espere cinco segundos.

Instead: Open the valve and wait for five seconds.

Fix: none. A translation is necessary.

Source: steguard's own.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field, field_validator

from steguard.rules.base import Options, Rule
from steguard.rules.limits._language import LANGUAGES, code_of, detect
from steguard.rules.limits._limits import visible, whole_text
from steguard.text.model import Document
from steguard.types import Hit, Safety, Status


class Language(Options):
    language: str | None = Field(None, description="ISO 639-1 code of the language, such as `en`.")

    @field_validator("language")
    @classmethod
    def _known(cls, value: str | None) -> str | None:
        if value is None:
            return None
        code = code_of(value)
        if code is None:
            raise ValueError(
                f"language '{value}' is not known; the codes are {', '.join(sorted(LANGUAGES))}"
            )
        return code


def _find(document: Document, options: Language) -> Iterable[Hit]:
    if options.language is None:
        return
    found = detect(document.text)
    if found and options.language not in found:
        start, end = visible(document.text)
        yield Hit(
            start,
            end,
            f"The language of the text is '{found[0]}'. The correct language is "
            f"'{options.language}'.",
            f"Write the text in the language '{options.language}'.",
        )


def _prompt(options: Language) -> str | None:
    return f"Write in the language '{options.language}'." if options.language else None


RULE = Rule(
    code="LIM132",
    name="language",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=whole_text(_find),
    module=__name__,
    options=Language,
    languages=frozenset(),
    prompt=_prompt,
)
