"""The registry: the subjects that all agents share, and what they say of a message.

>>> registry = Registry.load("subjects/")
>>> typed = registry.read(message)
>>> typed.payload["quantity"] + 1
3
>>> answer = typed.fail()   # the message that says what is wrong, or None

A registry is a folder of subject files (:mod:`steguard.canon.subjects`). Two versions of a subject
stand side by side: a message is read by the newest version that takes it, and the report says
which one that was.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path as FilePath
from typing import Any

from steguard.canon.messageschema import inner_schema
from steguard.canon.model import Message, Version
from steguard.canon.payload import Fields
from steguard.canon.payloadread import read_payload
from steguard.canon.problems import Problem
from steguard.canon.subjectfile import raise_all, read_subject_file
from steguard.canon.subjects import CONTROL, Subject
from steguard.errors import ProfileError
from steguard.types import Severity

UNKNOWN_SUBJECT, UNKNOWN_ACTION = "CAN501", "CAN508"
_FAILURE_FIELDS = ("error", "errors", "exception", "failure", "failed", "reason", "error_message")


@dataclass(frozen=True)
class Typed:
    """A message read by the schema of its subject.

    ``payload`` holds the typed values of the fields that are right, ``problems`` everything that
    is wrong, ``subject`` the version that was used, None where the subject is unknown.
    """

    message: Message
    subject: Subject | None
    payload: Mapping[str, Any]
    problems: tuple[Problem, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no problem is an error."""
        return not self.errors

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(p for p in self.problems if p.severity is Severity.ERROR)

    @property
    def version(self) -> Version | None:
        """The version of the subject that was used."""
        return self.subject.version if self.subject else None

    def fail(self, *, msg_id: str | None = None) -> Message | None:
        """The ``fail`` message that answers this one; None where nothing is wrong.

        A ``fail`` message is never answered by another one: it could go on for ever.
        """
        if self.ok or self.message.action == "fail":
            return None
        first = self.errors[0]
        named = first.path[1] if first.path[:1] == ("payload",) and len(first.path) > 1 else None
        if first.rule == "missing-field":
            named = first.expected[0]
        content = {
            "reason": first.rule.replace("-", "_"),
            "field": named,
            "expected": ", ".join(first.expected) or None,
            "detail": " ".join(filter(None, (first.message, first.suggestion))),
        }
        fields = self.subject.fields("fail") if self.subject else None
        payload = _fitting(content, fields or CONTROL["fail"])
        return Message(
            version=self.message.version,
            sender=self.message.recipient,
            recipient=self.message.sender,
            msg_id=msg_id or new_id(),
            action="fail",
            subject=self.message.subject,
            payload=payload,
            reply_to=self.message.msg_id,
        )


