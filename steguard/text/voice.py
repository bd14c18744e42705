"""Passive voice: which "be + participle" is a passive, and who acts in it.

No model stands behind this: a participle is what morphology says, an adjective is what the data
says or what the words around it make of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from steguard.text.agent import QUOTES, agent_of, noun_phrase_after_by
from steguard.text.model import Kind, Sentence
from steguard.text.verbs import DATA, participle, verbs, word_set
from steguard.text.wordclass import (
    ADJ,
    ADV,
    BASE,
    BE,
    CONJ,
    DET,
    DO,
    FINITE,
    HAVE,
    ING,
    MARK,
    MODAL,
    NOT,
    NOUN,
    NUM,
    PART,
    PREP,
    PRON,
    SUB,
    SUBJ,
    WH,
    classes,
    words,
)

FORMS_OF_BE = word_set(
    "am is are was were be been being isn't aren't wasn't weren't ain't isn’t aren’t wasn’t "
    "weren’t isnt arent wasnt werent"
)
FORMS_OF_GET = frozenset(("get", "gets", "got", "gotten", "getting"))
_SUBJECTS_S = (
    "it he she that this what who there here everything everyone something nothing everybody where"
    " how somebody someone which"
)
CONTRACTED_BE = frozenset(
    [f"{word}{mark}s" for word in _SUBJECTS_S.split() for mark in "'’"]
    + [f"{word}{mark}re" for word in ("they", "we", "you", "these", "those") for mark in "'’"]
    + ["i'm", "i’m"]
)
TRIGGERS = FORMS_OF_BE | FORMS_OF_GET | CONTRACTED_BE


@dataclass(frozen=True, slots=True)
class Passive:
    """One passive. Numbers are token indices; ``last`` is the last participle that belongs to it.

    ``agent`` is the first and last token of who acts (without "by"), where the sentence says it.
    ``auxiliary`` is -1 where the participle stands alone ("a file written by an agent").
    """

    auxiliary: int
    participle: int
    last: int
    base: str
    agent: tuple[int, int] | None


@cache
def _adjectival() -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    sections = sections_of("participles.txt")
    weak = {}
    for line in sections["weak"]:
        word, _, after = line.partition(":")
        weak[word] = frozenset(after.split())
    return frozenset(w for line in sections["adjective"] for w in line.split()), weak


def sections_of(name: str) -> dict[str, list[str]]:
    """The lines of a data file under their ``[section]``."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            lines = found.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            lines.append(line)
    return found


def passives(sentence: Sentence) -> list[Passive]:
    """The passives with a form of "be" or "get", in order."""
    known = sentence.cache.get("passives")
    if known is None:
        known = _find(sentence)
        sentence.cache["passives"] = known
    return known  # type: ignore[return-value]


def agents_without_auxiliary(sentence: Sentence) -> list[Passive]:
    """Participles with an agent but without "be": "the file written by the agent"."""
    lowers = sentence.lowers
    found = []
    taken = {
        p for passive in passives(sentence) for p in range(passive.participle, passive.last + 1)
    }
    for by in range(1, len(lowers)):
        if lowers[by] != "by":
            continue
        at = _bare_participle(sentence, by)
        if at is None or at in taken:
            continue
        base = _participle_at(sentence, at)
        if base is None or base in _BY_MEASURE or not _takes_object(base):
            continue
        if at and classes(lowers[at - 1]) & SUBJ:
            continue
        agent = noun_phrase_after_by(sentence, by)
        if agent:
            found.append(Passive(-1, at, at, base, agent))
    return found


def _bare_participle(sentence: Sentence, by: int) -> int | None:
    """The participle that "by" belongs to: just before it, or before a short phrase
    ("a letter sent to me by a friend")."""
    lowers = sentence.lowers
    at = by - 1
    if at and lowers[at] in _ONLY:
        at -= 1
    if _participle_at(sentence, at) is not None:
        return at
    for back in range(at - 1, max(0, at - 4), -1):
        mask = classes(lowers[back])
        if mask & (MARK | CONJ | SUB | WH) and not mask & PREP:
            return None
        if mask & PART and _participle_at(sentence, back) is not None:
            attached = classes(lowers[back + 1]) & PREP and classes(lowers[back - 1]) & NOUN
            return back if attached else None
    return None


