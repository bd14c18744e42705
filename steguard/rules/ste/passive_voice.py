"""Finds the passive voice.

Finds: a form of "be" or "get" with a past participle ("is opened", "was not yet sent",
"got replaced"), in questions too. A participle that is an adjective ("is tired", "was
unexpected") is no passive. A participle that names a state ("make sure that the valve is
closed", "is connected to the pump") is an adjective in STE; `stative: forbid` reports it too.
With `unknown_agent: allow` the rule reports only a passive that names its agent, as STE permits
in a description when the agent is not known. With `reduced: forbid` it also reports a participle
without "be" that has an agent ("the file written by the agent").

Why: a passive hides who does the action. A reader, or a program that acts on the text, must
guess who does it.

Example: The valve is opened by the technician.

Instead: The technician opens the valve.

Fix: unsafe, and only where the agent stands after "by" and the sentence has no other part; then
the agent becomes the subject. In each other case a person must name the agent.

Source: STE 3.6
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Literal

from steguard.rules.base import Options, PerSentence, Rule
from steguard.rules.ste._active import active_form
from steguard.rules.ste._stative import is_state
from steguard.text.model import Sentence
from steguard.text.voice import TRIGGERS, Passive, agents_without_auxiliary, passives
from steguard.types import Hit, Safety, Status


class PassiveVoiceOptions(Options):
    """``unknown_agent: allow`` lets a passive without an agent pass; so does ``stative: allow``
    for a participle that names a state, and ``reduced: allow`` for one without "be"."""

    unknown_agent: Literal["forbid", "allow"] = "forbid"
    stative: Literal["allow", "forbid"] = "allow"
    reduced: Literal["allow", "forbid"] = "allow"


def _check(sentence: Sentence, options: PassiveVoiceOptions) -> Iterator[Hit]:
    for passive in passives(sentence):
        if options.unknown_agent == "allow" and passive.agent is None:
            continue
        if options.stative == "allow" and is_state(sentence, passive):
            continue
        yield _hit(sentence, passive)
    if options.reduced == "forbid" and "by" in sentence.vocabulary:
        for passive in agents_without_auxiliary(sentence):
            yield _hit(sentence, passive)


def _hit(sentence: Sentence, passive: Passive) -> Hit:
    tokens = sentence.tokens
    word = tokens[passive.participle].text
    first = (
        passive.participle if passive.auxiliary < 0 else min(passive.auxiliary, passive.participle)
    )
    start, end = tokens[first].start, tokens[max(passive.auxiliary, passive.last)].end
    if passive.agent is None:
        return Hit(start, end, f"'{word}' is passive.", "Write who does the action.")
    first_agent, last_agent = passive.agent
    offset = sentence.start
    agent = sentence.text[tokens[first_agent].start - offset : tokens[last_agent].end - offset]
    active = active_form(sentence, passive)
    return Hit(
        start,
        end,
        f"'{word}' is passive. The agent is '{agent}'.",
        active.text if active else "Make the agent the subject.",
        (active,) if active else (),
        Safety.UNSAFE,
    )


def _make(options: PassiveVoiceOptions) -> PerSentence:
    triggers = TRIGGERS | {"by"} if options.reduced == "forbid" else TRIGGERS
    return PerSentence(partial(_check, options=options), triggers)


RULE = Rule(
    code="STE306",
    name="passive-voice",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.UNSAFE,
    source="STE 3.6",
    make=_make,
    module=__name__,
    options=PassiveVoiceOptions,
    prompt=lambda _: "Use the active voice. Write who does the action.",
)
