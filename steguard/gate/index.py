"""A policy made ready: rules by tool and scope, constraints as plain functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import regex

from steguard.gate.arguments import (
    MISSING,
    NO,
    UNKNOWN,
    YES,
    Check,
    Verdict,
    compile_value,
    find,
    judge,
)
from steguard.gate.model import STRENGTH, Effect, Step, leaves
from steguard.gate.policy import Constraint, Policy, Rule
from steguard.gate.provenance import Evidence, Seen, pointer_matches
from steguard.gate.schemas import Test, compile_schema


class Matched(NamedTuple):
    """How a rule stands to a call. ``pointer`` and ``note`` tell of what failed or asks."""

    verdict: Verdict
    effect: Effect
    step: Step | None = None
    pointer: str = ""
    note: str = ""
    passed: int = 0


@dataclass(frozen=True, slots=True)
class _Origin:
    """One item of ``from``."""

    labels: frozenset[str]
    tool: str
    pointer: str

    def takes(self, evidence: Evidence) -> bool:
        return (
            evidence.label in self.labels
            and self.tool in ("", evidence.tool)
            and (not self.pointer or pointer_matches(self.pointer, evidence.pointer))
        )


_ALSO = {"tool_observation": "named_record", "content": "named_content"}


def _origins(texts: Iterable[str]) -> tuple[_Origin, ...]:
    found = []
    for text in texts:
        label, _, rest = text.partition(":")
        tool, _, pointer = rest.partition("#")
        found.append(_Origin(frozenset({label, _ALSO.get(label, label)}), tool, pointer))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Sources:
    """Where every leaf of a value must come from."""

    allowed: tuple[_Origin, ...]
    asked: tuple[_Origin, ...]
    known: frozenset[str]

    def _allow(self, evidence: list[Evidence]) -> bool:
        return any(origin.takes(one) for origin in self.allowed for one in evidence)

    def judge(self, value: Any, seen: Seen, forbids: bool) -> tuple[Verdict, bool, str, str]:
        """The verdict, whether to ask, and the leaf and place that say so."""
        ask, at, place = False, "", ""
        for pointer, leaf in leaves(value):
            if leaf is None or leaf == "" or isinstance(leaf, bool) or leaf in self.known:
                continue
            evidence = seen.sure(leaf)
            if not self._allow(evidence):
                evidence = seen.evidence(leaf)
            if self._allow(evidence):
                if forbids:
                    return YES, False, pointer, evidence[0].says()
                continue
            if forbids:
                continue
            if not any(origin.takes(one) for origin in self.asked for one in evidence):
                return NO, False, pointer, evidence[0].says()
            if not ask:
                ask, at, place = True, pointer, evidence[0].says()
        return (NO if forbids else YES), ask, at, place


@dataclass(frozen=True, slots=True)
class _Condition:
    """One constraint of one rule."""

    key: str
    checks: tuple[Check, ...]
    sources: tuple[_Sources, ...]
    links: tuple[_Sources, ...]
    optional: bool
    default: Any
    takes_null: bool


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """A rule whose constraints are functions."""

    rule: Rule
    conditions: tuple[_Condition, ...]
    scope: tuple[tuple[str, frozenset[str]], ...]

    def in_scope(self, scope: Mapping[str, str]) -> bool:
        """Whether the scope fits; the index has looked at the first key already."""
        return len(self.scope) == 1 or all(scope.get(key) in values for key, values in self.scope)

    def match(self, arguments: Mapping[str, Any], seen: Callable[[], Seen]) -> Matched:
        """Whether all constraints hold. An error in a check goes to the caller."""
        effect = self.rule.effect
        forbids = effect is Effect.DENY
        worst, asking = YES, None
        for number, condition in enumerate(self.conditions):
            one = _judge(condition, arguments, seen, forbids)
            if one.verdict is NO or (one.verdict is UNKNOWN and not forbids):
                return Matched(NO, one.effect, one.step, one.pointer, one.note, number)
            if one.verdict is UNKNOWN:
                worst = UNKNOWN
            if one.effect is Effect.ASK and asking is None:
                asking = one
        if asking is not None and STRENGTH[effect] < STRENGTH[Effect.ASK]:
            return asking
        return Matched(worst, effect)


def _judge(
    condition: _Condition, arguments: Mapping[str, Any], seen: Callable[[], Seen], forbids: bool
) -> Matched:
    found = find(arguments, condition.key)
    if not condition.takes_null:
        found = [item for item in found if item[1] is not None]
    if len(found) == 1:
        return _judge_one(condition, *found[0], seen, forbids)
    pointer = condition.key if condition.key.startswith("/") else f"/{condition.key}"
    if not found and condition.default is not MISSING:
        verdict = judge(condition.checks, condition.default)
        return Matched(verdict, Effect.ALLOW, Step.CONSTRAINT, pointer, "its default")
    if not found:
        absent = (NO if forbids else YES) if condition.optional else UNKNOWN
        return Matched(absent, Effect.ALLOW, Step.CONSTRAINT, pointer, "is omitted")
    said = [_judge_one(condition, at, value, seen, forbids) for at, value in found]
    order = (YES, UNKNOWN, NO) if forbids else (NO, UNKNOWN)
    for verdict in order:
        for one in said:
            if one.verdict is verdict:
                return one
    return next((one for one in said if one.effect is Effect.ASK), said[0])


_HOLDS = Matched(YES, Effect.ALLOW)


def _judge_one(
    condition: _Condition, at: str, value: Any, seen: Callable[[], Seen], forbids: bool
) -> Matched:
    verdict = judge(condition.checks, value)
    if verdict is NO or (verdict is UNKNOWN and not forbids):
        return Matched(verdict, Effect.ALLOW, Step.CONSTRAINT, at, "is not permitted")
    if not condition.sources and not condition.links:
        return _HOLDS if verdict is YES else Matched(verdict, Effect.ALLOW)
    asking = None
    for sources, data in (
        *((sources, value) for sources in condition.sources),
        *((sources, links_in(value)) for sources in condition.links),
    ):
        origin, ask, leaf, place = sources.judge(data, seen(), forbids)
        inner = at + leaf if data is value else at
        if origin is NO:
            return Matched(NO, Effect.ALLOW, Step.PROVENANCE, inner, place)
        if ask and asking is None:
            asking = Matched(YES, Effect.ASK, Step.PROVENANCE, inner, place)
    return asking or Matched(verdict, Effect.ALLOW)


def links_in(value: Any) -> list[str]:
    """The URLs, email addresses and account numbers in the texts of a value."""
    found: list[str] = []
    for _, leaf in leaves(value):
        if isinstance(leaf, str):
            found += [one.rstrip(".,;:!?)") for one in _LINK.findall(leaf)]
    return found


_LINK = regex.compile(
    r"https?://[^\s'\"<>]+|\bwww\.[^\s'\"<>]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|\b[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){3,7}[A-Z0-9]{0,4}\b"
    r"|\b(?:[\w-]+\.)+(?:com|net|org|io|info|biz|co|ru|cn|xyz|site|online|top|app|dev|me|ly|gl)"
    r"(?:/[^\s'\"<>]*)?\b",
    regex.IGNORECASE,
)


@dataclass(slots=True)
class ToolIndex:
    """All that the gate needs of one tool."""

    everywhere: list[CompiledRule] = field(default_factory=list)
    scoped: dict[tuple[str, str], list[CompiledRule]] = field(default_factory=dict)
    test: Test | None = None

    def candidates(self, scope: Mapping[str, str]) -> list[CompiledRule]:
        """The rules of this tool that apply in this scope, the strongest effect first."""
        found = self.everywhere
        for place in scope.items() if self.scoped else ():
            here = [rule for rule in self.scoped.get(place, ()) if rule.in_scope(scope)]
            found = sorted([*found, *here], key=_order) if found and here else found or here
        return found


def _order(one: CompiledRule) -> tuple[int, str]:
    return -STRENGTH[one.rule.effect], one.rule.id


class Index:
    """A compiled policy. Raises :class:`ValueError` for a tool schema that is none."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.tools: dict[str, ToolIndex] = {}
        named = {name for rule in policy.rules for name in rule.tools if name != "*"}
        for name in sorted(policy.tools.keys() | named):
            self.tools[name] = self._tool(name)
        for rule in policy.rules:
            for name in self._reach(rule):
                _place(self.tools[name], compile_rule(rule, policy, name))
        for tool in self.tools.values():
            for rules in (tool.everywhere, *tool.scoped.values()):
                rules.sort(key=_order)

    def _tool(self, name: str) -> ToolIndex:
        schema = self._policy.spec(name).schema_
        try:
            return ToolIndex(test=compile_schema(schema) if schema is not None else None)
        except ValueError as error:
            raise ValueError(f"tool '{name}': {error}") from None

    def _reach(self, rule: Rule) -> list[str]:
        if "*" in rule.tools:
            return list(self.tools)
        classes = set(rule.side_effects)
        by_class = (n for n in self.tools if self._policy.spec(n).side_effect in classes)
        return list(dict.fromkeys([*rule.tools, *by_class]))


