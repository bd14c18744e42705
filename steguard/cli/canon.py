"""``steguard canon``: check, read and write Canon messages, prompts and sentences."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steguard.cli.inputs import InputError, Source, read_file, read_sources
from steguard.yamlfile import nearest

if TYPE_CHECKING:
    from steguard.canon.exchange import Exchange
    from steguard.canon.lexicon import Lexicon
    from steguard.canon.registry import Registry
    from steguard.canon.verdict import Kind, Verdict

Files = Annotated[
    list[str], typer.Argument(help="Files, folders with .canon files, or - for standard input.")
]
File = Annotated[str, typer.Argument(help="A file, or - for standard input.")]
KindOption = Annotated[
    str | None,
    typer.Option("--kind", "-k", help="message, prompt or sentence; else the header decides."),
]
RegistryOption = Annotated[
    str | None, typer.Option("--registry", "-r", metavar="DIR", help="The folder of subject files.")
]
LexiconOption = Annotated[
    list[str] | None,
    typer.Option("--lexicon", "-l", help="A domain lexicon: a shipped name or a file."),
]
LanguageOption = Annotated[
    str | None,
    typer.Option("--language", help="The language of the keywords: en, zh or ja; else the text's."),
]
FormatOption = Annotated[str, typer.Option("--format", "-f", help="text or json.")]
StreamOption = Annotated[
    bool, typer.Option("--stream", help="Read more than one message, divided by ---.")
]


def build_app() -> typer.Typer:
    """The group of commands."""
    from steguard.cli import canontools, canonversions

    app = typer.Typer(
        help="Check, read and write Canon messages, prompts and sentences.", no_args_is_help=True
    )
    app.command("check")(check)
    app.command("parse")(parse)
    app.command("render")(render)
    app.command("fmt")(fmt)
    canonversions.add(app)
    canontools.add(app)
    return app


def check(
    files: Files,
    kind: KindOption = None,
    registry: RegistryOption = None,
    lexicon: LexiconOption = None,
    log: Annotated[
        str | None,
        typer.Option(
            "--log", metavar="FILE", help="The messages before: divided by ---, or JSON lines."
        ),
    ] = None,
    stream: StreamOption = False,
    language: LanguageOption = None,
    format: FormatOption = "text",
) -> None:
    """Check Canon texts. Exit status: 0 valid, 1 not valid, 2 usage or bad input."""
    from steguard.canon.verdict import judge

    one_of(format, ("text", "json"), "format")
    language_option(language)
    subjects, words = load_registry(registry), load_words(lexicon)
    before = read_log(log, words) if log else None
    checked = []
    for source in read_texts(files):
        verdict = judge(
            source.text,
            kind_option(kind),
            registry=subjects,
            lexicon=words,
            log=before,
            stream=stream,
            language=language,
        )
        checked.append((source, verdict))
    if format == "json":
        typer.echo(json.dumps(_report(checked), ensure_ascii=False))
    else:
        for source, verdict in checked:
            show(source, verdict)
    raise typer.Exit(0 if all(verdict.ok for _, verdict in checked) else 1)


def parse(
    file: File,
    kind: KindOption = None,
    registry: RegistryOption = None,
    lexicon: LexiconOption = None,
    stream: StreamOption = False,
    language: LanguageOption = None,
) -> None:
    """Print what a text means as JSON; with a registry the payload is typed.

    Exit status: 0 valid, 1 not valid (the findings go to standard error), 2 usage or bad input.
    """
    from steguard.canon.verdict import judge

    language_option(language)
    source = read_one(file)
    verdict = judge(
        source.text,
        kind_option(kind),
        registry=load_registry(registry),
        lexicon=load_words(lexicon),
        stream=stream,
        language=language,
    )
    if not verdict.ok:
        show(source, verdict, err=True)
        raise typer.Exit(1)
    values = [_value(value) for value in verdict.values]
    many = stream or len(values) != 1
    typer.echo(json.dumps(values if many else values[0], ensure_ascii=False, indent=2))


def render(
    file: File,
    language: LanguageOption = None,
    registry: RegistryOption = None,
    lexicon: LexiconOption = None,
) -> None:
    """Write the Canon text of a message in its JSON form.

    Exit status: 0 written, 1 the JSON is no valid message, 2 usage or bad input.
    """
    from steguard.canon.payload import to_text
    from steguard.canon.render import message_from_json, render_message
    from steguard.canon.verdict import judge

    language_option(language)
    source, words = read_one(file), load_words(lexicon)
    try:
        data = json.loads(source.text)
    except ValueError as error:
        raise InputError(f"{source.name}: this is no JSON: {error}") from None
    try:
        if not isinstance(data, dict):
            raise ValueError("a message in its JSON form is an object")
        message = message_from_json({**data, "payload": to_text(data.get("payload", {}))})
    except ValueError as error:
        typer.echo(f"{source.name}: {_short(error)}", err=True)
        raise typer.Exit(1) from None
    english = render_message(message)
    verdict = judge(english, "message", registry=load_registry(registry), lexicon=words)
    if not verdict.ok:
        show(Source(source.name, english, None), verdict, err=True)
        raise typer.Exit(1)
    typer.echo(render_message(message, language=language or "en", lexicon=words), nl=False)


def fmt(
    files: Files,
    only_check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit 1 where a file would change.")
    ] = False,
) -> None:
    """Write Canon texts in their usual form, in place; standard input goes to standard output.

    Exit status: 0 done, 1 a text is not valid or would change, 2 usage or bad input.
    """
    from steguard.canon.format import format_document, format_sentences
    from steguard.canon.verdict import judge
    from steguard.cli.fix import write_whole

    bad = False
    for source in read_texts(files):
        verdict = judge(source.text, stream=True)
        if not verdict.ok:
            show(source, verdict, err=True)
            bad = True
            continue
        sentences = verdict.kind == "sentence"
        new = format_sentences(source.text) if sentences else format_document(source.text)
        if source.path is None and not only_check:
            typer.echo(new, nl=False)
        elif new != source.text:
            bad = bad or only_check
            typer.echo(f"{source.name}: {'would change' if only_check else 'formatted'}")
            if not only_check and source.path is not None:
                write_whole(source.path, new)
    raise typer.Exit(1 if bad else 0)


# ---- what the commands share


def one_of(value: str, valid: Sequence[str], what: str) -> None:
    """Raise :class:`InputError` where an option has no valid value."""
    if value not in valid:
        raise InputError(f"unknown {what} '{value}'{nearest(value, valid)}")


def language_option(language: str | None) -> None:
    """Check the value of ``--language``."""
    if language is not None:
        one_of(language, ("en", "zh", "ja"), "language")


def kind_option(kind: str | None) -> Kind | None:
    """The value of ``--kind``."""
    from steguard.canon.verdict import KINDS

    if kind is None:
        return None
    one_of(kind, KINDS, "kind")
    return next(known for known in KINDS if known == kind)


def read_texts(arguments: Sequence[str]) -> Iterator[Source]:
    """The texts of files, of the ``.canon`` files in folders, and of standard input."""
    for argument in arguments:
        folder = Path(argument)
        if argument == "-" or not folder.is_dir():
            yield read_one(argument)
            continue
        files = sorted(folder.rglob("*.canon"))
        if not files:
            raise InputError(f"{argument}: this folder has no .canon files")
        yield from (read_file(file) for file in files)


def read_one(file: str) -> Source:
    """The one text that an argument names."""
    if file != "-" and Path(file).is_dir():
        raise InputError(f"{file}: this is a folder; name one file")
    return next(iter(read_sources([file])))


def load_registry(folder: str | None) -> Registry | None:
    """The registry of ``--registry``."""
    from steguard.canon.registry import Registry

    return None if folder is None else Registry.load(folder)


def load_words(names: Sequence[str] | None) -> Lexicon | None:
    """The lexicon of ``--lexicon``."""
    from steguard.canon.lexicon import load_lexicon

    return load_lexicon(*names) if names else None


def read_log(file: str, words: Lexicon | None) -> Exchange:
    """An exchange that has seen the messages of a log. Faults of the log itself are bad input."""
    from steguard.canon.exchange import Exchange
    from steguard.canon.message import parse_message
    from steguard.canon.metrics import read_log as events

    source = read_one(file)
    exchange = Exchange(lexicon=words)
    if not source.text.strip():
        return exchange
    for number, event in enumerate(events(source.text, source.name), 1):
        if not event.text or not event.valid:
            continue
        one = parse_message(event.text, lexicon=words)
        if one.message is None:
            first = one.findings[0]
            raise InputError(
                f"{source.name}: message {number} of the log is not valid: {first.message}"
            )
        exchange.remember(one.message)
    return exchange


def show(source: Source, verdict: Verdict, *, err: bool = False) -> None:
    """The findings with source lines and carets, then the verdict in one line."""
    from rich.console import Console
    from rich.text import Text

    from steguard.cli.formats import show_finding

    console = Console(stderr=err, highlight=False)
    lines = source.text.split("\n")
    for finding in verdict.findings:
        show_finding(finding, source.name, lines, console)
    if verdict.ok:
        console.print(Text(f"{source.name}: valid {verdict.kind}", style="green"), soft_wrap=True)
    else:
        count = f"{verdict.errors} error{'s' if verdict.errors != 1 else ''}"
        line = Text(f"{source.name}: no valid {verdict.kind}: {count}", style="red")
        console.print(line, soft_wrap=True)


def print_json(value: Any) -> None:
    """Print a value as JSON for people and programs."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def _report(checked: Sequence[tuple[Source, Verdict]]) -> dict[str, Any]:
    return {
        "valid": all(verdict.ok for _, verdict in checked),
        "texts": [
            {
                "file": source.name,
                "kind": verdict.kind,
                "valid": verdict.ok,
                "findings": [finding.to_dict() for finding in verdict.findings],
            }
            for source, verdict in checked
        ],
    }


def _value(value: Any) -> Any:
    from steguard.canon.prompt import CanonPrompt
    from steguard.canon.verdict import tree

    if not isinstance(value, CanonPrompt):
        return tree(value)
    return value.to_dict()


def _short(error: ValueError) -> str:
    """A fault of the JSON form in one line."""
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return str(error)
    items = error.errors(include_url=False)
    texts = []
    for item in items:
        place = "/".join(map(str, item["loc"])) or "message"
        texts.append(f"{place}: {item['msg'].removeprefix('Value error, ')}")
    return "; ".join(texts)
