"""A gate policy as Cedar text, for what Cedar can say too.

Cedar has no ``ask``: rules that ask become permits, and ``id`` annotations keep their names, so a
caller can see from the reasons of an answer whether one of them took part. A Cedar policy that
meets an error is skipped; here a rule that forbids holds in that case, so every forbid is written
with guards for omitted arguments.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import regex

from steguard.errors import UsageError
from steguard.gate.model import Context, Effect, ToolCall
from steguard.gate.policy import Constraint, Policy, Rule

_PLAIN_PATTERN = regex.compile(r"(?:[A-Za-z0-9_/:@ -]|\\[.+*?()\[\]{}|^$-]|\.\*)*")


def to_cedar(policy: Policy) -> str:
    """The rules of a policy as Cedar policies, in the order of their ids.

    Raises :class:`UsageError` for a rule with a condition that Cedar does not have: provenance,
    a pattern that is more than plain text and ``.*``, a host, a path, a length.
    """
    return "\n".join(_rule(rule, policy) for rule in ordered(policy))


def ordered(policy: Policy) -> list[Rule]:
    """The rules in the order in which :func:`to_cedar` writes them."""
    return sorted(policy.rules, key=lambda rule: rule.id)


def to_request(call: ToolCall, context: Context) -> dict[str, Any]:
    """The Cedar request of a call: the scope is in the context, with the arguments."""
    return {
        "principal": {"type": "Agent", "id": context.scope.get("agent", "")},
        "action": {"type": "Action", "id": call.name},
        "resource": {"type": "Task", "id": context.task_id},
        "context": {"args": dict(call.arguments), "scope": dict(context.scope)},
    }


def _rule(rule: Rule, policy: Policy) -> str:
    word = "forbid" if rule.effect is Effect.DENY else "permit"
    conditions = [
        *(_scope(key, value) for key, value in rule.scope.items()),
        *(
            _argument(key, constraint, rule.effect is Effect.DENY)
            for key, constraint in rule.arguments.items()
        ),
    ]
    when = f" when {{ {' && '.join(conditions)} }}" if conditions else ""
    action = _actions(rule, policy)
    return f"@id({json.dumps(rule.id)})\n{word}(principal, {action}, resource){when};"


def _actions(rule: Rule, policy: Policy) -> str:
    classes = set(rule.side_effects)
    names = {*rule.tools, *(n for n, t in policy.tools.items() if t.side_effect in classes)}
    if "*" in names:
        names = set(policy.index.tools)
    return f"action in [{', '.join(f'Action::{json.dumps(name)}' for name in sorted(names))}]"


def _scope(key: str, value: str | list[str]) -> str:
    values = [value] if isinstance(value, str) else value
    return f"(context.scope has {key} && {_set(values)}.contains(context.scope.{key}))"


def _set(values: Iterable[Any]) -> str:
    return f"[{', '.join(json.dumps(value, ensure_ascii=False) for value in values)}]"


def _argument(key: str, constraint: Constraint, forbids: bool) -> str:
    if key.startswith("/"):
        raise UsageError(f"Cedar export takes argument names only, not the pointer '{key}'.")
    at = f"context.args[{json.dumps(key)}]"
    has = f"context.args has {json.dumps(key)}"
    tests = " && ".join(_tests(at, constraint, forbids)) or "true"
    omitted_holds = forbids != constraint.optional
    return f"(!({has}) || ({tests}))" if omitted_holds else f"({has} && {tests})"


def _tests(at: str, c: Constraint, forbids: bool) -> Iterable[str]:
    said = c.model_fields_set - {"optional"}
    extra = said - {"enum", "pattern", "min", "max", "each"}
    if extra:
        raise UsageError(f"Cedar export does not have: {', '.join(sorted(extra))}.")
    if c.enum is not None:
        yield f"{_set(c.enum)}.contains({at})"
    if c.pattern is not None:
        yield f"{at} like {_like(c.pattern)}"
    if c.min is not None:
        yield f"{at} >= {int(c.min)}"
    if c.max is not None:
        yield f"{at} <= {int(c.max)}"
    if c.each is not None:
        if c.each.model_fields_set != {"enum"} or c.each.enum is None:
            raise UsageError("Cedar export takes 'each' with 'enum' only.")
        members = _set(c.each.enum)
        yield f"{at}.containsAny({members})" if forbids else f"{members}.containsAll({at})"


def _like(pattern: str) -> str:
    if not _PLAIN_PATTERN.fullmatch(pattern):
        raise UsageError(f"Cedar export takes plain text and '.*' only, not {pattern!r}.")
    parts = [regex.sub(r"\\(.)", r"\1", part) for part in pattern.split(".*")]
    return '"' + "*".join(json.dumps(part)[1:-1].replace("*", r"\*") for part in parts) + '"'
