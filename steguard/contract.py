"""A Contract: everything that one guarded call needs, compiled from a profile.

The prompt to inject, the form of the answer, the rules, the retry policy and the fallback. It is
immutable and can serve many calls at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steguard.forms import Extract, Form, Part, TextForm
from steguard.htmltemplate import HtmlForm, Template
from steguard.jsonform import make_json_form
from steguard.profile import Profile, load_profile
from steguard.ruleset import ActiveRule, Lines, RuleSet
from steguard.text.model import Document, Sentence
from steguard.text.segment import segment
from steguard.types import Edit, Finding, Fix, Hit, Safety, Severity, Span

if TYPE_CHECKING:
    from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the checks say of one text.

    ``text`` is the text that was checked (recovered JSON where the answer held more), ``data``
    its parsed value. ``findings`` are in the order of the text.
    """

    text: str
    findings: tuple[Finding, ...]
    data: Any
    extract: Extract

    @property
    def passed(self) -> bool:
        """Whether no finding is an error."""
        return not any(f.severity is Severity.ERROR for f in self.findings)

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.severity is Severity.ERROR)


@dataclass(frozen=True)
class Contract:
    """A compiled profile. Make one with :func:`compile_contract`."""

    profile: Profile
    form: Form

    @property
    def name(self) -> str:
        return self.profile.name

    @property
    def language(self) -> str:
        return self.profile.spec.language

    @property
    def whole(self) -> bool:
        """Whether a check needs the whole answer, so that nothing of a stream passes before."""
        return False

    @property
    def takes_grammar(self) -> bool:
        """Whether a decoding grammar can describe the answers: English prose."""
        return isinstance(self.form, TextForm) and self.language == "en"

    @cached_property
    def prompt(self) -> str:
        """The system prompt that announces the contract, empty where the profile wants none."""
        return self._rendered[0]

    @cached_property
    def named_rules(self) -> frozenset[str]:
        """The rules that the prompt names; the checks know more."""
        return self._rendered[1]

    @cached_property
    def _rendered(self) -> tuple[str, frozenset[str]]:
        from steguard.prompt import render_prompt

        return render_prompt(self)

    def rules(self, section: str) -> RuleSet:
        """The rules of a section."""
        return self.profile.sections.get(section, self.profile.rules)

    def check(self, text: str) -> Verdict:
        """Check one answer. Never raises for what the answer holds."""
        extract = self.form.extract(text)
        lines = Lines(extract.text)
        findings = list(extract.findings)
        for part in extract.parts:
            findings.extend(self.check_part(part, extract.text, lines))
        findings.sort(key=lambda f: (f.span.start, f.span.end, f.code))
        return Verdict(extract.text, tuple(findings), extract.data, extract)

    def sentences(self, part: Part) -> list[Sentence]:
        """The sentences of a part, positions within the part."""
        return segment(part.text, format=part.format, language=self.language)

    def check_part(self, part: Part, text: str, lines: Lines) -> Iterator[Finding]:
        """The findings in one part of the answer ``text``."""
        run = self.rules(part.section).start(self.language)
        sentences = self.sentences(part)

        def found(active: ActiveRule, hit: Hit, sentence: str = "") -> Finding:
            excerpt = text[part.place(hit.start) : part.place(hit.end)]
            return make_finding(active, hit, part, excerpt, lines, sentence)

        for sentence in sentences:
            for active, hit in run.sentence(sentence):
                yield found(active, hit, sentence.text)
        document = Document(part.text, part.format, self.language, sentences)
        for active, hit in run.finish(document):
            yield found(active, hit)


def make_finding(
    active: ActiveRule, hit: Hit, part: Part, excerpt: str, lines: Lines, sentence: str = ""
) -> Finding:
    """What a rule found in a part, as a finding in the whole answer."""
    start, end = part.place(hit.start), part.place(hit.end)
    line, column = lines.position(start)
    safety = hit.safety or active.rule.fix
    fix = None
    if hit.edits and safety is not Safety.NONE:
        edits = (
            Edit(part.place(e.start), part.place(e.end), part.escape(e.text)) for e in hit.edits
        )
        fix = Fix(tuple(edits), safety)
    return Finding(
        rule=active.rule.name,
        code=active.rule.code,
        message=hit.message,
        span=Span(start, end),
        line=line,
        column=column,
        severity=active.severity,
        suggestion=hit.suggestion,
        fix=fix,
        pointer=part.pointer,
        excerpt=excerpt,
        sentence=sentence,
    )


def compile_contract(
    profile: str | Path | Mapping[str, Any] | Profile | Contract,
    *,
    schema: str | Path | Mapping[str, Any] | type[BaseModel] | None = None,
) -> Contract:
    """Compile a profile, with a schema of the call's own if there is one.

    A schema makes the format ``json``. Where the profile names a schema file and the call gives a
    pydantic model, both must agree. Raises :class:`ProfileError`.
    """
    if isinstance(profile, Contract):
        if schema is None:
            return profile
        profile = profile.profile
    loaded = load_profile(profile)
    return Contract(loaded, _form(loaded, schema))


def _form(profile: Profile, schema: Any) -> Form:
    from steguard.schema import is_model

    spec = profile.spec.output
    own: Any = spec.schema_
    if isinstance(own, str):
        own = profile.resolve(own, ("output", "schema"))
    if schema is not None or spec.format == "json" or own is not None:
        model = schema if schema is not None and is_model(schema) else None
        if schema is None or (model is not None and own is not None):
            chosen = own
        else:
            chosen, model = schema, None
        return make_json_form(chosen, model=model, fields=spec.fields, recover=spec.recover)
    if spec.format == "html" or spec.template is not None:
        template = None
        if spec.template is not None:
            template = Template.load(profile.resolve(spec.template, ("output", "template")))
        return HtmlForm(template, fields=spec.fields)
    return TextForm(spec.text)
