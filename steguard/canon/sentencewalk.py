"""Walks over the words of a sentence along its template and explains what does not fit."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from typing import Any

from steguard.canon import chars
from steguard.canon.model import (
    Ack,
    Conditional,
    Decision,
    Duty,
    Failure,
    Notice,
    Query,
    Report,
    Request,
    Sentence,
)
from steguard.canon.problems import near
from steguard.canon.sentenceslots import SHOWN, Slots
from steguard.canon.sentencewords import MAX_SENTENCE, Stop, Token, short
from steguard.canon.surfaces import Element, Optional, Slot, Template, Word
from steguard.types import Severity

_HEAD = re.compile(r"([^\W\d]\w*)([:：])(.*)", re.S)


class Walk(Slots):
    """One text, read as one sentence."""

    def whole(self) -> Sentence | None:
        """The sentence; None where the words do not fit."""
        if len(self.text) > MAX_SENTENCE:
            why = f"the sentence has more than {MAX_SENTENCE} characters"
            self._add(0, len(self.text), "sentence-too-long", why)
            return None
        self._check_characters()
        if self.problems:
            return None
        made = None
        with contextlib.suppress(Stop):
            made = self._sentence(inside=False)
        self._check_words()
        return made

    def _sentence(self, *, inside: bool) -> Sentence:
        self._skipped = []
        kind, template = self._kind(inside)
        slots: dict[str, Any] = {}
        self._walk(template, slots)
        if self._at < len(self._tokens):
            raise self._unexpected((*self._skipped, "end"))
        return _BUILD[kind](slots)

    def _kind(self, inside: bool) -> tuple[str, Template]:
        surface = self._surface
        first = self._now
        if first is None:
            raise self._unexpected(self._starts(inside))
        opening = surface.sentences["conditional"][0]
        if isinstance(opening, Word) and first.text == opening.text:
            if inside:
                hint = "Join the conditions with 'and'."
                raise self._fail(first, "sentence-syntax", "'if' stands inside an 'if'", hint)
            return "conditional", surface.sentences["conditional"]
        self._split_head()
        head = self._now
        assert head is not None
        if head.text[-1] in ":：":
            return self._headed(head)
        if self._is_modal(self._at) or self._is_modal(self._at + 1):
            return "duty", surface.sentences["duty"]
        verb = self._verbs.get(head.text)
        if verb is not None and (inside or verb in self._lexicon.imperatives):
            return "request", surface.sentences["request"]
        raise self._no_start(head, inside)

    def _split_head(self) -> None:
        """Make ``report:x`` two words and find the colon that stands alone."""
        first = self._tokens[self._at]
        found = _HEAD.fullmatch(first.text)
        if found is not None and found[3] and found[1] in self._surface.heads:
            middle = first.start + found.end(2)
            self._tokens[self._at : self._at + 1] = [
                Token(first.text[: found.end(2)], first.start, middle),
                Token(found[3], middle, first.end),
            ]

    def _headed(self, head: Token) -> tuple[str, Template]:
        known = self._surface.heads.get(head.text[:-1])
        if known is None:
            raise self._unknown_head(head)
        kind, template, alias = known
        if head.text[-1] == "：" and self._surface.language == "en":
            why = f"{chars.describe('：')} is no ':'"
            raise self._fail(head, "unknown-pattern", why, f"Write '{head.text[:-1]}:'.")
        if alias:
            usual = show(self._surface.sentences[kind])
            self._add(
                head.start,
                head.end,
                "usual-form",
                f"the usual form is '{usual}'",
                f"Write '{usual}'.",
                severity=Severity.WARNING,
            )
        return kind, template

    def _walk(self, elements: Template | tuple[Word | Slot, ...], slots: dict[str, Any]) -> None:
        for index, element in enumerate(elements):
            token = self._now
            if isinstance(element, Word):
                if index == 0 and element.text[-1] in ":：":
                    self._at += 1
                    continue
                if token is None or token.text != element.text:
                    raise self._unexpected((*self._skipped, element.text))
                self._at += 1
                self._skipped = []
            elif isinstance(element, Slot):
                slots[element.name] = self._slot(element.name, elements[index + 1 :])
                self._skipped = []
            elif self._opens(element):
                self._walk(element.parts, slots)
            else:
                first = element.parts[0]
                self._skipped.append(first.text if isinstance(first, Word) else first.name)

    def _opens(self, element: Optional) -> bool:
        first = element.parts[0]
        if isinstance(first, Word):
            return self._now is not None and self._now.text == first.text
        return not self._is_modal(self._at)

    def _slot(self, name: str, after: tuple[Element, ...]) -> Any:
        if name == "condition":
            return self._condition(after[0])
        if name == "sentence":
            return self._sentence(inside=True)
        if name == "params":
            return self._params()
        if name == "time":
            return self._time()
        if name == "modal":
            return self._modal()
        token = self._now
        if token is None:
            raise self._unexpected((SHOWN.get(name, name),))
        self._at += 1
        if name == "verb":
            return self._verb(token)
        if name == "actor" and token.text in self._verbs:
            why = f"the verb '{token.text}' stands where an actor is expected"
            raise self._fail(token, "reserved-word", why, "Write who does it, or nothing.", (name,))
        if name == "message_id":
            return self._address(token)
        if name in ("value", "option", "reason"):
            return self._value(token.text, token.start)
        return self._name(token, name)

    def _starts(self, inside: bool) -> tuple[str, ...]:
        verbs = (
            self._verbs
            if inside
            else [own for own, name in self._verbs.items() if name in self._lexicon.imperatives]
        )
        heads = [f"{head}:" for head, known in self._surface.heads.items() if not known[2]]
        opening = self._surface.sentences["conditional"][0]
        return (*verbs, *heads, *([] if inside else [getattr(opening, "text", "")]))

    def _no_start(self, head: Token, inside: bool) -> Stop:
        text = head.text
        verb = self._verbs.get(text)
        starts = self._starts(inside)
        if verb is not None or text in self._surface.heads:
            pattern = self._lexicon.verbs[verb].pattern if verb is not None else text
            kind = self._surface.heads[text][0] if text in self._surface.heads else pattern
            usual = show(self._surface.sentences[kind])
            why = f"a sentence does not start with '{text}' alone"
            return self._fail(head, "sentence-syntax", why, f"Write '{usual}'.", (usual,))
        small = text.lower()
        if small in self._verbs or small.rstrip(":") in self._surface.heads or small == "if":
            why = f"'{text}' is not in small letters"
            return self._fail(head, "unknown-verb", why, f"Write '{small}'.", (small,))
        after = self._tokens[self._at + 1].text if self._at + 1 < len(self._tokens) else ""
        if after == ":":
            return self._fail(head, "unknown-pattern", "a blank stands before ':'", "Take it out.")
        why = f"'{short(text)}' is no verb and starts no pattern"
        hint = near(text, starts) or "Start with a verb of the lexicon."
        return self._fail(head, "unknown-verb", why, hint, starts)

    def _unknown_head(self, head: Token) -> Stop:
        word = head.text[:-1]
        heads = tuple(f"{one}:" for one, known in self._surface.heads.items() if not known[2])
        verb = self._lexicon.verbs.get(self._verbs.get(word.lower(), word.lower()))
        hint = near(f"{word}:", heads) or "Write one of the patterns."
        if word.lower() in self._surface.heads:
            hint = f"Write '{word.lower()}:' in small letters."
        elif verb is not None:
            hint = f"Write '{show(self._surface.sentences[verb.pattern])}'."
        why = f"'{short(head.text)}' is no pattern"
        return self._fail(head, "unknown-pattern", why, hint, heads)


def _request(slots: Mapping[str, Any]) -> Request:
    return Request(
        slots["target"],
        slots.get("params", ()),
        slots.get("within", slots.get("time")),
        slots["verb"],
    )


_BUILD: dict[str, Callable[[Mapping[str, Any]], Sentence]] = {
    "request": _request,
    "report": lambda s: Report(s["subject"], s["value"]),
    "query": lambda s: Query(s["attribute"], s["subject"]),
    "decision": lambda s: Decision(s["option"]),
    "notice": lambda s: Notice(s["event"]),
    "ack": lambda s: Ack(s["message_id"]),
    "error": lambda s: Failure(s["task"], s["reason"]),
    "duty": lambda s: Duty(s["modal"], _request(s), s.get("actor")),
    "conditional": lambda s: Conditional(s["condition"], s["sentence"]),
}


def show(template: Template) -> str:
    """A template as a reader writes it: ``error: ACTION failed because REASON``."""
    shown: list[str] = []
    for element in template:
        if isinstance(element, Word):
            shown.append(element.text)
        elif isinstance(element, Slot):
            shown.append(SHOWN.get(element.name, element.name).replace(" ", "_").upper())
    return " ".join(shown)
