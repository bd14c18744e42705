"""Interrupt a task and go on later, under the rules and the policy of that later day.

A checkpoint holds the state of the work and which versions it used. It holds no rule, no policy
and no approval: those are read anew, so an old checkpoint cannot bring back an old permission.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from steguard.errors import UsageError
from steguard.instructions.compiler import Compiled, Compiler
from steguard.instructions.records import State, digest
from steguard.instructions.selection import Switch, TaskRules


class Checkpoint(BaseModel):
    """Where a task stands. ``data`` is the program's own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    steguard_checkpoint: Literal[1] = 1
    state: State
    task: TaskRules
    request: str
    rules: tuple[str, ...]
    policy_hash: str
    manifest_digest: str
    data: dict[str, JsonValue] = {}

    @classmethod
    def of(cls, compiled: Compiled, request: str, data: dict[str, Any] | None = None) -> Checkpoint:
        """The checkpoint of a task after a call."""
        return cls(
            state=compiled.state,
            task=compiled.task,
            request=request,
            rules=tuple(row["ref"] for row in compiled.manifest["rules"]),
            policy_hash=compiled.policy.hash,
            manifest_digest=digest(compiled.manifest),
            data=data or {},
        )

    @classmethod
    def load(cls, text: str | bytes) -> Checkpoint:
        """Read a checkpoint. Raises :class:`UsageError` for what is none."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = "/".join(str(part) for part in first["loc"])
            raise UsageError(f"this is no checkpoint: '{place}': {first['msg']}") from None

    def dump(self) -> str:
        return self.model_dump_json()


@dataclass(frozen=True)
class Resumed:
    """A task that goes on: the new call, and what is not as it was."""

    compiled: Compiled
    added: tuple[str, ...]
    gone: tuple[str, ...]
    switches: tuple[Switch, ...]
    policy_changed: bool


def resume(compiler: Compiler, checkpoint: Checkpoint, **inputs: Any) -> Resumed:
    """Compile the next call of an interrupted task with today's rules.

    ``inputs`` are those of :meth:`Compiler.compile`: material, history, facts.
    """
    state = inputs.pop("state", checkpoint.state)
    if state.task_id != checkpoint.state.task_id:
        raise UsageError("a checkpoint belongs to one task; the state names another one")
    compiled = compiler.compile(state, checkpoint.request, task=checkpoint.task, **inputs)
    now = [row["ref"] for row in compiled.manifest["rules"]]
    before = checkpoint.rules
    return Resumed(
        compiled,
        tuple(ref for ref in now if ref not in before),
        tuple(ref for ref in before if ref not in now),
        compiled.task.switches[len(checkpoint.task.switches) :],
        compiled.policy.hash != checkpoint.policy_hash,
    )
