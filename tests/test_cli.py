"""The command line: formats, exit status, files and folders, wrong input."""

from __future__ import annotations

import io
import json
import os
import stat
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from steguard.cli import main
from steguard.testing import Scripted, ScriptedModel

BAD = "You should open the file.\n"
GOOD = "Open the file.\n"


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


def steguard(*args: str, text: str = "", cwd: Path | None = None, **env: str) -> Done:
    """Run the command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    stdin = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for name in [n for n in os.environ if n.startswith("OPENAI_")]:
            patch.delenv(name)
        for name, value in {"COLUMNS": "120", **env}.items():
            patch.setenv(name, value)
        patch.chdir(cwd or Path.cwd())
        patch.setattr("sys.stdin", stdin)
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
            main(list(args))
    code = ended.value.code
    return Done(
        code if isinstance(code, int) else int(code is not None), out.getvalue(), err.getvalue()
    )


def test_it_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "steguard", "check", "-"],
        input=BAD,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "banned-words" in done.stdout) == (1, True)


# --- check


def test_json_has_the_wire_format_and_exit_status_one(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text(GOOD + "\n" + BAD)
    done = steguard("check", "--profile", "strict", "--format", "json", str(file))
    assert done.returncode == 1
    (finding,) = json.loads(done.stdout)["findings"]
    assert finding["file"] == str(file)
    assert {
        k: finding[k] for k in ("rule", "code", "line", "column", "start", "end", "severity")
    } == {
        "rule": "banned-words",
        "code": "SG101",
        "line": 3,
        "column": 5,
        "start": 20,
        "end": 26,
        "severity": "error",
    }
    assert finding["message"]
    assert "suggestion" in finding


def test_clean_text_exits_zero(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text(GOOD)
    done = steguard("check", str(file), "-f", "json")
    assert (done.returncode, json.loads(done.stdout)["findings"]) == (0, [])
    assert steguard("check", "-", text=GOOD).returncode == 0
    assert steguard("check", "-", text=BAD).returncode == 1


def test_files_folders_and_standard_input_together(tmp_path: Path) -> None:
    (tmp_path / "docs" / ".git").mkdir(parents=True)
    (tmp_path / "docs" / "a.md").write_text(BAD)
    (tmp_path / "docs" / "code.py").write_text("should = 1  # You should.\n")
    (tmp_path / "docs" / ".git" / "b.md").write_text(BAD)
    (tmp_path / "c.txt").write_text(BAD)
    done = steguard("check", "docs", "c.txt", "-", "-f", "json", text=BAD, cwd=tmp_path)
    files = [f["file"] for f in json.loads(done.stdout)["findings"]]
    assert files == ["docs/a.md", "c.txt", "<stdin>"]


def test_a_file_is_read_by_its_suffix(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<p class="should">You should go.</p>')
    (tmp_path / "b.json").write_text('{"should": "You should go there."}')
    done = steguard("check", "a.html", "b.json", "-f", "json", cwd=tmp_path)
    found = [
        (f["file"], f["column"], f.get("pointer")) for f in json.loads(done.stdout)["findings"]
    ]
    assert found == [("a.html", 23, None), ("b.json", 17, "/should")]


def test_text_shows_the_line_a_caret_and_a_summary(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("打开 You should go.\n")
    done = steguard("check", str(file))
    assert f"{file}:1:8: error SG101 banned-words" in done.stdout
    caret = next(line for line in done.stdout.splitlines() if "^" in line)
    assert caret.index("^") == 4 + 4 + 5
    assert "^^^^^^" in caret
    assert "per 100 words" in done.stdout


def test_agent_format_is_one_short_line_a_finding(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("Utilize the tool.\n")
    done = steguard("check", str(file), "--format", "agent")
    assert done.stdout == f'{file}:1 banned-words "Utilize" -> Use\n'


def test_github_and_sarif_formats(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text(BAD)
    done = steguard("check", "a.md", "--format", "github", cwd=tmp_path)
    assert done.stdout.startswith("::error file=a.md,line=1,col=5,title=SG101 banned-words::")
    done = steguard("check", "a.md", "--format", "sarif", cwd=tmp_path)
    run = json.loads(done.stdout)["runs"][0]
    assert run["results"][0]["ruleId"] == "SG101"
    assert run["results"][0]["locations"][0]["physicalLocation"]["region"]["startColumn"] == 5


def test_threshold_sets_the_exit_status(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text(BAD + "\n" + GOOD * 20)
    assert steguard("check", str(file), "--max-per-100-words", "5").returncode == 0
    assert steguard("check", str(file), "--max-per-100-words", "0.5").returncode == 1
    summary = json.loads(steguard("check", str(file), "-f", "json").stdout)["summary"]
    assert summary["words"] == 65
    assert summary["by_rule"]["banned-words"]["findings"] == 1


def git(folder: Path, *args: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@t.invalid", *args],
        cwd=folder,
        check=True,
        capture_output=True,
    )


def test_changed_looks_only_at_lines_added_since_a_revision(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    file = tmp_path / "a.md"
    file.write_text(BAD)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    assert steguard("check", "a.md", "--changed", cwd=tmp_path).returncode == 0
    file.write_text(BAD + "\nIt might fail.\n")
    done = steguard("check", "--changed", "a.md", "-f", "json", cwd=tmp_path)
    assert [f["line"] for f in json.loads(done.stdout)["findings"]] == [3]
    git(tmp_path, "commit", "-qam", "two")
    done = steguard("check", "a.md", "--changed", "HEAD~1", "-f", "json", cwd=tmp_path)
    assert [f["line"] for f in json.loads(done.stdout)["findings"]] == [3]
    (tmp_path / "new.md").write_text(BAD)
    assert steguard("check", "new.md", "--changed", cwd=tmp_path).returncode == 1
    done = steguard("check", "a.md", "--changed", "nosuchrev", cwd=tmp_path)
    assert (done.returncode, "nosuchrev" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["check"], "Missing argument"),
        (["check", "none.md"], "there is no such file"),
        (["check", "-", "--profile", "strickt"], "did you mean 'strict'"),
        (["check", "-", "--format", "jsn"], "did you mean 'json'"),
        (["check", "-", "--no-such-option"], "No such option"),
        (["check", "-", "--schema", "none.json"], "cannot be read"),
        (["explain", "STE999"], "there is no rule"),
        (["profile", "show", "nothing"], "there is no profile"),
        (["profile", "new", "strict"], "is a shipped profile"),
        (["profile", "new", "a/b"], "is no profile name"),
        (["run", " "], "the prompt is empty"),
        (["run", "Go.", "--format", "xml"], "unknown format"),
        (["run", "Go.", "--base-url", "http://127.0.0.1:9/v1"], "does not answer"),
        (["frobnicate"], "No such command"),
    ],
)
def test_wrong_input_exits_two_and_says_what(args: list[str], said: str, tmp_path: Path) -> None:
    done = steguard(*args, text="x", cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_bytes_that_are_no_text_are_named_with_their_place(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"Open.\nThe \xff file.\n")
    done = steguard("check", str(file))
    assert (done.returncode, f"{file}:2:5: this is no UTF-8" in done.stderr) == (2, True)


# --- fix


def test_fix_writes_in_place_and_keeps_the_mode(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"Utilize the `utilize` tool.\r\nOpen the file.\r\n")
    file.chmod(0o640)
    done = steguard("fix", str(file))
    assert done.returncode == 0
    assert file.read_bytes() == b"Use the `utilize` tool.\r\nOpen the file.\r\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [file]


def test_diff_writes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("Utilize the tool.\nOpen the file.")
    done = steguard("fix", "--diff", "a.md", cwd=tmp_path)
    assert done.stdout.splitlines()[:2] == ["--- a/a.md", "+++ b/a.md"]
    assert "-Utilize the tool.\n+Use the tool.\n" in done.stdout
    assert file.read_text().startswith("Utilize")


def test_fix_of_standard_input_goes_to_standard_output() -> None:
    done = steguard("fix", "-", text="Utilize the tool. You should go.\n")
    assert done.stdout == "Use the tool. You should go.\n"
    assert done.returncode == 1
    assert "1 repairs, 1 findings remain" in done.stderr


# --- rules, explain, profile


def test_rules_and_explain() -> None:
    done = steguard("rules", "--format", "json")
    rules = {r["name"]: r for r in json.loads(done.stdout)["rules"]}
    assert rules["passive-voice"]["code"] == "STE306"
    assert "passive-voice" in steguard("rules", "-p", "strict").stdout
    for name in ("STE306", "passive-voice", "ste306"):
        assert "Source:" in steguard("explain", name).stdout
    assert "FMT101" in steguard("explain", "invalid-json").stdout
    assert "max (default: 20)" in steguard("explain", "sentence-length").stdout


def test_profile_commands(tmp_path: Path) -> None:
    assert "tool-call" in steguard("profile", "list").stdout
    assert "max_attempts: 3" in steguard("profile", "show", "strict").stdout
    assert steguard("profile", "show", "strict", "--prompt").stdout.startswith("You write text.")
    assert json.loads(steguard("profile", "schema").stdout)["title"] == "steguard profile"
    done = steguard("profile", "new", "mine", "--extends", "loose", cwd=tmp_path)
    assert done.returncode == 0
    assert steguard("profile", "check", "profiles/mine.yaml", cwd=tmp_path).returncode == 0
    assert steguard("check", "-", "-p", "mine", text=GOOD, cwd=tmp_path).returncode == 0
    again = steguard("profile", "new", "mine", cwd=tmp_path)
    assert (again.returncode, "exists already" in again.stderr) == (2, True)
    (tmp_path / "profiles" / "mine.yaml").write_text("extends: strict\nrulez: 1\n")
    broken = steguard("profile", "check", "profiles/mine.yaml", cwd=tmp_path)
    assert (broken.returncode, "mine.yaml:2:1: unknown key" in broken.stderr) == (2, True)


# --- run and demo against an endpoint


def test_run_gives_the_answer_and_the_report() -> None:
    with ScriptedModel([BAD, GOOD]) as model:
        done = steguard("run", "Go.", "--base-url", model.base_url, "--model", "m", "-v")
        assert (done.returncode, done.stdout) == (0, GOOD + "\n")
        assert "passed_after_retry, 2 attempts" in done.stderr
        assert "banned-words" in done.stderr
        report = json.loads(
            steguard("run", "-", "-f", "json", text="Go.", OPENAI_BASE_URL=model.base_url).stdout
        )
        assert (report["outcome"], model.requests[-1]["model"]) == ("passed", "scripted")


def test_run_exits_one_when_the_answer_breaks_the_rules() -> None:
    with ScriptedModel([BAD]) as model:
        done = steguard("run", "Go.", "--base-url", model.base_url, "--model", "m")
    assert (done.returncode, done.stdout.strip()) == (1, BAD.strip())
    assert "rejected" in done.stderr


def test_run_exits_two_when_the_endpoint_fails() -> None:
    with ScriptedModel([Scripted(status=401, body={"error": {"message": "no key"}})]) as model:
        done = steguard("run", "Go.", "--base-url", model.base_url, "--model", "m")
    assert (done.returncode, "AuthenticationError" in done.stderr) == (2, True)


def test_demo_shows_drafts_feedback_and_results() -> None:
    def model_says(request: dict[str, Any]) -> str:
        if "response_format" in request:
            return '{"action": "read", "target": "/etc/app", "reason": "Read the settings file."}'
        return BAD + GOOD

    with ScriptedModel(model_says) as model:
        done = steguard("demo", "--base-url", model.base_url)
    assert done.returncode == 0, done.stderr
    for part in (
        "Attempt 1",
        "Feedback to the model",
        "stripped",
        "passed",
        "The caller gets:",
        "Removed:",
    ):
        assert part in done.stdout, part
