"""A contradiction between rules, as a record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from steguard.instructions.records import Instruction, canonical


class ConflictKind(StrEnum):
    SAME = "same_authority"
    ACROSS = "across_authority"
    RESOURCE = "resource"
    OVERRIDE = "override_refused"
    VALUE = "bad_value"


@dataclass(frozen=True)
class Conflict:
    """Rules that contradict each other, all of them, in the one order of rules.

    ``settled``: the higher rule holds and ``aside`` names the lower rules that do not; the
    contradiction is reported and does not stop a compilation.
    """

    kind: ConflictKind
    subjects: tuple[str, ...]
    rules: tuple[Instruction, ...]
    message: str
    remedy: str
    settled: bool = False
    aside: tuple[str, ...] = ()

    @property
    def refs(self) -> tuple[str, ...]:
        return tuple(rule.ref for rule in self.rules)

    def describe(self) -> str:
        """The message and every rule with its source."""
        return "\n".join([self.message, *(f"  {line(rule)}" for rule in self.rules)])


SETTLED = "The higher rule holds. Change or remove the lower rule."
REMEDIES = {
    ConflictKind.SAME: "Keep one of the rules, or give them scopes or artifacts that do not meet.",
    ConflictKind.ACROSS: "Ask the lower source, or let the higher rule name the lower one in "
    "'overrides'.",
    ConflictKind.RESOURCE: "Split the task, ask for less, or raise the budget.",
}


def line(rule: Instruction) -> str:
    """A rule with its source, for a report."""
    value = f" {rule.key}={_short(rule.value)}" if rule.key else ""
    return f"{rule.ref} [{rule.source.value}; {rule.scope.describe()}]{value}"


def keys_of(rules: Iterable[Instruction]) -> str:
    """The keys of rules as they are written: ``'report.max_words', 'report.min_words'``."""
    return ", ".join(f"'{key}'" for key in sorted({rule.key for rule in rules if rule.key}))


def _short(value: object) -> str:
    text = value if isinstance(value, str) else canonical(value)
    return text if len(text) <= 60 else text[:57] + "..."


def names_of(rules: Iterable[Instruction]) -> str:
    """The rules by name and version."""
    return ", ".join(rule.ref for rule in rules)
