"""What is wrong with a set of rules, as findings with a place.

============  ==========================================================================
``INS101``    rules of one authority contradict each other
``INS102``    a lower authority contradicts a higher one
``INS103``    what is required does not fit into a budget
``INS104``    an override by the same or a lower authority
``INS105``    a value that does not fit its key
``INS106``    an override of a rule that does not exist
``INS107``    a rule that says how it is enforced, but no check stands for it
``INS108``    a rule that says nothing: no text, no key, no need
``INS109``    a rule that protects says how it may be shortened
============  ==========================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from steguard.contract import compile_contract
from steguard.instructions.conflict import Conflict, ConflictKind, line
from steguard.instructions.conflicts import resolve
from steguard.instructions.enforce import make_checks
from steguard.instructions.files import show
from steguard.instructions.keys import read_key
from steguard.instructions.outputs import Validator
from steguard.instructions.records import Enforcement, Instruction
from steguard.instructions.registry import InstructionError, InstructionStore
from steguard.instructions.selection import usable
from steguard.instructions.survey import find_conflicts
from steguard.instructions.toolpolicy import make_policy
from steguard.types import Finding, Severity, Span
from steguard.yamlfile import Mark, nearest

CODES = {
    ConflictKind.SAME: ("INS101", "same-authority"),
    ConflictKind.ACROSS: ("INS102", "across-authority"),
    ConflictKind.RESOURCE: ("INS103", "resource"),
    ConflictKind.OVERRIDE: ("INS104", "override"),
    ConflictKind.VALUE: ("INS105", "bad-value"),
}

Places = Mapping[str, Mark]


def findings_of(
    store: InstructionStore, validators: Mapping[str, Validator] | None = None
) -> list[tuple[str, Finding]]:
    """Every fault of the rules with the name of its file, in the order of the places."""
    where: Places = getattr(store, "where", {})
    found = [_of_conflict(conflict, where) for conflict in find_conflicts(store)]
    rules, given = store.rules(), validators or {}
    for rule in rules:
        found += [
            _finding(rule, code, name, message, remedy, severity, where)
            for code, name, message, remedy, severity in _alone(rule, rules, given, where)
        ]
    return sorted(found, key=lambda pair: (pair[0], pair[1].line, pair[1].column, pair[1].code))


def style_of(store: InstructionStore, profile: str) -> list[tuple[str, Finding]]:
    """What a profile finds in the texts of rules: a model answers in the style that it reads."""
    contract = compile_contract(profile)
    where: Places = getattr(store, "where", {})
    found = []
    for rule in store.rules():
        for text in filter(None, (rule.text, rule.short)):
            for fault in contract.check(text).findings:
                file, finding = _finding(
                    rule,
                    fault.code,
                    fault.rule,
                    f"{rule.ref}: {fault.excerpt!r}: {fault.message}",
                    fault.suggestion or "Write it in another way.",
                    Severity.WARNING,
                    where,
                )
                found.append((file, finding))
    return found


def _of_conflict(conflict: Conflict, where: Places) -> tuple[str, Finding]:
    code, name = CODES[conflict.kind]
    others = [
        f"{show(where.get(rule.ref))}: {line(rule)}" if rule.ref in where else line(rule)
        for rule in conflict.rules
    ]
    message = "\n      ".join([conflict.message, *others])
    severity = Severity.WARNING if conflict.settled else Severity.ERROR
    return _finding(conflict.rules[-1], code, name, message, conflict.remedy, severity, where)


def _finding(
    rule: Instruction,
    code: str,
    name: str,
    message: str,
    remedy: str,
    severity: Severity,
    where: Places,
) -> tuple[str, Finding]:
    mark = where.get(rule.ref) or Mark("<memory>", 1, 1)
    finding = Finding(
        rule=name,
        code=code,
        message=message,
        span=Span(0, 0),
        line=mark.line,
        column=mark.column,
        severity=severity,
        suggestion=remedy,
        excerpt=rule.ref,
    )
    return mark.file, finding


_Fault = tuple[str, str, str, str, Severity]


def _alone(
    rule: Instruction,
    rules: Iterable[Instruction],
    validators: Mapping[str, Validator],
    where: Places,
) -> Iterable[_Fault]:
    names = sorted({other.instruction_id for other in rules})
    refs = {other.ref for other in rules}
    for target in rule.overrides:
        if target not in refs and target not in names:
            yield (
                "INS106",
                "unknown-override",
                f"{rule.ref} overrides '{target}', which does not exist{nearest(target, names)}.",
                "Write the id of a rule.",
                Severity.ERROR,
            )
    if not rule.text.strip() and rule.key is None and not any(rule.needs.model_dump().values()):
        yield (
            "INS108",
            "empty-rule",
            f"{rule.ref} has no text and no key.",
            "Write what the rule demands.",
            Severity.ERROR,
        )
    if rule.kind.protects and rule.shorten not in (None, "never"):
        yield (
            "INS109",
            "shortened-limit",
            f"{rule.ref} is of the kind '{rule.kind.value}', which is never shortened.",
            "Remove 'shorten'.",
            Severity.WARNING,
        )
    if usable(rule) and rule.enforcement is not Enforcement.PROMPT:
        yield from _unenforced(rule, validators, where)


def _unenforced(
    rule: Instruction, validators: Mapping[str, Validator], where: Places
) -> Iterable[_Fault]:
    artifact = rule.artifacts[0] if rule.artifacts else _product(rule)
    alone = rule.model_copy(update={"overrides": ()})
    resolution = resolve([alone], artifact, rule.scope.tool)
    if resolution.refused:
        return
    try:
        checked = dict(make_checks(resolution, validators, {}, where).checked)
    except InstructionError as error:
        remedy = "Name what exists, or give the validator in the program."
        yield "INS107", "no-check", f"{error}.", remedy, Severity.WARNING
        return
    checked |= make_policy(resolution, {}, None, "1")[1]
    if rule.ref not in checked:
        yield (
            "INS107",
            "no-check",
            f"{rule.ref} says '{rule.enforcement.value}', but no check stands for it. "
            "It is guidance only.",
            "Give it a key that can be checked, a validator, or 'enforcement: prompt'.",
            Severity.WARNING,
        )


def _product(rule: Instruction) -> str | None:
    return read_key(rule.key).product() if rule.key else None
