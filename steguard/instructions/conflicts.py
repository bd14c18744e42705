"""Contradictions between rules: found before a model sees them, and never settled in silence.

Three kinds are kept apart:

- ``same_authority``: rules of one authority demand what cannot be true together. Refused.
- ``across_authority``: a lower authority contradicts a higher one. Where restrictiveness is
  defined (tool effects, named limits, switches) the higher rule holds and the contradiction is
  reported; a lower authority may tighten, never loosen. In all other cases it is refused until
  the higher rule names the lower one in ``overrides``.
- ``resource``: what is required does not fit into a budget. Refused, never squeezed.

A narrow scope gives no authority, and the order of the rules has no meaning.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from steguard.instructions.budgets import judge_budgets
from steguard.instructions.claims import (
    Affix,
    BadValue,
    Bound,
    Claim,
    Has,
    NoneOf,
    OneOf,
    Setting,
)
from steguard.instructions.conflict import (
    REMEDIES,
    SETTLED,
    Conflict,
    ConflictKind,
    keys_of,
    names_of,
)
from steguard.instructions.keys import MEASURES, OUTPUT, TERM, Role, Subject, is_a
from steguard.instructions.records import Instruction, ordered
from steguard.instructions.satisfy import minimal_conflicts, possible
from steguard.instructions.tooleffects import ToolReport, judge_tools, stricter
from steguard.instructions.values import claims_of, products_of

_UNSPACED = frozenset({"zh", "ja", "th", "lo", "km", "my"})


@dataclass
class Resolution:
    """What is left of the active rules: those that hold, those set aside, and the conflicts."""

    rules: tuple[Instruction, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    overridden: Mapping[str, str] = field(default_factory=dict)
    aside: Mapping[str, str] = field(default_factory=dict)
    effects: Mapping[str, str] = field(default_factory=dict)
    claims: Mapping[str, Sequence[Claim]] = field(default_factory=dict)

    @property
    def refused(self) -> tuple[Conflict, ...]:
        """The conflicts that stop a compilation."""
        return tuple(conflict for conflict in self.conflicts if not conflict.settled)


def resolve(
    rules: Iterable[Instruction], artifact: str | None = None, tools: Sequence[str] = ()
) -> Resolution:
    """Settle what is settled by definition or by an explicit override, and list every conflict.

    ``rules`` are those that apply. A rule for one tool is compared with the rules that hold
    while that tool is called.
    """
    given = ordered(rules)
    kept, overridden, conflicts = _override(given)
    claims, bad = _claims(kept, artifact)
    conflicts += bad
    kept = [rule for rule in kept if rule.ref in claims]
    aside: dict[str, str] = {}
    effects: dict[str, str] = {}
    for inside in _tool_groups(kept, tools):
        found = _judge(inside, claims)
        conflicts += found.conflicts
        aside |= found.aside
        for tool, effect in found.effects.items():
            effects[tool] = stricter(effect, effects.get(tool, effect))
    merged = _distinct(conflicts)
    left = tuple(rule for rule in kept if rule.ref not in aside)
    return Resolution(left, merged, overridden, aside, effects, claims)


def _tool_groups(rules: list[Instruction], tools: Sequence[str]) -> list[list[Instruction]]:
    names = {name for rule in rules for name in rule.scope.tool}
    groups = [[rule for rule in rules if not rule.scope.tool]]
    for tool in sorted(names & set(tools) if tools else names):
        groups.append([r for r in rules if not r.scope.tool or tool in r.scope.tool])
    return groups


def _override(
    rules: list[Instruction],
) -> tuple[list[Instruction], dict[str, str], list[Conflict]]:
    """Take out what a higher authority replaces by name. Rules come highest first."""
    removed: dict[str, str] = {}
    refused: list[Conflict] = []
    for rule in rules:
        if rule.ref in removed:
            continue
        for name in rule.overrides:
            for target in rules:
                if name not in (target.instruction_id, target.ref) or target.ref in removed:
                    continue
                if target.authority < rule.authority:
                    removed[target.ref] = rule.ref
                elif target is not rule:
                    refused.append(_refused_override(rule, target))
    return [rule for rule in rules if rule.ref not in removed], removed, refused


def _refused_override(rule: Instruction, target: Instruction) -> Conflict:
    return Conflict(
        ConflictKind.OVERRIDE,
        (rule.key or rule.instruction_id,),
        tuple(ordered([rule, target])),
        f"{rule.ref} cannot override {target.ref}: only a higher authority overrides.",
        "Remove the override, or let a higher source make the rule.",
    )


def _claims(
    rules: list[Instruction], artifact: str | None
) -> tuple[dict[str, list[Claim]], list[Conflict]]:
    products = products_of(rules, artifact)
    claims: dict[str, list[Claim]] = {}
    bad: list[Conflict] = []
    for rule in rules:
        try:
            claims[rule.ref] = [_placed(c, artifact) for c in claims_of(rule, products)]
        except BadValue as error:
            message = f"{rule.ref}: '{rule.key}': {error}."
            bad.append(
                Conflict(ConflictKind.VALUE, (rule.key or "",), (rule,), message, "Edit the value.")
            )
    return claims, bad


def _placed(claim: Claim, artifact: str | None) -> Claim:
    """The claim with the product that is made now as the output."""
    if artifact is None or not isinstance(claim, Bound | OneOf | NoneOf | Has | Affix | Setting):
        return claim
    if claim.subject.space == OUTPUT or not is_a(artifact, claim.subject.space):
        return claim
    return replace(claim, subject=Subject(OUTPUT, claim.subject.name))


@dataclass
class _Found:
    conflicts: list[Conflict]
    aside: dict[str, str]
    effects: dict[str, str]


def _judge(rules: list[Instruction], claims: Mapping[str, list[Claim]]) -> _Found:
    mine = {rule.ref: claims[rule.ref] for rule in rules}
    tools = judge_tools(rules, mine)
    conflicts = [_tool_conflict(report) for report in tools.reports]
    aside = dict(tools.aside)
    conflicts += _judge_settings(rules, mine, aside)
    left = [rule for rule in rules if rule.ref not in aside]
    conflicts += _judge_values(left, mine)
    conflicts += judge_budgets(left, mine)
    return _Found(conflicts, aside, tools.effects)


def _tool_conflict(report: ToolReport) -> Conflict:
    authorities = {rule.authority for rule in report.rules}
    kind = ConflictKind.SAME if len(authorities) == 1 else ConflictKind.ACROSS
    return Conflict(
        kind,
        (f"tools.{report.tool}",),
        tuple(ordered(report.rules)),
        report.message,
        SETTLED if report.settled else REMEDIES[kind],
        report.settled,
        report.aside,
    )


def _judge_settings(
    rules: list[Instruction], claims: Mapping[str, list[Claim]], aside: dict[str, str]
) -> list[Conflict]:
    """Named limits and switches: one value at one authority; a lower one may only tighten."""
    settings: dict[tuple[Subject, Role], list[tuple[Instruction, Setting]]] = defaultdict(list)
    for rule in rules:
        for claim in claims[rule.ref]:
            if isinstance(claim, Setting) and rule.ref not in aside:
                settings[claim.subject, claim.role].append((rule, claim))
    found: list[Conflict] = []
    for (subject, role), group in sorted(settings.items()):
        name = f"{subject}.{role.value}"
        bound: Setting | None = None
        by: list[Instruction] = []
        for authority in sorted({rule.authority for rule, _ in group}, reverse=True):
            level = [(rule, claim) for rule, claim in group if rule.authority == authority]
            if len({claim.value for _, claim in level}) > 1:
                same = tuple(rule for rule, _ in level)
                message = (
                    f"{keys_of(same)} has more than one value at the authority '{same[0].source}'."
                )
                found.append(Conflict(ConflictKind.SAME, (name,), same, message, _one_value(role)))
            loose = [rule for rule, claim in level if bound and claim.rank < bound.rank]
            if loose:
                found.append(_loosened(name, by, loose))
                aside |= {rule.ref: by[0].ref for rule in loose}
            tight = [(rule, claim) for rule, claim in level if rule not in loose]
            if tight:
                strictest = max(tight, key=lambda pair: pair[1].rank)[1]
                by = [rule for rule, claim in tight if claim.rank == strictest.rank]
                bound = strictest
    return found


def _one_value(role: Role) -> str:
    if role in (Role.MAX, Role.MIN):
        limit = role.value
        return f"Keep one value. Limits that may merge are written as a range: {{{limit}: ...}}."
    return REMEDIES[ConflictKind.SAME]


def _loosened(name: str, by: list[Instruction], loose: list[Instruction]) -> Conflict:
    return Conflict(
        ConflictKind.ACROSS,
        (name,),
        tuple(ordered([*by, *loose])),
        f"{keys_of([*by, *loose])}: {names_of(loose)} would loosen {names_of(by)}, "
        "which has the higher authority.",
        SETTLED,
        settled=True,
        aside=tuple(rule.ref for rule in loose),
    )


def _judge_values(rules: list[Instruction], claims: Mapping[str, list[Claim]]) -> list[Conflict]:
    spaced = not any(
        isinstance(claim, OneOf)
        and claim.subject.name == "language"
        and any(str(value).split("-")[0] in _UNSPACED for _, value in claim.values)
        for rule in rules
        for claim in claims[rule.ref]
    )
    topics: dict[str, dict[str, list[Claim]]] = defaultdict(lambda: defaultdict(list))
    for rule in rules:
        for claim in claims[rule.ref]:
            if isinstance(claim, Bound | OneOf | NoneOf | Has | Affix):
                topics[_topic(claim.subject)][rule.ref].append(claim)
    by_ref = {rule.ref: rule for rule in rules}
    found: list[Conflict] = []
    for _, members in sorted(topics.items()):
        found += _judge_topic(members, by_ref, spaced)
    return found


def _topic(subject: Subject) -> str:
    """Subjects that depend on each other have one topic."""
    tied = subject.name in MEASURES or subject.name in (TERM, "start", "end")
    return f"{subject.space}:text" if tied else f"{subject.space}:{subject.name}"


def _judge_topic(
    members: Mapping[str, list[Claim]], by_ref: Mapping[str, Instruction], spaced: bool
) -> list[Conflict]:
    # Rules that demand the same stand or fall together.
    alike: dict[tuple[frozenset[Claim], int], list[str]] = defaultdict(list)
    for ref, listed in members.items():
        alike[frozenset(listed), by_ref[ref].authority].append(ref)
    classes = sorted(alike.items(), key=lambda item: item[1])

    def fits(some: Sequence[tuple[tuple[frozenset[Claim], int], list[str]]]) -> bool:
        return possible([c for (claims, _), _ in some for c in claims], spaced=spaced)

    groups: dict[tuple[tuple[str, ...], frozenset[int]], list[Instruction]] = {}
    for core in minimal_conflicts(classes, fits):
        rules = [by_ref[ref] for _, refs in core for ref in refs]
        subjects = _subjects(claims for (claims, _), _ in core)
        levels = frozenset(rule.authority for rule in rules)
        together = groups.setdefault((subjects, levels), [])
        together += [rule for rule in rules if rule not in together]
    return [_value_conflict(subjects, rules) for (subjects, _), rules in groups.items()]


def _subjects(groups: Iterable[frozenset[Claim]]) -> tuple[str, ...]:
    named = {
        str(claim.subject)
        for claims in groups
        for claim in claims
        if isinstance(claim, Bound | OneOf | NoneOf | Has | Affix)
    }
    return tuple(sorted(named))


def _value_conflict(subjects: tuple[str, ...], rules: list[Instruction]) -> Conflict:
    listed = tuple(ordered(rules))
    kind = _kind(listed, subjects)
    what = keys_of(listed)
    if len(listed) == 1:
        message = f"{what}: {listed[0].ref} contradicts itself."
    else:
        message = f"{what}: nothing can obey {names_of(listed)} together."
    return Conflict(kind, subjects, listed, message, REMEDIES[kind])


def _kind(rules: Sequence[Instruction], subjects: Sequence[str]) -> ConflictKind:
    if f"{OUTPUT}.token" in subjects:
        return ConflictKind.RESOURCE
    levels = {rule.authority for rule in rules}
    return ConflictKind.SAME if len(levels) == 1 else ConflictKind.ACROSS


def _distinct(conflicts: Iterable[Conflict]) -> tuple[Conflict, ...]:
    """Each conflict once, the refused ones first."""
    kept: dict[tuple[object, ...], Conflict] = {}
    for conflict in conflicts:
        kept.setdefault((conflict.kind, conflict.subjects, conflict.refs), conflict)
    return tuple(sorted(kept.values(), key=lambda c: (c.settled, c.kind, c.subjects, c.refs)))
