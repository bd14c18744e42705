"""The decoding grammars: engines take them, and what they let through is valid Canon."""

from __future__ import annotations

import random
import re
from typing import Any

import openai
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steguard import local
from steguard.canon import parse_message, parse_sentence
from steguard.canon.grammar import FORMS, Shape, message_grammar, sentence_grammar
from steguard.canon.lexicon import load_lexicon
from steguard.canon.model import TypeRef
from steguard.errors import UsageError
from tests.conftest import ASK

SHOP = load_lexicon("ecommerce")
SUBJECTS = {
    "stock": {
        "sku": Shape(TypeRef("text"), required=True),
        "quantity": Shape(TypeRef("int")),
        "price": Shape(TypeRef("float")),
        "ready": Shape(TypeRef("bool"), required=True),
        "day": Shape(TypeRef("date")),
        "file": Shape(TypeRef("path")),
        "state": Shape(TypeRef("enum", ("open", "-x", "*"))),
        "tags": Shape(TypeRef("text"), many=True),
    },
    "ping": {},
    "note": {"text": Shape(TypeRef("text"))},
}


def grammars() -> list[tuple[str, Any, Any]]:
    """A name, a function of the form, and what reads a text of the grammar."""
    return [
        ("sentence", sentence_grammar, parse_sentence),
        (
            "sentence of a shop",
            lambda form: sentence_grammar(form, lexicon=SHOP, names=["order_1", "stock"]),
            lambda text: parse_sentence(text, lexicon=SHOP),
        ),
        (
            "sentence in Chinese",
            lambda form: sentence_grammar(form, language="zh"),
            lambda text: parse_sentence(text, language="zh"),
        ),
        (
            "sentence in Japanese",
            lambda form: sentence_grammar(form, language="ja", fields=SUBJECTS["stock"]),
            lambda text: parse_sentence(text, language="ja"),
        ),
        ("message", message_grammar, parse_message),
        (
            "message of a shop",
            lambda form: message_grammar(form, lexicon=SHOP),
            lambda text: parse_message(text, lexicon=SHOP),
        ),
        (
            "message of subjects",
            lambda form: message_grammar(
                form, subjects=SUBJECTS, sender="a", recipient="b", reply_to="m-0"
            ),
            parse_message,
        ),
    ]


NAMED = pytest.mark.parametrize(
    ("make", "read"), [pytest.param(*one[1:], id=one[0]) for one in grammars()]
)


@settings(suppress_health_check=list(HealthCheck), max_examples=60)
@given(st.from_regex(re.compile(sentence_grammar("regex")), fullmatch=True))
def test_what_the_regex_matches_is_valid(text: str) -> None:
    result = parse_sentence(text)
    assert result.ok, (text, result.findings)


class Bytes:
    """A tokenizer whose tokens are the 256 bytes and an end."""

    eos_token_id = 256
    bos_token_id = None
    tokens = (*(bytes([n]) for n in range(256)), b"<end>")
    special_token_ids = (256,)

    def __call__(self, text: Any) -> list[int]:
        return list(text if isinstance(text, bytes) else text.encode("utf-8"))


def matcher(grammar: str) -> Any:
    llguidance = pytest.importorskip("llguidance")
    tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Bytes()))
    made = llguidance.LLMatcher(tokenizer, grammar, log_level=0)
    assert not made.is_error(), made.get_error()
    return made


def as_lark(form: str, grammar: str) -> str:
    llguidance = pytest.importorskip("llguidance")
    if form == "gbnf":
        text = llguidance.gbnf_to_lark.any_to_lark(grammar)
        return str(llguidance.LLMatcher.grammar_from_lark(text))
    if form == "regex":
        return str(llguidance.LLMatcher.grammar_from_regex(grammar))
    return str(llguidance.LLMatcher.grammar_from_lark(grammar))


