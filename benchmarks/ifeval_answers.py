"""Answers that follow or break the verifiable instructions of IFEval, built from their arguments.

Each builder knows the published meaning of one instruction and yields samples: the kind of the
sample, the answer, and whether the answer follows. A builder puts an answer together from parts;
it measures nothing and knows nothing of the checks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

Sample = tuple[str, str, bool]
Builder = Callable[[dict[str, Any]], Iterator[Sample]]

BUILDERS: dict[str, Builder] = {}

LANGUAGES: dict[str, str] = yaml.safe_load(
    (Path(__file__).parent.parent / "tests" / "data" / "languages.yaml").read_text("utf-8")
)
_RELATIVES = {
    "hi": "mr", "mr": "ne", "ne": "hi", "ar": "fa", "fa": "ur", "ur": "ar", "ru": "bg",
    "bg": "uk", "uk": "ru", "pt": "es", "it": "pt", "de": "en", "fi": "de", "sw": "fi", "vi": "fr",
}  # fmt: skip

_WORDS = ("tin", "box", "on", "a", "red", "mat", "by", "the", "old", "gate")
_SENTENCES = (
    "The pump is on.",
    "Where is the valve?",
    "Open it now!",
    "The level is 3.5 bar.",
    "Mr. Gray has the key, and he knows it.",
    'He said, "Stop the pump," and left.',
    "Version 2.1.0 is on https://example.com/a.b/c and works.",
    "It (the small one) is in the box.",
)


def builder(name: str) -> Callable[[Builder], Builder]:
    def register(function: Builder) -> Builder:
        BUILDERS[name] = function
        return function

    return register


def counts(relation: str, limit: int) -> Iterator[tuple[str, int, bool]]:
    """Counts at, just below, just above and far from a limit, and whether they are permitted."""
    at_least = relation == "at least"
    for kind, count in (
        ("at the limit", limit),
        ("one below", limit - 1),
        ("one above", limit + 1),
        ("far above", limit * 2 + 5),
        ("none", 0),
    ):
        if count >= 0:
            yield kind, count, count >= limit if at_least else count < limit


def words(count: int) -> list[str]:
    return [_WORDS[i % len(_WORDS)] for i in range(count)]


# --- length -------------------------------------------------------------------------------------


@builder("length_constraints:number_words")
def number_words(kwargs: dict[str, Any]) -> Iterator[Sample]:
    for kind, count, ok in counts(kwargs["relation"], kwargs["num_words"]):
        plain = words(count)
        yield kind, " ".join(plain), ok
        yield f"{kind}, in lines", "\n\n".join(plain), ok
        yield f"{kind}, with marks", "  " + ", ".join(plain) + " ... !?  ", ok
        if count >= 3:
            joined = " ".join(["well-known", *words(count - 2)])
            yield f"{kind}, a hyphenated pair is two words", joined, ok
            number = " ".join(["it's", *words(count - 2)])
            yield f"{kind}, a contraction is two words", number, ok
            yield f"{kind}, bullets", "* " + "\n* ".join(plain), ok


@builder("length_constraints:number_sentences")
def number_sentences(kwargs: dict[str, Any]) -> Iterator[Sample]:
    for kind, count, ok in counts(kwargs["relation"], kwargs["num_sentences"]):
        plain = [_SENTENCES[i % 3] for i in range(count)]
        mixed = [_SENTENCES[i % len(_SENTENCES)] for i in range(count)]
        yield kind, " ".join(plain), ok
        yield f"{kind}, paragraphs", "\n\n".join(plain) + "\n", ok
        yield f"{kind}, full stops inside", " ".join(mixed), ok
        yield f"{kind}, wrapped lines", " ".join(plain).replace(" is ", " is\n"), ok
        if count:
            yield f"{kind}, title line", "Pump report\n\n" + " ".join(plain), ok
            yield f"{kind}, last without a stop", " ".join(plain)[:-1], ok


@builder("length_constraints:number_paragraphs")
def number_paragraphs(kwargs: dict[str, Any]) -> Iterator[Sample]:
    limit = kwargs["num_paragraphs"]
    for count in (limit - 1, limit, limit + 1):
        parts = [f"Part {i} is here.\n\nIt has two blocks." for i in range(count)]
        ok = count == limit
        yield f"{count} of {limit}", "\n***\n".join(parts), ok
        yield f"{count} of {limit}, one line", " *** ".join(parts), ok
        yield f"{count} of {limit}, divider around", "***\n" + "\n***\n".join(parts) + "\n***  ", ok
    yield "other divider", "\n---\n".join(["A part."] * limit), limit == 1
    yield "empty middle", "\n***\n\n***\n".join(["A part."] * limit), limit == 1


@builder("length_constraints:nth_paragraph_first_word")
def nth_paragraph_first_word(kwargs: dict[str, Any]) -> Iterator[Sample]:
    total, place, word = kwargs["num_paragraphs"], kwargs["nth_paragraph"], kwargs["first_word"]

    def answer(count: int, first: str, at: int = place) -> str:
        parts = [f"Here is part {i}.\nIt goes on." for i in range(1, count + 1)]
        if at <= count:
            parts[at - 1] = f"{first} stands here.\nIt goes on."
        return "\n\n".join(parts)

    yield "word", answer(total, word), True
    yield "capital", answer(total, word.upper()), True
    yield "comma after it", answer(total, f"{word.title()},"), True
    yield "in quotes", answer(total, f'"{word}"'), True
    yield "blanks around", "  " + answer(total, word) + " \n\n ", True
    yield "longer word", answer(total, word + "ish"), False
    yield "second word", answer(total, f"The {word}"), False
    yield "other paragraph", answer(total, word, place % total + 1), False
    yield "one paragraph more", answer(total + 1, word), False
    yield "one paragraph less", answer(total - 1, word), False
    yield "single line feeds", answer(total, word).replace("\n\n", "\n"), False


# --- words and letters --------------------------------------------------------------------------


@builder("keywords:existence")
def existence(kwargs: dict[str, Any]) -> Iterator[Sample]:
    keywords = kwargs["keywords"]
    yield "all", f"We know: {', '.join(keywords)}.", True
    yield "upper case", f"WE KNOW: {' '.join(keywords).upper()}", True
    yield "in longer words", " ".join(f"xx{word}xx" for word in keywords), True
    yield "reverse, in lines", "\n".join(reversed(keywords)), True
    for word in keywords:
        rest = [other for other in keywords if word.lower() not in other.lower()]
        yield f"without {word}", f"We know {', '.join(rest)} 123.", False
        broken = word[: len(word) // 2] + " " + word[len(word) // 2 :]
        yield f"{word} in two parts", f"123 {', '.join(rest)} {broken}", False


@builder("keywords:forbidden_words")
def forbidden_words(kwargs: dict[str, Any]) -> Iterator[Sample]:
    terms = kwargs["forbidden_words"]
    yield "none", "12 34.", True
    yield "in longer words", " ".join(f"x{word}x {word}x x{word} {word}_1" for word in terms), True
    for word in terms:
        yield f"{word}", f"12 {word} 34", False
        yield f"{word} at the end", f"12 {word.upper()}", False
        yield f"{word} with marks", f"**{word.title()}**!", False
        yield f"{word} hyphenated", f"12-{word}-34", False


@builder("keywords:frequency")
def frequency(kwargs: dict[str, Any]) -> Iterator[Sample]:
    word = kwargs["keyword"]
    for kind, count, ok in counts(kwargs["relation"], kwargs["frequency"]):
        yield kind, "123 " + ", ".join([word] * count) + " 456.", ok
        yield f"{kind}, upper case", " ".join([word.upper()] * count) or "1", ok
        yield f"{kind}, in longer words", " ".join([f"x{word}x"] * count) or "1", ok
        yield f"{kind}, without blanks", word * count or "1", ok


@builder("keywords:letter_frequency")
def letter_frequency(kwargs: dict[str, Any]) -> Iterator[Sample]:
    letter = kwargs["letter"]
    for kind, count, ok in counts(kwargs["let_relation"], kwargs["let_frequency"]):
        yield kind, "1" + f"{letter}1" * count, ok
        yield f"{kind}, upper case", "1 " + letter.upper() * count + "\n", ok
        half = count // 2
        mixed = f"{letter.upper()} " * half + "\n\n2 " + letter * (count - half)
        yield f"{kind}, mixed case", mixed, ok


@builder("change_case:capital_word_frequency")
def capital_word_frequency(kwargs: dict[str, Any]) -> Iterator[Sample]:
    relation, limit = kwargs["capital_relation"], kwargs["capital_frequency"]
    for kind, count, ok in counts(relation, limit):
        yield kind, "The pump " + " ".join(["VALVE"] * count) + " is Open.", ok
        yield f"{kind}, with marks", "Go: " + "".join(f"**NASA**, ({i}) " for i in range(count)), ok
        yield f"{kind}, hyphens and digits", "12 " + " ".join(["COVID-19"] * count) + " iPhone", ok
        yield f"{kind}, one letter", "It is " + "\n".join(["I"] * count) + " x Hello McDonald", ok


@builder("change_case:english_capital")
def english_capital(_kwargs: dict[str, Any]) -> Iterator[Sample]:
    text = LANGUAGES["en"]
    yield "capitals", text.upper(), True
    yield "capitals, marks and digits", f"  # PUMP 2\n\n- {text.upper()} 100 %!\n", True
    yield "as written", text, False
    yield "one small letter", text.upper() + "a", False
    yield "small letters", text.lower(), False
    yield "French", LANGUAGES["fr"].upper(), False
    yield "no letter", "123 456", False


@builder("change_case:english_lowercase")
def english_lowercase(_kwargs: dict[str, Any]) -> Iterator[Sample]:
    text = LANGUAGES["en"]
    yield "small letters", text.lower(), True
    yield "small letters, marks and digits", f"# pump 2\n\n* {text.lower()} 100 %!\n", True
    yield "as written", text, False
    yield "one capital", text.lower() + "A", False
    yield "capitals", text.upper(), False
    yield "Italian", LANGUAGES["it"].lower(), False
    yield "no letter", "123 456", False


@builder("language:response_language")
def response_language(kwargs: dict[str, Any]) -> Iterator[Sample]:
    code = kwargs["language"]
    text = LANGUAGES[code]
    yield "text", text, True
    yield "first sentence", text[: len(text) // 2], True
    yield "with an English name", f"New York: {text} (John Smith)", True
    yield "markdown", f"# {text.split()[0]}\n\n* **{text}**\n", True
    yield "capitals", text.upper(), True
    yield "English", LANGUAGES["en"], False
    yield "English with a word of it", LANGUAGES["en"] * 2 + text.split()[0], False
    yield "relative", LANGUAGES[_RELATIVES.get(code, "fr")], False


# --- form ---------------------------------------------------------------------------------------


@builder("detectable_content:number_placeholders")
def number_placeholders(kwargs: dict[str, Any]) -> Iterator[Sample]:
    for kind, count, ok in counts("at least", kwargs["num_placeholders"]):
        yield kind, "Dear " + " ".join(["[name]"] * count) + " and (you) <all>", ok
        yield f"{kind}, lines", "\n".join(f"{i}. [street {i}]," for i in range(count)) + "[", ok
        yield f"{kind}, no blanks", "[a]" * count + " ] [", ok


@builder("detectable_content:postscript")
def postscript(kwargs: dict[str, Any]) -> Iterator[Sample]:
    marker = kwargs["postscript_marker"]
    yield "at the end", f"The pump is on.\n\n{marker} Call me.", True
    yield "small", f"The pump is on.\n{marker.lower()} Call me.", True
    yield "spaced", f"The pump is on.\n\n{marker.replace('P.', 'P. ')} Call me.", True
    yield "bold", f"The pump is on.\n\n**{marker}** Call me.", True
    yield "none", "The pump is on.", False
    yield "no full stops", f"The pump is on.\n\n{marker.replace('.', '')} Call me.", False
    yield "word", "The pump is on.\n\nPostscript: Call me.", False


@builder("detectable_format:number_bullet_lists")
def number_bullet_lists(kwargs: dict[str, Any]) -> Iterator[Sample]:
    limit = kwargs["num_bullets"]
    for count in (0, limit - 1, limit, limit + 1):
        ok, items = count == limit, [f"This is point {i}." for i in range(count)]
        for mark in "*-":
            lines = [f"{mark} {item}" for item in items]
            yield f"{count} of {limit} {mark}", "Points:\n" + "\n".join(lines) + "\nEnd.", ok
            yield f"{count} of {limit} {mark}, indented", "\n\n".join(f"  {x}" for x in lines), ok
        bold = "\n".join(f"* **Point** {item}" for item in items)
        yield f"{count} of {limit}, bold line", f"**Points**\n{bold}", ok
        yield f"{count} of {limit}, numbers too", "1. One.\n2. Two.\n" + bold, ok
        yield f"{count} of {limit}, marks inside", f"A - b * c\n{bold}\nd-e", ok
    yield "all on one line", "* a " * limit, limit == 1
    yield "numbered", "\n".join(f"{i}. Point" for i in range(1, limit + 1)), False


@builder("detectable_format:constrained_response")
def constrained_response(_kwargs: dict[str, Any]) -> Iterator[Sample]:
    for option in ("yes", "no", "maybe"):
        yield option, f"My answer is {option}.", True
        yield f"{option} in a text", f"The moon is round. My answer is {option}. Ask again.\n", True
        yield f"{option} without a stop", f"My answer is {option}", False
        yield f"{option} alone", option.title(), False
        yield f"{option}, small", f"my answer is {option}.", False
    yield "other", "My answer is perhaps.", False
    yield "nothing", "", False


@builder("detectable_format:number_highlighted_sections")
def number_highlighted_sections(kwargs: dict[str, Any]) -> Iterator[Sample]:
    for kind, count, ok in counts("at least", kwargs["num_highlights"]):
        yield kind, "Text. " + " and ".join(["*part one*"] * count), ok
        yield f"{kind}, bold", "Text.\n" + "\n".join(["**Part** is here."] * count), ok
        yield f"{kind}, lines", "\n\n".join(f"See *part {i}*." for i in range(count)), ok
        blanks = " x ".join(["* *", *["*part*"] * count])
        yield f"{kind}, blanks between", blanks, ok
        yield f"{kind}, open", "\n".join(["*part*"] * count) + "\n*open", ok


@builder("detectable_format:multiple_sections")
def multiple_sections(kwargs: dict[str, Any]) -> Iterator[Sample]:
    word = kwargs["section_spliter"].strip()
    for kind, count, ok in counts("at least", kwargs["num_sections"]):
        numbers = range(1, count + 1)
        yield kind, "\n".join(f"{word} {i}\nThe text." for i in numbers), ok
        yield f"{kind}, bold", "\n".join(f"**{word} {i}:** The text." for i in numbers), ok
        yield f"{kind}, headings", "\n".join(f"## {word} {i}0\n\nThe text." for i in numbers), ok
        yield f"{kind}, no blank", "\n".join(f"{word}{i}\nThe text." for i in numbers), ok
    limit = kwargs["num_sections"]
    yield "Roman numbers", "\n".join(f"{word} I{'I' * i}\nText." for i in range(limit)), False
    yield "other case", "\n".join(f"{word.swapcase()} {i}\nText." for i in range(limit)), False
    yield "colon", "\n".join(f"{word}: {i}\nText." for i in range(limit)), False


@builder("detectable_format:json_format")
def json_format(_kwargs: dict[str, Any]) -> Iterator[Sample]:
    value = {"pump": "on", "steps": ['Open "valve" 2.', 3.5, None, {"é": True}]}
    text = json.dumps(value, ensure_ascii=False, indent=2)
    yield "object", text, True
    yield "list, blanks around", f"\n  {json.dumps([value])}  \n", True
    yield "fence", f"```\n{text}\n```", True
    yield "json fence", f"```json\n{text}\n```\n", True
    yield "JSON fence", f"```JSON\n{text}```", True
    yield "prose before", f"Here it is:\n{text}", False
    yield "prose after the fence", f"```json\n{text}\n```\nI hope this helps.", False
    yield "trailing comma", text[:-2] + ",\n}", False
    yield "single quotes", str(value), False
    yield "cut off", text[:-1], False
    yield "two values", f"{text}\n{text}", False
    yield "nothing", " ", False


@builder("detectable_format:title")
def title(_kwargs: dict[str, Any]) -> Iterator[Sample]:
    yield "first line", "<<Pump report>>\n\nThe pump is on.", True
    yield "inside", "The title is <<Pump report>> and that is it.", True
    yield "heading too", "# <<Pump report>>\n", True
    yield "after an empty one", "<<>>\n<<Pump>>", True
    yield "none", "The pump is on.", False
    yield "single brackets", "<Pump report>", False
    yield "empty", "<<>> The pump is on.", False
    yield "blanks", "<<  >>", False
    yield "over two lines", "<<Pump\nreport>>", False
    yield "not closed", "<<Pump report>", False
    yield "Markdown heading", "# Pump report", False


# --- start, end, combinations -------------------------------------------------------------------


@builder("startend:end_checker")
def end_checker(kwargs: dict[str, Any]) -> Iterator[Sample]:
    phrase = kwargs["end_phrase"].strip()
    yield "phrase", f"The pump is on. {phrase}", True
    yield "alone", phrase, True
    yield "other case", f"The pump is on.\n\n{phrase.upper()}", True
    yield "blanks after", f"The pump is on. {phrase} \n\n", True
    yield "in quotes", f'"The pump is on. {phrase}"', True
    yield "words after", f"{phrase} Thank you", False
    yield "mark after", f"The pump is on. {phrase} *", False
    yield "cut", f"The pump is on. {phrase[:-2]}", False
    yield "first", f"{phrase}\nThe pump is on.", False
    yield "none", "The pump is on.", False


@builder("startend:quotation")
def quotation(_kwargs: dict[str, Any]) -> Iterator[Sample]:
    yield "quotes", '"The pump is on."', True
    yield "blanks around", '  "The pump is on.\n\nWait."\n', True
    yield "quotes inside", '"He said "stop" and left."', True
    yield "two parts", '"Stop," he said. "Go."', True
    yield "none", "The pump is on.", False
    yield "only first", '"The pump is on.', False
    yield "only last", 'The pump is on."', False
    yield "single quotes", "'The pump is on.'", False
    yield "typographic quotes", "“The pump is on.”", False
    yield "one mark", '"', False
    yield "a word after", '"The pump is on." Bye', False


@builder("combination:repeat_prompt")
def repeat_prompt(kwargs: dict[str, Any]) -> Iterator[Sample]:
    prompt = kwargs["prompt_to_repeat"]
    yield "repeat", f"{prompt}\n\nThe pump is on.", True
    yield "other case", f"{prompt.upper()} The pump is on.", True
    yield "blanks before", f"\n  {prompt.strip()}\nThe pump is on.", True
    yield "words before", f"Sure! {prompt}\n\nThe pump is on.", False
    yield "in quotes", f'"{prompt}"\n\nThe pump is on.', False
    yield "last word missing", f"{' '.join(prompt.split()[:-1])}\n\n@", False
    yield "one letter other", f"{prompt[0]}~{prompt[2:]}\n\nThe pump is on.", False
    yield "after the answer", f"The pump is on.\n\n{prompt}", False
    yield "none", "The pump is on.", False


@builder("combination:two_responses")
def two_responses(_kwargs: dict[str, Any]) -> Iterator[Sample]:
    first, second = "The pump is on.\n\nWait.", "The valve is open."
    yield "two", f"{first}\n******\n{second}", True
    yield "one line", f"{first} ****** {second}", True
    yield "separator around", f"******\n{first}\n******\n{second}\n******\n", True
    yield "differ in one letter", "Pump 1 ****** Pump 2", True
    yield "one", first, False
    yield "one and a separator", f"{first}\n******\n", False
    yield "same", f"{first}\n******\n {first} ", False
    yield "three", f"{first}\n******\n{second}\n******\nStop.", False
    yield "short separator", f"{first}\n***\n{second}", False
    yield "double separator", f"{first}\n******\n\n******\n{second}", False


@builder("punctuation:no_comma")
def no_comma(_kwargs: dict[str, Any]) -> Iterator[Sample]:
    yield "none", "The pump is on; the valve: open. Wait - stop.", True
    yield "other scripts", "水泵开，阀门关、等。 المضخة، نعم", True
    yield "one", "The pump is on, wait.", False
    yield "in a number", "The cost is 1,200.", False
    yield "in code", "Use `f(a, b)`.", False
    yield "last", "Wait,", False
