"""An instruction: one rule for an agent, as data.

A version of a rule never changes: its content hash is its identity. Where it stands in its life
(``status``) and whether it is switched on (``enabled``) are no content. What a rule says to a
program is ``key`` and ``value``; what it says to a model is ``text``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    WithJsonSchema,
)

from steguard.instructions.keys import is_a

LEVELS = ("agent", "project", "workflow", "stage", "step", "tool")
"""The levels of a scope, from wide to narrow. A rule without any of them is global."""


class Source(StrEnum):
    """Who makes a rule. The order is the order of authority, lowest first."""

    USER = "user_request"
    PROJECT = "project_config"
    DEVELOPER = "developer_config"
    OPERATOR = "operator_config"
    PLATFORM = "platform_policy"

    @property
    def authority(self) -> int:
        """A number to compare; it is no role of a model's API."""
        return _AUTHORITIES[self]


_AUTHORITIES = {source: (place + 1) * 100 for place, source in enumerate(Source)}


class Status(StrEnum):
    """Where a version stands in its life."""

    DRAFT = "DRAFT"
    REVIEWED = "REVIEWED"
    ACTIVE = "ACTIVE"
    DEPRECATED = "DEPRECATED"
    RETIRED = "RETIRED"


class Kind(StrEnum):
    """What a rule is about."""

    OUTPUT_REQUIREMENT = "output_requirement"
    OUTPUT_FORMAT = "output_format"
    EVIDENCE = "evidence"
    WORKFLOW = "workflow"
    PREFERENCE = "preference"
    BUDGET = "budget"
    EXECUTION_LIMIT = "execution_limit"
    PERMISSION = "permission"
    SAFETY = "safety"
    COMPLIANCE = "compliance"

    @property
    def protects(self) -> bool:
        """Whether a change of such a rule holds for running tasks at once, and is never cut."""
        return self in (Kind.EXECUTION_LIMIT, Kind.PERMISSION, Kind.SAFETY, Kind.COMPLIANCE)


class Enforcement(StrEnum):
    """The program that holds the rule when the model does not; ``prompt`` is none."""

    PROMPT = "prompt"
    OUTPUT_VALIDATOR = "output_validator"
    GATE = "gate"


Shorten = Literal["never", "template", "reference"]


def _names(value: object) -> object:
    return (value,) if isinstance(value, str) else value


def _sorted_names(value: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(set(value)))


Name = Annotated[str, Field(min_length=1, pattern=r"^\S(.*\S)?$")]
_NAME = {"type": "string", "minLength": 1}
Names = Annotated[
    tuple[Name, ...],
    BeforeValidator(_names),
    AfterValidator(_sorted_names),
    WithJsonSchema({"anyOf": [_NAME, {"type": "array", "items": _NAME}]}),
]


def _shaped(pattern: str, what: str) -> AfterValidator:
    """A check of the form of a text, with a message that shows a good one."""

    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError(f"{value!r} is {what}")
        return value

    return AfterValidator(check)


def _version(value: object) -> object:
    if isinstance(value, float):
        raise ValueError(f"{value} is a number to YAML; write the version in quotation marks")
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


RuleId = Annotated[
    str,
    _shaped(
        r"[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*",
        "no id; write words joined by dots, such as 'report.citation.required'",
    ),
]
SemanticKey = Annotated[
    str,
    _shaped(
        r"[A-Za-z0-9_]+([.-][A-Za-z0-9_*]+)*",
        "no key; write words joined by dots, such as 'report.max_words'",
    ),
]
Version = Annotated[
    str,
    BeforeValidator(_version),
    _shaped(r"[0-9]+(\.[0-9]+){0,2}", "no version; write 1, 1.2 or 1.2.3 in quotation marks"),
    WithJsonSchema({"type": ["string", "integer"]}),
]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_enum_values=False)


class Scope(_Record):
    """Where a rule applies: each level that it names must be exactly one of these names.

    A level that it does not name is open. A narrow scope gives a rule no more authority.
    """

    agent: Names = ()
    project: Names = ()
    workflow: Names = ()
    stage: Names = ()
    step: Names = ()
    tool: Names = ()

    def level(self, name: str) -> tuple[str, ...]:
        """The names that one level permits; empty where all are."""
        found: tuple[str, ...] = getattr(self, name)
        return found

    def matches(self, state: State) -> bool:
        """Whether the rule applies in this state."""
        return all(
            not self.level(name) or bool(set(self.level(name)) & state.level(name))
            for name in LEVELS
        )

    def describe(self) -> str:
        """``agent=writer, stage=report`` or ``global``."""
        named = (f"{name}={'|'.join(self.level(name))}" for name in LEVELS if self.level(name))
        return ", ".join(named) or "global"


