"""One agent's memory: correlation, duplicates, deadlines, versions, and the id in every log line."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import threading
from contextvars import copy_context
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steguard import ProfileError
from steguard.canon.exchange import Exchange, MessageRefused, fail, reply
from steguard.canon.lexicon import load_lexicon
from steguard.canon.message import parse_message
from steguard.canon.model import Message, Version
from steguard.canon.render import render_message
from steguard.canon.tracing import MessageFilter, MessageLogger, current, handling
from steguard.canon.verdict import judge
from steguard.canon.versions import Offer, negotiate, offer
from tests.support.canon_subjects import message, registry, subject, text

START = dt.datetime(2026, 1, 31, 10, tzinfo=dt.UTC)


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> dt.datetime:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += dt.timedelta(seconds=seconds)


def pair() -> tuple[Exchange, Exchange, Clock]:
    clock = Clock()
    return (
        Exchange("agent_a", registry=registry(), clock=clock),
        Exchange("agent_b", registry=registry(), clock=clock),
        clock,
    )


def answer(to: Message, msg_id: str = "b-1", **more: Any) -> Message:
    payload = {"sku": "A1001", "available": 5, "fulfilled": True}
    return reply(to, "report", payload, msg_id=msg_id, **more)


def rules(found: Any) -> list[str]:
    return [f.rule for f in found.findings]


# ---- answers


def test_an_answer_goes_back_and_names_what_it_answers() -> None:
    asked = message()
    made = answer(asked)
    assert (made.sender, made.recipient) == (asked.recipient, asked.sender)
    assert (made.reply_to, made.subject, made.version) == ("m-1", asked.subject, asked.version)
    assert fail(asked, "no_stock", detail="empty").payload == {
        "reason": "no_stock",
        "detail": "empty",
    }


def test_two_answers_never_have_the_same_id() -> None:
    assert reply(message()).msg_id != reply(message()).msg_id


def test_a_talk_from_request_to_report() -> None:
    a, b, _ = pair()
    received = b.receive(a.send(message()))
    assert received.ok
    assert received.payload["quantity"] == 2
    assert received.message is not None
    back = a.receive(b.send(answer(received.message)))
    assert back.status == "new"
    assert back.payload["fulfilled"] is True


def test_a_message_that_is_not_valid_is_not_sent() -> None:
    a, _, _ = pair()
    with pytest.raises(MessageRefused, match="line 9: 'quantity' is 0") as error:
        a.send(message("  sku: A\n  quantity: 0\n"))
    assert error.value.text.startswith("canon-message: v1.0\n")
    assert not a.knows("m-1")


# ---- what does not fit what was said before


def case(**changes: str) -> str:
    made = render_message(answer(message()))
    for key, value in changes.items():
        line = next(line for line in made.splitlines() if line.startswith(f"{key}:"))
        made = made.replace(line, f"{key}: {value}")
    return made


WRONG = [
    ({"reply_to": "m-9"}, "unknown-reply", "m-9"),
    ({"from": "agent_c"}, "wrong-sender", "agent_c"),
    ({"msg_id": "m-5"}, "reused-id", "m-5"),
    ({"to": "agent_c"}, "not-addressed", "agent_c"),
]


@pytest.mark.parametrize(("changes", "rule", "excerpt"), WRONG, ids=[w[1] for w in WRONG])
def test_a_message_that_does_not_fit_is_refused(
    changes: dict[str, str], rule: str, excerpt: str
) -> None:
    a, _, _ = pair()
    a.send(message())
    a.send(message(msg_id="m-5"))
    received = a.receive(case(**changes))
    assert received.status == "invalid"
    found = {f.rule: f.excerpt for f in received.findings}
    assert found[rule] == excerpt
    if rule == "not-addressed":
        assert received.answer is None, "nobody answers in the name of another agent"
    else:
        assert received.answer is not None
        assert (received.answer.action, received.answer.sender) == ("fail", "agent_a")


def test_an_answer_about_another_subject_is_refused() -> None:
    a = Exchange("agent_a")
    a.send(message())
    assert rules(a.receive(case(subject="weather"))) == ["other-subject"]


def test_the_same_message_again_is_a_duplicate_and_no_error() -> None:
    _, b, _ = pair()
    assert b.receive(text()).status == "new"
    again = b.receive(text(rest="# delivered twice\n"))
    assert (again.status, rules(again), again.answer) == ("duplicate", ["duplicate-message"], None)


def test_the_same_id_with_other_content_is_an_error() -> None:
    _, b, _ = pair()
    b.receive(text())
    other = b.receive(text("  sku: A1001\n  quantity: 3\n"))
    assert (other.status, rules(other)) == ("invalid", ["reused-id"])


def test_a_resend_has_a_new_id_and_a_retry_may_name_ones_own_request() -> None:
    a, b, _ = pair()
    b.receive(a.send(message()))
    b.receive(a.send(message(msg_id="m-2")))
    retry = text("  reason: no_answer\n", msg_id="m-3", action="retry", rest="reply_to: m-1\n")
    assert b.receive(retry).status == "new"


def test_only_the_side_that_was_asked_can_report() -> None:
    _, b, _ = pair()
    b.receive(text())
    own = text("  detail: done\n", msg_id="m-2", action="complete", rest="reply_to: m-1\n")
    assert "wrong-sender" in rules(b.receive(own))


def test_a_second_last_answer_is_noted_until_a_retry() -> None:
    a, _, _ = pair()
    a.send(message())
    assert a.receive(render_message(fail(message(), "no_stock", msg_id="b-1"))).ok
    done = reply(message(), "complete", msg_id="b-2")
    assert rules(a.receive(render_message(done))) == ["already-closed"]
    again = text("", msg_id="m-4", action="retry", rest="reply_to: m-1\n")
    a.send(parse_message(again).message)  # type: ignore[arg-type]
    assert rules(a.receive(render_message(reply(message(), "confirm", msg_id="b-3")))) == []


def test_an_unread_message_is_answered_where_its_envelope_says_whom_to_tell() -> None:
    b = Exchange("agent_b")
    received = b.receive(text(action="requets"))
    assert received.message is None
    assert received.answer is not None
    assert received.answer.payload["reason"] == "unknown_action"
    assert (received.answer.recipient, received.answer.reply_to) == ("agent_a", "m-1")
    assert parse_message(render_message(received.answer)).ok
    other = text(action="requets").replace("to: agent_b", "to: agent_c")
    assert b.receive(other).answer is None
    assert b.receive("Hello, can you check the stock?").answer is None
    assert b.receive(text("  reason: x\n", action="fail", rest="within: soon\n")).answer is None


# ---- time


def test_a_late_answer_and_an_open_request_are_told() -> None:
    a, b, clock = pair()
    sent = a.send(message(rest="within: 30 seconds\n"))
    asked = b.receive(sent).message
    assert asked is not None
    clock.move(29)
    assert a.overdue() == []
    clock.move(2)
    assert [known.msg_id for known in a.overdue()] == ["m-1"]
    late = a.receive(render_message(answer(asked)))
    assert (late.status, rules(late)) == ("new", ["late"])
    assert a.overdue() == []


def test_an_instant_in_the_past_is_told() -> None:
    _, b, _ = pair()
    past = b.receive(text(rest="within: 2026-01-31T09:59:00Z\n"))
    assert rules(past) == ["late"]
    future = b.receive(text(msg_id="m-2", rest="within: 2026-01-31T12:01:00+02:00\n"))
    assert rules(future) == []


# ---- memory


@given(st.integers(1, 12), st.integers(0, 30))
@settings(max_examples=30)
def test_the_memory_is_bounded_and_forgets_the_oldest(size: int, count: int) -> None:
    b = Exchange("agent_b", memory=size)
    for number in range(count):
        b.receive(text(msg_id=f"m-{number}"))
    kept = [number for number in range(count) if b.knows(f"m-{number}")]
    assert kept == list(range(max(0, count - size), count))


@given(st.lists(st.integers(0, 5), max_size=15))
@settings(max_examples=40)
def test_every_message_is_new_once(ids: list[int]) -> None:
    b = Exchange("agent_b")
    seen: set[int] = set()
    for number in ids:
        status = b.receive(text(msg_id=f"m-{number}")).status
        assert status == ("duplicate" if number in seen else "new")
        seen.add(number)


def test_the_versions_that_were_used_are_counted() -> None:
    newer = subject(**{"version: v1.0": "version: v1.1", "sku: <text>": "sku_id: <text>"})
    from steguard.canon.registry import Registry

    b = Exchange("agent_b", registry=Registry.of([subject(), newer]))
    b.receive(text())
    b.receive(text("  sku_id: A\n  quantity: 1\n", msg_id="m-2"))
    b.receive(text("  sku_id: A\n  quantity: 1\n", msg_id="m-3"))
    assert dict(b.used) == {
        "canon v1.0": 3,
        "inventory_check v1.0": 1,
        "inventory_check v1.1": 2,
    }


# ---- a log as context of a check


def test_a_check_with_a_log_finds_what_the_text_alone_cannot_show() -> None:
    alone = case(reply_to="m-9")
    log = Exchange()
    log.remember(message())
    assert judge(alone).ok
    assert not judge(alone, log=log).ok
    assert judge(case(), log=log).ok


def test_a_stream_is_checked_message_by_message() -> None:
    stream = text() + "---\n" + case() + "---\n" + case(msg_id="b-2", reply_to="m-7")
    verdict = judge(stream, stream=True, log=Exchange())
    assert [(f.rule, f.excerpt) for f in verdict.findings] == [("unknown-reply", "m-7")]
    assert len(verdict.values) == 3


# ---- the id in the log


def test_every_log_record_inside_carries_the_id(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("canon-test")
    caplog.handler.addFilter(MessageFilter())
    with caplog.at_level(logging.INFO):
        log.info("before")
        with handling(answer(message())):
            log.info("inside")
        MessageLogger(log, message()).info("by hand", extra={"more": 1})
    ids = [(r.getMessage(), r.msg_id, r.reply_to) for r in caplog.records]  # type: ignore[attr-defined]
    assert ids == [("before", "-", "-"), ("inside", "b-1", "m-1"), ("by hand", "m-1", "-")]
    assert current() is None


def test_the_id_follows_tasks_and_does_not_leak_between_them() -> None:
    async def one(number: int) -> str:
        with handling(message(msg_id=f"m-{number}")):
            await asyncio.sleep(0)
            found = current()
            return found.msg_id if found else "-"

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*(one(n) for n in range(5)))

    assert asyncio.run(all_of_them()) == [f"m-{n}" for n in range(5)]


def test_the_id_follows_a_thread_with_a_copied_context() -> None:
    found: list[Any] = []
    with handling(message()):
        context = copy_context()
    thread = threading.Thread(target=lambda: found.append(context.run(current)))
    thread.start()
    thread.join()
    assert found[0].msg_id == "m-1"


# ---- versions


def test_the_highest_common_versions_are_agreed() -> None:
    mine = Offer(
        (Version(1, 1), Version(1, 0)),
        {"core": Version(1, 1), "shop": Version(2, 0)},
        frozenset({"request", "ship"}),
        {"stock": (Version(1, 10), Version(1, 9)), "mine": (Version(1, 0),)},
    )
    theirs = Offer(
        (Version(1, 0),),
        {"core": Version(1, 0), "shop": Version(1, 4)},
        frozenset({"request", "pay"}),
        {"stock": (Version(1, 9), Version(1, 2))},
    )
    agreed = negotiate(mine, theirs)
    assert agreed.ok
    assert agreed.canon == Version(1, 0)
    assert agreed.lexicons == {"core": Version(1, 0)}
    assert agreed.verbs == ("request",)
    assert agreed.subjects == {"stock": Version(1, 9)}
    told = "\n".join(agreed.differences)
    for part in ("'shop'", "'ship': only we", "'pay': only they", "'mine'"):
        assert part in told


def test_two_sides_without_a_common_version_cannot_talk() -> None:
    agreed = negotiate(Offer((Version(2, 0),)), Offer((Version(1, 0),)))
    assert not agreed.ok
    assert "v2.0" in agreed.differences[0]


def test_an_offer_survives_its_own_json() -> None:
    made = offer(load_lexicon("logistics"), registry())
    assert Offer.from_dict(made.to_dict()) == made


@pytest.mark.parametrize("data", [{}, [], {"canon": "v1.0"}, {"canon": ["one"]}, None])
def test_what_is_no_offer_is_refused(data: Any) -> None:
    with pytest.raises(ProfileError, match="no offer"):
        Offer.from_dict(data)


versions = st.sets(st.builds(Version, st.integers(0, 2), st.integers(0, 3)), max_size=4)


@given(versions, versions)
def test_agreement_is_the_same_from_both_sides(mine: set[Version], theirs: set[Version]) -> None:
    one, two = Offer(tuple(mine)), Offer(tuple(theirs))
    assert negotiate(one, two).canon == negotiate(two, one).canon
    assert negotiate(one, two).ok is bool(mine & theirs)


# ---- any text

PIECES = st.sampled_from(
    [
        *text().splitlines(),
        "  note: x",
        "within: soon",
        "reply_to: m-0",
        "if: a < 1",
        "if: a <",
        "---",
        '  sku: "\\u0007 \\x1b"',
        "  quantity: [x]",
        "  quantity: <int>",
        "payload: {}",
        "  'a': b",
        "\t",
        "action: fail",
        "action: retry",
        "from: agent_a",
        "subject: with",
        "to: b b",
        "  tags: []",
        "#",
    ]
)


@given(st.lists(PIECES, max_size=14), st.text(max_size=8))
@settings(max_examples=150)
def test_no_text_breaks_an_exchange_and_every_ready_answer_is_valid(
    lines: list[str], junk: str
) -> None:
    b = Exchange("agent_b", registry=registry())
    for sent in ("\n".join(lines), "\n".join([*text().splitlines(), *lines]) + junk):
        received = b.receive(sent)
        assert (received.status == "invalid") is any(
            f.severity == "error" for f in received.findings
        )
        if received.answer is not None:
            written = render_message(received.answer)
            assert parse_message(written).message == received.answer
            assert received.answer.sender == "agent_b"
            assert b.receive(written).answer is None, "a failure never gets a failure"
