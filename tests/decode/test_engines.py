"""The same constraint in every dialect: engines that others wrote agree on what it accepts."""

from __future__ import annotations

import json
import random
import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from steguard.contract import Contract, compile_contract
from steguard.decode import Constraint, compile_constraint, constrain_schema, logit_bias
from steguard.decode.endpoint import LAYERS, layer_named
from steguard.decode.schema import field_pattern
from steguard.errors import UsageError
from steguard.local import available

WORDS = (
    "a the pump valve water lamp operator has is was moves stops red cold green closed opened large"
    " tank to device system or and with not open"
)


@cache
def vocabulary() -> str:
    """A small vocabulary: some of these engines need minutes for thousands of words."""
    file = Path(tempfile.mkdtemp()) / "words.jsonl"
    lines = (
        f'{{"word": "{w}", "pos": "noun", "approved": true, "forms": ["{w}"]}}'
        for w in WORDS.split()
    )
    file.write_text("\n".join(lines))
    return str(file)


def contract(sentences: int = 3) -> Contract:
    return compile_contract(
        {
            "extends": "strict",
            "rules": {
                "sentence-length": {"max": 8},
                "unapproved-word": {"vocabulary": vocabulary()},
            },
            "constrain": {"sentences": sentences, "words": "vocabulary"},
        }
    )


SHARED = [
    ("The pump moves the water.", True),
    ("The pump moves the water. The valve stops the pump.", True),
    ("A lamp is red.", True),
    ("The water is cold, green.", True),
    ("The valve is opened.", False),
    ("The operator has closed the valve.", False),
    ("Utilize the pump.", False),
    ("the pump moves the water.", False),
    ("The pump moves the water", False),
    ("The pump moves the water; it stops.", False),
    ("The pumpmoves the water.", False),
    ("The pump moves the cold water to the large green tank.", False),
    ("**The pump** moves water.", False),
    ("", False),
]
"""Texts on which every dialect must agree; the narrow ones take them too."""


@cache
def constraint(sentences: int = 3) -> Constraint:
    return compile_constraint(contract(sentences))


@pytest.mark.parametrize(("text", "right"), SHARED)
def test_our_own_reading(text: str, right: bool) -> None:
    assert constraint().accepts(text) is right
    assert bool(re.fullmatch(constraint().regex, text)) is right


@cache
def llguidance_tokenizer() -> Any:
    llguidance = pytest.importorskip("llguidance")
    return llguidance.LLTokenizer("byte")


def llguidance_accepts(grammar: str, text: str) -> bool:
    import llguidance

    tokenizer = llguidance_tokenizer()
    matcher = llguidance.LLMatcher(tokenizer, grammar, log_level=0)
    assert not matcher.is_error(), matcher.get_error()
    tokens = tokenizer.tokenize_str(text)
    return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()


@pytest.mark.parametrize(("text", "right"), SHARED)
def test_llguidance_reads_the_lark_grammar(text: str, right: bool) -> None:
    assert llguidance_accepts(constraint().lark, text) is right


@pytest.mark.parametrize(("text", "right"), SHARED)
def test_llguidance_reads_the_gbnf_grammar(text: str, right: bool) -> None:
    llguidance_tokenizer()
    convert = pytest.importorskip("llguidance.gbnf_to_lark")
    for dialect in (constraint().gbnf, constraint().narrow_gbnf):
        assert llguidance_accepts(convert.gbnf_to_lark(dialect), text) is right


@pytest.mark.parametrize(("text", "right"), [row for row in SHARED if row[0].count(".") < 2])
def test_outlines_reads_the_expression(text: str, right: bool) -> None:
    """One sentence: the index of outlines-core ends at the first text that could be whole."""
    index, tokens = outlines_guide()
    state = index.get_initial_state()
    for byte in text.encode():
        state = index.get_next_state(state, tokens[bytes([byte])])
        if state is None:
            break
    assert (state is not None and index.is_final_state(state)) is right


