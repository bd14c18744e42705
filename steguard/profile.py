"""A profile: one YAML file that says what to ask for, what to check and what to do then.

Profiles build on each other with ``extends``. Every fault is a :class:`ProfileError` with file,
line, column and the nearest valid name, and all faults of a file are told at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from steguard import resources, yamlfile
from steguard.errors import ProfileError
from steguard.profilespec import ProfileSpec
from steguard.rules.base import Options, Rule
from steguard.rules.custom import CUSTOM_TYPES, custom_rule
from steguard.rules.registry import all_rules, get_rule, unknown_rule
from steguard.ruleset import ActiveRule, RuleSet
from steguard.types import Severity, Status
from steguard.yamlfile import Marked


class Profile:
    """A profile whose every part was checked.

    ``spec`` holds the plain settings, ``rules`` the compiled rules, ``sections`` the rules of the
    named sections, ``origin`` the file it came from.
    """

    def __init__(self, spec: ProfileSpec, marked: Marked, origin: Path | None) -> None:
        self.spec = spec
        self.origin = origin
        self._marked = marked
        problems: list[ProfileError] = []
        self.active = _activate(spec, marked, problems)
        self.rules = RuleSet(self.active.values())
        self.sections = {
            name: RuleSet(
                _configure(
                    section.rules, spec, marked, ("sections", name, "rules"), problems, self.active
                ).values()
            )
            for name, section in spec.sections.items()
        }
        for pattern, section in spec.output.fields.items():
            if section not in self.sections and section not in ("default", "off"):
                valid = ["default", "off", *self.sections]
                problems.append(
                    marked.error(
                        f"unknown section '{section}'{yamlfile.nearest(section, valid)}",
                        ("output", "fields", pattern),
                    )
                )
        _raise_all(problems)

    @property
    def name(self) -> str:
        return self.spec.name

    def __repr__(self) -> str:
        return f"Profile({self.name!r}, {len(self.active)} rules)"

    def resolve(self, reference: str, key: tuple[str, ...]) -> Path:
        """The file that a path in the profile means: beside the profile, or where we run.

        Raises :class:`ProfileError` at the key's own place where there is no such file.
        """
        return _file(reference, self._marked, key, self.origin)

    def error(self, message: str, key: tuple[str, ...]) -> ProfileError:
        """An error at the place of this key."""
        return self._marked.error(message, key)

    def with_settings(self, settings: Mapping[str, Any]) -> Profile:
        """A copy with these keys laid over it, as in a file that extends it."""
        over = Marked(dict(settings), {(): yamlfile.Mark("<settings>", 1, 1)})
        return _build(_merge(self._marked, over), self.origin)


def load_profile(source: str | Path | Mapping[str, Any] | Profile) -> Profile:
    """A profile from a shipped name, a file, a mapping or a profile.

    A name is looked up among the shipped profiles and then as ``profiles/NAME.yaml`` in the
    working folder. Raises :class:`ProfileError`.
    """
    if isinstance(source, Profile):
        return source
    if isinstance(source, Mapping):
        marked = Marked(dict(source), {(): yamlfile.Mark("<profile>", 1, 1)})
        return _build(_extended(marked, None, ()), None)
    path = _find(str(source))
    return _build(_read(path, ()), path)


def profile_names() -> list[str]:
    """The names of the shipped profiles."""
    return resources.names("profiles", ".yaml")


def profile_schema() -> dict[str, Any]:
    """The JSON Schema of a profile file, for editors."""
    schema = ProfileSpec.model_json_schema()
    level = {"enum": ["error", "warning", "info", "off", True, False]}
    rules: dict[str, Any] = {}
    definitions = schema.setdefault("$defs", {})
    for rule in all_rules().values():
        options = rule.options.model_json_schema(ref_template="#/$defs/{model}")
        definitions.update(options.pop("$defs", {}))
        options.pop("title", None)
        properties = options.setdefault("properties", {})
        properties["severity"] = {"enum": ["error", "warning", "info"]}
        rules[rule.name] = {"description": rule.summary, "anyOf": [level, options]}
    custom = {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"enum": sorted(CUSTOM_TYPES)}},
    }
    definitions["rules"] = {"type": "object", "properties": rules, "additionalProperties": custom}
    for owner in (schema, definitions["SectionSpec"]):
        owner["properties"]["rules"] = {"$ref": "#/$defs/rules"}
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "steguard profile"
    return schema


def _find(name: str) -> Path:
    path = Path(name).expanduser()
    if path.suffix in (".yaml", ".yml") or path.is_file():
        if path.is_file():
            return path
        raise ProfileError(f"there is no profile file '{name}'", file=name)
    shipped = resources.folder("profiles") / f"{name}.yaml"
    local = Path("profiles") / f"{name}.yaml"
    for candidate in (shipped, local):
        if candidate.is_file():
            return candidate
    raise ProfileError(f"there is no profile '{name}'{yamlfile.nearest(name, profile_names())}")


def _read(path: Path, chain: tuple[Path, ...]) -> Marked:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"the profile cannot be read: {error}", file=str(path)) from None
    return _extended(yamlfile.parse(text, str(path)), path, chain)


def _extended(marked: Marked, path: Path | None, chain: tuple[Path, ...]) -> Marked:
    if marked.data is None:
        marked.data = {}
    if not isinstance(marked.data, dict):
        raise marked.error("a profile is a mapping of keys to values")
    parents = marked.data.get("extends") or []
    if isinstance(parents, str):
        parents = [parents]
    if not isinstance(parents, list) or not all(isinstance(item, str) for item in parents):
        raise marked.error("'extends' is a profile name or a list of them", ("extends",))
    chain = (*chain, path.resolve()) if path else chain
    result = Marked({}, {})
    for index, parent in enumerate(parents):
        beside = path.parent / parent if path else None
        try:
            found = beside if beside and beside.is_file() else _find(parent)
        except ProfileError as error:
            raise marked.error(error.message, ("extends", index)) from None
        if found.resolve() in chain:
            names = " -> ".join(p.stem for p in (*chain, found))
            raise marked.error(f"'extends' goes in a circle: {names}", ("extends", index))
        result = _merge(result, _read(found, chain))
    return _merge(result, marked)


def _merge(lower: Marked, upper: Marked) -> Marked:
    marks = {**lower.marks, **upper.marks}
    return Marked(_merged(lower.data, _normalise(upper.data)), marks)


def _merged(lower: Any, upper: Any) -> Any:
    if isinstance(lower, dict) and isinstance(upper, dict):
        both = {**lower, **upper}
        return {
            key: _merged(lower[key], value) if key in lower and key != "schema" else value
            for key, value in both.items()
        }
    return upper


def _normalise(data: dict[str, Any]) -> dict[str, Any]:
    """The short forms of rule settings as mappings, so that they merge."""
    result = dict(data)
    if isinstance(result.get("rules"), dict):
        result["rules"] = {name: _settings(value) for name, value in result["rules"].items()}
    if isinstance(result.get("sections"), dict):
        result["sections"] = {
            name: _normalise(section) if isinstance(section, dict) else section
            for name, section in result["sections"].items()
        }
    return result


def _settings(value: Any) -> Any:
    """A rule's short form (``off``, ``warning``, ``true``) as a mapping; YAML reads off as no."""
    if value is False or value == "off":
        return {"enabled": False}
    if value is True or value is None or value == "on":
        return {"enabled": True}
    if isinstance(value, str):
        return {"enabled": True, "severity": value}
    if isinstance(value, dict):
        return {"enabled": True, **value}
    return value


