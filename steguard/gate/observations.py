"""What tools gave back, kept with the source and the trust of each field."""

from __future__ import annotations

import logging
import secrets

from steguard.gate import provenance
from steguard.gate.model import Observation, Source, Trust, leaves
from steguard.gate.policy import Policy
from steguard.gate.state import Execution, ObservationRecord, StateStore, label

_log = logging.getLogger("steguard.gate")


def observed(
    policy: Policy | None, seen: Observation, execution: Execution, now: float
) -> ObservationRecord:
    """The record of what an execution gave back."""
    return ObservationRecord(
        id=f"ob-{secrets.token_hex(8)}",
        execution=execution.key,
        tool=execution.tool,
        task=execution.task,
        call_id=label(seen.call_id),
        arguments=execution.arguments,
        data=seen.data,
        source=seen.source.value,
        at=now,
        fields=_fields(policy, seen),
    )


def of_task(store: StateStore, task: str) -> tuple[Observation, ...]:
    """What the tools of a task gave back, for its :class:`Context`; the oldest first."""
    found = store.read(lambda tx: tx.find(ObservationRecord, {"task": label(task)}))
    return tuple(
        Observation(
            tool=each.tool,
            data=each.data,
            arguments=each.arguments,
            call_id=each.call_id,
            source=Source(each.source),
        )
        for each in found
    )


def _fields(policy: Policy | None, seen: Observation) -> dict[str, dict[str, str]]:
    """The source and the trust of each leaf; content, where nobody states more.

    It never raises: the tool ran, so what it gave back must be recorded.
    """
    content = {"source": seen.source.value, "trust": Trust.CONTENT.value}
    try:
        found = {pointer: dict(content) for pointer, _ in leaves(seen.data)}
        stated = list(provenance.fields(policy, seen)) if policy is not None else ()
    except Exception:
        _log.exception("the fields of what '%s' gave back count as content", seen.tool)
        return {"": content}
    for pointer, source, trust in stated:
        found[pointer] = {"source": source.value, "trust": trust.value}
    return found
