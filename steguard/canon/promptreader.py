"""Reads a ``canon-prompt`` document, with every fault at its place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from steguard.canon.document import Document
from steguard.canon.lexicon import Lexicon, core
from steguard.canon.model import TypeRef, Version, is_name
from steguard.canon.nodes import BAD, AnyNode, Fields, Items, Scalar
from steguard.canon.payload import PayloadField
from steguard.canon.problems import Path, Problem
from steguard.canon.promptspec import (
    FORMATS,
    GROUPS,
    LIMITS,
    MAX_LIMIT,
    MAX_TERMS,
    PromptSpec,
    fault,
)
from steguard.canon.types import parse_type, read_value
from steguard.canon.wording import language_code, language_names, same, styles
from steguard.types import Severity

_PLACEHOLDER = re.compile(r"\[([^\[\]]*)\]")
_LISTS = ("headings", "include_fields", "must_include", "must_not_include")


class SpecReader:
    """Reads one document. ``spec`` holds what could be read, ``problems`` what could not."""

    def __init__(
        self, document: Document, bound: Mapping[str, str], lexicon: Lexicon | None = None
    ) -> None:
        self.spec = PromptSpec()
        self.problems: list[Problem] = []
        self._bound = bound
        self._lexicon = lexicon or core()
        self._document, self._root = document, document.root

    def read(self) -> PromptSpec:
        root = self._root
        if root.get("canon-prompt") is None and root.get("canon-message") is not None:
            self._fault(
                "no-prompt", ("canon-message",), "This is a message and no prompt.", at="key"
            )
            return self.spec
        self._group(root, ())
        for name in ("canon-prompt", "role", "task"):
            if root.get(name) is None:
                value = {"canon-prompt": "v1.0", "role": "assistant", "task": "summarize"}[name]
                message = f"The prompt has no '{name}'."
                path = ("canon-prompt",)
                self._fault("missing-field", path, message, f"Add '{name}: {value}'.", at="key")
        if root.entries and root.get("canon-prompt") and root.entries[0].key.text != "canon-prompt":
            message = "The version stands first, because it says how to read the rest."
            do = "Put it into the first line."
            place = ("canon-prompt",)
            weight = Severity.WARNING
            self._fault("version-not-first", place, message, do, at="key", severity=weight)
        return self.spec

    def _fault(
        self, rule: str, path: Path, message: str, do: str | None = None, **more: Any
    ) -> None:
        self.problems.append(fault(rule, path, message, do, **more))

    def _group(self, fields: Fields, path: Path) -> None:
        known = GROUPS[str(path[-1]) if path else ""]
        for entry in fields:
            key, here = entry.key.text, (*path, entry.key.text)
            if key not in known:
                self._unknown(key, here)
            elif not (isinstance(entry.value, Scalar) and entry.value.style == BAD):
                self._setting(key, entry.value, here)

    def _unknown(self, key: str, path: Path) -> None:
        group = str(path[-2]) if len(path) > 1 else ""
        home = next((name for name, keys in GROUPS.items() if name != group and key in keys), None)
        near = get_close_matches(key, GROUPS[group], n=1, cutoff=0.6)
        if home is not None:
            do = f"Write it under '{home}'." if home else "Write it at the left margin."
        elif near:
            do = f"Write '{near[0]}'."
        else:
            do = "Remove it."
        message = f"There is no setting '{key}' here."
        self._fault("unknown-key", path, message, do, expected=GROUPS[group], at="key")

    def _setting(self, key: str, node: AnyNode, path: Path) -> None:
        if key in self.spec.where and key != "canon-prompt":
            self._twice(key, path)
        self.spec.where[key] = path
        if key == "input":
            self._inputs(node, path)
        elif key in ("output_format", "guardrail"):
            self._nested(key, node, path)
        elif key in _LISTS:
            setattr(self.spec, key, getattr(self.spec, key) + self._list(key, node, path))
        else:
            self._scalar(key, node, path)

    def _twice(self, key: str, path: Path) -> None:
        first = self._document.node(self.spec.where[key], "key").line
        message = f"'{key}' stands here a second time. The first one is in line {first}."
        self._fault("stated-twice", path, message, "Keep one of them.", at="key")

    def _nested(self, key: str, node: AnyNode, path: Path) -> None:
        if isinstance(node, Fields):
            self._group(node, path)
            return
        text = self._text(node, path)
        if key == "output_format" and text in FORMATS:
            self.spec.format = text
        elif text is not None:
            listed = ", ".join(GROUPS[key])
            do = f"Write settings below it: {listed}."
            self._fault("wrong-type", path, f"'{key}' is a group of settings.", do)

    def _scalar(self, key: str, node: AnyNode, path: Path) -> None:
        text = self._text(node, path)
        if text is None:
            return
        if key in LIMITS:
            self._limit(key, text, path)
        elif key == "canon-prompt":
            self._version(text, path)
        elif key == "bullets":
            self._bullets(text, path)
        elif key == "language":
            self._language(text, path)
        elif key == "format":
            self._format(text, path)
        elif key == "heading":
            self.spec.headings.insert(0, text)
            self.spec.terms.setdefault("headings", []).append((text, path))
        else:
            self._words(key, text, path)

    def _words(self, key: str, text: str, path: Path) -> None:
        setattr(self.spec, key, text)
        if not text.strip():
            self._fault("wrong-type", path, f"'{key}' is empty.", "Write one or more words.")
            return
        vague = self._lexicon.forbidden_in(text)
        if vague is not None:
            kind, do = self._lexicon.advice(vague[0])
            span = {"start": vague.start(), "end": vague.end()}
            message = f"'{vague[0]}' is a {kind} expression."
            self._fault("vague-expression", path, message, do, severity=Severity.WARNING, **span)
        if key == "style" and same(text) not in styles():
            listed = ", ".join(styles())
            message = f"No rule checks the style '{text}'. It is guidance for the model."
            do = f"Write one of these to have it checked: {listed}."
            self._fault("not-checkable", path, message, do, severity=Severity.WARNING)

    def _limit(self, key: str, text: str, path: Path) -> None:
        value = read_value(text, TypeRef("int"))
        if not isinstance(value, int):
            self._fault("wrong-type", path, f"'{key}' is a whole number.", "Write digits, as 150.")
        elif not 0 <= value <= MAX_LIMIT:
            message = f"'{key}' is {text}. It is 0 to {MAX_LIMIT}."
            self._fault("wrong-type", path, message, "Write another number.")
        else:
            self.spec.limits[key] = value

    def _version(self, text: str, path: Path) -> None:
        version = Version.parse(text)
        accepted = self._lexicon.accepts
        listed = ", ".join(map(str, accepted))
        if version is None:
            self._fault("unknown-version", path, f"'{text}' is no version.", f"Write {listed}.")
        elif version not in accepted:
            message = f"The version {version} is not known here."
            self._fault("unknown-version", path, message, f"Write {listed}.")
        else:
            self.spec.version = version

    def _bullets(self, text: str, path: Path) -> None:
        if text not in ("true", "false"):
            self._fault("wrong-type", path, "'bullets' is true or false.", "Write true or false.")
        else:
            self.spec.bullets = text == "true"

    def _language(self, text: str, path: Path) -> None:
        self.spec.language = language_code(text)
        if self.spec.language is None:
            near = get_close_matches(same(text), language_names(), n=1, cutoff=0.6)
            do = f"Write {near[0]}." if near else "Write a language, as english, or a code, as en."
            self._fault("unknown-language", path, f"The language '{text}' is not known.", do)

    def _format(self, text: str, path: Path) -> None:
        if text not in FORMATS:
            listed = ", ".join(FORMATS)
            self._fault("wrong-type", path, f"There is no format '{text}'.", f"Write {listed}.")
        else:
            self.spec.format = text

    def _list(self, key: str, node: AnyNode, path: Path) -> list[str]:
        if not isinstance(node, Items):
            do = f"Write [{node.text}]." if isinstance(node, Scalar) else "Write [a, b]."
            self._fault("wrong-type", path, f"'{key}' is a list.", do)
            return []
        if len(node.items) > MAX_TERMS:
            message = f"'{key}' has {len(node.items)} terms. The maximum is {MAX_TERMS}."
            self._fault("wrong-type", path, message, "Keep the terms that matter most.")
            return []
        found: dict[str, str] = {}
        for index, item in enumerate(node.items):
            here = (*path, index)
            text = self._text(item, here)
            if text is None:
                continue
            if not text.strip():
                self._fault("wrong-type", here, "The term is empty.", "Write a word or remove it.")
            elif same(text) in found:
                message = f"'{text}' stands in the list twice."
                self._fault(
                    "repeated-term", here, message, "Remove one.", severity=Severity.WARNING
                )
            else:
                found[same(text)] = text
                self.spec.terms.setdefault(key, []).append((text, here))
        return list(found.values())

    def _inputs(self, node: AnyNode, path: Path) -> None:
        if not isinstance(node, Fields):
            do = "Write a name and a type below it, as 'text: <text>'."
            self._fault("wrong-type", path, "'input' is a group of inputs.", do)
            return
        for entry in node:
            name, here = entry.key.text, (*path, entry.key.text)
            if not is_name(name):
                self._fault("bad-input", here, f"'{name}' is no name.", "Use letters.", at="key")
                continue
            self._input(name, entry.value, here)

    def _input(self, name: str, node: AnyNode, path: Path) -> None:
        many = isinstance(node, Items) and len(node.items) == 1 and node.placeholder is None
        only = node.items[0] if many and isinstance(node, Items) else node
        if isinstance(only, Scalar) and only.style == BAD:
            return
        if isinstance(only, Scalar) and only.style == "plain" and only.text[:1] == "<":
            read = parse_type(only.text)
            if isinstance(read, TypeRef):
                self.spec.inputs[name] = PayloadField(name, read, many)
            else:
                what, _, do = str(read).partition("; ")
                do = f"{do[:1].upper()}{do[1:]}." if do else "Write a type, as <text>."
                self._fault("bad-input", path, f"'{name}': {what}.", do)
        elif isinstance(node, Scalar):
            text = self._text(node, path)
            self.spec.inputs[name] = PayloadField(name, TypeRef("text"))
            if text is not None:
                self.spec.fixed[name] = text
                message = f"The input '{name}' stands in the prompt itself."
                do = f"Write '{name}: <text>' and give the text when you send the prompt."
                self._fault("fixed-input", path, message, do, severity=Severity.WARNING)
        elif isinstance(node, Items) and node.placeholder is not None:
            self.spec.inputs[name] = PayloadField(name, TypeRef("text"))
            text = self._text(node, path)
            if text is not None:
                self.spec.fixed[name] = text
        else:
            self._fault("bad-input", path, f"The input '{name}' has no type.", "Write <text>.")

    def _text(self, node: AnyNode, path: Path) -> str | None:
        """The text of a value with its placeholders filled, None where that cannot be."""
        if isinstance(node, Items) and node.placeholder is not None:
            return self._filled(node.placeholder, path)
        if not isinstance(node, Scalar):
            what = "a list" if isinstance(node, Items) else "a group"
            self._fault(
                "wrong-type", path, f"'{path[-1]}' is one value and not {what}.", "Write one."
            )
            return None
        if node.style == BAD:
            return None
        if node.style == "plain" and node.text[:1] == "<" and path[0] != "input":
            do = "Write the value, or [name] for a placeholder."
            self._fault("wrong-type", path, f"'{node.text}' is a type and no value.", do)
            return None
        return self._interpolated(node.text, path)

    def _interpolated(self, text: str, path: Path) -> str | None:
        if "[" not in text and "]" not in text:
            return text
        parts: list[str] = []
        at = 0
        for found in _PLACEHOLDER.finditer(text):
            before = text[at : found.start()]
            if "[" in before or "]" in before or not is_name(found[1]):
                break
            filled = self._filled(found[1], path)
            if filled is None:
                return None
            parts += [before, filled]
            at = found.end()
        rest = text[at:]
        if "[" in rest or "]" in rest:
            at = min(i for i in (rest.find("["), rest.find("]")) if i >= 0) + at
            message = f"'{text}' has a bracket that is no placeholder."
            do = "Write a placeholder as [name], once, without other brackets."
            self._fault("bad-placeholder", path, message, do, start=at, end=at + 1)
            return None
        return "".join(parts) + rest

    def _filled(self, name: str, path: Path) -> str | None:
        if name in self._bound:
            return self._bound[name]
        self.spec.placeholders.setdefault(name, path)
        message = f"The placeholder [{name}] is not bound."
        do = f"Give a value for '{name}' when you send the prompt."
        self._fault("unbound-placeholder", path, message, do, severity=Severity.INFO)
        return None
