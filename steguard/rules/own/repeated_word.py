"""The same word two times, one after the other.

Finds: ``the the`` and ``test test``, also over a line break and before a full stop, and ``of the
of the``. ``had had``, ``that that``, names (``Bora Bora``), letters, numbers and code are not
meant.

Why: It is a slip, and a reader looks for a word that is not there.

Example: ``Open the the valve.``

Instead: ``Open the valve.``

Fix: Safe, it takes the second word out.

Source: steguard's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import eq

from steguard.rules._words import in_quotes
from steguard.rules.base import PerSentence, Rule
from steguard.text.inflect import word_set
from steguard.text.model import Kind, Sentence
from steguard.types import Edit, Hit, Safety, Status

_RIGHT = word_set(
    "had that her bye ha haha ho no yes so knock tut blah bla aye chop hear there well now wow "
    "hip night ding dong tick tock la na oh beep do"
)
_PAIRS = word_set("of in on to at for with from by and the a an is it that this as")


def _look(sentence: Sentence) -> Iterable[Hit]:
    """Most sentences have no word two times, or never one after the other."""
    lowers = sentence.lowers
    doubles = len(lowers) - len(sentence.vocabulary)
    if doubles and True in map(eq, lowers, lowers[1:]):
        return _hits(sentence)
    if doubles > 1 and True in map(eq, lowers, lowers[2:]):
        return _hits(sentence)
    return ()


def _hits(sentence: Sentence) -> Iterator[Hit]:
    last = ""
    for index, word in enumerate(sentence.lowers):
        slip = word == last and _is_slip(sentence, index)
        pair = word in _PAIRS and last in _PAIRS and _pair_repeats(sentence, index)
        if (slip or pair) and not in_quotes(sentence, index):
            yield _hit(sentence, index, 1) if slip else _hit(sentence, index - 1, 2)
        last = word


def _pair_repeats(sentence: Sentence, at: int) -> bool:
    lowers = sentence.lowers
    return (
        at > 2
        and lowers[at - 3 : at - 1] == lowers[at - 1 : at + 1]
        and _adjacent(sentence, at - 3, 4)
    )


def _is_slip(sentence: Sentence, at: int) -> bool:
    first, second = sentence.tokens[at - 1], sentence.tokens[at]
    word = second.lower
    if second.kind is not Kind.WORD or word in _RIGHT or not _adjacent(sentence, at - 1, 2):
        return False
    if len(word) == 1 and word not in ("a", "i"):
        return False
    if at > 1 and sentence.lowers[at - 2] == word:
        return False
    if second.text != first.text and not (second.text.islower() and first.text[1:].islower()):
        return len(word) == 1 and second.text.islower()
    if second.text.isupper():
        return len(word) > 4 or word in _PAIRS
    return not second.text[0].isupper()


def _adjacent(sentence: Sentence, at: int, count: int) -> bool:
    """Whether only white space stands between these words: no mark-up, no comma."""
    tokens = sentence.tokens
    for left, right in zip(tokens[at : at + count - 1], tokens[at + 1 : at + count], strict=True):
        if not sentence.text[left.end - sentence.start : right.start - sentence.start].isspace():
            return False
    return all(token.kind is Kind.WORD for token in tokens[at : at + count])


def _hit(sentence: Sentence, at: int, count: int) -> Hit:
    tokens = sentence.tokens
    start, stop = tokens[at - count].start, tokens[at + count - 1].end
    cut = Edit(tokens[at - 1].end, stop, "")
    good = " ".join(token.text for token in tokens[at - count : at])
    text = " ".join(sentence.text[start - sentence.start : stop - sentence.start].split())
    return Hit(start, stop, f"'{text}' repeats itself. Write '{good}' one time.", good, (cut,))


RULE = Rule(
    code="SG109",
    name="repeated-word",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.SAFE,
    source="steguard",
    make=lambda options: PerSentence(_look),  # noqa: ARG005 - the rule has no options
    module=__name__,
)
