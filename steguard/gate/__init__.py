"""The tool gate: a program, not the model, says which tool calls run.

>>> gate = Gate(load_policy("policy.yaml"))
>>> gate.decide(ToolCall("send_email", {"to": ["a@example.com"]}), Context(task_id="T-1"))
"""

from __future__ import annotations

from steguard.gate.gate import Gate
from steguard.gate.model import (
    Context,
    Decision,
    Effect,
    Observation,
    SideEffect,
    Source,
    Step,
    ToolCall,
    Trust,
)
from steguard.gate.policy import Policy, Rule, ToolSpec
from steguard.gate.policyfile import PolicyError, load_policy, parse_policy

__all__ = [
    "Context",
    "Decision",
    "Effect",
    "Gate",
    "Observation",
    "Policy",
    "PolicyError",
    "Rule",
    "SideEffect",
    "Source",
    "Step",
    "ToolCall",
    "ToolSpec",
    "Trust",
    "load_policy",
    "parse_policy",
]
