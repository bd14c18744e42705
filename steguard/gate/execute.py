"""Run a tool once: decide, claim, run, record.

The logic is one generator, which asks for each thing that takes time. Two small drivers answer
it: one for sync tools, one for async tools.

Any error before the tool runs is a refusal, and it is written to the log.
"""

from __future__ import annotations

import copy
import functools
import inspect
import json
import logging
import secrets
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from steguard.awaiting import awaited
from steguard.errors import UsageError
from steguard.gate import audit, ledger, owner
from steguard.gate.decide import decide
from steguard.gate.errors import (
    ApprovalError,
    ApprovalRequired,
    ExecutionFailed,
    NoEffect,
    Refused,
    ResultNotRecorded,
    ResultUnreadable,
)
from steguard.gate.ledger import Finished, Outcome, Proposal, Reconcile, failure_of
from steguard.gate.model import (
    Context,
    Effect,
    NotCanonical,
    SideEffect,
    Step,
    ToolCall,
    canonical,
    digest,
)
from steguard.gate.state import (
    Approval,
    Execution,
    ExecutionState,
    MemoryStore,
    StateStore,
    StoreUnavailable,
    Transaction,
    label,
)

if TYPE_CHECKING:
    from steguard.gate.gate import Gate

_log = logging.getLogger("steguard.gate")
_making_a_store = threading.Lock()


class Misfit(UsageError, NoEffect):
    """The function cannot be called in this way, so nothing ran."""


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What a hook found out about a run without a record."""

    state: ExecutionState
    result: Any = None


Hook = Callable[[Execution], Any]
"""Looks whether the effect is there; gives a :class:`Reconciled`, or None for "unknown"."""


@dataclass(frozen=True, slots=True)
class Transact:
    """Asks for a transaction."""

    work: Callable[[Transaction], Any]


@dataclass(frozen=True, slots=True)
class Call:
    """Asks for a call of the tool or of a hook."""

    function: Callable[[], Any]


Flow = Generator[Transact | Call, Any, Any]


def done(result: Any = None) -> Reconciled:
    """The effect is there; ``result`` is what the tool would have given."""
    return Reconciled(ExecutionState.DONE, result)


def not_done() -> Reconciled:
    """There was no effect: the tool may run."""
    return Reconciled(ExecutionState.NOT_DONE)


def run(
    gate: Gate,
    call: ToolCall,
    context: Context,
    fn: Callable[..., Any],
    *,
    key: str | None = None,
    reconcile: Hook | None = None,
) -> Any:
    """Run ``fn(**arguments)`` once, or raise :class:`Refused` and its kinds.

    A second call with the same key gives the recorded result and runs nothing. Without a key, the
    task and the call id are the key; without a call id, the same call of the same task is the
    same execution, except for a tool that only reads. For an async function, the return value is
    to be awaited.
    """
    if key is not None and not key.strip():
        raise UsageError("The key is empty. Leave it out, or give each execution its own key.")
    hook = reconcile or gate.reconcilers.get(call.name)
    flow = steps(gate, call, context, fn, key, hook)
    store = store_of(gate)
    return _drive_async(flow, store) if is_async(fn) else _drive(flow, store)


def ask(gate: Gate, call: ToolCall, context: Context, *, key: str | None = None) -> Approval:
    """Put the question to a person ahead of the run; the run must have the same key.

    Raises :class:`Refused` where the policy forbids the call, and :class:`ApprovalError` where
    it may run without a question.
    """
    proposal = _proposal(gate, call, context, key, "", hook=False)
    outcome = store_of(gate).transact(lambda tx: ledger.ask(tx, proposal))
    if isinstance(outcome, ApprovalRequired):
        return outcome.approval
    if outcome is not None:
        raise outcome
    raise ApprovalError(f"'{call.name}' may run with these arguments. No question is needed.")


def store_of(gate: Gate) -> StateStore:
    """The gate's store; a gate without one remembers in memory."""
    with _making_a_store:
        if gate.store is None:
            gate.store = MemoryStore()
    return gate.store


