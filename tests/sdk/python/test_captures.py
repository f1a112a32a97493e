"""The bank promises first, and pays when it is asked to."""

import pytest
import stripe

from purchases import lamp


@pytest.fixture
def held(client, simulator):
    held = client.v1.payment_intents.create(lamp(capture_method="manual"))
    assert (held.status, held.amount_capturable) == ("requires_capture", 4200)
    assert simulator.charges() == 0
    return held


def test_what_was_promised_is_captured(client, simulator, held):
    paid = client.v1.payment_intents.capture(held.id)
    assert (paid.status, paid.amount_received, paid.amount_capturable) == ("succeeded", 4200, 0)
    assert client.v1.charges.retrieve(paid.latest_charge).captured
    assert simulator.control("GET", "ledger")["payment_intents"]["amount_succeeded"] == 4200


def test_a_part_is_captured_and_the_rest_is_given_back(client, simulator, held):
    paid = client.v1.payment_intents.capture(held.id, {"amount_to_capture": 1200})
    assert (paid.status, paid.amount, paid.amount_received) == ("succeeded", 4200, 1200)
    assert client.v1.charges.retrieve(paid.latest_charge).amount_captured == 1200
    assert simulator.control("GET", "ledger")["payment_intents"]["amount_succeeded"] == 1200
    assert client.v1.refunds.create({"payment_intent": paid.id}).amount == 1200


def test_more_than_was_promised_is_not_captured(client, simulator, held):
    with pytest.raises(stripe.InvalidRequestError) as refusal:
        client.v1.payment_intents.capture(held.id, {"amount_to_capture": 4201})
    assert refusal.value.param == "amount_to_capture"
    assert simulator.charges() == 0


def test_nothing_is_captured_twice(client, held):
    client.v1.payment_intents.capture(held.id)
    with pytest.raises(stripe.InvalidRequestError) as refusal:
        client.v1.payment_intents.capture(held.id)
    assert refusal.value.code == "payment_intent_unexpected_state"
    assert refusal.value.error.payment_intent.status == "succeeded"


def test_a_promise_that_is_canceled_is_not_captured(client, simulator, held):
    assert client.v1.payment_intents.cancel(held.id).amount_capturable == 0
    with pytest.raises(stripe.InvalidRequestError):
        client.v1.payment_intents.capture(held.id)
    assert simulator.charges() == 0


def test_a_capture_whose_answer_was_lost_is_made_once(sdk, simulator):
    held = sdk.PaymentIntent.create(**lamp(capture_method="manual"))
    simulator.fault("payment_intents.capture", "drop_response")
    assert sdk.PaymentIntent.capture(held.id).status == "succeeded"
    assert simulator.control("GET", "ledger")["payment_intents"]["amount_succeeded"] == 4200
