"""The life of a version, and who may move it on.

::

    DRAFT -> REVIEWED -> ACTIVE -> DEPRECATED -> RETIRED
      ^         |          ^           |
      +---------+          +-----------+

A reviewer is another person than the author. Nobody moves a rule of a higher authority than
their own. A version becomes active only where it contradicts no active rule; the version before
it is then deprecated.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from steguard.instructions.compiler import InstructionConflict
from steguard.instructions.records import Instruction, Source, Status, version_key
from steguard.instructions.registry import (
    Event,
    InstructionError,
    InstructionStore,
    MemoryStore,
    Rollout,
    UnknownInstruction,
)
from steguard.instructions.survey import find_conflicts


class Role(StrEnum):
    AUTHOR = "author"
    REVIEWER = "reviewer"
    PUBLISHER = "publisher"


class Actor(BaseModel):
    """A person or a program that works on rules."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    roles: frozenset[Role]
    authority: Source = Source.DEVELOPER


class NotPermitted(InstructionError):
    """This actor may not do this; the message says who may."""


STEPS: dict[tuple[Status, Status], Role] = {
    (Status.DRAFT, Status.REVIEWED): Role.REVIEWER,
    (Status.REVIEWED, Status.DRAFT): Role.REVIEWER,
    (Status.REVIEWED, Status.ACTIVE): Role.PUBLISHER,
    (Status.ACTIVE, Status.DEPRECATED): Role.PUBLISHER,
    (Status.DEPRECATED, Status.ACTIVE): Role.PUBLISHER,
    (Status.DEPRECATED, Status.RETIRED): Role.PUBLISHER,
    (Status.DRAFT, Status.RETIRED): Role.AUTHOR,
}


def propose(store: InstructionStore, rule: Instruction, actor: Actor) -> Instruction:
    """Add a new version as a draft. Its author is the actor."""
    _require(actor, Role.AUTHOR, rule, "propose")
    try:
        known = store.versions(rule.instruction_id)
    except UnknownInstruction:
        known = ()
    last = max(known, key=lambda r: version_key(r.version), default=None)
    if last is not None and version_key(rule.version) <= version_key(last.version):
        raise InstructionError(
            f"{rule.ref} is no new version; the last one is {last.version}. Count up"
        )
    draft = rule.model_copy(update={"status": Status.DRAFT, "author": actor.name})
    return store.add(draft, actor=actor.name)


def move(
    store: InstructionStore,
    instruction_id: str,
    version: str,
    to: Status,
    actor: Actor,
    *,
    reason: str = "",
    clock: Callable[[], float] = time.time,
) -> Instruction:
    """Move a version one step on. Raises :class:`NotPermitted`, :class:`InstructionError`, or
    :class:`InstructionConflict` where the version would contradict active rules.
    """
    rule = store.get(instruction_id, version)
    role = STEPS.get((rule.status, to))
    if role is None:
        after = [b.value for a, b in STEPS if a is rule.status]
        raise InstructionError(
            f"{rule.ref} is {rule.status.value}; from there it can become "
            f"{' or '.join(after) or 'nothing'}, not {to.value}"
        )
    _require(actor, role, rule, f"make {rule.ref} {to.value}")
    if to is Status.REVIEWED and actor.name == rule.author:
        raise NotPermitted(f"{actor.name} wrote {rule.ref}; another person reviews it")
    if to is Status.ACTIVE:
        _require_harmony(store, rule)
    at = clock()
    moved = store.move(_event(rule, to, actor.name, at, reason))
    if to is Status.ACTIVE:
        for other in store.versions(instruction_id):
            if other.status is Status.ACTIVE and other.ref != moved.ref:
                store.move(
                    _event(other, Status.DEPRECATED, actor.name, at, f"replaced by {moved.ref}")
                )
    return moved


def release(store: InstructionStore, rollout: Rollout, actor: Actor) -> None:
    """Give a version to a share of the tasks. A rule that protects goes to all at once."""
    rule = store.get(rollout.instruction_id, rollout.version)
    _require(actor, Role.PUBLISHER, rule, f"release {rule.ref}")
    if rule.status not in (Status.REVIEWED, Status.ACTIVE):
        raise InstructionError(f"{rule.ref} is {rule.status.value}; review it before its release")
    if rule.kind.protects and 0 < rollout.share < 1:
        raise InstructionError(
            f"{rule.ref} is of the kind '{rule.kind.value}' and goes to all tasks at once"
        )
    _require_harmony(store, rule)
    store.set_rollout(rollout)


def _require(actor: Actor, role: Role, rule: Instruction, what: str) -> None:
    if role not in actor.roles:
        raise NotPermitted(f"{actor.name} may not {what}; that needs the role '{role.value}'")
    if actor.authority.authority < rule.authority:
        raise NotPermitted(
            f"{actor.name} may not {what}: the rule is of '{rule.source.value}', "
            f"above '{actor.authority.value}'"
        )


def _require_harmony(store: InstructionStore, rule: Instruction) -> None:
    """Refuse a version that would contradict the rules that are active."""
    others = [
        other
        for other in store.rules()
        if other.status is Status.ACTIVE and other.instruction_id != rule.instruction_id
    ]
    trial = MemoryStore([*others, rule.with_status(Status.ACTIVE)])
    for binding in store.bindings():
        if binding.version is None and binding.instruction_id in {r.instruction_id for r in others}:
            trial.bind(binding)
    found = [c for c in find_conflicts(trial) if not c.settled and rule.ref in c.refs]
    if found:
        raise InstructionConflict(found)


def _event(rule: Instruction, to: Status, actor: str, at: float, reason: str) -> Event:
    return Event(
        instruction_id=rule.instruction_id,
        version=rule.version,
        before=rule.status,
        after=to,
        actor=actor,
        at=at,
        reason=reason,
    )