def _place(value: object) -> object:
    """A scope may be written as the word ``global``."""
    return {} if value == "global" else value


Place = Annotated[Scope, BeforeValidator(_place)]


class State(_Record):
    """The state of a task that decides which rules apply. A program makes it, no model."""

    task_id: str = "task"
    agent: str | None = None
    project: str | None = None
    workflow: str | None = None
    stage: str | None = None
    step: str | None = None
    tools: Names = ()
    artifact: str | None = None

    def level(self, name: str) -> frozenset[str]:
        """The names that this state has at a level."""
        if name == "tool":
            return frozenset(self.tools)
        value = getattr(self, name)
        return frozenset() if value is None else frozenset((value,))


class Needs(_Record):
    """What obeying the rule takes."""

    tools: Names = ()
    tokens: int = Field(default=0, ge=0)
    seconds: float = Field(default=0, ge=0, allow_inf_nan=False)
    calls: int = Field(default=0, ge=0)


class Instruction(_Record):
    """One version of one rule."""

    instruction_id: RuleId = Field(alias="id")
    version: Version = "1"
    source: Source = Source.DEVELOPER
    priority: int = Field(
        100, description="The order of the text, high first. It settles no contradiction."
    )
    scope: Place = Scope()
    artifacts: Names = Field((), description="Kinds of product that the rule is for; empty: all.")
    kind: Kind = Kind.OUTPUT_REQUIREMENT
    key: SemanticKey | None = Field(None, description="What the value is the value of.")
    value: JsonValue = None
    text: str = ""
    enforcement: Enforcement = Enforcement.PROMPT
    validator: str | None = None
    needs: Needs = Needs()
    overrides: Names = Field((), description="Rules that this one replaces: ID or ID@VERSION.")
    shorten: Shorten | None = Field(None, description="How the text may be shortened.")
    short: str | None = Field(None, description="The shorter text, where it may be shortened.")
    reference: str | None = Field(None, description="Where the long text stands.")
    author: str = ""
    status: Status = Status.ACTIVE
    enabled: bool = True

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    def __hash__(self) -> int:
        return hash(self.ref)

    @property
    def ref(self) -> str:
        """``id@version``: one version of one rule."""
        return f"{self.instruction_id}@{self.version}"

    @property
    def authority(self) -> int:
        return self.source.authority

    @property
    def shortening(self) -> Shorten:
        """How the text may be shortened; a rule that protects is never shortened."""
        if self.kind.protects or self.shorten is None:
            return "never"
        return self.shorten

    def content(self) -> dict[str, Any]:
        """The content that makes the hash; life and switch are not in it."""
        return self.model_dump(mode="json", by_alias=True, exclude={"status", "enabled", "author"})

    @property
    def hash(self) -> str:
        """``sha256:`` and the digest of the canonical content."""
        return digest(self.content())

    def applies(self, state: State) -> bool:
        """Whether scope and product fit; the status is the registry's affair."""
        made = state.artifact
        fits = made is not None and any(is_a(made, name) for name in self.artifacts)
        return (fits or not self.artifacts) and self.scope.matches(state)

    def with_status(self, status: Status) -> Instruction:
        return self.model_copy(update={"status": status})


@cache
def version_key(version: str) -> tuple[int, int, int]:
    """Numbers to compare: 1.10 is after 1.9, 1 and 1.0.0 are the same."""
    parts = [int(part) for part in re.findall(r"\d+", version)]
    return (*parts, 0, 0, 0)[:3]  # type: ignore[return-value]


def canonical(data: Any) -> str:
    """JSON whose bytes depend on the content only."""
    return json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def digest(data: Any) -> str:
    """``sha256:`` and the digest of canonical JSON."""
    return "sha256:" + hashlib.sha256(canonical(data).encode("utf-8", "surrogatepass")).hexdigest()


def ordered(rules: Iterable[Instruction]) -> list[Instruction]:
    """The one order of rules: authority, priority, then name and version."""
    return sorted(
        rules,
        key=lambda r: (-r.authority, -r.priority, r.instruction_id, version_key(r.version)),
    )
