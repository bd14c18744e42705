"""Chinese words that give no clear fact, order or quantity.

Finds: Words such as 可能, 大概, 建议, 一般来说 and 通常情况下 in Chinese text. Longer words with
another meaning (可能性, 不可能, 提出建议, 比较器, 左右滑动) and quoted words are not meant.

Why: A program or a reader cannot act on 可能 or 大概: the next step must guess.

Example: ``建议先备份文件。``

Instead: ``先备份文件。``

Fix: None. Only the writer knows the fact, the condition or the number.

Source: steguard's own.
"""

from __future__ import annotations

from functools import lru_cache

from pydantic import Field

from steguard.rules.base import Options, Rule
from steguard.rules.zh._phrases import ZhWords, compile_words, zh_advice, zh_words
from steguard.text.model import Kind, Sentence, Token
from steguard.text.phraseindex import PhraseIndex
from steguard.types import Safety, Status

_DIGITS = frozenset("一二三四五六七八九十百千万亿两零半")
_UNITS = frozenset("个秒分钟时天日周月年米里克斤升度倍元块次条行字人岁页点公尺寸吨瓦伏安兆比")


class ZhVagueWord(Options):
    """Options of ``zh-vague-word``."""

    add: dict[str, str] = Field(default_factory=dict, description="More words, with advice.")
    remove: tuple[str, ...] = Field(default=(), description="Words to allow.")


def _is_quantity(token: Token) -> bool:
    if token.kind in (Kind.NUMBER, Kind.WORD):
        return True
    return token.text in _DIGITS or token.text in _UNITS


def _fits(word: str, sentence: Sentence, at: int, end: int) -> bool:
    """左右 counts only after a quantity, 比较 only as an adverb of degree."""
    if word == "左右":
        return at > 0 and _is_quantity(sentence.tokens[at - 1])
    if word == "比较":
        following = sentence.lowers[end] if end < len(sentence.lowers) else ""
        return following in _DEGREE
    if word == "建议":
        following = sentence.lowers[end] if end < len(sentence.lowers) else ""
        last = sentence.lowers[at - 1] if at else ""
        return following not in _AFTER_NOUN and last not in _BEFORE_NOUN
    if word == "估计":
        return at == 0 or sentence.tokens[at - 1].kind is Kind.PUNCT
    if word == "一些":
        return at == 0 or sentence.lowers[at - 1] not in ("这", "那", "哪")
    return True


_AFTER_NOUN = frozenset("的须被是已为由和与及书稿值语") | {""}
_BEFORE_NOUN = frozenset("提的条个项份该此何这那用些")
_DEGREE = frozenset("大小多少高低长短快慢好难容易复简重轻新旧常")


@lru_cache(maxsize=64)
def _index(key: str) -> tuple[PhraseIndex[str], dict[str, str]]:
    options = ZhVagueWord.model_validate_json(key)
    advice = {**zh_advice("vague"), **options.add}
    for word in options.remove:
        advice.pop(word, None)
    keep = [word for word in zh_words("vague_keep") if word not in options.add]
    return compile_words(advice, [*keep, *options.remove]), advice


def _make(options: ZhVagueWord) -> ZhWords:
    index, advice = _index(options.model_dump_json())
    return ZhWords(index, advice, "“{word}”的意思不准确。", _fits)


RULE = Rule(
    code="ZH101",
    name="zh-vague-word",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=_make,
    module=__name__,
    options=ZhVagueWord,
    languages=frozenset({"zh"}),
    prompt=lambda options: "不要使用这些词：`可能、大概、建议、一般来说、通常情况下`。",  # noqa: ARG005
)
