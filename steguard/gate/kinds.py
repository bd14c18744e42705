"""What a field or an argument is, told from its name, its type and its description.

These are general rules about words, the same for every tool of every domain. They classify the
arguments of calls (must this value be protected?) and the fields of observations (who can write
this?).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import Any

import regex

from steguard.gate.model import SideEffect, Trust


class Kind(StrEnum):
    """What an argument is for. The first three say who or what an action reaches."""

    ADDRESS = "address"
    SECRET = "secret"
    ID = "id"
    PATH = "path"
    NAME = "name"
    TITLE = "title"
    WHEN = "when"
    NUMBER = "number"
    CHOICE = "choice"
    TEXT = "text"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ADDRESS = _words(
    "recipient recipients to cc bcc email emails mail participant participants attendee attendees "
    "invitee invitees guest guests iban account accounts url urls uri link links website site "
    "webhook endpoint host hostname domain phone mobile fax user users username usernames member "
    "members channel channels contact contacts payee beneficiary wallet receiver receivers "
    "assignee assignees sender from handle ip server bucket remote destination target audience "
    "group groups team room chat number callback redirect repo repository tenant"
)
NET_WORDS = _words(
    "url urls uri link links website site webhook endpoint host hostname domain server callback "
    "redirect"
)
_SECRET = _words(
    "password passwd pwd secret token pin otp passphrase credential credentials apikey"
)
_WHEN = _words(
    "date day time datetime start end deadline due until since when timestamp month year at "
    "begin checkin checkout departure arrival return expiry expires"
)
_TEXT = _words(
    "body content contents text message description comment comments note notes summary html "
    "markdown caption reason instructions prompt details query q search keyword keywords bio "
    "review reply remark remarks snippet data payload"
)
_TITLE = _words("title subject headline heading topic label")
_PATH = _words("path file filename filepath folder directory dir")
_PHONE_LIKE = _words("phone mobile fax account card house contact customer")

CONTENT_KEYS = _words(
    "body content contents text message messages description descriptions subject title titles "
    "headline review reviews comment comments note notes bio about summary html markdown caption "
    "snippet excerpt abstract remark remarks feedback memo reply replies post posts topic "
    "location details detail instructions instruction reason answer answers question transcript "
    "page article quote quotes signature status_message payload stdout stderr "
    "readme changelog patch diff advice tip tips announcement "
    "attachment_text alt tooltip footer header preview lyrics testimonial biography profile"
)
"""A field with such a word in its name holds what another person may have written."""

PARTY_KEYS = _words(
    "sender from author organizer organiser creator owner submitter reporter reply_to posted by "
    "commenter reviewer uploader caller payer requester remitter sent"
)
"""A field that the system sets but whose person is whoever wrote or sent the record."""

DOCUMENT_WORDS = _words(
    "file files page pages webpage webpages website websites document documents doc docs email "
    "emails mail mails inbox message messages note notes article articles review reviews comment "
    "comments post posts content contents pdf transcript thread threads issue issues ticket "
    "tickets feed news web url readme wiki blog chat attachment attachments memo letter letters "
    "invoice bill paper book"
)
"""A tool with such a word in its name gives back what people wrote."""


@lru_cache(maxsize=4096)
def tokens(name: str) -> tuple[str, ...]:
    """The lower-case words of an identifier: ``fileId``, ``file_id`` and ``file-id`` alike."""
    spaced = regex.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return tuple(part for part in regex.split(r"[^a-z0-9]+", spaced.lower()) if part)


def _types(schema: Mapping[str, Any]) -> set[str]:
    said = schema.get("type")
    found = {said} if isinstance(said, str) else set(said or ())
    for inner in schema.get("anyOf") or schema.get("oneOf") or ():
        if isinstance(inner, Mapping):
            found |= _types(inner)
    return found - {"null"}


def kind_of(name: str, schema: Mapping[str, Any] | None = None) -> Kind:
    """What an argument is for."""
    schema = schema or {}
    words = tokens(name)
    named = set(words)
    types = _types(schema)
    about = str(schema.get("description", "")).lower()
    if named & _SECRET or ("api" in named and "key" in named):
        return Kind.SECRET
    if "enum" in schema or types == {"boolean"}:
        return Kind.CHOICE
    if words and (words[-1] in ("id", "ids", "uuid", "guid", "key")):
        return Kind.ID
    if types and types <= {"number", "integer"}:
        return Kind.NUMBER
    if schema.get("format") in ("email", "uri", "url", "hostname", "ipv4"):
        return Kind.ADDRESS
    if schema.get("format") in ("date", "date-time", "time"):
        return Kind.WHEN
    last = words[-1] if words else ""
    for group, kind in _BY_NAME:
        if last in group:
            return kind
    if _ABOUT_ADDRESS.search(about):
        return Kind.ADDRESS
    for group, kind in _BY_NAME:
        if named & group:
            return kind
    return Kind.NAME


_BY_NAME: tuple[tuple[frozenset[str], Kind], ...] = (
    (_PATH, Kind.PATH),
    (_TEXT, Kind.TEXT),
    (_TITLE, Kind.TITLE),
    (_WHEN, Kind.WHEN),
    (_ADDRESS, Kind.ADDRESS),
)
_ABOUT_ADDRESS = regex.compile(
    r"\b(?:e-?mail address|email of|iban|url|account number|phone number|wallet|recipient|"
    r"username|handle)\b"
)


def trust_of(keys: tuple[str, ...], value: Any, document: bool) -> Trust:
    """Who can write a field: its names from the outside in, its value, whether it is of a document.

    A short value in a field with a plain name is the system's. A field with a name for prose, a
    long text, and a text without a field of its own in a document are content.
    """
    if keys and _names(keys[-1], CONTENT_KEYS):
        return Trust.CONTENT
    if any(_names(key, _INSIDE) for key in keys[:-1]):
        return Trust.CONTENT
    if not isinstance(value, str):
        return Trust.SYSTEM
    if not keys and document:
        return Trust.CONTENT
    return Trust.SYSTEM if is_short(value) else Trust.CONTENT


def _names(key: str, group: frozenset[str]) -> bool:
    words = tokens(key)
    return bool(words) and (words[-1] in group or "_".join(words) in group)


_INSIDE = _words(
    "body content contents text html markdown description payload raw snippet metadata extra "
    "attributes properties custom answers"
)
"""All that stands inside a field with such a name was written by the same person."""


def is_short(text: str) -> bool:
    """Whether a text is a plain value: one line, few words, no sentence."""
    text = text.strip()
    return len(text) <= 80 and "\n" not in text and len(text.split()) <= 6


def is_party(keys: tuple[str, ...]) -> bool:
    """Whether a field names the person who wrote or sent the record."""
    return any(set(tokens(key)) & PARTY_KEYS for key in keys[-1:])


def is_document(tool: str, description: str = "") -> bool:
    """Whether a tool gives back what people wrote."""
    return bool(set(tokens(tool)) & DOCUMENT_WORDS) or bool(_READS.search(description.lower()))


_READS = regex.compile(
    r"\b(?:contents? of|text of|body of)\b.{0,40}\b(?:file|page|website|document|url|message)"
)

_READ = _words(
    "get list search find read fetch retrieve show view query lookup look check count describe "
    "summarize summarise browse download load scan inspect preview compare calculate compute "
    "convert translate estimate validate verify analyze analyse stat ls cat grep head tail exists "
    "is has which who what select poll watch monitor visit open see track locate filter sort "
    "explain ask think plan recommend suggest current latest return provide give"
)
_DELETE = _words(
    "delete remove cancel clear erase drop destroy purge wipe unsubscribe revoke terminate kill "
    "uninstall reset trash ban block kick discard void deactivate disable close unshare evict "
    "truncate overwrite format shutdown stop leave reject decline"
)
_OUT = _words(
    "send email mail post publish share invite forward reply tweet message dm notify pay transfer "
    "buy purchase order submit upload call text dial sms broadcast export sync push deploy refund "
    "donate withdraw wire checkout subscribe book reserve rent charge sell trade grant rsvp "
    "announce execute exec run eval shell install webhook request trigger http put patch emit "
    "unlock arm disarm"
)
_OUT_ABOUT = regex.compile(
    r"\b(?:sends?|emails?|notif(?:y|ies|ying)|publish(?:es)?|posts?|transfers?|pays?|invites?|"
    r"shares?|transactions?|payments?|uploads?)\b"
)


def side_effect_of(
    name: str, description: str = "", schema: Mapping[str, Any] | None = None
) -> SideEffect:
    """What a tool changes, from its name, its description and its parameters."""
    words = tokens(name)
    if not set(words) & (_READ | _DELETE | _OUT | _CHANGES):
        words = tuple(word.removesuffix("s") for word in tokens(description)[:1])
    joined = {b for a, b in pairwise(words) if a in ("and", "then", "or")}
    if joined & _DELETE:
        return SideEffect.DESTRUCTIVE
    if joined & (_OUT | _CHANGES):
        return SideEffect.EXTERNAL if joined & _OUT else SideEffect.WRITE
    verb = next((w for w in words if w in _READ | _DELETE | _OUT), words[0] if words else "")
    first = words[0] if words else ""
    if first in _READ or (verb in _READ and first not in _DELETE | _OUT | _CHANGES):
        return SideEffect.READ
    if first in _DELETE or verb in _DELETE:
        return SideEffect.DESTRUCTIVE
    if first in _OUT:
        return SideEffect.EXTERNAL
    properties = (schema or {}).get("properties") or {}
    reaches = any(kind_of(key, inner) is Kind.ADDRESS for key, inner in properties.items())
    if verb in _OUT or reaches or _OUT_ABOUT.search(description.lower()):
        return SideEffect.EXTERNAL
    return SideEffect.WRITE


_CHANGES = _words(
    "create add set update change modify edit write append insert move rename schedule make new "
    "save store put assign mark label tag archive copy merge import register enable start turn "
    "adjust increase decrease log record draft generate replace restore reschedule"
)
