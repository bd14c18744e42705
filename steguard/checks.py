"""Text in, findings out; and the same with the safe repairs made."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from steguard.contract import Contract, compile_contract
from steguard.profile import Profile
from steguard.repair import Fixed, fix_text
from steguard.types import Finding

ProfileLike = str | Path | Mapping[str, Any] | Profile | Contract


def check(text: str, profile: ProfileLike = "strict", *, schema: Any = None) -> list[Finding]:
    """What is wrong with a text, in the order of the text.

    ``profile`` is a shipped name, a file, a mapping or a compiled contract; ``schema`` (a path, a
    mapping or a pydantic model) makes it JSON. Raises :class:`ProfileError` for a bad profile,
    never for what the text holds.
    """
    return list(compile_contract(profile, schema=schema).check(text).findings)


def fix(
    text: str, profile: ProfileLike = "strict", *, schema: Any = None, unsafe: bool = False
) -> Fixed:
    """The text after all safe repairs, how many there were, and the findings that remain.

    ``unsafe`` also makes repairs that can change the meaning. Code, numbers and names never
    change.
    """
    return fix_text(text, compile_contract(profile, schema=schema), unsafe=unsafe)
