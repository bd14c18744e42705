"""The tasks of ``pass_rate.py``: prompts of the kinds that users have, and drafts for them.

Each file in ``tasks/`` is one kind: the profile that fits, a JSON Schema where the answer is
JSON, prompts, and a pool of drafts for the scripted model. A bad draft names the rule that it
breaks; a test holds that every pool says the truth.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from steguard.testing import Scripted

FOLDER = Path(__file__).parent / "tasks"

CUT_OFF = 0.03
REFUSED = 0.02


@dataclass(frozen=True)
class BadDraft:
    """A draft and the rule that it breaks."""

    rule: str
    text: str


@dataclass(frozen=True)
class Kind:
    """One kind of task. ``profile`` is a shipped name or the path of a profile file."""

    name: str
    profile: str
    profile_name: str
    schema: dict[str, Any] | None
    prompts: tuple[str, ...]
    good: tuple[str, ...]
    bad: tuple[BadDraft, ...]

    @property
    def form(self) -> str:
        if self.schema is not None or self.profile_name == "judge":
            return "json"
        return "html" if self.profile_name == "html" else "text"


@dataclass(frozen=True)
class Task:
    kind: Kind
    prompt: str


def load_kinds(folder: Path = FOLDER) -> list[Kind]:
    """All kinds, by name."""
    paths = sorted(p for p in folder.glob("*.yaml") if not p.name.endswith(".profile.yaml"))
    return [_load(path) for path in paths]


def _load(path: Path) -> Kind:
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    profile, name = data["profile"], data["profile"]
    if profile.endswith(".yaml"):
        file = path.parent / profile
        profile, name = str(file), yaml.safe_load(file.read_text(encoding="utf-8"))["name"]
    return Kind(
        data["kind"],
        profile,
        name,
        data.get("schema"),
        tuple(data["prompts"]),
        tuple(data["good"]),
        tuple(BadDraft(one["rule"], one["text"]) for one in data["bad"]),
    )


def in_turn(kinds: Sequence[Kind], calls: int) -> Iterator[Task]:
    """So many tasks, one of each kind in turn, so that a small number is a fair sample."""
    for number in range(calls):
        kind = kinds[number % len(kinds)]
        yield Task(kind, kind.prompts[number // len(kinds) % len(kind.prompts)])


class DisobedientModel:
    """The script of the scripted model: it writes a compliant draft with a fixed probability.

    ``first`` is the probability on the first call, ``after`` that on each call with feedback. A
    small part of the other drafts is cut off or a refusal. The same seed gives the same drafts.
    """

    def __init__(
        self, kinds: Sequence[Kind], *, first: float = 0.6, after: float = 0.6, seed: int = 1
    ) -> None:
        self._kinds = {prompt: kind for kind in kinds for prompt in kind.prompts}
        self._first, self._after = first, after
        self._random = random.Random(seed)

    def __call__(self, request: dict[str, Any]) -> Scripted:
        messages = request["messages"]
        kind = next(
            self._kinds[m["content"]]
            for m in messages
            if m["role"] == "user" and m["content"] in self._kinds
        )
        again = messages[-1]["content"] not in self._kinds
        if self._random.random() < (self._after if again else self._first):
            return Scripted(self._random.choice(kind.good))
        draft = self._random.choice(kind.bad).text
        chance = self._random.random()
        if chance < CUT_OFF:
            return Scripted(draft[: len(draft) // 2], finish_reason="length")
        if chance < CUT_OFF + REFUSED:
            return Scripted(None, refusal="I cannot help with that.")
        return Scripted(draft)


def schema_of(kind: Kind) -> dict[str, Any] | None:
    """A copy of the kind's own schema, for one guard."""
    return copy.deepcopy(kind.schema)
