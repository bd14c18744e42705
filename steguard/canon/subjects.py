"""A subject: what a message can be about, and the payload of each action on it.

A subject stands in one YAML file, which all agents share::

    canon-subject: v1.0
    subject: inventory_check
    version: v1.1
    actions:
      request:
        sku: <text>
        quantity: {type: <int>, min: 1, unit: pieces}
      report:
        sku: <text>
        available: <int>
        note: {type: <text>, required: false}

A field can be a group: ``{fields: {street: <text>}}``, or with ``many: true`` a list of groups.
``payload:`` beside ``actions:`` holds the fields of every action that ``actions:`` does not name.
The answers that every subject can get (confirm, reject, cancel, retry, complete, fail) have
fields of their own where the file says nothing of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from steguard.canon.model import TypeRef, Version
from steguard.canon.payload import Fields, PayloadField, object_schema
from steguard.yamlfile import nearest


def _texts(*names: str, required: tuple[str, ...] = ()) -> dict[str, PayloadField]:
    return {name: PayloadField(name, TypeRef("text"), required=name in required) for name in names}


CONTROL: Mapping[str, Fields] = {
    "confirm": _texts("detail"),
    "reject": _texts("reason", "detail", required=("reason",)),
    "cancel": _texts("reason"),
    "retry": _texts("reason"),
    "complete": _texts("detail"),
    "fail": _texts("reason", "field", "expected", "got", "detail", required=("reason",)),
}
"""The payload of an action that every subject has, where the subject's file says nothing of it."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One version of a subject. ``payload`` is None where only the named actions are there."""

    name: str
    version: Version
    actions: Mapping[str, Fields]
    payload: Fields | None = None
    description: str = ""
    file: str = field(default="<subject>", compare=False)

    def fields(self, action: str) -> Fields | None:
        """The payload of an action, or None where the subject has no such action."""
        if action in self.actions:
            return self.actions[action]
        if action in CONTROL:
            return CONTROL[action]
        return self.payload

    def json_schema(self, action: str) -> dict[str, Any]:
        """The JSON Schema of the typed payload of an action. Raises ``KeyError``."""
        fields = self.fields(action)
        if fields is None:
            raise KeyError(
                f"'{self.name}' has no action '{action}'{nearest(action, list(self.actions))}"
            )
        return object_schema(fields)


def read_version(text: str) -> Version:
    """``v1.0`` or ``1.0``. Raises ``ValueError``."""
    version = Version.parse(text if text.startswith("v") else f"v{text}")
    if version is None:
        raise ValueError(f"'{text}' is no version; write it as v1.0")
    return version
