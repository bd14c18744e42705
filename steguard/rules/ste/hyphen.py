"""A hyphen that is missing, or one that is too many.

Finds: Two words that work as one before a noun and have no hyphen (``a high pressure pump``,
``a 10 minute test``, ``a two step process``), and a hyphen after an adverb in ``-ly``
(``newly-installed``).

Why: The hyphen shows which words belong together: ``a high pressure pump`` is for high pressure,
and is not a pressure pump that is high.

Example: ``Connect the high pressure pump.``

Instead: ``Connect the high-pressure pump.``

Fix: Unsafe, it writes or removes the hyphen.

Source: STE 8.2. Preview, because it must know that a noun follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from steguard.rules._words import DETERMINERS, after, before, in_quotes, load_words
from steguard.rules.base import PerSentence, Rule
from steguard.text.inflect import word_set
from steguard.text.model import Kind, Sentence
from steguard.text.phraseindex import PhraseIndex
from steguard.text.wordclass import ADJ, ADV, CONJ, MODAL, NOUN, PREP, PRON, SUB, VERB, classes
from steguard.types import Edit, Hit, Safety, Status

_NUMBERS = word_set("two three four five six seven eight nine ten twelve twenty fifty hundred")
_UNITS = word_set(
    "second minute hour day week month year meter metre mile foot inch liter gram volt watt amp "
    "step stage phase digit bit byte page line row column way point part layer core level person "
    "word character sentence"
)
_NO_ADVERB = word_set("family early daily only supply reply apply fly july italy assembly")


@cache
def _index() -> PhraseIndex[str]:
    index: PhraseIndex[str] = PhraseIndex()
    for phrase in load_words("hyphens.txt"):
        index.add(phrase, phrase)
    return index


def _look(sentence: Sentence) -> Iterable[Hit]:
    vocabulary = sentence.vocabulary
    idle = vocabulary.isdisjoint(_UNITS) and vocabulary.isdisjoint(_index().triggers)
    return () if idle and "ly-" not in sentence.text else _hits(sentence)


def _hits(sentence: Sentence) -> Iterator[Hit]:
    for _, at, end in _index().find(sentence):
        determined = before(sentence, at) in DETERMINERS
        if determined and _is_noun(sentence, end) and not in_quotes(sentence, at):
            yield _join(sentence, at, end)
    for index, token in enumerate(sentence.tokens):
        if token.lower in _UNITS and index and _counts(sentence, index - 1):
            if _is_noun(sentence, index + 1) and before(sentence, index - 1) in ("a", "an", "the"):
                yield _join(sentence, index - 1, index + 1)
        elif token.kind is Kind.WORD and "ly-" in token.lower:
            yield from _adverb(sentence, index)


def _counts(sentence: Sentence, at: int) -> bool:
    token = sentence.tokens[at]
    return (token.kind is Kind.NUMBER and token.text.isdigit()) or token.lower in _NUMBERS


def _is_noun(sentence: Sentence, at: int) -> bool:
    """Whether a noun can follow, with the words before it as its modifier."""
    if at >= len(sentence.tokens) or sentence.tokens[at].kind is not Kind.WORD:
        return False
    mask = classes(after(sentence, at))
    return bool(mask & NOUN) and not mask & (PREP | CONJ | SUB | PRON | MODAL)


def _adverb(sentence: Sentence, at: int) -> Iterator[Hit]:
    token = sentence.tokens[at]
    head, _, tail = token.lower.partition("-")
    known = classes(head) & ADV and head not in _NO_ADVERB and not classes(head) & ADJ
    if not known or "-" in tail or not classes(tail) & (VERB | ADJ):
        return
    good = token.text.replace("-", " ", 1)
    yield Hit(
        token.start,
        token.end,
        f"An adverb in -ly needs no hyphen. Write '{good}'.",
        good,
        (Edit(token.start, token.end, good),),
    )


def _join(sentence: Sentence, at: int, end: int) -> Hit:
    tokens = sentence.tokens
    good = "-".join(token.text for token in tokens[at:end])
    start, stop = tokens[at].start, tokens[end - 1].end
    return Hit(
        start,
        stop,
        f"These words work as one before a noun. Write '{good}'.",
        good,
        (Edit(start, stop, good),),
    )


RULE = Rule(
    code="STE802",
    name="hyphen",
    since="0.1",
    status=Status.PREVIEW,
    fix=Safety.UNSAFE,
    source="STE 8.2",
    make=lambda options: PerSentence(_look),  # noqa: ARG005 - the rule has no options
    module=__name__,
)
