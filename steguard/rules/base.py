"""What a rule is.

A rule is one module with a five-part docstring and an object ``RULE``. The docstring starts with
one summary line and then has the paragraphs ``Finds:``, ``Why:``, ``Example:``, ``Instead:``,
``Fix:`` and ``Source:``; the documentation is generated from it.

A rule sees a text sentence by sentence, in order, and never looks ahead, so that a stream and a
whole text get the same verdict. State lives in the checker that :meth:`Rule.checker` makes anew
for every text.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from pydantic import BaseModel, ConfigDict

from steguard.text.model import Document, Sentence
from steguard.types import Hit, Safety, Status


class Options(BaseModel):
    """Options of a rule; a rule with parameters subclasses it. Severity is not one of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    files: ClassVar[tuple[str, ...]] = ()
    """The options that name files; a profile reads them as paths beside itself."""


class Checker(Protocol):
    """One rule at work on one text.

    ``triggers`` holds lower-case tokens of which a sentence needs at least one for the rule to
    look at it; None means every sentence. ``blind`` checkers (``finish`` only) use an empty set.
    A checker whose class says ``stateless = True`` remembers nothing and is shared by all texts.
    """

    triggers: frozenset[str] | None

    def sentence(self, sentence: Sentence) -> Iterable[Hit]: ...

    def finish(self, document: Document) -> Iterable[Hit]: ...


class PerSentence:
    """A checker made of one function that needs no memory."""

    stateless = True

    def __init__(
        self,
        function: Callable[[Sentence], Iterable[Hit]],
        triggers: frozenset[str] | None = None,
    ) -> None:
        self.sentence = function
        self.triggers = triggers

    def finish(self, document: Document) -> Iterable[Hit]:  # noqa: ARG002 - the protocol's form
        return ()


class PerDocument:
    """A checker made of one function over the finished text."""

    stateless = True
    triggers: frozenset[str] | None = frozenset()

    def __init__(self, function: Callable[[Document], Iterable[Hit]]) -> None:
        self.finish = function

    def sentence(self, sentence: Sentence) -> Iterable[Hit]:  # noqa: ARG002 - the protocol's form
        return ()


MakeChecker = Callable[[Any], Checker]


@dataclass(frozen=True)
class Rule:
    """A rule: identity, trust, and how to make a checker from options.

    ``code`` is stable for ever: ``STE306`` is STE rule 3.6; ``SG...`` are steguard's own,
    ``ZH...`` Chinese, ``LIM...`` text limits, ``FMT...`` output formats. ``source`` names the
    STE rule number or says ``steguard``. ``languages`` are the languages whose text it reads;
    empty means any. ``prompt`` gives the one-line instruction for the system prompt, itself in
    STE, or None where the prompt does not name the rule. ``yields`` names rules that tell the
    same fault better: where a hit of theirs starts at the same place, this rule's hit is left out.
    """

    code: str
    name: str
    since: str
    status: Status
    fix: Safety
    source: str
    make: MakeChecker
    module: str
    options: type[Options] = Options
    languages: frozenset[str] = frozenset({"en"})
    prompt: Callable[[Any], str | None] = lambda options: None  # noqa: ARG005
    yields: frozenset[str] = frozenset()

    def checker(self, options: Options | None = None) -> Checker:
        """A fresh checker for one text."""
        return self.make(self.options() if options is None else options)

    @property
    def doc(self) -> str:
        """The whole docstring of the rule's module."""
        return importlib.import_module(self.module).__doc__ or ""

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return self.doc.strip().splitlines()[0] if self.doc.strip() else self.name
