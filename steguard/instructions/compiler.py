"""Rules, the task and the state of the work become one model call.

Each call is compiled anew from the store, so no rule is lost when a conversation grows long or a
program restarts. The result holds the messages, the contract that checks the answer, the gate
policy that decides on tool calls, and a manifest that says what was active and why. The same
inputs give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from steguard.contract import compile_contract
from steguard.errors import ProfileError, UsageError
from steguard.gate.policy import Policy, ToolSpec
from steguard.instructions.claims import NeedsTool, OnlyTools, ToolEffect
from steguard.instructions.conflict import Conflict
from steguard.instructions.conflicts import Resolution, resolve
from steguard.instructions.enforce import Checks, make_checks
from steguard.instructions.fence import Material, in_order, make_nonce
from steguard.instructions.keys import OUTPUT
from steguard.instructions.messages import Page, Shortened, assemble, estimate_tokens
from steguard.instructions.outputs import Facts, InstructionContract, Validator
from steguard.instructions.records import Instruction, Source, State, canonical, digest
from steguard.instructions.registry import (
    Activation,
    InstructionError,
    InstructionStore,
)
from steguard.instructions.selection import TaskRules, select
from steguard.instructions.targets import for_target
from steguard.instructions.toolpolicy import make_policy


class InstructionConflict(InstructionError):
    """The rules cannot hold together; ``conflicts`` has every contradiction."""

    def __init__(self, conflicts: Sequence[Conflict]) -> None:
        self.conflicts = tuple(conflicts)
        super().__init__(
            "\n".join(f"{c.kind.value}: {c.describe()}\n  {c.remedy}" for c in conflicts)
        )


@dataclass(frozen=True)
class Compiled:
    """One model call, ready: messages, checks, policy, and the record of how it came to be."""

    messages: tuple[dict[str, Any], ...]
    contract: InstructionContract
    policy: Policy
    manifest: dict[str, Any]
    resolution: Resolution
    task: TaskRules
    state: State

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The contradictions that were settled by authority, for a report."""
        return self.resolution.conflicts

    @property
    def guaranteed(self) -> tuple[str, ...]:
        """The rules that a program holds, whatever the model does."""
        return tuple(row["ref"] for row in self.manifest["rules"] if row["checked_by"])

    @property
    def guidance(self) -> tuple[str, ...]:
        """The rules that only the model can hold."""
        return tuple(row["ref"] for row in self.manifest["rules"] if not row["checked_by"])

    def request(self, target: str = "openai") -> dict[str, Any]:
        """Keyword arguments of a call to an API: see :func:`steguard.instructions.targets`."""
        return for_target(self.messages, target)

    def to_bytes(self) -> bytes:
        """All of it in one canonical form; the same inputs give the same bytes."""
        return canonical(
            {
                "messages": list(self.messages),
                "profile": self.contract.profile.spec.model_dump(mode="json", by_alias=True),
                "policy": self.policy.model_dump(mode="json", by_alias=True),
                "manifest": self.manifest,
            }
        ).encode("utf-8", "surrogatepass")

    def activation(self, at: float) -> Activation:
        """The record for the activation log of a store."""
        return Activation(
            task_id=self.state.task_id,
            at=at,
            rules=tuple(row["ref"] for row in self.manifest["rules"]),
            manifest_digest=digest(self.manifest),
            manifest=self.manifest,
        )


