"""Which actions the user's own words ask for.

The request is read with general rules about verbs and things: a verb in the place of a command
("please send", "and cancel") and the things that it names. No model takes part, and nothing
that a tool gave back is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import regex

from steguard.gate import kinds
from steguard.gate.model import SideEffect
from steguard.gate.policy import ToolSpec
from steguard.gate.request import Request
from steguard.gate.verbs import (
    command_verbs,
    forbidden_actions,
    main_class,
    negated_clauses,
    verb_classes,
)
from steguard.gate.words import STOP, fold, nouns_alike


class Licence(StrEnum):
    """How far the request covers a tool."""

    ASKED = "asked"
    MAYBE = "maybe"
    OPEN = "open"
    FORBIDDEN = "forbidden"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Intent:
    """The licence of every tool that has an effect."""

    licences: Mapping[str, Licence]


def read_intent(request: str, tools: Mapping[str, ToolSpec]) -> Intent:
    """What the request asks for, of these tools."""
    read = Request(request)
    acting = {n: t for n, t in tools.items() if t.side_effect is not SideEffect.READ}
    asked = _asked(read.stems, command_verbs(read.text), acting)
    banned = _banned(request, acting)
    unclear = bool(asked) or not _is_question(read.text)
    licences: dict[str, Licence] = {}
    for name, tool in acting.items():
        if name in banned and (banned[name] or not asked.get(name)):
            licences[name] = Licence.FORBIDDEN
        elif name in asked:
            sure = asked[name] or tool.side_effect is not SideEffect.DESTRUCTIVE
            licences[name] = Licence.ASKED if sure else Licence.MAYBE
        elif read.delegates:
            licences[name] = Licence.OPEN
        elif (read.wishes or (unclear and _is_mild(tool))) and _names_thing(name, tool, read.stems):
            licences[name] = Licence.MAYBE
        else:
            licences[name] = Licence.NONE
    return Intent(licences)


def _asked(
    stems: frozenset[str], verbs: frozenset[str], tools: Mapping[str, ToolSpec]
) -> dict[str, bool]:
    """The tools that these verbs ask for; True where the request names the tool's thing too."""
    found: dict[str, bool] = {}
    for verb in verbs:
        fit = [n for n in tools if verb_classes()[verb].keys() & _tool_classes(n)]
        full = [n for n in fit if _names_thing(n, tools[n], stems | _thing_of(verb))]
        held = [name for name in fit if _is_held(tools[name])]
        for name in {*full, *held} if full else fit:
            found[name] = found.get(name, False) or name in full
    return found


def _banned(request: str, tools: Mapping[str, ToolSpec]) -> dict[str, bool]:
    """The tools that the request forbids; True where it forbids them for anyone or anything.

    Where the clause has an object that a tool is about ("do not delete any file"), only tools
    about it are meant. Else all tools with that kind of action are.
    """
    found: dict[str, bool] = {}
    for clause in negated_clauses(request):
        wide = bool(regex.search(r"\bany(?:one|body|thing|where)\b", fold(clause)))
        for verb, thing in forbidden_actions(clause):
            stems = Request(thing, whole=True).stems | _thing_of(verb)
            classes = verb_classes()[verb].keys() - _OPPOSITES
            fit = [
                n for n in tools if main_class(_tool_verb(n)) in classes or verb == _tool_verb(n)
            ]
            named = any(_names_thing(n, tool, stems) for n, tool in tools.items())
            for name in fit:
                if not named or _names_thing(name, tools[name], stems):
                    found[name] = found.get(name, False) or wide
    return found


_OPPOSITES = frozenset({"control"})
"""Kinds of action with opposite verbs: who forbids to unlock does not forbid to lock."""


def _is_mild(tool: ToolSpec) -> bool:
    """Whether a person may be asked about a tool that the request does not clearly ask for."""
    properties = (tool.schema_ or {}).get("properties") or {}
    secret = any(kinds.kind_of(k, p) is kinds.Kind.SECRET for k, p in properties.items())
    return tool.side_effect is not SideEffect.DESTRUCTIVE and not secret


def _is_held(tool: ToolSpec) -> bool:
    """Whether an argument that must be given says whom or what the action reaches."""
    schema = tool.schema_ or {}
    properties = schema.get("properties") or {}
    given = (properties.get(key) or {} for key in schema.get("required") or ())
    kind = {kinds.kind_of(k, p) for k, p in zip(schema.get("required") or (), given, strict=True)}
    return bool(kind & {kinds.Kind.ADDRESS, kinds.Kind.ID, kinds.Kind.SECRET})


def _thing_of(verb: str) -> frozenset[str]:
    """The thing that a verb names by itself: to email, to pay."""
    return nouns_alike(verb) if verb in _OWN_THING else frozenset()


_OWN_THING = frozenset("email mail message dm text pay refund reimburse book invite call".split())


@lru_cache(maxsize=4096)
def _tool_verb(name: str) -> str:
    words = kinds.tokens(name)
    return next((w for w in words if w in verb_classes()), words[0] if words else "")


def _tool_classes(name: str) -> frozenset[str]:
    return frozenset(verb_classes().get(_tool_verb(name), ("other",)))


def _names_thing(name: str, tool: ToolSpec, stems: frozenset[str]) -> bool:
    words, verb = kinds.tokens(name), _tool_verb(name)
    things = [w for w in words if w != verb and w not in STOP]
    if not things:
        things = [w for w in kinds.tokens(tool.description.split(".")[0]) if w not in STOP][1:6]
    return any(nouns_alike(thing) & stems for thing in things)


def _is_question(text: str) -> bool:
    sentences = [s.strip() for s in regex.split(r"(?<=[.!?])\s+", text.strip()) if s.strip()]
    return bool(sentences) and all(
        _TELL.match(s) or (s.endswith("?") and not _POLITE.match(s)) for s in sentences
    )


_POLITE = regex.compile(r"(?:\w+,? )?(?:please )?(?:can|could|would|will) you\b", regex.IGNORECASE)
_TELL = regex.compile(
    r"(?:(?:can|could|would|will) you )?(?:please )?(?:give|tell|show|list|find|summari[sz]e|"
    r"explain|what|who|where|when|how|which|get|read|check|look)\b",
    regex.IGNORECASE,
)
