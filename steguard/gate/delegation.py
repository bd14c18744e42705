"""An agent gives work to another agent: never more than it has.

What the other agent may do is the parent's policy, its own policy and the contract, all three at
once: a call runs only where each of them lets it. A tool that the parent holds but may not pass
on (``delegable: false``) stays with the parent, and what the child's own policy denies stays
denied. No text in a task, a result or a contract grants anything.

The contract names the parent's policy by its hash. When that policy has changed, the contract no
longer holds: make a new one with the policy of today.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from steguard.gate.arguments import find
from steguard.gate.model import Context, Effect
from steguard.gate.policy import Contract, Delegation, Policy, Rule, ToolSpec
from steguard.gate.schemas import compile_schema


def contract(parent: Policy, allowed_tools: Collection[str], **fields: Any) -> Contract:
    """A contract made with the parent's policy of today."""
    return Contract(allowed_tools=list(allowed_tools), parent_policy_version=parent.hash, **fields)


def delegate(parent: Policy, terms: Contract, child: Policy | None = None) -> Policy:
    """The policy of the other agent: parent and child and contract at once.

    Without a policy of its own, the child has what the contract passes on. Tool settings (what a
    tool changes, its rate, its cost, its approval) and budgets are the parent's.
    """
    passed = [name for name in terms.allowed_tools if name in parent.index.tools]
    mine = child or Policy.model_validate({"rules": [_pass_on(passed)] if passed else []})
    specs = {
        name: parent.spec(name)
        for name in passed
        if parent.spec(name).delegable and (child is None or name in child.index.tools)
    }
    tools = {name: _both(spec, mine.tools.get(name)) for name, spec in specs.items()}
    return mine.model_copy(
        update={
            "tools": tools,
            "budgets": {**mine.budgets, **parent.budgets},
            "observations": {**mine.observations, **parent.observations},
            "under": Delegation(policy=parent, contract=terms),
        }
    )


def _pass_on(names: list[str]) -> Rule:
    return Rule(id="delegated", effect=Effect.ALLOW, tools=names)  # type: ignore[call-arg]


def _both(parent: ToolSpec, child: ToolSpec | None) -> ToolSpec:
    """The parent's settings, with what the child adds to them."""
    if child is None:
        return parent
    return parent.model_copy(
        update={
            "schema_": child.schema_ or parent.schema_,
            "idempotent": parent.idempotent and child.idempotent,
            "delegable": parent.delegable and child.delegable,
            "approval": parent.approval or child.approval,
            "rate": parent.rate or child.rate,
            "cost": [*parent.cost, *(one for one in child.cost if one not in parent.cost)],
        }
    )


def breach(delegation: Delegation, tool: str, context: Context) -> str | None:
    """Why the contract does not cover a call; None where it does."""
    terms, parent = delegation.contract, delegation.policy
    if terms.parent_policy_version != parent.hash:
        return "The policy of the parent has changed since the contract. Make a new contract."
    if tool not in terms.allowed_tools:
        return f"The contract does not pass on the tool '{tool}'."
    if not parent.spec(tool).delegable:
        return f"The parent may not pass on the tool '{tool}'."
    if terms.deadline is not None and context.now > terms.deadline:
        return "The deadline of the contract is over."
    for key, value in terms.task_scope.items():
        values = [value] if isinstance(value, str) else value
        if context.scope.get(key) not in values:
            return f"The contract is for {key} {' or '.join(values)} only."
    return None


def check_result(
    terms: Contract, result: Mapping[str, Any], evidence: Collection[str]
) -> list[str]:
    """What is wrong with the result of the other agent; nothing where it keeps the contract.

    ``evidence`` holds the ids of the evidence that exists in the task.
    """
    faults = []
    if terms.output_schema is not None:
        fault = compile_schema(terms.output_schema)(result, "")
        if fault is not None:
            faults.append(f"{fault[0] or '/'}: {fault[1]}")
    for pointer in terms.evidence_requirements:
        faults += _evidence_faults(pointer, result, evidence)
    return faults


def _evidence_faults(
    pointer: str, result: Mapping[str, Any], evidence: Collection[str]
) -> list[str]:
    places = find(result, pointer)
    if not places:
        return [f"{pointer}: is missing; give the ids of the evidence"]
    faults = []
    for at, value in places:
        ids = value if isinstance(value, list) else [value]
        if not ids:
            faults.append(f"{at}: names no evidence")
        faults += [
            f"{at}: the evidence {one!r} does not exist" for one in ids if one not in evidence
        ]
    return faults