def walk(grammar: str, seed: int) -> str:
    """A text that the engine lets through, byte by byte, ending as soon as it may after a while."""
    one = matcher(grammar)
    chance = random.Random(seed)
    text = bytearray()
    while len(text) < 2000:
        mask = one.compute_bitmask()
        allowed = [n for n in range(257) if mask[n // 8] >> (n % 8) & 1]
        if 256 in allowed and (len(text) > 60 or allowed == [256] or chance.random() < 0.2):
            return text.decode("utf-8")
        options = [n for n in allowed if n < 256]
        closing = [n for n in options if n in b'" \n']
        picked = chance.choice(closing if closing and chance.random() < 0.3 else options)
        assert one.consume_token(picked)
        text.append(picked)
    return ""


@pytest.mark.parametrize("form", FORMS)
@NAMED
def test_an_engine_takes_the_grammar_and_writes_only_valid_text(
    make: Any, read: Any, form: str
) -> None:
    grammar = as_lark(form, make(form))
    written = [text for seed in range(4) if (text := walk(grammar, seed))]
    assert written
    for text in written:
        result = read(text)
        assert result.ok, (text, result.findings)


@pytest.mark.parametrize("form", FORMS)
def test_an_engine_takes_usual_text_and_stops_wrong_text(form: str) -> None:
    grammar = as_lark(form, sentence_grammar(form, lexicon=SHOP, names=["stock_check", "stock"]))
    for text in (
        "request stock_check with sku=A1001 quantity=2 within 30 seconds",
        'report: stock is "sold out"',
        "reserve stock with quantity=5",
        'if stock_level < 10 and currency == "EUR" then notify stock',
        "must not cancel stock",
        "error: stock_check failed because no_stock",
    ):
        assert accepts(grammar, text), text
    for text in (
        "please request stock_check",
        "request stock_check within soon",
        "request stock_check with quantity=many",
        "request stock_check with quantity=2 quantity=2",
        'if stock_level < "x" then notify stock',
        "report: stock is not ok",
        "Request stock_check",
    ):
        assert not accepts(grammar, text), text


def accepts(grammar: str, text: str) -> bool:
    one = matcher(grammar)
    tokens = list(text.encode("utf-8"))
    return bool(one.try_consume_tokens(tokens) == len(tokens) and one.is_accepting())


def test_all_forms_are_one_language() -> None:
    made = {form: as_lark(form, message_grammar(form, subjects=SUBJECTS)) for form in FORMS}
    for source in FORMS:
        for seed in range(3):
            text = walk(made[source], seed)
            if text:
                assert all(accepts(made[form], text) for form in FORMS), (source, text)


def test_every_rule_of_the_gbnf_has_a_name_that_llama_cpp_allows() -> None:
    for _, make, _ in grammars():
        for line in make("gbnf").splitlines():
            assert re.match(r"[a-z][a-z0-9-]* ::= \S", line), line


@pytest.mark.skipif(not local.available(), reason="the extra 'local' is not installed")
@pytest.mark.local_model
def test_llama_cpp_takes_the_gbnf() -> None:
    with (
        local.LocalModel(context=512) as model,
        openai.OpenAI(base_url=model.base_url, api_key="local") as client,
    ):
        for _, make, _ in grammars():
            answer = client.chat.completions.create(
                model=model.model, messages=ASK, max_tokens=1, extra_body={"grammar": make("gbnf")}
            )
            assert answer.choices[0].message.content


def test_the_size_of_a_grammar_follows_the_number_of_fields() -> None:
    def size(count: int, form: str) -> int:
        fields = {f"field_{n}": Shape(TypeRef("int")) for n in range(count)}
        return len(message_grammar(form, subjects={"s_1": fields}))

    assert size(40, "gbnf") < 6 * size(10, "gbnf")
    assert size(40, "regex") < 20 * size(10, "regex")


def test_wrong_arguments_say_what_to_write() -> None:
    for call in (
        lambda: sentence_grammar("ebnf"),
        lambda: sentence_grammar("gbnf", kinds=["poem"]),
        lambda: sentence_grammar("gbnf", names=["with"]),
        lambda: message_grammar("gbnf", actions=["fly"]),
        lambda: message_grammar("gbnf", sender="a b"),
        lambda: message_grammar("gbnf", msg_id="m", reply_to="m"),
    ):
        with pytest.raises(UsageError):
            call()
