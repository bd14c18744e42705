"""A set of rules and material that uses much of the compiler."""

from __future__ import annotations

from typing import Any

from steguard.instructions.compiler import Compiled, Compiler
from steguard.instructions.fence import Material
from steguard.instructions.records import Instruction, State
from steguard.instructions.registry import MemoryStore

KEY = b"0123456789abcdef"
TOOLS = {
    "web_search": {"side_effect": "read"},
    "send_email": {"side_effect": "external"},
    "email.read": {"side_effect": "read"},
    "email.delete": {"side_effect": "destructive"},
}


def rule(name: str, key: str | None = None, value: Any = None, **more: Any) -> Instruction:
    return Instruction.model_validate({"id": name, "key": key, "value": value, **more})


MANY = [
    rule("a", "words", {"max": 50}, text="Be short.", scope={"tool": ["send_email", "web_search"]}),
    rule("b", "must_include", ["one", "two"], kind="preference"),
    rule("c", "tools.send_email", "ask", kind="safety"),
    rule("d", "tools.allowed", ["web_search", "send_email"], source="platform_policy"),
    rule("e", "output.words", "1-40", source="user_request"),
    rule("f", text="Be calm.", source="project_config"),
]  # fmt: skip
PIECES = [Material("d1", "one"), Material("d2", "two"), Material("d3", "three\u200b")]


def sample() -> Compiled:
    """The set, compiled."""
    compiler = Compiler(MemoryStore(MANY), TOOLS, "m", KEY)
    state = State(task_id="t", tools=tuple(TOOLS))
    return compiler.compile(state, "Do it.", materials=PIECES)
