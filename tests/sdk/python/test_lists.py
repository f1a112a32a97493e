"""Lists, page after page, as the SDK walks them."""

import pytest

from purchases import LAMP, lamp

INTENTS = 7


@pytest.fixture
def made(client):
    """The ids of some intents, oldest first."""
    return [client.v1.payment_intents.create(LAMP).id for _ in range(INTENTS)]


def test_a_page_is_newest_first_and_says_that_there_is_more(client, made):
    page = client.v1.payment_intents.list({"limit": 3})
    assert [intent.id for intent in page.data] == made[:3:-1]
    assert page.has_more
    assert page.url == "/v1/payment_intents"


def test_all_pages_forwards(client, simulator, made):
    pages = client.v1.payment_intents.list({"limit": 3})
    assert [intent.id for intent in pages.auto_paging_iter()] == made[::-1]
    assert sum(request["method"] == "GET" for request in simulator.requests()) == 3


def test_all_pages_backwards_end_with_the_newest(client, made):
    pages = client.v1.payment_intents.list({"limit": 3, "ending_before": made[0]})
    assert [intent.id for intent in pages.auto_paging_iter()] == made[1:]


def test_all_events_of_a_type(client, simulator, made):
    client.v1.payment_intents.create(lamp())
    simulator.control("POST", "settle", {})
    created = client.v1.events.list({"type": "payment_intent.created", "limit": 3})
    assert [event.data.object.id for event in created.auto_paging_iter()][1:] == made[::-1]
    every = [event.type for event in client.v1.events.list({"limit": 2}).auto_paging_iter()]
    assert len(every) == INTENTS + 4
    assert {"charge.succeeded", "payment_intent.succeeded", "charge.updated"} < set(every)


def test_the_charges_of_an_intent(client):
    client.v1.payment_intents.create(lamp())
    intent = client.v1.payment_intents.create(lamp())
    charges = client.v1.charges.list({"payment_intent": intent.id})
    assert [charge.id for charge in charges] == [intent.latest_charge]