_ONLY = frozenset(("only", "primarily", "mainly", "largely", "solely", "mostly"))


def _find(sentence: Sentence) -> list[Passive]:
    lowers = sentence.lowers
    found: list[Passive] = []
    done = -1
    for at, word in enumerate(lowers):
        if at <= done or word not in TRIGGERS:
            continue
        if _fronted(lowers, at):
            found.append(Passive(at, at - 1, at, lowers[at - 1][:-2], None))
            continue
        place = _participle_of(sentence, at)
        if place is None:
            continue
        base = _participle_at(sentence, place)
        if base is None:
            continue
        last = _coordinated(sentence, place)
        agent = agent_of(sentence, last)
        if agent is None and not _is_passive(sentence, at, place, base):
            continue
        if (
            agent is not None
            and word in CONTRACTED_BE
            and _is_active_perfect(sentence, place, base)
        ):
            continue
        found.append(Passive(at, place, last, base, agent))
        done = last
    return found


_IN_PHRASE = word_set(
    "first turn course least fact part general particular once last times essence effect short "
    "addition principle theory practice full total detail advance best present"
)
_REACH = 10


def _participle_of(sentence: Sentence, aux: int) -> int | None:
    """The participle that the auxiliary at ``aux`` belongs to."""
    lowers, tokens = sentence.lowers, sentence.tokens
    count = len(lowers)
    at = aux + 1
    limit = min(count, at + _REACH)
    while at < limit:
        word = lowers[at]
        mask = classes(word)
        if mask & PART and tokens[at].kind is Kind.WORD and not mask & BE:
            return at if not mask & GET_LIKE else None
        if (
            (mask & (ADV | NOT) and not mask & (BE | WH))
            or word in ("either", "neither")
            or word in QUOTES
        ):
            at += 1
        elif word == "," and (after := _after_insertion(lowers, at)):
            at = after
        elif (mask & PREP and at + 1 < count and lowers[at + 1] in _IN_PHRASE) or (
            word == "no" and at + 1 < count and lowers[at + 1] == "longer"
        ):
            at += 2
        else:
            break
    return _inverted(sentence, aux)


GET_LIKE = HAVE | DO


def _after_insertion(lowers: list[str], comma: int) -> int | None:
    """The token after ", however," and the like."""
    for at in range(comma + 2, min(len(lowers), comma + 8)):
        if lowers[at] == ",":
            return at + 1
    return None


_FINITE_BE = word_set("am is are was were isn't aren't wasn't weren't isn’t aren’t wasn’t weren’t")
_BEFORE_QUESTION = frozenset(
    [
        "and",
        "but",
        "so",
        "then",
        "or",
        ",",
        ":",
        ";",
        "(",
        '"',
        "“",
        "how",
        "when",
        "where",
        "why",
        "what",
        "who",
        "which",
        "whom",
        "nor",
        "neither",
        "-",
        "–",
    ]
)


def _inverted(sentence: Sentence, aux: int) -> int | None:
    """The participle of a question: "Was the valve opened?"."""
    lowers, tokens = sentence.lowers, sentence.tokens
    if lowers[aux] not in _FINITE_BE:
        return None
    if aux:
        before = lowers[aux - 1]
        if before not in _BEFORE_QUESTION and not _asks(lowers, aux):
            return None
        if not _asks(lowers, aux) and "?" not in sentence.text:
            return None
    at = aux + 1
    count = min(len(lowers), aux + 12)
    if at < count and lowers[at] == "there":
        return None
    subject = False
    while at < count:
        word = lowers[at]
        mask = classes(word)
        if subject and mask & SUBJ:
            return None
        if tokens[at].kind is Kind.CODE:
            subject = True
        elif subject and mask & PART and not mask & (BE | HAVE | DO):
            after = classes(lowers[at + 1]) if at + 1 < len(lowers) else MARK
            if after & (PREP | MARK | SUB | CONJ | ADV | DET | PRON) or word in ("called", "named"):
                return at
            if lowers[at + 1] == "to":
                return at
        elif mask & (FINITE | SUB | WH | MARK) and not mask & (NOUN | ADJ | DET):
            return None
        if mask & (NOUN | PRON | NUM):
            subject = True
        elif not mask & (DET | ADJ | PREP | CONJ | ADV | PART | ING | NOT):
            return None
        at += 1
    return None


