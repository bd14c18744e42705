"""One meaning, one word: the engine under ``synonym-consistency`` and ``Consistency``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from steguard.rules._words import (
    BE,
    DETERMINERS,
    after,
    article_edit,
    before,
    in_quotes,
    is_verb,
    part_of_name,
)
from steguard.text.inflect import match_case, verb_forms, word_set
from steguard.text.model import Document, Kind, Sentence
from steguard.text.phraseindex import PhraseIndex
from steguard.types import Edit, Hit, Safety

_OBJECT_LENGTH = 6
_CLAUSE_VERBS = frozenset(["make sure", "make certain"])
_NO_OBJECT = word_set(
    "to of in on at for from with by as if when while and or but that which is are was were it "
    "them this these those one all"
)


@dataclass(frozen=True, slots=True)
class Member:
    """A surface form of a word, and the groups it belongs to.

    A ``verb`` counts only where it is clearly one; another word counts everywhere.
    """

    base: str
    form: str
    groups: tuple[int, ...]
    verb: bool


@dataclass(frozen=True, slots=True)
class Groups:
    """Compiled groups: the phrases, and which of the groups ask for the same object."""

    index: PhraseIndex[Member]
    by_object: frozenset[int]
    better: Mapping[str, str]


def compile_groups(
    strict: Iterable[Sequence[str]],
    by_object: Iterable[Sequence[str]] = (),
    *,
    verbs: frozenset[str] = frozenset(),
    better: Mapping[str, str] | None = None,
) -> Groups:
    """Groups of phrases in all their forms; ``verbs`` must be clear verbs to count.

    ``better`` maps a word that no text must use to the word of its group that it must.
    """
    groups = [*strict]
    first_object = len(groups)
    groups.extend(by_object)
    member_of: dict[str, list[int]] = {}
    for number, group in enumerate(groups):
        for word in group:
            member_of.setdefault(word.lower(), []).append(number)
    index: PhraseIndex[Member] = PhraseIndex()
    for word, numbers in member_of.items():
        for name, text in verb_forms(word).items():
            index.add(text, Member(word, name, tuple(numbers), word in verbs))
    return Groups(index, frozenset(range(first_object, len(groups))), better or {})


class ConsistencyChecker:
    """Remembers the first word of each group; a later different one is a hit."""

    def __init__(self, groups: Groups, message: str | None = None) -> None:
        self._groups = groups
        self._message = message or (
            "For this meaning use '{good}' in the whole text. Use one word for one meaning."
        )
        self._terms: dict[tuple[int, str], str] = {}
        self.triggers: frozenset[str] | None = groups.index.triggers

    def members(self) -> Iterator[tuple[tuple[str, ...], Member]]:
        """Each form as its tokens: a text with one word of each group has no finding."""
        return self._groups.index.items()

    @property
    def by_object(self) -> frozenset[int]:
        """The numbers of the groups that count only for the same object."""
        return self._groups.by_object

    def sentence(self, sentence: Sentence) -> Iterator[Hit]:
        def accept(member: Member, at: int, end: int) -> bool:
            if member.verb and not _is_clear_verb(member, sentence, at, end):
                return False
            return not (part_of_name(sentence, at) or in_quotes(sentence, at))

        for member, at, end in self._groups.index.find(sentence, accept):
            term = self._term(member, sentence, end)
            if term is not None:
                yield self._hit(member, term, sentence, at, end)

    def finish(self, document: Document) -> Iterable[Hit]:  # noqa: ARG002 - the protocol's form
        return ()

    def _term(self, member: Member, sentence: Sentence, end: int) -> str | None:
        """The word that the text used before for this meaning, if it is another one."""
        thing: str | None = None
        found: str | None = None
        for group in member.groups:
            if group in self._groups.by_object:
                if thing is None:
                    thing = _object(sentence, end)
                if not thing:
                    continue
                key = (group, thing)
            else:
                key = (group, "")
            term = self._terms.setdefault(key, member.base)
            if term != member.base and found is None:
                found = term
        return found

    def _hit(self, member: Member, term: str, sentence: Sentence, at: int, end: int) -> Hit:
        start, stop = sentence.tokens[at].start, sentence.tokens[end - 1].end
        bad = sentence.text[start - sentence.start : stop - sentence.start]
        wanted = self._groups.better.get(term, term)
        if wanted == member.base:
            return Hit(
                start,
                stop,
                f"This text uses '{term}' and '{wanted}' for one meaning. Use only '{wanted}'.",
                f"Write '{wanted}' in both places.",
            )
        term = wanted
        if self._asks_for_clause(term, member, sentence, end):
            return Hit(
                start,
                stop,
                self._message.replace("{good}", term).replace("{bad}", bad),
                f"Write '{term} that' and say what must be true.",
            )
        form = verb_forms(term)[member.form]
        if member.form == "past" and _after_be(sentence, at):
            form = verb_forms(term)["participle"]
        good = match_case(bad, form)
        article = article_edit(sentence, at, good)
        edits = (*((article,) if article else ()), Edit(start, stop, good))
        message = self._message.replace("{good}", term).replace("{bad}", bad)
        return Hit(start, stop, message, good, edits, Safety.UNSAFE)

    @staticmethod
    def _asks_for_clause(term: str, member: Member, sentence: Sentence, end: int) -> bool:
        """``make sure`` cannot take the object of ``confirm the price``."""
        if term not in _CLAUSE_VERBS or member.base in _CLAUSE_VERBS:
            return False
        return not member.base.endswith(" that") and after(sentence, end) != "that"


def _after_be(sentence: Sentence, at: int) -> bool:
    last = before(sentence, at)
    if last == "not" or last.endswith("ly"):
        last = before(sentence, at - 1)
    return last in BE or last in ("has", "have", "had")


def _is_clear_verb(member: Member, sentence: Sentence, at: int, end: int) -> bool:
    if member.form in ("past", "participle"):
        if _after_be(sentence, at):
            return True
        return before(sentence, at) not in DETERMINERS and (
            after(sentence, end) in DETERMINERS or " " in member.base
        )
    if member.form == "ing":
        return after(sentence, end) in DETERMINERS or before(sentence, at) in BE
    if member.base == "confirm that" and before(sentence, at) in ("i", "we"):
        return False  # The speaker says that it is true; nobody has to make sure.
    return is_verb(sentence, at, end, member.form)


def _object(sentence: Sentence, at: int) -> str:
    """The head noun after a verb: the last word of the noun phrase that starts here."""
    head = ""
    tokens = sentence.tokens
    for index in range(at, min(at + _OBJECT_LENGTH, len(tokens))):
        token = tokens[index]
        if token.kind is Kind.CODE:
            return token.lower
        if token.kind is not Kind.WORD or token.lower in _NO_OBJECT or token.lower in BE:
            break
        if token.lower in DETERMINERS:
            if head:
                break
            continue
        head = token.lower
    return head[:-1] if head.endswith("s") and not head.endswith("ss") else head
