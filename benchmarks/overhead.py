"""What the guard costs on a clean pass, against the raw client and against its peers.

    python benchmarks/overhead.py [--calls N] [--peer-python PATH] [--json]

One local scripted model answers all: the raw `openai` client, steguard with the profile
`tool-call` and a pydantic model, instructor (mode JSON_SCHEMA) and guardrails-ai (`for_pydantic`
around the same client) with the same model. The request has a system and a user message, as an
agent's has. The reply is correct, so nobody asks again. Each
contender is a process of its own, and they take turns in blocks of ten calls (`--block`; with
blocks of one every call runs on cold caches, which costs all contenders more). The times are
medians; `cpu` repeats them as processor time of the contender's process, which a busy machine
disturbs less. `by_hand_ms` is the client with the same JSON Schema in the request and
`model_validate_json` on the answer.

steguard checks more than its peers here: the sentences of the field `reason`, with all rules of
`tool-call`. `text` compares a text answer under `strict` with the raw client.

`import_ms` and `first_check_ms` are medians of fresh processes, without the interpreter's start.

Peers: `pip install "steguard[bench]"`. Where they do not go with your versions, put them into an
environment of their own and give its Python with `--peer-python`; their overhead is then taken
against the raw client of that environment. No data has to be fetched.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks import common
from benchmarks.overhead_worker import JSON_REPLY, TEXT_PROMPT, TEXT_REPLY
from steguard.testing import ScriptedModel

WORKER = Path(__file__).parent / "overhead_worker.py"
PEERS = ("instructor", "guardrails")
WARM_UP = 30

_TIMED = "import time; t = time.perf_counter(); {code}; print((time.perf_counter() - t) * 1000)"
_IMPORTS = {
    "import_ms": "import steguard",
    "import_guard_ms": "from steguard import Guard",
    "first_check_ms": "import steguard; steguard.check('Stop the web server.', 'strict')",
    "openai": "import openai",
    "instructor": "import instructor",
    "guardrails": "import guardrails",
}


class Contender:
    """A worker process and what its calls took."""

    def __init__(self, name: str, python: str, base_url: str) -> None:
        self.name = name
        self.wall: list[float] = []
        self.cpu: list[float] = []
        self._process = subprocess.Popen(
            [python, str(WORKER), name, base_url],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        told = json.loads(self._line())
        self.missing: str | None = told.get("missing")
        self.versions: dict[str, str] = told.get("versions", {})

    def call(self) -> tuple[float, float]:
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        wall, cpu = self._line().split()
        return float(wall), float(cpu)

    def measure(self) -> None:
        wall, cpu = self.call()
        self.wall.append(wall)
        self.cpu.append(cpu)

    def close(self) -> None:
        self._process.communicate()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} stopped: {self._process.communicate()[1][-2000:]}")
        return line


def measure(calls: int, peer_python: str, block: int = 10) -> dict[str, Any]:
    """Interleaved blocks of calls of all contenders that can start."""
    with ScriptedModel(_answer) as model, ExitStack() as stack:
        running: dict[str, Contender] = {}
        skipped: dict[str, str] = {}

        def start(key: str, name: str, python: str) -> None:
            contender = Contender(name, python, model.base_url)
            stack.callback(contender.close)
            if contender.missing:
                skipped[key] = contender.missing
            else:
                running[key] = contender

        for name in ("raw", "by_hand", "steguard", "raw_text", "steguard_text"):
            start(name, name, sys.executable)
        for name in PEERS:
            start(name, name, peer_python)
        if peer_python != sys.executable:
            start("peer_raw", "raw", peer_python)
        for _ in range(WARM_UP):
            for contender in running.values():
                contender.call()
        for start_of_block in range(0, calls, block):
            for contender in running.values():
                for _ in range(min(block, calls - start_of_block)):
                    contender.measure()
    return _figures(running, skipped)


def _figures(running: dict[str, Contender], skipped: dict[str, str]) -> dict[str, Any]:
    def medians(which: str) -> dict[str, float | None]:
        found = {k: statistics.median(getattr(c, which)) for k, c in running.items()}
        base, peer_base = found["raw"], found.get("peer_raw", found["raw"])
        figures: dict[str, float | None] = {f"{k}_ms": round(v, 3) for k, v in found.items()}
        for name in PEERS:
            figures.setdefault(f"{name}_ms", None)
            ratio = None
            if name in found:
                ratio = round((found["steguard"] - base) / (found[name] - peer_base), 3)
            figures[f"overhead_ratio_to_{name}"] = ratio
        figures["overhead_ms"] = round(found["steguard"] - base, 3)
        figures["text_overhead_ms"] = round(found["steguard_text"] - found["raw_text"], 3)
        return figures

    versions = {k: c.versions for k, c in running.items() if k in (*PEERS, "raw")}
    return {**medians("wall"), "cpu": medians("cpu"), "skipped": skipped, "ran_with": versions}


def _answer(request: dict[str, Any]) -> str:
    asked = [str(m["content"]) for m in request["messages"] if m["role"] == "user"]
    return TEXT_REPLY if TEXT_PROMPT in asked else JSON_REPLY


def import_times(peer_python: str, repeats: int) -> dict[str, Any]:
    """Medians of fresh processes; None for what is not installed."""
    found: dict[str, float | None] = {}
    for name, code in _IMPORTS.items():
        python = peer_python if name in PEERS else sys.executable
        command = [python, "-c", _TIMED.format(code=code)]
        times = []
        for _ in range(repeats):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                break
            times.append(float(done.stdout.split()[-1]))
        found[name] = round(statistics.median(times), 1) if times else None
    own = {name: found.pop(name) for name in ("import_ms", "import_guard_ms", "first_check_ms")}
    return {**own, "peers": {name: {"import_ms": value} for name, value in found.items()}}


def show(figures: dict[str, Any]) -> None:
    cpu = figures["cpu"]

    def row(name: str, key: str, base: str) -> tuple[object, ...]:
        wall, spent = figures[f"{key}_ms"], cpu[f"{key}_ms"]
        if wall is None:
            return (name, None, None, None, None)
        over = (wall - figures[f"{base}_ms"], spent - cpu[f"{base}_ms"])
        return (name, wall, over[0], spent, over[1])

    peer_base = "peer_raw" if "peer_raw_ms" in figures else "raw"
    rows = [
        row("raw client", "raw", "raw"),
        row("schema and pydantic by hand", "by_hand", "raw"),
        row("steguard, tool-call, schema", "steguard", "raw"),
        row("instructor", "instructor", peer_base),
        row("guardrails-ai", "guardrails", peer_base),
        row("raw client, text", "raw_text", "raw_text"),
        row("steguard, strict, text", "steguard_text", "raw_text"),
    ]
    print(common.table(("p50 in ms", "wall", "over raw", "cpu", "over raw"), rows))
    for name, why in figures["skipped"].items():
        print(f"{name}: skipped, it is not installed ({why}). pip install 'steguard[bench]'")
    for name in PEERS:
        ratio, spent = figures[f"overhead_ratio_to_{name}"], cpu[f"overhead_ratio_to_{name}"]
        if ratio is not None:
            print(f"Overhead of steguard over that of {name}: {ratio:.2f} wall, {spent:.2f} cpu")
    print()
    imports = [
        ("import steguard", figures["import_ms"]),
        ("from steguard import Guard", figures["import_guard_ms"]),
        ("import steguard and the first check with strict", figures["first_check_ms"]),
        *((f"import {name}", peer["import_ms"]) for name, peer in figures["peers"].items()),
    ]
    print(common.table(("fresh process", "ms"), imports))
    print()
    for name, told in figures["ran_with"].items():
        print(f"{name} ran with " + ", ".join(f"{k} {v}" for k, v in told.items()))


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--calls", type=int, default=300, help="calls of each contender")
    parser.add_argument("--block", type=int, default=10, help="calls in one turn")
    parser.add_argument("--imports", type=int, default=7, help="fresh processes for each import")
    parser.add_argument("--peer-python", default=sys.executable, help="the Python with the peers")
    arguments = parser.parse_args()
    figures = {
        "machine": common.machine(),
        "versions": common.versions("openai", "pydantic", "instructor", "guardrails-ai"),
        "n": arguments.calls,
        **measure(arguments.calls, arguments.peer_python, max(1, arguments.block)),
        **import_times(arguments.peer_python, arguments.imports),
    }
    for name in PEERS:
        figures["peers"][name]["ms"] = figures[f"{name}_ms"]
    common.emit(figures, arguments.json, show)


if __name__ == "__main__":
    main()
