"""The chain of conditions that a call must pass, in order.

Name, arguments, scope, rules with their constraints, provenance. Deny is stronger than ask, ask
is stronger than allow; what nothing allows is denied, and so is a call whose check raised.
Approval, rate and budget come after it, in :class:`steguard.gate.Gate`, which has the store.
"""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from steguard.gate.arguments import NO
from steguard.gate.delegation import breach
from steguard.gate.index import CompiledRule, Index, Matched, ToolIndex
from steguard.gate.model import (
    STRENGTH,
    Check,
    Context,
    Decision,
    Effect,
    NotCanonical,
    SideEffect,
    Step,
    ToolCall,
    digest,
)
from steguard.gate.policy import Delegation, Policy
from steguard.gate.provenance import Seen, look

ASK_USER = "Ask the user."


def decide(policy: Policy, call: ToolCall, context: Context, *, explain: bool = False) -> Decision:
    """What the policy says about this call. It never raises: an error is a deny.

    With ``explain`` the decision lists every condition that the gate looked at.
    """
    chain = _Chain(policy, call, context, explain)
    try:
        own = chain.run()
        if policy.under is None:
            return own
        return chain.under(own, policy.under)
    except Exception as error:
        return chain.deny(
            Step.ERROR,
            f"A check failed with {type(error).__name__}: {error}. The gate denies on any error.",
            rule=chain.at_rule,
        )