@dataclass(frozen=True)
class Compiler:
    """Compiles calls for one agent.

    ``tools`` declares the tools of the agent; ``fence_key`` is a secret for the fences around
    material; ``validators`` are checks that rules can name; ``profile`` has settings to build
    on, and ``policy`` a gate policy to build on. ``token_budget`` is the most that the messages
    may take by ``estimate``; None sets no limit.
    """

    store: InstructionStore
    tools: Mapping[str, ToolSpec | Mapping[str, Any]] = field(default_factory=dict)
    model: str = ""
    fence_key: bytes | None = None
    validators: Mapping[str, Validator] = field(default_factory=dict)
    profile: Mapping[str, Any] = field(default_factory=dict)
    policy: Policy | None = None
    token_budget: int | None = None
    estimate: Callable[[str], int] = estimate_tokens

    def compile(
        self,
        state: State,
        request: str,
        *,
        materials: Iterable[Material] = (),
        history: Sequence[Mapping[str, Any]] = (),
        task: TaskRules | None = None,
        extra: Iterable[Instruction] = (),
        above: Iterable[Instruction] = (),
        facts: Facts | None = None,
    ) -> Compiled:
        """Compile one call.

        ``request`` is the user's own text and ``extra`` are the user's rules for this task;
        ``above`` are rules of the agent that sends this one. ``history`` has the earlier turns of
        assistant, user and tools. Raises :class:`InstructionConflict` where the rules cannot hold
        together or cannot fit the token budget.
        """
        _require_task(state, task)
        own = [*_require_user(extra), *above]
        rules, moved = select(self.store, state, task, own)
        resolution = resolve(rules, state.artifact, state.tools)
        if resolution.refused:
            raise InstructionConflict(resolution.refused)
        tools = {name: _spec(tool) for name, tool in sorted(self.tools.items())}
        places = getattr(self.store, "where", None)
        checks = make_checks(resolution, self.validators, self.profile, places)
        policy, held = make_policy(resolution, tools, self.policy, _version(resolution))
        checks.checked.update({ref: by for ref, by in held.items() if ref not in checks.checked})
        page = self._page(state, request, materials, history, resolution, checks)
        messages, shortened = assemble(page, self.token_budget, self.estimate)
        manifest = self._manifest(page, resolution, policy, moved, shortened, tools, checks)
        manifest["messages_digest"] = digest(messages)
        contract = _contract(checks, facts or Facts(task_id=state.task_id))
        return Compiled(tuple(messages), contract, policy, manifest, resolution, moved, state)

    def _page(
        self,
        state: State,
        request: str,
        materials: Iterable[Material],
        history: Sequence[Mapping[str, Any]],
        resolution: Resolution,
        checks: Checks,
    ) -> Page:
        listed = in_order(materials)
        texts = [
            request,
            *(m.text for m in listed),
            *(str(turn.get("content")) for turn in history),
        ]
        inputs = {
            "state": state.model_dump(mode="json"),
            "request": request,
            "materials": [material.content() for material in listed],
            "history": [dict(turn) for turn in history],
            "rules": [[rule.ref, rule.hash] for rule in resolution.rules],
        }
        fenced = bool(listed) or any(turn.get("role") == "tool" for turn in history)
        nonce = make_nonce(self.fence_key, inputs, texts) if fenced else ""
        return Page(
            state, request, listed, list(history), resolution.rules, checks.checked, nonce, inputs
        )

    def _manifest(
        self,
        page: Page,
        resolution: Resolution,
        policy: Policy,
        task: TaskRules,
        shortened: Mapping[str, Shortened],
        tools: Mapping[str, ToolSpec],
        checks: Checks,
    ) -> dict[str, Any]:
        specs = {name: tool.model_dump(mode="json", by_alias=True) for name, tool in tools.items()}
        return {
            "task_id": page.state.task_id,
            "state": page.state.model_dump(mode="json"),
            "rules": [
                {
                    "ref": rule.ref,
                    "id": rule.instruction_id,
                    "version": rule.version,
                    "hash": rule.hash,
                    "source": rule.source.value,
                    "kind": rule.kind.value,
                    "checked_by": checks.checked.get(rule.ref),
                    "shortened": shortened.get(rule.ref),
                }
                for rule in resolution.rules
            ],
            "overridden": dict(sorted(resolution.overridden.items())),
            "set_aside": dict(sorted(resolution.aside.items())),
            "contradictions": [
                {"kind": c.kind.value, "rules": list(c.refs), "message": c.message}
                for c in resolution.conflicts
            ],
            "switches": [switch.model_dump() for switch in task.switches],
            "unmet_needs": _unmet(resolution),
            "other_products": _other_products(resolution),
            "model": self.model,
            "tool_schema_version": digest(specs),
            "input_digest": digest(page.inputs),
            "policy_hash": policy.hash,
        }


def _unmet(resolution: Resolution) -> list[str]:
    """Tools that rules need and no rule permits; the gate denies them."""
    usable = {name for name, effect in resolution.effects.items() if effect != "deny"}
    needed = {tool for rule in resolution.rules for tool in rule.needs.tools}
    return sorted(needed - usable)


def _other_products(resolution: Resolution) -> list[str]:
    """Products that rules speak of and that this call does not make, as far as its state says."""
    subjects = (
        claim.subject
        for rule in resolution.rules
        for claim in resolution.claims[rule.ref]
        if not isinstance(claim, NeedsTool | OnlyTools | ToolEffect)
    )
    return sorted({subject.space for subject in subjects} - {OUTPUT})


def _require_task(state: State, task: TaskRules | None) -> None:
    if task is not None and task.task_id != state.task_id:
        raise UsageError(
            f"the state is of the task '{state.task_id}', the versions of '{task.task_id}'"
        )


def _require_user(rules: Iterable[Instruction]) -> list[Instruction]:
    """A task brings rules of its user only, so that nobody rises by a task's data."""
    listed = list(rules)
    for rule in listed:
        if rule.source is not Source.USER:
            raise UsageError(
                f"the task brings the rule '{rule.ref}' of '{rule.source.value}'; a task has "
                "rules of 'user_request' only. Put others into the store"
            )
    return listed


def _version(resolution: Resolution) -> str:
    """The version of a policy: which versions of which rules it was made from."""
    return digest([[rule.ref, rule.hash] for rule in resolution.rules]).removeprefix("sha256:")[:16]


def _spec(tool: ToolSpec | Mapping[str, Any]) -> ToolSpec:
    return tool if isinstance(tool, ToolSpec) else ToolSpec.model_validate(dict(tool))


def _contract(checks: Checks, facts: Facts) -> InstructionContract:
    low, high = checks.characters
    try:
        base = compile_contract(checks.settings)
    except ProfileError as error:
        raise InstructionError(f"the rules make no valid checks: {error}") from None
    return InstructionContract(base.profile, base.form, tuple(checks.validators), facts, high, low)
