"""The commands of ``steguard canon`` for hints, prompts, conversion and figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steguard.cli import canon as shared
from steguard.cli.canon import (
    File,
    FormatOption,
    LanguageOption,
    LexiconOption,
    RegistryOption,
)
from steguard.cli.inputs import InputError

if TYPE_CHECKING:
    from steguard.canon.lexicon import Lexicon
    from steguard.canon.model import Message
    from steguard.canon.registry import Registry


def add(app: typer.Typer) -> None:
    """Put the commands into the group."""
    app.command("hints")(hints)
    app.command("prompt")(prompt)
    app.command("convert")(convert)
    app.command("metrics")(metrics)


def hints(
    file: File,
    draft: Annotated[
        bool, typer.Option("--draft", help="Print a Canon prompt with what was found.")
    ] = False,
    format: FormatOption = "text",
) -> None:
    """Say how a free prompt becomes a Canon prompt, without a model.

    Exit status: 0 nothing to say, 1 hints, 2 usage or bad input.
    """
    from rich.console import Console

    from steguard.canon.hints import advise
    from steguard.cli.formats import show_finding

    shared.one_of(format, ("text", "json"), "format")
    source = shared.read_one(file)
    if not source.text.strip():
        raise InputError(f"{source.name}: the prompt is empty")
    advice = advise(source.text)
    if draft:
        typer.echo(advice.draft(), nl=False)
        return
    if format == "json":
        settings = dict(advice.settings)
        found = [finding.to_dict() for finding in advice.findings]
        shared.print_json({"hints": found, "settings": settings, "missing": list(advice.missing)})
    else:
        console = Console(highlight=False)
        lines = source.text.split("\n")
        for finding in advice.findings:
            show_finding(finding, source.name, lines, console)
        typer.echo(f"{source.name}: {len(advice.findings)} hints; --draft writes a Canon prompt")
    raise typer.Exit(1 if advice.findings else 0)


def prompt(
    file: File,
    bind: Annotated[
        list[str] | None,
        typer.Option("--bind", "-b", metavar="NAME=VALUE", help="A value for a placeholder."),
    ] = None,
    give: Annotated[
        list[str] | None,
        typer.Option("--input", "-i", metavar="NAME=FILE", help="The text of an input."),
    ] = None,
    answer: Annotated[
        str | None,
        typer.Option("--answer", metavar="FILE", help="Check this answer with the prompt's rules."),
    ] = None,
) -> None:
    """Print the chat messages of a Canon prompt as JSON, or check an answer with its rules.

    Exit status: 0 done, 1 the prompt is not valid or the answer breaks it, 2 usage or bad input.
    """
    from rich.console import Console

    from steguard.canon.prompt import parse_prompt
    from steguard.canon.verdict import Verdict
    from steguard.cli.formats import show_finding

    source = shared.read_one(file)
    read = parse_prompt(source.text)
    if read.prompt is None:
        shared.show(source, Verdict("prompt", read.findings), err=True)
        raise typer.Exit(1)
    ready = read.prompt.bind(**_pairs(bind, "--bind"))
    if answer is None:
        texts = {n: shared.read_one(f).text for n, f in _pairs(give, "--input").items()}
        shared.print_json(ready.messages(texts))
        return
    draft = shared.read_one(answer)
    verdict = ready.contract().check(draft.text)
    console = Console(highlight=False)
    for finding in verdict.findings:
        show_finding(finding, draft.name, verdict.text.split("\n"), console)
    typer.echo(f"{draft.name}: {'obeys the prompt' if verdict.passed else 'breaks the prompt'}")
    raise typer.Exit(0 if verdict.passed else 1)


TARGETS = ("json", "en", "zh", "ja", "http", "sql", "template", "a2a", "mcp")


def convert(
    file: File,
    to: Annotated[str, typer.Option("--to", help=f"{', '.join(TARGETS)}.")],
    mapping: Annotated[
        str | None, typer.Option("--mapping", metavar="FILE", help="For sql and http.")
    ] = None,
    registry: RegistryOption = None,
    lexicon: LexiconOption = None,
    language: LanguageOption = None,
) -> None:
    """Convert a message to another form.

    Exit status: 0 done, 1 the message is not valid or has no such form, 2 usage or bad input.
    """
    from steguard.canon.bridges import BridgeError
    from steguard.canon.generate import GenerationError
    from steguard.canon.message import parse_message
    from steguard.canon.translate import language_of
    from steguard.canon.verdict import Verdict

    shared.one_of(to, TARGETS, "form")
    shared.language_option(language)
    if to in ("sql", "http") and mapping is None:
        raise InputError(f"--to {to} needs --mapping FILE")
    source = shared.read_one(file)
    subjects, words = shared.load_registry(registry), shared.load_words(lexicon)
    spoken = language or language_of(source.text)
    read = parse_message(source.text, lexicon=words, language=spoken)
    if read.message is None:
        shared.show(source, Verdict("message", read.findings), err=True)
        raise typer.Exit(1)
    try:
        typer.echo(_converted(read.message, to, mapping, subjects, words), nl=False)
    except (BridgeError, GenerationError) as error:
        typer.echo(f"{source.name}: {error}", err=True)
        raise typer.Exit(1) from None


def metrics(
    file: Annotated[str, typer.Argument(help="A log: JSON lines, or messages divided by ---.")],
    registry: RegistryOption = None,
    lexicon: LexiconOption = None,
    format: FormatOption = "text",
) -> None:
    """Print the figures of a log: parse success, interception, compliance, retries, latency.

    Exit status: 0 every valid message was read and every faulty one was refused, 1 not, 2 usage
    or bad input.
    """
    from steguard.canon.metrics import measure, read_log

    shared.one_of(format, ("text", "json"), "format")
    source = shared.read_one(file)
    events = read_log(source.text, source.name)
    if not events:
        raise InputError(f"{source.name}: the log is empty")
    words = shared.load_words(lexicon)
    figures = measure(events, registry=shared.load_registry(registry), lexicon=words)
    if format == "json":
        shared.print_json(figures.to_dict())
    else:
        for name, value in figures.to_dict().items():
            typer.echo(f"{name:20s} {_figure(value)}")
    good = figures.parsed == figures.messages and not figures.missed
    raise typer.Exit(0 if good else 1)


def _figure(value: Any) -> str:
    if value is None or value == []:
        return "-"
    if isinstance(value, dict):
        return ", ".join(f"{key} {number * 1000:.3f} ms" for key, number in value.items())
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)


def _converted(
    message: Message,
    to: str,
    mapping: str | None,
    registry: Registry | None,
    lexicon: Lexicon | None,
) -> str:
    from steguard.canon import generate
    from steguard.canon.render import message_json, render_message

    def dumped(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, indent=2) + "\n"

    def to_sql() -> str:
        statement: Any = generate.to_sql(message, generate.load_mapping(mapping or ""), registry)
        compiled = statement.compile()
        values = {
            k: v if isinstance(v, int | float | None) else str(v)
            for k, v in (compiled.params or {}).items()
        }
        return f"{compiled}\n\n-- {json.dumps(values, ensure_ascii=False)}\n"

    def to_a2a() -> str:
        from steguard.canon.bridges.a2a import as_json

        return dumped(as_json(message))

    def to_mcp() -> str:
        from steguard.canon.bridges.mcp import CALLS, to_mcp_call, to_mcp_result

        made: Any = (to_mcp_call if message.action in CALLS else to_mcp_result)(message, registry)
        return dumped(made.model_dump(mode="json", by_alias=True, exclude_none=True))

    ways: Mapping[str, Callable[[], str]] = {
        "json": lambda: dumped(_json(message, registry) if registry else message_json(message)),
        "template": lambda: generate.to_template(message),
        "http": lambda: dumped(
            generate.to_http(message, generate.load_mapping(mapping or ""), registry)
        ),
        "sql": to_sql,
        "a2a": to_a2a,
        "mcp": to_mcp,
    }
    if to in ways:
        return ways[to]()
    return render_message(message, language=to, lexicon=lexicon)


def _json(message: Message, registry: Registry) -> dict[str, Any]:
    from steguard.canon.generate.values import values_of
    from steguard.canon.payload import to_json
    from steguard.canon.render import message_json

    return {**message_json(message), "payload": to_json(values_of(message, registry))}


def _pairs(given: list[str] | None, option: str) -> dict[str, str]:
    pairs = {}
    for one in given or ():
        name, mark, value = one.partition("=")
        if not mark or not name:
            raise InputError(f"{option} takes NAME=VALUE and not '{one}'")
        pairs[name] = value
    return pairs
