"""What a system prompt alone does: findings per 100 words under four prompts, no guard.

The findings are split into those of rules that the full prompt names and those of rules that it
does not name. Only the second figure is free of the circle in which a prompt names a rule and a
linter then counts that rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.task_set import Kind, in_turn
from steguard.contract import Contract, compile_contract
from steguard.rules.own.banned_words import top_substitutions

STYLE = (
    "Write short and clear sentences. Use simple words. Use the active voice. "
    "Give one instruction in each sentence. Write no introduction and no closing words."
)

Ask = Callable[[list[dict[str, str]]], str]


def system_prompts(contract: Contract) -> dict[str, str]:
    """The four prompts, from nothing to the whole prompt of the contract."""
    words = "\n".join(f"- `{bad}`: {good}".rstrip(": ") for bad, good in top_substitutions())
    return {
        "none": "",
        "banned_words": f"Do not use these words. Use the approved word:\n\n{words}",
        "style_rules": STYLE,
        "full_ste": contract.prompt,
    }


def measure(kinds: Sequence[Kind], calls: int, ask: Ask) -> dict[str, dict[str, Any]]:
    """Findings per 100 words by prompt, over so many English text tasks each."""
    contract = compile_contract("strict")
    text_kinds = [k for k in kinds if k.form == "text" and k.profile_name != "zh"]
    rows: dict[str, dict[str, Any]] = {}
    for name, system in system_prompts(contract).items():
        words = named = other = 0
        for task in in_turn(text_kinds, calls):
            messages = [{"role": "system", "content": system}] if system else []
            answer = ask([*messages, {"role": "user", "content": task.prompt}])
            verdict = contract.check(answer)
            words += sum(s.words for p in verdict.extract.parts for s in contract.sentences(p))
            in_prompt = sum(f.rule in contract.named_rules for f in verdict.findings)
            named += in_prompt
            other += len(verdict.findings) - in_prompt
        hundreds = max(words, 1) / 100
        rows[name] = {
            "per_100_words": round((named + other) / hundreds, 3),
            "named": round(named / hundreds, 3),
            "not_named": round(other / hundreds, 3),
            "words": words,
            "answers": calls,
        }
    return rows
