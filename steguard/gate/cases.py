"""Test cases of a policy: a call, where it happens, and what the gate must say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from steguard.gate.adapters import tool_call
from steguard.gate.decide import decide
from steguard.gate.model import Context, Decision, Effect, Observation, Source, Step
from steguard.gate.policy import Policy
from steguard.gate.policyfile import PolicyError, fault, read, validated


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ObservationCase(_Model):
    tool: str
    data: Any
    arguments: dict[str, Any] = Field(default_factory=dict)
    source: Source = Source.TOOL_OBSERVATION


class Setting(_Model):
    """Where a call happens."""

    task: str = "test"
    request: str = ""
    scope: dict[str, str] = Field(default_factory=dict)
    trusted: dict[str, Any] = Field(default_factory=dict)
    observations: list[ObservationCase] = Field(default_factory=list)

    def context(self) -> Context:
        return Context(
            task_id=self.task,
            request=self.request,
            scope=self.scope,
            trusted=self.trusted,
            observations=tuple(
                Observation(one.tool, one.data, one.arguments, source=one.source)
                for one in self.observations
            ),
        )


class Case(Setting):
    """One case. What it does not say comes from ``defaults``."""

    name: str = ""
    tool: str
    arguments: dict[str, Any] | str = Field(
        default_factory=dict, description="A mapping, or the JSON text as a model writes it."
    )
    expect: Effect
    rule: str | None = None
    step: Step | None = None


class CaseFile(_Model):
    policy: str | None = Field(None, description="A policy file, beside this file.")
    defaults: Setting = Field(default_factory=Setting)
    cases: list[Case] = Field(min_length=1)


@dataclass(frozen=True)
class Outcome:
    """One case that ran; ``faults`` say what is not as the case expects."""

    case: Case
    decision: Decision
    faults: tuple[PolicyError, ...]


def run_cases(path: Path, policy: Policy | None = None) -> list[Outcome]:
    """Run the cases of a file. Raises :class:`PolicyError` where the file cannot be used."""
    from steguard.gate.policyfile import load_policy

    marked = read(path)
    file = validated(CaseFile, marked, "a file of cases")
    if policy is None:
        if file.policy is None:
            raise fault(marked, "say which policy: 'policy: FILE', or on the command line", ())
        policy = load_policy(path.parent / file.policy)
    outcomes = []
    for number, case in enumerate(file.cases):
        decision = decide(policy, tool_call(case.tool, case.arguments), _context(file, case))
        wrong = [
            fault(marked, message, ("cases", number, key))
            for key, message in _differences(case, decision).items()
        ]
        outcomes.append(Outcome(case, decision, tuple(wrong)))
    return outcomes


def _context(file: CaseFile, case: Case) -> Context:
    said = {key: getattr(case, key) for key in case.model_fields_set & Setting.model_fields.keys()}
    return file.defaults.model_copy(update=said).context()


def _differences(case: Case, decision: Decision) -> Mapping[str, str]:
    wrong: dict[str, str] = {}
    title = case.name or case.tool
    if decision.effect is not case.expect:
        said = f"the gate says {decision.effect.value}, not {case.expect.value}"
        wrong["expect"] = f"{title}: {said}. {decision.reason}"
    if case.rule is not None and decision.rule != case.rule:
        wrong["rule"] = f"{title}: the rule '{decision.rule or 'none'}' decided, not '{case.rule}'"
    if case.step is not None and decision.step is not case.step:
        said = decision.step.value if decision.step else "nothing"
        wrong["step"] = f"{title}: {said} failed, not {case.step.value}"
    return wrong
