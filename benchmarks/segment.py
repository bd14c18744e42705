"""How well and how fast steguard finds sentences.

Four parts. ``ud_f1``: the sentence ends of Universal Dependencies treebanks; the sentences of a
document are put together as the treebank says (a blank line before a new paragraph, else a space
unless ``SpaceAfter=No``), and F1 is taken over the ends. ``ud_f1_spaces`` repeats it with spaces
only, where no line break helps. ``kinds_right``: the share of the 48 kinds of English boundary
that pysbd's golden rules name, three texts of our own each; a kind is right if all three are.
``stream_f1``: the same as ``ud_f1``, but the text comes in pieces of five characters, at
``us_per_token`` microseconds for each token of the text. ``technical_right``: cases of technical
text (steps, tables, code, Chinese).

Data: https://github.com/UniversalDependencies, for example UD_English-EWT and UD_English-PUD; the
kinds and the technical cases are in ``benchmarks/data/segment``. Peers are measured where they are
installed: ``pip install pysbd blingfire nupunkt sentencex``.
"""

from __future__ import annotations

import importlib
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

import common  # noqa: E402 - a peer may bring a package named "benchmarks", so this one is found by its folder

from steguard.text.segment import Segmenter, segment  # noqa: E402

DATA = Path(__file__).parent / "data" / "segment"
PIECE = 5
ROUNDS = 3

Split = Callable[[str], list[int]]
"""The offsets of the sentence ends in a text."""


@dataclass
class Gold:
    """A document of a treebank: its text and the offsets of its sentence ends."""

    text: str
    ends: list[int]


@dataclass
class Case:
    """One text of a kind."""

    kind: str
    text: str
    ends: list[int]


def read(path: Path, *, paragraphs: bool) -> Iterator[Gold]:
    """The documents of a CoNLL-U file."""
    text, ends = "", []
    gap, fresh = "", False
    sentence, last = "", ""
    for line in [*path.read_text(encoding="utf-8").splitlines(), "# newdoc"]:
        if line.startswith("# newdoc"):
            if ends:
                yield Gold(text, ends)
            text, ends, gap, fresh = "", [], "", False
        elif line.startswith("# newpar"):
            fresh = True
        elif line.startswith("# text = "):
            sentence = line[9:]
        elif line[:1].isdigit():
            last = line
        elif not line and sentence:
            if text:
                text += "\n\n" if fresh and paragraphs else gap
            text += sentence
            ends.append(len(text))
            gap = "" if "SpaceAfter=No" in last.rsplit("\t", 1)[-1] else " "
            sentence, fresh = "", False


def cases(path: Path) -> list[Case]:
    """The cases of a data file: ``## kind``, then texts with ``‖`` at the ends."""
    found, kind = [], ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            kind = line[3:]
        elif line and kind:
            text, ends = "", []
            for part in line.replace("\\n", "\n").split("‖"):
                text += part
                if part.strip(" |\n"):
                    ends.append(len(text) - len(part) + len(part.rstrip(" \n")))
            found.append(Case(kind, text, ends))
    return found


def f1(split: Split, documents: list[Gold]) -> float:
    right = predicted = wanted = 0
    for document in documents:
        found = set(split(document.text))
        right += len(found.intersection(document.ends))
        predicted += len(found)
        wanted += len(document.ends)
    return round(2 * right / (predicted + wanted), 4) if right else 0.0


def kinds_right(split: Split, data: list[Case]) -> tuple[float, list[str]]:
    """The share of kinds whose texts are all right, and the kinds that are not."""
    names = list(dict.fromkeys(case.kind for case in data))
    wrong = {case.kind for case in data if split(case.text) != case.ends}
    return round(1 - len(wrong) / len(names), 4), [name for name in names if name in wrong]


# -- steguard, whole and in pieces -----------------------------------------------------------------


def whole(text: str) -> list[int]:
    return [sentence.end for sentence in segment(text, format="plain")]


def whole_markdown(text: str) -> list[int]:
    return [sentence.end for sentence in segment(text)]


def in_pieces(text: str) -> list[int]:
    segmenter = Segmenter(format="plain")
    found = []
    for at in range(0, len(text), PIECE):
        found += segmenter.feed(text[at : at + PIECE])
    return [sentence.end for sentence in found + segmenter.close()]


def speed(documents: list[Gold]) -> dict[str, float]:
    """Processor time: microseconds for each token in a stream, and for each token and sentence."""
    texts = [document.text for document in documents]
    tokens = sentences = 0
    for text in texts:
        found = segment(text, format="plain")
        tokens += sum(len(sentence.tokens) for sentence in found)
        sentences += len(found)
    stream = min(_seconds(in_pieces, texts) for _ in range(ROUNDS))
    batch = min(_seconds(whole, texts) for _ in range(ROUNDS))
    return {
        "us_per_token": round(stream / tokens * 1e6, 2),
        "us_per_token_whole": round(batch / tokens * 1e6, 2),
        "us_per_sentence_whole": round(batch / sentences * 1e6, 2),
    }


def _seconds(split: Split, texts: list[str]) -> float:
    start = time.process_time()
    for text in texts:
        split(text)
    return time.process_time() - start


