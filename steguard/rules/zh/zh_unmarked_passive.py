"""A Chinese passive sentence without a mark.

Finds: A thing, then 已, 已经, 尚未 or 未, then a verb that needs an actor, and then the end of the
clause (文件已处理). Sentences with a person or a program as subject are not meant.

Why: The sentence does not say who did the action.

Example: ``文件已处理。``

Instead: ``解析器处理了文件。``

Fix: None. The writer must put the actor first.

Source: STE 3.6, for Chinese. Preview, because only the meaning of the subject tells a thing from
an actor and a list of actors cannot be complete.
"""

from __future__ import annotations

from collections.abc import Iterator

from steguard.rules._words import in_quotes
from steguard.rules.base import PerSentence, Rule
from steguard.rules.zh._phrases import run, starts_with, zh_set
from steguard.text.model import Kind, Sentence
from steguard.types import Hit, Safety, Status

_TRIGGERS = frozenset(["已", "未"])
_ADVICE = "写出谁做这个动作。"
_LONGEST_SUBJECT = 12


def _hits(sentence: Sentence) -> Iterator[Hit]:
    lowers, tokens = sentence.lowers, sentence.tokens
    for index, word in enumerate(lowers):
        if word not in _TRIGGERS or in_quotes(sentence, index):
            continue
        subject = _subject(sentence, index)
        if not subject or subject.endswith(tuple(zh_set("unmarked_subjects"))):
            continue
        at = index + 1
        if at < len(lowers) and word == "已" and lowers[at] == "经":
            at += 1
        verb = starts_with(run(sentence, at), zh_set("unmarked_verbs"))
        end = at + len(verb)
        if verb and _clause_ends(sentence, end):
            yield Hit(
                tokens[index].start,
                tokens[end - 1].end,
                f"这是没有标记的被动句。{_ADVICE}",
                _ADVICE,
            )


def _subject(sentence: Sentence, at: int) -> str:
    """What stands before, back to the start of the clause."""
    words: list[str] = []
    for token in reversed(sentence.tokens[max(0, at - _LONGEST_SUBJECT) : at]):
        if token.kind is Kind.PUNCT:
            break
        words.append(token.text)
    return "".join(reversed(words)).removesuffix("尚").removesuffix("都").removesuffix("均")


def _clause_ends(sentence: Sentence, at: int) -> bool:
    tokens = sentence.tokens
    while at < len(tokens) and tokens[at].text in ("了", "完", "成", "毕", "成功", "功"):
        at += 1
    return at >= len(tokens) or tokens[at].kind is Kind.PUNCT


RULE = Rule(
    code="ZH104",
    name="zh-unmarked-passive",
    since="0.1",
    status=Status.PREVIEW,
    fix=Safety.NONE,
    source="STE 3.6",
    make=lambda options: PerSentence(_hits, _TRIGGERS),  # noqa: ARG005 - no options
    module=__name__,
    languages=frozenset({"zh"}),
)
