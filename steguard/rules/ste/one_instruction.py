"""Finds a sentence that gives more than one instruction.

Finds: two commands in one sentence, joined by "and", "then" or a comma ("Open the file and read
the data."). Two actions that occur at the same time are permitted ("while", "at the same time",
"press and hold"). Two objects of one command ("Read the file and the log."), a choice ("or") and
commands inside "to ..." or "that ..." are no second instruction.

Why: a reader does one action, looks back, and misses the second one. A program cannot report
which of the two failed.

Example: Open the file and read the data.

Instead: Open the file. Read the data.

Fix: safe where "and" or "then" joins two commands and each has its own object and no condition.
Then the second command becomes a sentence. In other cases a person must divide the sentence.

Source: STE 5.2
"""

from __future__ import annotations

from collections.abc import Iterator

from steguard.rules.base import Options, PerSentence, Rule
from steguard.text.model import BlockKind, Kind, Sentence
from steguard.text.pos import imperative_at, masks, may_command, tags
from steguard.text.verbs import verbs, word_set
from steguard.text.wordclass import (
    ADJ,
    ADV,
    BASE,
    BE,
    CONJ,
    DET,
    DO,
    HAVE,
    MARK,
    MODAL,
    NOUN,
    NUM,
    PREP,
    PRON,
    SUB,
    SUBJ,
    THIRD,
    TO,
    WH,
    classes,
)
from steguard.types import Edit, Hit, Safety, Status

_JOINTS = frozenset(("and", "then", "&", ";"))
_TOGETHER = frozenset(("while", "simultaneously", "together", "concurrently"))
_PAIRS = frozenset(
    [
        ("press", "hold"), ("push", "hold"), ("click", "drag"), ("drag", "drop"), ("try", "see"),
        ("go", "see"), ("wait", "see"), ("come", "see"), ("copy", "paste"), ("cut", "paste"),
        ("point", "click"), ("push", "turn"), ("press", "turn"), ("pull", "hold"),
        ("hold", "turn"), ("stop", "think"), ("try", "find"), ("try", "get"), ("go", "get"),
    ]
)  # fmt: skip
_CONTENT = word_set("ensure make check verify confirm sure note see remember tell")


def _check(sentence: Sentence) -> Iterator[Hit]:
    if sentence.block.kind in (BlockKind.HEADING, BlockKind.TABLE_CELL):
        return
    if not sentence.vocabulary.isdisjoint(_TOGETHER) or "at the same time" in sentence.text:
        return
    if not (_opens_with_clause(sentence) or may_command(sentence)) or not _may_join(sentence):
        return
    start = _main_clause(sentence)
    first = imperative_at(sentence, start)
    if first is None or _has_subject(sentence, first):
        return
    second = _second(sentence, first)
    if second is None:
        return
    join, verb = second
    tokens = sentence.tokens
    word = tokens[verb].text
    edits, text = _split(sentence, start, first, join, verb)
    yield Hit(
        tokens[join].start,
        tokens[verb].end,
        f"The sentence gives two instructions: '{tokens[first].text}' and '{word}'.",
        text or f"Start a new sentence at '{word}'.",
        edits,
        Safety.SAFE if edits else Safety.NONE,
    )


def _may_join(sentence: Sentence) -> bool:
    """A cheap look before the tagger: a command can stand after the first joint."""
    lowers, possible = sentence.lowers, masks(sentence)
    joint = min(lowers.index(word) for word in _JOINTS & sentence.vocabulary)
    comma = lowers.index(",") if "," in sentence.vocabulary else joint
    return any(
        possible[at] & BASE and _is_command(sentence, at)
        for at in range(min(joint, comma) + 1, len(lowers))
    )


def _opens_with_clause(sentence: Sentence) -> bool:
    """Whether the first word starts a subordinate clause: "If", "To", "When"."""
    for word, token in zip(sentence.lowers, sentence.tokens, strict=True):
        mask = classes(word)
        if token.kind is Kind.CODE or token.kind is Kind.CJK:
            return False
        if mask & ~MARK:
            return bool(mask & (SUB | TO | WH)) and not mask & DET
    return False


def _main_clause(sentence: Sentence) -> int:
    """Where the main clause starts: after ", " if a condition opens the sentence."""
    if not _opens_with_clause(sentence):
        return 0
    possible = masks(sentence)
    for at, word in enumerate(sentence.lowers):
        if word == "," and at + 1 < len(possible) and possible[at + 1] & (BASE | ADV | DO):
            return at + 1
    return 0


def _has_subject(sentence: Sentence, first: int) -> bool:
    """Whether the "command" is a noun after all: another verb in the sentence has no subject."""
    possible, tag = masks(sentence), tags(sentence)
    if not possible[first] & (NOUN | ADJ):
        return False
    for at in range(first + 1, len(tag)):
        if tag[at] & (SUB | WH) or (possible[at] & (SUB | WH) and not tag[at] & DET):
            return False
        if tag[at] & (BE | MODAL | HAVE | DO | THIRD) and not possible[at] & NOUN:
            return True
    return False


