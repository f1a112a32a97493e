"""One key, one effect."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import stripe

from purchases import lamp
from simulator import eventually

KEY = {"idempotency_key": "cart-7"}


def header(intent, name):
    return intent.last_response.headers.get(name)


def test_a_repeat_gets_the_same_bytes(client, simulator):
    first = client.v1.payment_intents.create(lamp(), KEY)
    again = client.v1.payment_intents.create(lamp(), KEY)
    assert again.last_response.body == first.last_response.body
    assert (header(first, "Idempotent-Replayed"), header(again, "Idempotent-Replayed")) == (None, "true")
    assert again.last_response.idempotency_key == "cart-7"
    assert header(again, "Original-Request") == first.last_response.request_id
    assert simulator.charges() == 1


def test_a_repeated_decline_is_the_same_decline(client):
    params = lamp("pm_card_chargeDeclined")
    bodies = set()
    for _ in range(2):
        with pytest.raises(stripe.CardError) as refusal:
            client.v1.payment_intents.create(params, KEY)
        bodies.add(refusal.value.http_body)
    assert len(bodies) == 1


def test_a_key_is_good_for_one_request_only(client, simulator):
    client.v1.payment_intents.create(lamp(), KEY)
    with pytest.raises(stripe.IdempotencyError) as refusal:
        client.v1.payment_intents.create(lamp(amount=4300), KEY)
    assert (refusal.value.http_status, refusal.value.error.type) == (400, "idempotency_error")
    assert simulator.charges() == 1


def test_a_key_in_use_is_a_conflict(client, simulator):
    simulator.fault("payment_intents.create", "delay", delay_ms=2000)
    with ThreadPoolExecutor() as another:
        first = another.submit(client.v1.payment_intents.create, lamp(), KEY)
        eventually(simulator.requests)
        with pytest.raises(stripe.APIError) as conflict:
            client.v1.payment_intents.create(lamp(), KEY)
        assert (conflict.value.http_status, conflict.value.error.code) == (409, "idempotency_key_in_use")
        assert first.result().status == "succeeded"
    assert simulator.charges() == 1
