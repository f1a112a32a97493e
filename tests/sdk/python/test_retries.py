"""The SDK sends a request again by itself, with a key that it made up, and one charge comes of it."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import stripe

from purchases import lamp
from simulator import eventually


def one_key(simulator):
    """The statuses with which the attempts ended, all of which had one key."""
    requests = simulator.requests()
    assert len({request["idempotency_key"] for request in requests}) == 1
    return [request["status"] for request in requests]


@pytest.mark.parametrize("fault", ["drop_request", "drop_response"])
def test_a_lost_request_or_answer_is_tried_again(sdk, simulator, fault):
    simulator.fault("payment_intents.create", fault)
    intent = sdk.PaymentIntent.create(**lamp())
    assert intent.status == "succeeded"
    assert len(one_key(simulator)) == 2
    assert simulator.charges() == 1


def test_two_lost_answers_are_not_too_many(sdk, simulator):
    simulator.fault("payment_intents.create", "drop_response", times=2)
    intent = sdk.PaymentIntent.create(**lamp())
    assert intent.last_response.headers["Idempotent-Replayed"] == "true"
    assert simulator.charges() == 1


def test_without_retries_the_outcome_is_unknown_and_the_key_finds_it(client, simulator):
    simulator.fault("payment_intents.create", "drop_response")
    key = {"idempotency_key": "cart-7"}
    with pytest.raises(stripe.APIConnectionError):
        client.v1.payment_intents.create(lamp(), key)
    assert simulator.charges() == 1
    assert client.v1.payment_intents.create(lamp(), key).status == "succeeded"
    assert simulator.charges() == 1


def test_a_500_of_a_request_that_was_not_processed_is_tried_again(sdk, simulator):
    simulator.fault("payment_intents.create", "error_before", status=500, times=2)
    assert sdk.PaymentIntent.create(**lamp()).status == "succeeded"
    assert one_key(simulator) == [500, 500, 200]
    assert simulator.charges() == 1


def test_a_500_that_is_stored_is_not_tried_again(sdk, simulator):
    """`Stripe-Should-Retry: false`: the key would only bring the same answer, although the money was taken."""
    simulator.fault("payment_intents.create", "error_after", status=500)
    with pytest.raises(stripe.APIError) as refusal:
        sdk.PaymentIntent.create(**lamp())
    assert refusal.value.http_status == 500
    assert one_key(simulator) == [500]
    assert simulator.charges() == 1


def test_a_key_in_use_is_waited_for(sdk, simulator):
    simulator.fault("payment_intents.create", "delay", delay_ms=700)
    purchase = lamp(idempotency_key="cart-7")
    with ThreadPoolExecutor() as another:
        first = another.submit(sdk.PaymentIntent.create, **purchase)
        eventually(simulator.requests)
        second = sdk.PaymentIntent.create(**purchase)
        assert second.id == first.result().id
    assert one_key(simulator)[:2] == [200, 409]
    assert simulator.charges() == 1


def test_the_rate_limit_is_no_reason_to_hurry(sdk, simulator):
    simulator.fault("payment_intents.create", "rate_limit")
    with pytest.raises(stripe.RateLimitError) as refusal:
        sdk.PaymentIntent.create(**lamp())
    assert refusal.value.error.code == "rate_limit"
    assert one_key(simulator) == [429]
    assert simulator.charges() == 0
