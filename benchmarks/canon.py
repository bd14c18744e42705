"""How fast Canon is read, against YAML parsers and Lark, and what its checks catch.

``us_per_message`` is :func:`steguard.canon.parse_message` on a message of ten lines: characters,
document, envelope, verb, time limit, condition, and a ``Message``. ``careful`` has the same for
messages that are not in the usual spelling (comments, quotes, blocks, lists), which are read node
by node. The peers read the same texts: PyYAML (C, safe) and ruamel.yaml (safe and round trip) make
plain data and check nothing; ``lark`` is a LALR grammar of the same language
(``benchmarks/data/canon/canon.lark``). ``us_per_sentence`` is :func:`parse_sentence` on all
patterns.

All readers run in turns in one process, in CPU time; the fastest of the rounds counts for each
text, because another program can only make a round slower.

``mutations_caught`` is the share of faulty twins of valid messages that are refused,
``parsed`` the share of valid messages that are read to what was written.

With ``--data DIR`` the folder has ``messages.jsonl``, one JSON object a line whose ``content`` is
the text of a message; we use https://github.com/ag2ai/Agents_Failure_Attribution (Who&When).
``agent_messages`` says how many of them are accepted as a Canon message or sentence by mistake and
how many survive byte for byte as the text of a payload, through rendering and reading.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

import common  # noqa: E402 - a peer may bring a package named "benchmarks"
import yaml  # noqa: E402

from steguard.canon import Message, parse_message, parse_sentence, render_message  # noqa: E402
from steguard.canon.lexicon import core  # noqa: E402
from steguard.canon.mutations import mutations  # noqa: E402
from steguard.canon.render import render_sentence  # noqa: E402

Readers = dict[str, Callable[[str], Any]]
MESSAGES = 40
ROUNDS = 9


def usual_messages(count: int) -> list[str]:
    """Messages of ten lines as a renderer writes them, no two alike."""
    chance = random.Random(7)
    made: list[str] = []
    for number in range(count):
        unit, subject = chance.choice(["seconds", "minutes"]), f"stock_check_{number % 7}"
        made.append(
            f"canon-message: v1.0\nfrom: agent_{number}\nto: shop/agent-{number % 9}\n"
            f"msg_id: msg-20260131-{number:04d}\naction: {chance.choice(['request', 'query'])}\n"
            f"subject: {subject}\npayload:\n  sku: A{chance.randrange(10**6)}\n"
            f"  quantity: {chance.randrange(2, 99)}\nwithin: {chance.randrange(2, 90)} {unit}\n"
        )
    return made


def careful_messages(count: int) -> list[str]:
    """Messages of about ten lines that a person wrote: comments, quotes, blocks, lists."""
    made: list[str] = []
    for number in range(count):
        body = (
            '  note: "say \\"yes\\" at 9:00"\n  tags: [a, b]\n',
            "  text: |\n    The pump is open.\n    Close it.\n",
            "  lines:\n    - sku: A1\n      count: 2\n",
            "  备注: 请看第三行\n  name: 'it''s'\n",
        )[number % 4]
        made.append(
            f"# order {number}\ncanon-message: v1.0\nfrom: agent_{number}\nto: agent_b\n"
            f"msg_id: msg-{number}\naction: request\nsubject: order\npayload:\n{body}"
        )
    return made


def sentences(count: int) -> list[str]:
    """Sentences of every pattern, no two alike."""
    forms = (
        "request stock_check_{0} with sku=A{0} quantity={1} within {1} seconds",
        "report: stock_level_{0} is {1}",
        'report: note_{0} is "sold out {1}"',
        "query: price of A{0}",
        "decision: plan_{0} selected",
        "notice: restock_{0} occurred",
        "ack: msg-{0} received",
        "error: stock_check_{0} failed because quantity_negative",
        "if stock_level < {1} then notify restock_{0}",
        "agent_{0} must not cancel order_{1}",
    )
    return [forms[n % len(forms)].format(n, n % 80 + 2) for n in range(count)]


def readers() -> tuple[Readers, Readers]:
    """What reads messages and what reads sentences; a peer that is not installed is left out."""
    of_messages: Readers = {"steguard": parse_message}
    of_sentences: Readers = {"steguard": parse_sentence}
    if hasattr(yaml, "CSafeLoader"):
        of_messages["pyyaml_c"] = lambda text: yaml.load(text, Loader=yaml.CSafeLoader)
    try:
        from ruamel.yaml import YAML

        safe, round_trip = YAML(typ="safe"), YAML(typ="rt")
        of_messages["ruamel_safe"] = safe.load
        of_messages["ruamel_round_trip"] = round_trip.load
    except ImportError:
        pass
    try:
        import canon_lark

        of_messages["lark"] = canon_lark.document
        of_sentences["lark"] = canon_lark.sentence
    except ImportError:
        pass
    return of_messages, of_sentences


def measure(of: Readers, texts: Sequence[str], rounds: int) -> dict[str, float]:
    """Microseconds a text for each reader, all in turns; each text's fastest round counts."""
    best = {name: [float("inf")] * len(texts) for name in of}
    for read in of.values():
        read(texts[0])
    for _ in range(rounds):
        for name, read in of.items():
            for index, text in enumerate(texts):
                repeat = 20 if name == "steguard" else 2
                start = time.process_time_ns()
                for _ in range(repeat):
                    read(text)
                took = (time.process_time_ns() - start) / 1000 / repeat
                best[name][index] = min(best[name][index], took)
    return {name: round(sum(times) / len(times), 2) for name, times in best.items()}


