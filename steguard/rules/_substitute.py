"""Bad phrase, good phrase: the engine under ``banned-words`` and ``Substitution``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from steguard.rules._words import (
    BE,
    DETERMINERS,
    after,
    article_edit,
    before,
    in_quotes,
    is_first_word,
    is_keyword,
    is_verb,
    part_of_name,
    removal,
)
from steguard.text.inflect import match_case, plural, verb_forms, word_set
from steguard.text.model import Document, Kind, Sentence
from steguard.text.phraseindex import PhraseIndex, elements
from steguard.types import Edit, Hit, Safety

_HAVE = word_set("have has had having get gets got")
_CLAUSE_STARTS = word_set(", and but that because so if when while")
_MONTH = word_set("is was has had and through , to until of ' ’s 's")


@dataclass(frozen=True, slots=True)
class Entry:
    """One phrase that must not stand, and what to write.

    ``use`` is empty where only ``advice`` helps; a replacement ``""`` removes the phrase.
    """

    phrase: str
    use: tuple[str, ...] = ()
    advice: str = ""
    category: str = ""
    pos: str = ""
    forms: frozenset[str] = frozenset()
    safe: str = ""
    reading: bool = False
    initial: bool = False
    modal: bool = False
    fix: bool = True
    rank: int = 0
    after: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()
    not_after: frozenset[str] = frozenset()
    not_before: frozenset[str] = frozenset()
    before_ing: bool = False
    before_number: bool = False

    @property
    def suggestion(self) -> str:
        """The first replacement, or an empty string."""
        return self.use[0] if self.use else ""


@dataclass(frozen=True, slots=True)
class Form:
    """A surface form of an entry with the replacement in the same form."""

    entry: Entry
    form: str
    uses: tuple[str, ...]
    participles: tuple[str, ...]


def entry(phrase: str, value: object, category: str = "") -> Entry:
    """An entry from a table: a replacement, a list of them, or a mapping."""
    if not isinstance(value, Mapping):
        value = {"use": value}
    fields: dict[str, Any] = dict(value)
    use = fields.pop("use", None)
    uses = (use,) if isinstance(use, str) else tuple(use or ())
    for key in ("forms", "after", "before", "not_after", "not_before"):
        if key in fields:
            fields[key] = frozenset(str(word).lower() for word in fields[key])
    for key in ("initial", "modal", "fix", "before_ing", "before_number"):
        if key in fields:
            fields[key] = str(fields[key]).lower() == "true"
    fields["reading"] = fields.get("reading") == "verb"
    fields["rank"] = int(fields.get("rank", 0))
    safe = str(fields.get("safe", "")).lower()
    fields["safe"] = "" if safe == "false" else safe
    return Entry(phrase, uses, category=category, **fields)


def surface_forms(item: Entry) -> Iterator[tuple[str, Form]]:
    """Every form of the phrase that counts, with its replacement."""
    if item.pos == "verb":
        bad = verb_forms(item.phrase)
        good = [verb_forms(use) if use else dict.fromkeys(bad, "") for use in item.use]
        for name, text in bad.items():
            kind = "past" if name == "participle" else name
            if item.forms and kind not in item.forms:
                continue
            yield (
                text,
                Form(
                    item,
                    kind,
                    tuple(forms[name] for forms in good),
                    tuple(forms["participle"] for forms in good) if kind == "past" else (),
                ),
            )
        return
    yield item.phrase, Form(item, "base", item.use, ())
    if item.pos == "noun":
        plurals = tuple(plural(use) if use else "" for use in item.use)
        yield plural(item.phrase), Form(item, "plural", plurals, ())
        for text, uses in ((item.phrase, item.use), (plural(item.phrase), plurals)):
            mark = "'" if text.endswith("s") else "'s"
            owned = tuple(use + ("'" if use.endswith("s") else "'s") for use in uses)
            yield text + mark, Form(item, "possessive", owned, ())


def compile_entries(entries: Iterable[Entry], keep: Iterable[str] = ()) -> PhraseIndex[Form]:
    """An index of all forms; ``keep`` phrases match too, as forms of an entry without category."""
    index: PhraseIndex[Form] = PhraseIndex()
    for item in entries:
        for text, form in surface_forms(item):
            index.add(text, form)
    for phrase in keep:
        index.add(phrase, Form(_KEEP, "base", (), ()))
    return index


_KEEP = Entry("", category="keep")


class SubstitutionChecker:
    """Finds the phrases of an index in one walk a sentence; it needs no memory."""

    stateless = True

    def __init__(self, index: PhraseIndex[Form], message: str | None = None) -> None:
        self._index = index
        self._message = message
        self.triggers: frozenset[str] | None = index.triggers

    def phrases(self) -> Iterator[tuple[str, ...]]:
        """The phrases as tokens: a text without them has no finding."""
        return (parts for parts, form in self._index.items() if form.entry is not _KEEP)

    def sentence(self, sentence: Sentence) -> Iterable[Hit]:
        def accept(form: Form, at: int, end: int) -> bool:
            return form.entry is _KEEP or fits(form, sentence, at, end)

        return [
            self._hit(form, sentence, at, end)
            for form, at, end in self._index.find(sentence, accept)
            if form.entry is not _KEEP
        ]

    def finish(self, document: Document) -> Iterable[Hit]:  # noqa: ARG002 - the protocol's form
        return ()

    def _hit(self, form: Form, sentence: Sentence, at: int, end: int) -> Hit:
        start, stop = sentence.tokens[at].start, sentence.tokens[end - 1].end
        bad = sentence.text[start - sentence.start : stop - sentence.start]
        item = form.entry
        uses = form.participles if _is_participle(form, sentence, at) else form.uses
        words = [match_case(bad, use) for use in uses]
        good = words[0] if words else None
        edits: tuple[Edit, ...] = ()
        if good and item.fix:
            article = article_edit(sentence, at, good)
            edits = (*((article,) if article else ()), Edit(start, stop, good))
        elif good == "" and item.fix:
            edits = removal(sentence, at, end)
        safe = item.safe == "true" or (
            item.safe == "determiner" and after(sentence, end) in DETERMINERS
        )
        if good == "" and end - at > 1 and not _is_apart(sentence, at):
            safe = False
        return Hit(
            start,
            stop,
            self._text(item, " ".join(bad.split()), words),
            good or item.advice or "Remove it.",
            edits,
            Safety.SAFE if safe else Safety.UNSAFE,
        )

    def _text(self, item: Entry, bad: str, words: list[str]) -> str:
        good = [word for word in words if word]
        instead = f"Write {' or '.join(repr(word) for word in good)}." if good else ""
        if not good:
            instead = item.advice or "Remove it."
        elif item.advice:
            instead = f"{instead} {item.advice}"
        if self._message is not None:
            return self._message.replace("{bad}", bad).replace("{good}", good[0] if good else "")
        return f"{_FAULT.get(item.category, _FAULT[''])} {instead}".replace("{bad}", bad)


_FAULT = {
    "modal": "The word '{bad}' can mean a duty, a permission or a guess.",
    "hedge": "The word '{bad}' does not give a clear fact.",
    "vague-quantity": "The word '{bad}' does not give an exact quantity.",
    "wordy": "'{bad}' is not the shortest term.",
    "synonym": "Do not use '{bad}'.",
    "filler": "'{bad}' gives no information.",
    "": "Do not use '{bad}'.",
}


def _is_apart(sentence: Sentence, at: int) -> bool:
    """Whether a phrase starts a clause: in ``(except as noted above)`` it cannot go away."""
    return is_first_word(sentence, at) or before(sentence, at) in _CLAUSE_STARTS


def _is_participle(form: Form, sentence: Sentence, at: int) -> bool:
    if not form.participles:
        return False
    last = before(sentence, at)
    if last == "not" or last.endswith("ly"):
        last = before(sentence, at - 1)
    return last in BE or last in _HAVE


def fits(form: Form, sentence: Sentence, at: int, end: int) -> bool:
    """Whether the neighbours of a match say that the entry is meant."""
    item = form.entry
    if item.not_after and before(sentence, at) in item.not_after:
        return False
    following = after(sentence, end)
    if item.not_before and following in item.not_before:
        return False
    if item.after and before(sentence, at) not in item.after:
        return False
    if item.before and following not in item.before:
        return False
    if item.initial and not is_first_word(sentence, at):
        return False
    if item.reading and not is_verb(sentence, at, end, form.form):
        return False
    if item.modal and _is_month_or_noun(sentence, at, end):
        return False
    if item.category not in ("", "modal") and is_keyword(sentence, at):
        return False
    if item.before_ing and not following.endswith("ing"):
        return False
    if item.before_number and not _is_number(sentence, end):
        return False
    return not (part_of_name(sentence, at) or in_quotes(sentence, at))


def _is_number(sentence: Sentence, at: int) -> bool:
    return at < len(sentence.tokens) and sentence.tokens[at].kind is Kind.NUMBER


def _is_month_or_noun(sentence: Sentence, at: int, end: int) -> bool:
    """``May 5``, ``in May``, ``the May release``: no modal verb."""
    if _is_number(sentence, end):
        return True
    text = sentence.tokens[at].text
    return text == "May" and (not is_first_word(sentence, at) or after(sentence, end) in _MONTH)


def is_phrase(text: str) -> bool:
    """Whether there is anything in this phrase that could match."""
    return bool(elements(text))
