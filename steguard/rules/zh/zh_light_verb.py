"""A Chinese light verb that hides the real verb.

Finds: 进行, 作出, 开展 and 给予 before a verb (进行检查, 对文件进行分析), and 加以 and 予以.
进行中, 进行 without an object (会议进行了两小时) and quoted words are not meant.

Why: The action stands in the second word. The light verb makes the sentence longer and moves the
object before the verb.

Example: ``对文件进行检查。``

Instead: ``检查文件。``

Fix: Safe where the light verb stands alone before the verb (请进行检查 -> 请检查): it goes away.
None where the object stands before it (对文件进行检查): the writer must move the object.

Source: steguard's own.
"""

from __future__ import annotations

from collections.abc import Iterator

from steguard.rules._words import in_quotes
from steguard.rules.base import PerSentence, Rule
from steguard.rules.zh._phrases import KEEP, compile_words, run, starts_with, zh_set, zh_words
from steguard.text.model import Kind, Sentence
from steguard.types import Edit, Hit, Safety, Status

_ASPECT = ("了", "过", "着")
_FRONTED = frozenset("对将把就给与")
_WORDS = (*zh_words("light_verbs"), *zh_words("light_always"))
_OPEN = frozenset(["进行", "开展"])
_LONGEST_NOUN = 6
_COUNTS = frozenset("一二两三四五六七八九十几了到得中")
_INDEX = compile_words(_WORDS, zh_words("light_keep"))


def _hits(sentence: Sentence) -> Iterator[Hit]:
    for word, at, end in _INDEX.find(sentence):
        if word == KEEP or in_quotes(sentence, at):
            continue
        verb, plain = _verb_after(sentence, end)
        if not verb and word in _OPEN:
            verb = _verb_at_end(run(sentence, end, 14))
        always = word in zh_set("light_always")
        if not verb and not always:
            continue
        start, stop = sentence.tokens[at].start, sentence.tokens[end - 1].end
        fronted = _object_before(sentence, at)
        good = f"直接写“{verb}”。" if verb else "直接写动词。"
        edits = (Edit(start, stop, ""),) if verb and plain and not fronted else ()
        yield Hit(start, stop, f"“{word}”不表示动作。{good}", good, edits)


def _verb_at_end(text: str) -> str:
    """The verb that ends the clause, after a noun that says what it is about (类型检查)."""
    for length in (4, 3, 2):
        if 0 < len(text) - length <= _LONGEST_NOUN and text[-length:] in zh_set("light_objects"):
            return "" if text[0] in _COUNTS else text[-length:]
    return ""


def _verb_after(sentence: Sentence, at: int) -> tuple[str, bool]:
    """The real verb after a light verb, and whether it follows at once."""
    text = run(sentence, at, 14)
    plain = True
    while text:
        verb = starts_with(text, zh_set("light_objects"))
        if verb:
            tail = text[len(verb) :]
            return ("", False) if tail.startswith(_NOUN_TAILS) else (verb, plain)
        modifier = starts_with(text, zh_set("light_modifiers"))
        if modifier:
            text, plain = text[len(modifier) :], False
        elif text[0] in (*_ASPECT, "的", "地", "性", "和", "、"):
            text, plain = text[1:], False
        else:
            return "", False
    return "", False


_NOUN_TAILS = ("器", "员", "者", "表", "人员", "系统", "工具", "文件", "流程图", "单位")


def _object_before(sentence: Sentence, at: int) -> bool:
    """Whether 对, 将 or 把 stands before, in the same clause."""
    for token in reversed(sentence.tokens[max(0, at - 40) : at]):
        if token.kind is Kind.PUNCT and token.text in "，,；;：:。":
            return False
        if token.text in _FRONTED:
            return True
    return False


RULE = Rule(
    code="ZH102",
    name="zh-light-verb",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.SAFE,
    source="steguard",
    make=lambda options: PerSentence(_hits, _INDEX.triggers),  # noqa: ARG005 - no options
    module=__name__,
    languages=frozenset({"zh"}),
    prompt=lambda options: "直接写动词。不要写“进行”“加以”“予以”。",  # noqa: ARG005
)
