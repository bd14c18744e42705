"""Measure the compiler, the checks and the gate on recorded model output.

No model runs here, so nothing is said of how well a model obeys. Each task has what a model wrote
and proposed; the four arms differ only in what stands around it:

- ``text``: the rules are in the prompt and nothing else
- ``structured``: and the contract checks the answer and asks again
- ``gate``: and the gate decides on each call
- ``approval``: and a person answers what the gate asks
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from rich.table import Table

from steguard.contract import Verdict
from steguard.errors import ProfileError
from steguard.gate.approvals import Approvals
from steguard.gate.errors import ApprovalRequired, Refused
from steguard.gate.executions import Executions
from steguard.gate.gate import Gate
from steguard.gate.model import Source as Label
from steguard.gate.model import ToolCall
from steguard.gate.state import MemoryStore as GateMemory
from steguard.instructions.casetests import CallSpec, context_of, run_case
from steguard.instructions.compiler import Compiled, Compiler
from steguard.instructions.fence import Material
from steguard.instructions.files import FolderStore
from steguard.instructions.messages import estimate_tokens
from steguard.instructions.outputs import Facts
from steguard.instructions.records import Instruction, State
from steguard.instructions.survey import find_conflicts
from steguard.yamlfile import Marked, parse

ARMS = ("text", "structured", "gate", "approval")
MEASURED = (
    "Measured: recorded model output against the compiler, the checks and the gate. "
    "Not measured: how well a model obeys, or whether a source supports a fact."
)
_KEY = b"recorded tasks need no secret!!!"
_CITATIONS = frozenset({"citation-coverage", "citations-exist"})


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Proposal(CallSpec):
    wanted: bool


class TaskSpec(_Spec):
    """A task with what a model wrote and proposed."""

    name: str
    kind: str = "task"
    state: State
    active: list[str]
    request: str
    evidence: list[str] = Field(default_factory=list)
    materials: dict[str, str] = Field(default_factory=dict)
    memories: dict[str, str] = Field(default_factory=dict)
    answers: list[str] = Field(default_factory=list)
    calls: list[Proposal] = Field(default_factory=list)
    approved: list[CallSpec] = Field(default_factory=list)
    extra: list[Instruction] = Field(default_factory=list)


class ConflictSpec(_Spec):
    found: bool
    rules: list[dict[str, Any]] = Field(min_length=1)


class EvalSpec(_Spec):
    """The file ``eval.yaml``."""

    name: str
    rules: str = "rules"
    previous: str | None = None
    tools: dict[str, dict[str, Any]] = Field(default_factory=dict)
    always: list[str] = Field(default_factory=list)
    tasks: list[TaskSpec] = Field(min_length=1)
    conflicts: list[ConflictSpec] = Field(default_factory=list)
    transitions: dict[str, list[str]] = Field(
        default_factory=lambda: {"draft": ["awaiting_review"], "awaiting_review": ["sent"]}
    )
    current: str = "draft"


@dataclass
class _Arm:
    """The sums of one arm."""

    answers: int = 0
    adherent: int = 0
    cited: int = 0
    citing: int = 0
    unwanted: int = 0
    unwanted_run: int = 0
    wanted: int = 0
    wanted_run: int = 0
    tasks: int = 0
    succeeded: int = 0
    tokens: int = 0
    seconds: float = 0.0
    by_kind: dict[str, list[int]] = field(default_factory=dict)

    def rates(self) -> dict[str, Any]:
        return {
            "adherence": _rate(self.adherent, self.answers),
            "citation_pass_rate": _rate(self.cited, self.citing),
            "unauthorized_block_rate": _rate(self.unwanted - self.unwanted_run, self.unwanted),
            "wanted_calls_run": _rate(self.wanted_run, self.wanted),
            "task_success_rate": _rate(self.succeeded, self.tasks),
            "tokens": self.tokens,
            "milliseconds": round(self.seconds * 1000, 1),
            "success_by_kind": {k: _rate(*v) for k, v in sorted(self.by_kind.items())},
        }


def _rate(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def shipped() -> Path:
    """The folder of the shipped tasks."""
    return Path(__file__).parent / "examples"


def evaluate_folder(folder: Path | None = None) -> dict[str, Any]:
    """Measure with the ``eval.yaml`` of a folder. Raises :class:`ProfileError` for a bad file."""
    folder = folder or shipped()
    spec = _read(folder / "eval.yaml")
    store = FolderStore(folder / spec.rules)
    compiler = Compiler(store, spec.tools, "recorded", _KEY)
    found = [_found(case) for case in spec.conflicts]
    truths = [case.found for case in spec.conflicts]
    report: dict[str, Any] = {
        "name": spec.name,
        "measured": MEASURED,
        "tasks": len(spec.tasks),
        "rules": len(store.rules()),
        "activation": _activation(compiler, spec.tasks),
        "conflicts": {
            "sets": len(truths),
            "recall": _rate(sum(f and t for f, t in zip(found, truths, strict=True)), sum(truths)),
            "precision": _rate(
                sum(f and t for f, t in zip(found, truths, strict=True)), sum(found)
            ),
        },
    }
    with _Recorded() as recorded:
        report["arms"] = {arm: _run_arm(arm, compiler, spec, recorded).rates() for arm in ARMS}
    if spec.previous:
        report["regression"] = _regression(FolderStore(folder / spec.previous), compiler)
    return report


def _read(path: Path) -> EvalSpec:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"the tasks cannot be read: {error}", file=str(path)) from None
    marked: Marked = parse(text, str(path))
    try:
        return EvalSpec.model_validate(marked.data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        loc = tuple(part for part in first["loc"] if isinstance(part, str | int))
        place = ".".join(map(str, loc))
        raise marked.error(f"'{place}': {first['msg']}", loc) from None


def _found(case: ConflictSpec) -> bool:
    rules = [
        Instruction.model_validate({"id": f"r{number}", **raw})
        for number, raw in enumerate(case.rules)
    ]
    return bool(find_conflicts(rules))


def _activation(compiler: Compiler, tasks: Sequence[TaskSpec]) -> dict[str, Any]:
    right, wanted, wrong, faults = 0, 0, 0, []
    for task in tasks:
        compiled = _compile(compiler, task, Facts(task_id=task.state.task_id))
        active = {rule.instruction_id for rule in compiled.resolution.rules}
        right += len(active & set(task.active))
        wanted += len(set(task.active))
        wrong += len(active - set(task.active))
        if active != set(task.active):
            faults.append(task.name)
    return {"accuracy": _rate(right, wanted), "false_activations": wrong, "faults": faults}


def _compile(compiler: Compiler, task: TaskSpec, facts: Facts) -> Compiled:
    materials = [Material(name, text) for name, text in task.materials.items()]
    materials += [Material(n, t, Label.MEMORY_RECORD) for n, t in task.memories.items()]
    return compiler.compile(
        task.state, task.request, materials=materials, extra=task.extra, facts=facts
    )


def _run_arm(arm: str, compiler: Compiler, spec: EvalSpec, recorded: _Recorded) -> _Arm:
    sums = _Arm()
    for task in spec.tasks:
        begun = time.perf_counter()
        memory = GateMemory()
        facts = Facts(
            task_id=task.state.task_id,
            evidence=dict.fromkeys(task.evidence, task.state.task_id),
            state=spec.current,
            transitions=spec.transitions,
            records=Executions(memory),
        )
        compiled = _compile(compiler, task, facts)
        good = _answer(arm, compiled, task, sums, recorded)
        good &= _calls(arm, compiled, task, memory, sums)
        sums.seconds += time.perf_counter() - begun
        sums.tasks += 1
        sums.succeeded += good
        kind = sums.by_kind.setdefault(task.kind, [0, 0])
        kind[0] += good
        kind[1] += 1
    return sums


def _answer(arm: str, compiled: Compiled, task: TaskSpec, sums: _Arm, recorded: _Recorded) -> bool:
    """Take the first draft, or let the guard ask again; says whether the last one obeys."""
    prompt = sum(estimate_tokens(str(m["content"])) for m in compiled.messages)
    if not task.answers:
        sums.tokens += prompt
        return True
    if arm == "text":
        verdict, drafts = compiled.contract.check(task.answers[0]), 1
    else:
        verdict, drafts = recorded.last_draft(compiled, task.answers)
    sums.tokens += prompt * drafts + sum(estimate_tokens(a) for a in task.answers[:drafts])
    sums.answers += 1
    sums.adherent += verdict.passed
    if any(
        check.name in ("citation_coverage", "citations_exist") for check in compiled.contract.checks
    ):
        sums.citing += 1
        readable = verdict.data is not None
        sums.cited += readable and not any(f.rule in _CITATIONS for f in verdict.errors)
    return verdict.passed


class _Recorded:
    """A real client of a local server that says what was recorded."""

    def __init__(self) -> None:
        from openai import OpenAI

        from steguard.testing import ScriptedModel

        self._answers: list[str] = []
        self._model = ScriptedModel(lambda request: self._answers.pop(0))  # noqa: ARG005
        self._client = OpenAI(base_url=self._model.base_url, api_key="none", max_retries=0)

    def __enter__(self) -> Self:
        self._model.__enter__()
        return self

    def __exit__(self, *details: object) -> None:
        self._client.close()
        self._model.__exit__(*details)

    def last_draft(self, compiled: Compiled, answers: Sequence[str]) -> tuple[Verdict, int]:
        """The last draft of a guarded call, checked, and how many drafts there were."""
        from steguard import Guard

        self._answers = list(answers)
        settings = {"retry": {"max_attempts": len(answers)}, "fallback": "best"}
        guard = Guard(self._client, compiled.contract.with_settings(settings))
        guard.chat.completions.create(model="recorded", messages=list(compiled.messages))
        result = guard.last_result
        if result is None:
            raise RuntimeError("the guard gave no result")
        return compiled.contract.check(result.attempts[-1].draft), len(result.attempts)


def _calls(arm: str, compiled: Compiled, task: TaskSpec, memory: GateMemory, sums: _Arm) -> bool:
    """Run the proposed calls as the arm permits; says whether exactly the wanted ones ran."""
    ran = [_ran(arm, compiled, task, call, memory) for call in task.calls]
    for call, done in zip(task.calls, ran, strict=True):
        if call.wanted:
            sums.wanted += 1
            sums.wanted_run += done
        else:
            sums.unwanted += 1
            sums.unwanted_run += done
    return all(call.wanted is done for call, done in zip(task.calls, ran, strict=True))


def _ran(
    arm: str, compiled: Compiled, task: TaskSpec, proposal: Proposal, memory: GateMemory
) -> bool:
    if arm in ("text", "structured"):
        return True
    gate = Gate(compiled.policy, memory)
    call = ToolCall(proposal.tool, proposal.arguments, call_id=proposal.tool)
    context = context_of(compiled, task.request)
    done: list[Mapping[str, Any]] = []

    def tool(**arguments: Any) -> dict[str, bool]:
        done.append(arguments)
        return {"done": True}

    try:
        gate.execute(call, context, tool)
    except ApprovalRequired as asked:
        if arm == "approval" and _approved(task.approved, proposal):
            Approvals(memory).grant(asked.approval.id, by="person")
            gate.execute(call, context, tool)
    except Refused:
        pass
    return bool(done)


def _approved(approved: Iterable[CallSpec], proposal: Proposal) -> bool:
    return any((a.tool, a.arguments) == (proposal.tool, proposal.arguments) for a in approved)


def _regression(previous: FolderStore, compiler: Compiler) -> dict[str, Any]:
    """Cases of the previous rules that held before and do not hold now."""
    old = Compiler(previous, compiler.tools, compiler.model, _KEY)
    held = [case for case in previous.cases() if run_case(old, case).passed]
    broken = [case.case_id for case in held if not run_case(compiler, case).passed]
    return {"cases": len(held), "rate": _rate(len(broken), len(held)), "broken": broken}


def show_table(report: Mapping[str, Any]) -> Table:
    """The arms side by side, with the figures that all of them share."""
    table = Table(title=f"{report['name']}: {report['tasks']} tasks", box=None, pad_edge=False)
    table.add_column("")
    for arm in ARMS:
        table.add_column(arm, justify="right")
    for name in (
        "adherence",
        "citation_pass_rate",
        "unauthorized_block_rate",
        "wanted_calls_run",
        "task_success_rate",
        "tokens",
        "milliseconds",
    ):
        table.add_row(name, *(_shown(report["arms"][arm][name]) for arm in ARMS))
    activation, conflicts = report["activation"], report["conflicts"]
    table.caption = (
        f"activation accuracy {_shown(activation['accuracy'])}, "
        f"{activation['false_activations']} false; conflict recall "
        f"{_shown(conflicts['recall'])}, precision {_shown(conflicts['precision'])}"
    )
    if "regression" in report:
        regression = report["regression"]
        table.caption += f"; regression rate {_shown(regression['rate'])} {regression['broken']}"
    return table


def _shown(value: float | int | None) -> str:
    return "-" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)