def catches() -> dict[str, Any]:
    """How many faulty twins are refused and how many valid messages are read rightly."""
    valid = [text for text in usual_messages(20) if parse_message(text).ok]
    faults: dict[str, list[int]] = {}
    missed: list[str] = []
    for text in valid:
        for name, twin in mutations(text):
            caught = not parse_message(twin).ok
            counts = faults.setdefault(name.rpartition("-")[0], [0, 0])
            counts[0] += caught
            counts[1] += 1
            if not caught and name not in missed:
                missed.append(name)
    read = [parse_message(text).message for text in valid]
    right = sum(
        message is not None and render_message(message) == text
        for message, text in zip(read, valid, strict=True)
    )
    total = sum(counts[1] for counts in faults.values())
    return {
        "mutations": total,
        "mutations_caught": sum(counts[0] for counts in faults.values()) / total,
        "mutations_missed": missed,
        "parsed": right / len(valid),
    }


def agent_messages(folder: Path) -> dict[str, int]:
    """What happens to messages that agents wrote in free text."""
    path = folder / "messages.jsonl"
    if not path.exists():
        path = folder / "agent_logs" / "messages.jsonl"
    texts = [json.loads(line)["content"] for line in path.read_text("utf-8").splitlines()]
    accepted = sum(parse_message(text).ok or parse_sentence(text).ok for text in texts)
    survived = 0
    for text in texts:
        message = Message(
            sender="a",
            recipient="b",
            msg_id="m",
            action="notify",
            subject="log",
            payload={"text": text},
        )
        back = parse_message(render_message(message)).message
        same = back is not None and back.payload["text"].encode() == text.encode()
        survived += same
    return {"n": len(texts), "accepted_by_mistake": accepted, "survived": survived}


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--data", type=Path, help="the folder with messages.jsonl")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    core()
    of_messages, of_sentences = readers()
    usual, careful, lines = usual_messages(MESSAGES), careful_messages(MESSAGES), sentences(60)
    assert all(parse_message(text).ok for text in usual + careful)
    for line in lines:
        sentence = parse_sentence(line).sentence
        assert sentence is not None
        assert render_sentence(sentence) == line
    per_message = measure(of_messages, usual, options.rounds)
    per_careful = measure(of_messages, careful, options.rounds)
    per_sentence = measure(of_sentences, lines, options.rounds)
    peers: dict[str, dict[str, float]] = {}
    for key, figures in (
        ("us_per_message", per_message),
        ("us_per_careful_message", per_careful),
        ("us_per_sentence", per_sentence),
    ):
        for name, value in figures.items():
            if name != "steguard":
                peers.setdefault(name, {})[key] = value
    report = {
        "machine": common.machine(),
        "versions": common.versions("PyYAML", "ruamel.yaml", "lark", "pydantic"),
        "n": MESSAGES,
        "us_per_message": per_message["steguard"],
        "us_per_careful_message": per_careful["steguard"],
        "us_per_sentence": per_sentence["steguard"],
        "peers": peers,
        **catches(),
    }
    if options.data is not None:
        report["agent_messages"] = agent_messages(options.data)
    common.emit(report, options.json, show)


def show(report: dict[str, Any]) -> None:
    keys = ("us_per_message", "us_per_careful_message", "us_per_sentence")
    rows = [("steguard", *(report[key] for key in keys))]
    rows += [(name, *(peer.get(key) for key in keys)) for name, peer in report["peers"].items()]
    print(common.table(("reader", "µs/message", "µs/careful message", "µs/sentence"), rows))
    caught = common.percent(report["mutations_caught"])
    print(
        f"\n{report['mutations']} faulty twins, {caught} refused; missed: "
        f"{', '.join(report['mutations_missed']) or 'none'}"
    )
    print(f"valid messages read rightly: {common.percent(report['parsed'])}")
    if "agent_messages" in report:
        found = report["agent_messages"]
        wrong, survived = found["accepted_by_mistake"], found["survived"]
        print(f"{found['n']} messages of agents: {wrong} accepted by mistake, {survived} survive")


if __name__ == "__main__":
    main()
