"""The bank refuses: as what kind of error the SDK raises it, and what is left behind."""

import pytest
import stripe

from purchases import LAMP, lamp


@pytest.mark.parametrize(
    ("payment_method", "code", "decline_code"),
    [
        ("pm_card_chargeDeclined", "card_declined", "generic_decline"),
        ("pm_card_chargeDeclinedInsufficientFunds", "card_declined", "insufficient_funds"),
        ("pm_card_visa_chargeDeclinedLostCard", "card_declined", "lost_card"),
        ("pm_card_chargeDeclinedExpiredCard", "expired_card", "expired_card"),
        ("pm_card_chargeDeclinedIncorrectCvc", "incorrect_cvc", "incorrect_cvc"),
        ("pm_card_chargeDeclinedProcessingError", "processing_error", "processing_error"),
    ],
)
def test_a_decline_is_a_card_error(client, payment_method, code, decline_code):
    with pytest.raises(stripe.CardError) as refusal:
        client.v1.payment_intents.create(lamp(payment_method))
    error = refusal.value.error
    assert (refusal.value.http_status, refusal.value.code) == (402, code)
    assert (error.type, error.code, error.decline_code) == ("card_error", code, decline_code)
    assert refusal.value.user_message == error.message


def test_the_error_has_the_intent_which_another_card_can_pay(client, simulator):
    with pytest.raises(stripe.CardError) as refusal:
        client.v1.payment_intents.create(lamp("pm_card_chargeDeclined"))
    intent = refusal.value.error.payment_intent
    assert intent.status == "requires_payment_method"
    assert intent.payment_method is None
    assert intent.last_payment_error.decline_code == "generic_decline"
    assert intent.last_payment_error.payment_method.card.last4 == "0002"
    assert client.v1.charges.retrieve(refusal.value.error.charge).status == "failed"

    paid = client.v1.payment_intents.confirm(intent.id, {"payment_method": "pm_card_mastercard"})
    assert (paid.id, paid.status) == (intent.id, "succeeded")
    assert simulator.charges() == 1


def test_a_later_confirmation_is_declined_as_well(client, simulator):
    intent = client.v1.payment_intents.create(LAMP)
    with pytest.raises(stripe.CardError) as refusal:
        client.v1.payment_intents.confirm(intent.id, {"payment_method": "pm_card_chargeDeclined"})
    assert refusal.value.error.payment_intent.id == intent.id
    assert simulator.charges() == 0
