"""Budgets against what the rules need."""

from __future__ import annotations

from collections.abc import Mapping

from steguard.instructions.claims import Bound, Claim
from steguard.instructions.conflict import REMEDIES, Conflict, ConflictKind
from steguard.instructions.keys import OUTPUT, Subject
from steguard.instructions.records import Instruction, ordered

TOKENS_PER_WORD = 4 / 3
"""An estimate for English, to compare words that are required with tokens that are there."""


def judge_budgets(rules: list[Instruction], claims: Mapping[str, list[Claim]]) -> list[Conflict]:
    """Budgets against the sum of what the rules need."""
    found: list[Conflict] = []
    for resource in ("token", "second", "call"):
        limits = {
            rule.ref: claim.high
            for rule in rules
            for claim in claims[rule.ref]
            if isinstance(claim, Bound) and claim.subject.name == f"budget.{resource}"
        }
        if not limits:
            continue
        limit = min(limits.values())
        demand, takers = _demand(resource, rules, claims)
        if demand <= limit:
            continue
        budgets = [rule for rule in rules if limits.get(rule.ref) == limit]
        found.append(
            Conflict(
                ConflictKind.RESOURCE,
                (f"{OUTPUT}.budget.{resource}",),
                tuple(ordered([*budgets, *(rule for rule in takers if rule not in budgets)])),
                f"The budget is {limit:g} {resource}s; the rules need {demand:g}.",
                REMEDIES[ConflictKind.RESOURCE],
            )
        )
    return found


def _demand(
    resource: str, rules: list[Instruction], claims: Mapping[str, list[Claim]]
) -> tuple[float, list[Instruction]]:
    needs = {rule.ref: float(getattr(rule.needs, f"{resource}s")) for rule in rules}
    total = sum(needs.values())
    takers = [rule for rule in rules if needs[rule.ref]]
    if resource == "token":
        words = {
            rule.ref: claim.low
            for rule in rules
            for claim in claims[rule.ref]
            if isinstance(claim, Bound)
            and claim.subject == Subject(OUTPUT, "word")
            and claim.low > 0
        }
        most = max(words.values(), default=0.0)
        total += most * TOKENS_PER_WORD
        takers += [r for r in rules if most and words.get(r.ref) == most and r not in takers]
    return total, takers
