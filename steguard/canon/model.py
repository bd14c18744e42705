"""What Canon text means: messages, the sentences, conditions, times, placeholders and types.

Everything here is immutable and says nothing about text positions; the parsers make these objects
and :mod:`steguard.canon.render` writes them. Two objects are equal when they mean the same.

::

    Sentence = Request | Report | Query | Decision | Notice | Ack | Failure | Duty | Conditional
    Condition = Compare | Member | Not | And | Or
    Value = str | int | float | bool | date | Placeholder | TypeRef | list | dict  (payload)
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    field_serializer,
    field_validator,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

NAME = r"[^\W\d][\w]*(?:[.-]\w+)*"
"""A name of a target, subject, attribute, event or parameter: letters, digits, ``_ . -``."""

ADDRESS = r"[A-Za-z0-9_](?:[A-Za-z0-9_.:/@+-]*[A-Za-z0-9_/])?"
"""An agent or a message id: ASCII only, so that two that look alike are alike."""

FIELDS = (
    "canon-message",
    "from",
    "to",
    "msg_id",
    "action",
    "subject",
    "payload",
    "within",
    "reply_to",
    "if",
)
"""The fields of a message in the order in which they are written."""

ID_HINT = "Write ASCII letters, digits and '_ . : / @ + -'."

MAX_NAME = 128
MAX_DIGITS = 100
MAX_AMOUNT = 9_999_999

_ADDRESS = re.compile(ADDRESS)
_NAME = re.compile(NAME)
_VERSION = re.compile(r"v(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})")


def _read_version(text: str) -> Version:
    found = Version.parse(text)
    if found is None:
        raise ValueError("a version is written as 'v1.0'")
    return found


def _read_within(text: str) -> Within:
    from steguard.canon.times import read_within

    return read_within(text)


def _text_schema(cls: type, read: Any, pattern: str | None) -> CoreSchema:
    """A pydantic schema of a class whose JSON form is a text."""
    from_text = core_schema.no_info_after_validator_function(
        read, core_schema.str_schema(pattern=f"^{pattern}$" if pattern else None)
    )
    return core_schema.json_or_python_schema(
        json_schema=from_text,
        python_schema=core_schema.union_schema([core_schema.is_instance_schema(cls), from_text]),
        serialization=core_schema.to_string_ser_schema(),
    )


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A version ``vMAJOR.MINOR``; ``v1.10`` is later than ``v1.9``."""

    major: int
    minor: int

    @classmethod
    def parse(cls, text: str) -> Version | None:
        """The version that the text is, or None."""
        found = _VERSION.fullmatch(text)
        return cls(int(found[1]), int(found[2])) if found else None

    def __str__(self) -> str:
        return f"v{self.major}.{self.minor}"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return _text_schema(cls, _read_version, _VERSION.pattern)


@dataclass(frozen=True, slots=True)
class Within:
    """A time limit: an amount of a unit (``30 seconds``), or an instant with an offset.

    ``unit`` is ``second``, ``minute`` or ``hour``. ``instant`` is the RFC 3339 text as written;
    ``when`` is the same as a ``datetime``.
    """

    amount: int = 0
    unit: str = ""
    instant: str = ""

    @property
    def when(self) -> dt.datetime | None:
        return dt.datetime.fromisoformat(self.instant) if self.instant else None

    @property
    def seconds(self) -> int | None:
        """The length in seconds; None for an instant."""
        return None if self.instant else self.amount * _SECONDS[self.unit]

    def deadline(self, start: dt.datetime) -> dt.datetime:
        """The instant at which the limit ends for what starts at ``start`` (with a time zone)."""
        return self.when or start + dt.timedelta(seconds=self.seconds or 0)

    def __str__(self) -> str:
        if self.instant:
            return self.instant
        return f"{self.amount} {self.unit}" + ("s" if self.amount != 1 else "")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return _text_schema(cls, _read_within, None)


