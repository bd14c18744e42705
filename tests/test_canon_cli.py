"""The commands of ``steguard canon``: exit status, findings with carets, JSON, wrong input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from steguard.canon.doctor import compare_sides, examine
from steguard.canon.hints import advise
from steguard.canon.lexicon import load_lexicon
from steguard.canon.message import parse_message
from steguard.canon.metrics import event_of, measure, read_log
from steguard.canon.mutations import mutations
from steguard.canon.prompt import parse_prompt
from steguard.canon.registry import Registry
from steguard.canon.verdict import judge
from steguard.errors import ProfileError
from tests.support.canon_subjects import STOCK, message, registry, subject, text
from tests.test_canon_generate import MAPPING
from tests.test_cli import Done, steguard

PROMPT = "canon-prompt: v1.0\nrole: assistant\ntask: summarize\nmax_words: 50\n"
MANY = text("  sku: A\n  quantity: many\n")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with a registry, a mapping and a message."""
    (tmp_path / "subjects").mkdir()
    (tmp_path / "subjects" / "stock.yaml").write_text(STOCK, encoding="utf-8")
    (tmp_path / "mapping.yaml").write_text(MAPPING, encoding="utf-8")
    (tmp_path / "good.canon").write_text(text(), encoding="utf-8")
    (tmp_path / "many.canon").write_text(MANY, encoding="utf-8")
    return tmp_path


def canon(work: Path, *args: str, stdin: str = "") -> Done:
    return steguard("canon", *args, text=stdin, cwd=work)


# ---- check


def test_a_valid_text_is_0_and_a_faulty_one_is_1(work: Path) -> None:
    assert canon(work, "check", "good.canon").returncode == 0
    done = canon(work, "check", "-", stdin=text(rest="within: soon\n"))
    assert done.returncode == 1
    assert done.stdout.splitlines()[:3] == [
        "<stdin>:10:9: error CAN210 bad-time: 'soon' is no time limit (at /within)",
        "    within: soon",
        "            ^^^^ Write 'within 30 seconds'.",
    ]
    assert done.stdout.splitlines()[-1] == "<stdin>: no valid message: 1 error"


def test_the_registry_is_context_of_a_check(work: Path) -> None:
    assert canon(work, "check", "many.canon").returncode == 0
    done = canon(work, "check", "many.canon", "--registry", "subjects")
    assert done.returncode == 1
    assert "many.canon:9:13: error CAN504 wrong-type" in done.stdout


def test_the_log_is_context_of_a_check(work: Path) -> None:
    (work / "log.canon").write_text(text() + "---\n" + text(msg_id="m-2"), encoding="utf-8")
    for target, code in (("m-2", 0), ("m-3", 1)):
        reply = text("  sku: A\n", msg_id="b-1", action="report", rest=f"reply_to: {target}\n")
        reply = (
            reply.replace("agent_a", "x").replace("agent_b", "agent_a").replace(": x", ": agent_b")
        )
        done = canon(work, "check", "-", "--log", "log.canon", stdin=reply)
        assert done.returncode == code, done.stdout


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("message", text(), text(action="requets")),
        ("prompt", PROMPT, PROMPT + "min_words: 60\n"),
        ("sentence", "report: stock_level is low", "report: stock_level is low seriously"),
    ],
)
def test_every_kind_is_known_by_its_text_or_by_the_option(
    work: Path, kind: str, good: str, bad: str
) -> None:
    for option in ([], ["--kind", kind]):
        assert canon(work, "check", "-", *option, stdin=good).returncode == 0
        done = canon(work, "check", "-", *option, stdin=bad)
        assert done.returncode == 1
        assert f"no valid {kind}" in done.stdout


def test_more_than_one_message_needs_the_option_stream(work: Path) -> None:
    both = text() + "---\n" + text(msg_id="m-2")
    assert canon(work, "check", "-", stdin=both).returncode == 1
    assert canon(work, "check", "-", "--stream", stdin=both).returncode == 0
    same = canon(work, "check", "-", "--stream", stdin=text() + "---\n" + text())
    assert "duplicate-msg-id" in same.stdout


