"""Endpoints that are set up through the API, and secrets that change while events are on their way."""

import pytest
import stripe

from purchases import lamp


@pytest.fixture
def endpoint(client, receiver):
    """Hears of payments that succeeded. Only now does the SDK learn its secret."""
    return client.v1.webhook_endpoints.create({"url": receiver.url, "enabled_events": ["payment_intent.succeeded"]})


def verifies(delivery, secret):
    body, signature = delivery
    try:
        return stripe.Webhook.construct_event(body, signature, secret).id
    except stripe.SignatureVerificationError:
        return None


def test_an_endpoint_hears_what_it_wants_to_hear(client, receiver, endpoint):
    assert endpoint.secret.startswith("whsec_")
    intent = client.v1.payment_intents.create(lamp())
    delivery = receiver.waits_for("payment_intent.succeeded")
    event = stripe.Webhook.construct_event(*delivery, endpoint.secret)
    assert event.data.object.id == intent.id
    assert len(receiver.deliveries) == 1


def test_an_endpoint_is_looked_at_changed_and_deleted(client, endpoint):
    again = client.v1.webhook_endpoints.retrieve(endpoint.id)
    assert (again.status, again.enabled_events) == ("enabled", ["payment_intent.succeeded"])
    assert getattr(again, "secret", None) is None

    changed = client.v1.webhook_endpoints.update(
        endpoint.id, {"enabled_events": ["*"], "disabled": True, "metadata": {"for": "tests"}}
    )
    assert (changed.status, changed.enabled_events, changed.metadata["for"]) == ("disabled", ["*"], "tests")
    assert [it.id for it in client.v1.webhook_endpoints.list()] == [endpoint.id]

    assert client.v1.webhook_endpoints.delete(endpoint.id).deleted
    with pytest.raises(stripe.InvalidRequestError) as refusal:
        client.v1.webhook_endpoints.retrieve(endpoint.id)
    assert (refusal.value.http_status, refusal.value.code) == (404, "resource_missing")


def test_while_a_secret_is_rolled_both_verify(client, simulator, receiver, endpoint):
    rolled = simulator.control("POST", f"webhook_endpoints/{endpoint.id}/roll", {"overlap_seconds": 3600})
    assert rolled["id"] == endpoint.id
    assert rolled["secret"] != endpoint.secret
    client.v1.payment_intents.create(lamp())
    delivery = receiver.waits_for("payment_intent.succeeded")
    assert verifies(delivery, endpoint.secret)
    assert verifies(delivery, rolled["secret"])


def test_once_a_secret_is_rolled_the_old_one_does_not_verify(client, simulator, receiver, endpoint):
    rolled = simulator.control("POST", f"webhook_endpoints/{endpoint.id}/roll", {"overlap_seconds": 3600})
    simulator.control("POST", "clock", {"advance_seconds": 3601})
    client.v1.payment_intents.create(lamp())
    delivery = receiver.waits_for("payment_intent.succeeded")
    assert not verifies(delivery, endpoint.secret)
    assert verifies(delivery, rolled["secret"])


def test_an_endpoint_has_its_own_version_of_the_api(client, receiver):
    version = "2026-07-29.dahlia"
    endpoint = client.v1.webhook_endpoints.create(
        {"url": receiver.url, "enabled_events": ["*"], "api_version": version}
    )
    client.v1.payment_intents.create(lamp())
    delivery = receiver.waits_for("payment_intent.succeeded")
    assert stripe.Webhook.construct_event(*delivery, endpoint.secret).api_version == version

