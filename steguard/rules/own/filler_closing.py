"""An offer, a wish or a farewell after the answer.

Finds: ``I hope this helps``, ``Let me know if``, ``Feel free to ask``, ``If you have any
questions`` and their like. An instruction with the same words (``Let me know the port``,
``The user has questions``) is not meant.

Why: These words give no information. A program that reads the last sentence finds no result.

Example: ``The pump is on. Let me know if you have any questions!``

Instead: ``The pump is on.``

Fix: Unsafe, it takes the sentence out.

Source: steguard's own.
"""

from __future__ import annotations

from steguard.rules._lists import PhraseFinder, phrase_index
from steguard.rules._words import after, in_quotes, is_first_word
from steguard.rules.base import Rule
from steguard.text.inflect import word_set
from steguard.text.model import Kind, Sentence
from steguard.types import Edit, Hit, Safety, Status

_PHRASES = (
    "i hope this helps", "i hope that helps", "hope this helps", "hope that helps",
    "i hope this is helpful", "i hope this answers", "i hope it helps", "hope it helps",
    "let me know if", "let me know how else", "let me know whether you",
    "let me know what you think",
    "please let me know if", "please let me know how", "just let me know", "feel free to ask",
    "feel free to reach out", "feel free to let me know", "feel free to contact",
    "feel free to share", "please feel free to ask", "please feel free to reach out",
    "please feel free to contact", "please feel free to share",
    "if you have any questions", "if you have any other questions", "if you have further questions",
    "if you have any further questions", "if you have more questions",
    "if you have any more questions", "if you have additional questions",
    "if you have any additional questions", "should you have any questions",
    "if you need any further assistance", "if you need further assistance",
    "if you need any more help", "if you need more help", "if you need anything else",
    "if there is anything else", "if there's anything else", "is there anything else",
    "do you have any other questions", "do you have any questions", "don't hesitate to ask",
    "don't hesitate to reach out", "don't hesitate to contact", "please don't hesitate to",
    "do not hesitate to ask", "do not hesitate to contact", "please do not hesitate to",
    "i'm here to help", "i am here to help", "i'm always here to help", "happy to help further",
    "happy coding", "happy cooking", "happy reading", "happy learning", "best of luck",
    "good luck", "have a great day", "have a nice day", "enjoy your meal", "enjoy your trip",
    "would you like me to", "would you like to know more", "would you like more information",
    "looking forward to hearing from you", "thank you for your understanding",
    "thank you for your patience", "thank you for your time", "thanks for reading",
    "reach out if you", "stay tuned",
)  # fmt: skip


_OFFERS = word_set("you there any anything this that i")


def _accept(sentence: Sentence, at: int, end: int) -> bool:
    """A request (``let me know if the test fails``) and an address (``write to a@b.c``) inform."""
    if not is_first_word(sentence, at) or in_quotes(sentence, at):
        return False
    if sentence.lowers[end - 1] == "if" and sentence.lowers[end - 2] == "know":
        following = after(sentence, end)
        return following in _OFFERS and not _tells(sentence, end)
    return all(token.kind is not Kind.CODE for token in sentence.tokens[end:])


def _tells(sentence: Sentence, at: int) -> bool:
    """``if there are discrepancies`` asks for a fact."""
    return after(sentence, at) == "there" and "anything" not in sentence.lowers[at : at + 4]


def _make(sentence: Sentence, at: int, end: int, phrase: str) -> Hit:
    tokens = sentence.tokens
    edits = (Edit(sentence.start, sentence.end, ""),) if at == 0 else ()
    return Hit(
        tokens[at].start,
        tokens[end - 1].end,
        f"'{phrase}' gives no information. Stop after the answer.",
        "Remove the sentence.",
        edits,
    )


_INDEX = phrase_index(_PHRASES)

RULE = Rule(
    code="SG105",
    name="filler-closing",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.UNSAFE,
    source="steguard",
    make=lambda options: PhraseFinder(_INDEX, _accept, _make),  # noqa: ARG005 - no options
    module=__name__,
    prompt=lambda options: "Stop after the answer.",  # noqa: ARG005 - no options
)
