"""What an English word can be: its possible parts of speech as a bit mask.

The closed classes stand here; open classes come from the data files, verb morphology and word
endings. A word that nothing knows is a noun.
"""

from __future__ import annotations

from functools import cache

from steguard.text.verbs import gerund, participle, read_words, third, verbs, word_set

NOUN = 1
BASE = 1 << 1  # a verb's base form
THIRD = 1 << 2  # a verb in -s
PAST = 1 << 3  # past tense
PART = 1 << 4  # past participle
ING = 1 << 5
ADJ = 1 << 6
ADV = 1 << 7
DET = 1 << 8  # article, demonstrative, possessive, quantifier
PRON = 1 << 9
PREP = 1 << 10
CONJ = 1 << 11  # and, or, but, nor
SUB = 1 << 12  # if, when, because, that
MODAL = 1 << 13
BE = 1 << 14
HAVE = 1 << 15
DO = 1 << 16
GET = 1 << 17
NUM = 1 << 18
WH = 1 << 19  # which, who, what, how
TO = 1 << 20
NOT = 1 << 21
MARK = 1 << 22  # punctuation
SUBJ = 1 << 23  # a pronoun that is a subject: I, he, we, they

VERB = BASE | THIRD | PAST | PART | ING
FINITE = THIRD | PAST | MODAL | BE | HAVE | DO

_CLOSED: dict[int, str] = {
    DET: "the a an my your his her its our their every each no another any some these those"
    " whose all both either neither such which several many few half enough",
    PRON: "me him us them myself yourself himself herself itself ourselves themselves yourselves"
    " mine yours hers ours theirs someone somebody something anyone anybody anything everyone"
    " everybody everything none nobody nothing one ones others whatever whoever",
    PRON | SUBJ: "i he she we they you it who",
    PREP: "about above across after against along alongside amid among amongst around as at atop"
    " before behind below beneath beside besides between beyond by concerning despite down during"
    " except excluding following for from in including inside into like minus near of off on onto"
    " opposite out outside over past per plus regarding round since than through throughout till"
    " toward towards under underneath unlike until up upon versus via with within without worth"
    " amidst aboard",
    CONJ: "and or but nor & plus yet and/or",
    SUB: "if when while because although though unless until since whereas whether that once"
    " before after as where lest till than so whenever wherever",
    MODAL: "can could may might must shall should will would cannot can't couldn't mightn't"
    " mustn't shan't shouldn't won't wouldn't needn't ought",
    BE: "am is are was were be been being isn't aren't wasn't weren't ain't",
    HAVE: "have has had having haven't hasn't hadn't",
    DO: "do does did don't doesn't didn't",
    GET: "get gets got gotten getting",
    NUM: "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty"
    " ninety hundred thousand million billion dozen",
    TO: "to",
    NOT: "not n't never",
}

_EXACT: dict[int, str] = {
    WH | PRON | SUBJ: "who",
    WH | PRON | DET: "which what whose whatever whichever",
    WH | PRON: "whom",
    WH | ADV: "how why",
    WH | ADV | SUB: "when where",
    DET | PRON: "these those this some any another several many few either neither her",
    DET | PRON | SUB: "that",
    DET | PRON | ADV: "all both each most much more less",
    DET | ADJ: "such",
    DET: "no the a an",
    ADJ: "other",
    ADV | SUB: "so",
    ADV: "then yet please here very too also just only even still again always often",
    MODAL: "may can will might must cannot",
    ADV | PRON: "there",
    PREP | BASE: "like",
    ADJ | PREP | ING: "following",
    PREP | ING: "including excluding concerning regarding",
    THIRD: "lets",
    BASE: "let's let",
    BE: "being",
    SUB | PREP: "than",
    PREP | SUB | ADV: "before after since",
    ADJ | NOUN | ADV: "right left",
    PREP | ADJ | ADV | NOUN: "past",
    PREP | ADV | ADJ: "near",
    ADJ | ADV | BASE: "further",
    ADJ | ADV: "early daily weekly monthly yearly hourly likely deadly",
    ADV | NOUN: "home kind",
    PAST: "saw",
    PART | PAST: "found left",
}

_CONTRACTED = {"'s": BE | HAVE, "'re": BE, "'m": BE, "'ve": HAVE, "'ll": MODAL, "'d": MODAL | HAVE}
_HOSTS = word_set(
    "i you he she it we they who what that there here this where how when why let everything "
    "everyone someone something nothing nobody these those one everybody somebody anything"
)

_ADJ_ENDS = (
    "able", "ible", "ful", "less", "ous", "ive", "ical", "ial", "ual", "nal", "ral", "ic", "ish",
    "ary", "ory", "ent", "ant", "some", "like", "proof", "most", "ular",
)  # fmt: skip
_NOUN_ENDS = (
    "tion", "sion", "ment", "ness", "ity", "ance", "ence", "ship", "ism", "ist", "er", "or",
    "age", "ure", "hood", "dom", "logy", "graphy",
)  # fmt: skip


