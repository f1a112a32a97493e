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
    """Something of everything has happened."""
    client.v1.payment_intents.create(LAMP)
    client.v1.payment_intents.create({**LAMP, "payment_method": "pm_card_visa"})
    address = {"line1": "1 High Street", "country": "US"}
    client.v1.payment_intents.create(lamp(metadata={"cart": "7"}, shipping={"name": "A Buyer", "address": address}))
    held = client.v1.payment_intents.create(lamp(capture_method="manual"))
    client.v1.payment_intents.cancel(held.id)
    client.v1.payment_intents.create(lamp(capture_method="manual"))
    for method in ["pm_card_chargeDeclined", "pm_card_chargeDeclinedIncorrectCvc"]:
        with pytest.raises(stripe.CardError):
            client.v1.payment_intents.create(lamp(method))
    asked = [
        client.v1.payment_intents.create(lamp("pm_card_threeDSecure2Required", return_url=RETURN_URL)) for _ in range(3)
    ]
    simulator.customer(asked[0].next_action.redirect_to_url.url, "approve")
    simulator.customer(asked[1].next_action.redirect_to_url.url, "refuse")


@pytest.mark.usefixtures("busy_day")
def test_every_object_fits_its_class(client):
    seen = set()
    for service in [client.v1.payment_intents, client.v1.charges, client.v1.events]:
        page = service.list({"limit": 100})
        misfits = list(misfits_in(page, type(page).__name__, seen))
        assert misfits == []
    assert {"PaymentIntent", "Charge", "PaymentMethod", "Event"} <= seen


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
