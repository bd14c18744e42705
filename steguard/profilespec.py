"""The keys of a profile file, with their types, defaults and meaning."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

_Level = Literal["error", "warning", "info"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PromptSpec(_Model):
    """The system prompt that the guard adds to the conversation."""

    template: str | None = Field(
        "ste-system", description="A name in prompts/ or a path; null adds no prompt."
    )
    language: str = Field("en", description="The language of the prompt text: en or zh.")
    examples: int = Field(1, ge=0, le=3, description="How many examples the prompt shows.")
    rules: int = Field(10, ge=0, description="How many rules the prompt names at the most.")
    words: int = Field(20, ge=0, description="How many substitutions the prompt names.")
    note: str | None = Field(None, description="Text of your own, put before the rules.")


class OutputSpec(_Model):
    """The form that an answer must have."""

    format: Literal["text", "json", "html"] = "text"
    text: Literal["markdown", "plain"] = Field(
        "markdown", description="How prose is read: with Markdown structure or without."
    )
    schema_: str | dict[str, Any] | None = Field(
        None, alias="schema", description="A JSON Schema: a path or the schema itself."
    )
    template: str | None = Field(None, description="An HTML template: a path.")
    fields: dict[str, str] = Field(
        default_factory=dict,
        description="JSON pointer pattern or slot name to the section whose rules apply; "
        "'off' leaves a field unchecked.",
    )
    send: Literal["auto", "json_schema", "json_object", "none"] = Field(
        "auto", description="What the request says about the format; auto adapts to the endpoint."
    )
    recover: Literal["off", "extract", "repair"] = Field(
        "extract", description="What to do with JSON that stands in a fence, in prose or is broken."
    )


class RetrySpec(_Model):
    """When to ask again."""

    max_attempts: int = Field(3, ge=1, le=100, description="Calls at the most, the first included.")
    token_budget: int | None = Field(
        None, ge=1, description="No further call after so many tokens, prompts included."
    )
    time_budget: float | None = Field(
        None, gt=0, description="No further call after so many seconds."
    )
    wait: float = Field(0.0, ge=0, description="Seconds between two attempts.")
    feedback: Literal["sentences", "summary"] = Field(
        "sentences", description="Whether the feedback quotes each faulty sentence."
    )


class StreamSpec(_Model):
    """How a stream is released."""

    mode: Literal["hold", "buffer", "observe"] = "hold"
    resume: bool = Field(True, description="After a violation, ask only for the rest.")
    max_chars: int = Field(
        1_000_000, ge=100, description="The stream is closed after so many characters."
    )


class ConstrainSpec(_Model):
    """A grammar that the endpoint enforces while the model writes."""

    mode: Literal["auto", "off", "require"] = Field(
        "off", description="auto: where the endpoint can; require: else an error; off: never."
    )
    endpoint: Literal["probe", "llama.cpp", "vllm", "sglang", "openai", "none"] = Field(
        "probe", description="What the endpoint is; probe asks it once with a tiny grammar."
    )
    words: Literal["plain", "vocabulary"] = Field(
        "plain",
        description="plain: everyday and technical words; vocabulary: only the approved words of"
        " the rule unapproved-word.",
    )
    names: list[str] = Field(
        default_factory=list, description="Technical names that the answer can use."
    )
    prompt_names: bool = Field(
        True, description="Whether the words of the caller's last message are names too."
    )
    shape: Literal["auto", "prose", "steps"] = Field(
        "auto", description="Paragraphs, numbered steps, or either."
    )
    sentences: int = Field(8, ge=1, le=60, description="Sentences in one answer at the most.")
    code: bool = Field(False, description="Whether short code spans are possible.")
    repeat_guard: bool = Field(
        True, description="Whether a sampler that can is asked not to repeat itself."
    )


class SectionSpec(_Model):
    """Rule settings for the fields of one kind, on top of the profile's own."""

    rules: dict[str, Any] = Field(default_factory=dict)


class ProfileSpec(_Model):
    """The keys of a profile file."""

    @field_validator("constrain", mode="before")
    @classmethod
    def _mode_alone(cls, value: object) -> object:
        """``constrain: auto`` is short for ``constrain: {mode: auto}``; YAML reads off as false."""
        if value is False:
            return {"mode": "off"}
        return {"mode": value} if isinstance(value, str) else value

    steguard: Literal[1] = Field(1, description="The version of this file format.")
    name: str = Field("custom", description="The name, for lists and reports.")
    description: str = Field("", description="One sentence: what the profile is for.")
    extends: str | list[str] | None = Field(None, description="Profiles to build on.")
    language: Literal["en", "zh"] = "en"
    select: list[str] = Field(
        default_factory=list, description="Rules to switch on: names, codes or code prefixes."
    )
    constrain: ConstrainSpec = ConstrainSpec()  # type: ignore[call-arg]
    preview: bool = Field(False, description="Whether 'select' takes preview rules too.")
    severity: _Level = Field("error", description="The weight of a finding unless a rule says.")
    rules: dict[str, Any] = Field(
        default_factory=dict, description="Rule name to options, a severity or 'off'."
    )
    sections: dict[str, SectionSpec] = Field(default_factory=dict)
    prompt: PromptSpec = PromptSpec()  # type: ignore[call-arg]
    output: OutputSpec = OutputSpec()  # type: ignore[call-arg]
    retry: RetrySpec = RetrySpec()  # type: ignore[call-arg]
    fallback: Literal["strip", "fix", "best", "raise", "noop"] = "strip"
    stream: StreamSpec = StreamSpec()  # type: ignore[call-arg]
