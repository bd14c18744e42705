"""The gate policy of the rules: what they say of tools and of arguments.

A need for a tool is no permission to call it. A tool that no rule names is denied, as everything
is in a gate. ``tools.NAME.arguments.ARG`` limits an argument of the calls that a rule permits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from steguard.gate.model import Source as Label
from steguard.gate.policy import Policy, Rate, Rule, ToolSpec
from steguard.instructions.claims import INF, Bound, Claim, OnlyTools, ToolEffect
from steguard.instructions.conflicts import Resolution
from steguard.instructions.keys import read_key
from steguard.instructions.records import Instruction, Source
from steguard.instructions.tooleffects import covers

Limits = dict[str, dict[str, dict[str, Any]]]
"""Tool to argument to constraint."""

_LEVELS = ("agent", "project", "workflow", "stage", "step")
_FOREVER = 1e9
_ARGUMENTS = ("arguments", "args")


def make_policy(
    resolution: Resolution, tools: Mapping[str, ToolSpec], base: Policy | None, version: str
) -> tuple[Policy, dict[str, str]]:
    """The policy, and the rules that the gate holds."""
    known = sorted({*tools, *(name for name in resolution.effects if "*" not in name)})
    limits = _limits(resolution.rules)
    rules: list[Rule] = list(base.rules) if base else []
    held: dict[str, str] = {}
    for rule in resolution.rules:
        for index, claim in enumerate(resolution.claims[rule.ref]):
            made = list(_gate_rules(rule, index, claim, resolution, known, limits))
            rules += made
            if isinstance(claim, ToolEffect | OnlyTools) and (made or _denies(claim)):
                held[rule.ref] = "gate"
        named = _argument(rule)
        if named and resolution.effects.get(named[0]) in ("allow", "ask"):
            held[rule.ref] = "gate"
        counted = _calls(rule, resolution)
        if counted and counted[0] in known:
            held[rule.ref] = "gate"
    merged = _with_rates({**(base.tools if base else {}), **tools}, resolution)
    settings = {
        "version": version,
        "tools": dict(sorted(merged.items())),
        "rules": sorted(_once(rules), key=lambda one: one.id),
    }
    if base is None:
        return Policy.model_validate({"name": "instructions", **settings}), held
    kept = {name: getattr(base, name) for name in type(base).model_fields if name not in settings}
    return Policy.model_validate({**kept, **settings}), held


def _once(rules: Sequence[Rule]) -> list[Rule]:
    """Without a second copy of a rule, as where a base policy came from the same rules."""
    seen: dict[str, Rule] = {}
    return [
        rule for rule in rules if seen.setdefault(rule.id, rule) is rule or rule != seen[rule.id]
    ]


def _calls(rule: Instruction, resolution: Resolution) -> tuple[str, float] | None:
    """The tool and the number of its calls in one task that a rule permits."""
    for claim in resolution.claims[rule.ref]:
        if isinstance(claim, Bound) and claim.high != INF:
            head, _, last = claim.subject.name.rpartition(".")
            if head.startswith("tools.") and last == "call":
                return head.removeprefix("tools."), claim.high
    return None


def _with_rates(tools: Mapping[str, ToolSpec], resolution: Resolution) -> dict[str, ToolSpec]:
    limits: dict[str, int] = {}
    for rule in resolution.rules:
        counted = _calls(rule, resolution)
        if counted:
            name, high = counted[0], int(counted[1])
            limits[name] = min(high, limits.get(name, high))
    made = dict(tools)
    for name, calls in limits.items():
        spec = made.get(name) or ToolSpec.model_validate({})
        if spec.rate is None and calls > 0:
            rate = Rate.model_validate({"calls": calls, "seconds": _FOREVER, "per": "task"})
            made[name] = spec.model_copy(update={"rate": rate})
    return made


def _denies(claim: Claim) -> bool:
    """Whether the gate's default already holds the rule for tools that nobody declared."""
    return isinstance(claim, OnlyTools) or (
        isinstance(claim, ToolEffect) and claim.effect == "deny"
    )


def _gate_rules(
    rule: Instruction,
    index: int,
    claim: Claim,
    resolution: Resolution,
    known: Sequence[str],
    limits: Limits,
) -> Iterable[Rule]:
    if isinstance(claim, ToolEffect):
        names = [name for name in known if covers(claim.tool, name)]
        if claim.tool == "*" and claim.effect == "deny":
            names = ["*"]
        for name in names:
            yield _rule(rule, f"{index}.{name}", claim.effect, name, limits)
    elif isinstance(claim, OnlyTools):
        for name in known:
            if not any(covers(pattern, name) for pattern in claim.tools):
                yield _rule(rule, f"{index}.{name}", "deny", name, limits)
            elif resolution.effects.get(name) == "allow":
                yield _rule(rule, f"{index}.{name}", "allow", name, limits)


def _rule(rule: Instruction, suffix: str, effect: str, tool: str, limits: Limits) -> Rule:
    by_user = rule.source is Source.USER
    return Rule.model_validate(
        {
            "id": f"{rule.ref}#{suffix}",
            "effect": effect,
            "tools": [tool],
            "scope": {n: list(rule.scope.level(n)) for n in _LEVELS if rule.scope.level(n)},
            "arguments": {} if effect == "deny" else limits.get(tool, {}),
            "reason": rule.text or f"The rule {rule.ref} says '{effect}'.",
            "source": (Label.USER_REQUEST if by_user else Label.TRUSTED_CONFIG).value,
        }
    )


def _argument(rule: Instruction) -> tuple[str, str] | None:
    """The tool and the argument that a rule limits."""
    if rule.key is None:
        return None
    path = read_key(rule.key).path
    at = next((i for i, part in enumerate(path) if i > 1 and part in _ARGUMENTS), None)
    if path[0] != "tools" or at is None or at + 1 >= len(path):
        return None
    return ".".join(path[1:at]), ".".join(path[at + 1 :])


def _limits(rules: Iterable[Instruction]) -> Limits:
    found: Limits = {}
    for rule in rules:
        named = _argument(rule)
        if named is None:
            continue
        limit = found.setdefault(named[0], {}).setdefault(named[1], {})
        _narrow(limit, rule.value)
    return found


def _narrow(limit: dict[str, Any], value: Any) -> None:
    """Lay one more value over what an argument may be."""
    if isinstance(value, Mapping):
        lows = [float(value[n]) for n in ("min", "gte", "at_least") if n in value]
        highs = [float(value[n]) for n in ("max", "lte", "at_most") if n in value]
        if lows:
            limit["min"] = max([*lows, limit.get("min", lows[0])])
        if highs:
            limit["max"] = min([*highs, limit.get("max", highs[0])])
        listed = next((value[n] for n in ("one_of", "in", "enum") if n in value), None)
    else:
        listed = value
    if listed is not None:
        names = listed if isinstance(listed, list) else [listed]
        before = limit.get("enum")
        limit["enum"] = names if before is None else [name for name in before if name in names]