def _build(marked: Marked, origin: Path | None) -> Profile:
    try:
        spec = ProfileSpec.model_validate(marked.data)
    except ValidationError as error:
        _raise_all(_explain(error, marked, (), ProfileSpec))
        raise
    return Profile(spec, marked, origin)


def _explain(
    error: ValidationError, marked: Marked, prefix: tuple[str | int, ...], model: type[BaseModel]
) -> list[ProfileError]:
    found = []
    for item in error.errors(include_url=False):
        loc = tuple(item["loc"])
        if item["type"] == "extra_forbidden":
            key = str(loc[-1])
            valid = _fields_at(model, loc[:-1])
            message = f"unknown key '{key}'{yamlfile.nearest(key, valid)}"
        else:
            message = item["msg"].removeprefix("Value error, ")
            name = ".".join(str(part) for part in (*prefix, *loc))
            message = f"'{name}': {message}" if name else message
        found.append(marked.error(message, (*prefix, *loc)))
    return found


def _fields_at(model: type[BaseModel], loc: tuple[str | int, ...]) -> list[str]:
    current: Any = model
    for part in loc:
        field = (
            next((f for n, f in current.model_fields.items() if part in (n, f.alias)), None)
            if isinstance(current, type) and issubclass(current, BaseModel)
            else None
        )
        current = field.annotation if field else None
    if isinstance(current, type) and issubclass(current, BaseModel):
        return [field.alias or name for name, field in current.model_fields.items()]
    return []


