"""Finds sentences without a verb or without an object.

Finds: a sentence in a paragraph that has no verb ("Config.", "A new file in the folder."), and a
command of one word whose verb needs an object ("Read."). Headings, list items, table cells,
labels before a colon and short answers ("Yes.", "Done.") are permitted.

Why: a model that must write short sentences starts to drop words. Then the limits pass and the
text says nothing.

Example: Read. File. Config.

Instead: Read the configuration file.

Fix: none, because the words are not there.

Source: steguard's own
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from steguard.rules.base import PerSentence, Rule
from steguard.text.model import BlockKind, Kind, Sentence
from steguard.text.pos import masks, tags
from steguard.text.verbs import verbs, word_set
from steguard.text.wordclass import (
    ADJ,
    ADV,
    BASE,
    BE,
    CONJ,
    DET,
    DO,
    GET,
    HAVE,
    MODAL,
    NOUN,
    PART,
    PAST,
    PREP,
    PRON,
    SUB,
    THIRD,
    WH,
    words,
)
from steguard.types import Hit, Safety, Status

_VERBAL = BASE | THIRD | PAST | PART | BE | HAVE | DO | GET | MODAL
_ANSWERS = word_set(
    "yes no ok okay thanks thank hello hi welcome sorry please done good great right correct"
    " true false none terminate sure agreed understood amen congratulations cheers regards"
    " sincerely bye goodbye wow oh well perfect excellent exactly certainly absolutely"
)
_LONGEST = 14
_PARAGRAPH = BlockKind.PARAGRAPH
_COMMON_VERBS = word_set("is are was were be has have had can will must do does did")
_ALONE = word_set("stop wait run go start begin end look listen work help rest finish exit quit")


def _look(sentence: Sentence) -> Iterable[Hit]:
    """Only a short sentence that no common verb and no short answer stands in."""
    count = len(sentence.lowers)
    if count > _LONGEST or not sentence.ended or sentence.lowers[-1] != ".":
        return ()
    if sentence.block.kind is not _PARAGRAPH:
        return ()
    if count > 2 and not sentence.vocabulary.isdisjoint(_COMMON_VERBS):
        return ()
    return _check(sentence) if sentence.vocabulary.isdisjoint(_ANSWERS) else ()


def _check(sentence: Sentence) -> Iterator[Hit]:
    tokens = sentence.tokens
    spoken = [at for at, t in enumerate(tokens) if t.kind is not Kind.PUNCT]
    if not spoken or any(tokens[at].kind is Kind.CJK for at in spoken):
        return
    first = tokens[spoken[0]]
    if len(tokens) == 2 and spoken == [0] and _needs_object(first.lower, first.kind):
        if masks(sentence)[0] & NOUN:
            message = f"The word '{first.text}' alone is no sentence."
            yield Hit(sentence.start, sentence.end, message, "Write who does what.")
            return
        message = f"The sentence '{first.text}' has no object."
        yield Hit(sentence.start, sentence.end, message, "Write the object of the verb.")
    elif _has_no_verb(sentence, spoken):
        yield Hit(sentence.start, sentence.end, "The sentence has no verb.", "Write who does what.")


def _needs_object(word: str, kind: Kind) -> bool:
    verb = verbs().get(word)
    return kind is Kind.WORD and verb is not None and verb.transitive and word not in _ALONE


def _has_no_verb(sentence: Sentence, spoken: list[int]) -> bool:
    possible, tokens = masks(sentence), sentence.tokens
    if any(t.kind is not Kind.WORD and t.kind is not Kind.PUNCT for t in tokens):
        return False
    if ":" in sentence.vocabulary or possible[spoken[0]] & (SUB | WH | CONJ):
        return False
    table = words()
    if len(spoken) == 1:
        word = tokens[spoken[0]].lower
        return possible[spoken[0]] == NOUN and word in table
    if any(t.text[0].isupper() for t in tokens[spoken[0] + 1 :]):
        return False
    if any(possible[at] & NOUN and tokens[at].lower not in table for at in spoken):
        return False
    if not any(possible[at] & NOUN for at in spoken) or possible[spoken[0]] & PREP:
        return False
    if possible[spoken[0]] == DET and _is_phrase(sentence, spoken):
        return True
    return not any(possible[at] & _VERBAL and not _is_noun(possible, at) for at in spoken)


def _is_phrase(sentence: Sentence, spoken: list[int]) -> bool:
    """Whether an article opens a noun phrase and only phrases with a preposition follow it:
    "A second key in the office." """
    tag = tags(sentence)
    if any(tag[at] & _VERBAL for at in spoken):
        return False
    possible = masks(sentence)
    # After a noun or an adverb such a form can be the verb: "The pump starts", "The pumps start".
    return not any(
        (possible[at] & (THIRD | PAST) and not tag[at - 1] & (DET | PREP))
        or (possible[at] & BASE and sentence.lowers[at - 1].endswith("s"))
        for at in spoken[1:]
    )


def _is_noun(possible: list[int], at: int) -> bool:
    """Whether the word before makes a noun or an adjective of a word that can be a verb."""
    before = possible[at - 1] if at else 0
    return (
        not possible[at] & ~(NOUN | ADJ | _VERBAL | ADV)
        and not possible[at] & (BE | HAVE | DO | GET | MODAL)
        and bool(before & (DET | PREP) or (before & ADJ and not possible[at] & THIRD))
        and not before & (NOUN | PRON | ADV | SUB)
    )


RULE = Rule(
    code="SG114",
    name="telegraph-style",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=lambda _: PerSentence(_look),
    module=__name__,
    prompt=lambda _: "Write full sentences with a verb and an object.",
)
