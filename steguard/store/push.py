"""Rules from files into a database: new versions are added, what is there stays as it is."""

from __future__ import annotations

from dataclasses import dataclass

from steguard.instructions.records import Instruction
from steguard.instructions.registry import (
    ImmutableVersion,
    InstructionStore,
    UnknownInstruction,
)


@dataclass(frozen=True, slots=True)
class Pushed:
    """What a push did; rules are told as ``id@version``."""

    added: tuple[str, ...]
    known: tuple[str, ...]


def push(source: InstructionStore, target: InstructionStore, *, actor: str) -> Pushed:
    """Add the rules, bindings, shares and test cases of one store to another.

    A version that is there keeps its status, because its life goes on there. A version with other
    content is an error, and then nothing is added: raises :class:`ImmutableVersion`.
    """
    new = [rule for rule in source.rules() if not _known(target, rule)]
    for rule in new:
        target.add(rule, actor=actor)
    for binding in source.bindings():
        target.bind(binding)
    for rollout in source.rollouts():
        target.set_rollout(rollout)
    for case in source.cases():
        target.add_case(case)
    added = tuple(rule.ref for rule in new)
    return Pushed(added, tuple(r.ref for r in source.rules() if r.ref not in added))


def _known(target: InstructionStore, rule: Instruction) -> bool:
    try:
        known = target.get(rule.instruction_id, rule.version)
    except UnknownInstruction:
        return False
    if known.hash != rule.hash:
        raise ImmutableVersion(
            f"{rule.ref} is in the database with other content, and a version never changes. "
            "Give the new content a new version."
        )
    return True