@cache
def words() -> dict[str, int]:
    """Every word of the data and its possible parts of speech."""
    table: dict[str, int] = {}

    def add(word: str, mask: int) -> None:
        table[word] = table.get(word, 0) | mask

    for verb in verbs().values():
        in_s = third(verb.base)
        add(verb.base, BASE)
        add(in_s, THIRD)
        add(verb.ing, ING)
        for form in verb.past:
            add(form, PAST)
        for form in verb.participle:
            add(form, PART)
        if verb.noun:
            add(verb.base, NOUN)
            add(in_s, NOUN)
        if verb.adjective:
            add(verb.base, ADJ)
    for word in read_words("adjectives.txt"):
        add(word, ADJ)
    for word in read_words("adverbs.txt"):
        if word.startswith("!"):
            if word[1:] not in table:
                add(word[1:], NOUN)
        else:
            add(word, ADV)
    for word in (*read_words("nouns.txt"), *read_words("things.txt")):
        add(word, NOUN)
    for word in read_words("things.txt"):
        add(third(word), NOUN)
    for mask, group in _CLOSED.items():
        for word in group.split():
            table[word] = (table.get(word, 0) | mask) if mask & (PREP | SUB | NUM | PRON) else mask
    for mask, group in _EXACT.items():
        for word in group.split():
            table[word] = mask
    table["need"] |= MODAL
    return table


class _Lexicon(dict[str, int]):
    """Classes by word. The data is read at the first look-up; a word that it does not hold is
    guessed once and kept, up to a limit."""

    limit = 60_000

    def __missing__(self, word: str) -> int:
        if not self:
            self.update(words())
            return self[word]
        mask = _guess(word)
        if len(self) >= self.limit:
            self.clear()
            self.update(words())
        self[word] = mask
        return mask


CLASSES = _Lexicon()
classes = CLASSES.__getitem__


def _guess(word: str) -> int:
    if "’" in word:
        return classes(word.replace("’", "'"))
    if "'" in word:
        return _contraction(word)
    if "-" in word:
        return _hyphenated(word)
    if not word[:1].isalpha():
        return NUM if any(c.isalnum() for c in word) else MARK
    if word.endswith("ly") and len(word) > 4:
        return ADV
    if word.startswith("un") and len(word) > 5 and participle(word[2:]):
        return ADJ
    if word.endswith("ing") and len(word) > 4:
        return ING | (0 if gerund(word) else NOUN)
    if word.endswith("ed") and len(word) > 4:
        return _in_ed(word)
    if word.endswith("s") and len(word) > 3:
        return _in_s(word)
    if word.endswith(("er", "est")) and _is_comparison(word):
        return ADJ
    if word.endswith(_NOUN_ENDS):
        return NOUN
    if word.endswith(_ADJ_ENDS) and len(word) > 5:
        return ADJ
    if word.endswith(("ize", "ise", "ify")) and len(word) > 5:
        return BASE
    return NOUN


def _is_comparison(word: str) -> bool:
    """``larger`` and ``biggest``: an adjective of the data with its ending."""
    stem = word[: -2 if word.endswith("er") else -3]
    candidates = [stem, stem + "e"]
    if stem.endswith("i"):
        candidates.append(stem[:-1] + "y")
    if len(stem) > 2 and stem[-1] == stem[-2]:
        candidates.append(stem[:-1])
    table = words()
    return any(table.get(candidate, 0) & ADJ for candidate in candidates)


def _in_ed(word: str) -> int:
    if participle(word):
        return PAST | PART
    return NOUN if word.endswith("eed") else PAST | PART


def _in_s(word: str) -> int:
    if word.endswith(("less", "ous")):
        return ADJ
    if word.endswith(("ss", "us", "is")):
        return NOUN
    base = classes(word[:-1])
    if word.endswith("ies"):
        base = classes(word[:-3] + "y")
    elif word.endswith("es") and base & NOUN == 0:
        base = classes(word[:-2])
    return NOUN | (THIRD if base & BASE else 0)


def _contraction(word: str) -> int:
    for tail, mask in _CONTRACTED.items():
        if word.endswith(tail):
            host = word[: -len(tail)]
            return mask | PRON if tail != "'s" or host in _HOSTS else DET
    if word.endswith("n't"):
        return MODAL
    return DET if word.endswith("s'") else NOUN


_VERB_PREFIXES = word_set("re pre co de over under mis cross double auto un self")


def _hyphenated(word: str) -> int:
    head, _, tail = word.rpartition("-")
    if head in _VERB_PREFIXES:
        return classes(tail)
    mask = classes(tail) if tail else NOUN
    if mask & (PART | PAST | ING) and not mask & NOUN:
        return ADJ
    if mask & (ADJ | PREP | ADV | TO):
        return ADJ | NOUN
    return NOUN | (ADJ if mask & (BASE | NUM) else 0)
