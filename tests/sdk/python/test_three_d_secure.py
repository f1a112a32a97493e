"""3-D Secure: the bank wants to hear from the customer first."""

from urllib import parse

import pytest
import stripe

from purchases import lamp

RETURN_URL = "https://shop.example/after?cart=7"


def asks_the_customer(client, payment_method="pm_card_threeDSecure2Required"):
    intent = client.v1.payment_intents.create(lamp(payment_method, return_url=RETURN_URL))
    assert intent.status == "requires_action"
    assert intent.next_action.type == "redirect_to_url"
    assert intent.next_action.redirect_to_url.return_url == RETURN_URL
    return intent


def query(url):
    assert url.startswith(f"{RETURN_URL}&")
    return dict(parse.parse_qsl(parse.urlsplit(url).query))


def test_the_customer_approves_and_comes_back(client, simulator):
    intent = asks_the_customer(client)
    assert simulator.charges() == 0

    back = simulator.customer(intent.next_action.redirect_to_url.url, "approve")
    assert query(back) == {
        "cart": "7",
        "payment_intent": intent.id,
        "payment_intent_client_secret": intent.client_secret,
        "redirect_status": "succeeded",
    }
    paid = client.v1.payment_intents.retrieve(intent.id)
    assert (paid.status, paid.next_action) == ("succeeded", None)
    assert simulator.charges() == 1


def test_the_customer_refuses(client, simulator):
    intent = asks_the_customer(client)
    back = simulator.customer(intent.next_action.redirect_to_url.url, "refuse")
    assert query(back)["redirect_status"] == "failed"
    refused = client.v1.payment_intents.retrieve(intent.id)
    assert refused.status == "requires_payment_method"
    assert refused.last_payment_error.code == "payment_intent_authentication_failure"
    assert simulator.charges() == 0


def test_the_customer_approves_and_the_bank_declines(client, simulator):
    intent = asks_the_customer(client, "pm_card_threeDSecureRequiredChargeDeclined")
    simulator.customer(intent.next_action.redirect_to_url.url, "approve")
    declined = client.v1.payment_intents.retrieve(intent.id)
    assert declined.last_payment_error.code == "card_declined"
    assert simulator.charges() == 0


def test_a_customer_who_is_not_there_cannot_be_asked(client):
    with pytest.raises(stripe.CardError) as refusal:
        client.v1.payment_intents.create(lamp("pm_card_authenticationRequired", off_session=True))
    assert refusal.value.code == "authentication_required"
    assert refusal.value.error.payment_intent.status == "requires_payment_method"
