"""The commands of ``steguard canon`` for schemas, versions and trouble between two sides."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steguard.cli import canon as shared
from steguard.cli.canon import File, FormatOption, KindOption, LexiconOption, RegistryOption
from steguard.cli.inputs import InputError

if TYPE_CHECKING:
    from steguard.canon.compatibility import Compatibility
    from steguard.canon.lexicon import Lexicon
    from steguard.canon.registry import Registry
    from steguard.canon.versions import Offer


def add(app: typer.Typer) -> None:
    """Put the commands into the group."""
    app.command("schema")(schema)
    app.command("compat")(compat)
    app.command("negotiate")(negotiate)
    app.command("doctor")(doctor)


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
        shared.print_json(message_schema(shared.load_words(lexicon)))
        return
    if subject is None:
        if action or version:
            raise InputError("name the subject with --subject")
        shared.print_json(subjects.message_schema())
        return
    if action is None:
        raise InputError("name the action with --action")
    try:
        wanted = read_version(version) if version else None
        shared.print_json(subjects.subject(subject, wanted).json_schema(action))
    except (KeyError, ValueError) as error:
        raise InputError(str(error.args[0])) from None


def compat(
    old: Annotated[str, typer.Argument(help="The old subject file or registry folder.")],
    new: Annotated[
        str | None,
        typer.Argument(help="The new one; without it, the versions of one folder in turn."),
    ] = None,
    mode: Annotated[str, typer.Option("--mode", "-m", help="backward, forward or full.")] = "full",
    format: FormatOption = "text",
) -> None:
    """Say whether two versions of subjects understand each other, and which field breaks.

    Backward: the new version reads what the old one sends. Forward: the old version reads what
    the new one sends. Exit status: 0 compatible, 1 not, 2 usage or bad input.
    """
    from steguard.canon.compatibility import Mode

    modes: tuple[Mode, ...] = ("backward", "forward", "full")
    shared.one_of(mode, modes, "mode")
    shared.one_of(format, ("text", "json"), "format")
    chosen = next(known for known in modes if known == mode)
    before, after = _subjects(old), _subjects(new) if new else None
    gone = before.subjects.keys() - after.subjects.keys() if after else set()
    lost = sorted(gone) if mode != "forward" else []
    compared = _compared(before, after)
    if not compared and not lost:
        two = "the two sides have no subject in common"
        raise InputError(two if new else "no subject here has two versions; name the new side too")
    bad = bool(lost) or any(both.breaks(chosen) for both in compared)
    if format == "json":
        reports = [both.to_dict(chosen) for both in compared]
        shared.print_json({"compatible": not bad, "lost": lost, "compared": reports})
        raise typer.Exit(1 if bad else 0)
    for name in lost:
        typer.echo(f"{name}: the new side does not have it")
    for both in compared:
        state = "not " if both.breaks(chosen) else ""
        versions = f"{both.old.version} -> {both.new.version}"
        typer.echo(f"{both.new.name} {versions}: {state}{mode} compatible")
        for one in both.breaks(chosen):
            way = "backward" if one in both.backward_breaks else "forward"
            field = f" '{one.field}'" if one.field else ""
            typer.echo(f"  {way}: {one.action}{field}: {one.message}")
    raise typer.Exit(1 if bad else 0)


def _compared(before: Registry, after: Registry | None) -> list[Compatibility]:
    """The newest versions of both sides, or each version of one side with the one before it."""
    from steguard.canon.compatibility import compare

    if after is not None:
        common = sorted(before.subjects.keys() & after.subjects.keys())
        return [compare(before.versions(name)[0], after.versions(name)[0]) for name in common]
    return [
        compare(older, newer)
        for versions in before.subjects.values()
        for newer, older in reversed(list(itertools.pairwise(versions)))
    ]


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
        shared.print_json(mine.to_dict())
        return
    if ours is None:
        raise InputError("name the other side, or both sides; or use --offer")
    sides = (mine, _offer(ours)) if theirs is None else (_offer(ours), _offer(theirs))
    agreement = agree(*sides)
    if format == "json":
        shared.print_json(agreement.to_dict())
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
        shared.print_json(found.to_dict())
    else:
        typer.echo(found.show(raw=raw))
    raise typer.Exit(0 if found.valid else 1)


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


def _bytes(file: str) -> bytes:
    """The bytes of a file, whatever they are."""
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from None