def _second(sentence: Sentence, first: int) -> tuple[int, int] | None:
    """Where the second command starts: the joining token and its verb."""
    lowers, possible, tag = sentence.lowers, masks(sentence), tags(sentence)
    count = len(lowers)
    if lowers[first] in _CONTENT and "that" in sentence.vocabulary:
        return None
    at = first + 1
    joined = -1
    while at < count:
        word, mask = lowers[at], possible[at]
        if word in ("and", "then", "&", ",", ";") and not (
            word == "then" and joined < 0 and at + 1 < count and not possible[at + 1] & BASE
        ):
            joined = at if joined < 0 else joined
        elif joined >= 0 and _is_command(sentence, at):
            if (lowers[first], word) in _PAIRS and at - first == 2:
                return None
            if _joins(lowers[joined:at]):
                return joined, at
            joined = -1
        elif (joined >= 0 and mask & (ADV | DO) and word != "also") or word in ("do", "not"):
            pass
        elif word == "or" or tag[at] & MODAL or (mask & SUBJ and not _is_object(sentence, at)):
            return None
        elif tag[at] & (TO | WH | SUB) or (word == "that" and not tag[at] & DET):
            if tag[at] & TO and (at + 1 >= count or not possible[at + 1] & BASE):
                joined = -1
            else:
                return None
        else:
            joined = -1
        at += 1
    return None


def _joins(words: list[str]) -> bool:
    return any(word in ("and", "then", "&", ";") for word in words)


def _is_command(sentence: Sentence, at: int) -> bool:
    """Whether the word after the joint is a verb in the base form with something to act on."""
    possible = masks(sentence)
    token = sentence.tokens[at]
    mask = possible[at]
    if token.kind is not Kind.WORD or not mask & BASE or token.text[0].isupper():
        return False
    after = possible[at + 1] if at + 1 < len(possible) else MARK
    if mask & (BE | HAVE | DO | MODAL):
        return False
    if not mask & (NOUN | ADJ | ADV):
        return not after & (BE | MODAL)
    next_token = sentence.tokens[at + 1] if at + 1 < len(possible) else None
    if next_token is not None and next_token.kind is Kind.CODE:
        return not mask & ADJ
    if after & SUBJ:
        return _is_object(sentence, at + 1)
    return bool(after & (DET | PRON) and not after & (BE | MODAL)) and not (
        after & SUB and not after & DET
    )


def _is_object(sentence: Sentence, at: int) -> bool:
    """Whether "it" or "you" is no subject: no verb follows it."""
    possible = masks(sentence)
    if sentence.lowers[at] not in ("it", "you"):
        return False
    after = possible[at + 1] if at + 1 < len(possible) else MARK
    return bool(after & (MARK | PREP | CONJ | TO | SUB | ADV) and not after & (BASE | BE))


def _split(
    sentence: Sentence, start: int, first: int, join: int, verb: int
) -> tuple[tuple[Edit, ...], str | None]:
    """The edit that makes a sentence of the second command, where that is certain."""
    tokens, possible = sentence.tokens, masks(sentence)
    words = sentence.lowers[join:verb]
    if "," in sentence.lowers[first:join]:
        return (), None
    if start or any(word not in (",", "and", "then", ";", "&") for word in words):
        return (), None
    if not sentence.ended and sentence.block.kind is not BlockKind.LIST_ITEM:
        return (), None
    if join == first + 1 or verb + 1 >= len(tokens) or sentence.lowers[first] in ("do", "don't"):
        return (), None
    if not possible[verb + 1] & (DET | PRON | NUM | NOUN | ADJ):
        return (), None
    if any(m & (SUB | WH | CONJ) and not m & DET for m in possible[first + 1 : join]):
        return (), None
    if any(
        (m & (SUB | WH | CONJ) and not m & DET) or w in (",", ";")
        for m, w in zip(possible[verb + 1 :], sentence.lowers[verb + 1 :], strict=True)
    ):
        return (), None
    word = tokens[verb].text
    if verbs().get(word) is None:
        return (), None
    edit = Edit(tokens[join - 1].end, tokens[verb].end, f". {word[0].upper()}{word[1:]}")
    return (edit,), f"Write two sentences: start the second at '{word[0].upper()}{word[1:]}'."


RULE = Rule(
    code="STE502",
    name="one-instruction",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.SAFE,
    source="STE 5.2",
    make=lambda _: PerSentence(_check, _JOINTS),
    module=__name__,
    options=Options,
    prompt=lambda _: "Write one instruction in each sentence.",
)
