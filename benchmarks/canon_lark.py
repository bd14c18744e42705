"""Canon read by Lark: the peer of the benchmark, and a second opinion for the tests.

Two LALR parsers of one grammar file: sentences with conditions, and documents. Both build what the
hand parsers build, so that the trees can be compared.
"""

from __future__ import annotations

import ast
import datetime as dt
import re
from functools import cache
from pathlib import Path
from typing import Any

from lark import Lark, Token, Transformer
from lark.indenter import Indenter

from steguard.canon import model
from steguard.canon.chars import REFUSED

GRAMMAR = Path(__file__).parent / "data" / "canon" / "canon.lark"


class Indentation(Indenter):
    NL_type = "_NL"
    OPEN_PAREN_types: list[str] = []  # noqa: RUF012 - Lark's own form
    CLOSE_PAREN_types: list[str] = []  # noqa: RUF012
    INDENT_type = "_INDENT"
    DEDENT_type = "_DEDENT"
    tab_len = 8


@cache
def sentence_parser() -> Lark:
    """Sentences and conditions."""
    text = GRAMMAR.read_text(encoding="utf-8").split("// ---- documents")[0]
    return Lark(
        text + "\n%ignore / +/\n",
        start=["line", "condition"],
        parser="lalr",
        lexer="contextual",
        maybe_placeholders=False,
    )


@cache
def document_parser() -> Lark:
    """Documents, after :func:`rewritten`."""
    text = GRAMMAR.read_text(encoding="utf-8").split("// ---- documents")[1].partition("\n")[2]
    return Lark(
        text,
        start="document",
        parser="lalr",
        lexer="contextual",
        postlex=Indentation(),
        maybe_placeholders=False,
    )


def sentence(text: str) -> Any:
    """The sentence in the text. Raises what Lark raises, or ValueError."""
    _check(text)
    return Sentences().transform(sentence_parser().parse(text, start="line"))


def condition(text: str) -> Any:
    """The condition in the text."""
    _check(text)
    return Sentences().transform(sentence_parser().parse(text, start="condition"))


def document(text: str) -> Any:
    """The data of the document in the text."""
    body = text.removeprefix("\ufeff").replace("\r\n", "\n")
    _check(body)
    return Documents().transform(document_parser().parse(rewritten(body)))


def _check(text: str) -> None:
    if REFUSED.search(text):
        raise ValueError("a character is refused")


class Sentences(Transformer[Token, Any]):
    """Builds the objects of :mod:`steguard.canon.model`."""

    def request(self, parts: list[Any]) -> Any:
        verb, target, *rest = parts
        return self._request(str(verb), str(target), rest)

    def duty(self, parts: list[Any]) -> Any:
        actor = str(parts.pop(0)) if parts[0].type == "NAME" else None
        modal, verb, target, *rest = parts
        made = self._request(str(verb), str(target), rest)
        return model.Duty(str(modal), made, actor)  # type: ignore[arg-type]

    def _request(self, verb: str, target: str, rest: list[Any]) -> Any:
        params = next((one for one in rest if isinstance(one, tuple)), ())
        within = next((one for one in rest if isinstance(one, model.Within)), None)
        return model.Request(target, params, within, verb)

    def params(self, parts: list[Any]) -> Any:
        return tuple(parts[1:])

    def param(self, parts: list[Any]) -> Any:
        return str(parts[0])[:-1], _value(parts[1])

    def within(self, parts: list[Any]) -> Any:
        text = str(parts[1])
        if parts[1].type == "INSTANT":
            dt.datetime.fromisoformat(text)
            return model.Within(instant=text)
        amount, unit = text.split()
        return model.Within(int(amount), unit.removesuffix("s"))

    def report(self, parts: list[Any]) -> Any:
        return model.Report(str(parts[1]), _value(parts[3]))

    def query(self, parts: list[Any]) -> Any:
        return model.Query(str(parts[1]), str(parts[3]))

    def decision(self, parts: list[Any]) -> Any:
        return model.Decision(_value(parts[1]))

    def notice(self, parts: list[Any]) -> Any:
        return model.Notice(str(parts[1]))

    def ack(self, parts: list[Any]) -> Any:
        return model.Ack(str(parts[1]))

    def error(self, parts: list[Any]) -> Any:
        return model.Failure(str(parts[1]), _value(parts[-1]))

    def conditional(self, parts: list[Any]) -> Any:
        return model.Conditional(parts[1], parts[3])

    def or_(self, parts: list[Any]) -> Any:
        terms = tuple(one for one in parts if not isinstance(one, Token))
        return model.Or(terms) if len(terms) > 1 else terms[0]

    def and_(self, parts: list[Any]) -> Any:
        terms = tuple(one for one in parts if not isinstance(one, Token))
        return model.And(terms) if len(terms) > 1 else terms[0]

    def not_(self, parts: list[Any]) -> Any:
        return model.Not(parts[1])

    def compare(self, parts: list[Any]) -> Any:
        return model.Compare(str(parts[0]), str(parts[1]), parts[2])

    def member(self, parts: list[Any]) -> Any:
        return model.Member(str(parts[0]), parts[-1])

    def outside(self, parts: list[Any]) -> Any:
        return model.Member(str(parts[0]), parts[-1], True)

    def list(self, parts: list[Any]) -> Any:
        return tuple(parts)

    def literal(self, parts: list[Any]) -> Any:
        token = parts[0]
        text = str(token)
        made = {
            "INT": int,
            "DECIMAL": float,
            "DATE": dt.date.fromisoformat,
            "QUOTED": _unquoted,
            "SQUOTED": lambda raw: raw[1:-1],
            "TRUE": lambda _: True,
            "FALSE": lambda _: False,
        }
        return made[token.type](text)


