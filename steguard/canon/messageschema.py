"""The JSON Schema of the JSON form of a message."""

from __future__ import annotations

from typing import Any

from steguard.canon.lexicon import Lexicon
from steguard.canon.model import ADDRESS, FIELDS, MAX_NAME

_NAME = r"^[^\s!-,/:-@\[-^`{-~0-9.-][^\s!-,/:-@\[-^`{-~]*$"
"""A name, said by what it does not hold: ``\\w`` is ASCII in the regex of JSON Schema."""

_WITHIN = (
    r"^(?:1 (?:second|minute|hour)|[1-9][0-9]{0,6} (?:second|minute|hour)s"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(?:\.[0-9]{1,6})?(?:Z|[+-][0-9]{2}:[0-9]{2}))$"
)


def message_schema(lexicon: Lexicon | None = None) -> dict[str, Any]:
    """The schema, draft 2020-12. With a lexicon, ``action`` is one of its verbs.

    It says what JSON Schema can say; :class:`~steguard.canon.model.Message` also checks that a
    message does not reply to itself and that a condition has a meaning.
    """
    address = {"type": "string", "pattern": f"^{ADDRESS}$", "maxLength": MAX_NAME}
    name = {"type": "string", "pattern": _NAME, "maxLength": MAX_NAME}
    action: dict[str, Any] = dict(name)
    if lexicon is not None:
        action = {"enum": list(lexicon.verbs)}
    properties: dict[str, Any] = {
        "canon-message": {"type": "string", "pattern": r"^v(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)$"},
        "from": {**address, "description": "Who sends the message."},
        "to": {**address, "description": "Who gets the message."},
        "msg_id": {**address, "description": "The id of the message."},
        "action": {**action, "description": "What the message does: a verb."},
        "subject": {**name, "description": "What it is about; it gives the payload its meaning."},
        "payload": {"$ref": "#/$defs/mapping"},
        "within": {"type": "string", "pattern": _WITHIN},
        "reply_to": {**address, "description": "The id of the message that this one answers."},
        "if": {"type": "string", "minLength": 1, "description": "A condition."},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "canon-message",
        "type": "object",
        "properties": {key: properties[key] for key in FIELDS},
        "required": list(FIELDS[:6]),
        "additionalProperties": False,
        "$defs": {
            "scalar": {"type": ["string", "number", "boolean"]},
            "mapping": {
                "type": "object",
                "propertyNames": {"minLength": 1, "maxLength": MAX_NAME},
                "additionalProperties": {
                    "anyOf": [
                        {"$ref": "#/$defs/scalar"},
                        {"$ref": "#/$defs/mapping"},
                        {
                            "type": "array",
                            "items": {
                                "anyOf": [{"$ref": "#/$defs/scalar"}, {"$ref": "#/$defs/mapping"}]
                            },
                        },
                    ]
                },
            },
        },
    }


def inner_schema() -> dict[str, Any]:
    """The schema without references, to stand inside another one; the payload is any mapping."""
    schema = message_schema()
    del schema["$schema"], schema["$defs"]
    schema["properties"]["payload"] = {"type": "object"}
    return schema
