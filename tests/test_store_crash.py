"""Processes that are killed at the worst moment, and many at once, on real databases."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steguard.gate import Gate
from steguard.gate.approvals import Approvals
from steguard.gate.audit import records, verify
from steguard.gate.errors import InProgress, OutcomeUnknown
from steguard.gate.executions import Executions
from steguard.gate.state import ApprovalState, BudgetAccount, ExecutionState
from tests.support.gates import TASK, call, grant, question
from tests.support.processes import NEEDS_FORK, Barrier, die, fork, wait
from tests.support.stores import KINDS, made_database

pytestmark = NEEDS_FORK

POLICY = {
    "steguard_gate": 1,
    "name": "crash",
    "tools": {
        "give": {"side_effect": "external", "cost": [{"budget": "gifts"}]},
        "set": {"side_effect": "write", "idempotent": True, "cost": [{"budget": "gifts"}]},
    },
    "budgets": {"gifts": {"limit": 1000, "per": "policy"}},
    "rules": [{"id": "person", "effect": "ask", "tools": ["give", "set"]}],
}
ACCOUNT = "budget:gifts|policy:crash"
POINTS = ("before the claim", "after the claim", "after the effect", "in the record", "after it")
KILLS = 100
"""On each database."""


@pytest.fixture(params=KINDS)
def url(request, tmp_path: Path):
    with made_database(request.param, tmp_path) as made:
        yield made


class Fragile:
    """A store whose process dies in or after one of its transactions."""

    def __init__(self, store: Any, point: str) -> None:
        self._store, self._point, self._count = store, point, 0

    def transact(self, work: Callable[[Any], Any]) -> Any:
        self._count += 1
        inside = {1: "before the claim", 2: "in the record"}.get(self._count) == self._point

        def dying(tx: Any) -> Any:
            result = work(tx)
            die()
            return result

        result = self._store.transact(dying if inside else work)
        if self._count == 2 and self._point == "after it":
            die()
        return result


class Effect:
    """Appends a line to a file: what happened is seen from outside, whoever died."""

    def __init__(self, path: Path, point: str = "") -> None:
        self.path, self.point = path, point

    def __call__(self, name: str) -> str:
        if self.point == "after the claim":
            die()
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, f"{name}\n".encode())
        os.close(file)
        if self.point == "after the effect":
            die()
        return "given"

    def count(self, name: str) -> int:
        return self.path.read_text().split().count(name) if self.path.exists() else 0


def open_gate(url: str) -> Gate:
    from steguard.store import open_store

    return Gate(POLICY, open_store(url, upgrade=False))


def attempt(gate: Gate, tool: str, name: str, effect: Effect) -> str:
    try:
        return gate.execute(call(tool, name, name=name), TASK, effect)
    except OutcomeUnknown:
        return "unknown"


def killed_at(gate: Gate, tool: str, name: str, path: Path, point: str) -> None:
    def work() -> None:
        gate.store = Fragile(gate.store, point)
        attempt(gate, tool, name, Effect(path, point))

    assert wait(fork(work)) == -signal.SIGKILL


AFTER = {
    # point of death: (effects and result of the next attempt) where the tool is not idempotent
    "before the claim": (1, "given"),
    "after the claim": (0, "unknown"),
    "after the effect": (1, "unknown"),
    "in the record": (1, "unknown"),
    "after it": (1, "given"),
}


@pytest.mark.parametrize("tool", ["give", "set"])
def test_kill(url: str, tool: str, tmp_path: Path):
    gate, effect = open_gate(url), Effect(tmp_path / "effects")
    for number in range(KILLS // 2):
        name, point = f"k{number}", POINTS[number % len(POINTS)]
        grant(gate, question(gate, call(tool, name, name=name)))
        killed_at(gate, tool, name, effect.path, point)
        before = effect.count(name)
        result = attempt(gate, tool, name, effect)
        assert attempt(gate, tool, name, effect) == result
        if tool == "give":
            assert (effect.count(name), result) == AFTER[point], point
        else:
            assert result == "given"
            assert effect.count(name) == before + (point != "after it")
    assert len(Executions(gate.store).all()) == KILLS // 2
    check_approvals(gate, KILLS // 2)
    assert used(gate) == KILLS // 2
    assert verify(gate.store) == []
    gate.store.close()


def check_approvals(gate: Gate, count: int) -> None:
    """Each was spent once; no second question was asked."""
    approvals = Approvals(gate.store).all()
    assert [each.state for each in approvals] == [ApprovalState.SPENT] * count
    assert len(records(gate.store, event="approval.spent")) == count


def used(gate: Gate) -> float:
    account = gate.store.read(lambda tx: tx.get(BudgetAccount, ACCOUNT))
    return account.used


def test_kill_again_and_again(url: str, tmp_path: Path):
    """An idempotent tool gets through in the end, on the one approval and the one charge."""
    gate, effect, chance = open_gate(url), Effect(tmp_path / "effects"), random.Random(7)
    grant(gate, question(gate, call("set", "k", name="k")))
    for _ in range(10):
        killed_at(gate, "set", "k", effect.path, chance.choice(POINTS[:4]))
    assert attempt(gate, "set", "k", effect) == "given"
    done = effect.count("k")
    assert attempt(gate, "set", "k", effect) == "given"
    assert effect.count("k") == done
    check_approvals(gate, 1)
    assert used(gate) == 1
    gate.store.close()


def test_many_processes_hammer_one_key(url: str, tmp_path: Path):
    gate, effect = open_gate(url), Effect(tmp_path / "effects")
    grant(gate, question(gate, call("give", "k", name="k")))
    gate.store.close()
    barrier = Barrier()

    def work() -> int:
        mine = open_gate(url)
        barrier.wait()
        for _ in range(500):
            try:
                return 0 if attempt(mine, "give", "k", effect) == "given" else 1
            except InProgress:
                continue
        return 2

    children = [fork(work) for _ in range(8)]
    barrier.open()
    assert [wait(child) for child in children] == [0] * 8
    assert effect.count("k") == 1
    [execution] = Executions(gate.store).all()
    assert (execution.state, execution.attempts) == (ExecutionState.DONE, 1)
    check_approvals(gate, 1)
    assert used(gate) == 1
    assert verify(gate.store) == []
    gate.store.close()


def test_many_processes_never_overdraw_a_budget(url: str, tmp_path: Path):
    effect, barrier = Effect(tmp_path / "effects"), Barrier()
    policy = {
        **POLICY,
        "budgets": {"gifts": {"limit": 5, "per": "policy"}},
        "rules": [{"id": "free", "effect": "allow", "tools": ["give"]}],
    }

    def work(number: int) -> int:
        from steguard.gate.errors import Refused
        from steguard.store import open_store

        mine, done = Gate(policy, open_store(url, upgrade=False)), 0
        barrier.wait()
        for each in range(4):
            name = f"k{number}-{each}"
            try:
                done += mine.execute(call("give", name, name=name), TASK, effect) == "given"
            except Refused as refusal:
                if refusal.decision.step != "budget":
                    return 98
        return done

    children = [fork(lambda number=number: work(number)) for number in range(4)]
    barrier.open()
    assert sum(wait(child) for child in children) == 5
    assert len(effect.path.read_text().split()) == 5
    gate = open_gate(url)
    assert used(gate) == 5
    assert verify(gate.store) == []
    gate.store.close()
