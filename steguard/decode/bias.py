"""A soft last resort: ``logit_bias`` against the words that a contract forbids.

It works word by word, so it knows no context and no limit, and only words that are one token of
the model can be named. The checks find what it lets pass.
"""

from __future__ import annotations

from collections.abc import Callable

from steguard.contract import Contract
from steguard.decode.forbidden import collect
from steguard.decode.grammar import title
from steguard.errors import MissingExtra

LIMIT = 300
"""So many tokens the endpoints take at the most."""


def logit_bias(
    contract: Contract,
    encode: Callable[[str], list[int]],
    *,
    bias: int = -100,
    limit: int = LIMIT,
) -> dict[str, int]:
    """The value for ``logit_bias``: the tokens of forbidden words, with ``bias`` each.

    ``encode`` gives the tokens of a text in the model's own tokenizer; :func:`encoder_for` makes
    one with tiktoken. Only words with a token of their own are named, as they stand inside a
    sentence and with a capital, at most ``limit`` tokens.
    """
    forbidden = collect(contract.profile.rules, frozenset())
    found: dict[str, int] = {}
    for parts in forbidden.phrases:
        if len(parts) != 1 or not parts[0].isalpha():
            continue
        for text in (f" {parts[0]}", f" {title(parts[0])}"):
            tokens = encode(text)
            if len(tokens) == 1 and len(found) < limit:
                found[str(tokens[0])] = bias
    return found


def encoder_for(model: str) -> Callable[[str], list[int]]:
    """The tokenizer of an OpenAI model. Needs the extra ``tokens``; tiktoken keeps its tables in
    the folder that ``TIKTOKEN_CACHE_DIR`` names and fetches a table that is not there."""
    try:
        import tiktoken
    except ImportError:
        raise MissingExtra("tiktoken", "tokens") from None
    encode: Callable[[str], list[int]] = tiktoken.encoding_for_model(model).encode
    return encode