def _activate(
    spec: ProfileSpec, marked: Marked, problems: list[ProfileError]
) -> dict[str, ActiveRule]:
    base: dict[str, ActiveRule] = {}
    for index, wanted in enumerate(spec.select):
        matched = [
            rule
            for rule in all_rules().values()
            if wanted in (rule.name, rule.code) or rule.code.startswith(wanted)
        ]
        if not matched:
            problems.append(marked.error(unknown_rule(wanted), ("select", index)))
        for rule in matched:
            named = wanted in (rule.name, rule.code)
            if named or spec.preview or rule.status is Status.STABLE:
                base[rule.name] = ActiveRule(rule, rule.options(), Severity(spec.severity))
    return _configure(spec.rules, spec, marked, ("rules",), problems, base)


def _configure(
    settings: Mapping[str, Any],
    spec: ProfileSpec,
    marked: Marked,
    path: tuple[str, ...],
    problems: list[ProfileError],
    base: Mapping[str, ActiveRule],
) -> dict[str, ActiveRule]:
    active = dict(base)
    for name, raw in settings.items():
        here = (*path, name)
        value = _settings(raw)
        if not isinstance(value, dict):
            problems.append(marked.error(f"'{name}' takes options, a severity or 'off'", here))
            continue
        options = dict(value)
        enabled = options.pop("enabled", True)
        severity = options.pop("severity", None)
        if severity is not None and severity not in tuple(Severity):
            hint = yamlfile.nearest(str(severity), [*Severity, "off"])
            problems.append(
                marked.error(f"unknown severity '{severity}'{hint}", (*here, "severity"))
            )
            continue
        try:
            rule = custom_rule(name, options.pop("type")) if "type" in options else get_rule(name)
        except KeyError as error:
            problems.append(marked.error(str(error.args[0]), here))
            continue
        if not enabled:
            active.pop(rule.name, None)
            continue
        old = active.get(rule.name)
        checked = _options(rule, old, options, marked, here, problems)
        if checked is not None:
            weight = severity or (old.severity if old else spec.severity)
            active[rule.name] = ActiveRule(rule, checked, Severity(weight))
    return active


def _options(
    rule: Rule,
    old: ActiveRule | None,
    new: dict[str, Any],
    marked: Marked,
    path: tuple[str, ...],
    problems: list[ProfileError],
) -> Options | None:
    inherited = old.options.model_dump(exclude_unset=True, by_alias=True) if old else {}
    try:
        checked = rule.options.model_validate({**inherited, **new})
        for name in rule.options.files:
            given = getattr(checked, name)
            if given is not None:
                found = str(_file(given, marked, (*path, name)))
                checked = checked.model_copy(update={name: found})
        if rule.options.files:
            rule.checker(checked)
    except ValidationError as error:
        problems.extend(_explain(error, marked, path, rule.options))
        return None
    except ProfileError as error:
        problems.append(error)
        return None
    return checked


def _file(reference: str, marked: Marked, key: tuple[str, ...], origin: Path | None = None) -> Path:
    """The file that a path in a profile means: beside the profile, or where we run."""
    mark = marked.mark(key)
    bases = [Path(mark.file).parent] if mark else []
    bases += [origin.parent] if origin else []
    for base in (*bases, Path.cwd()):
        candidate = (base / reference).expanduser()
        if candidate.is_file():
            return candidate
    raise marked.error(f"there is no file '{reference}'", key)


def _raise_all(problems: list[ProfileError]) -> None:
    if not problems:
        return
    first = problems[0]
    raise ProfileError(
        first.message,
        file=first.file,
        line=first.line,
        column=first.column,
        problems=[str(problem) for problem in problems[1:]],
    )
