"""The further commands of ``steguard canon``: schemas, versions, hints, conversion, figures."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steguard.cli import canon as shared
from steguard.cli.canon import (
    File,
    FormatOption,
    KindOption,
    LanguageOption,
    LexiconOption,
    RegistryOption,
)
from steguard.cli.inputs import InputError

if TYPE_CHECKING:
    from steguard.canon.lexicon import Lexicon
    from steguard.canon.model import Message
    from steguard.canon.registry import Registry
    from steguard.canon.versions import Offer


def add(app: typer.Typer) -> None:
    """Put the commands into the group."""
    app.command("schema")(schema)
    app.command("compat")(compat)
    app.command("negotiate")(negotiate)
    app.command("doctor")(doctor)
    app.command("hints")(hints)
    app.command("prompt")(prompt)
    app.command("convert")(convert)
    app.command("metrics")(metrics)


def schema(
    registry: RegistryOption = None,
    lexicon: LexiconOption = None,
    subject: Annotated[str | None, typer.Option(help="Only the payload of this subject.")] = None,
    action: Annotated[str | None, typer.Option(help="The action of that subject.")] = None,
    version: Annotated[
        str | None, typer.Option(help="The version of that subject; else the newest.")
    ] = None,
) -> None:
    """Print the JSON Schema of messages, or of one payload."""
    from steguard.canon.messageschema import message_schema
    from steguard.canon.subjects import read_version

    subjects = shared.load_registry(registry)
    if subjects is None:
        if subject or action or version:
            raise InputError("name the folder of subjects with --registry")
        _print(message_schema(shared.load_words(lexicon)))
        return
    if subject is None:
        if action or version:
            raise InputError("name the subject with --subject")
        _print(subjects.message_schema())
        return
    if action is None:
        raise InputError("name the action with --action")
    try:
        wanted = read_version(version) if version else None
        _print(subjects.subject(subject, wanted).json_schema(action))
    except (KeyError, ValueError) as error:
        raise InputError(str(error.args[0])) from None


def compat(
    old: Annotated[str, typer.Argument(help="The old subject file or registry folder.")],
    new: Annotated[str, typer.Argument(help="The new subject file or registry folder.")],
    mode: Annotated[str, typer.Option("--mode", "-m", help="backward, forward or full.")] = "full",
    format: FormatOption = "text",
) -> None:
    """Say whether two versions of subjects understand each other, and which field breaks.

    Backward: the new version reads what the old one sends. Forward: the old version reads what
    the new one sends. Exit status: 0 compatible, 1 not, 2 usage or bad input.
    """
    from steguard.canon.compatibility import Mode, compare

    modes: tuple[Mode, ...] = ("backward", "forward", "full")
    shared.one_of(mode, modes, "mode")
    shared.one_of(format, ("text", "json"), "format")
    chosen = next(known for known in modes if known == mode)
    before, after = _subjects(old), _subjects(new)
    common = sorted(before.subjects.keys() & after.subjects.keys())
    lost = sorted(before.subjects.keys() - after.subjects.keys()) if mode != "forward" else []
    if not common and not lost:
        raise InputError("the two sides have no subject in common")
    reports = []
    for name in common:
        both = compare(before.versions(name)[0], after.versions(name)[0])
        reports.append((name, both, both.breaks(chosen)))
    bad = bool(lost) or any(breaks for _, _, breaks in reports)
    if format == "json":
        _print(
            {
                "compatible": not bad,
                "lost": lost,
                "subjects": {
                    name: {
                        "old": str(both.old.version),
                        "new": str(both.new.version),
                        "backward": both.backward,
                        "forward": both.forward,
                        "breaks": [
                            {
                                "direction": "backward" if b in both.backward_breaks else "forward",
                                "action": b.action,
                                "field": b.field,
                                "message": b.message,
                                "example": b.example,
                            }
                            for b in breaks
                        ],
                    }
                    for name, both, breaks in reports
                },
            }
        )
        raise typer.Exit(1 if bad else 0)
    for name in lost:
        typer.echo(f"{name}: the new side does not have it")
    for name, both, breaks in reports:
        state = f"not {mode} compatible" if breaks else f"{mode} compatible"
        typer.echo(f"{name} {both.old.version} -> {both.new.version}: {state}")
        for one in breaks:
            way = "backward" if one in both.backward_breaks else "forward"
            field = f" '{one.field}'" if one.field else ""
            typer.echo(f"  {way}: {one.action}{field}: {one.message}")
    raise typer.Exit(1 if bad else 0)


def negotiate(
    ours: Annotated[
        str | None, typer.Argument(help="Our offer, lexicon file or registry folder.")
    ] = None,
    theirs: Annotated[
        str | None, typer.Argument(help="Their offer, lexicon file or registry folder.")
    ] = None,
    registry: RegistryOption = None,
    lexicon: LexiconOption = None,
    only_offer: Annotated[
        bool, typer.Option("--offer", help="Print our own offer as JSON, to send it.")
    ] = False,
    format: FormatOption = "text",
) -> None:
    """Find the highest versions that two sides read.

    Exit status: 0 they can talk, 1 no version of Canon is common, 2 usage or bad input.
    """
    from steguard.canon.lexicon import core
    from steguard.canon.versions import negotiate as agree
    from steguard.canon.versions import offer

    shared.one_of(format, ("text", "json"), "format")
    mine = offer(shared.load_words(lexicon) or core(), shared.load_registry(registry))
    if only_offer:
        _print(mine.to_dict())
        return
    if ours is None:
        raise InputError("name the other side, or both sides; or use --offer")
    sides = (mine, _offer(ours)) if theirs is None else (_offer(ours), _offer(theirs))
    agreement = agree(*sides)
    if format == "json":
        _print(agreement.to_dict())
    else:
        typer.echo(f"Canon: {agreement.canon or 'no common version'}")
        for name, version in (*agreement.lexicons.items(), *agreement.subjects.items()):
            typer.echo(f"{name}: {version}")
        typer.echo(f"verbs: {', '.join(agreement.verbs) or 'none'}")
        for line in agreement.differences:
            typer.echo(f"difference: {line}")
    raise typer.Exit(0 if agreement.ok else 1)


def doctor(
    file: File,
    kind: KindOption = None,
    registry: RegistryOption = None,
    lexicon: LexiconOption = None,
    theirs: Annotated[
        list[str] | None,
        typer.Option(
            "--theirs", metavar="DIR|FILE", help="Their registry folder or lexicon file; repeat it."
        ),
    ] = None,
    raw: Annotated[bool, typer.Option("--raw/--no-raw", help="Show the bytes.")] = True,
    format: FormatOption = "text",
) -> None:
    """Show the exact text with its bytes and invisible characters, and compare two sides.

    Exit status: 0 valid, 1 not valid, 2 usage or bad input.
    """
    from steguard.canon.doctor import compare_sides, examine
    from steguard.canon.lexicon import core

    shared.one_of(format, ("text", "json"), "format")
    subjects, words = shared.load_registry(registry), shared.load_words(lexicon)
    differences = compare_sides((words or core(), subjects), _side(theirs)) if theirs else []
    found = examine(
        _bytes(file),
        kind=shared.kind_option(kind),
        registry=subjects,
        lexicon=words,
        differences=differences,
    )
    if format == "json":
        _print(found.to_dict())
    else:
        typer.echo(found.show(raw=raw))
    raise typer.Exit(0 if found.valid else 1)


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
        _print({"hints": found, "settings": settings, "missing": list(advice.missing)})
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
        _print(ready.messages(texts))
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
        _print(figures.to_dict())
    else:
        for name, value in figures.to_dict().items():
            typer.echo(f"{name:20s} {_figure(value)}")
    good = figures.parsed == figures.messages and not figures.missed
    raise typer.Exit(0 if good else 1)


def _bytes(file: str) -> bytes:
    """The bytes of a file, whatever they are."""
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from None


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


def _subjects(place: str) -> Registry:
    from steguard.canon.registry import Registry
    from steguard.canon.subjectfile import read_subject_file

    path = Path(place)
    return Registry.load(path) if path.is_dir() else Registry.of([read_subject_file(path)])


def _side(places: list[str] | None) -> tuple[Lexicon, Registry | None]:
    from steguard.canon.lexicon import load_lexicon

    folders = [place for place in places or () if Path(place).is_dir()]
    if len(folders) > 1:
        raise InputError("name one registry folder of the other side")
    files = [place for place in places or () if place not in folders]
    return load_lexicon(*files), shared.load_registry(folders[0]) if folders else None


def _offer(place: str) -> Offer:
    from steguard.canon.versions import Offer, offer

    if place.endswith(".json") or place == "-":
        source = shared.read_one(place)
        try:
            return Offer.from_dict(json.loads(source.text), source.name)
        except json.JSONDecodeError as error:
            raise InputError(f"{source.name}: this is no JSON: {error}") from None
    return offer(*_side([place]))


def _pairs(given: list[str] | None, option: str) -> dict[str, str]:
    pairs = {}
    for one in given or ():
        name, mark, value = one.partition("=")
        if not mark or not name:
            raise InputError(f"{option} takes NAME=VALUE and not '{one}'")
        pairs[name] = value
    return pairs


def _print(value: Any) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))
