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
| ``render``, ``format`` | text from objects; the formatter |
| ``surface`` | the same in Chinese and Japanese |
| ``grammar`` | the language as GBNF, Lark and regex for constrained decoding |
| ``raw`` | the exact text, invisible characters by name |
"""

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

__all__ = [
    "CanonFinding",
    "ConditionError",
    "Document",
    "Lexicon",
    "Message",
    "ParseResult",
    "Placeholder",
    "Problem",
    "SentenceResult",
    "TypeRef",
    "Version",
    "Within",
    "evaluate",
    "load_lexicon",
    "message_from_json",
    "message_json",
    "parse_condition",
    "parse_document",
    "parse_documents",
    "parse_message",
    "parse_messages",
    "parse_sentence",
    "parse_sentences",
    "render_condition",
    "render_message",
    "render_sentence",
    "to_cel",
]