_WHERE = frozenset(["how", "why", "where", "when"])


def _asks(lowers: list[str], aux: int) -> bool:
    return any(word in _WHERE for word in lowers[max(0, aux - 3) : aux])


_FRONTED = frozenset(["attached", "enclosed"])


def _fronted(lowers: list[str], aux: int) -> bool:
    """Whether the participle stands before its verb: "Attached is the file"."""
    return (
        aux > 0
        and lowers[aux - 1] in _FRONTED
        and (aux == 1 or classes(lowers[aux - 2]) & MARK != 0)
        and aux + 1 < len(lowers)
        and not classes(lowers[aux + 1]) & PART
    )


def _participle_at(sentence: Sentence, at: int) -> str | None:
    """The verb of a past participle, known or regular, else None."""
    token = sentence.tokens[at]
    if token.kind is not Kind.WORD:
        return None
    word = token.lower
    mask = classes(word)
    if not mask & PART:
        head, _, tail = word.rpartition("-")
        return participle(tail) if head and mask & ADJ and tail else None
    base = participle(word.rpartition("-")[2])
    if base is None:
        return None if mask & (NOUN | PREP) else _regular_base(word)
    return base


def _regular_base(word: str) -> str:
    stem = word[:-2]
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        return stem[:-1]
    if stem.endswith("i"):
        return stem[:-1] + "y"
    return word[:-1] if stem.endswith(("at", "iz", "is", "v", "c", "g", "s", "u")) else stem


def _takes_object(base: str) -> bool:
    verb = verbs().get(base)
    return verb is None or verb.transitive


_DEGREE = word_set("very so too pretty quite super")
_TWO_OBJECTS = word_set(
    "give send pay offer show teach tell award grant call name elect appoint consider deem make "
    "declare sell charge ask dub label render bear leave term title rename crown pronounce rate "
    "rank find keep allow deny refuse promise owe lend assign allot allocate bring fine cost save "
    "spare serve guarantee hand quote feed entitle tag set paint type read designate vote judge "
    "fold cut put force bid code prove christen baptize nickname style brand print return think "
    "raise classify sentence count"
)
_TIME = word_set(
    "today yesterday tomorrow monday tuesday wednesday thursday friday saturday sunday last next "
    "this january february march april may june july august september october november december "
    "mondays tuesdays wednesdays thursdays fridays saturdays sundays home side hours minutes days "
    "times weeks months years hand"
)
_PERSONS = word_set("i you we they he she who")
_GET_ADJECTIVES = frozenset(["involved", "wasted", "lost", "rid", "past", "started"])
_GET_NOUNS = word_set("output input cost read lead bid bet cast split found forecast felt")


def _is_passive(sentence: Sentence, aux: int, place: int, base: str) -> bool:
    """Whether the participle is a verb here and no adjective."""
    lowers = sentence.lowers
    word = lowers[place]
    auxiliary = lowers[aux]
    following = lowers[place + 1] if place + 1 < len(lowers) else ""
    if following == "to" and word in ("used", "supposed", "needed"):
        after = classes(lowers[place + 2]) if place + 2 < len(lowers) else 0
        return word != "used" or bool(after & BASE and not after & (DET | PRON))
    adjectives, weak = _adjectival()
    if word in adjectives:
        return auxiliary == "being"
    if lowers[place - 1] in _DEGREE and place - 1 > aux:
        return False
    if word in weak and (not weak[word] or following in weak[word]):
        return False
    if word == "done" and _is_finished_person(sentence, aux, place):
        return False
    if not _takes_object(base) and not classes(following) & (PREP | ADV):
        return False
    if auxiliary in CONTRACTED_BE and _is_active_perfect(sentence, place, base):
        return False
    if auxiliary in FORMS_OF_GET:
        return _is_get_passive(sentence, place, base)
    return base in _TWO_OBJECTS or not _before_noun(sentence, place)


