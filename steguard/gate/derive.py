"""A policy for one task, from the user's request and trusted configuration only.

The request says which actions are wanted, and names the persons, things and days that they may
touch. The tool definitions say what a tool changes and what its arguments are. Nothing that a
tool gave back takes part: an observation can give a value, never a permission.

What comes out is a plain :class:`Policy`. For a tool that the request asks for, each argument
that says who or what is reached must come from the request, the configuration or a record that
the request names. A value from elsewhere makes a person confirm it, or ends in a deny.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import regex

from steguard.gate import kinds
from steguard.gate.intent import Licence, read_intent
from steguard.gate.kinds import Kind
from steguard.gate.model import Effect, SideEffect, Source
from steguard.gate.policy import Constraint, Policy, Rule, ToolSpec
from steguard.gate.request import Request
from steguard.gate.words import RELATIVE_DAYS

_SURE = ["user_request", "trusted_config", "named_record"]
_SEEN = [*_SURE, "tool_observation"]
_REACH = ["tool_observation", "named_content", "unknown"]
_ANY = ["named_content", "content", "unknown", "request_words", "tool_observation"]


def derive(
    request: str,
    tools: Mapping[str, Any] | Iterable[Mapping[str, Any]],
    *,
    base: Policy | None = None,
) -> Policy:
    """The policy for one task.

    ``tools`` are tool definitions: a mapping of name to ``{"description", "parameters"}`` or to a
    :class:`ToolSpec`, or a list of OpenAI tools. ``base`` is a policy of the operator: its tool
    settings, observations, budgets and rules stay, so its denials hold.
    """
    specs = {**tool_specs(tools), **(base.tools if base else {})}
    intent = read_intent(request, specs)
    read = Request(request)
    rules = [*(base.rules if base else ())]
    refused: dict[Licence, list[str]] = {Licence.NONE: [], Licence.FORBIDDEN: []}
    for name, spec in specs.items():
        licence = intent.licences.get(name, Licence.ASKED)
        if licence in refused:
            refused[licence].append(name)
        elif spec.side_effect is SideEffect.READ:
            rules.append(_reading(name, spec))
        else:
            rules.append(_acting(name, spec, licence, read))
    rules += _refusals(refused)
    start = base or Policy.model_validate({"name": "request"})
    return start.model_copy(update={"tools": specs, "rules": rules})


def tool_specs(tools: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> dict[str, ToolSpec]:
    """Tool settings from tool definitions; the side effect is told from name and parameters."""
    if not isinstance(tools, Mapping):
        functions = [tool.get("function", tool) for tool in tools]
        tools = {str(function["name"]): function for function in functions}
    return {
        name: tool if isinstance(tool, ToolSpec) else _spec(name, tool)
        for name, tool in tools.items()
    }


def _spec(name: str, tool: Mapping[str, Any]) -> ToolSpec:
    schema = tool.get("parameters") or tool.get("inputSchema") or tool.get("input_schema")
    about = str(tool.get("description") or "")
    return ToolSpec.model_validate(
        {
            "description": about,
            "schema": schema,
            "side_effect": kinds.side_effect_of(name, about, schema),
        }
    )


def _properties(spec: ToolSpec) -> dict[str, Mapping[str, Any]]:
    found = (spec.schema_ or {}).get("properties") or {}
    return {key: value if isinstance(value, Mapping) else {} for key, value in found.items()}


def _rule(name: str, effect: Effect, arguments: Mapping[str, Constraint], reason: str) -> Rule:
    verb = {Effect.ALLOW: "allows", Effect.ASK: "asks", Effect.DENY: "forbids"}[effect]
    return Rule.model_validate(
        {
            "id": f"request-{verb}-{name}",
            "effect": effect,
            "tools": [name],
            "arguments": dict(arguments),
            "reason": reason,
            "source": Source.USER_REQUEST,
        }
    )


def _constraint(sources: list[str], ask: list[str], **more: Any) -> Constraint:
    data = {"from": sources, "ask_from": ask, "optional": True, **more}
    return Constraint.model_validate(data)


def _reading(name: str, spec: ToolSpec) -> Rule:
    """Reading is free, but a URL can carry data out and leads to a place of its writer."""
    arguments = {
        key: _constraint(_SEEN, _ANY)
        for key, prop in _properties(spec).items()
        if set(kinds.tokens(key)) & kinds.WORDS["net"] and kinds.kind_of(key, prop) is Kind.ADDRESS
    }
    return _rule(name, Effect.ALLOW, arguments, "This tool only reads.")


def _acting(name: str, spec: ToolSpec, licence: Licence, request: Request) -> Rule:
    properties = _properties(spec)
    found = {key: kinds.kind_of(key, prop) for key, prop in properties.items()}
    arguments: dict[str, Constraint] = {}
    for key, kind in found.items():
        constraint = _for_kind(kind, key, properties[key], spec, found, licence, request)
        if constraint is not None:
            arguments[key] = constraint
    if licence is Licence.MAYBE:
        reason = f"It is not clear that the request asks for '{name}'."
        return _rule(name, Effect.ASK, arguments, reason)
    if licence is Licence.OPEN and not _bounded(spec, found):
        reason = "The request leaves this action to a document. A person must confirm it."
        return _rule(name, Effect.ASK, arguments, reason)
    if spec.side_effect is SideEffect.DESTRUCTIVE and not arguments:
        return _rule(name, Effect.ASK, arguments, "The action destroys something.")
    return _rule(name, Effect.ALLOW, arguments, "The request asks for this action.")


def _bounded(spec: ToolSpec, found: Mapping[str, Kind]) -> bool:
    """Whether the arguments alone keep an action within what the request names."""
    if spec.side_effect is SideEffect.WRITE:
        return True
    reach = {Kind.ADDRESS, Kind.ID}
    return spec.side_effect is SideEffect.EXTERNAL and bool(reach & set(found.values()))


def _for_kind(
    kind: Kind,
    key: str,
    prop: Mapping[str, Any],
    spec: ToolSpec,
    found: Mapping[str, Kind],
    licence: Licence,
    request: Request,
) -> Constraint | None:
    effect = spec.side_effect
    known = _known(prop)
    if kind is Kind.SECRET:
        return _constraint(["user_request", "trusted_config"], ["named_content"])
    if kind in (Kind.ADDRESS, Kind.ID) or (kind is Kind.PATH and not _makes(spec, found)):
        free = licence is Licence.OPEN and effect is SideEffect.WRITE
        return _constraint(_SEEN if free else _SURE, _REACH, known=known)
    if kind in (Kind.TITLE, Kind.PATH):
        if effect is SideEffect.EXTERNAL and _required_reach(spec, found):
            return None
        return _constraint([*_SEEN, "request_words"], _ANY)
    if kind is Kind.NAME:
        if effect is SideEffect.DESTRUCTIVE:
            return _constraint(_SURE, _REACH, known=known)
        told = ["named_content"]
        if effect is SideEffect.EXTERNAL and key in _required(spec):
            return _constraint([*_SEEN, "request_words"], [*told, "unknown"], known=known)
        return _constraint([*_SEEN, "request_words", *told], ["unknown"], known=known)
    if kind is Kind.WHEN and request.dates and not request.words & RELATIVE_DAYS:
        return _constraint(_SEEN, _ANY)
    if kind is Kind.NUMBER:
        return _constraint([*_SEEN, "named_content", "request_words", "unknown"], ["content"])
    if kind is Kind.TEXT and effect is SideEffect.EXTERNAL:
        links = {"from": _SEEN, "ask_from": _ANY}
        return Constraint.model_validate({"links": links, "optional": True})
    return None


def _makes(spec: ToolSpec, found: Mapping[str, Kind]) -> bool:
    """Whether the tool makes a new thing, so that its name is chosen and not looked up."""
    return spec.side_effect is SideEffect.WRITE and Kind.ID not in found.values()


def _required(spec: ToolSpec) -> frozenset[str]:
    return frozenset((spec.schema_ or {}).get("required") or ())


def _required_reach(spec: ToolSpec, found: Mapping[str, Kind]) -> bool:
    return any(kind is Kind.ADDRESS and key in _required(spec) for key, kind in found.items())


def _known(prop: Mapping[str, Any]) -> list[str]:
    """Words that the tool's own description gives as values, such as the type of an attachment."""
    return sorted(set(regex.findall(r"[\"'`](\w+)[\"'`]", str(prop.get("description", "")))))


def _refusals(refused: Mapping[Licence, list[str]]) -> Iterable[Rule]:
    reasons = {
        Licence.NONE: ("request-does-not-ask", "The request does not ask for this action."),
        Licence.FORBIDDEN: ("request-forbids", "The request says not to do this."),
    }
    for licence, names in refused.items():
        if names:
            identity, reason = reasons[licence]
            yield Rule.model_validate(
                {
                    "id": identity,
                    "effect": Effect.DENY,
                    "tools": sorted(names),
                    "reason": reason,
                    "alternatives": ["Report what you found and ask the user."],
                    "source": Source.USER_REQUEST,
                }
            )
