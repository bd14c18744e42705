"""A Chinese sentence with too many characters.

Finds: A sentence with more than 30 characters (option ``max``). Marks do not count; an English
word, a number and a piece of code count as one each.

Why: A Chinese character holds more than an English letter and less than an English word. Long
sentences hold more than one action.

Example: ``打开配置文件并找到端口这一项然后把它的值改成八十再保存文件并重新启动这个服务。``

Instead: ``打开配置文件。把端口改成八十。保存文件。重新启动服务。``

Fix: None. The writer must split the sentence.

Source: steguard's own, after STE 5.1.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from steguard.rules.base import Options, PerSentence, Rule
from steguard.text.model import Sentence
from steguard.types import Hit, Safety, Status


class ZhSentenceLength(Options):
    """Options of ``zh-sentence-length``."""

    max: int = Field(default=30, ge=1, description="The largest number of characters.")


def _make(options: ZhSentenceLength) -> PerSentence:
    most = options.max

    def hits(sentence: Sentence) -> Iterator[Hit]:
        if sentence.words > most:
            yield Hit(
                sentence.start,
                sentence.end,
                f"这个句子有 {sentence.words} 个字。最多写 {most} 个字。",
                "分成两句。一句话写一个动作。",
            )

    return PerSentence(hits)


RULE = Rule(
    code="ZH105",
    name="zh-sentence-length",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.NONE,
    source="steguard",
    make=_make,
    module=__name__,
    options=ZhSentenceLength,
    languages=frozenset({"zh"}),
    prompt=lambda options: f"一句话最多 {options.max} 个字。",
)