def _fitting(content: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    """What of the content the fields take; ``reason`` is there in every case."""
    given = {name: value for name, value in content.items() if value is not None}
    kept = {
        name: value
        for name, value in given.items()
        if name in fields and not read_payload({name: fields[name]}, {name: value})[1]
    }
    return kept or {"reason": given["reason"]}


def new_id() -> str:
    """A message id that no other message has."""
    return f"msg-{uuid.uuid4().hex}"


@dataclass
class Registry:
    """Subjects by name, each in one version or more."""

    subjects: Mapping[str, tuple[Subject, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, subjects: Iterable[Subject]) -> Registry:
        """A registry of these subjects. Raises :class:`ProfileError` where two are the same."""
        problems: list[ProfileError] = []
        found: dict[str, dict[Version, Subject]] = {}
        for subject in subjects:
            versions = found.setdefault(subject.name, {})
            other = versions.setdefault(subject.version, subject)
            if other is not subject:
                message = f"'{subject.name}' {subject.version} stands in '{other.file}' too"
                problems.append(ProfileError(message, file=subject.file))
        raise_all(problems)
        return cls(
            {
                name: tuple(versions[v] for v in sorted(versions, reverse=True))
                for name, versions in sorted(found.items())
            }
        )

    @classmethod
    def load(cls, folder: str | FilePath) -> Registry:
        """The registry in a folder. Raises :class:`ProfileError` with the faults of all files."""
        path = FilePath(folder)
        if not path.is_dir():
            raise ProfileError(f"there is no registry folder '{folder}'", file=str(folder))
        files = sorted(p for p in path.rglob("*") if p.suffix in (".yaml", ".yml") and p.is_file())
        if not files:
            raise ProfileError("the registry folder has no .yaml file", file=str(folder))
        problems: list[ProfileError] = []
        subjects = list(_read_all(files, problems))
        raise_all(problems)
        return cls.of(subjects)

    def versions(self, name: str) -> tuple[Subject, ...]:
        """The versions of a subject, the newest first; empty where it is unknown."""
        return self.subjects.get(name, ())

    def subject(self, name: str, version: Version | None = None) -> Subject:
        """The subject in this version, or in the newest. Raises ``KeyError`` with a hint."""
        for subject in self.versions(name):
            if version is None or subject.version == version:
                return subject
        if version is None or not self.versions(name):
            raise KeyError(_no_subject(name, self.subjects)[0])
        listed = ", ".join(str(s.version) for s in self.versions(name))
        raise KeyError(f"'{name}' has no version {version}; it has {listed}")

    def check(self, message: Message) -> tuple[Message, Sequence[Problem]]:
        """The message with a typed payload, and what is wrong with it, by path.

        This is what ``parse_message(text, registry=registry)`` calls.
        """
        typed = self.read(message)
        payload = {**message.payload, **typed.payload}
        return message.model_copy(update={"payload": payload}), typed.problems

    def read(self, message: Message, accept: Sequence[Version] | None = None) -> Typed:
        """Read a message by the newest version of its subject that takes it.

        ``accept`` narrows the versions. Where none takes it, the problems are those of the nearest.
        """
        candidates = [
            subject
            for subject in self.versions(message.subject)
            if accept is None or subject.version in accept
        ]
        if not candidates:
            return Typed(message, None, {}, (_unknown(message, self.subjects),))
        best: Typed | None = None
        for subject in candidates:
            typed = _read(message, subject)
            if typed.ok:
                return typed
            if best is None or len(typed.errors) < len(best.errors):
                best = typed
        assert best is not None
        return best

    def message_schema(self) -> dict[str, Any]:
        """The JSON Schema of every message that the registry knows, with typed payloads."""
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "canon-message",
            "oneOf": list(self._message_schemas()),
        }

    def _message_schemas(self) -> Iterator[dict[str, Any]]:
        envelope = inner_schema()
        for name, versions in self.subjects.items():
            subject = versions[0]
            for action in dict.fromkeys([*subject.actions, *CONTROL]):
                payload = subject.json_schema(action)
                about = {
                    "action": {"const": action},
                    "subject": {"const": name},
                    "payload": payload,
                }
                needed = ["payload"] if payload["required"] else []
                yield {
                    **{key: value for key, value in envelope.items() if key != "title"},
                    "properties": {**envelope["properties"], **about},
                    "required": [*envelope["required"], *needed],
                }


def _read_all(files: Iterable[FilePath], problems: list[ProfileError]) -> Iterator[Subject]:
    for file in files:
        try:
            yield read_subject_file(file)
        except ProfileError as error:
            problems.append(error)


def _read(message: Message, subject: Subject) -> Typed:
    fields = subject.fields(message.action)
    if fields is None:
        known = list(dict.fromkeys([*subject.actions, *CONTROL]))
        text = f"'{subject.name}' {subject.version} has no action '{message.action}'."
        do = f"Write one of these: {', '.join(known)}."
        problem = Problem(
            ("action",), UNKNOWN_ACTION, "unknown-action", text, do, expected=tuple(known)
        )
        return Typed(message, subject, {}, (problem,))
    typed, problems = read_payload(fields, message.payload)
    return Typed(message, subject, typed, tuple(_told(message, problem) for problem in problems))


def _told(message: Message, problem: Problem) -> Problem:
    """A failure that hides in a report gets its own remedy."""
    hidden = problem.rule == "unknown-field" and problem.path[-1] in _FAILURE_FIELDS
    if not hidden or message.action in ("fail", "reject"):
        return problem
    return Problem(
        problem.path,
        problem.code,
        problem.rule,
        problem.message,
        "Say a failure with 'action: fail' and the field 'reason'.",
        problem.expected,
        problem.severity,
        problem.at,
    )


def _unknown(message: Message, known: Mapping[str, Any]) -> Problem:
    text, do = _no_subject(message.subject, known)
    return Problem(
        ("subject",),
        UNKNOWN_SUBJECT,
        "unknown-subject",
        f"{text[0].upper()}{text[1:]}.",
        do,
        expected=tuple(known),
    )


def _no_subject(name: str, known: Mapping[str, Any]) -> tuple[str, str]:
    near = get_close_matches(name, list(known), n=1, cutoff=0.6)
    listed = ", ".join(list(known)[:12]) or "none"
    do = f"Write '{near[0]}'." if near else f"The subjects are: {listed}."
    return f"the registry has no subject '{name}'", do
