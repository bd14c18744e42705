"""What the word rules share: neighbours, quotes, names, readings and edits."""

from __future__ import annotations

from bisect import bisect_right
from functools import cache
from typing import cast

import yaml

from steguard.resources import data
from steguard.text.inflect import capital, takes_an, word_set
from steguard.text.model import BlockKind, Kind, Sentence
from steguard.types import Edit

_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

DETERMINERS = word_set(
    "a an the this that these those my your his her its our their each every all any some no "
    "both another either neither which what whose"
)
PRONOUNS = word_set("i you he she it we they who")
AUXILIARIES = word_set(
    "can cannot could do does did don't doesn't didn't may might must should will would shall "
    "won't can't shouldn't couldn't wouldn't mustn't please not never to always then let's"
)
BE = word_set("am is are was were be been being isn't aren't wasn't weren't")
_SUBORDINATORS = word_set(
    "and or but then if when while before after until unless because so by without for of in on "
    "at from with"
)
_OPENERS = frozenset(
    ['"', "“", "”", "'", "‘", "(", "[", ":", ";", "—", "–", "-", "*", "•", "…", "/"]
)
_STRAIGHT = frozenset(['"', "'"])
_PAIRS = {"“": "”", "「": "」", "『": "』", "«": "»", "《": "》", "‘": "'"}
QUOTE_MARKS = _STRAIGHT | frozenset(_PAIRS)
_DASHES = frozenset("-–—|")
_BRACKETS = frozenset("([{（—–-/:")


@cache
def load_table(name: str) -> dict[str, object]:
    """A YAML file of ``steguard/data`` with every scalar as text."""
    with data(name).open(encoding="utf-8") as file:
        return cast(dict[str, object], yaml.load(file, Loader=_LOADER) or {})


@cache
def load_words(name: str) -> tuple[str, ...]:
    """The lines of a text file of ``steguard/data``, without comments and blank lines."""
    lines = data(name).read_text(encoding="utf-8").splitlines()
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def quoted(sentence: Sentence) -> tuple[tuple[int, int], ...]:
    """Token ranges that stand in quotation marks, marks included.

    Quoted text is a label or the words of another person, so no word rule reads it. Chinese has
    no spaces that tell an opening straight mark from a closing one, so there they take turns.
    """
    if sentence.vocabulary.isdisjoint(QUOTE_MARKS):
        return ()
    known = sentence.cache.get("quoted")
    if known is None:
        known = sentence.cache["quoted"] = _quoted(sentence)
    return cast(tuple[tuple[int, int], ...], known)


def _quoted(sentence: Sentence) -> tuple[tuple[int, int], ...]:
    ranges: list[tuple[int, int]] = []
    opened, closer = -1, ""
    toggles = sentence.language == "zh"
    for index, word in enumerate(sentence.lowers):
        if opened >= 0:
            if word == closer and (toggles or not _opens(sentence, index)):
                ranges.append((opened, index + 1))
                opened = -1
        elif word in _PAIRS or (word == '"' and toggles):
            opened, closer = index, _PAIRS.get(word, word)
        elif word in _STRAIGHT and _opens(sentence, index):
            opened, closer = index, word
    return tuple(ranges)


def _opens(sentence: Sentence, at: int) -> bool:
    """Whether a straight mark opens a quote: a space or a bracket before it, none after it."""
    tokens = sentence.tokens
    if tokens[at].text not in _STRAIGHT:
        return False
    last = tokens[at - 1] if at else None
    apart = last is None or last.end < tokens[at].start or last.text in _BRACKETS
    return apart and at + 1 < len(tokens) and tokens[at + 1].start == tokens[at].end


def in_quotes(sentence: Sentence, at: int) -> bool:
    """Whether this token stands in quotation marks."""
    ranges = quoted(sentence)
    if not ranges:
        return False
    place = bisect_right(ranges, (at, len(sentence.tokens) + 1)) - 1
    return place >= 0 and ranges[place][0] <= at < ranges[place][1]


def token_at(sentence: Sentence, offset: int) -> int:
    """The token that holds this place of the text, or the next one."""
    ends = sentence.cache.get("token-ends")
    if ends is None:
        ends = sentence.cache["token-ends"] = [token.end for token in sentence.tokens]
    return bisect_right(cast(list[int], ends), offset)


def before(sentence: Sentence, at: int) -> str:
    """The lower-case token before, or an empty string."""
    return sentence.lowers[at - 1] if at > 0 else ""


def after(sentence: Sentence, at: int) -> str:
    """The lower-case token at this place, or an empty string past the end."""
    return sentence.lowers[at] if at < len(sentence.lowers) else ""


