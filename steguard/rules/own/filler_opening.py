"""A greeting, praise or a promise before the answer.

Finds: ``Sure!``, ``Certainly, here is``, ``Great question``, ``Of course!``, ``I'd be happy to
help`` and their like at the start of a text. The same words inside a sentence (``make sure``)
and later in the text are not meant.

Why: The first sentence must carry the answer. A program that reads it finds no data there.

Example: ``Certainly! Open the valve.``

Instead: ``Open the valve.``

Fix: Unsafe, it takes the words out. ``Sure.`` can also be the answer to a question.

Source: steguard's own.
"""

from __future__ import annotations

from collections.abc import Iterable

from steguard.rules._lists import phrase_index
from steguard.rules._words import after, removal
from steguard.rules.base import Rule
from steguard.text.model import Document, Kind, Sentence
from steguard.text.phraseindex import elements
from steguard.types import Edit, Hit, Safety, Status

# These count only if a mark closes them: "Sure!", "Great, here is ...".
_WORDS = (
    "sure", "certainly", "of course", "absolutely", "definitely", "great", "perfect", "excellent",
    "awesome", "okay", "ok", "alright", "all right", "got it", "understood", "no problem",
    "hello", "hi", "hi there", "hello there", "hey", "hey there", "sure thing", "thank you",
    "thanks", "no worries", "wonderful", "fantastic", "good question", "great question",
    "excellent question", "interesting question", "happy to help", "glad you asked", "yes",
    "sounds good", "my pleasure", "you're welcome", "great job", "great idea", "nice",
)  # fmt: skip
# These are filler with what follows, up to the end of the sentence.
_SENTENCES = (
    "what a great question", "that's a great question", "that is a great question",
    "that's a good question", "that's an excellent question", "that is a good question",
    "this is a great question", "great question", "good question", "excellent question",
    "thank you for your question", "thanks for asking", "thank you for asking",
    "thank you for reaching out", "thanks for reaching out", "thank you for sharing",
    "thanks for sharing", "thank you for providing", "thanks for providing",
    "i'd be happy to", "i would be happy to", "i'm happy to", "i am happy to", "i'll be happy to",
    "i'd be glad to", "i would be glad to", "i'm glad to", "happy to help", "i'd love to help",
    "i'm here to help", "i can help you with that", "i can certainly help", "let me help you",
    "let's dive in", "let's dive into", "i hope you are doing well", "i hope you're doing well",
    "i hope this message finds you well", "i understand that you", "i understand you want",
)  # fmt: skip
_CLOSERS = frozenset(["!", ".", ",", "—", "–", ":", "!!", "!!!", "…", "..."])
_MODEST = frozenset(["yes", "thank you", "thanks", "understood", "nice"])

_INDEX = phrase_index((*_WORDS, *_SENTENCES))
OPENERS = tuple(elements(phrase) for phrase in (*_WORDS, *_SENTENCES))
"""The phrases as tokens: a text that opens with none of them has no finding."""
_WHOLE = frozenset(_SENTENCES)


class _Opening:
    """Looks at the first sentences as long as nothing but filler came before."""

    triggers: frozenset[str] | None = None

    def __init__(self) -> None:
        self._open = True

    def sentence(self, sentence: Sentence) -> Iterable[Hit]:
        if not self._open:
            return ()
        hit = _opening(sentence)
        if hit is None or hit.end < sentence.end:
            self._open = False
        return () if hit is None else (hit,)

    def finish(self, document: Document) -> Iterable[Hit]:  # noqa: ARG002 - the protocol's form
        return ()


def _opening(sentence: Sentence) -> Hit | None:
    tokens = sentence.tokens
    first = next((i for i, t in enumerate(tokens) if t.kind is not Kind.PUNCT), len(tokens))
    for phrase, at, end in _INDEX.find(sentence):
        if at != first:
            return None
        following = after(sentence, end)
        whole = phrase in _WHOLE and (phrase not in _WORDS or following not in _CLOSERS)
        if not whole and following not in (_CLOSERS if phrase not in _MODEST else {"!"}):
            return None
        rest = tokens[end + 1 :] if not whole else ()
        if whole or all(token.kind is Kind.PUNCT for token in rest):
            start, stop = sentence.start, sentence.end
            edits: tuple[Edit, ...] = (Edit(start, stop, ""),)
        else:
            start, stop = tokens[at].start, tokens[end].end
            edits = removal(sentence, at, end)
            if following != ",":
                edits = removal(sentence, at, end + 1)
        return Hit(
            start,
            stop,
            f"'{phrase}' gives no information. Start with the answer.",
            "Remove it.",
            edits,
        )
    return None


RULE = Rule(
    code="SG104",
    name="filler-opening",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.UNSAFE,
    source="steguard",
    make=lambda options: _Opening(),  # noqa: ARG005 - the rule has no options
    module=__name__,
    prompt=lambda options: "Start with the answer.",  # noqa: ARG005 - no options
)
