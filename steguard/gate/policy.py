"""A gate policy: which tools may run, with which arguments, whose values come from where.

A file of it is YAML (:mod:`steguard.gate.policyfile`); a program can build the same model.
What no rule allows is denied. The order of the rules has no meaning: deny is stronger than ask,
ask is stronger than allow.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import regex
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    model_validator,
)

from steguard import yamlfile
from steguard.gate.model import Effect, SideEffect, Source, Trust, canonical

if TYPE_CHECKING:
    from steguard.gate.index import Index

SCOPE_KEYS = ("agent", "project", "workflow", "stage", "step")


_EVIDENCE = ("named_record", "request_words", "named_content", "content", "unknown")


def _pattern(text: str) -> str:
    try:
        regex.compile(text)
    except regex.error as error:
        raise ValueError(f"this is no pattern: {error}") from None
    return text


def _origin(text: str) -> str:
    label, _, rest = text.partition(":")
    names = [*(source.value for source in Source), *_EVIDENCE]
    if label not in names:
        raise ValueError(f"unknown source '{label}'{yamlfile.nearest(label, names)}")
    if rest and label in (Source.USER_REQUEST, Source.TRUSTED_CONFIG):
        raise ValueError(f"'{label}' takes no tool")
    tool, mark, pointer = rest.partition("#")
    if mark and (not tool or not pointer.startswith("/")):
        raise ValueError("write a field as 'SOURCE:TOOL#/POINTER'; '*' stands for one part")
    return text


def _check_scope(scope: Mapping[str, Any]) -> None:
    for key in scope:
        if key not in SCOPE_KEYS:
            raise ValueError(f"unknown scope '{key}'{yamlfile.nearest(key, SCOPE_KEYS)}")


Pattern = Annotated[str, AfterValidator(_pattern)]
Origin = Annotated[str, AfterValidator(_origin)]
Scalar = str | int | float | bool | None


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, strict=True)


class Constraint(_Model):
    """What one argument must be. An omitted argument fails unless ``optional`` is true."""

    type: Literal["string", "integer", "number", "boolean", "array", "object", "null"] | None = None
    enum: list[Scalar] | None = Field(None, min_length=1)
    pattern: Pattern | None = Field(None, description="The whole text must match.")
    host: list[str] | None = Field(
        None, description="The hosts that a URL may name; '*.example.com' means subdomains."
    )
    path: list[str] | None = Field(
        None, description="The folders in which a path must stand, after '..' is resolved."
    )
    min: float | None = None
    max: float | None = None
    min_length: int | None = Field(None, ge=0, description="Of a text or a list.")
    max_length: int | None = Field(None, ge=0, description="Of a text or a list.")
    each: Constraint | None = Field(None, description="What every item of a list must be.")
    optional: bool = Field(False, description="Whether the argument may be left out.")
    from_: list[Origin] | None = Field(
        None, alias="from", description="Where the value must come from."
    )
    ask_from: list[Origin] = Field(
        default_factory=list, description="Sources that make the effect 'ask'."
    )
    known: list[str] = Field(
        default_factory=list, description="Texts that need no source, such as words of the schema."
    )
    links: Constraint | None = Field(
        None, description="What each URL, email address and account number in the text must be."
    )

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for low, high in (("min", "max"), ("min_length", "max_length")):
            a, b = getattr(self, low), getattr(self, high)
            if a is not None and b is not None and a > b:
                raise ValueError(f"'{low}' is more than '{high}'")
        return self


class Approval(_Model):
    """Who says yes, and for how long that holds."""

    by: list[str] = Field(default_factory=list, description="Persons or roles; empty: anyone.")
    expires: float = Field(900.0, gt=0, description="Seconds.")
    count: int = Field(1, ge=1, description="How many persons must say yes.")


class Rate(_Model):
    """How often a tool may run."""

    calls: int = Field(ge=1)
    seconds: float = Field(gt=0)
    per: Literal["task", "agent", "policy"] = "task"


class Cost(_Model):
    """What one call takes from a budget: a number, or the number in an argument."""

    budget: str
    amount: float = Field(1.0, ge=0)
    argument: str | None = Field(None, description="JSON pointer of the argument to take.")


class Budget(_Model):
    """How much the calls may take altogether."""

    limit: float = Field(ge=0)
    per: Literal["task", "agent", "policy"] = "task"
    seconds: float | None = Field(None, gt=0, description="The window; without it, for ever.")


class ToolSpec(_Model):
    """What trusted configuration says about one tool."""

    description: str = ""
    schema_: dict[str, Any] | None = Field(
        None, alias="schema", description="The JSON Schema of the arguments."
    )
    side_effect: SideEffect = Field(SideEffect.EXTERNAL, strict=False)
    idempotent: bool = Field(False, description="Whether a second run changes nothing more.")
    delegable: bool = Field(True, description="Whether another agent may get this tool.")
    approval: Approval | None = None
    rate: Rate | None = None
    cost: list[Cost] = Field(default_factory=list)


class Rule(_Model):
    """One rule. It holds where its tool, its scope and all its constraints hold."""

    id: str = Field(min_length=1)
    effect: Effect = Field(strict=False)
    tools: list[str] = Field(default_factory=list, description="Tool names; '*' means every tool.")
    side_effects: list[Annotated[SideEffect, Field(strict=False)]] = Field(
        default_factory=list, description="Every tool of these classes."
    )
    scope: dict[str, list[str] | str] = Field(default_factory=dict)
    arguments: dict[str, Constraint] = Field(
        default_factory=dict, description="Argument name or JSON pointer to its constraint."
    )
    reason: str = ""
    alternatives: list[str] = Field(default_factory=list)
    approval: Approval | None = None
    source: Source = Field(Source.TRUSTED_CONFIG, strict=False)

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not self.tools and not self.side_effects:
            raise ValueError("a rule names 'tools' or 'side_effects'")
        _check_scope(self.scope)
        if self.source not in (Source.TRUSTED_CONFIG, Source.USER_REQUEST):
            raise ValueError(f"a rule never comes from '{self.source.value}'")
        return self


class ObservationSpec(_Model):
    """Who can write the fields that a tool gives back. '*' in a pointer stands for one part."""

    source: Source = Field(Source.TOOL_OBSERVATION, strict=False)
    fields: dict[str, Annotated[Trust, Field(strict=False)]] = Field(default_factory=dict)
    default: Trust | None = Field(
        None, strict=False, description="Of other fields; without it, the general rules say."
    )


class Contract(_Model):
    """What an agent hands to another agent. Only these fields grant something; text never does."""

    task_scope: dict[str, list[str] | str] = Field(
        default_factory=dict, description="The scope in which the other agent may work."
    )
    allowed_tools: list[str] = Field(description="Tool names; there is no '*' here.")
    output_schema: dict[str, Any] | None = Field(None, description="The form of the result.")
    evidence_requirements: list[str] = Field(
        default_factory=list,
        description="JSON pointers into the result: lists of evidence that must exist.",
    )
    deadline: AwareDatetime | None = Field(None, strict=False)
    parent_policy_version: str = Field(description="The hash of the policy that it was made with.")

    @model_validator(mode="after")
    def _scope_known(self) -> Self:
        _check_scope(self.task_scope)
        return self


class Delegation(_Model):
    """The policy above another one, and the contract between them."""

    policy: Policy
    contract: Contract


class Policy(_Model):
    """A whole policy. ``hash`` names its content."""

    steguard_gate: Literal[1] = 1
    name: str = "policy"
    version: str = "1"
    tools: dict[str, ToolSpec] = Field(default_factory=dict)
    rules: list[Rule] = Field(default_factory=list)
    observations: dict[str, ObservationSpec] = Field(default_factory=dict)
    budgets: dict[str, Budget] = Field(default_factory=dict)
    under: Delegation | None = Field(None, description="See :mod:`steguard.gate.delegation`.")

    @cached_property
    def hash(self) -> str:
        """The SHA-256 of the policy's content; the order of its rules does not change it."""
        data = self.model_dump(mode="json", by_alias=True)
        data["rules"].sort(key=lambda rule: rule["id"])
        return hashlib.sha256(canonical(data)).hexdigest()

    @cached_property
    def index(self) -> Index:
        """The policy made ready for decisions; see :mod:`steguard.gate.index`."""
        from steguard.gate.index import Index

        return Index(self)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other content has a hash and an index of its own."""
        copied = super().model_copy(update=update, deep=deep)
        for name in ("hash", "index"):
            copied.__dict__.pop(name, None)
        return copied

    def spec(self, tool: str) -> ToolSpec:
        """What is known of a tool; the worst is assumed of a tool that is not declared."""
        return self.tools.get(tool) or _UNKNOWN

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        seen: set[str] = set()
        for rule in self.rules:
            if rule.id in seen:
                raise ValueError(f"two rules have the id '{rule.id}'")
            seen.add(rule.id)
        for name, tool in self.tools.items():
            for cost in tool.cost:
                if cost.budget not in self.budgets:
                    hint = yamlfile.nearest(cost.budget, list(self.budgets))
                    raise ValueError(f"tool '{name}': unknown budget '{cost.budget}'{hint}")
        return self


_UNKNOWN = ToolSpec.model_validate({})
