"""Every object fits its class: what the class annotates as not optional has a value, and all values are of their types."""

import inspect
from typing import Any, ClassVar, ForwardRef, Literal, TypeVar, Union, get_args, get_origin

import pytest
import stripe
from stripe import StripeObject

from purchases import LAMP, lamp

RETURN_URL = "https://shop.example/after"


@pytest.fixture
def busy_day(client, simulator):
    """Something of everything has happened. What comes by itself later has come too."""
    address = {"line1": "1 High Street", "country": "US"}
    ann = client.v1.customers.create({"name": "Ann", "address": address, "shipping": {"name": "Ann", "address": address}})
    client.v1.payment_methods.attach("pm_card_visa", {"customer": ann.id})
    client.v1.webhook_endpoints.create({"url": "http://127.0.0.1:9/", "enabled_events": ["*"]})
    mandate = {"customer_acceptance": {"type": "offline"}}
    debit = {"payment_method_types": ["us_bank_account"], "mandate_data": mandate}
    for purchase in [
        LAMP,
        {**LAMP, "payment_method": "pm_card_visa"},
        lamp(customer=ann.id, metadata={"cart": "7"}, shipping={"name": "Ann", "address": address}),
        lamp("pm_card_createDispute"),
        lamp("pm_usBankAccount_success", **debit),
        lamp("pm_usBankAccount_processing", **debit),
    ]:
        client.v1.payment_intents.create(purchase)
    for method in ["pm_card_chargeDeclined", "pm_card_chargeDeclinedIncorrectCvc"]:
        with pytest.raises(stripe.CardError):
            client.v1.payment_intents.create(lamp(method))
    for method in ["pm_card_visa", "pm_card_pendingRefund", "pm_card_refundFail"]:
        client.v1.refunds.create({"payment_intent": client.v1.payment_intents.create(lamp(method)).id, "amount": 1000})
    held = client.v1.payment_intents.create(lamp(capture_method="manual"))
    client.v1.payment_intents.cancel(held.id)
    held = client.v1.payment_intents.create(lamp(capture_method="manual"))
    client.v1.payment_intents.capture(held.id, {"amount_to_capture": 1200})
    for verdict in ["approve", "refuse"]:
        asked = client.v1.payment_intents.create(lamp("pm_card_threeDSecure2Required", return_url=RETURN_URL))
        simulator.customer(asked.next_action.redirect_to_url.url, verdict)
    simulator.control("POST", "settle", {})
    client.v1.payment_intents.create(lamp("pm_card_threeDSecure2Required", return_url=RETURN_URL))
    client.v1.payment_intents.create(lamp(capture_method="manual"))


@pytest.mark.usefixtures("busy_day")
def test_every_object_fits_its_class(client):
    v1 = client.v1
    services = [v1.payment_intents, v1.charges, v1.refunds, v1.customers, v1.disputes, v1.webhook_endpoints]
    services += [v1.balance_transactions, v1.events]
    lists = [service.list({"limit": 100}) for service in services]
    ann = v1.customers.list().data[0].id
    others = [
        v1.payment_methods.list({"customer": ann}),
        v1.balance.retrieve(),
        v1.payment_intents.search({"query": "status:'succeeded'", "limit": 1}),
    ]
    seen = set()
    assert [misfit for thing in lists + others for misfit in misfits_in(thing, type(thing).__name__, seen)] == []
    assert seen >= {
        "Balance", "BalanceTransaction", "Charge", "Customer", "Dispute", "Event", "ListObject", "PaymentIntent",
        "PaymentMethod", "Refund", "SearchResultObject", "WebhookEndpoint",
    }  # fmt: skip


def test_an_error_fits_its_class(client):
    with pytest.raises(stripe.CardError) as refusal:
        client.v1.payment_intents.create(lamp("pm_card_chargeDeclined"))
    error = stripe.PaymentIntent.LastPaymentError.construct_from(refusal.value.json_body["error"], None)
    assert list(misfits_in(error, "error", set())) == []


def test_what_does_not_fit_is_noticed(client):
    fields = client.v1.payment_intents.create(LAMP).to_dict()
    del fields["amount"]
    fields["livemode"] = "no"
    intent = stripe.PaymentIntent.construct_from(fields, None)
    misfits = [misfit.split(":")[0] for misfit in misfits_in(intent, "intent", set())]
    assert misfits == ["intent.amount", "intent.livemode"]


def misfits_in(thing, path, seen):
    """What does not fit, in `thing` and in everything inside of it."""
    seen.add(type(thing).__name__)
    for name, hint in inspect.get_annotations(type(thing)).items():
        value = getattr(thing, name, None)
        is_field = not name.startswith("_") and get_origin(hint) is not ClassVar
        if is_field and not fits(value, hint):
            yield f"{path}.{name}: {value!r} is no {hint}"
    for name, value in thing.to_dict(recursive=False).items():
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, StripeObject):
                yield from misfits_in(inner, f"{path}.{name}", seen)


def fits(value, hint):
    match get_origin(hint):
        case origin if origin is Union:
            return any(fits(value, member) for member in get_args(hint))
        case origin if origin is Literal:
            return value in get_args(hint)
        case origin if origin is list:
            return isinstance(value, list) and all(fits(element, get_args(hint)[0]) for element in value)
        case None if isinstance(hint, ForwardRef):
            return type(value).__name__ == hint.__forward_arg__
        case None if isinstance(hint, TypeVar) or hint is Any:
            return True
        case None:
            return isinstance(value, hint)
        case _:
            return isinstance(value, StripeObject)
