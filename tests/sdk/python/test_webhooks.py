"""Real deliveries to a real receiver, verified by the SDK's own function."""

import pytest
import stripe

from purchases import lamp
from simulator import Simulator

SECRET = "whsec_of_the_tests"


@pytest.fixture
def simulator(receiver):
    with Simulator(f"{receiver.url}={SECRET}") as simulator:
        yield simulator


def test_the_sdk_verifies_a_delivery_and_reads_its_event(client, receiver):
    intent = client.v1.payment_intents.create(lamp(), {"idempotency_key": "cart-7"})
    body, signature = receiver.waits_for("payment_intent.succeeded")
    event = stripe.Webhook.construct_event(body, signature, SECRET)
    assert (event.type, event.data.object.id) == ("payment_intent.succeeded", intent.id)
    assert isinstance(event.data.object, stripe.PaymentIntent)
    assert event.request.idempotency_key == "cart-7"
    assert event.api_version == stripe.api_version
    assert client.v1.events.retrieve(event.id).data.object.id == intent.id
    assert client.construct_event(body, signature, SECRET).id == event.id


def test_another_secret_or_a_changed_body_does_not_verify(client, receiver):
    client.v1.payment_intents.create(lamp())
    body, signature = receiver.waits_for("payment_intent.succeeded")
    with pytest.raises(stripe.SignatureVerificationError):
        stripe.Webhook.construct_event(body, signature, "whsec_of_somebody_else")
    with pytest.raises(stripe.SignatureVerificationError):
        stripe.Webhook.construct_event(body.replace(b"4200", b"4300"), signature, SECRET)


def test_a_bad_signature_is_noticed(client, simulator, receiver):
    simulator.control("POST", "faults", {"on": {"webhook": "payment_intent.succeeded"}, "fault": "bad_signature"})
    client.v1.payment_intents.create(lamp())
    body, signature = receiver.waits_for("payment_intent.succeeded")
    with pytest.raises(stripe.SignatureVerificationError):
        stripe.Webhook.construct_event(body, signature, SECRET)
