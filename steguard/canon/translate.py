"""Messages and sentences in Chinese and Japanese: the same meaning, other keywords, both ways.

>>> translate_sentence("report: stock is low", target="zh")
'报告：stock 为 low'

Names, values, ids and payloads stay as they are. Verbs have their names in the lexicons, keywords
stand in ``data/canon/surfaces.yaml``.
"""

from __future__ import annotations

from collections.abc import Sequence

from steguard.canon.lexicon import Lexicon
from steguard.canon.message import parse_message
from steguard.canon.problems import CanonFinding
from steguard.canon.render import render_message, render_sentence
from steguard.canon.sentence import parse_sentence
from steguard.canon.surfaces import LANGUAGES, Word, surface


class TranslateError(ValueError):
    """The text is not valid in its language; ``findings`` has every fault."""

    def __init__(self, findings: Sequence[CanonFinding]) -> None:
        super().__init__("; ".join(f"{one.line}:{one.column}: {one.message}" for one in findings))
        self.findings = tuple(findings)


def translate_message(
    text: str, *, target: str, source: str | None = None, lexicon: Lexicon | None = None
) -> str:
    """The message in another language. ``source`` is found out where it is left out."""
    parsed = parse_message(text, lexicon=lexicon, language=source or language_of(text))
    if parsed.message is None:
        raise TranslateError(parsed.findings)
    return render_message(parsed.message, language=target, lexicon=lexicon)


def translate_sentence(
    text: str, *, target: str, source: str | None = None, lexicon: Lexicon | None = None
) -> str:
    """The sentence in another language. ``source`` is found out where it is left out."""
    parsed = parse_sentence(text, lexicon=lexicon, language=source or language_of(text))
    if parsed.sentence is None:
        raise TranslateError(parsed.findings)
    return render_sentence(parsed.sentence, language=target, lexicon=lexicon)


def language_of(text: str) -> str:
    """The language whose keywords the text starts with; ``en`` where none does."""
    start = text.removeprefix("\ufeff").lstrip(" \n")
    best = max(LANGUAGES, key=lambda language: _hits(start, language))
    return best if _hits(start, best) else "en"


def _hits(text: str, language: str) -> int:
    """How many lines, and words of the first line, are keywords of the language."""
    one = surface(language)
    keys = set(one.keys.values()) or {"canon-message", "from", "to", "msg_id", "action"}
    hits = sum(line.partition(":")[0].strip() in keys for line in text.split("\n"))
    words = {
        part.text
        for template in one.sentences.values()
        for element in template
        for part in (element.parts if hasattr(element, "parts") else (element,))
        if isinstance(part, Word)
    }
    words |= set(one.modals.values()) | _verbs(language)
    first = text.partition("\n")[0].replace("：", "： ").split()
    return hits + sum(word in words for word in first)


def _verbs(language: str) -> set[str]:
    from steguard.canon.lexicon import core

    return set(core().verbs_in(language))