def _is_finished_person(sentence: Sentence, aux: int, place: int) -> bool:
    """Whether "done" means "ready": "they were done", "he is done reading"."""
    lowers = sentence.lowers
    if place + 1 < len(lowers) and classes(lowers[place + 1]) & ING:
        return True
    return lowers[aux] in CONTRACTED_BE or bool(aux and lowers[aux - 1] in _PERSONS)


def _is_get_passive(sentence: Sentence, place: int, base: str) -> bool:
    lowers = sentence.lowers
    if lowers[place] in _GET_NOUNS or lowers[place] in _GET_ADJECTIVES:
        return False
    following = lowers[place + 1] if place + 1 < len(lowers) else ""
    if base == "get" or classes(lowers[place]) & PREP:
        return False
    return not _before_noun(sentence, place) or following in _TIME


def _is_active_perfect(sentence: Sentence, place: int, base: str) -> bool:
    """Whether "it's" is "it has": "it's stopped", "he's opened the door"."""
    if base in ("get", "have", "do", "be") or not _takes_object(base):
        return True
    if place + 1 >= len(sentence.lowers) or base in _TWO_OBJECTS:
        return False
    following = classes(sentence.lowers[place + 1])
    return bool(following & (DET | PRON | NUM) and not following & (PREP | ADV | SUB))


def _before_noun(sentence: Sentence, place: int) -> bool:
    """Whether a noun follows that the participle describes: "are isolated areas"."""
    lowers, tokens = sentence.lowers, sentence.tokens
    at = place + 1
    if at < len(lowers) and classes(lowers[at]) == ADJ:
        at += 1
    if at >= len(lowers):
        return False
    token = tokens[at]
    if token.kind is not Kind.WORD or not token.text.islower() or token.lower in _TIME:
        return False
    if token.lower not in words() and not token.lower.endswith("s"):
        return False
    mask = classes(token.lower)
    if not mask & NOUN or mask & (PREP | ADV | DET | PRON | SUB | CONJ | MODAL | NUM):
        return False
    return not mask & ADJ or (at + 1 < len(lowers) and bool(classes(lowers[at + 1]) & NOUN))


def _coordinated(sentence: Sentence, place: int) -> int:
    """The last participle of "cleaned, inspected and tested"."""
    lowers = sentence.lowers
    last = place
    at = place + 1
    joined = False
    while at < len(lowers):
        word = lowers[at]
        mask = classes(word)
        if word == "," or mask & CONJ:
            joined = True
        elif joined and mask & PART and _participle_at(sentence, at):
            if _has_object(lowers, at):
                break
            last, joined = at, False
        elif not (joined and mask & ADV and not mask & (PREP | SUB | WH)):
            break
        at += 1
    return last


def _has_object(lowers: list[str], at: int) -> bool:
    """Whether "identified" is a past tense: "was tested and identified the fault"."""
    if at + 2 >= len(lowers) or _takes_two(lowers[at]) or lowers[at + 2] in _TIME:
        return False
    following = classes(lowers[at + 1])
    return bool(following & DET and not following & (PRON | ADV | SUB))


def _takes_two(word: str) -> bool:
    return participle(word) in _TWO_OBJECTS


_BY_MEASURE = word_set(
    "increase decrease drop fall rise grow pass stop swing live stand sit walk drive start "
    "begin end finish go come decline shrink improve exceed miss fly step"
)
