"""One text, one verdict: whatever kind of Canon it is.

>>> verdict = judge(text)
>>> verdict.kind, verdict.ok, verdict.findings
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

from steguard.canon.document import parse_document, parse_documents
from steguard.canon.exchange import Exchange
from steguard.canon.lexicon import Lexicon, core
from steguard.canon.message import ParseResult, parse_message, parse_messages
from steguard.canon.model import FIELDS, Message, Placeholder, TypeRef, Version, Within
from steguard.canon.nodes import Fields, Items, Scalar
from steguard.canon.payload import to_json
from steguard.canon.problems import CanonFinding
from steguard.canon.prompt import parse_prompt
from steguard.canon.registry import Registry
from steguard.canon.render import message_json
from steguard.canon.sentence import parse_sentences
from steguard.canon.surfaces import surface
from steguard.canon.translate import language_of
from steguard.canon.types import parse_type
from steguard.types import Severity

Kind = Literal["message", "prompt", "sentence"]
KINDS: tuple[Kind, ...] = ("message", "prompt", "sentence")

_PROMPT_KEYS = frozenset(("role", "task", "input", "guardrail", "output_format", "max_words"))
_HEADER = re.compile(r"^\W*canon[-_ ]?(message|prompt)\b", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True)
class Verdict:
    """What was found, and what was read: ``values`` has one entry a message or sentence."""

    kind: Kind
    findings: tuple[CanonFinding, ...]
    values: tuple[Any, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no finding is an error."""
        return all(f.severity is not Severity.ERROR for f in self.findings)

    @property
    def errors(self) -> int:
        return sum(f.severity is Severity.ERROR for f in self.findings)


def kind_of(text: str) -> Kind:
    """The kind that a text most likely is: by its header, else by its fields or its lines."""
    found = _HEADER.search(text)
    if found:
        return "prompt" if found[1].lower() == "prompt" else "message"
    lines = [line.lstrip("\ufeff") for line in text.splitlines() if line.strip()]
    heads = {line.partition(":")[0].strip() for line in lines if ":" in line}
    if len(heads & _PROMPT_KEYS) > 1:
        return "prompt"
    own = surface(language_of(text)).keys.values()
    message = not lines or len(heads & {*FIELDS, *own}) > 1
    return "message" if message else "sentence"


def judge(
    text: str,
    kind: Kind | None = None,
    *,
    registry: Registry | None = None,
    lexicon: Lexicon | None = None,
    log: Exchange | None = None,
    stream: bool = False,
    language: str | None = None,
) -> Verdict:
    """The verdict on a text. Never raises for what the text holds.

    ``log`` is an exchange that has seen the messages before this one, and remembers this one if it
    is valid. ``stream`` reads more than one message, divided by ``---``. ``language`` is that of
    the keywords; without it the text decides.
    """
    spoken = language or language_of(text)
    kind = kind or kind_of(text)
    if kind == "prompt":
        prompt = parse_prompt(text, lexicon=lexicon)
        return Verdict(kind, prompt.findings, (prompt.prompt,) if prompt.prompt else ())
    if kind == "sentence":
        read = parse_sentences(text, lexicon=lexicon, language=spoken)
        findings = [f for one in read for f in one.findings]
        if not read:
            findings = [f for f in parse_document(text).findings if f.rule == "empty-document"]
        return Verdict(kind, tuple(findings), tuple(one.sentence for one in read if one.sentence))
    parsed = _parsed(text, registry, lexicon or core(), spoken, stream)
    findings = [f for one in parsed for f in one.findings if not _is_list(f, one.message)]
    if registry is not None and not stream and parsed[0].message is None:
        findings += _payload_findings(text, parsed[0], registry)
        findings.sort(key=lambda f: (f.start, f.code))
    if log is not None:
        findings += _against(text, parsed, log, stream)
        findings.sort(key=lambda f: (f.start, f.code))
    return Verdict(kind, tuple(findings), tuple(one.message for one in parsed if one.message))


def _parsed(
    text: str, registry: Registry | None, lexicon: Lexicon, language: str, stream: bool
) -> Sequence[ParseResult]:
    options: dict[str, Any] = {"registry": registry, "lexicon": lexicon, "language": language}
    if stream:
        return parse_messages(text, **options)
    return [parse_message(text, **options)]


def _is_list(found: CanonFinding, message: Message | None) -> bool:
    """Whether a placeholder is none, because the schema reads ``[x]`` as a list of one."""
    if found.rule != "not-filled" or message is None or found.pointer is None:
        return False
    name = found.pointer.removeprefix("/payload/")
    return isinstance(message.payload.get(name), list)


def _payload_findings(text: str, parsed: ParseResult, registry: Registry) -> list[CanonFinding]:
    """What the schema says of a payload whose envelope is wrong, so that all is told at once."""
    known = parsed.envelope
    document = parse_document(text)
    node = document.root.get("payload")
    told = any(f.pointer and f.code.startswith("CAN5") for f in parsed.findings)
    if told or "action" not in known or "subject" not in known:
        return []
    if not document.ok or not isinstance(node, Fields | None):
        return []
    fields = {"action": known["action"], "subject": known["subject"]}
    payload = {entry.key.text: _data(entry.value) for entry in node or ()}
    typed = registry.read(Message.built({**fields, "payload": payload}))
    return [document.finding(problem) for problem in typed.problems]


def _data(node: Any) -> Any:
    if isinstance(node, Items) and node.placeholder is not None:
        return Placeholder(node.placeholder)
    if isinstance(node, Scalar) and node.style == "plain":
        kind = parse_type(node.text)
        return kind if isinstance(kind, TypeRef) else node.text
    return node.data()


def _against(
    text: str, parsed: Sequence[ParseResult], log: Exchange, stream: bool
) -> list[CanonFinding]:
    """What does not fit the messages before."""
    documents = parse_documents(text) if stream else [parse_document(text)]
    found = []
    for document, one in zip(documents, parsed, strict=False):
        if one.message is not None:
            problems = log.repeated(one.message) or log.correlate(one.message)
            found += [document.finding(problem) for problem in problems]
            if not any(problem.severity is Severity.ERROR for problem in problems):
                log.remember(one.message)
    return found


def tree(value: Any) -> Any:
    """A sentence, a condition or a message as JSON data; each part says its ``type``."""
    if isinstance(value, Message):
        return {**message_json(value), **({"if": tree(value.condition)} if value.condition else {})}
    if isinstance(value, Version | Within | Placeholder | TypeRef):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        parts = {f.name: tree(getattr(value, f.name)) for f in fields(value)}
        return {"type": type(value).__name__.lower(), **parts}
    if isinstance(value, tuple | list):
        return [tree(item) for item in value]
    if isinstance(value, dict):
        return {key: tree(item) for key, item in value.items()}
    return to_json(value) if isinstance(value, dt.date) else value
