"""A contraction.

Finds: ``don't``, ``it's``, ``we'll``, ``let's``, ``gonna`` and all other contractions. A
possessive (``the pump's cover``), ``o'clock`` and quoted words are not meant.

Why: STE writes words in full. ``it's`` is ``it is`` or ``it has``, and ``'d`` is ``had`` or
``would``: the reader must guess.

Example: ``Don't open the valve.``

Instead: ``Do not open the valve.``

Fix: Safe where only one full form is right (``don't`` -> ``do not``, ``it's the`` -> ``it is
the``). Unsafe where two are possible (``it's opened``) or the order of a question must change.

Source: STE 4.2.
"""

from __future__ import annotations

from collections.abc import Iterator

from steguard.rules._words import PRONOUNS, after, in_quotes
from steguard.rules.base import PerSentence, Rule
from steguard.text.inflect import word_set
from steguard.text.model import Kind, Sentence
from steguard.text.wordclass import BASE, ING, NOUN, PART, classes
from steguard.types import Edit, Hit, Safety, Status

_NOT = {"can't": "cannot", "won't": "will not", "shan't": "shall not", "ain't": "is not"}
_NOT_BASES = word_set(
    "do does did is are was were has have had could should would must might need ought may"
)
_TAILS = {"'ll": "will", "'re": "are", "'ve": "have", "'m": "am"}
_OTHER = {
    "let's": "let us",
    "gonna": "going to",
    "wanna": "want to",
    "gotta": "must",
    "gimme": "give me",
    "lemme": "let me",
    "kinda": "kind of",
    "dunno": "do not know",
    "y'all": "you all",
    "c'mon": "come on",
    "'cause": "because",
    "dont": "do not",
    "doesnt": "does not",
    "didnt": "did not",
    "isnt": "is not",
    "wasnt": "was not",
    "couldnt": "could not",
    "shouldnt": "should not",
    "wouldnt": "would not",
}
_SAFE_OTHER = word_set("let's dont doesnt didnt isnt wasnt couldnt shouldnt wouldnt gimme lemme")
_S_HOSTS = word_set("it he she that this what who there here where how when why")
_D_HOSTS = word_set("i you he she it we they who that there what")
_ALSO_HAVE = word_set("been had got become gone")
_SUBJECTS = PRONOUNS | word_set("this that these those the there your my any anyone everyone")


def _table() -> dict[str, str]:
    """Contractions whose full form never changes."""
    table = dict(_OTHER) | dict(_NOT)
    for base in _NOT_BASES:
        table[f"{base}n't"] = f"{base} not"
    for host in ("i", "you", "he", "she", "it", "we", "they", "that", "there", "who", "this",
                 "what", "these", "those"):  # fmt: skip
        for tail, full in _TAILS.items():
            table[host + tail] = f"{host} {full}"
    for host in ("could", "should", "would", "might", "must"):
        table[f"{host}'ve"] = f"{host} have"
    return table


_FULL = _table()
_S = {f"{host}'s": host for host in _S_HOSTS}
_D = {f"{host}'d": host for host in _D_HOSTS}
_TRIGGERS = frozenset(_FULL) | frozenset(_S) | frozenset(_D)


def _hits(sentence: Sentence) -> Iterator[Hit]:
    for index, token in enumerate(sentence.tokens):
        if token.lower not in _TRIGGERS or token.kind is not Kind.WORD:
            continue
        if in_quotes(sentence, index):
            continue
        full, safe = _expand(sentence, index)
        if full is None:
            continue
        good = _cased(token.text, full)
        yield Hit(
            token.start,
            token.end,
            f"'{token.text}' is a contraction. Write '{good}'.",
            good,
            (Edit(token.start, token.end, good),),
            Safety.SAFE if safe else Safety.UNSAFE,
        )


def _expand(sentence: Sentence, at: int) -> tuple[str | None, bool]:
    word = sentence.tokens[at].lower
    following = after(sentence, at + 1)
    if word in _S:
        return _expand_s(_S[word], following)
    if word in _D:
        return _expand_d(_D[word], following)
    full = _FULL[word]
    if word in _OTHER:
        return full, word in _SAFE_OTHER
    inverted = word.endswith("n't") and following in _SUBJECTS
    certain = word != "ain't" and not inverted
    return full, certain


def _expand_s(host: str, following: str) -> tuple[str | None, bool]:
    """``'s`` is ``has`` before a participle that takes ``have``, else ``is`` where that is sure."""
    if following in _ALSO_HAVE:
        return f"{host} has", following in ("been", "had", "become")
    mask = classes(following) if following else NOUN
    if mask & PART and not mask & ING:
        return f"{host} is", False
    return f"{host} is", bool(following)


def _expand_d(host: str, following: str) -> tuple[str | None, bool]:
    if following == "better":
        return f"{host} had", True
    if following in ("like", "love", "be", "prefer", "have"):
        return f"{host} would", True
    mask = classes(following) if following else NOUN
    return f"{host} {'had' if mask & PART and not mask & BASE else 'would'}", False


def _cased(text: str, full: str) -> str:
    first, _, rest = full.partition(" ")
    letters = text.replace("'", "").replace("’", "")
    if letters.isupper() and len(letters) > 2:
        return full.upper()
    if first == "i":
        return f"I {rest}"
    return full[0].upper() + full[1:] if text[0].isupper() else full


RULE = Rule(
    code="STE402",
    name="contraction",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.SAFE,
    source="STE 4.2",
    make=lambda options: PerSentence(_hits, _TRIGGERS),  # noqa: ARG005 - no options
    module=__name__,
    prompt=lambda options: "Write words in full. Do not use contractions.",  # noqa: ARG005
)