def test_the_json_format_has_every_finding_with_its_place(work: Path) -> None:
    done = canon(work, "check", "good.canon", "many.canon", "-r", "subjects", "--format", "json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["valid"]) == (1, False)
    good, many = report["texts"]
    assert (good["valid"], good["kind"], good["findings"]) == (True, "message", [])
    (finding,) = many["findings"]
    assert (finding["line"], finding["column"], finding["pointer"]) == (9, 13, "/payload/quantity")
    assert MANY[finding["start"] : finding["end"]] == "many"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["check", "no.canon"], "no such file"),
        (["check", "good.canon", "--kind", "mesage"], "did you mean 'message'"),
        (["check", "good.canon", "--registry", "no"], "no registry folder 'no'"),
        (["check", "good.canon", "--log", "no"], "no such file"),
        (["check", "good.canon", "--format", "xml"], "unknown format 'xml'"),
        (["check", "good.canon", "--language", "fr"], "unknown language 'fr'"),
        (["check", "good.canon", "--lexicon", "logistic"], "logistics"),
        (["check"], "Missing argument"),
        (["parse", "."], "this is a folder"),
        (["render", "good.canon"], "no JSON"),
        (["convert", "good.canon", "--to", "sqll"], "did you mean 'sql'"),
        (["convert", "good.canon", "--to", "sql"], "needs --mapping"),
        (["schema", "--subject", "x"], "--registry"),
        (["schema", "-r", "subjects", "--subject", "stck", "--action", "request"], "no subject"),
        (["schema", "-r", "subjects", "--subject", "inventory_check"], "--action"),
        (["compat", "subjects", "subjects", "--mode", "both"], "unknown mode"),
        (["negotiate"], "name the other side"),
        (["negotiate", "mapping.yaml"], "mapping.yaml"),
        (["prompt", "-", "--bind", "x"], "NAME=VALUE"),
        (["metrics", "mapping.yaml", "-r", "none"], "no registry folder"),
    ],
)
def test_wrong_use_is_2_with_a_remedy(work: Path, args: list[str], says: str) -> None:
    done = canon(work, *args, stdin=PROMPT)
    assert done.returncode == 2, done.stdout
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_text_that_is_no_utf8_is_2_and_the_doctor_shows_its_bytes(work: Path) -> None:
    (work / "latin.canon").write_bytes(text().encode() + b"x: \xff\n")
    done = canon(work, "check", "latin.canon")
    assert (done.returncode, "latin.canon:10:4" in done.stderr) == (2, True)
    shown = canon(work, "doctor", "latin.canon")
    assert shown.returncode == 1
    assert "<BYTE FF>" in shown.stdout


def test_a_folder_is_checked_as_a_whole(work: Path) -> None:
    done = canon(work, "check", ".", "-r", "subjects")
    assert (done.returncode, "good.canon: valid" in done.stdout) == (1, True)
    empty = canon(work, "check", "subjects")
    assert (empty.returncode, "no .canon files" in empty.stderr) == (2, True)


def test_a_log_of_json_lines_is_context_too(work: Path) -> None:
    events = [event_of(message()), {"event": "result", "outcome": "passed"}]
    (work / "log.jsonl").write_text(log(*events), encoding="utf-8")
    same = text("  sku: A\n  quantity: 3\n")
    done = canon(work, "check", "-", "--log", "log.jsonl", stdin=same)
    assert (done.returncode, "reused-id" in done.stdout) == (1, True)


def test_a_faulty_log_names_its_message(work: Path) -> None:
    (work / "log.canon").write_text(text() + "---\nhello\n", encoding="utf-8")
    done = canon(work, "check", "good.canon", "--log", "log.canon")
    assert (done.returncode, "message 2 of the log" in done.stderr) == (2, True)


# ---- parse, render, fmt


def test_parse_types_the_payload_where_there_is_a_registry(work: Path) -> None:
    plain = json.loads(canon(work, "parse", "good.canon").stdout)
    typed = json.loads(canon(work, "parse", "good.canon", "-r", "subjects").stdout)
    assert (plain["payload"]["quantity"], typed["payload"]["quantity"]) == ("2", 2)
    bad = canon(work, "parse", "-", stdin="canon-message: v1.0\n")
    assert (bad.returncode, bad.stdout, "missing-field" in bad.stderr) == (1, "", True)