def is_async(fn: Callable[..., Any]) -> bool:
    """Whether a call of it is to be awaited."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(
        getattr(fn, "__call__", None)  # noqa: B004 - an object may have an async __call__
    )


def execution_key(gate: Gate, call: ToolCall, context: Context, key: str | None = None) -> str:
    """The key under which a call runs."""
    if key is not None:
        return label(key)
    if call.call_id:
        return label(f"{context.task_id}/{call.call_id}")
    identity = digest(call.name, call.arguments, context.task_id, "")
    reads = gate.policy.spec(call.name).side_effect is SideEffect.READ
    if reads and decide(gate.policy, call, context).effect is not Effect.ASK:
        return f"{identity}/{secrets.token_hex(6)}"
    return identity


def steps(
    gate: Gate,
    call: ToolCall,
    context: Context,
    fn: Callable[..., Any],
    key: str | None,
    hook: Hook | None,
) -> Flow:
    """The whole of it, without input and output."""
    held = owner.start()
    try:
        try:
            proposal = _proposal(gate, call, context, key, held, hook is not None)
            claim = yield Transact(lambda tx: ledger.claim(tx, proposal))
            if isinstance(claim, Reconcile) and hook is not None:
                claim = yield from _reconciled(proposal, claim.execution, hook)
        except Exception as error:
            raise (yield from _failed_to_decide(gate, call, context, held, error)) from error
        if isinstance(claim, Refused):
            raise claim
        if isinstance(claim, Finished):
            return _recorded(claim.execution)
        return (yield from _run(proposal, claim.execution, fn))
    finally:
        owner.stop(held)


def _proposal(
    gate: Gate, call: ToolCall, context: Context, key: str | None, held: str, hook: bool
) -> Proposal:
    """The call, with its arguments fixed: what is digested is what runs."""
    arguments = json.loads(canonical(dict(call.arguments)))
    fixed = replace(call, arguments=arguments)
    return Proposal(
        policy=gate.policy,
        call=fixed,
        context=context,
        key=execution_key(gate, fixed, context, key),
        digest=digest(fixed.name, arguments, context.task_id, ""),
        owner=held,
        hook=hook,
    )


def _run(proposal: Proposal, execution: Execution, fn: Callable[..., Any]) -> Flow:
    arguments = copy.deepcopy(dict(proposal.call.arguments))

    def record(outcome: Outcome) -> Transact:
        policy, call_id = proposal.policy, proposal.call.call_id
        return Transact(lambda tx: ledger.finish(tx, policy, call_id, execution, outcome))

    try:
        result = yield Call(_invocation(fn, arguments))
    except BaseException as error:
        state = ExecutionState.UNKNOWN
        if isinstance(error, Exception):
            failed = not isinstance(error, NoEffect)
            state = ExecutionState.FAILED if failed else ExecutionState.NOT_DONE
        try:
            yield record(failure_of(error, state))
        except Exception:
            _log.exception("the failure of '%s' is not recorded", execution.tool)
        raise
    outcome = ledger.outcome_of(result)
    try:
        try:
            yield record(outcome)
        except StoreUnavailable:
            yield record(outcome)
    except Exception as error:
        raise ResultNotRecorded(execution, result) from error
    return result


def _invocation(fn: Callable[..., Any], arguments: dict[str, Any]) -> Callable[[], Any]:
    try:
        inspect.signature(fn).bind(**arguments)
    except TypeError as error:
        raise Misfit(f"The function does not take these arguments: {error}.") from None
    except ValueError:  # a builtin without a signature
        pass
    return lambda: fn(**arguments)


def _reconciled(proposal: Proposal, execution: Execution, hook: Hook) -> Flow:
    """Ask the hook, write down what it says, and claim again where there was no effect."""
    try:
        answer = yield Call(lambda: hook(execution))
    except Exception:
        _log.exception("the hook of '%s' failed", execution.tool)
        answer = None

    def work(tx: Transaction) -> ledger.Claim:
        tx.lock(f"execution:{execution.key}")
        known = tx.get(Execution, execution.key)
        if known != execution:
            return ledger.claim(tx, replace(proposal, hook=False))
        if not isinstance(answer, Reconciled) or answer.state is ExecutionState.UNKNOWN:
            return ledger.doubtful(tx, proposal, execution)
        outcome = replace(ledger.outcome_of(answer.result), state=answer.state)
        call_id = proposal.call.call_id
        ledger.close(tx, proposal.policy, execution, outcome, call_id=call_id, by="hook")
        return ledger.claim(tx, replace(proposal, hook=False))

    return (yield Transact(work))


def _failed_to_decide(
    gate: Gate, call: ToolCall, context: Context, held: str, error: Exception
) -> Generator[Transact, Any, Refused]:
    """An error is a refusal. It is logged in the store, else where the program logs."""
    bare = Proposal(gate.policy, call, context, "", "", held, hook=False)
    reason = f"The gate cannot decide: {error or type(error).__name__}"
    decision = bare.refusal(reason, Step.ERROR)
    if isinstance(error, NotCanonical):
        # The policy has its own words for arguments that are no JSON data.
        decision = decide(gate.policy, call, context)
        if decision.effect is not Effect.DENY:
            decision = bare.refusal(f"The arguments are no JSON data: {error}.", Step.ARGUMENTS)
    try:
        yield Transact(lambda tx: audit.decided(tx, decision, context, agent=bare.agent))
    except Exception:
        _log.exception("refused, and the store has no record of it: %s", decision.to_dict())
    return Refused(decision)


def _recorded(execution: Execution) -> Any:
    if execution.state is ExecutionState.FAILED:
        raise ExecutionFailed(execution)
    if not execution.encoded:
        raise ResultUnreadable(execution)
    return copy.deepcopy(execution.result)


def _drive(flow: Flow, store: StateStore) -> Any:
    answer: Any = None
    error: BaseException | None = None
    while True:
        try:
            command = flow.send(answer) if error is None else flow.throw(error)
        except StopIteration as stop:
            return stop.value
        answer = error = None
        try:
            answer = _answer(command, store)
        except BaseException as raised:
            error = raised


def _answer(command: Transact | Call, store: StateStore) -> Any:
    if isinstance(command, Transact):
        return store.transact(command.work)
    value = command.function()
    if inspect.isawaitable(value):
        getattr(value, "close", lambda: None)()
        raise Misfit("The function gave an awaitable. Give a function that is 'async def'.")
    return value


async def _drive_async(flow: Flow, store: StateStore) -> Any:
    answer: Any = None
    error: BaseException | None = None
    while True:
        try:
            command = flow.send(answer) if error is None else flow.throw(error)
        except StopIteration as stop:
            return stop.value
        answer = error = None
        try:
            if isinstance(command, Transact):
                with anyio.CancelScope(shield=True):
                    answer = await anyio.to_thread.run_sync(store.transact, command.work)
            else:
                answer = await awaited(command.function())
        except BaseException as raised:
            error = raised
