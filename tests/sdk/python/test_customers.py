"""Customers, and the cards they leave behind."""

import pytest
import stripe

from purchases import lamp


@pytest.fixture
def ann(client):
    return client.v1.customers.create({"email": "ann@shop.example", "name": "Ann", "metadata": {"since": "2020"}})


def test_a_customer_is_looked_at_changed_and_deleted(client, ann):
    changed = client.v1.customers.update(ann.id, {"name": "Anna", "metadata": {"since": "", "tier": "gold"}})
    assert (changed.name, changed.email, changed.metadata.to_dict()) == ("Anna", "ann@shop.example", {"tier": "gold"})
    assert [customer.id for customer in client.v1.customers.list({"email": "ann@shop.example"})] == [ann.id]
    assert client.v1.customers.delete(ann.id).deleted
    assert client.v1.customers.retrieve(ann.id).deleted
    with pytest.raises(stripe.InvalidRequestError):
        client.v1.customers.update(ann.id, {"name": "Ann"})


def test_a_card_is_attached_paid_with_and_detached(client, ann, simulator):
    card = client.v1.payment_methods.attach("pm_card_visa", {"customer": ann.id})
    assert card.customer == ann.id
    assert [it.id for it in client.v1.customers.payment_methods.list(ann.id)] == [card.id]
    assert [it.id for it in client.v1.payment_methods.list({"customer": ann.id, "type": "card"})] == [card.id]

    paid = client.v1.payment_intents.create(lamp(card.id, customer=ann.id, off_session=True))
    assert (paid.status, paid.customer, paid.payment_method) == ("succeeded", ann.id, card.id)
    assert client.v1.charges.retrieve(paid.latest_charge).customer == ann.id

    assert client.v1.payment_methods.detach(card.id).customer is None
    assert client.v1.customers.payment_methods.list(ann.id).data == []
    assert simulator.charges() == 1


def test_another_customer_s_card_is_refused(client, ann, simulator):
    card = client.v1.payment_methods.attach("pm_card_visa", {"customer": ann.id})
    bob = client.v1.customers.create({"name": "Bob"})
    with pytest.raises(stripe.InvalidRequestError):
        client.v1.payment_intents.create(lamp(card.id, customer=bob.id))
    with pytest.raises(stripe.InvalidRequestError):
        client.v1.payment_intents.create(lamp(card.id))
    assert simulator.charges() == 0


def test_a_customer_s_payments_are_listed(client, ann):
    client.v1.payment_intents.create(lamp())
    intents = [client.v1.payment_intents.create(lamp(customer=ann.id)).id for _ in range(3)]
    pages = client.v1.payment_intents.list({"customer": ann.id, "limit": 2})
    assert [intent.id for intent in pages.auto_paging_iter()] == intents[::-1]
