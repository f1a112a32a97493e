"""The money goes back: all of it, a part, and never more than there is."""

import pytest
import stripe

from purchases import lamp


@pytest.fixture
def paid(client):
    return client.v1.payment_intents.create(lamp())


def test_a_payment_is_refunded_in_full(client, simulator, paid):
    refund = client.v1.refunds.create({"payment_intent": paid.id, "reason": "requested_by_customer"})
    assert (refund.status, refund.amount, refund.charge) == ("succeeded", 4200, paid.latest_charge)
    charge = client.v1.charges.retrieve(paid.latest_charge)
    assert (charge.refunded, charge.amount_refunded) == (True, 4200)
    assert client.v1.payment_intents.retrieve(paid.id).status == "succeeded"
    assert simulator.control("GET", "ledger")["refunds"]["amount_succeeded"] == 4200


def test_parts_are_refunded_until_nothing_is_left(client, paid):
    first = client.v1.refunds.create({"charge": paid.latest_charge, "amount": 1200})
    assert not client.v1.charges.retrieve(paid.latest_charge).refunded
    rest = client.v1.refunds.create({"payment_intent": paid.id})
    assert rest.amount == 3000
    refunds = client.v1.refunds.list({"payment_intent": paid.id})
    assert [refund.id for refund in refunds] == [rest.id, first.id]
    with pytest.raises(stripe.InvalidRequestError) as refusal:
        client.v1.refunds.create({"payment_intent": paid.id})
    assert refusal.value.code == "charge_already_refunded"


def test_more_than_was_paid_is_not_refunded(client, simulator, paid):
    with pytest.raises(stripe.InvalidRequestError) as refusal:
        client.v1.refunds.create({"payment_intent": paid.id, "amount": 4201})
    assert (refusal.value.http_status, refusal.value.code, refusal.value.param) == (400, None, "amount")
    assert simulator.control("GET", "ledger")["refunds"]["total"] == 0


def test_a_refund_that_was_sent_twice_is_one(client, simulator, paid):
    for _ in range(2):
        client.v1.refunds.create({"payment_intent": paid.id, "amount": 1000}, {"idempotency_key": "return-7"})
    assert simulator.control("GET", "ledger")["refunds"]["amount_succeeded"] == 1000


def test_a_refund_has_metadata_of_its_own(client, paid):
    refund = client.v1.refunds.create({"payment_intent": paid.id, "metadata": {"return": "7"}})
    client.v1.refunds.update(refund.id, {"metadata": {"clerk": "Ann"}})
    assert client.v1.refunds.retrieve(refund.id).metadata.to_dict() == {"return": "7", "clerk": "Ann"}


@pytest.mark.parametrize(
    ("payment_method", "at_first", "in_the_end"),
    [("pm_card_pendingRefund", "pending", "succeeded"), ("pm_card_refundFail", "succeeded", "failed")],
)
def test_a_refund_may_change_its_mind(client, simulator, payment_method, at_first, in_the_end):
    paid = client.v1.payment_intents.create(lamp(payment_method))
    refund = client.v1.refunds.create({"payment_intent": paid.id})
    assert refund.status == at_first
    simulator.control("POST", "settle", {})
    assert client.v1.refunds.retrieve(refund.id).status == in_the_end
