"""All rules by name and code, found in the packages of this folder."""

from __future__ import annotations

import importlib
import pkgutil
from difflib import get_close_matches
from functools import cache

from steguard.rules.base import Rule

_FAMILIES = ("ste", "own", "zh", "limits")


@cache
def all_rules() -> dict[str, Rule]:
    """Every rule by name, in the order of the codes."""
    found: list[Rule] = []
    for family in _FAMILIES:
        package = importlib.import_module(f"steguard.rules.{family}")
        for info in pkgutil.iter_modules(package.__path__):
            if info.name.startswith("_"):
                continue
            module = importlib.import_module(f"{package.__name__}.{info.name}")
            rule = getattr(module, "RULE", None)
            if isinstance(rule, Rule):
                found.append(rule)
    found.sort(key=lambda rule: rule.code)
    return {rule.name: rule for rule in found}


@cache
def _by_code() -> dict[str, Rule]:
    return {rule.code: rule for rule in all_rules().values()}


def get_rule(name: str) -> Rule:
    """The rule with this name or code (any case).

    Raises ``KeyError`` with the nearest valid name in its message.
    """
    rule = all_rules().get(name.lower()) or _by_code().get(name.upper())
    if rule is None:
        raise KeyError(unknown_rule(name))
    return rule


def unknown_rule(name: str) -> str:
    """The message for a name that no rule has."""
    near = get_close_matches(name.lower(), all_rules(), n=1) or get_close_matches(
        name.upper(), _by_code(), n=1
    )
    hint = f"; did you mean '{near[0]}'?" if near else ""
    return f"there is no rule '{name}'{hint}"