def test_a_sentence_is_parsed_to_its_parts(work: Path) -> None:
    done = canon(work, "parse", "-", stdin="if stock_level < 10 then notify restock\n")
    tree = json.loads(done.stdout)
    assert tree["type"] == "conditional"
    assert tree["condition"] == {"type": "compare", "name": "stock_level", "op": "<", "value": 10}
    assert (tree["then"]["verb"], tree["then"]["target"]) == ("notify", "restock")


def test_render_is_the_reverse_of_parse(work: Path) -> None:
    data = canon(work, "parse", "good.canon", "-r", "subjects").stdout
    done = canon(work, "render", "-", "-r", "subjects", stdin=data)
    assert (done.returncode, done.stdout) == (0, text())
    wrong = json.loads(data)
    wrong["payload"]["quantity"] = 0
    refused = canon(work, "render", "-", "-r", "subjects", stdin=json.dumps(wrong))
    assert (refused.returncode, "out-of-range" in refused.stderr) == (1, True)
    dance = canon(work, "render", "-", stdin=json.dumps({**wrong, "action": "dance"}))
    assert (dance.returncode, "unknown-action" in dance.stderr) == (1, True)
    null = canon(work, "render", "-", stdin=json.dumps({**wrong, "payload": {"n": None}}))
    assert (null.returncode, "leave the field out" in null.stderr) == (1, True)
    broken = canon(work, "render", "-", stdin=json.dumps({**wrong, "msg_id": "a b"}))
    assert (broken.returncode, "msg_id" in broken.stderr) == (1, True)


def test_fmt_writes_the_usual_form_in_place(work: Path) -> None:
    odd = text().replace("from: agent_a", "from:   agent_a")
    (work / "odd.canon").write_text(odd, encoding="utf-8")
    assert canon(work, "fmt", "odd.canon", "--check").returncode == 1
    assert canon(work, "fmt", "odd.canon").returncode == 0
    assert (work / "odd.canon").read_text(encoding="utf-8") == text()
    assert canon(work, "fmt", "odd.canon", "--check").returncode == 0
    assert canon(work, "fmt", "-", stdin=odd).stdout == text()
    assert canon(work, "fmt", "-", stdin="hello\n").returncode == 1


# ---- conversion


@pytest.mark.parametrize("language", ["zh", "ja"])
def test_a_message_goes_to_another_surface_and_back(work: Path, language: str) -> None:
    there = canon(work, "convert", "good.canon", "--to", language)
    assert there.stdout != text()
    back = canon(work, "convert", "-", "--to", "en", "--language", language, stdin=there.stdout)
    assert back.stdout == text()
    alone = canon(work, "convert", "-", "--to", "en", stdin=there.stdout)
    assert alone.stdout == text()
    checked = canon(work, "check", "-", stdin=there.stdout)
    assert (checked.returncode, "valid message" in checked.stdout) == (0, True)


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        ("role: assistant\ntask: summarize\n", "prompt"),
        ("from: a\nto: b\naction: request\n", "message"),
        ("canon_message: v1.0\nfrom: a\n", "message"),
        ("\ufeffcanon-prompt: v1.0\n", "prompt"),
        ("Please check the stock.\n", "sentence"),
        ("", "message"),
    ],
)
def test_the_kind_of_a_text_without_a_right_header_is_guessed(start: str, kind: str) -> None:
    assert judge(start).kind == kind
    assert not judge(start).ok or kind == "prompt"


