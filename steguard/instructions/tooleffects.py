"""What the rules together say of each tool: deny, ask or allow.

A rule of a lower authority may say less than a higher one permits. Where it says more, the
higher rule holds and the contradiction is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from steguard.instructions.claims import Claim, NeedsTool, OnlyTools, ToolEffect
from steguard.instructions.records import Instruction

_STRICT = ("allow", "ask", "deny")
_USABLE = frozenset({"ask", "allow"})
_DENY = frozenset({"deny"})


@dataclass(frozen=True)
class ToolReport:
    """A contradiction about one tool."""

    tool: str
    rules: tuple[Instruction, ...]
    message: str
    settled: bool = False
    aside: tuple[str, ...] = ()


@dataclass
class ToolVerdict:
    """The effects that hold, the rules that do not, and the contradictions."""

    effects: dict[str, str] = field(default_factory=dict)
    aside: dict[str, str] = field(default_factory=dict)
    reports: list[ToolReport] = field(default_factory=list)


@dataclass
class _Say:
    """What one rule permits for one tool."""

    rule: Instruction
    effects: frozenset[str]
    named: bool
    """Whether the rule states an effect; a list of permitted tools only bounds it."""
    exact: bool = False
    """Whether it speaks of this tool alone, so that it says nothing where it does not hold."""


def stricter(one: str, other: str) -> str:
    """The effect that permits less."""
    return max(one, other, key=_STRICT.index)


def covers(pattern: str, tool: str) -> bool:
    """Whether a name, ``prefix.*`` or ``*`` means this tool."""
    return pattern == tool or (pattern.endswith("*") and tool.startswith(pattern[:-1]))


def judge_tools(rules: Sequence[Instruction], claims: Mapping[str, Sequence[Claim]]) -> ToolVerdict:
    """Compare all that the rules say of tools. Rules come in their one order."""
    verdict = ToolVerdict()
    named: set[str] = set()
    for rule in rules:
        for claim in claims[rule.ref]:
            if isinstance(claim, ToolEffect | NeedsTool):
                named.add(claim.tool)
            elif isinstance(claim, OnlyTools):
                named |= claim.tools
    verdict.reports += _empty_lists(rules, claims, named)
    for tool in sorted(named):
        _judge_tool(tool, rules, claims, verdict)
    return verdict


def _empty_lists(
    rules: Sequence[Instruction], claims: Mapping[str, Sequence[Claim]], named: Iterable[str]
) -> list[ToolReport]:
    """Lists of permitted tools of one authority that have no tool in common."""
    reports = []
    for authority in sorted({rule.authority for rule in rules}, reverse=True):
        lists = [
            (rule, claim.tools)
            for rule in rules
            for claim in claims[rule.ref]
            if rule.authority == authority and isinstance(claim, OnlyTools)
        ]
        if len(lists) < 2 or any(all(_listed(tool, tools) for _, tools in lists) for tool in named):
            continue
        owners = tuple(dict.fromkeys(rule for rule, _ in lists))
        reports.append(ToolReport("allowed", owners, "The lists of permitted tools share no tool."))
    return reports


def _listed(tool: str, tools: Iterable[str]) -> bool:
    return any(covers(pattern, tool) for pattern in tools)


def _judge_tool(
    tool: str,
    rules: Sequence[Instruction],
    claims: Mapping[str, Sequence[Claim]],
    verdict: ToolVerdict,
) -> None:
    says = [say for rule in rules for say in _says(tool, rule, claims[rule.ref])]
    bound, by = "allow", list[_Say]()
    for authority in sorted({say.rule.authority for say in says}, reverse=True):
        level = _merged([say for say in says if say.rule.authority == authority])
        left = frozenset(_STRICT[_STRICT.index(bound) :])
        loose = [say for say in level if not say.effects & left]
        for say in loose:
            report = _loosened(tool, by, bound, say)
            verdict.reports.append(report)
            verdict.aside |= dict.fromkeys(report.aside, by[0].rule.ref)
        held = [say for say in level if say not in loose]
        if not held:
            continue
        common = frozenset(_STRICT).intersection(*(say.effects for say in held))
        if not common and any(say.named for say in held):
            verdict.reports.append(_torn(tool, held))
        effect = next((e for e in _STRICT if e in common & left), None) or _strictest(held)
        if effect != bound or not by:
            by = [say for say in held if effect in say.effects]
        bound = effect
    if says and (bound == "deny" or any(say.effects & _USABLE for say in says)):
        verdict.effects[tool] = bound
    if says and bound == "deny":
        _judge_needs(tool, rules, claims, [s.rule for s in says if s.effects == _DENY], verdict)


def _strictest(says: Sequence[_Say]) -> str:
    said = frozenset[str]().union(*(say.effects for say in says))
    return next(effect for effect in reversed(_STRICT) if effect in said)


def _says(tool: str, rule: Instruction, claims: Iterable[Claim]) -> Iterable[_Say]:
    for claim in claims:
        if isinstance(claim, ToolEffect) and covers(claim.tool, tool):
            yield _Say(rule, frozenset({claim.effect}), True, claim.tool == tool)
        elif isinstance(claim, OnlyTools):
            yield _Say(rule, _USABLE if _listed(tool, claim.tools) else _DENY, named=False)


def _merged(says: list[_Say]) -> list[_Say]:
    """Lists of permitted tools of one authority permit what is in all of them."""
    if any(not say.named and say.effects == _DENY for say in says):
        return [say for say in says if say.named or say.effects == _DENY]
    return says


def _loosened(tool: str, by: list[_Say], bound: str, say: _Say) -> ToolReport:
    # A list that lacks some tools of a family leaves the rule for the family to the others.
    whole = say.exact and ("*" not in tool or any(other.named for other in by))
    wish = "|".join(effect for effect in _STRICT if effect in say.effects)
    return ToolReport(
        tool,
        (*dict.fromkeys(other.rule for other in by), say.rule),
        f"Tool '{tool}': {say.rule.ref} says '{wish}', but a higher authority says '{bound}'.",
        settled=True,
        aside=(say.rule.ref,) if whole else (),
    )


def _torn(tool: str, says: Sequence[_Say]) -> ToolReport:
    rules = tuple(dict.fromkeys(say.rule for say in says))
    effects = [effect for effect in _STRICT if any(effect in say.effects for say in says)]
    return ToolReport(tool, rules, f"Tool '{tool}' has more than one effect: {', '.join(effects)}.")


def _judge_needs(
    tool: str,
    rules: Sequence[Instruction],
    claims: Mapping[str, Sequence[Claim]],
    deniers: list[Instruction],
    verdict: ToolVerdict,
) -> None:
    need = [
        rule
        for rule in rules
        if rule.ref not in verdict.aside
        and any(isinstance(claim, NeedsTool) and claim.tool == tool for claim in claims[rule.ref])
    ]
    if need:
        both = tuple(dict.fromkeys([*deniers, *need]))
        names = ", ".join(rule.ref for rule in need)
        verdict.reports.append(
            ToolReport(tool, both, f"Tool '{tool}' is denied, but {names} cannot do without it.")
        )
