"""What is written on a payment, and how it is found by that."""

import pytest

from purchases import LAMP, lamp


def test_metadata_is_merged(client):
    intent = client.v1.payment_intents.create({**LAMP, "metadata": {"cart": "7", "color": "red"}})
    changed = client.v1.payment_intents.update(intent.id, {"metadata": {"color": "blue", "size": "L"}})
    assert changed.metadata.to_dict() == {"cart": "7", "color": "blue", "size": "L"}


def test_an_empty_value_unsets(client):
    intent = client.v1.payment_intents.create({**LAMP, "description": "A lamp", "metadata": {"cart": "7", "color": "red"}})
    changed = client.v1.payment_intents.update(intent.id, {"description": "", "metadata": {"color": ""}})
    assert (changed.description, changed.metadata.to_dict()) == (None, {"cart": "7"})
    assert client.v1.payment_intents.update(intent.id, {"metadata": ""}).metadata.to_dict() == {}


def test_the_amount_changes_before_it_is_paid(client):
    intent = client.v1.payment_intents.create(LAMP)
    assert client.v1.payment_intents.update(intent.id, {"amount": 4300}).amount == 4300
    paid = client.v1.payment_intents.confirm(intent.id, {"payment_method": "pm_card_visa"})
    assert paid.amount_received == 4300


@pytest.mark.parametrize("query", ["metadata['cart']:'7'", "metadata['cart']:'7' AND status:'succeeded'"])
def test_a_payment_is_found_by_its_metadata(client, query):
    intents = [client.v1.payment_intents.create(lamp(metadata={"cart": "7"})).id for _ in range(3)]
    client.v1.payment_intents.create(lamp(metadata={"cart": "8"}))
    pages = client.v1.payment_intents.search({"query": query, "limit": 2})
    assert [intent.id for intent in pages.auto_paging_iter()] == intents[::-1]
