"""A word as another part of speech than the one that is approved.

Finds: A word of the profile's own table that stands as the wrong part of speech: with
``words: {test: noun}`` the verb in ``Test the pump.``, with ``words: {check: verb}`` the noun in
``Do the check.`` Without a table the rule finds nothing.

Why: A word with one part of speech has one meaning.

Example: ``Do a check of the pump.`` where ``check`` is approved as a verb.

Instead: ``Check the pump.``

Fix: None. The sentence needs another form.

Source: STE 1.2. Preview, because the words around it do not always tell a noun from a verb.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from steguard.rules._words import DETERMINERS, after, before, in_quotes, is_verb, part_of_name
from steguard.rules.base import Options, PerSentence, Rule
from steguard.text.inflect import plural, verb_forms
from steguard.text.model import Kind, Sentence
from steguard.text.wordclass import ADJ, NOUN, classes
from steguard.types import Hit, Safety, Status

Pos = Literal["noun", "verb"]


class PartOfSpeech(Options):
    """Options of ``part-of-speech``."""

    words: dict[str, Pos] = Field(
        default_factory=dict, description="Word to its approved part of speech, noun or verb."
    )


def _make(options: PartOfSpeech) -> PerSentence:
    forms: dict[str, tuple[str, str, Pos]] = {}
    for word, pos in options.words.items():
        base = word.lower()
        forms[plural(base)] = (base, "s", pos)
        for form, text in verb_forms(base).items():
            forms.setdefault(text, (base, "past" if form == "participle" else form, pos))

    def hits(sentence: Sentence) -> Iterator[Hit]:
        for index, token in enumerate(sentence.tokens):
            known = forms.get(token.lower)
            if known is None or token.kind is not Kind.WORD:
                continue
            if part_of_name(sentence, index) or in_quotes(sentence, index):
                continue
            base, form, pos = known
            wrong = _is_noun(sentence, index) if pos == "verb" else _is_verb(sentence, index, form)
            if wrong:
                other = "noun" if pos == "verb" else "verb"
                yield Hit(
                    token.start,
                    token.end,
                    f"Here '{token.text}' is a {other}. Use '{base}' as a {pos} only.",
                    f"Use '{base}' as a {pos}.",
                )

    return PerSentence(hits, frozenset(forms))


def _is_noun(sentence: Sentence, at: int) -> bool:
    last = before(sentence, at)
    if last and classes(last) & ADJ and before(sentence, at - 1) in DETERMINERS:
        last = before(sentence, at - 1)
    if last not in DETERMINERS or last in ("that", "which", "who", "what"):
        return False
    return not classes(after(sentence, at + 1)) & NOUN if after(sentence, at + 1) else True


def _is_verb(sentence: Sentence, at: int, form: str) -> bool:
    return is_verb(sentence, at, at + 1, form)


RULE = Rule(
    code="STE102",
    name="part-of-speech",
    since="0.1",
    status=Status.PREVIEW,
    fix=Safety.NONE,
    source="STE 1.2",
    make=_make,
    module=__name__,
    options=PartOfSpeech,
)