@cache
def outlines_guide() -> Any:
    outlines = pytest.importorskip("outlines_core")
    characters = " ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.,;*"
    vocabulary = outlines.Vocabulary(0, {c: [n] for n, c in enumerate(characters, 1)})
    tokens = {c.encode(): n for n, c in enumerate(characters, 1)}
    return outlines.Index(constraint(1).regex, vocabulary), tokens


def test_samples_of_the_grammar_pass_through_llguidance() -> None:
    chance = random.Random(7)
    for _ in range(40):
        text = constraint().grammar.sample(chance)
        assert llguidance_accepts(constraint().lark, text), text


def test_what_the_narrow_expression_takes_is_in_the_grammar() -> None:
    whole = compile_constraint(compile_contract("strict"))
    pattern = re.compile(whole.regex)
    chance = random.Random(3)
    words = list(whole.lexis.words)
    found = 0
    for _ in range(4000):
        text = f"The {' '.join(chance.choices(words, k=3))}."
        if pattern.fullmatch(text):
            found += 1
            assert whole.accepts(text), text
    assert found > 100


@pytest.mark.skipif(not available(), reason="the embedded model is not installed")
@pytest.mark.local_model
@pytest.mark.parametrize("layer", LAYERS["llama.cpp"], ids=lambda layer: layer.name)
def test_llama_cpp_writes_only_what_the_grammar_has(layer: Any) -> None:
    from openai import OpenAI

    from steguard.local import LocalModel

    with LocalModel(threads=1) as model:
        client = OpenAI(base_url=model.base_url, api_key="local", timeout=300)
        reply = client.chat.completions.create(
            model=model.model,
            messages=[{"role": "user", "content": "Describe a water pump."}],
            max_tokens=60,
            temperature=0.7,
            seed=2,
            extra_body=layer.body(constraint(), repeat_guard=True),
        )
    text = reply.choices[0].message.content or ""
    reached = constraint().grammar.reach(text)
    if reply.choices[0].finish_reason == "stop":
        assert constraint().accepts(text), text
    assert text[reached:].strip().isalpha() or reached == len(text), text


def test_every_layer_has_a_probe_with_one_text() -> None:
    for layers in LAYERS.values():
        for layer in layers:
            assert "steguard" in json.dumps(layer.probe())
            assert layer_named(layer.name) is layer


def test_the_pattern_of_a_field() -> None:
    pattern = re.compile(field_pattern(5, 2))
    assert pattern.fullmatch("Open the file.")
    assert pattern.fullmatch("Open the file. Read line 4, then stop.")
    assert not pattern.fullmatch("Open the file and read the data.")
    assert not pattern.fullmatch("Open the file; read it.")
    assert not pattern.fullmatch("It's open.")
    assert not pattern.fullmatch("Open.")


def test_the_schema_keeps_what_pins_a_field() -> None:
    schema = {
        "type": "object",
        "properties": {
            "reason": {"type": "string", "x-ste": "default"},
            "steps": {"type": "array", "items": {"type": "string", "x-ste": "default"}},
            "kind": {"enum": ["a", "b"], "type": "string"},
            "name": {"type": "string", "x-ste": "off"},
        },
        "required": ["reason"],
    }
    contract = compile_contract("tool-call", schema=schema)
    bound = constrain_schema(contract)
    assert "pattern" in bound["properties"]["reason"]
    assert "pattern" in bound["properties"]["steps"]["items"]
    assert "pattern" not in bound["properties"]["kind"]
    assert "pattern" not in bound["properties"]["name"]
    assert "pattern" not in schema["properties"]["reason"]
    jsonschema.validate({"reason": "Open the file."}, bound)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"reason": "Hmm... maybe"}, bound)
    with pytest.raises(UsageError, match="JSON Schema"):
        constrain_schema(compile_contract("strict"))


def test_the_bias_names_forbidden_words_of_one_token() -> None:
    strict = compile_contract("strict")
    known = {" utilize": [7], " Utilize": [8], " should": [1, 2]}
    bias = logit_bias(strict, lambda text: known.get(text, [0, 0]))
    assert bias == {"7": -100, "8": -100}
    assert len(logit_bias(strict, lambda text: [hash(text) % 100_000], limit=10)) <= 10