def is_first_word(sentence: Sentence, at: int) -> bool:
    """Whether only marks stand before the token, or a mark that opens a new clause."""
    if at == 0:
        return True
    tokens = sentence.tokens
    return tokens[at - 1].text in _OPENERS or all(
        t.kind is Kind.PUNCT for t in tokens[max(0, at - 4) : at]
    )


def part_of_name(sentence: Sentence, at: int) -> bool:
    """Whether a capital in the middle of a sentence says that this word belongs to a name."""
    text = sentence.tokens[at].text
    if not text[:1].isupper() or (text.isupper() and len(text) > 1):
        return False
    if is_first_word(sentence, at):
        return _names_after_dash(sentence, at)
    return not (sentence.block.kind is BlockKind.HEADING and before(sentence, at) == ".")


def _names_after_dash(sentence: Sentence, at: int) -> bool:
    """``Management - Simply Wall St``: a name of two words or more after a dash."""
    tokens = sentence.tokens
    if at < 2 or tokens[at - 1].text not in _DASHES or at + 2 >= len(tokens):
        return False
    return all(t.kind is Kind.WORD and t.text[0].isupper() for t in tokens[at + 1 : at + 3])


def is_keyword(sentence: Sentence, at: int) -> bool:
    """Whether capitals say that a word is a name or a signal: ``reply with TERMINATE``.

    In a sentence of capitals, and in its first word, they say nothing.
    """
    text = sentence.tokens[at].text
    if len(text) < 3 or not text.isupper():
        return False
    if sentence.words == 1:
        return True
    return not sentence.text.isupper() and not is_first_word(sentence, at)


def is_verb(sentence: Sentence, at: int, end: int, form: str) -> bool:
    """Whether a word that can also be a noun is clearly a verb here."""
    last, following = before(sentence, at), after(sentence, end)
    if form == "base":
        if last in AUXILIARIES or last in PRONOUNS:
            return True
        opens = is_first_word(sentence, at) or last in (",", "and", "or", "then")
        return opens and following not in ("of", "is", "are", "was", "were", "", ".", ":")
    if form == "s":
        if last in DETERMINERS or last in _SUBORDINATORS:
            return last in ("which", "that", "and")
        return following in DETERMINERS or following in ("to", "with", "when", "if", "at")
    if form == "ing":
        return last not in DETERMINERS and following not in ("of", "", ".", ",")
    return last not in DETERMINERS


def article_edit(sentence: Sentence, at: int, replacement: str) -> Edit | None:
    """The edit that makes the ``a`` or ``an`` before a replaced word agree."""
    last = before(sentence, at)
    if last not in ("a", "an"):
        return None
    following = replacement or after(sentence, at)
    wanted = "an" if takes_an(following.split(" ", 1)[0]) else "a"
    if wanted == last:
        return None
    token = sentence.tokens[at - 1]
    return Edit(token.start, token.end, capital(wanted) if token.text[0].isupper() else wanted)


def removal(sentence: Sentence, at: int, end: int) -> tuple[Edit, ...]:
    """Edits that take a phrase out and leave a well-formed sentence.

    A comma that only set the phrase off goes too, and a new first word gets a capital.
    """
    tokens = sentence.tokens
    opens = is_first_word(sentence, at)
    start, stop = tokens[at].start, tokens[end - 1].end
    following = end
    comma_after = after(sentence, end) == ","
    if comma_after and (opens or before(sentence, at) == ","):
        following = end + 1
    if following >= len(tokens) or (following < len(tokens) and _closes(tokens[following].text)):
        if at > 0:
            first = at - 1 if before(sentence, at) == "," else at
            start = tokens[first].start if first < at else tokens[at - 1].end
            if first < at and first > 0:
                start = tokens[first - 1].end
        return (Edit(start, stop, ""),) if at > 0 else ()
    edits = []
    if before(sentence, at) == "," and comma_after and at > 1:
        start = tokens[at - 2].end
        stop = tokens[end].end
        return (Edit(start, stop, ""),)
    stop = tokens[following].start
    if opens and tokens[at].text[:1].isupper():
        head = tokens[following]
        if head.kind is Kind.WORD and head.text[:1].islower():
            edits.append(Edit(start, stop + 1, head.text[0].upper()))
            return tuple(edits)
    article = None if opens else article_edit(sentence, at, after(sentence, following))
    if article is not None:
        edits.append(article)
    edits.append(Edit(start, stop, ""))
    return tuple(edits)


def _closes(text: str) -> bool:
    return text in (".", "!", "?", ":", ";", ")", "]", "”", '"')
