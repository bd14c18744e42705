"""Two agents that request, report, fail and retry in Canon.

``python -m steguard.canon.examples.agent_chat``. Agent A asks for stock, agent B answers. B's
store is down at first, so that B fails and A retries; a wrong quantity and a wrong field name come
back as ``fail`` messages that say what to write.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steguard import resources
from steguard.canon.examples.showing import Story
from steguard.canon.exchange import Exchange, MessageRefused, Received, fail, reply
from steguard.canon.model import Message, Within
from steguard.canon.registry import Registry
from steguard.canon.render import render_message

STOCK = {"A1001": 5, "B2002": 0}


class StockAgent:
    """Agent B: knows the stock. Its store answers from the second try on."""

    def __init__(self, registry: Registry) -> None:
        self.exchange = Exchange("agent_b", registry=registry)
        self.asked: dict[str, Mapping[str, Any]] = {}
        self.tries = 0

    def handle(self, text: str) -> str | None:
        """The answer to what came in; None where there is nothing to say."""
        received = self.exchange.receive(text)
        if received.status == "duplicate":
            return None
        if received.message is None or not received.ok:
            return render_message(received.answer) if received.answer else None
        return self.exchange.send(self._answer(received.message, received))

    def _answer(self, message: Message, received: Received) -> Message:
        if message.action == "retry":
            wish = self.asked.get(message.reply_to or "")
            if wish is None:
                return fail(message, "nothing_to_retry")
        else:
            wish = self.asked[message.msg_id] = received.payload
        self.tries += 1
        if self.tries == 1:
            return fail(message, "store_not_ready", msg_id="b-1")
        sku, wanted = wish["sku"], wish["quantity"]
        there = STOCK.get(sku, 0)
        payload = {"sku": sku, "available": there, "fulfilled": there >= wanted}
        return reply(message, "report", payload, msg_id=f"b-{self.tries}")


def main() -> None:
    """Run the example; ends in status 1 where a claim does not hold."""
    story = Story()
    registry = Registry.load(resources.data("canon/examples"))
    asker, stock = Exchange("agent_a", registry=registry), StockAgent(registry)
    request = _request(1, {"sku": "A1001", "quantity": 2})
    first = _exchange(story, "A asks; B's store is not ready", asker, stock, request)
    story.check("B says fail", first is not None and first.action == "fail")
    again = Message(
        sender="agent_a",
        recipient="agent_b",
        msg_id="a-2",
        action="retry",
        subject="inventory_check",
        payload={"reason": "store_not_ready"},
        reply_to="a-1",
    )
    second = _exchange(story, "A wants a retry, with a new id", asker, stock, again)
    _report_holds(story, asker, second, again)
    _duplicate(story, stock, again)
    _refused(story, asker, stock)
    story.end()


def _request(number: int, payload: dict[str, object]) -> Message:
    return Message(
        sender="agent_a",
        recipient="agent_b",
        msg_id=f"a-{number}",
        action="request",
        subject="inventory_check",
        payload=payload,
        within=Within(30, "second"),
    )


def _exchange(
    story: Story, title: str, asker: Exchange, stock: StockAgent, request: Message
) -> Message | None:
    story.head(title)
    sent = asker.send(request)
    story.say(sent)
    answer = stock.handle(sent)
    story.say(answer or "(no answer)")
    received = asker.receive(answer or "")
    story.check("A can read the answer", received.ok)
    return received.message


def _report_holds(story: Story, asker: Exchange, message: Message | None, request: Message) -> None:
    story.check("B reports", message is not None and message.action == "report")
    if message is not None:
        typed = asker.registry.read(message).payload if asker.registry else {}
        story.check("the answer names the request", message.reply_to == request.msg_id)
        story.check("the number is a number", typed.get("available") == STOCK["A1001"])
        story.check("the truth value is one", typed.get("fulfilled") is True)
    story.check("nothing is late", not asker.overdue())


def _duplicate(story: Story, stock: StockAgent, request: Message) -> None:
    story.head("The network delivers the same message twice")
    tries = stock.tries
    answer = stock.handle(render_message(request))
    story.check("B does not act again", answer is None and stock.tries == tries)


def _refused(story: Story, asker: Exchange, stock: StockAgent) -> None:
    story.head("Faults")
    bad = _request(3, {"sku": "A1001", "quantity": -1})
    try:
        asker.send(bad)
        story.check("A's own check refuses a quantity of -1", False)
    except MessageRefused as error:
        story.say(f"A does not send it: {error}")
        story.check("A's own check refuses a quantity of -1", True)
    renamed = _request(4, {"sku_id": "A1001", "quantity": 2})
    text = render_message(renamed)
    story.say(f"\nAnother agent sends it without a check:\n\n{text}")
    answer = stock.handle(text)
    story.say(answer or "(no answer)")
    received = Exchange("agent_a").receive(answer or "")
    payload = received.message.payload if received.message else {}
    story.check("B answers with fail and names the field", payload.get("field") == "sku_id")
    free = stock.handle("Hi! Could you check the stock of A1001, please?")
    story.check("free text gets no action", free is None)


if __name__ == "__main__":
    main()
