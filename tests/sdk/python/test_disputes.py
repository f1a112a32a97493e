"""A customer asks their bank for the money, instead of the shop."""

import pytest
import stripe

from purchases import lamp


@pytest.fixture
def dispute(client, simulator):
    paid = client.v1.payment_intents.create(lamp("pm_card_createDispute"))
    simulator.control("POST", "settle", {})
    [dispute] = client.v1.disputes.list({"payment_intent": paid.id}).data
    assert (dispute.status, dispute.amount, dispute.charge) == ("needs_response", 4200, paid.latest_charge)
    return dispute


@pytest.mark.parametrize(("evidence", "end"), [("winning_evidence", "won"), ("losing_evidence", "lost")])
def test_the_bank_decides_by_the_evidence(client, simulator, dispute, evidence, end):
    answered = client.v1.disputes.update(dispute.id, {"evidence": {"uncategorized_text": evidence}})
    assert answered.status == "under_review"
    simulator.control("POST", "settle", {})
    assert client.v1.disputes.retrieve(dispute.id).status == end


def test_who_does_not_answer_has_lost(client, dispute):
    assert client.v1.disputes.close(dispute.id).status == "lost"
    assert client.v1.charges.retrieve(dispute.charge).disputed


def test_what_is_disputed_is_not_refunded(client, dispute):
    with pytest.raises(stripe.InvalidRequestError) as refusal:
        client.v1.refunds.create({"charge": dispute.charge})
    assert refusal.value.code == "charge_disputed"
