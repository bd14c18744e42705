"""Checks the fields of a message in a document and makes the message of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from steguard.canon import chars
from steguard.canon.condition import read_condition
from steguard.canon.lexicon import KEYWORDS, Lexicon
from steguard.canon.model import (
    FIELDS,
    ID_HINT,
    MAX_NAME,
    Message,
    Placeholder,
    TypeRef,
    Version,
    is_address,
    is_name,
)
from steguard.canon.nodes import BAD, AnyNode, Entry, Fields, Items, Scalar
from steguard.canon.problems import Path, Problem, near
from steguard.canon.scalars import mixed_alphabets
from steguard.canon.surfaces import Surface
from steguard.canon.times import FORMS, BadTime, is_odd, read_within
from steguard.canon.types import Wrong, parse_type, read_value
from steguard.types import Severity

CODES = {
    "missing-field": "CAN201",
    "unknown-field": "CAN202",
    "bad-version": "CAN203",
    "version-not-read": "CAN204",
    "bad-address": "CAN205",
    "unknown-action": "CAN206",
    "bad-subject": "CAN207",
    "bad-payload": "CAN208",
    "self-reply": "CAN209",
    "bad-time": "CAN210",
    "not-text": "CAN211",
    "not-filled": "CAN212",
    "without-reply-to": "CAN213",
    "version-not-first": "CAN214",
    "without-reason": "CAN215",
    "vague-text": "CAN216",
    "duplicate-msg-id": "CAN217",
    "bad-type": "CAN219",
    "wrong-type": "CAN220",
    "no-message": "CAN221",
    "usual-form": "CAN311",
}

REQUIRED = FIELDS[:6]
_VARIABLE = re.compile(r"\$(?:[^\W\d]\w*|\{\w+\})")
_SLOT = re.compile(r"<[^<>]*>")


class Envelope:
    """The fields of one document. ``problems`` has the faults, ``known`` what could be read.

    ``typed`` says whether the payload is checked against the types of the lexicon's fields.
    """

    def __init__(
        self, root: Fields, lexicon: Lexicon, surface: Surface, *, typed: bool = True
    ) -> None:
        self.problems: list[Problem] = []
        self.known: dict[str, Any] = {}
        self._lexicon, self._surface, self._typed = lexicon, surface, typed
        self._entries: dict[str, Entry] = {}
        english = {own: key for key, own in surface.keys.items()}
        for entry in root:
            key = english.get(entry.key.text, entry.key.text)
            if key in self._entries:
                self._at(entry, "unknown-field", f"the field '{key}' stands here twice", at="key")
            self._entries.setdefault(key, entry)

    def message(self, lost: Iterable[str] | None = None) -> Message | None:
        """The message; None where a field is wrong.

        ``lost`` are the lines of a document that could not be read; a field in one is not missing.
        """
        if not any(key in FIELDS for key in self._entries):
            self._no_message()
            return None
        self._names(lost or ())
        fields: dict[str, Any] = {
            "version": self._version(),
            "sender": self._address("from"),
            "recipient": self._address("to"),
            "msg_id": self._address("msg_id"),
            "action": self._action(),
            "subject": self._subject(),
            "payload": self._payload(),
            "within": self._within(),
            "reply_to": self._address("reply_to"),
            "condition": self._condition(),
        }
        self._together(fields)
        if lost is not None or any(one.severity is Severity.ERROR for one in self.problems):
            return None
        return Message.built(fields)

    # ---- the names of the fields

    def _no_message(self) -> None:
        prompt = self._entries.get("canon-prompt")
        hint = f"Start with '{self._own('canon-message')}: {self._lexicon.version}'."
        expected = tuple(self._own(key) for key in REQUIRED)
        if prompt is not None:
            self._at(
                prompt, "no-message", "this is a prompt, not a message", hint, expected, at="key"
            )
        else:
            self._problem((), "no-message", "this is no Canon message", hint, expected)

    def _names(self, lost: Iterable[str]) -> None:
        hints = [
            self._unknown(key, entry) for key, entry in self._entries.items() if key not in FIELDS
        ]
        starts = [line.strip().strip("'\"") for line in lost]
        for key in REQUIRED:
            own = self._own(key)
            spelled_wrong = any(f"'{own}'" in hint for hint in hints)
            unread = any(line.startswith(own) for line in starts)
            if key not in self._entries and not spelled_wrong and not unread:
                why = f"the field '{own}' is missing"
                self.problems.append(
                    Problem(
                        (),
                        CODES["missing-field"],
                        "missing-field",
                        why,
                        f"Write '{own}: ...'.",
                        (own,),
                        at="end",
                    )
                )
        first = next(iter(self._entries), None)
        if first != "canon-message" and "canon-message" in self._entries:
            self._at(
                self._entries["canon-message"],
                "version-not-first",
                "the version stands first, because it says how to read the rest",
                "Put it into the first line.",
                at="key",
                severity=Severity.WARNING,
            )

    def _unknown(self, key: str, entry: Entry) -> str:
        """Report the field; the hint may name a field that is not missing, only misspelled."""
        known = tuple(self._own(name) for name in FIELDS)
        elsewhere = f"Put it below '{self._own('payload')}:', two blanks deeper, or take it out."
        hint = near(key, known) or elsewhere
        why = f"'{key}' is no field of a message"
        self._at(entry, "unknown-field", why, hint, known, at="key")
        return "" if hint is elsewhere else hint

    # ---- the fields

    def _version(self) -> Version | None:
        text = self._text("canon-message")
        if text is None:
            return None
        found = Version.parse(text)
        if found is None:
            bare = text.lower().lstrip("v")
            hint = f"Write 'v{bare}.0'." if re.fullmatch(r"[0-9]+", bare) else "Write 'v1.0'."
            if Version.parse(f"v{bare}"):
                hint = f"Write 'v{bare}'."
            self._field("canon-message", "bad-version", f"'{_short(text)}' is no version", hint)
        elif found not in self._lexicon.accepts:
            reads = ", ".join(str(one) for one in self._lexicon.accepts)
            self._field(
                "canon-message",
                "version-not-read",
                f"version {found} is not read here",
                f"This side reads {reads}: write one of them, or negotiate.",
                tuple(str(one) for one in self._lexicon.accepts),
            )
        else:
            self.known["canon-message"] = found
        return found

    def _address(self, key: str) -> str | None:
        text = self._text(key)
        if text is None:
            return None
        if is_address(text):
            self.known[key] = text
            return text
        what = "agent" if key in ("from", "to") else "message id"
        why, hint = f"'{_short(text)}' is no {what}", ID_HINT
        if len(text) > MAX_NAME:
            why, hint = f"the {what} has more than {MAX_NAME} characters", "Write a shorter one."
        elif odd := next((char for char in text if not char.isascii()), None):
            hint = f"Take out {chars.describe(odd)}: {ID_HINT[0].lower()}{ID_HINT[1:]}"
        elif " " in text:
            hint = "Write one word."
        self._field(key, "bad-address", why, hint)
        return None

    def _action(self) -> str | None:
        text = self._text("action")
        if text is None:
            return None
        verbs = self._lexicon.verbs_in(self._surface.language)
        if text in verbs:
            self.known["action"] = verbs[text]
            return verbs[text]
        hint = near(text, verbs)
        if text.lower() in verbs:
            hint = f"Write '{text.lower()}' in small letters."
        why = f"'{_short(text)}' is no verb of the lexicon '{self._lexicon.name}'"
        self._field(
            "action", "unknown-action", why, hint or f"Write {_either(verbs)}.", tuple(verbs)
        )
        return None

    def _subject(self) -> str | None:
        text = self._text("subject")
        if text is None:
            return None
        if is_name(text) and text not in KEYWORDS and not mixed_alphabets(text):
            self.known["subject"] = text
            return text
        hint = "Write one name of letters, digits and '_'."
        if text in KEYWORDS:
            hint = "A keyword is no name: write another one."
        elif " " in text:
            hint = f"Write '{'_'.join(text.split())}'."
        elif mixed_alphabets(text):
            hint = "It mixes two alphabets that look alike: write it in one."
        self._field("subject", "bad-subject", f"'{_short(text)}' is no subject", hint)
        return None

    def _payload(self) -> dict[str, Any]:
        entry = self._entries.get("payload")
        if entry is None or _bad(entry.value):
            return {}
        if not isinstance(entry.value, Fields):
            why = "the payload is a mapping of fields"
            self._at(entry, "bad-payload", why, "Write 'key: value' lines below it, deeper.")
            return {}
        made: dict[str, Any] = self._data(entry.value, (entry.key.text,))
        if self._typed:
            for name, why in field_faults(made, self._lexicon):
                self._problem((entry.key.text, name), "wrong-type", why, None)
        return made

    def _within(self) -> Any:
        text = self._text("within")
        if text is None:
            return None
        text = self._english_time(text)
        try:
            made = read_within(text)
        except BadTime as error:
            hint = error.suggestion
            vague = self._lexicon.forbidden_in(text)
            if vague is not None:
                hint = self._lexicon.advice(vague[0])[1]
            self._field("within", "bad-time", error.message, hint, FORMS)
            return None
        if is_odd(text):
            self._field(
                "within",
                "usual-form",
                "the usual form has no plural here",
                f"Write '{made}'.",
                severity=Severity.WARNING,
            )
        return made

    def _english_time(self, text: str) -> str:
        amount, blank, unit = text.partition(" ")
        for english, own in self._surface.units.items():
            if blank and unit == own and self._surface.language != "en":
                return f"{amount} {english}" + ("" if amount == "1" else "s")
        return text

    def _condition(self) -> Any:
        text = self._text("if")
        if text is None:
            return None
        made, problems = read_condition(text, self._surface.condition_words)
        for one in problems:
            self.problems.append(
                Problem(
                    (self._own("if"),),
                    one.code,
                    one.rule,
                    one.message,
                    one.suggestion,
                    one.expected,
                    one.severity,
                    "value",
                    one.start,
                    one.end,
                )
            )
        return made

    def _together(self, fields: Mapping[str, Any]) -> None:
        """What fields say about each other."""
        action, reply_to = fields["action"], fields["reply_to"]
        if reply_to is not None and reply_to == fields["msg_id"]:
            self._field(
                "reply_to",
                "self-reply",
                "a message never replies to itself",
                "Write the msg_id of the message that this one answers.",
            )
        verb = self._lexicon.verbs.get(action or "")
        if verb is not None and verb.answers and "reply_to" not in self._entries:
            self._at(
                self._entries["action"],
                f"{action}-without-reply-to",
                f"'{action}' answers a message, and 'reply_to' does not say which",
                "Write 'reply_to' with its msg_id.",
                code="without-reply-to",
                severity=Severity.WARNING,
            )
        if action == "fail" and "reason" not in fields["payload"]:
            self._at(
                self._entries["action"],
                "without-reason",
                "a failure gives its reason",
                "Write 'reason' in the payload.",
                severity=Severity.WARNING,
            )

    # ---- values

    def _text(self, key: str) -> str | None:
        """The text of a field; None where it is missing or wrong."""
        entry = self._entries.get(key)
        if entry is None or _bad(entry.value):
            return None
        value = entry.value
        if isinstance(value, Scalar) and value.text.strip():
            if value.style == "plain" and _SLOT.fullmatch(value.text):
                self._at(entry, "not-text", f"'{value.text}' is not filled in", "Write the value.")
                return None
            return value.text
        name = value.placeholder if isinstance(value, Items) else None
        if name is not None:
            self._at(entry, "not-text", f"'[{name}]' is not filled in", "Write the value.")
        elif isinstance(value, Scalar):
            self._at(entry, "not-text", f"'{entry.key.text}' is empty", "Write the value.")
        else:
            what = "list" if isinstance(value, Items) else "mapping"
            self._at(entry, "not-text", f"'{entry.key.text}' is a {what}", "Write one text.")
        return None

    def _data(self, node: AnyNode, path: Path) -> Any:
        if isinstance(node, Fields):
            return {
                entry.key.text: self._data(entry.value, (*path, entry.key.text)) for entry in node
            }
        if isinstance(node, Items):
            if node.placeholder is not None:
                self._not_filled(path, f"[{node.placeholder}]")
                return Placeholder(node.placeholder)
            return [self._data(item, (*path, index)) for index, item in enumerate(node.items)]
        if node.style == "plain":
            return self._plain(node.text, path)
        return node.text

    def _plain(self, text: str, path: Path) -> Any:
        if text[0] == "<" and _SLOT.fullmatch(text):
            kind = parse_type(text)
            if isinstance(kind, TypeRef):
                self._not_filled(path, text)
                return kind
            self._problem(path, "bad-type", str(kind), "Write a type, or quote the text.")
        elif text[0] == "$" and _VARIABLE.fullmatch(text):
            self._not_filled(path, text)
        elif (" " in text or not text.isascii()) and (
            found := self._lexicon.forbidden_in(text)
        ) is not None:
            advice = self._lexicon.advice(found[0])[1]
            self._problem(
                path,
                "vague-text",
                f"'{found[0]}' is not exact",
                f"{advice[:-1]}, or quote the text.",
                severity=Severity.WARNING,
                start=found.start(),
                end=found.end(),
            )
        return text

    def _not_filled(self, path: Path, text: str) -> None:
        self._problem(
            path,
            "not-filled",
            f"'{text}' is not filled in",
            "Write the value, or quote it if it is text.",
            severity=Severity.WARNING,
        )

    # ---- problems

    def _own(self, key: str) -> str:
        return self._surface.keys.get(key, key)

    def _field(
        self,
        key: str,
        rule: str,
        message: str,
        hint: str | None,
        expected: tuple[str, ...] = (),
        severity: Severity = Severity.ERROR,
    ) -> None:
        self._at(self._entries[key], rule, message, hint, expected, severity=severity)

    def _at(
        self,
        entry: Entry,
        rule: str,
        message: str,
        hint: str | None = None,
        expected: tuple[str, ...] = (),
        *,
        at: str = "value",
        code: str | None = None,
        severity: Severity = Severity.ERROR,
    ) -> None:
        self.problems.append(
            Problem(
                (entry.key.text,), CODES[code or rule], rule, message, hint, expected, severity, at
            )
        )

    def _problem(
        self,
        path: Path,
        rule: str,
        message: str,
        hint: str | None = None,
        expected: tuple[str, ...] = (),
        *,
        severity: Severity = Severity.ERROR,
        start: int | None = None,
        end: int | None = None,
    ) -> None:
        self.problems.append(
            Problem(path, CODES[rule], rule, message, hint, expected, severity, "value", start, end)
        )


def field_faults(payload: Mapping[str, Any], lexicon: Lexicon) -> Iterator[tuple[str, str]]:
    """The fields of a payload whose text is no value of the type that the lexicon gives them."""
    for name, value in payload.items():
        spec = lexicon.fields.get(name)
        if spec is not None and isinstance(value, str):
            read = read_value(value, spec.type)
            if isinstance(read, Wrong):
                yield name, str(read)


def _bad(node: AnyNode) -> bool:
    return isinstance(node, Scalar) and node.style == BAD


def _either(names: Iterable[str]) -> str:
    *most, last = list(names)
    return f"{', '.join(most)} or {last}" if most else last


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