def _place(tool: ToolIndex, rule: CompiledRule) -> None:
    if not rule.scope:
        tool.everywhere.append(rule)
        return
    key, values = rule.scope[0]
    for value in values:
        tool.scoped.setdefault((key, value), []).append(rule)


def compile_rule(rule: Rule, policy: Policy, tool: str) -> CompiledRule:
    """A rule for one tool of a policy."""
    properties = ((policy.spec(tool).schema_ or {}).get("properties")) or {}
    forbids = rule.effect is Effect.DENY
    conditions = tuple(
        _condition(key, constraint, properties, forbids)
        for key, constraint in rule.arguments.items()
    )
    scope = tuple(
        (key, frozenset([value] if isinstance(value, str) else value))
        for key, value in rule.scope.items()
    )
    return CompiledRule(rule, conditions, scope)


def _condition(
    key: str, constraint: Constraint, properties: Mapping[str, Any], forbids: bool
) -> _Condition:
    prop = properties.get(key)
    default = prop.get("default", MISSING) if isinstance(prop, Mapping) else MISSING
    return _Condition(
        key=key,
        checks=compile_value(constraint, forbids=forbids),
        sources=tuple(_sources(constraint)),
        links=tuple(_sources(constraint.links)) if constraint.links else (),
        optional=constraint.optional,
        default=MISSING if default is None else default,
        takes_null=constraint.type == "null" or None in (constraint.enum or ()),
    )


def _sources(constraint: Constraint) -> Iterable[_Sources]:
    if constraint.from_ is not None or constraint.ask_from:
        yield _Sources(
            _origins(constraint.from_ or ()),
            _origins(constraint.ask_from),
            frozenset(constraint.known),
        )
    if constraint.each is not None:
        yield from _sources(constraint.each)
