"""A word that the user's controlled vocabulary does not approve.

Finds: With ``vocabulary: words.jsonl`` in the profile, each word that the file marks as not
approved, and each verb, adjective or adverb that it does not hold. Technical names and technical
verbs of the profile, nouns that the file does not hold (they are technical names), names, quoted
words and code are not meant. Without a vocabulary the rule finds nothing.

Why: STE approves each word with one meaning. A word outside the vocabulary can have many.

Example: ``Commence the test.`` with a file that approves ``start`` in place of ``commence``.

Instead: ``Start the test.``

Fix: Unsafe where the vocabulary names one word to use instead and the form is the same, else
none.

Source: STE 1.1. Preview, because it takes every noun that the file does not hold for a technical
name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from steguard.rules._words import in_quotes, part_of_name
from steguard.rules.base import Options, PerSentence, Rule
from steguard.text.inflect import match_case, plural, verb_forms
from steguard.text.model import Kind, Sentence, Token
from steguard.text.wordclass import ADJ, ADV, BASE, NOUN, PAST, THIRD, classes
from steguard.types import Edit, Hit, Safety, Status
from steguard.vocabulary import Vocabulary, Word, load

_OPEN_CLASSES = ADJ | ADV | BASE | PAST | THIRD


class UnapprovedWord(Options):
    """Options of ``unapproved-word``."""

    files: ClassVar[tuple[str, ...]] = ("vocabulary",)

    vocabulary: str | None = Field(
        default=None, description="Path of the vocabulary, a JSON Lines file that the user makes."
    )
    technical_names: tuple[str, ...] = Field(default=(), description="Nouns to allow.")
    technical_verbs: tuple[str, ...] = Field(default=(), description="Verbs to allow.")
    unknown: bool = Field(
        default=True, description="Find verbs, adjectives and adverbs that the file does not hold."
    )


def _make(options: UnapprovedWord) -> PerSentence:
    if options.vocabulary is None:
        return PerSentence(lambda sentence: (), frozenset())  # noqa: ARG005 - nothing to do
    vocabulary = load(options.vocabulary)
    allowed = _allowed(options)

    def hits(sentence: Sentence) -> Iterator[Hit]:
        for index, token in enumerate(sentence.tokens):
            word = token.lower.removesuffix("'s").removesuffix("'")
            if token.kind is not Kind.WORD or word in vocabulary.approved or word in allowed:
                continue
            if part_of_name(sentence, index) or in_quotes(sentence, index):
                continue
            rejected = vocabulary.rejected.get(word)
            if rejected is not None:
                yield _rejected(token, word, rejected)
            elif options.unknown and _is_unknown(vocabulary, word):
                yield Hit(
                    token.start,
                    token.end,
                    f"The vocabulary does not hold '{token.text}'. Use an approved word.",
                    "Use an approved word.",
                )

    return PerSentence(hits)


def _allowed(options: UnapprovedWord) -> frozenset[str]:
    names = [name.lower() for name in options.technical_names]
    verbs = [verb.lower() for verb in options.technical_verbs]
    parts = [part for name in names for part in (*name.split(), plural(name))]
    return frozenset([*parts, *(form for verb in verbs for form in verb_forms(verb).values())])


def _is_unknown(vocabulary: Vocabulary, word: str) -> bool:
    """A word of an open class that cannot be a noun; a hyphenated one must have such a part."""
    if len(word) == 1:
        return False
    parts = word.split("-")
    if len(parts) > 1:
        return any(_is_unknown(vocabulary, part) for part in parts)
    mask = classes(word)
    return word not in vocabulary.approved and bool(mask & _OPEN_CLASSES) and not mask & NOUN


def _rejected(token: Token, word: str, entries: tuple[Word, ...]) -> Hit:
    uses = list(dict.fromkeys(use for entry in entries for use in entry.use_instead))
    listed = " or ".join(f"'{use}'" for use in uses)
    good = match_case(token.text, uses[0]) if uses else None
    same_form = len(uses) == 1 and word == entries[0].word.lower() == token.lower
    return Hit(
        token.start,
        token.end,
        f"'{token.text}' is not approved. {f'Use {listed}.' if uses else 'Use an approved word.'}",
        good or "Use an approved word.",
        (Edit(token.start, token.end, good),) if good and same_form else (),
    )


RULE = Rule(
    code="STE101",
    name="unapproved-word",
    since="0.1",
    status=Status.PREVIEW,
    fix=Safety.UNSAFE,
    source="STE 1.1",
    make=_make,
    module=__name__,
    options=UnapprovedWord,
    prompt=lambda options: "Use approved words only." if options.vocabulary else None,
)
