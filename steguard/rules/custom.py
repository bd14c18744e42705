"""Rules that a profile defines itself, as data."""

from __future__ import annotations

from steguard.rules.base import Rule
from steguard.rules.phrases import CUSTOM_TYPES

__all__ = ["CUSTOM_TYPES", "custom_rule"]


def custom_rule(name: str, kind: str) -> Rule:
    """A rule of one of the data types, under the name that the profile gives it."""
    if kind not in CUSTOM_TYPES:
        raise KeyError(f"there is no rule type '{kind}'; valid: {', '.join(sorted(CUSTOM_TYPES))}")
    return CUSTOM_TYPES[kind](name)
