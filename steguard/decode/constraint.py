"""A contract as a decoding constraint: the grammar of the answers that pass, in each dialect."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from steguard.contract import Contract
from steguard.decode.automaton import Words
from steguard.decode.forbidden import Forbidden, Service, collect, options_of
from steguard.decode.gbnf import to_gbnf
from steguard.decode.grammar import Grammar, Ref, Shape, WordSet
from steguard.decode.kinds import Kind, kind_of, plain_words
from steguard.decode.lark import to_lark
from steguard.decode.lexis import Lexis, build
from steguard.decode.narrow import to_narrow_gbnf, to_regex
from steguard.decode.sentence import Sentences
from steguard.decode.texts import Limits, add_answer
from steguard.errors import UsageError
from steguard.profilespec import ConstrainSpec
from steguard.ruleset import RuleSet
from steguard.vocabulary import load

DIGITS = Shape(r"[0-9]{1,4}", ("1", "12", "204", "2024"))
NUMBER = Shape(r"[0-9]{1,4}([.,][0-9]{1,4})?", ("1", "4.5", "1,000"))
CODE = Shape(r"`[A-Za-z0-9_./-]{1,40}`", ("`main.py`", "`/etc/hosts`", "`a-b_c`"))

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_LONGEST_NAME = 24


@dataclass(frozen=True)
class Constraint:
    """The grammar of the answers to one contract, and which rules it serves.

    ``enforced``: no text of the grammar breaks the rule. ``reduced``: few do. ``unenforced``: the
    grammar does not look at the rule. The checks run on every answer all the same.
    """

    grammar: Grammar
    lexis: Lexis
    limits: Limits
    enforced: tuple[str, ...]
    reduced: tuple[str, ...]
    unenforced: tuple[str, ...]
    banned: frozenset[str]
    places: tuple[str, str]
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    """The names of the task that are words of this grammar only."""

    def with_names(self, names: Iterable[str]) -> Constraint:
        """The same constraint with these names of the task among its words."""
        known = self.lexis.words
        new = {
            name
            for name in clean_names(names)
            if name.lower() not in known
            and name.lower() not in self.banned
            and kind_of(name.lower()) is Kind.PLAIN
        }
        words = Words(new)
        sets = {
            place: WordSet(words, title)
            for place, title in zip(self.places, (False, True), strict=True)
            if place in self.grammar.terminals
        }
        return replace(self, grammar=self.grammar.with_words(sets), names=frozenset(new))

    @cached_property
    def gbnf(self) -> str:
        """For llama.cpp, and for vLLM and SGLang with xgrammar."""
        return to_gbnf(self.grammar)

    @cached_property
    def lark(self) -> str:
        """For llguidance: vLLM, SGLang, and the custom tools of OpenAI."""
        return to_lark(self.grammar)

    @cached_property
    def regex(self) -> str:
        """For engines that take expressions only. It is narrower: see :mod:`narrow`."""
        return to_regex(self.lexis, self.limits, self.shapes)

    @cached_property
    def narrow_gbnf(self) -> str:
        """For llama.cpp without llguidance, where the whole grammar is slow: see :mod:`narrow`."""
        return to_narrow_gbnf(self.lexis, self.limits, self.shapes)

    def accepts(self, text: str) -> bool:
        """Whether a model under the constraint can write this text."""
        return self.grammar.accepts(text)


def compile_constraint(contract: Contract, *, names: Iterable[str] = ()) -> Constraint:
    """Compile the constraint of a contract for prose.

    ``names`` are words of the task that the answer can use beside the plain words, or beside the
    approved words where the profile asks for ``words: vocabulary``. Only names that are no words
    of another kind are new; a word that a rule forbids stays forbidden. The grammar of a contract
    is made once; names cost almost nothing.

    Raises :class:`UsageError` for a contract whose answers are no English prose.
    """
    if not contract.takes_grammar:
        raise UsageError(
            "a decoding grammar is for English prose; for JSON use steguard.decode.constrain_schema"
        )
    base = contract.__dict__.get("_constraint")
    if base is None:
        base = _compile(contract.profile.rules, contract.profile.spec.constrain)
        contract.__dict__["_constraint"] = base
    return base.with_names(names)


def clean_names(names: Iterable[str]) -> Iterator[str]:
    """Names as the grammar can write them: single words, plain ones in lower case."""
    plain = plain_words()
    for name in names:
        for word in _NAME.findall(name):
            if 1 < len(word) <= _LONGEST_NAME:
                lower = word.lower()
                yield lower if lower in plain or word[1:].islower() else word


def words_for(rules: RuleSet, spec: ConstrainSpec) -> tuple[Lexis, Forbidden]:
    """The words that the rules leave, and what the rules forbid."""
    names = frozenset(clean_names(spec.names))
    forbidden = collect(rules, names)
    unapproved = options_of(rules, "unapproved-word")
    if spec.words == "vocabulary":
        if unapproved is None or unapproved.vocabulary is None:
            raise UsageError(
                "'words: vocabulary' needs the rule 'unapproved-word' with a 'vocabulary' file"
            )
        allowed = (*unapproved.technical_names, *unapproved.technical_verbs)
        candidates = load(unapproved.vocabulary).approved | frozenset(clean_names(allowed))
        candidates = frozenset(word for word in candidates if _NAME.fullmatch(word))
    else:
        candidates = plain_words()
        forbidden.served.pop("unapproved-word", None)
    lexis = build(candidates | names, forbidden.phrases, names, forbidden.openers)
    return lexis, forbidden


def _fixed_text(rules: RuleSet, name: str) -> str:
    options = options_of(rules, name)
    return str(options.text or "").strip() if options else ""


def _add_shapes(grammar: Grammar, shapes: Mapping[str, Shape]) -> None:
    """The rules for what is no word. A number is a rule of its parts: as one terminal, a lexer
    that takes the longest text would read the full stop of a sentence into it."""
    grammar.terminals["DIGITS"] = DIGITS
    digits = Ref("DIGITS")
    grammar.add("number", [(digits,), (digits, ".", digits), (digits, ",", digits)])
    grammar.terminals.update({n: shape for n, shape in shapes.items() if n != "number"})


def _compile(rules: RuleSet, spec: ConstrainSpec) -> Constraint:
    lexis, forbidden = words_for(rules, spec)
    shapes = {"number": NUMBER, **({"CODE": CODE} if spec.code else {})}
    length, paragraph = options_of(rules, "sentence-length"), options_of(rules, "paragraph-length")
    limits = Limits(
        words=min(length.max, 40) if length else 40,
        paragraph=min(paragraph.max, spec.sentences) if paragraph else spec.sentences,
        sentences=spec.sentences,
        start=_fixed_text(rules, "must-start"),
        end=_fixed_text(rules, "must-end"),
    )
    grammar = Grammar()
    _add_shapes(grammar, shapes)
    sentences = Sentences(grammar, lexis, tuple(shapes))
    add_answer(grammar, sentences, limits, spec.shape)
    served = forbidden.served
    active = [a.rule.name for a in rules.active]
    return Constraint(
        grammar.prune(),
        lexis,
        limits,
        tuple(n for n in active if served.get(n) is Service.ENFORCED),
        tuple(n for n in active if served.get(n) is Service.REDUCED),
        tuple(n for n in active if n not in served),
        frozenset(parts[0] for parts in forbidden.phrases if len(parts) == 1),
        sentences.names,
        shapes,
    )
