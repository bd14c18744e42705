"""steguard makes an LLM agent write text that the next program can only understand one way.

>>> from openai import OpenAI
>>> from steguard import Guard
>>> guard = Guard(OpenAI(), profile="strict")
>>> answer = guard.chat.completions.create(model="gpt-4o-mini", messages=[...])
>>> answer.steguard.outcome
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steguard._version import __version__

if TYPE_CHECKING:
    from steguard.checks import check, fix
    from steguard.client import AsyncGuard, Guard
    from steguard.contract import Contract
    from steguard.decorator import guarded
    from steguard.errors import GuardError, OutputRejected, ProfileError
    from steguard.profile import Profile, load_profile
    from steguard.result import GuardResult
    from steguard.schema import STE
    from steguard.types import Finding, Fix, Span

__all__ = [
    "STE",
    "AsyncGuard",
    "Contract",
    "Finding",
    "Fix",
    "Guard",
    "GuardError",
    "GuardResult",
    "OutputRejected",
    "Profile",
    "ProfileError",
    "Span",
    "__version__",
    "check",
    "fix",
    "guarded",
    "load_profile",
]

# Loaded on first use, so that the import itself costs next to nothing.
_HOMES = {
    "check": "steguard.checks",
    "fix": "steguard.checks",
    "AsyncGuard": "steguard.client",
    "Guard": "steguard.client",
    "Contract": "steguard.contract",
    "guarded": "steguard.decorator",
    "GuardError": "steguard.errors",
    "OutputRejected": "steguard.errors",
    "ProfileError": "steguard.errors",
    "Profile": "steguard.profile",
    "load_profile": "steguard.profile",
    "GuardResult": "steguard.result",
    "STE": "steguard.schema",
    "Finding": "steguard.types",
    "Fix": "steguard.types",
    "Span": "steguard.types",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'steguard' has no attribute '{name}'")
    from importlib import import_module

    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
