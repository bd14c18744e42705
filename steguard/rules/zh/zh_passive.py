"""A Chinese passive sentence with a mark.

Finds: 被 before a verb or an agent, 受到, 遭到, 由…所 and 为…所. Nouns and fixed words (被子,
被动, 植被, 感受到), 由于, 所有 and quoted words are not meant.

Why: A passive sentence can leave out who does the action, and a program needs the actor.

Example: ``文件被系统删除。``

Instead: ``系统删除文件。``

Fix: None. The writer must put the actor first.

Source: STE 3.6, for Chinese.
"""

from __future__ import annotations

from collections.abc import Iterator

from steguard.rules._words import in_quotes
from steguard.rules.base import PerSentence, Rule
from steguard.rules.zh._phrases import KEEP, compile_words, zh_advice, zh_words
from steguard.text.model import Kind, Sentence
from steguard.types import Hit, Safety, Status

_INDEX = compile_words(zh_advice("passive"), zh_words("passive_keep"))
_NO_YOU = ("由于", "由来", "由此", "自由", "理由", "缘由", "经由", "路由", "因由", "事由", "任由")
_NO_WEI = frozenset("因认作成以称视设改变分转译定名选列置调升降评命较更极尤颇甚")
_NO_SUO_AFTER = frozenset("有以谓需属示在长见得闻思想指占剩余致述辖") - frozenset("示见得致指占")
_NO_SUO_BEFORE = frozenset("场厕究务会交诊哨寓处住居公派律")
_ADVICE = "写出谁做这个动作。"
_WINDOW = 14


def _hits(sentence: Sentence) -> Iterator[Hit]:
    for word, at, end in _INDEX.find(sentence):
        if word != KEEP and not in_quotes(sentence, at) and _takes_a_verb(sentence, end):
            yield _hit(sentence, at, end, word)
    if "所" in sentence.vocabulary:
        yield from _framed(sentence)


def _hit(sentence: Sentence, at: int, end: int, mark: str) -> Hit:
    return Hit(
        sentence.tokens[at].start,
        sentence.tokens[end - 1].end,
        f"“{mark}”是被动句。{_ADVICE}",
        _ADVICE,
    )


def _takes_a_verb(sentence: Sentence, at: int) -> bool:
    return at < len(sentence.tokens) and sentence.tokens[at].kind is not Kind.PUNCT


def _framed(sentence: Sentence) -> Iterator[Hit]:
    """由…所 and 为…所 within one clause."""
    lowers, tokens = sentence.lowers, sentence.tokens
    opened = -1
    for index, word in enumerate(lowers):
        if tokens[index].kind is Kind.PUNCT:
            opened = -1
        elif word in ("由", "为"):
            if _opens(lowers, index):
                opened = index
        elif word == "所" and opened >= 0 and 1 < index - opened <= _WINDOW:
            following = lowers[index + 1] if index + 1 < len(lowers) else ""
            if (
                following
                and following not in _NO_SUO_AFTER
                and tokens[index + 1].kind is Kind.CJK
                and lowers[index - 1] not in _NO_SUO_BEFORE
                and lowers[opened : opened + 3] != ["为", "人", "所"]
                and not in_quotes(sentence, index)
            ):
                yield _hit(sentence, opened, index + 1, f"{lowers[opened]}…所")
            opened = -1


def _opens(lowers: list[str], at: int) -> bool:
    last = lowers[at - 1] if at else ""
    following = lowers[at + 1] if at + 1 < len(lowers) else ""
    if lowers[at] == "由":
        return last + "由" not in _NO_YOU and "由" + following not in _NO_YOU
    return last not in _NO_WEI and following not in ("了", "什", "何", "止")


RULE = Rule(
    code="ZH103",
    name="zh-passive",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="STE 3.6",
    make=lambda options: PerSentence(_hits, _INDEX.triggers | {"所"}),  # noqa: ARG005 - no options
    module=__name__,
    languages=frozenset({"zh"}),
    prompt=lambda options: "写主动句。先写谁做这个动作。",  # noqa: ARG005 - no options
)
