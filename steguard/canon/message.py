"""Messages: an envelope and a payload in one document.

Fields: ``canon-message from to msg_id action subject`` are required; ``payload within reply_to if``
are not. Agents and message ids are ASCII, the action is a verb of the lexicon in lower case, the
subject a name. A message never replies to itself. The payload is a mapping; ``[name]`` in it is a
placeholder and ``<int>`` a type, both reported as not filled in. A schema of the subject (the
``registry``) makes types of its texts; without one, a field that the lexicon knows must be text of
its type, and stays text.

Findings that are no errors: an answer (``report confirm reject retry cancel complete fail``)
without ``reply_to``, a value that is not filled in, ``canon-message`` in another place than the
first, a vague word in plain text, ``fail`` without ``reason``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from steguard.canon.chars import unescape
from steguard.canon.condition import read_condition
from steguard.canon.document import Document, parse_document, parse_documents
from steguard.canon.envelope import CODES, Envelope, field_faults
from steguard.canon.lexicon import KEYWORDS, Lexicon, core
from steguard.canon.model import ADDRESS, MAX_NAME, Message, Within
from steguard.canon.problems import CanonFinding, Problem
from steguard.canon.surfaces import surface
from steguard.canon.times import BadTime, is_odd, read_within
from steguard.types import Severity


class Registry(Protocol):
    """What knows the schemas of subjects (see :mod:`steguard.canon.registry`)."""

    def check(self, message: Message) -> tuple[Message, Sequence[Problem]]:
        """The message with a typed payload, and what is wrong with it, by path."""


@dataclass(frozen=True, slots=True)
class ParseResult:
    """What a text is: the message, or None where a finding is an error."""

    message: Message | None
    findings: tuple[CanonFinding, ...] = ()
    known: Mapping[str, Any] | None = None

    @property
    def envelope(self) -> Mapping[str, Any]:
        """The fields of the envelope that could be read, by their names in the text.

        With them an answer can be made even where there is no message.
        """
        return self.known or ({} if self.message is None else self.message.envelope())

    @property
    def ok(self) -> bool:
        return self.message is not None


def parse_message(
    text: str,
    *,
    lexicon: Lexicon | None = None,
    registry: Registry | None = None,
    language: str = "en",
) -> ParseResult:
    """The one message in the text, with every fault of it.

    >>> result = parse_message(text)
    >>> result.message.subject
    'inventory_check'

    Text with two messages is refused; :func:`parse_messages` reads a stream.
    """
    words = lexicon or core()
    if language == "en":
        quick = _quick(text, words)
        if quick is not None and registry is None:
            if not words.fields or not any(field_faults(quick.payload, words)):
                return ParseResult(quick)
        elif quick is not None and registry is not None:
            typed, problems = registry.check(quick)
            if not problems:
                return ParseResult(typed)
    return _checked(parse_document(text), words, registry, language)


def parse_messages(
    text: str,
    *,
    lexicon: Lexicon | None = None,
    registry: Registry | None = None,
    language: str = "en",
) -> list[ParseResult]:
    """Every message of a stream, split at lines ``---``. A ``msg_id`` seen before is an error."""
    words = lexicon or core()
    made: list[ParseResult] = []
    seen: dict[str, int] = {}
    for document in parse_documents(text):
        one = _checked(document, words, registry, language)
        msg_id = one.envelope.get("msg_id")
        if msg_id in seen:
            why = f"the msg_id '{msg_id}' stands first in line {seen[msg_id]}"
            own = _own_key("msg_id", language)
            fault = Problem(
                (own,), CODES["duplicate-msg-id"], "duplicate-msg-id", why, "Write a new id."
            )
            one = ParseResult(None, (*one.findings, document.finding(fault)), one.known)
        elif isinstance(msg_id, str):
            seen[msg_id] = document.node((_own_key("msg_id", language),)).line
        made.append(one)
    return made


def _own_key(key: str, language: str) -> str:
    return surface(language).keys.get(key, key)


def _checked(
    document: Document, lexicon: Lexicon, registry: Registry | None, language: str
) -> ParseResult:
    envelope = Envelope(document.root, lexicon, surface(language), typed=registry is None)
    lost = None if document.ok else [one.sentence for one in document.findings]
    message = envelope.message(lost)
    problems: list[Problem] = list(envelope.problems)
    wrong = not document.ok or any(one.severity is Severity.ERROR for one in problems)
    if message is not None and registry is not None and not wrong:
        message, more = registry.check(message)
        problems.extend(more)
        wrong = any(one.severity is Severity.ERROR for one in more)
    found = [*document.findings, *(document.finding(one) for one in problems)]
    found.sort(key=lambda one: (one.start, one.code))
    return ParseResult(None if wrong else message, tuple(found), envelope.known)


# ---- the quick path: a right message in its usual spelling; anything else is read node by node

# Ranges of ASCII characters are a bitmap to `re`, and much faster than \w in a class.
_WIDE = r"\u3001-\u3029\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uff01-\uff5e"
_CHARS = rf'[ !"$-9;-Z\\^_a-z|~@{_WIDE}]'
_LINES = re.compile(
    r"^(  |)([A-Za-z_][0-9A-Za-z_-]*+):(?: (?:"
    rf"((?:[0-9A-Za-z_/.+({_WIDE}]|-(?=[0-9])){_CHARS}*+(?::(?! ){_CHARS}++)*+)(?<! )"
    rf'|"((?:[ !#-\[\]-~{_WIDE}]++|\\["\\/bfnrt])++)")|)\n',
    re.M,
).findall
_ADDRESS = re.compile(ADDRESS).fullmatch
_SUBJECT = re.compile(r"[A-Za-z_][0-9A-Za-z_]*").fullmatch
_FEW = 1000


def _quick(text: str, lexicon: Lexicon) -> Message | None:
    """The message; None where it is not in the usual spelling, wrong, or worth a finding."""
    if text[-1:] != "\n":
        text += "\n"
    lines = _LINES(text)
    if len(lines) != text.count("\n"):
        return None
    fields: dict[str, str] = {}
    payload: dict[str, Any] = {}
    inside = False
    for indent, key, plain, quoted in lines:
        if indent:
            if not inside or not (plain or quoted):
                return None
            payload[key] = plain or unescape(quoted)
            if (" " in plain or not plain.isascii()) and lexicon.forbidden_in(plain):
                return None
        elif plain:
            fields[key] = plain
            inside = False
        elif key == "payload" and not quoted:
            inside = True
        else:
            return None
    count = len(fields) + len(payload) + (1 if payload else 0)
    if (
        lines[0][1] != "canon-message"
        or count != len(lines)
        or (len(text) > _FEW and _too_long(lines))
    ):
        return None
    return _quick_message(fields, payload, lexicon)


def _quick_message(
    fields: dict[str, str], payload: dict[str, Any], lexicon: Lexicon
) -> Message | None:
    take = fields.pop
    version = lexicon.versions.get(take("canon-message", ""))
    sender, recipient, msg_id = take("from", ""), take("to", ""), take("msg_id", "")
    verb = lexicon.verbs.get(take("action", ""))
    subject = take("subject", "")
    limit, reply_to, condition = take("within", None), take("reply_to", None), take("if", None)
    if (
        fields
        or version is None
        or verb is None
        or not _SUBJECT(subject)
        or subject in KEYWORDS
        or not (_ADDRESS(sender) and _ADDRESS(recipient) and _ADDRESS(msg_id))
        or (verb.answers if reply_to is None else reply_to == msg_id or not _ADDRESS(reply_to))
        or (verb.name == "fail" and "reason" not in payload)
    ):
        return None
    made = {
        "version": version,
        "sender": sender,
        "recipient": recipient,
        "msg_id": msg_id,
        "action": verb.name,
        "subject": subject,
        "payload": payload,
        "within": None,
        "reply_to": reply_to,
        "condition": None,
    }
    if limit is not None:
        made["within"] = _quick_limit(limit)
        if made["within"] is None:
            return None
    if condition is not None:
        made["condition"], problems = read_condition(condition)
        if problems:
            return None
    return Message.built(made)


def _quick_limit(text: str) -> Within | None:
    try:
        return None if is_odd(text) else read_within(text)
    except BadTime:
        return None


def _too_long(lines: Sequence[tuple[str, str, str, str]]) -> bool:
    """Whether a plain value or a name may be over its limit."""
    return any(len(key) > MAX_NAME or len(plain) > MAX_NAME for _, key, plain, _ in lines)
