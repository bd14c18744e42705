"""Canon texts for laws: right ones built from parts, and wrong ones made of the same parts."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from steguard.canon.chars import REFUSED_VALUE
from steguard.canon.model import Message, Placeholder, TypeRef, Within

PIECES = [
    *"abz019 _-.:/#[]{}<>|&*!%@`,;=+'\"\\~^?$()",
    ": ", " #", "# c", "- ", "  ", "    ", "\n", "\n", "\n  ", "key", "a: b", "---", "...", "|", "|-",
    ">", "''", '""', '"x"', "'y'", "[a, b]", "[name]", "[]", "{}", "<int>", "no", "on", "1:10",
    "0x1F", "~", "null", "\r\n", "\t", "\u4e2d", "\u3000", "\u00a0", "\u200b", "\u202e", "\ufeff",
    "\U0001f600", "\\n", "\\x41", "\\u4e2d", "\\q", "\u0663", "é", "\x00", "\u2028",
]  # fmt: skip

soup = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
"""Text without any sense, made of what has a meaning in YAML or Canon."""

names = st.sampled_from(["a", "b", "key", "sku", "off", "no", "x_1", "库存", "a.b", "x-y", "123"])
values = st.one_of(soup.map(lambda text: text.replace("\n", " ")), st.sampled_from(PIECES))
separators = st.sampled_from([": ", ": ", ": ", ":", " : ", ":  "])


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Lines that look like a document; many are wrong."""
    lines = []
    for _ in range(draw(st.integers(0, 8))):
        indent = draw(st.sampled_from(["", "", "", "  ", "  ", "    ", " ", "- ", "  - "]))
        shape = draw(st.integers(0, 9))
        if shape < 7:
            lines.append(indent + draw(names) + draw(separators) + draw(values))
        elif shape == 7:
            lines.append(indent + draw(names) + ":" + draw(st.sampled_from(["", " |", " |-"])))
        else:
            lines.append(indent + draw(soup))
    return draw(st.sampled_from(["\n", "\n", "\r\n"])).join(lines)


texts = st.one_of(
    st.text(max_size=40), soup, st.text(alphabet="ab \n\"'\\:#-中\U0001f600", max_size=60)
).filter(lambda text: not REFUSED_VALUE.search(text))
"""Any text that a value can hold."""

payload_values = st.recursive(
    texts | st.sampled_from([Placeholder("name"), TypeRef("int"), TypeRef("enum", ("a", "b"))]),
    lambda inner: (
        st.lists(inner.filter(lambda one: not isinstance(one, list)), max_size=3)
        | st.dictionaries(texts.filter(lambda key: 0 < len(key) < 100), inner, max_size=3)
    ),
    max_leaves=6,
)
identifiers = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True).map(lambda s: f"x{s}")
limits = st.one_of(
    st.none(),
    st.builds(Within, st.integers(1, 9_999_999), st.sampled_from(["second", "minute", "hour"])),
    st.sampled_from(
        [Within(instant="2026-01-31T18:00:00Z"), Within(instant="2026-01-31T18:00:00.5+08:00")]
    ),
)


@st.composite
def messages(draw: st.DrawFn) -> Message:
    """A message with any payload."""
    fields: dict[str, Any] = {
        "sender": draw(identifiers),
        "recipient": draw(identifiers),
        "msg_id": draw(identifiers),
        "action": draw(st.sampled_from(["request", "query", "notify", "report", "fail", "retry"])),
        "subject": draw(identifiers),
        "payload": draw(
            st.dictionaries(texts.filter(lambda k: 0 < len(k) < 100), payload_values, max_size=4)
        ),
        "within": draw(limits),
        "reply_to": draw(st.none() | identifiers.map(lambda one: f"y{one}")),
        "condition": draw(st.none() | conditions),
    }
    return Message(**fields)


def _comparisons() -> st.SearchStrategy[Any]:
    import datetime as dt

    from steguard.canon.model import Compare, Member

    number = st.integers(-(10**17), 10**17) | st.floats(-1e6, 1e6).map(lambda x: round(x, 6))
    text = st.text(max_size=8).filter(lambda t: not REFUSED_VALUE.search(t))
    equal = st.sampled_from(["==", "!="])
    order = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
    return st.one_of(
        st.builds(Compare, st.sampled_from(["n", "n.x"]), order, number),
        st.builds(Compare, st.just("t"), equal, text),
        st.builds(Compare, st.just("b"), equal, st.booleans()),
        st.builds(Compare, st.just("d"), order, st.dates(dt.date(1900, 1, 1))),
        st.builds(
            Member, st.just("t"), st.lists(text, min_size=1, max_size=3).map(tuple), st.booleans()
        ),
    )


def _conditions() -> st.SearchStrategy[Any]:
    from steguard.canon.model import And, Compare, Member, Not, Or

    def positive(term: Any) -> bool:
        return not (
            isinstance(term, Not)
            or (isinstance(term, Member) and term.negated)
            or (isinstance(term, Compare) and term.op == "!=")
        )

    return st.recursive(
        _comparisons(),
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=3).map(lambda terms: And(tuple(terms))),
            st.lists(inner, min_size=2, max_size=3).map(lambda terms: Or(tuple(terms))),
            inner.filter(positive).map(Not),
        ),
        max_leaves=6,
    )


conditions = _conditions()
