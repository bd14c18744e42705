"""Instructions for agents: a behaviour contract that a program can check.

A rule is guidance for a model and, where it has a check or a tool effect, a demand that a program
holds. Rules are no security boundary; :mod:`steguard.gate` is.

>>> compiler = Compiler(FolderStore("instructions"), fence_key=secret)
>>> call = compiler.compile(State(task_id="T-1", agent="writer", stage="draft"), "Write it.")
>>> guard = Guard(OpenAI(), call.contract)
>>> guard.chat.completions.create(model="gpt-4o-mini", **call.request())
>>> Gate(call.policy).decide(ToolCall("send_email", {"to": "ann@example.com"}), context)
"""

from __future__ import annotations

from steguard.instructions.checkpoint import Checkpoint, resume
from steguard.instructions.compiler import Compiled, Compiler, InstructionConflict
from steguard.instructions.conflict import Conflict, ConflictKind
from steguard.instructions.fence import Material
from steguard.instructions.files import FolderStore
from steguard.instructions.outputs import Facts, Problem
from steguard.instructions.records import Instruction, Kind, Scope, Source, State, Status
from steguard.instructions.registry import InstructionError, InstructionStore, MemoryStore
from steguard.instructions.selection import Migration, TaskRules
from steguard.instructions.survey import find_conflicts

__all__ = [
    "Checkpoint",
    "Compiled",
    "Compiler",
    "Conflict",
    "ConflictKind",
    "Facts",
    "FolderStore",
    "Instruction",
    "InstructionConflict",
    "InstructionError",
    "InstructionStore",
    "Kind",
    "Material",
    "MemoryStore",
    "Migration",
    "Problem",
    "Scope",
    "Source",
    "State",
    "Status",
    "TaskRules",
    "find_conflicts",
    "resume",
]