def test_a_message_becomes_json_sql_http_and_calls(work: Path) -> None:
    def made(to: str) -> Any:
        done = canon(
            work, "convert", "good.canon", "--to", to, "-r", "subjects", "--mapping", "mapping.yaml"
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert json.loads(made("json"))["payload"]["quantity"] == 2
    assert "WHERE inventory.sku = :sku_1" in made("sql")
    assert json.loads(made("http"))["url"] == "https://shop.example/stock/A1001?quantity=2"
    assert json.loads(made("a2a"))["messageId"] == "m-1"
    assert json.loads(made("mcp"))["params"]["arguments"]["quantity"] == 2
    assert '{{ payload["sku"] | canon }}' in made("template")
    refused = canon(work, "convert", "-", "--to", "mcp", stdin=text(rest="if: a < 1\n"))
    assert (refused.returncode, "condition" in refused.stderr) == (1, True)


# ---- versions


def test_compat_names_the_breaking_field(work: Path) -> None:
    new = STOCK.replace("max: 999", "max: 99").replace("version: v1.0", "version: v1.1")
    (work / "new.yaml").write_text(new, encoding="utf-8")
    done = canon(work, "compat", "subjects/stock.yaml", "new.yaml", "--mode", "backward")
    assert done.returncode == 1
    assert "backward: request 'quantity'" in done.stdout
    assert canon(work, "compat", "subjects", "new.yaml", "-m", "forward").returncode == 0
    report = json.loads(canon(work, "compat", "subjects", "new.yaml", "--format", "json").stdout)
    (one,) = report["compared"][0]["breaks"]
    assert (one["direction"], one["field"], one["example"]) == ("backward", "quantity", "999")


def test_compat_compares_the_versions_of_one_folder(work: Path) -> None:
    alone = canon(work, "compat", "subjects")
    assert (alone.returncode, "no subject here has two versions" in alone.stderr) == (2, True)
    for number, limit in ((1, 9999), (2, 99)):
        newer = STOCK.replace("max: 999", f"max: {limit}").replace(
            "version: v1.0", f"version: v1.{number}"
        )
        (work / "subjects" / f"stock{number}.yaml").write_text(newer, encoding="utf-8")
    done = canon(work, "compat", "subjects", "-m", "backward")
    assert done.returncode == 1
    assert "v1.0 -> v1.1: backward compatible" in done.stdout
    assert "v1.1 -> v1.2: not backward compatible" in done.stdout


def test_negotiation_reads_offers_lexicons_and_registries(work: Path) -> None:
    mine = canon(work, "negotiate", "--offer", "-r", "subjects")
    (work / "offer.json").write_text(mine.stdout, encoding="utf-8")
    same = canon(work, "negotiate", "offer.json", "-r", "subjects", "--format", "json")
    agreed = json.loads(same.stdout)
    assert (agreed["canon"], agreed["differences"]) == ("v1.0", [])
    other = canon(work, "negotiate", "core", "logistics")
    assert other.returncode == 0
    assert "difference: Lexicon 'logistics'" in other.stdout
    old = mine.stdout.replace('"v1.0"', '"v9.0"', 1)
    (work / "old.json").write_text(old, encoding="utf-8")
    assert canon(work, "negotiate", "old.json").returncode == 1


def test_schema_prints_json_schema(work: Path) -> None:
    plain = json.loads(canon(work, "schema").stdout)
    assert "msg_id" in plain["properties"]
    one = ["--subject", "inventory_check", "--action", "request"]
    payload = json.loads(canon(work, "schema", "-r", "subjects", *one).stdout)
    assert payload["required"] == ["sku", "quantity"]
    assert "oneOf" in json.loads(canon(work, "schema", "-r", "subjects").stdout)


# ---- doctor


def test_the_doctor_names_what_nobody_sees(work: Path) -> None:
    odd = text().replace("agent_b", "agent_b\u200b").replace("m-1", "m\u20111")
    done = canon(work, "doctor", "-", "--format", "json", stdin=odd)
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert {"line": 3, "column": 12, "name": "U+200B ZERO WIDTH SPACE"} in report["odd"]
    assert report["lines"][2]["hex"].startswith("74 6f 3a 20")


def test_the_doctor_compares_the_words_of_two_sides() -> None:
    theirs = subject(
        **{"version: v1.0": "version: v1.1", "sku: <text>": "sku_id: <text>", "cold|": "cold|live|"}
    )
    told = "\n".join(
        compare_sides(
            (load_lexicon(), registry()), (load_lexicon("logistics"), Registry.of([theirs]))
        )
    )
    for part in ("Lexicon 'logistics'", "inventory_check request 'sku'", "'sku_id'", "'tags'"):
        assert part in told


def test_the_doctor_sees_the_same_text_as_the_check() -> None:
    found = examine(text(action="requets"))
    assert not found.valid
    assert "unknown-action" in found.show()
    assert found.version == "v1.0"


# ---- hints


def test_hints_write_a_draft_that_is_valid(work: Path) -> None:
    free = "You are a helpful assistant. Give me a short summary. Not too many numbers.\n"
    done = canon(work, "hints", "-", stdin=free)
    assert (done.returncode, "Write max_words: 150" in done.stdout) == (1, True)
    draft = canon(work, "hints", "-", "--draft", stdin=free)
    assert parse_prompt(draft.stdout).ok
    assert canon(work, "hints", "-", stdin=" ").returncode == 2


HINTS = [
    ("Keep it short.", {"/max_words": "150"}),
    ("Write at most 1,200 words.", {"/max_words": "1200"}),
    ("Keep it short, at most 80 words.", {"/max_words": "80"}),
    ("Do not use too many numbers.", {"/max_numbers": "3"}),
    ("Do not use any numbers.", {"/max_numbers": "0"}),
    ("Use a professional tone.", {"/style": "professional"}),
    ("Answer in bullet points.", {"/output_format/bullets": "true"}),
    ("Translate it into Chinese.", {"/task": "translate", "/guardrail/language": "chinese"}),
    ("Do not mention any person names.", {"/guardrail/must_not_include": ["person names"]}),
    ('You must include the word "budget".', {"/guardrail/must_include": ["budget"]}),
    ("With the sections Result and Tasks.", {"/output_format/include_fields": ["Result", "Tasks"]}),
    ("Act as an editor.", {"/role": "editor"}),
    ("尽量短一些。", {"/max_words": "150"}),
    ("不超过200字。", {"/max_words": "200"}),
    ("不要包含太多数字。", {"/max_numbers": "3"}),
    ("语气要专业一点。", {"/style": "professional"}),
    ("请用中文总结下面的文章。", {"/task": "summarize", "/guardrail/language": "chinese"}),
    ("包含以下字段：结论、待办。", {"/output_format/include_fields": ["结论", "待办"]}),
    ("不要出现人名和报价。", {"/guardrail/must_not_include": ["person names"]}),
]


@pytest.mark.parametrize(("free", "settings"), HINTS, ids=[h[0] for h in HINTS])
def test_a_wish_becomes_a_setting(free: str, settings: dict[str, Any]) -> None:
    found = advise(free)
    assert {k: v for k, v in found.settings.items() if k in settings} == settings
    for finding in found.findings:
        assert free[finding.start : finding.end] == finding.excerpt
        assert finding.suggestion


def test_wishes_that_cannot_both_hold_are_told() -> None:
    found = advise("Write a short but very detailed report of at least 500 words.")
    assert "conflicting-wishes" in {f.rule for f in found.findings}
    assert parse_prompt(found.draft()).ok


def test_a_precise_instruction_gets_no_wish() -> None:
    found = advise("Open the valve in 5 seconds. Then start pump 3.")
    assert {f.rule for f in found.findings} == {"missing-setting"}


# ---- prompt


def test_prompt_prints_messages_and_checks_an_answer(work: Path) -> None:
    (work / "p.canon").write_text(PROMPT + "subject: [topic]\ninput:\n  text: <text>\n")
    args = ["prompt", "p.canon", "--bind", "topic=pumps"]
    done = canon(work, *args, "--input", "text=good.canon")
    messages = json.loads(done.stdout)
    assert [m["role"] for m in messages] == ["system", "user"]
    assert "Subject: pumps" in messages[0]["content"]
    good = canon(work, *args, "--answer", "-", stdin="The pump is on.\n")
    assert (good.returncode, "obeys the prompt" in good.stdout) == (0, True)
    long = canon(work, *args, "--answer", "-", stdin="word " * 60)
    assert (long.returncode, "word-count" in long.stdout) == (1, True)
    unbound = canon(work, "prompt", "p.canon")
    assert (unbound.returncode, "topic" in unbound.stderr) == (2, True)


# ---- figures


def log(*events: dict[str, Any]) -> str:
    return "\n".join(json.dumps(event) for event in events) + "\n"


def test_the_figures_of_a_log(work: Path) -> None:
    asked = {"event": "message", "at": "2026-01-31T10:00:00Z", "text": text()}
    told = text("  sku: A\n  available: 1\n  fulfilled: true\n", msg_id="b-1", action="report",
                rest="reply_to: m-1\n")  # fmt: skip
    events = [
        asked,
        {"event": "message", "at": "2026-01-31T10:00:02Z", "text": told},
        {"event": "message", "text": text(action="requets"), "valid": False},
        {"event": "message", "text": MANY, "valid": False},
        {"event": "result", "outcome": "passed", "attempts": [{}], "seconds": 1.0},
        {"event": "result", "outcome": "passed_after_retry", "attempts": [{}, {}], "seconds": 3.0},
        {"event": "result", "outcome": "rejected", "attempts": [{}, {}, {}], "seconds": 5.0},
    ]
    (work / "log.jsonl").write_text(log(*events), encoding="utf-8")
    done = canon(work, "metrics", "log.jsonl", "-r", "subjects", "--format", "json")
    figures = json.loads(done.stdout)
    assert done.returncode == 0
    assert (figures["messages"], figures["parse_success"]) == (2, 1.0)
    assert (figures["interception"], figures["missed"]) == (1.0, [])
    assert figures["mutations"] > 100
    assert figures["compliance"] == pytest.approx(2 / 3, abs=1e-5)
    assert (figures["retries"], figures["retries_per_result"]) == (3, 1.0)
    assert figures["answer_seconds"] == {"p50": 2.0, "p95": 2.0}
    assert figures["call_seconds"] == {"p50": 3.0, "p95": 5.0}
    without = canon(work, "metrics", "log.jsonl", "--format", "json")
    assert without.returncode == 1
    assert json.loads(without.stdout)["missed"] == [MANY]


def test_a_file_of_messages_is_a_log(work: Path) -> None:
    (work / "all.canon").write_text(text() + "---\n" + text(msg_id="m-2"), encoding="utf-8")
    done = canon(work, "metrics", "all.canon")
    assert (done.returncode, "parse_success        1.0" in done.stdout) == (0, True)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "log.jsonl:1"),
        ('{"event": "mesage"}', '"event": "message"'),
        ('{"event": "message", "text": "x", "tet": 1}', "unknown key 'tet'"),
        ('{"event": "message", "text": "x", "at": "2026-01-31T10:00:00"}', "offset"),
        ('{"event": "result"}', "outcome"),
    ],
)
def test_a_faulty_log_names_its_line(line: str, says: str) -> None:
    with pytest.raises(ProfileError) as error:
        read_log(line, "log.jsonl")
    assert says in str(error.value)
    assert "log.jsonl:1" in str(error.value)


