"""Test cases of rules: a state, a call or an answer, and what must come of it.

No model runs. A case says which rules are active, what the gate decides, whether an answer
passes, or that the rules contradict each other::

    - case_id: no-mail-in-research
      instruction_id: mail.approval
      given: {state: {stage: research}, call: {tool: send_email, arguments: {to: a@b.example}}}
      expected: {effect: ask, includes: [mail.approval]}
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from steguard.gate.gate import Gate
from steguard.gate.model import Context, ToolCall
from steguard.instructions.compiler import Compiled, Compiler, InstructionConflict
from steguard.instructions.outputs import Facts
from steguard.instructions.records import Instruction, State
from steguard.instructions.registry import CaseRecord, InstructionError


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CallSpec(_Spec):
    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class Given(_Spec):
    """What a case starts from."""

    state: State = State()
    request: str = "Do the task."
    call: CallSpec | None = None
    answer: JsonValue = None
    evidence: dict[str, str] = Field(default_factory=dict)
    current: str | None = Field(None, description="The state of the task, for transitions.")
    transitions: dict[str, list[str]] = Field(default_factory=dict)
    extra: list[Instruction] = Field(default_factory=list)


class Expected(_Spec):
    """What must come of it; each key is one check."""

    active: list[str] | None = Field(None, description="Exactly these rules are active.")
    includes: list[str] = Field(default_factory=list)
    excludes: list[str] = Field(default_factory=list)
    effect: Literal["allow", "ask", "deny"] | None = None
    passed: bool | None = None
    findings: list[str] | None = Field(None, description="Names of rules that must find a fault.")
    conflict: bool | None = None


@dataclass(frozen=True)
class CaseResult:
    """How one case ended; ``faults`` is empty where it passed."""

    case_id: str
    faults: tuple[str, ...] = ()
    active: tuple[str, ...] = field(default=())

    @property
    def passed(self) -> bool:
        return not self.faults

    def to_dict(self) -> dict[str, Any]:
        return {"case_id": self.case_id, "passed": self.passed, "faults": list(self.faults)}


def read_case(case: CaseRecord) -> tuple[Given, Expected]:
    """The parts of a case. Raises :class:`InstructionError` with the key that is wrong."""
    try:
        return Given.model_validate(case.given), Expected.model_validate(case.expected)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InstructionError(f"the case '{case.case_id}': '{place}': {first['msg']}") from None


def run_case(compiler: Compiler, case: CaseRecord) -> CaseResult:
    """Compile the state of a case and compare."""
    given, expected = read_case(case)
    facts = Facts(
        task_id=given.state.task_id,
        evidence=given.evidence,
        state=given.current,
        transitions=given.transitions,
    )
    try:
        compiled = compiler.compile(given.state, given.request, facts=facts, extra=given.extra)
    except InstructionConflict as error:
        wanted = expected.conflict is True
        return CaseResult(case.case_id, () if wanted else (f"conflict: {error}",))
    faults = list(_compare(compiled, given, expected))
    return CaseResult(case.case_id, tuple(faults), _active(compiled))


def _active(compiled: Compiled) -> tuple[str, ...]:
    return tuple(rule.instruction_id for rule in compiled.resolution.rules)


def _compare(compiled: Compiled, given: Given, expected: Expected) -> Iterator[str]:
    active = set(_active(compiled))
    if expected.conflict:
        yield "the rules were expected to contradict each other"
    if expected.active is not None and active != set(expected.active):
        missing, extra = set(expected.active) - active, active - set(expected.active)
        yield f"active: missing {sorted(missing)}, not expected {sorted(extra)}"
    for name in expected.includes:
        if name not in active:
            yield f"'{name}' is not active"
    for name in expected.excludes:
        if name in active:
            yield f"'{name}' is active"
    yield from _compare_call(compiled, given, expected)
    yield from _compare_answer(compiled, given, expected)


def _compare_call(compiled: Compiled, given: Given, expected: Expected) -> Iterator[str]:
    if expected.effect is None:
        return
    if given.call is None:
        yield "'effect' needs a 'call'"
        return
    decision = Gate(compiled.policy).decide(
        ToolCall(given.call.tool, given.call.arguments), context_of(compiled, given.request)
    )
    if decision.effect.value != expected.effect:
        yield f"the gate says '{decision.effect.value}', not '{expected.effect}': {decision.reason}"


def context_of(compiled: Compiled, request: str) -> Context:
    """The context of the gate for a compiled call."""
    levels = ("agent", "project", "workflow", "stage", "step")
    named = {name: getattr(compiled.state, name) for name in levels}
    return Context(
        task_id=compiled.state.task_id,
        request=request,
        scope={name: value for name, value in named.items() if value},
        agents=(compiled.state.agent,) if compiled.state.agent else (),
        policy_version=compiled.policy.version,
    )


def _compare_answer(compiled: Compiled, given: Given, expected: Expected) -> Iterator[str]:
    if expected.passed is None and expected.findings is None:
        return
    if given.answer is None:
        yield "'passed' and 'findings' need an 'answer'"
        return
    text = given.answer
    verdict = compiled.contract.check(
        text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
    )
    names = {finding.rule for finding in verdict.errors}
    if expected.passed is not None and verdict.passed is not expected.passed:
        yield f"the answer {'passes' if verdict.passed else 'fails'}: {sorted(names)}"
    for name in expected.findings or ():
        if name not in names:
            yield f"no finding of '{name}'; there are {sorted(names)}"
