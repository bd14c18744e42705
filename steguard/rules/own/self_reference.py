"""The text speaks about the model that wrote it.

Finds: ``As an AI``, ``I am a language model``, ``my training data``, ``my knowledge cutoff`` and
their like. Texts about other models (``Train an AI``, ``the training data``) are not meant.

Why: The text is for a reader who wants a fact or an instruction. The writer is no part of it.

Example: ``As an AI language model, I cannot open the valve.``

Instead: ``The agent cannot open the valve.``

Fix: None. The writer must say the fact without the model.

Source: steguard's own.
"""

from __future__ import annotations

from steguard.rules._lists import PhraseFinder, phrase_index
from steguard.rules._words import after, in_quotes
from steguard.rules.base import Rule
from steguard.text.model import Sentence
from steguard.types import Hit, Safety, Status

_ROLES = (
    "an ai", "an ai language model", "an ai model", "an ai assistant", "an ai chatbot",
    "a language model", "a large language model", "an llm", "an artificial intelligence",
    "a machine learning model", "a virtual assistant", "a chatbot", "a text-based ai",
    "an ai developed by", "an ai created by", "a computer program", "just an ai",
    "just a language model", "only an ai", "only a language model",
)  # fmt: skip
_HEADS = ("as", "i am", "i'm", "since i am", "because i am")
_OTHER = (
    "my training data", "my knowledge cutoff", "my knowledge cut-off", "my training cutoff",
    "my last knowledge update", "my last training update", "my last update", "my programming",
    "my training only", "my training includes", "i was trained on", "i was trained by",
    "i have been trained", "i don't have personal opinions", "i do not have personal opinions",
    "i don't have personal experiences", "i do not have personal experiences",
    "i don't have feelings", "i do not have feelings", "i don't have access to real-time",
    "i do not have access to real-time", "i cannot browse the internet",
    "i can't browse the internet", "i don't have the ability to browse",
    "i do not have the ability to browse", "my context window", "my system prompt",
)  # fmt: skip
_PHRASES = (*(f"{head} {role}" for head in _HEADS for role in _ROLES), *_OTHER)
_END = frozenset([",", ".", "!", "?", ";", ":", "", "and", "so", "i", "that", "which", "trained",
                  "but", "without", "developed", "created", "designed", "(", "—", "–", "by",
                  "system", "program"])  # fmt: skip


def _accept(sentence: Sentence, at: int, end: int) -> bool:
    if in_quotes(sentence, at):
        return False
    first = sentence.lowers[at]
    return first in ("my", "i") or after(sentence, end) in _END


def _make(sentence: Sentence, at: int, end: int, phrase: str) -> Hit:  # noqa: ARG001
    tokens = sentence.tokens
    return Hit(
        tokens[at].start,
        tokens[end - 1].end,
        "The text speaks about its writer. Write only the fact.",
        "Remove it.",
    )


_INDEX = phrase_index(_PHRASES)

RULE = Rule(
    code="SG106",
    name="self-reference",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=lambda options: PhraseFinder(_INDEX, _accept, _make),  # noqa: ARG005 - no options
    module=__name__,
    prompt=lambda options: "Do not write about yourself.",  # noqa: ARG005 - no options
)