class Documents(Transformer[Token, Any]):
    """Builds text, lists and mappings."""

    def document(self, parts: list[Any]) -> Any:
        return parts[-1]

    def fields(self, parts: list[Any]) -> Any:
        made = dict(parts)
        if len(made) < len(parts):
            raise ValueError("a key stands twice")
        return made

    def leaf(self, parts: list[Any]) -> Any:
        if len(parts) < 2:
            raise ValueError("a value is missing")
        return _key(parts[0]), parts[1]

    def branch(self, parts: list[Any]) -> Any:
        return _key(parts[0]), parts[1]

    def items(self, parts: list[Any]) -> Any:
        return parts

    def item(self, parts: list[Any]) -> Any:
        return parts[1]

    def mapping(self, parts: list[Any]) -> Any:
        return parts[1]

    def scalar(self, parts: list[Any]) -> Any:
        one = parts[0]
        return _scalar(one) if isinstance(one, Token) else one

    def flow(self, parts: list[Any]) -> Any:
        return parts

    def flowitem(self, parts: list[Any]) -> Any:
        return _scalar(parts[0])


def _key(token: Token) -> str:
    text = str(token)[:-1]
    return _unquoted(text) if text[0] == '"' else text


def _scalar(token: Token) -> Any:
    text = str(token)
    if token.type == "DQ":
        return _unquoted(text)
    if token.type == "SQ":
        return text[1:-1].replace("''", "'")
    return {} if token.type == "EMPTY" else text


def _value(token: Token) -> Any:
    text = str(token)
    if token.type == "QUOTED":
        return _unquoted(text)
    if token.type == "PLACEHOLDER":
        return model.Placeholder(text[1:-1])
    if token.type == "TYPE":
        kind, _, members = text[1:-1].partition(":")
        return model.TypeRef(kind, tuple(members.split("|")) if members else ())
    return text


def _unquoted(text: str) -> str:
    """The text in double quotes, read by Python's own literals, which have all these escapes."""
    made = ast.literal_eval(text.replace("\\/", "/"))
    assert isinstance(made, str)
    return made


def rewritten(text: str) -> str:
    """The document with every block and every ``- key: value`` in a form that LALR can read."""
    lines = text.split("\n")
    if lines and re.fullmatch(r"--- *", next((x for x in lines if x and x[0] != "#"), "")):
        lines.remove(next(x for x in lines if x.startswith("---")))
    made: list[str] = []
    index = 0
    while index < len(lines):
        line = lines[index].rstrip(" ")
        index += 1
        block = re.fullmatch(r"( *)((?:- +)?(?:[^ \n#\"][^:\n]*: +)?)\|(-?)", line)
        if block is not None and block[2]:
            text_of, index = _block(lines, index, len(block[1]))
            ends = index < len(lines) or not lines[-1].strip(" ")
            body = text_of + ("\n" if ends and not block[3] else "")
            line = f"{block[1]}{block[2]}{_dumped(body)}"
        made.extend(_unfolded(line))
    return "\n" + "\n".join(_indented_lists(made)).rstrip("\n ") + "\n"


def _dumped(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _block(lines: list[str], index: int, parent: int) -> tuple[str, int]:
    body: list[str] = []
    indent = 0
    while index < len(lines):
        line = lines[index]
        deep = len(line) - len(line.lstrip(" "))
        if line.strip(" ") and (deep <= parent or deep < indent):
            break
        indent = indent or (deep if line.strip(" ") else 0)
        body.append(line)
        index += 1
    if not indent or not body[0].strip(" "):
        raise ValueError("a block without a first line")
    cut = [line[indent:] for line in body]
    while cut and not cut[-1]:
        cut.pop()
    return "\n".join(cut), index


def _unfolded(line: str) -> list[str]:
    """``- key: value`` as a dash and a deeper line."""
    found = re.match(r'( *)-( +)(?=(?:\w[\w.-]*|"(?:[^"\\]|\\.)+"):(?: |$))', line)
    if found is None:
        return [line]
    return [f"{found[1]}-", " " * found.end() + line[found.end() :]]


def _indented_lists(lines: list[str]) -> list[str]:
    """A list at the indentation of its key moves one blank to the right, with all below it."""
    made: list[str] = []
    shifted: list[int] = []
    above = ""
    for line in lines:
        content = line.lstrip(" ")
        deep = len(line) - len(content)
        if not content or content[0] == "#":
            made.append(line)
            continue
        while shifted and (deep < shifted[-1] or (deep == shifted[-1] and content[0] != "-")):
            shifted.pop()
        key_above = re.fullmatch(r" *(?:\w[\w.-]*|\"[^\"]*\"):(?: +#.*)?", above)
        if (
            re.match(r"-(?: |$)", content)
            and key_above
            and len(above) - len(above.lstrip(" ")) == deep
        ):
            shifted.append(deep)
        made.append(" " * len(shifted) + line)
        above = line
    return made
