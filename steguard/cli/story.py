"""Shows a guarded call to a person: drafts with the findings in place, feedback, the end."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from steguard.cli.formats import marked
from steguard.result import Attempt, GuardResult, Outcome

_SHOWN = 6

_COLOUR = {
    Outcome.PASSED: "bold green",
    Outcome.PASSED_AFTER_RETRY: "bold green",
    Outcome.STRIPPED: "bold yellow",
    Outcome.FIXED: "bold yellow",
}


def tell_attempt(attempt: Attempt, console: Console) -> None:
    """A draft, what is wrong with it, and the feedback that goes back."""
    tokens = attempt.usage.total_tokens
    count = len(attempt.findings)
    note = "no findings" if not count else f"{count} finding{'s' if count > 1 else ''}"
    head = f"Attempt {attempt.number}: {note} ({tokens} tokens, {attempt.latency:.1f} s)"
    console.print(Text(head, style="bold"))
    draft = marked(attempt.draft, [] if attempt.recovery else attempt.findings)
    if not attempt.draft.strip():
        draft = Text("(no text)", style="dim")
    console.print(Padding(draft, (0, 0, 0, 4)))
    for finding in attempt.findings[:_SHOWN]:
        words = " ".join(finding.excerpt.split())
        words = words if len(words) <= 50 else words[:47] + "..."
        line = Text("    ")
        line.append(f"{finding.code} {finding.rule}", style="red")
        line.append(f" [{words}] {finding.message}" if words else f" {finding.message}")
        console.print(line)
    if count > _SHOWN:
        console.print(Text(f"    and {count - _SHOWN} more", style="dim"))
    if attempt.feedback:
        lines = attempt.feedback.splitlines()
        console.print(Text("  Feedback to the model:", style="bold"))
        shown = "\n".join(lines[:14]) + ("\n[...]" if len(lines) > 14 else "")
        console.print(Padding(Text(shown, style="cyan"), (0, 0, 0, 4)))


def tell_result(result: GuardResult, console: Console) -> None:
    """The outcome in one line, with what it cost."""
    calls = len(result.attempts)
    line = Text("Result: ")
    line.append(result.outcome.value, style=_COLOUR.get(result.outcome, "bold red"))
    if result.reason:
        line.append(f" ({result.reason})")
    line.append(
        f", {calls} attempt{'s' if calls != 1 else ''}, "
        f"{result.usage.total_tokens} tokens, {result.seconds:.1f} s"
    )
    left = [f for f in result.findings if f.severity == "error"]
    if left:
        line.append(f", {len(left)} findings remain")
    console.print(line)
