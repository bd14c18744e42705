"""One agent's side of a talk: what came in before, what answers what, what is late.

>>> exchange = Exchange("agent_b", registry=registry)
>>> received = exchange.receive(text)
>>> received.status            # "new", "duplicate" or "invalid"
>>> received.answer            # a ready fail message where something is wrong, else None
>>> exchange.send(reply(received.message, "report", {"available": 5}))

The memory is bounded: the oldest message is forgotten first, and an answer to a forgotten message
is an answer to an unknown one.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import logging
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from steguard.canon.document import parse_document
from steguard.canon.lexicon import Lexicon, core
from steguard.canon.message import parse_message
from steguard.canon.model import Message
from steguard.canon.problems import CanonFinding, Problem
from steguard.canon.registry import Registry, Typed, new_id
from steguard.canon.render import message_json, render_message
from steguard.canon.tracing import handling
from steguard.errors import SteguardError
from steguard.types import Severity

log = logging.getLogger("steguard.canon")

CODES = {
    "unknown-reply": "CAN601",
    "duplicate-message": "CAN602",
    "reused-id": "CAN603",
    "wrong-sender": "CAN604",
    "other-subject": "CAN605",
    "late": "CAN606",
    "not-addressed": "CAN607",
    "already-closed": "CAN608",
}
CLOSING = ("complete", "fail", "reject", "cancel")
_EITHER_SIDE = ("cancel", "retry")
"""Actions by which the asker itself can refer to its own request."""

Clock = Callable[[], dt.datetime]
Status = Literal["new", "duplicate", "invalid"]


class MessageRefused(SteguardError, ValueError):
    """A message that must not be sent; ``findings`` say why, with positions in ``text``."""

    def __init__(self, text: str, findings: tuple[CanonFinding, ...]) -> None:
        self.text, self.findings = text, findings
        errors = [f for f in findings if f.severity is Severity.ERROR]
        shown = "; ".join(f"line {f.line}: {f.message} {f.suggestion or ''}" for f in errors[:5])
        super().__init__(f"the message is not valid: {shown}")


def reply(
    message: Message,
    action: str = "report",
    payload: Mapping[str, Any] | None = None,
    *,
    msg_id: str | None = None,
    **fields: Any,
) -> Message:
    """The answer to a message: sides changed, ``reply_to`` set, the same subject and version.

    ``fields`` are further fields of :class:`Message`, such as ``within``.
    """
    return Message(
        version=message.version,
        sender=message.recipient,
        recipient=message.sender,
        msg_id=msg_id or new_id(),
        action=action,
        subject=message.subject,
        payload=dict(payload or {}),
        reply_to=message.msg_id,
        **fields,
    )


def fail(message: Message, reason: str, *, msg_id: str | None = None, **payload: Any) -> Message:
    """The answer that says that a message could not be done, and why."""
    return reply(message, "fail", {"reason": reason, **payload}, msg_id=msg_id)


@dataclass
class Known:
    """What the memory keeps of a message; ``message`` itself may be large and is not kept."""

    msg_id: str
    sender: str
    recipient: str
    action: str
    subject: str
    digest: str
    deadline: dt.datetime | None = None
    answers: int = 0
    closed_by: str | None = None


@dataclass(frozen=True)
class Received:
    """What came of a text: the message, its typed payload, the findings, a ready answer."""

    status: Status
    message: Message | None
    payload: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[CanonFinding, ...] = ()
    answer: Message | None = None

    @property
    def ok(self) -> bool:
        """Whether the message is new and without an error: act on it."""
        return self.status == "new"


@dataclass
class Exchange:
    """The memory of one agent. ``me`` is its name; without one it reads messages to anybody.

    ``memory`` is how many messages are kept. ``clock`` gives the time with a time zone. An
    exchange is for one thread or task at a time.
    """

    me: str | None = None
    registry: Registry | None = None
    lexicon: Lexicon | None = None
    memory: int = 10_000
    clock: Clock = lambda: dt.datetime.now(dt.UTC)
    used: Counter[str] = field(default_factory=Counter)
    """How many messages came in each version of Canon and of each subject."""
    _known: OrderedDict[str, Known] = field(default_factory=OrderedDict, repr=False)

    def receive(self, text: str) -> Received:
        """Read what another agent sent. Never raises for what the text holds."""
        parsed = parse_message(text, lexicon=self.lexicon or core())
        if parsed.message is None:
            log.info("an invalid message came in: %d findings", len(parsed.findings))
            mine = self.me in (None, parsed.envelope.get("to"))
            answer = answer_unread(parsed.envelope, parsed.findings) if mine else None
            return Received("invalid", None, {}, parsed.findings, answer)
        message = parsed.message
        with handling(message):
            again = self.repeated(message)
            if again:
                log.info("message %s came in again", message.msg_id)
                found = _sorted(parsed.findings, _place(text, again))
                return Received("duplicate", message, {}, found)
            typed = self._typed(message)
            problems = [*typed.problems, *self.correlate(message)]
            findings = _sorted(parsed.findings, _place(text, problems))
            wrong = [p for p in problems if p.severity is Severity.ERROR]
            if wrong:
                log.info("message %s is refused: %s", message.msg_id, wrong[0].message)
                answer = Typed(message, typed.subject, {}, tuple(problems)).fail()
                if any(p.rule == "not-addressed" for p in wrong):
                    answer = None
                return Received("invalid", message, typed.payload, findings, answer)
            self._count(message, typed)
            self.remember(message)
            log.info("message %s: %s %s", message.msg_id, message.action, message.subject)
            return Received("new", message, typed.payload, findings)

    def send(self, message: Message) -> str:
        """The text to send. Raises :class:`MessageRefused` where the message is not valid."""
        text = render_message(message)
        parsed = parse_message(text, lexicon=self.lexicon or core())
        problems = [*self._typed(message).problems, *self.correlate(message, sending=True)]
        findings = _sorted(parsed.findings, _place(text, problems))
        if any(f.severity is Severity.ERROR for f in findings):
            raise MessageRefused(text, findings)
        self.remember(message)
        with handling(message):
            log.info("message %s is sent: %s", message.msg_id, message.action)
        return text

    def remember(self, message: Message) -> None:
        """Keep a message of a log, without a check, as if it had come in or gone out."""
        now = self.clock()
        self._known[message.msg_id] = Known(
            message.msg_id,
            message.sender,
            message.recipient,
            message.action,
            message.subject,
            _digest(message),
            message.within.deadline(now) if message.within else None,
        )
        target = self._known.get(message.reply_to or "")
        if target is not None:
            target.answers += 1
            if message.action == "retry":
                target.closed_by = None
            elif message.action in CLOSING:
                target.closed_by = message.action
        while len(self._known) > self.memory:
            self._known.popitem(last=False)

    def knows(self, msg_id: str) -> bool:
        """Whether the memory has this message."""
        return msg_id in self._known

    def overdue(self) -> list[Known]:
        """The messages that nobody answered within their limit."""
        now = self.clock()
        return [
            k for k in self._known.values() if k.deadline and not k.answers and now > k.deadline
        ]

    def repeated(self, message: Message) -> list[Problem]:
        """A warning where exactly this message came in before."""
        twin = self._twin(message)
        if twin is None or twin.digest != _digest(message):
            return []
        text = f"The message '{message.msg_id}' came in before with the same content."
        do = "Do not act on it again."
        return [_problem("duplicate-message", ("msg_id",), text, do, Severity.WARNING)]

    def correlate(self, message: Message, *, sending: bool = False) -> list[Problem]:
        """What does not fit what was said before."""
        return list(self._fits(message, sending))

    def _fits(self, message: Message, sending: bool) -> Iterator[Problem]:
        ours = message.sender if sending else message.recipient
        if self.me is not None and ours != self.me:
            field_name = "from" if sending else "to"
            text = f"The message is {field_name} '{ours}' and this agent is '{self.me}'."
            yield _problem("not-addressed", (field_name,), text, f"Write {field_name}: {self.me}")
        twin = self._twin(message)
        if twin is not None:
            text = f"The id '{message.msg_id}' belongs to another message from '{twin.sender}'."
            yield _problem("reused-id", ("msg_id",), text, "Give each message an id of its own.")
        limit = message.within.when if message.within else None
        if limit is not None and self.clock() > limit:
            text = f"The limit {message.within} is over."
            yield _problem("late", ("within",), text, "Write a later limit.", Severity.WARNING)
        if message.reply_to is not None and message.reply_to != message.msg_id:
            yield from self._answers(message, message.reply_to)

    def _answers(self, message: Message, target_id: str) -> Iterator[Problem]:
        path = ("reply_to",)
        target = self._known.get(target_id)
        if target is None:
            text = f"No message '{target_id}' is known."
            yield _problem("unknown-reply", path, text, "Write the id of a message that was sent.")
            return
        back = (message.sender, message.recipient) == (target.recipient, target.sender)
        again = (message.sender, message.recipient) == (target.sender, target.recipient)
        if not back and not (again and message.action in _EITHER_SIDE):
            text = (
                f"'{target_id}' went from '{target.sender}' to '{target.recipient}', so "
                f"'{message.sender}' cannot {message.action} it to '{message.recipient}'."
            )
            do = f"Write from: {target.recipient} and to: {target.sender}"
            yield _problem("wrong-sender", ("from",), text, do)
        if message.subject != target.subject:
            text = f"'{target_id}' is about '{target.subject}'."
            do = f"Write subject: {target.subject}"
            yield _problem("other-subject", ("subject",), text, do)
        if target.deadline is not None and self.clock() > target.deadline and not again:
            text = f"The limit of '{target_id}' was {target.deadline.isoformat()}."
            yield _problem("late", path, text, "Answer within the limit.", Severity.WARNING)
        if target.closed_by and message.action in (*CLOSING, "confirm"):
            text = f"'{target_id}' has had its last answer: {target.closed_by}."
            do = "Send a new request, or a retry, first."
            yield _problem("already-closed", path, text, do, Severity.WARNING)

    def _twin(self, message: Message) -> Known | None:
        return self._known.get(message.msg_id)

    def _typed(self, message: Message) -> Typed:
        if self.registry is None:
            return Typed(message, None, dict(message.payload))
        return self.registry.read(message)

    def _count(self, message: Message, typed: Typed) -> None:
        self.used[f"canon {message.version}"] += 1
        if typed.version is not None:
            self.used[f"{message.subject} {typed.version}"] += 1


def answer_unread(
    envelope: Mapping[str, Any], findings: Sequence[CanonFinding], *, msg_id: str | None = None
) -> Message | None:
    """The ``fail`` message for a text that is no message, where its envelope says whom to tell.

    A ``fail`` message is never answered by another one.
    """
    sender, recipient = envelope.get("to"), envelope.get("from")
    if sender is None or recipient is None or envelope.get("action") == "fail":
        return None
    errors = [f for f in findings if f.severity is Severity.ERROR]
    shown = [f"line {f.line}: {f.message} {f.suggestion or ''}".strip() for f in errors[:3]]
    return Message(
        sender=sender,
        recipient=recipient,
        msg_id=msg_id or new_id(),
        action="fail",
        subject=envelope.get("subject", "message"),
        payload={
            "reason": errors[0].rule.replace("-", "_") if errors else "invalid_message",
            "detail": "; ".join(shown),
        },
        reply_to=envelope.get("msg_id"),
    )


def _sorted(*parts: Iterable[CanonFinding]) -> tuple[CanonFinding, ...]:
    return tuple(sorted((f for part in parts for f in part), key=lambda f: (f.start, f.code)))


def _place(text: str, problems: Sequence[Problem]) -> Iterator[CanonFinding]:
    """The problems at their places; the text is read for them only where there are some."""
    document = parse_document(text) if problems else None
    return (document.finding(problem) for problem in problems if document)


def _digest(message: Message) -> str:
    text = json.dumps(message_json(message), sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _problem(
    rule: str,
    path: tuple[str, ...],
    message: str,
    suggestion: str,
    severity: Severity = Severity.ERROR,
) -> Problem:
    return Problem(path, CODES[rule], rule, message, suggestion, severity=severity)
