"""A contract as a system prompt.

A prompt is a mirror: the model answers in the style that it reads. So the text obeys the rules
that it announces, names only a few of them, and puts them last; the checks know all.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from steguard import resources, yamlfile
from steguard.errors import ProfileError
from steguard.ruleset import ActiveRule

if TYPE_CHECKING:
    from steguard.contract import Contract

SUFFIX = ".j2"

# What a model breaks most comes first; a prompt names only so many rules as the profile says.
_ORDER = (
    "sentence-length",
    "one-instruction",
    "passive-voice",
    "banned-words",
    "synonym-consistency",
    "perfect-tense",
    "progressive-tense",
    "contraction",
    "telegraph-style",
    "paragraph-length",
    "filler-opening",
    "zh-sentence-length",
    "zh-vague-word",
    "zh-light-verb",
    "zh-passive",
)

_EXAMPLES = {
    "en": (
        "Close the file. Then send the report.",
        "Read the log. Count the errors.",
        "Stop the server.",
    ),
    "zh": ("关闭文件。然后发送报告。", "读取日志。统计错误数。", "停止服务器。"),
}


def render_prompt(contract: Contract) -> tuple[str, frozenset[str]]:
    """The system prompt of a contract and the names of the rules that it names.

    Raises :class:`ProfileError` where the template does not exist or cannot be rendered.
    """
    spec = contract.profile.spec.prompt
    if spec.template is None:
        return "", frozenset()
    source, origin = _source(contract, spec.template)
    words = _words(contract, spec.words)
    named = _named(contract, spec.rules, listed=bool(words))
    form = contract.form.describe()
    context: dict[str, Any] = {
        "profile": contract.name,
        "language": contract.language,
        "note": (spec.note or "").strip(),
        "rules": [line for _, line in named],
        "words": words,
        "examples": _examples(contract, form, spec.examples),
        "format": "text",
        "schema": None,
        "schema_text": "",
        "template": "",
        **form,
    }
    try:
        text = _environment().from_string(source).render(context)
    except TemplateError as error:
        raise ProfileError(
            f"the prompt template cannot be rendered: {error.message or error}",
            file=origin,
            line=getattr(error, "lineno", None),
        ) from None
    return _tidy(text), frozenset(name for name, _ in named)


def prompt_names() -> list[str]:
    """The names of the shipped prompt templates."""
    return resources.names("prompts", SUFFIX)


@cache
def _environment() -> SandboxedEnvironment:
    return SandboxedEnvironment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=False
    )


def _source(contract: Contract, name: str) -> tuple[str, str]:
    key = ("prompt", "template")
    path = resources.folder("prompts") / f"{name}{SUFFIX}"
    if not path.is_file():
        if Path(name).suffix == "":
            raise contract.profile.error(
                f"there is no prompt template '{name}'{yamlfile.nearest(name, prompt_names())}", key
            )
        path = contract.profile.resolve(name, key)
    return path.read_text(encoding="utf-8"), str(path)


def _named(contract: Contract, limit: int, *, listed: bool) -> list[tuple[str, str]]:
    """The rules that the prompt names, most important first, with their lines.

    Where the prompt lists the banned words, the rule only points to the list.
    """

    def rank(active: ActiveRule) -> tuple[int, str]:
        name = active.rule.name
        return (_ORDER.index(name) if name in _ORDER else len(_ORDER), active.rule.code)

    named = []
    for active in sorted(contract.profile.active.values(), key=rank):
        rule = active.rule
        if rule.languages and contract.language not in rule.languages:
            continue
        line = rule.prompt(active.options)
        if listed and rule.name == "banned-words":
            line = "Do not use the words in the list."
        if line:
            named.append((rule.name, line))
    return named[:limit]


def _words(contract: Contract, limit: int) -> list[tuple[str, str]]:
    from steguard.rules.own.banned_words import top_substitutions

    active = contract.profile.active.get("banned-words")
    if active is None or contract.language != "en" or not limit:
        return []
    return top_substitutions(active.options, limit)


def _examples(contract: Contract, form: dict[str, Any], count: int) -> list[str]:
    sentences = _EXAMPLES["zh" if contract.language == "zh" else "en"]
    if form["format"] == "text":
        return list(sentences[:count])
    if form["format"] == "html":
        return []
    example = example_value(form["schema"], sentences[0])
    if not count or example is None:
        return []
    text = json.dumps(example, ensure_ascii=False)
    return [text] if contract.check(text).passed else []


def example_value(schema: Any, sentence: str, root: Any = None, depth: int = 0) -> Any:
    """A small value that a schema most likely takes; the caller validates it. None: no idea."""
    if not isinstance(schema, dict) or depth > 8:
        return None
    root = root or schema
    if "$ref" in schema:
        target: Any = root
        for part in str(schema["$ref"]).lstrip("#").split("/")[1:]:
            target = target.get(part, {}) if isinstance(target, dict) else {}
        return example_value(target, sentence, root, depth + 1)
    for keyword in ("const", "default"):
        if keyword in schema:
            return schema[keyword]
    for keyword in ("examples", "enum"):
        if schema.get(keyword):
            return schema[keyword][0]
    for keyword in ("anyOf", "oneOf", "allOf"):
        if schema.get(keyword):
            return example_value(schema[keyword][0], sentence, root, depth + 1)
    kind = schema.get("type", "object" if "properties" in schema else None)
    if isinstance(kind, list):
        kind = kind[0]
    if kind == "object":
        required = schema.get("required", list(schema.get("properties", {})))
        properties = schema.get("properties", {})
        return {
            k: example_value(properties.get(k, {}), sentence, root, depth + 1) for k in required
        }
    if kind == "array":
        count = max(1, schema.get("minItems", 1))
        return [example_value(schema.get("items", {}), sentence, root, depth + 1)] * count
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    if kind == "string":
        limit = schema.get("maxLength")
        first = sentence.split(". ")[0].rstrip(".") + "." if sentence.isascii() else sentence
        return first if limit is None or len(first) <= limit else "file"[:limit]
    return {"boolean": True, "null": None}.get(str(kind))


def _tidy(text: str) -> str:
    """No trailing spaces and never two blank lines together."""
    lines: list[str] = []
    for line in text.splitlines():
        line = line.rstrip()
        if line or (lines and lines[-1]):
            lines.append(line)
    return "\n".join(lines).strip()
