"""Keys and values that speak of tools become claims.

``tools.NAME: deny|ask|allow``, ``tools.NAME.required: true``, ``tools.allowed: [...]``,
``tools.denied: [...]``, ``tools.required: [...]``. A name can be ``*`` or end in ``.*``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steguard.instructions.claims import BadValue, Claim, NeedsTool, OnlyTools, ToolEffect, scalar
from steguard.instructions.keys import Key, Role
from steguard.yamlfile import nearest

_EFFECTS = {
    "deny": ("deny", "denied", "forbid", "forbidden", "never", "block", "blocked", "prohibited"),
    "ask": ("ask", "approval", "approval_required", "require_approval", "needs_approval"),
    "allow": ("allow", "allowed", "permit", "permitted", "auto", "always"),
}
EFFECT_OF = {word: effect for effect, words in _EFFECTS.items() for word in words}
EFFECT_OF |= {"requires_approval": "ask", "approve": "ask", "confirm": "ask", "ask_user": "ask"}


def tool_claims(key: Key, value: Any) -> list[Claim]:
    names, role = key.path[1:], key.role
    if not names:
        return _tool_list(role, value)
    last = names[-1]
    if last == "effect" and len(names) > 1:
        names = names[:-1]
    elif last in ("approval", "requires_approval", "approval_required") and len(names) > 1:
        tool = ".".join(names[:-1])
        kind, plain = scalar(value)
        asked = plain is True or (kind == "text" and EFFECT_OF.get(str(plain)) != "allow")
        return [ToolEffect(tool, "ask" if asked else "allow")]
    tool = ".".join(names)
    kind, plain = scalar(value)
    if role is Role.PLAIN:
        return [_one_effect(tool, value)]
    if kind != "bool":
        raise BadValue(f"write true or false for '{role.value}', or a list at 'tools.{role.value}'")
    if role is Role.REQUIRED:
        return [NeedsTool(tool)] if plain else []
    return [ToolEffect(tool, "allow" if plain is (role is Role.ALLOWED) else "deny")]


_LISTS = {
    **dict.fromkeys(("requires", "required", "needs"), Role.REQUIRED),
    **dict.fromkeys(("allowed", "only", "one_of", "in"), Role.ALLOWED),
    **dict.fromkeys(("forbids", "forbidden", "denied", "not", "none_of"), Role.FORBIDDEN),
}


def _one_effect(tool: str, value: Any) -> Claim:
    kind, plain = scalar(value)
    if kind == "bool":
        return ToolEffect(tool, "allow" if plain else "deny")
    word = str(plain).replace(" ", "_").replace("-", "_") if kind == "text" else ""
    if word in ("required", "require", "needed", "must_use"):
        return NeedsTool(tool)
    if word not in EFFECT_OF:
        hint = nearest(word, sorted(EFFECT_OF)) if word else ""
        raise BadValue(f"the effect of a tool is deny, ask or allow{hint}")
    return ToolEffect(tool, EFFECT_OF[word])


def _tool_list(role: Role, value: Any) -> list[Claim]:
    if role is Role.PLAIN and isinstance(value, Mapping):
        claims: list[Claim] = []
        for name, listed in value.items():
            relation = _LISTS.get(name)
            if relation is None:
                raise BadValue(f"unknown relation '{name}'; write requires, allowed or forbids")
            claims += _tool_list(relation, listed)
        return claims
    listed = value if isinstance(value, list) else [value]
    if not all(isinstance(item, str) and item.strip() for item in listed):
        raise BadValue("write the names of the tools as a list")
    names = [item.strip() for item in listed]
    if role in (Role.PLAIN, Role.ALLOWED):
        return [OnlyTools(frozenset(names))]
    if role is Role.REQUIRED:
        return [NeedsTool(name) for name in names]
    return [ToolEffect(name, "deny") for name in names]
