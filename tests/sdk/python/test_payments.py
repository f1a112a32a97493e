"""Payment intents from their creation to their end."""

import pytest
import stripe

from purchases import LAMP, lamp


def test_a_payment_intent_is_created_and_then_confirmed(client):
    intent = client.v1.payment_intents.create(LAMP)
    assert intent.status == "requires_payment_method"
    assert intent.client_secret.startswith(f"{intent.id}_secret_")

    paid = client.v1.payment_intents.confirm(intent.id, {"payment_method": "pm_card_visa"})
    assert (paid.id, paid.status, paid.amount_received) == (intent.id, "succeeded", 4200)

    again = client.v1.payment_intents.retrieve(intent.id, {"expand": ["latest_charge", "payment_method"]})
    assert again.latest_charge.paid
    assert again.latest_charge.payment_method_details.card.last4 == "4242"
    assert again.payment_method.card.brand == "visa"


def test_one_call_creates_and_confirms(client):
    intent = client.v1.payment_intents.create(lamp())
    assert intent.status == "succeeded"
    assert intent.last_response.code == 200
    assert intent.last_response.request_id.startswith("req_")


def test_the_functions_of_the_module_do_the_same(sdk):
    intent = sdk.PaymentIntent.create(**lamp())
    assert sdk.PaymentIntent.retrieve(intent.id).status == "succeeded"
    assert sdk.Charge.retrieve(intent.latest_charge).amount == 4200


def test_what_succeeded_cannot_be_confirmed_again(client, simulator):
    intent = client.v1.payment_intents.create(lamp())
    with pytest.raises(stripe.InvalidRequestError) as refusal:
        client.v1.payment_intents.confirm(intent.id)
    assert refusal.value.code == "payment_intent_unexpected_state"
    assert refusal.value.error.payment_intent.status == "succeeded"
    assert simulator.charges() == 1


def test_an_intent_is_canceled_for_good(client, simulator):
    intent = client.v1.payment_intents.create({**LAMP, "payment_method": "pm_card_visa"})
    canceled = client.v1.payment_intents.cancel(intent.id, {"cancellation_reason": "abandoned"})
    assert (canceled.status, canceled.cancellation_reason) == ("canceled", "abandoned")
    with pytest.raises(stripe.InvalidRequestError):
        client.v1.payment_intents.confirm(intent.id)
    assert simulator.charges() == 0


@pytest.mark.parametrize(
    ("params", "code", "param"),
    [
        ({"currency": "usd"}, "parameter_missing", "amount"),
        ({**LAMP, "amount": 1}, "amount_too_small", "amount"),
        ({**LAMP, "color": "red"}, "parameter_unknown", "color"),
        ({**LAMP, "payment_method": "pm_card_unheard_of"}, "resource_missing", "payment_method"),
    ],
)
def test_a_bad_parameter_is_named(client, params, code, param):
    with pytest.raises(stripe.InvalidRequestError) as refusal:
        client.v1.payment_intents.create(params)
    assert (refusal.value.http_status, refusal.value.code, refusal.value.param) == (400, code, param)


def test_an_unknown_intent_is_not_found(client):
    with pytest.raises(stripe.InvalidRequestError) as refusal:
        client.v1.payment_intents.retrieve("pi_unknown")
    assert (refusal.value.http_status, refusal.value.code) == (404, "resource_missing")


def test_a_wrong_key_is_refused_and_not_shown(simulator):
    stranger = stripe.StripeClient("sk_test_of_somebody_else", base_addresses={"api": simulator.url})
    with pytest.raises(stripe.AuthenticationError) as refusal:
        stranger.v1.payment_intents.list()
    assert "of_somebody" not in str(refusal.value)
