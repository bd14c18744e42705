"""What the guard tells the model about its draft: the only place that builds this text.

The text is itself in the controlled language, because a model copies the style that it reads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from steguard.forms import fault
from steguard.ruleset import Lines
from steguard.types import Finding, Severity

_QUOTED = re.compile(r"(?<![\w`])'([^'`\n]+)'(?!\w)")

MAX_SENTENCES = 12
"""Faulty sentences that one feedback names; a longer list helps no model."""

_TEXTS = {
    "en": {
        "open": "Your answer does not obey the rules.",
        "sentence": "This sentence is not correct:",
        "field": "The field `{pointer}` is not correct:",
        "whole": "The answer as a whole is not correct:",
        "more": "{count} more sentences have the same faults.",
        "close": "Write the full answer again. Keep the correct sentences. Write the answer only.",
        "resume": "The correct text stops after these words: {tail}. "
        "Write the rest of the text only. Do not write the correct text again.",
        "json": "Write the full JSON again. Write the JSON only.",
        "html": "Write the full HTML again. Write the HTML only.",
    },
    "zh": {
        "open": "你的回答不符合规则。",
        "sentence": "下面的句子不正确：",
        "field": "字段 `{pointer}` 不正确：",
        "whole": "整个回答不正确：",
        "more": "另有 {count} 个句子有同样的问题。",
        "close": "重新写出完整的回答。保留正确的句子。只写回答。",
        "resume": "正确的文字到这里为止：{tail}。只写后面的文字。不重复正确的文字。",
        "json": "重新写出完整的 JSON。只写 JSON。",
        "html": "重新写出完整的 HTML。只写 HTML。",
    },
}


def build_feedback(
    findings: Sequence[Finding],
    *,
    form: str = "text",
    language: str = "en",
    detail: str = "sentences",
    kept: str = "",
) -> str:
    """The message that asks for a better answer.

    It quotes each faulty sentence and says what to write instead. ``detail`` is ``sentences``, or
    ``summary`` for one line a rule without quotes. Where ``kept`` is a text that the reader has
    seen already, the message asks for what follows it.
    """
    texts = _TEXTS["zh" if language == "zh" else "en"]
    errors = [f for f in findings if f.severity is Severity.ERROR]
    close = (
        texts["resume"].format(tail=_code(_last_words(kept)))
        if kept
        else texts.get(form, texts["close"])
    )
    if detail == "summary":
        lines = list(dict.fromkeys(_advice(f) for f in errors))[:MAX_SENTENCES]
        return "\n".join([texts["open"], "", *(f"- {line}" for line in lines), "", close])
    blocks: dict[tuple[str | None, str], list[str]] = {}
    for finding in errors:
        advice = blocks.setdefault((finding.pointer, finding.sentence), [])
        line = _advice(finding)
        if line not in advice:
            advice.append(line)
    parts = [texts["open"]]
    for (pointer, sentence), advice in list(blocks.items())[:MAX_SENTENCES]:
        if pointer:
            head = texts["field"].format(pointer=pointer)
        else:
            head = texts["sentence"] if sentence else texts["whole"]
        quote = [f"> {_code(_one_line(sentence))}", ""] if sentence else []
        parts.append("\n".join([head, "", *quote, *(f"- {line}" for line in advice)]))
    if len(blocks) > MAX_SENTENCES:
        parts.append(texts["more"].format(count=len(blocks) - MAX_SENTENCES))
    parts.append(close)
    return "\n\n".join(parts)


def find_echo(text: str) -> Finding | None:
    """The place where an answer repeats the feedback instead of obeying it, as small models do."""
    for texts in _TEXTS.values():
        at = text.find(texts["open"])
        if at >= 0:
            span = (at, at + len(texts["open"]))
            return fault(
                "feedback-echo",
                "The answer repeats the feedback.",
                span,
                text=text,
                lines=Lines(text),
                suggestion="Write the answer only.",
            )
    return None


def _advice(finding: Finding) -> str:
    """One finding as one line: what is wrong, then what to write."""
    message = _QUOTED.sub(r"`\1`", finding.message.strip())
    suggestion = _QUOTED.sub(r"`\1`", (finding.suggestion or "").strip())
    if not suggestion or suggestion.rstrip(".") in message.replace("`", ""):
        return message
    if suggestion.endswith((".", "。")):
        return f"{message} {suggestion}"
    return f"{message} Write {_code(suggestion)}."


def _code(text: str) -> str:
    """A text as a code span: it is quoted, so that nobody reads it as part of the message."""
    marks = "`"
    while marks in text:
        marks += "`"
    return f"{marks} {text} {marks}" if len(marks) > 1 else f"`{text}`"


def _last_words(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 80 else flat[-80:].partition(" ")[2] or flat[-80:]


def _one_line(sentence: str) -> str:
    flat = " ".join(sentence.split())
    return flat if len(flat) <= 400 else flat[:400] + " [...]"
