"""The time of one decision with 1,000 policies, beside Cedar and casbin in the same run.

The rules are spread over 100 tools and 20 projects, as those of a company's agents are: allow,
ask and deny, with limits of a path, a number and a list. The same rules are given to Cedar
(``cedarpy``, once with the policies as text for each request and once read before, which is
``us_per_decision``) and, without their conditions, to casbin. Each decision of the gate is
compared with Cedar's: ``disagreements`` must be 0.

Peers: ``pip install cedarpy casbin``. A peer that is not installed is left out.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from common import emit, machine, parser, versions

from steguard.gate import Context, Effect, Gate, Policy, ToolCall, load_policy
from steguard.gate.cedar import ordered, to_cedar, to_request

TOOLS = [f"tool_{number}" for number in range(100)]
PROJECTS = [f"project-{number}" for number in range(20)]
SCHEMA = {
    "type": "object",
    "required": ["path"],
    "properties": {
        "path": {"type": "string"},
        "amount": {"type": "integer", "minimum": 0},
        "to": {"type": "array", "items": {"type": "string"}},
    },
}


def policy(count: int, random_: random.Random) -> Policy:
    """Rules over all tools and projects."""
    rules = []
    for number in range(count):
        folder = f"/data/{number % 7}/"
        arguments: dict[str, Any] = {"path": {"pattern": f"{folder}.*"}}
        if number % 2:
            arguments["amount"] = {"min": 0.0, "max": float(number % 9 + 1), "optional": True}
        if number % 5 == 0:
            arguments["to"] = {"each": {"enum": ["a", "b", "c"]}, "optional": True}
        rules.append(
            {
                "id": f"rule-{number:04}",
                "effect": random_.choice(["allow", "allow", "ask", "deny"]),
                "tools": [TOOLS[number % len(TOOLS)]],
                "scope": {"project": random_.sample(PROJECTS, 3)},
                "arguments": arguments,
            }
        )
    tools = {name: {"schema": SCHEMA, "side_effect": "write"} for name in TOOLS}
    return load_policy({"tools": tools, "rules": rules})


def requests(count: int, random_: random.Random) -> list[tuple[ToolCall, Context]]:
    """Calls in a project, with and without the optional arguments."""
    made = []
    for _ in range(count):
        arguments: dict[str, Any] = {"path": f"/data/{random_.randrange(8)}/file.txt"}
        if random_.random() < 0.6:
            arguments["amount"] = random_.randrange(12)
        if random_.random() < 0.4:
            arguments["to"] = random_.sample(["a", "b", "c", "d"], 2)
        context = Context(task_id="T-1", scope={"project": random_.choice(PROJECTS)})
        made.append((ToolCall(random_.choice(TOOLS), arguments), context))
    return made


def timed(run: Callable[[Any], Any], items: list[Any], rounds: int = 5) -> tuple[float, list[Any]]:
    """Microseconds for one item in the best of some rounds, and the results."""
    best, results = float("inf"), []
    for _ in range(rounds):
        start = time.perf_counter()
        results = [run(item) for item in items]
        best = min(best, (time.perf_counter() - start) / len(items) * 1e6)
    return best, results


def cedar(rules: Policy, pairs: list[tuple[ToolCall, Context]]) -> dict[str, Any] | None:
    try:
        import cedarpy
    except ImportError:
        return None
    text = to_cedar(rules)
    read = cedarpy.PolicySet.from_str(text)
    entities = cedarpy.Entities.from_json_str("[]")
    wanted = [to_request(*pair) for pair in pairs]
    names = {f"policy{number}": rule for number, rule in enumerate(ordered(rules))}

    def effect(request: Any) -> Effect:
        answer = cedarpy.is_authorized(request, read, entities)
        if answer.decision is not cedarpy.Decision.Allow:
            return Effect.DENY
        asked = any(names[one].effect is Effect.ASK for one in answer.diagnostics.reasons)
        return Effect.ASK if asked else Effect.ALLOW

    us, effects = timed(effect, wanted, rounds=3)
    text_us, _ = timed(lambda one: cedarpy.is_authorized(one, text, []), wanted[:10], rounds=2)
    return {"us_per_decision": us, "us_per_decision_from_text": text_us, "effects": effects}


MODEL = """
[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act, eft
[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))
[matchers]
m = r.sub == p.sub && r.obj == p.obj && r.act == p.act
"""


def casbin(rules: Policy, pairs: list[tuple[ToolCall, Context]]) -> dict[str, Any] | None:
    try:
        import casbin as peer
    except ImportError:
        return None
    model = peer.Model()
    model.load_model_from_text(MODEL)
    enforcer = peer.Enforcer(model)
    for rule in rules.rules:
        effect = "deny" if rule.effect is Effect.DENY else "allow"
        for project in rule.scope["project"]:
            enforcer.add_policy("agent", project, rule.tools[0], effect)
    wanted = [("agent", context.scope["project"], call.name) for call, context in pairs[:20]]
    us, _ = timed(lambda one: enforcer.enforce(*one), wanted, rounds=1)
    return {"us_per_decision": us}


def measure(count: int, calls: int) -> dict[str, Any]:
    random_ = random.Random(7)
    rules = policy(count, random_)
    pairs = requests(calls, random_)
    gate = Gate(rules)
    gate.decide(*pairs[0])
    us, decisions = timed(lambda pair: gate.decide(*pair), pairs)
    peers: dict[str, Any] = {}
    disagreements = None
    found = cedar(rules, pairs)
    if found is not None:
        effects = found.pop("effects")
        disagreements = sum(d.effect is not e for d, e in zip(decisions, effects, strict=True))
        peers["cedar"] = found
    other = casbin(rules, pairs)
    if other is not None:
        peers["casbin"] = other
    return {
        "machine": machine(),
        "versions": versions("cedarpy", "casbin", "regex"),
        "n": calls,
        "policies": count,
        "us_per_decision": us,
        "allowed": sum(d.effect is Effect.ALLOW for d in decisions),
        "asked": sum(d.effect is Effect.ASK for d in decisions),
        "peers": peers,
        "disagreements": disagreements,
    }


def show(found: dict[str, Any]) -> None:
    print(f"{found['policies']} policies, {found['n']} calls, disagreements with Cedar: ", end="")
    print("not measured" if found["disagreements"] is None else found["disagreements"])
    rows = [("steguard", found["us_per_decision"])]
    rows += [(name, peer["us_per_decision"]) for name, peer in found["peers"].items()]
    for name, us in rows:
        print(f"  {name:<10}{us:>12.1f} us per decision")


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--policies", type=int, default=1000)
    options.add_argument("--calls", type=int, default=400)
    arguments = options.parse_args()
    emit(measure(arguments.policies, arguments.calls), arguments.json, show)


if __name__ == "__main__":
    main()