FORMS = [
    text(),
    text("", action="confirm", rest="reply_to: m-0\n"),
    text('  sku: "a: b"\n  quantity: 2\n  tags: [cold]\n', rest="if: a < 1\nwithin: 1 second\n"),
    text("  reason: x\n", action="fail", rest="reply_to: m-0\nwithin: 2026-01-31T10:00:00Z\n"),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("subjects", [None, registry()])
def test_every_faulty_twin_of_a_valid_message_is_refused(
    form: str, subjects: Registry | None
) -> None:
    assert parse_message(form, registry=subjects).ok
    twins = list(mutations(form, subjects))
    assert len({name.rpartition("-")[0] for name, _ in twins}) > 12
    missed = [name for name, twin in twins if parse_message(twin, registry=subjects).ok]
    assert missed == []


def test_a_message_that_is_not_read_lowers_the_success() -> None:
    figures = measure(read_log(text() + "---\nhello\n")).to_dict()
    assert figures["parse_success"] == 0.5


# ---- examples


@pytest.mark.parametrize("name", ["prompt_validator", "agent_chat"])
def test_the_examples_run_offline(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", f"steguard.canon.examples.{name}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.rstrip().endswith("All claims hold.")
    assert "FAILED" not in done.stdout


def test_an_example_says_what_did_not_hold(capsys: pytest.CaptureFixture[str]) -> None:
    from steguard.canon.examples.showing import Story

    story = Story()
    story.check("one is two", False)
    with pytest.raises(SystemExit) as ended:
        story.end()
    assert ended.value.code == 1
    assert "[FAILED] one is two" in capsys.readouterr().out


def test_every_public_name_is_there() -> None:
    import steguard.canon as public

    assert all(getattr(public, name) is not None for name in public.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        public.nothing  # noqa: B018


def test_the_command_line_stays_quick_without_canon() -> None:
    code = (
        "import sys; from steguard.cli.app import build; build();"
        "print([m for m in sys.modules if m.startswith('steguard.canon')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert message().msg_id == "m-1"