class _Chain:
    def __init__(self, policy: Policy, call: ToolCall, context: Context, explain: bool) -> None:
        self.policy, self.call, self.context = policy, call, context
        self.explain = explain
        self.checks: list[Check] = []
        self.digest = ""
        self.at_rule = ""
        self._seen: Seen | None = None

    def seen(self) -> Seen:
        if self._seen is None:
            self._seen = look(self.policy, self.context)
        return self._seen

    def run(self) -> Decision:
        call = self.call
        try:
            self.digest = digest(call.name, call.arguments, self.context.task_id, self.policy.hash)
        except NotCanonical as error:
            return self.deny(Step.ARGUMENTS, f"The arguments are no plain JSON: {error}.")
        index = self.policy.index
        tool = index.tools.get(call.name)
        if tool is None:
            return self._unknown_tool(index)
        self.note(Step.TOOL, True, "The policy knows the tool.")
        if call.fault is not None:
            return self.deny(Step.ARGUMENTS, f"The arguments cannot be read: {call.fault}.")
        if tool.test is not None:
            fault = tool.test(call.arguments, "")
            if fault is not None:
                pointer, message = fault
                name = pointer[1:] or "arguments"
                return self.deny(
                    Step.ARGUMENTS, f"The argument '{name}' {message}.", pointer=pointer
                )
        self.note(Step.ARGUMENTS, True, "The arguments have the form that the tool asks for.")
        rules = tool.candidates(self.context.scope)
        if not rules:
            return self._no_rule(tool)
        if self.explain:
            self.note(Step.SCOPE, True, f"Rules that apply in this scope: {len(rules)}.")
        return self._by_rules(rules)

    def _by_rules(self, rules: list[CompiledRule]) -> Decision:
        near: tuple[Matched, CompiledRule] | None = None
        best: tuple[Matched, CompiledRule] | None = None
        for one in rules:
            self.at_rule = one.rule.id
            matched = one.match(self.call.arguments, self.seen)
            holds = matched.verdict is not NO
            if self.explain:
                self._explain(one, matched, holds)
            if not holds:
                if one.rule.effect is not Effect.DENY and _nearer(matched, near):
                    near = matched, one
                continue
            if one.rule.effect is Effect.DENY and not self.explain:
                return self._forbidden(one)
            if best is None or STRENGTH[matched.effect] > STRENGTH[best[0].effect]:
                best = matched, one
        if best is not None and best[1].rule.effect is Effect.DENY:
            return self._forbidden(best[1])
        if best is None:
            return self._nothing_allows(near)
        matched, one = best
        if matched.effect is Effect.ASK:
            return self._ask(matched, one)
        return self._decision(
            Effect.ALLOW, one.rule.reason or f"The rule '{one.rule.id}' allows this.", one.rule.id
        )

    def _ask(self, matched: Matched, one: CompiledRule) -> Decision:
        if matched.step is Step.PROVENANCE:
            reason = (
                f"The value of '{_name(matched.pointer)}' comes from {matched.note}. "
                "A person must confirm it."
            )
        else:
            reason = one.rule.reason or f"The rule '{one.rule.id}' asks for an approval."
        return self._decision(
            Effect.ASK,
            reason,
            one.rule.id,
            step=matched.step or Step.APPROVAL,
            pointer=matched.pointer,
            alternatives=tuple(one.rule.alternatives) or (ASK_USER,),
        )

    def _forbidden(self, one: CompiledRule) -> Decision:
        reason = one.rule.reason or f"The rule '{one.rule.id}' forbids this."
        return self.deny(
            Step.RULE, reason, rule=one.rule.id, alternatives=tuple(one.rule.alternatives)
        )

    def _nothing_allows(self, near: tuple[Matched, CompiledRule] | None) -> Decision:
        if near is None:
            return self.deny(Step.RULE, f"No rule allows the tool '{self.call.name}'.")
        matched, one = near
        name = _name(matched.pointer)
        alternatives = tuple(one.rule.alternatives)
        if matched.step is Step.PROVENANCE:
            reason = f"The value of '{name}' comes from {matched.note}. "
            reason += "Such a source permits no action."
            alternatives = alternatives or (f"Ask the user for the value of '{name}'.",)
        else:
            reason = f"The argument '{name}' {matched.note}. The rule '{one.rule.id}' limits it."
        return self.deny(
            matched.step or Step.CONSTRAINT,
            reason,
            rule=one.rule.id,
            pointer=matched.pointer,
            alternatives=alternatives,
        )

    def _no_rule(self, tool: ToolIndex) -> Decision:
        if tool.scoped:
            return self.deny(Step.SCOPE, f"No rule allows '{self.call.name}' in this scope.")
        return self.deny(Step.RULE, f"No rule allows the tool '{self.call.name}'.")

    def _unknown_tool(self, index: Index) -> Decision:
        name = self.call.name
        reason = f"The policy does not know the tool {name!r}."
        known = {_skeleton(one): one for one in index.tools}
        alike = known.get(_skeleton(name))
        if alike is not None:
            reason += f" The name only looks like '{alike}'."
            return self.deny(Step.TOOL, reason)
        near = get_close_matches(name, list(index.tools), n=1)
        return self.deny(
            Step.TOOL, reason, alternatives=(f"Use the name '{near[0]}'.",) if near else ()
        )

    def under(self, own: Decision, delegation: Delegation) -> Decision:
        """The decision of this policy together with that of the policy above it."""
        refusal = breach(delegation, self.call.name, self.context)
        if refusal is not None:
            return self.deny(Step.SCOPE, refusal)
        above = decide(delegation.policy, self.call, self.context, explain=self.explain)
        stronger = above if STRENGTH[above.effect] > STRENGTH[own.effect] else own
        return replace(
            stronger,
            digest=own.digest,
            policy=own.policy,
            checks=(*above.checks, *own.checks),
            side_effect=own.side_effect,
        )

    def note(self, step: Step, passed: bool, text: str, rule: str = "", pointer: str = "") -> None:
        if self.explain:
            self.checks.append(Check(step, passed, text, rule, pointer))

    def _explain(self, one: CompiledRule, matched: Matched, holds: bool) -> None:
        if holds:
            text = f"The rule '{one.rule.id}' holds: {matched.effect.value}."
        else:
            text = f"'{_name(matched.pointer)}' {matched.note or 'fails'}."
            if matched.step is Step.PROVENANCE:
                text = f"'{_name(matched.pointer)}' comes from {matched.note}."
        step = matched.step or Step.RULE
        self.note(step, holds, text, one.rule.id, matched.pointer)

    def deny(
        self,
        step: Step,
        reason: str,
        *,
        rule: str = "",
        pointer: str = "",
        alternatives: tuple[str, ...] = (),
    ) -> Decision:
        self.note(step, False, reason, rule, pointer)
        return self._decision(
            Effect.DENY, reason, rule, step=step, pointer=pointer, alternatives=alternatives
        )

    def _decision(self, effect: Effect, reason: str, rule: str, **more: Any) -> Decision:
        return Decision(
            effect=effect,
            tool=self.call.name,
            reason=reason,
            digest=self.digest,
            rule=rule,
            call_id=self.call.call_id,
            policy=self.policy.hash,
            side_effect=self._side_effect(),
            checks=tuple(self.checks),
            **more,
        )

    def _side_effect(self) -> SideEffect:
        return self.policy.spec(self.call.name).side_effect


def _nearer(matched: Matched, near: tuple[Matched, CompiledRule] | None) -> bool:
    return near is None or matched.passed > near[0].passed


def _name(pointer: str) -> str:
    return pointer[1:] if pointer else "arguments"


def _skeleton(name: str) -> str:
    """A name without the differences that eyes do not see."""
    plain = unicodedata.normalize("NFKD", name).casefold().translate(_LOOKALIKE)
    return "".join(c for c in plain if c.isalnum())


_LOOKALIKE = str.maketrans("аеорсухіјѕһԁɡοανιτκρε01l", "aeopcyxijshdgoavitkpeoii")