_SECONDS = {"second": 1, "minute": 60, "hour": 3600}


@dataclass(frozen=True, slots=True)
class Placeholder:
    """``[name]``: a value that is still to be filled in."""

    name: str

    def __str__(self) -> str:
        return f"[{self.name}]"


@dataclass(frozen=True, slots=True)
class TypeRef:
    """``<int>``, ``<enum:a|b>`` ...: the type of a value that is still to be filled in.

    ``kind`` is ``int float bool date path text enum``; ``members`` are those of an enum.
    :mod:`steguard.canon.types` reads a text as a value of a type.
    """

    kind: str
    members: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"<{self.kind}:{'|'.join(self.members)}>" if self.members else f"<{self.kind}>"


Literals = int | float | bool | str | dt.date
"""A literal in a condition."""

Value = str | Placeholder | TypeRef
"""The value in a sentence."""


@dataclass(frozen=True, slots=True)
class Compare:
    """``NAME op literal`` with ``== != < <= > >=``."""

    name: str
    op: str
    value: Literals


@dataclass(frozen=True, slots=True)
class Member:
    """``NAME in [a, b]``, or ``NAME not in [a, b]``."""

    name: str
    values: tuple[Literals, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Not:
    """``not (term)``."""

    term: Condition


@dataclass(frozen=True, slots=True)
class And:
    """Two or more terms of which all must hold; an ``And`` inside is part of this one."""

    terms: tuple[Condition, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", _flat(self.terms, And))


@dataclass(frozen=True, slots=True)
class Or:
    """Two or more terms of which one must hold; an ``Or`` inside is part of this one."""

    terms: tuple[Condition, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", _flat(self.terms, Or))


Condition = Compare | Member | Not | And | Or


@dataclass(frozen=True, slots=True)
class Request:
    """``VERB TARGET with k=v ... within TIME``: an instruction to the other side.

    ``verb`` is ``request`` or another verb of the lexicon; a sentence of its own takes only verbs
    of the pattern ``request``, what follows ``then`` or ``must`` takes any verb.
    """

    target: str
    params: tuple[tuple[str, Value], ...] = ()
    within: Within | None = None
    verb: str = "request"

    @property
    def action(self) -> str:
        return self.verb


@dataclass(frozen=True, slots=True)
class Report:
    """``report: SUBJECT is VALUE``."""

    subject: str
    value: Value
    action = "report"


@dataclass(frozen=True, slots=True)
class Query:
    """``query: ATTRIBUTE of SUBJECT``."""

    attribute: str
    subject: str
    action = "query"


@dataclass(frozen=True, slots=True)
class Decision:
    """``decision: OPTION selected``: a report of the kind decision."""

    option: Value
    action = "report"


@dataclass(frozen=True, slots=True)
class Notice:
    """``notice: EVENT occurred``, the sentence for the action ``notify``."""

    event: str
    action = "notify"


@dataclass(frozen=True, slots=True)
class Ack:
    """``ack: MESSAGE_ID received``, the sentence for the action ``confirm``."""

    message_id: str
    action = "confirm"


@dataclass(frozen=True, slots=True)
class Failure:
    """``error: ACTION failed because REASON``, the sentence for the action ``fail``."""

    task: str
    reason: Value
    action = "fail"


@dataclass(frozen=True, slots=True)
class Duty:
    """``[ACTOR] must|must not|cannot VERB TARGET ...``: an obligation or a prohibition."""

    modal: Literal["must", "must not", "cannot"]
    request: Request
    actor: str | None = None

    @property
    def action(self) -> str:
        return self.request.verb


@dataclass(frozen=True, slots=True)
class Conditional:
    """``if CONDITION then SENTENCE``; the sentence is none that starts with ``if``."""

    condition: Condition
    then: Sentence

    @property
    def action(self) -> str:
        return self.then.action


Sentence = Request | Report | Query | Decision | Notice | Ack | Failure | Duty | Conditional


class Message(BaseModel):
    """One Canon message. ``from``, ``to`` and ``if`` are ``sender``, ``recipient``, ``condition``.

    The JSON form has the names of the text (``model_dump(by_alias=True)``,
    :func:`steguard.canon.render.message_json`). The values of the payload are text, lists,
    mappings, :class:`Placeholder` and :class:`TypeRef`; a subject's schema makes other types of
    the text. A message that you make yourself may hold numbers, bools and dates: they are written
    as text, and read back as text where no schema says more.
    """

    model_config = ConfigDict(
        frozen=True, populate_by_name=True, extra="forbid", arbitrary_types_allowed=True
    )

    version: Version = Field(
        default=Version(1, 0),
        validation_alias="canon-message",
        serialization_alias="canon-message",
    )
    sender: str = Field(validation_alias="from", serialization_alias="from")
    recipient: str = Field(validation_alias="to", serialization_alias="to")
    msg_id: str
    action: str
    subject: str
    payload: dict[str, Any] = Field(default_factory=dict)
    within: Within | None = None
    reply_to: str | None = None
    condition: Any = Field(default=None, validation_alias="if", serialization_alias="if")

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        from steguard.canon.messageschema import inner_schema

        return inner_schema()

    @field_validator("condition", mode="before")
    @classmethod
    def _condition(cls, value: Any) -> Any:
        from steguard.canon.messagecheck import condition_of

        return condition_of(value)

    @field_serializer("condition")
    def _condition_text(self, value: Any) -> str | None:
        from steguard.canon.render import render_condition

        return None if value is None else render_condition(value)

    @field_serializer("payload")
    def _payload_data(self, value: dict[str, Any]) -> dict[str, Any]:
        return plain(value)

    @model_validator(mode="after")
    def _check(self) -> Self:
        from steguard.canon.messagecheck import check_built

        check_built(self)
        return self

    def envelope(self) -> dict[str, Any]:
        """The required fields by their names in the text."""
        return {
            "canon-message": self.version,
            "from": self.sender,
            "to": self.recipient,
            "msg_id": self.msg_id,
            "action": self.action,
            "subject": self.subject,
            **({} if self.reply_to is None else {"reply_to": self.reply_to}),
        }

    @classmethod
    def built(cls, fields: dict[str, Any]) -> Message:
        """A message of fields that the parser has checked: every field under its own name.

        It does what ``model_construct`` does, without its loop over the fields.
        """
        made = cls.__new__(cls)
        _set_dict(made, "__dict__", fields)
        _set_names(made, _FIELD_NAMES)
        _set_extra(made, None)
        _set_private(made, None)
        return made


_FIELD_NAMES = set(Message.model_fields)
_set_dict = object.__setattr__
_set_names = BaseModel.__dict__["__pydantic_fields_set__"].__set__
_set_extra = BaseModel.__dict__["__pydantic_extra__"].__set__
_set_private = BaseModel.__dict__["__pydantic_private__"].__set__


def _flat(terms: tuple[Condition, ...], kind: type[And] | type[Or]) -> tuple[Condition, ...]:
    flat: list[Condition] = []
    for term in terms:
        flat.extend(term.terms if isinstance(term, kind) else (term,))
    return tuple(flat)


def is_name(text: str) -> bool:
    """Whether the text can be a target, a subject, an attribute, an event or a key."""
    return len(text) <= MAX_NAME and _NAME.fullmatch(text) is not None


def is_address(text: str) -> bool:
    """Whether the text can be an agent or a message id."""
    return len(text) <= MAX_NAME and _ADDRESS.fullmatch(text) is not None


def plain(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """The payload as JSON data; a placeholder and a type become their text."""
    return {key: _plain(value) for key, value in mapping.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return plain(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (Placeholder, TypeRef)):
        return str(value)
    if isinstance(value, (dt.date, dt.datetime)):
        return value.isoformat()
    return value
