"""Canon: a controlled English for prompts and for messages between agents.

>>> from steguard.canon import parse_message, render_message
>>> result = parse_message(text)
>>> result.ok, result.message, result.findings
>>> parse_message(render_message(message)).message == message
True

| module | what it holds |
|---|---|
| ``model`` | messages, sentences, conditions, times, placeholders, types |
| ``lexicon`` | verbs, fields, forbidden expressions; domain lexicons in YAML |
| ``document`` | the indentation document: nodes with exact line and column |
| ``message``, ``sentence``, ``condition``, ``times``, ``types`` | the parsers |
| ``render``, ``format``, ``ast`` | text and JSON from objects; the formatter |
| ``surfaces``, ``translate`` | the same in Chinese and Japanese |
| ``grammar`` | the language as GBNF, Lark and regex for constrained decoding |
| ``raw`` | the exact text, invisible characters by name |
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from steguard.canon.condition import ConditionError, evaluate, parse_condition, to_cel
from steguard.canon.document import Document, parse_document, parse_documents
from steguard.canon.lexicon import Lexicon, load_lexicon
from steguard.canon.message import ParseResult, parse_message, parse_messages
from steguard.canon.model import Message, Placeholder, TypeRef, Version, Within
from steguard.canon.problems import CanonFinding, Problem
from steguard.canon.render import (
    message_from_json,
    message_json,
    render_condition,
    render_message,
    render_sentence,
)
from steguard.canon.sentence import SentenceResult, parse_sentence, parse_sentences

if TYPE_CHECKING:
    from steguard.canon.compatibility import compare
    from steguard.canon.doctor import examine
    from steguard.canon.edge import to_canon, to_canon_async
    from steguard.canon.exchange import Exchange, MessageRefused, fail, reply
    from steguard.canon.generate import load_mapping, render_template, to_http, to_sql, to_template
    from steguard.canon.hints import advise
    from steguard.canon.prompt import CanonPrompt, load_prompt, parse_prompt
    from steguard.canon.registry import Registry
    from steguard.canon.tracing import MessageFilter, handling
    from steguard.canon.verdict import judge
    from steguard.canon.versions import negotiate, offer

_LATER = {
    "compare": "compatibility",
    "examine": "doctor",
    "to_canon": "edge",
    "to_canon_async": "edge",
    "Exchange": "exchange",
    "MessageRefused": "exchange",
    "fail": "exchange",
    "reply": "exchange",
    "load_mapping": "generate",
    "render_template": "generate",
    "to_http": "generate",
    "to_sql": "generate",
    "to_template": "generate",
    "advise": "hints",
    "CanonPrompt": "prompt",
    "load_prompt": "prompt",
    "parse_prompt": "prompt",
    "Registry": "registry",
    "MessageFilter": "tracing",
    "handling": "tracing",
    "judge": "verdict",
    "negotiate": "versions",
    "offer": "versions",
}

__all__ = [
    "CanonFinding",
    "CanonPrompt",
    "ConditionError",
    "Document",
    "Exchange",
    "Lexicon",
    "Message",
    "MessageFilter",
    "MessageRefused",
    "ParseResult",
    "Placeholder",
    "Problem",
    "Registry",
    "SentenceResult",
    "TypeRef",
    "Version",
    "Within",
    "advise",
    "compare",
    "evaluate",
    "examine",
    "fail",
    "handling",
    "judge",
    "load_lexicon",
    "load_mapping",
    "load_prompt",
    "message_from_json",
    "message_json",
    "negotiate",
    "offer",
    "parse_condition",
    "parse_document",
    "parse_documents",
    "parse_message",
    "parse_messages",
    "parse_prompt",
    "parse_sentence",
    "parse_sentences",
    "render_condition",
    "render_message",
    "render_sentence",
    "render_template",
    "reply",
    "to_canon",
    "to_canon_async",
    "to_cel",
    "to_http",
    "to_sql",
    "to_template",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
