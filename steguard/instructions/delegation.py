"""A sub-agent's call: its own rules, under the rules and the policy of the agent that sends it.

The contract of :mod:`steguard.gate.delegation` says what is passed on. The child's call is
compiled from the child's rules and from every rule of the parent that protects; its policy is
that of parent, child and contract at once. The text of the task is a request and grants nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from steguard.gate.delegation import check_result
from steguard.gate.delegation import delegate as join_policies
from steguard.gate.policy import Contract
from steguard.instructions.claims import OnlyTools, ToolEffect
from steguard.instructions.compiler import Compiled, Compiler
from steguard.instructions.messages import text_of
from steguard.instructions.outputs import Check, Facts, Problem
from steguard.instructions.records import Instruction, Needs, Scope, State
from steguard.instructions.registry import InstructionError

INHERITED = "inherited"


def delegation(parent: Compiled, allowed_tools: Iterable[str], **terms: Any) -> Contract:
    """A contract under the parent's policy of now: ``task_scope``, ``output_schema``,
    ``evidence_requirements`` (JSON pointers), ``deadline``.
    """
    return Contract.model_validate(
        {
            **terms,
            "allowed_tools": sorted(set(allowed_tools)),
            "parent_policy_version": parent.policy.hash,
        }
    )


def compile_child(
    parent: Compiled,
    terms: Contract,
    child: Compiler,
    state: State,
    request: str,
    *,
    now: datetime | None = None,
    **inputs: Any,
) -> Compiled:
    """Compile a call of the sub-agent.

    ``inputs`` are those of :meth:`Compiler.compile`. Raises :class:`InstructionError` where the
    contract does not hold: another policy of the parent, a deadline that is over, a state outside
    the scope.
    """
    _require_valid(parent, terms, state, now or datetime.now(UTC))
    above = inherited(parent, terms)
    if terms.output_schema is not None:
        output = {**(child.profile.get("output") or {}), "schema": terms.output_schema}
        child = replace(child, profile={**child.profile, "output": {**output, "format": "json"}})
    compiled = child.compile(state, request, above=above, **inputs)
    policy = join_policies(parent.policy, terms, compiled.policy)
    contract = compiled.contract
    if terms.evidence_requirements:
        contract = replace(contract, checks=(*contract.checks, _evidence(terms)))
    manifest = {
        **compiled.manifest,
        "policy_hash": policy.hash,
        "delegation": terms.model_dump(mode="json"),
        "parent_task_id": parent.state.task_id,
    }
    return replace(compiled, policy=policy, contract=contract, manifest=manifest)


def inherited(parent: Compiled, terms: Contract) -> list[Instruction]:
    """The rules of the parent that protect: they hold for the child, whoever it is.

    A limit on a tool that the contract does not pass on has nothing to limit there. What the
    parent may do is no rule for the child.
    """
    rules = []
    for rule in parent.resolution.rules:
        tools = rule.scope.tool
        if not rule.kind.protects or (tools and not set(tools) & set(terms.allowed_tools)):
            continue
        claims = parent.resolution.claims[rule.ref]
        changes: dict[str, Any] = {
            "instruction_id": f"{INHERITED}.{rule.instruction_id}",
            "scope": Scope(tool=tools),
            "overrides": (),
        }
        if any(isinstance(claim, ToolEffect | OnlyTools) for claim in claims):
            if all(isinstance(c, ToolEffect) and c.effect == "allow" for c in claims):
                continue
            # The joined policy holds the effect; the model reads the text.
            changes |= {"key": None, "value": None, "needs": Needs(), "text": text_of(rule)}
        rules.append(rule.model_copy(update=changes))
    return rules


def _require_valid(parent: Compiled, terms: Contract, state: State, now: datetime) -> None:
    if terms.parent_policy_version != parent.policy.hash:
        raise InstructionError(
            "the contract was made under another policy of the parent; make a new contract"
        )
    if terms.deadline is not None and now > terms.deadline:
        raise InstructionError(f"the deadline of the contract, {terms.deadline}, is over")
    for level, names in terms.task_scope.items():
        permitted = {names} if isinstance(names, str) else set(names)
        if not permitted & state.level(level):
            have = ", ".join(sorted(state.level(level))) or "none"
            raise InstructionError(
                f"the contract is for {level} {' or '.join(sorted(permitted))}, not {have}"
            )


def _evidence(terms: Contract) -> Check:
    def validate(text: str, data: Any, facts: Facts) -> Iterable[Problem]:  # noqa: ARG001
        if not isinstance(data, Mapping):
            yield Problem("The contract wants JSON with evidence.", "Write a JSON object.")
            return
        mine = [name for name, owner in facts.evidence.items() if owner == facts.task_id]
        bare = terms.model_copy(update={"output_schema": None})
        for fault in check_result(bare, data, mine):
            pointer, _, message = fault.partition(": ")
            yield Problem(f"{message[:1].upper()}{message[1:]}.", "Cite evidence.", pointer)

    return Check("delegation", "evidence", validate)
