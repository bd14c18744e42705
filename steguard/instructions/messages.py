"""The messages of a call: the rules first, then the user's request, then material in fences.

A token budget never touches a rule that protects, nor a rule that does not say how it may be
shortened. What still does not fit is reported as a conflict of resources.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from steguard.errors import UsageError
from steguard.gate.model import Source as Label
from steguard.instructions.conflict import Conflict, ConflictKind
from steguard.instructions.fence import Material, explain, fence, visible
from steguard.instructions.records import Instruction, Kind, State, canonical

Shortened = Literal["template", "reference"]

_PURPOSES = (
    Kind.SAFETY,
    Kind.COMPLIANCE,
    Kind.PERMISSION,
    Kind.EXECUTION_LIMIT,
    Kind.BUDGET,
    Kind.WORKFLOW,
    Kind.EVIDENCE,
    Kind.OUTPUT_REQUIREMENT,
    Kind.OUTPUT_FORMAT,
    Kind.PREFERENCE,
)
_ROLES = ("user", "assistant", "tool")


@dataclass(frozen=True)
class Page:
    """What the messages are made of."""

    state: State
    request: str
    materials: Sequence[Material]
    history: Sequence[Mapping[str, Any]]
    rules: Sequence[Instruction]
    checked: Mapping[str, str]
    nonce: str
    inputs: Mapping[str, Any]


def estimate_tokens(text: str) -> int:
    """A safe guess without a tokenizer: four Latin letters or one other character a token."""
    latin = sum(ord(char) < 0x250 for char in text)
    return math.ceil(latin / 4) + len(text) - latin


def by_purpose(rules: Sequence[Instruction]) -> list[Instruction]:
    """The order of the text: authority, then purpose, then priority, then name."""
    return sorted(
        rules,
        key=lambda r: (-r.authority, _PURPOSES.index(r.kind), -r.priority, r.instruction_id),
    )


def assemble(
    page: Page, budget: int | None, estimate: Callable[[str], int]
) -> tuple[list[dict[str, Any]], dict[str, Shortened]]:
    """The messages, and which rules were shortened how.

    Raises :class:`~steguard.instructions.compiler.InstructionConflict` where they do not fit.
    """
    shortened: dict[str, Shortened] = {}
    messages = _messages(page, shortened)
    if budget is None:
        return messages, shortened
    for rule in reversed(by_purpose(page.rules)):
        if _size(messages, estimate) <= budget:
            return messages, shortened
        how = rule.shortening
        if how == "template" and rule.short:
            shortened[rule.ref] = "template"
        elif how == "reference" and rule.reference:
            shortened[rule.ref] = "reference"
        else:
            continue
        messages = _messages(page, shortened)
    size = _size(messages, estimate)
    if size > budget:
        raise _too_long(page, size, budget, estimate)
    return messages, shortened


def _too_long(page: Page, size: int, budget: int, estimate: Callable[[str], int]) -> Exception:
    from steguard.instructions.compiler import InstructionConflict

    parts = [("the request", estimate(page.request))]
    parts += [(f"the material '{m.id}'", estimate(m.text)) for m in page.materials]
    parts += [(rule.ref, estimate(text_of(rule))) for rule in page.rules]
    largest = ", ".join(f"{name} {count}" for name, count in sorted(parts, key=lambda p: -p[1])[:5])
    return InstructionConflict(
        [
            Conflict(
                ConflictKind.RESOURCE,
                ("output.budget.prompt",),
                tuple(page.rules),
                f"The messages take {size} tokens; the budget is {budget}. Largest: {largest}.",
                "Divide the task, give less material, declare how rules may be shortened, or "
                "raise the budget.",
            )
        ]
    )


def _size(messages: Sequence[Mapping[str, Any]], estimate: Callable[[str], int]) -> int:
    texts = (m["content"] if isinstance(m.get("content"), str) else canonical(m) for m in messages)
    return sum(estimate(text) + 4 for text in texts)


def _messages(page: Page, shortened: Mapping[str, Shortened]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": _system(page, shortened)}]
    messages.append({"role": "user", "content": page.request})
    messages += [_turn(turn, index, page.nonce) for index, turn in enumerate(page.history)]
    if page.materials:
        blocks = "\n\n".join(fence(material, page.nonce) for material in page.materials)
        messages.append({"role": "user", "content": f"Material for the task:\n\n{blocks}"})
    return messages


def _turn(turn: Mapping[str, Any], index: int, nonce: str) -> dict[str, Any]:
    """An earlier turn. What a tool gave back is material; a system turn is refused."""
    role = turn.get("role")
    if role not in _ROLES:
        raise UsageError(
            f"history[{index}] has the role '{role}'; history holds user, assistant and tool "
            "turns. Rules come from the store only"
        )
    if role != "tool":
        return dict(turn)
    content = turn.get("content")
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    name = str(turn.get("tool_call_id") or turn.get("name") or index)
    material = Material(name, text, Label.TOOL_OBSERVATION, str(turn.get("name") or ""))
    return {**turn, "content": fence(material, nonce)}


def _system(page: Page, shortened: Mapping[str, Shortened]) -> str:
    lines = [_head(page.state), ""]
    rules = [rule for rule in by_purpose(page.rules) if text_of(rule)]
    if rules:
        lines += ["Obey these rules. A program checks the rules with the mark [checked].", ""]
        for number, rule in enumerate(rules, 1):
            mark = "[checked] " if rule.ref in page.checked else ""
            lines.append(f"{number}. {mark}{text_of(rule, shortened.get(rule.ref))}")
    if page.nonce:
        lines += ["", explain(page.nonce)]
    return "\n".join(lines)


def _head(state: State) -> str:
    named = [
        ("agent", state.agent),
        ("project", state.project),
        ("stage", state.stage),
        ("step", state.step),
        ("product", state.artifact),
    ]
    facts = ", ".join(f"{name} '{visible(value)}'" for name, value in named if value)
    return f"This is the task '{visible(state.task_id)}'" + (f": {facts}." if facts else ".")


def text_of(rule: Instruction, shortened: Shortened | None = None) -> str:
    """What the model reads of a rule."""
    if shortened == "template" and rule.short:
        return rule.short
    if shortened == "reference" and rule.reference:
        return f"Obey the text at {rule.reference}."
    if rule.text.strip():
        return " ".join(rule.text.split())
    if rule.key is None:
        return ""
    value = rule.value if isinstance(rule.value, str) else canonical(rule.value)
    return f"The value of '{rule.key}' is: {value}."
