"""English word forms: verbs, plurals, capitals, ``a`` and ``an``.

The functions make forms of words that are known, for word tables. They do not guess the part of
speech of a word.
"""

from __future__ import annotations

from functools import cache

FORMS = ("base", "s", "past", "participle", "ing")

_VOWELS = frozenset("aeiou")


def word_set(text: str) -> frozenset[str]:
    """The words of a text that white space separates."""
    return frozenset(text.split())


# base -> past, participle; the other forms are regular.
_IRREGULAR = {
    "arise": ("arose", "arisen"),
    "be": ("was", "been"),
    "become": ("became", "become"),
    "begin": ("began", "begun"),
    "bend": ("bent", "bent"),
    "break": ("broke", "broken"),
    "bring": ("brought", "brought"),
    "build": ("built", "built"),
    "buy": ("bought", "bought"),
    "catch": ("caught", "caught"),
    "choose": ("chose", "chosen"),
    "come": ("came", "come"),
    "cut": ("cut", "cut"),
    "do": ("did", "done"),
    "draw": ("drew", "drawn"),
    "drive": ("drove", "driven"),
    "fall": ("fell", "fallen"),
    "feel": ("felt", "felt"),
    "find": ("found", "found"),
    "get": ("got", "got"),
    "give": ("gave", "given"),
    "go": ("went", "gone"),
    "grow": ("grew", "grown"),
    "have": ("had", "had"),
    "hear": ("heard", "heard"),
    "hit": ("hit", "hit"),
    "hold": ("held", "held"),
    "keep": ("kept", "kept"),
    "know": ("knew", "known"),
    "lead": ("led", "led"),
    "leave": ("left", "left"),
    "let": ("let", "let"),
    "lose": ("lost", "lost"),
    "make": ("made", "made"),
    "mean": ("meant", "meant"),
    "meet": ("met", "met"),
    "pay": ("paid", "paid"),
    "put": ("put", "put"),
    "read": ("read", "read"),
    "run": ("ran", "run"),
    "say": ("said", "said"),
    "see": ("saw", "seen"),
    "seek": ("sought", "sought"),
    "sell": ("sold", "sold"),
    "send": ("sent", "sent"),
    "set": ("set", "set"),
    "show": ("showed", "shown"),
    "shut": ("shut", "shut"),
    "sit": ("sat", "sat"),
    "speak": ("spoke", "spoken"),
    "spend": ("spent", "spent"),
    "split": ("split", "split"),
    "spread": ("spread", "spread"),
    "stand": ("stood", "stood"),
    "strive": ("strove", "striven"),
    "take": ("took", "taken"),
    "teach": ("taught", "taught"),
    "tell": ("told", "told"),
    "think": ("thought", "thought"),
    "throw": ("threw", "thrown"),
    "undertake": ("undertook", "undertaken"),
    "understand": ("understood", "understood"),
    "win": ("won", "won"),
    "write": ("wrote", "written"),
}

# Stressed on the last syllable, so the last letter doubles.
_DOUBLING = word_set(
    "admit begin commit compel control defer deter equip excel expel forget incur infer "
    "occur omit permit prefer rebut recur refer regret remit submit transfer transmit"
)
_NOT_DOUBLING = word_set("benefit edit enter exit limit open target visit")

_PLURALS = {
    "analysis": "analyses",
    "basis": "bases",
    "child": "children",
    "criterion": "criteria",
    "foot": "feet",
    "index": "indexes",
    "knife": "knives",
    "life": "lives",
    "man": "men",
    "person": "persons",
    "woman": "women",
}


@cache
def verb_forms(base: str) -> dict[str, str]:
    """The forms of a verb by name; a phrase inflects its first word (``kick off``)."""
    head, space, rest = base.partition(" ")
    if head == "be":
        forms = dict(zip(FORMS, ("be", "is", "was", "been", "being"), strict=True))
    else:
        past, participle = _IRREGULAR.get(head) or (_ed(head), _ed(head))
        forms = {
            "base": head,
            "s": "has" if head == "have" else _s(head),
            "past": past,
            "participle": participle,
            "ing": _ing(head),
        }
    return {name: form + space + rest for name, form in forms.items()}


def plural(noun: str) -> str:
    """The plural of a noun; a phrase inflects its last word."""
    before, space, last = noun.rpartition(" ")
    return before + space + (_PLURALS.get(last) or _s(last))


def match_case(like: str, word: str) -> str:
    """``word`` with the capitals of ``like``: ``Utilize`` -> ``Use``, ``UTILIZE`` -> ``USE``."""
    if len(like) > 1 and like.isupper():
        return word.upper()
    return capital(word) if like[:1].isupper() else word


def capital(word: str) -> str:
    """``word`` with a capital first letter; the rest stays."""
    return word[:1].upper() + word[1:]


_CONSONANT_SOUND = ("eu", "uni", "use", "usu", "uti", "ura", "one", "once", "ubi", "uke")
_VOWEL_SOUND = ("hour", "honest", "honor", "honour", "heir")


def takes_an(word: str) -> bool:
    """Whether the article before this word is ``an``."""
    if not word:
        return False
    if word[0].isdigit():
        return word[0] == "8" or word in ("11", "18")
    lower = word.lower()
    if len(word) > 1 and word.isupper() and not _VOWELS & set(lower[1:]):
        return lower[0] in "aefhilmnorsx"
    if lower.startswith(_VOWEL_SOUND):
        return True
    if lower.startswith(_CONSONANT_SOUND) and not lower.startswith(("unin", "unim", "usher")):
        return False
    return lower[0] in _VOWELS


def _s(word: str) -> str:
    if word.endswith(("s", "x", "z", "ch", "sh")) or word in ("do", "go", "undergo"):
        return word + "es"
    if word.endswith("y") and len(word) > 1 and word[-2] not in _VOWELS:
        return word[:-1] + "ies"
    return word + "s"


def _doubles(word: str) -> bool:
    if word in _DOUBLING:
        return True
    if len(word) < 3 or word in _NOT_DOUBLING or word[-1] in "wxy" or word[-1] in _VOWELS:
        return False
    vowels = sum(1 for c in word if c in "aeiouy")
    return vowels == 1 and word[-2] in _VOWELS and word[-3] not in _VOWELS


def _ed(word: str) -> str:
    if word.endswith("e"):
        return word + "d"
    if word.endswith("y") and word[-2] not in _VOWELS:
        return word[:-1] + "ied"
    return word + (word[-1] if _doubles(word) else "") + "ed"


def _ing(word: str) -> str:
    if word.endswith("ie"):
        return word[:-2] + "ying"
    if word.endswith("e") and not word.endswith(("ee", "oe", "ye")) and len(word) > 2:
        return word[:-1] + "ing"
    return word + (word[-1] if _doubles(word) else "") + "ing"
