"""Rules in a folder of YAML files, ``instructions/*.yaml``: the store that needs no database.

A fault in a file is an error with file, line and column, and all faults are told at once. The
file ``history.jsonl`` beside the rules keeps the hash of each published version, so that a
version that was changed in place is found.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from steguard.errors import ProfileError
from steguard.instructions.records import Instruction, Needs, Scope, version_key
from steguard.instructions.registry import (
    Binding,
    CaseRecord,
    Event,
    InstructionError,
    MemoryStore,
    Rollout,
)
from steguard.yamlfile import Mark, Marked, nearest, parse

HISTORY = "history.jsonl"
_LISTS = ("instructions", "bindings", "rollouts", "cases")
_KEYS = ("steguard", "defaults", *_LISTS)
T = TypeVar("T", bound=BaseModel)
_NESTED: dict[str, type[BaseModel]] = {"scope": Scope, "needs": Needs}


class Published(BaseModel):
    """A line of the history: a version with its hash, and a status that it got."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    version: str
    hash: str
    status: str
    at: float = Field(ge=0)


class FolderStore(MemoryStore):
    """The rules of a folder or of single files. The files are the truth: edit them.

    ``where`` has the place of each rule. Raises :class:`ProfileError` with every fault.
    """

    def __init__(
        self, paths: str | Path | Sequence[str | Path], *, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(clock=clock)
        given = [paths] if isinstance(paths, str | Path) else list(paths)
        self.files = _files(Path(path) for path in given)
        self.where: dict[str, Mark] = {}
        self.published = tuple(_read_history(self.files))
        self._problems: list[ProfileError] = []
        parsed = [(_parse(file)) for file in self.files]
        for marked in parsed:
            self._read_rules(marked)
        for marked in parsed:
            self._read_rest(marked)
        self._check_published()
        raise_all(self._problems)

    def move(self, event: Event) -> NoReturn:
        rule = self.get(event.instruction_id, event.version)
        place = show(self.where.get(rule.ref))
        raise InstructionError(
            f"{place}: the status of a rule in a file changes in the file; "
            f"write 'status: {event.after.value}' there"
        )

    def publish(self) -> int:
        """Keep the hash and status of each version that is new or moved; says how many."""
        last = {(p.id, version_key(p.version)): p.status for p in self.published}
        news = [
            Published(
                id=rule.instruction_id,
                version=rule.version,
                hash=rule.hash,
                status=rule.status.value,
                at=round(self._clock(), 3),
            )
            for rule in self.rules()
            if last.get((rule.instruction_id, version_key(rule.version))) != rule.status.value
        ]
        if news:
            path = self.files[0].parent / HISTORY
            with path.open("a", encoding="utf-8") as file:
                file.writelines(item.model_dump_json() + "\n" for item in news)
            self.published = (*self.published, *news)
        return len(news)

    def _read_rules(self, marked: Marked) -> None:
        if not self._check_top(marked):
            return
        defaults = marked.data.get("defaults") or {}
        if not isinstance(defaults, dict):
            self._problems.append(marked.error("'defaults' is a mapping", ("defaults",)))
            return
        for index, raw in enumerate(_listed(marked, "instructions", self._problems)):
            path = ("instructions", index)
            data = {**defaults, **raw} if isinstance(raw, dict) else raw
            rule = _validated(Instruction, data, marked, path, self._problems)
            if rule is not None:
                self._keep(rule, marked, path)

    def _keep(self, rule: Instruction, marked: Marked, path: tuple[str | int, ...]) -> None:
        mark = marked.mark((*path, "id")) or marked.mark(path)
        key = (rule.instruction_id, version_key(rule.version))
        if key in self._rules:
            first = show(self.where.get(self._rules[key].ref))
            self._problems.append(
                marked.error(
                    f"{rule.ref} stands at {first} already; give this one another version", path
                )
            )
            return
        self.add(rule, actor=rule.author or "config")
        if mark is not None:
            self.where[rule.ref] = mark

    def _read_rest(self, marked: Marked) -> None:
        if not isinstance(marked.data, dict):
            return
        kinds: dict[str, tuple[type[BaseModel], Callable[[Any], None]]] = {
            "bindings": (Binding, self.bind),
            "rollouts": (Rollout, self.set_rollout),
            "cases": (CaseRecord, self.add_case),
        }
        for name, (model, keep) in kinds.items():
            for index, raw in enumerate(_listed(marked, name, self._problems)):
                row = _validated(model, raw, marked, (name, index), self._problems)
                try:
                    if row is not None:
                        keep(row)
                except InstructionError as error:
                    self._problems.append(marked.error(str(error), (name, index)))

    def _check_top(self, marked: Marked) -> bool:
        if not isinstance(marked.data, dict) or "instructions" not in marked.data:
            message = "a file of rules is a mapping with the key 'instructions'"
            self._problems.append(marked.error(message))
            return False
        for key in marked.data:
            if key not in _KEYS:
                self._problems.append(
                    marked.error(f"unknown key '{key}'{nearest(key, _KEYS)}", (key,))
                )
        if marked.data.get("steguard", 1) != 1:
            self._problems.append(
                marked.error("this version of the file format is unknown; write 1", ("steguard",))
            )
        return True

    def _check_published(self) -> None:
        for item in self.published:
            rule = self._rules.get((item.id, version_key(item.version)))
            if rule is None or rule.hash == item.hash:
                continue
            at = self.where.get(rule.ref)
            self._problems.append(
                ProfileError(
                    f"{rule.ref} was published with other content and a version never changes; "
                    "give the new content a new version",
                    file=at.file if at else None,
                    line=at.line if at else None,
                    column=at.column if at else None,
                )
            )


def file_schema() -> dict[str, Any]:
    """The JSON Schema of a file of rules, for editors."""
    models: dict[str, type[BaseModel]] = {
        "instructions": Instruction,
        "bindings": Binding,
        "rollouts": Rollout,
        "cases": CaseRecord,
    }
    definitions: dict[str, Any] = {}
    properties: dict[str, Any] = {"steguard": {"const": 1}, "defaults": {"type": "object"}}
    for name, model in models.items():
        schema = model.model_json_schema(ref_template="#/$defs/{model}")
        definitions |= schema.pop("$defs", {})
        definitions[model.__name__] = schema
        properties[name] = {"type": "array", "items": {"$ref": f"#/$defs/{model.__name__}"}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "steguard instructions",
        "type": "object",
        "required": ["instructions"],
        "properties": properties,
        "additionalProperties": False,
        "$defs": definitions,
    }


def show(mark: Mark | None) -> str:
    """``file:line:column``."""
    return f"{mark.file}:{mark.line}:{mark.column}" if mark else "<memory>"


def raise_all(problems: Sequence[ProfileError]) -> None:
    """Raise one error that tells all of them."""
    if problems:
        first, *rest = problems
        raise ProfileError(
            first.message,
            file=first.file,
            line=first.line,
            column=first.column,
            problems=[str(problem) for problem in rest],
        )


def _files(paths: Iterable[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.iterdir() if p.suffix in (".yaml", ".yml"))
            if not inside:
                raise ProfileError(
                    "this folder has no rules; put a .yaml file into it", file=str(path)
                )
            found += inside
        elif path.is_file():
            found.append(path)
        else:
            raise ProfileError("there is no such file or folder", file=str(path))
    return found


def _parse(path: Path) -> Marked:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"the file cannot be read: {error}", file=str(path)) from None
    marked = parse(text, str(path))
    marked.data = _without_dates(marked.data)
    marked.marks.setdefault((), Mark(str(path), 1, 1))
    return marked


def _without_dates(data: Any) -> Any:
    """YAML reads 2026-01-31 as a date; in a rule it is text."""
    if isinstance(data, dict):
        return {key: _without_dates(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_without_dates(value) for value in data]
    return data.isoformat() if isinstance(data, date) else data


def _listed(marked: Marked, name: str, problems: list[ProfileError]) -> list[Any]:
    value = marked.data.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        problems.append(marked.error(f"'{name}' is a list", (name,)))
        return []
    return value


def _validated(
    model: type[T],
    raw: Any,
    marked: Marked,
    path: tuple[str | int, ...],
    problems: list[ProfileError],
) -> T | None:
    if not isinstance(raw, dict):
        problems.append(marked.error("an entry is a mapping of keys to values", path))
        return None
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        for item in error.errors(include_url=False):
            problems.append(_problem(item, model, marked, path))
        return None


def _problem(
    item: Any, model: type[BaseModel], marked: Marked, path: tuple[str | int, ...]
) -> ProfileError:
    loc = tuple(part for part in item["loc"] if part != "function-before")
    if item["type"] == "extra_forbidden":
        owner = _NESTED.get(str(loc[-2]), model) if len(loc) > 1 else model
        valid = [field.alias or name for name, field in owner.model_fields.items()]
        message = f"unknown key '{loc[-1]}'{nearest(str(loc[-1]), valid)}"
    elif item["type"] == "missing":
        message = f"the key '{loc[-1]}' is missing"
    else:
        hint = _hint(item)
        message = f"'{'.'.join(map(str, loc))}': {item['msg'].removeprefix('Value error, ')}{hint}"
    return marked.error(message, (*path, *loc))


def _hint(item: Any) -> str:
    if item["type"] == "enum" and isinstance(item["input"], str):
        valid = [
            part.strip(" '") for part in item["ctx"]["expected"].replace(" or ", ",").split(",")
        ]
        return nearest(item["input"], valid)
    return ""


def _read_history(files: Sequence[Path]) -> Iterable[Published]:
    for folder in dict.fromkeys(file.parent for file in files):
        path = folder / HISTORY
        if not path.is_file():
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                yield Published.model_validate(json.loads(line))
            except (ValueError, ValidationError):
                raise ProfileError(
                    "this line is no record of a version; restore the file",
                    file=str(path),
                    line=number,
                ) from None
