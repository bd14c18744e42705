"""A quantity without limits.

Finds: ``about``, ``around``, ``roughly``, ``approximately``, ``nearly`` or ``almost`` before a
number, ``~5``, ``5 or so``, ``a few minutes``. ``up to 5``, ``at least 5``, ``more than 5`` and
``5 ± 1`` have a limit. ``about`` as a subject (``a question about 3 files``) is not meant.

Why: A program must put one value into a field. ``about 5 seconds`` is no value.

Example: ``Wait about 5 seconds.``

Instead: ``Wait 5 seconds.`` or ``Wait 4 to 6 seconds.``

Fix: Unsafe, it takes the word out. The writer must make sure that the number is exact.

Source: steguard's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from steguard.rules._words import after, before, in_quotes, removal
from steguard.rules.base import PerSentence, Rule
from steguard.text.inflect import word_set
from steguard.text.model import Kind, Sentence
from steguard.types import Edit, Hit, Safety, Status

_APPROXIMATE = word_set("about around roughly approximately circa nearly almost approx")
_TRIGGERS = _APPROXIMATE | word_set("few couple so thereabouts ish")
_NUMBER_WORDS = word_set(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
    "hundred thousand million billion half a an"
)
_EXACT_WORDS = _NUMBER_WORDS - {"a", "an", "one", "half"}
_TOPIC = word_set(
    "question questions poem poems song songs essay essays riddle joke jokes tweet tone tale "
    "information info data fact facts details talk talks talked talking read "
    "think thinks know learn ask asks asked write wrote story stories report article book news "
    "complain worry care concern concerns know heard hear tell told speak spoke idea ideas "
    "something anything nothing all is was are were page pages post posts film movie video come "
    "came concerned forget forgot says say said more discussion text inquire description"
)
_PLACE = word_set(
    "walk walks walked run runs ran turn turns turned wrap wrapped go goes went move moves moved "
    "travel traveled centered built rotate rotates spin revolve revolves wrapped arranged travel "
    "gather gathered land area region"
)
_UNITS = word_set(
    "second seconds minute minutes hour hours day days week weeks month months year years time "
    "times meter meters metre metres millimeter millimeters centimeter centimeters kilometer "
    "kilometers mile miles foot feet inch inches liter liters gram grams kilogram kilograms byte "
    "bytes kilobyte kilobytes megabyte megabytes gigabyte gigabytes degree degrees percent volt "
    "volts amp amps watt watts bar moment moments dozen hundred thousand million items files "
    "lines rows steps tries attempts users requests records characters words tokens"
)
_SYMBOLS = word_set(
    "s ms ns min h hr hrs mm cm m km kg g mg kb mb gb tb v a w kw hz khz mhz ghz % °c °f °"
)


def _hits(sentence: Sentence) -> Iterator[Hit]:
    for index, word in enumerate(sentence.lowers):
        if word not in _TRIGGERS and sentence.tokens[index].kind is not Kind.NUMBER:
            continue
        hit = _hit_at(sentence, index, word)
        if hit is not None and not in_quotes(sentence, index):
            yield hit


def _hit_at(sentence: Sentence, at: int, word: str) -> Hit | None:
    tokens = sentence.tokens
    if tokens[at].kind is Kind.NUMBER:
        if tokens[at].text[0] in "~≈":
            first = tokens[at]
            return _hit(sentence, at, _end(sentence, at), Edit(first.start, first.start + 1, ""))
        if after(sentence, at + 1) == "or" and after(sentence, at + 2) == "so":
            return _hit(sentence, at, at + 3, Edit(tokens[at].end, tokens[at + 2].end, ""))
        return None
    if word in _APPROXIMATE:
        return _approximate(sentence, at, word)
    if word in ("few", "couple"):
        return _few(sentence, at)
    if word == "so" and before(sentence, at) == "or" and at > 2:
        unit = tokens[at - 2]
        if unit.lower in _UNITS and _is_number(sentence, at - 3):
            return _hit(sentence, at - 3, at + 1, Edit(unit.end, tokens[at].end, ""))
    return None


def _approximate(sentence: Sentence, at: int, word: str) -> Hit | None:
    tokens = sentence.tokens
    dotted = word == "approx" and after(sentence, at + 1) == "."
    number = at + 2 if dotted else at + 1
    if number >= len(tokens) or not _is_number(sentence, number):
        return None
    last = before(sentence, at)
    if word in ("about", "around") and (last in _TOPIC or last in _PLACE):
        return None
    if word in ("about", "around") and not _measures(sentence, number, _end(sentence, number)):
        return None
    if word in ("nearly", "almost") and tokens[number].lower in ("a", "an", "one"):
        return None
    end = _end(sentence, number)
    return _hit(sentence, at, end, *removal(sentence, at, number))


def _is_number(sentence: Sentence, at: int) -> bool:
    token = sentence.tokens[at]
    if token.kind is Kind.NUMBER:
        return True
    if token.lower in _EXACT_WORDS:
        return True
    unit = at + 2 if token.lower == "half" and after(sentence, at + 1) in ("a", "an") else at + 1
    return token.lower in ("a", "an", "one", "half") and after(sentence, unit) in _UNITS


def _measures(sentence: Sentence, at: int, end: int) -> bool:
    """Whether a number after ``about`` is a quantity, not a year or a topic (``about two men``)."""
    token = sentence.tokens[at]
    has_unit = end > at + 1
    if token.kind is not Kind.NUMBER:
        return has_unit and not (token.lower in ("a", "an") and after(sentence, at + 1) == "time")
    text = token.text
    year = text.isdigit() and len(text) == 4 and text[:2] in _CENTURIES
    return not year or has_unit


_CENTURIES = ("17", "18", "19", "20")


def _few(sentence: Sentence, at: int) -> Hit | None:
    if before(sentence, at) != "a":
        return None
    unit = at + 1
    if sentence.lowers[at] == "couple":
        if after(sentence, unit) != "of":
            return None
        unit += 1
    if after(sentence, unit) == "more":
        unit += 1
    if after(sentence, unit) not in _UNITS:
        return None
    return _hit(sentence, at - 1, unit + 1)


def _end(sentence: Sentence, number: int) -> int:
    """The token after the number and its unit."""
    following = number + 1
    if sentence.lowers[number] == "half" and after(sentence, following) in ("a", "an"):
        following += 1
    while following < len(sentence.tokens) and sentence.lowers[following] in _EXACT_WORDS:
        following += 1
    if following < len(sentence.tokens) and (
        sentence.lowers[following] in _UNITS or sentence.lowers[following] in _SYMBOLS
    ):
        following += 1
    return following


def _hit(sentence: Sentence, at: int, end: int, *edits: Edit) -> Hit:
    tokens = sentence.tokens
    start, stop = tokens[at].start, tokens[end - 1].end
    text = sentence.text[start - sentence.start : stop - sentence.start]
    return Hit(
        start,
        stop,
        f"'{' '.join(text.split())}' is not exact. Write the exact value or its limits.",
        "Write the exact value or its limits.",
        edits,
    )


def _look(sentence: Sentence) -> Iterable[Hit]:
    """``~5`` is no word that could wake the rule, so it looks at every sentence, quickly."""
    text = sentence.text
    if sentence.vocabulary.isdisjoint(_TRIGGERS) and "~" not in text and "≈" not in text:
        return ()
    return _hits(sentence)


RULE = Rule(
    code="SG107",
    name="unbounded-quantity",
    since="0.1",
    status=Status.STABLE,
    fix=Safety.UNSAFE,
    source="steguard",
    make=lambda options: PerSentence(_look),  # noqa: ARG005 - the rule has no options
    module=__name__,
    prompt=lambda options: "Write the exact value or its limits.",  # noqa: ARG005 - no options
)