# -- peers -----------------------------------------------------------------------------------------


def regex_baseline() -> Split:
    """A stop, white space, and a capital, a digit or an opening mark."""
    pattern = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"“(])")
    return lambda text: [match.start() for match in pattern.finditer(text)] + [len(text)]


def _by_sentences(sentences: Callable[[str], Any]) -> Split:
    def split(text: str) -> list[int]:
        found, at = [], 0
        for sentence in sentences(text):
            part = sentence.strip()
            start = text.find(part, at) if part else -1
            if start >= 0:
                at = start + len(part)
                found.append(at)
        return found

    return split


def _by_paragraph(split: Split) -> Split:
    """The peer sees one paragraph at a time, so that blank lines help it as they help us."""

    def wrapped(text: str) -> list[int]:
        found, offset = [], 0
        for paragraph in text.split("\n\n"):
            found += [offset + end for end in split(paragraph)]
            if paragraph.strip() and (not found or found[-1] < offset + len(paragraph.rstrip())):
                found.append(offset + len(paragraph.rstrip()))
            offset += len(paragraph) + 2
        return found

    return wrapped


def _pysbd() -> Split:
    segmenter = importlib.import_module("pysbd").Segmenter(language="en", clean=False)
    return _by_sentences(segmenter.segment)


def _blingfire() -> Split:
    blingfire = importlib.import_module("blingfire")
    return _by_sentences(lambda text: blingfire.text_to_sentences(text).split("\n"))


def _nupunkt() -> Split:
    return _by_sentences(importlib.import_module("nupunkt").sent_tokenize)


def _sentencex() -> Split:
    sentencex = importlib.import_module("sentencex")
    return _by_sentences(lambda text: list(sentencex.segment("en", text)))


PEERS: dict[str, Callable[[], Split]] = {
    "regex": regex_baseline,
    "pysbd": _pysbd,
    "blingfire": _blingfire,
    "nupunkt": _nupunkt,
    "sentencex": _sentencex,
}


def peers(ud: list[Gold], spaces: list[Gold], kinds: list[Case]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    tokens = sum(len(s.tokens) for d in ud for s in segment(d.text, format="plain"))
    for name, make in PEERS.items():
        try:
            split = _by_paragraph(make())
        except ImportError:
            continue
        figures = {"kinds_right": kinds_right(split, kinds)[0]}
        if ud:
            figures |= {
                "ud_f1": f1(split, ud),
                "ud_f1_spaces": f1(split, spaces),
                "us_per_token": round(_seconds(split, [d.text for d in ud]) / tokens * 1e6, 2),
            }
        found[name] = figures
    return found


# -- the report ------------------------------------------------------------------------------------


def measure(folder: Path | None) -> dict[str, Any]:
    files = sorted(folder.glob("*.conllu")) if folder else []
    ud = [document for path in files for document in read(path, paragraphs=True)]
    spaces = [document for path in files for document in read(path, paragraphs=False)]
    kinds, technical = cases(DATA / "kinds.txt"), cases(DATA / "technical.txt")
    report: dict[str, Any] = {
        "machine": common.machine(),
        "versions": common.versions("pysbd", "blingfire", "nupunkt", "sentencex"),
        "n": sum(len(document.ends) for document in ud),
        "n_kinds": len({case.kind for case in kinds}),
    }
    report["kinds_right"], report["kinds_wrong"] = kinds_right(whole, kinds)
    report["technical_right"], report["technical_wrong"] = kinds_right(whole_markdown, technical)
    if ud:
        report |= {
            "ud_f1": f1(whole, ud),
            "ud_f1_spaces": f1(whole, spaces),
            "stream_f1": f1(in_pieces, ud),
            **speed(ud),
            "files": {
                path.name: {
                    "ud_f1": f1(whole, list(read(path, paragraphs=True))),
                    "ud_f1_spaces": f1(whole, list(read(path, paragraphs=False))),
                }
                for path in files
            },
        }
    report["peers"] = peers(ud, spaces, kinds)
    return report


def show(report: dict[str, Any]) -> None:
    keys = ("ud_f1", "ud_f1_spaces", "kinds_right", "stream_f1")
    rows = [("steguard", report), *report["peers"].items()]
    print(
        common.table(
            ["", *keys, "µs/token"],
            [
                [name, *(common.percent(row.get(key)) for key in keys), row.get("us_per_token")]
                for name, row in rows
            ],
        )
    )
    print(f"\ntechnical text: {common.percent(report['technical_right'])} of the kinds right")
    for name, row in report.get("files", {}).items():
        print(
            f"{name}: {common.percent(row['ud_f1'])}, spaces {common.percent(row['ud_f1_spaces'])}"
        )
    for name in report["kinds_wrong"] + report["technical_wrong"]:
        print(f"wrong: {name}")


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--ud", type=Path, help="folder with *.conllu files")
    arguments = parser.parse_args()
    if arguments.ud and not list(arguments.ud.glob("*.conllu")):
        parser.error(f"no *.conllu file in {arguments.ud}")
    common.emit(measure(arguments.ud), arguments.json, show)


if __name__ == "__main__":
    main()
