"""What the documentation of the simulator shows is run here as it stands there."""

import json
import subprocess
import sys

import pytest
import stripe

import documentation
from purchases import LAMP


@pytest.mark.parametrize("code", documentation.blocks("python"))
def test_python_prints_what_it_promises(simulator, code):
    assert prints(sys.executable, "-c", documentation.at(simulator, code)) == documentation.promised(code)


BUYING, *LEVERS = documentation.blocks("sh")


@pytest.mark.parametrize("session", [BUYING, "".join(LEVERS)], ids=["buying", "levers"])
def test_the_shell_prints_what_it_promises(simulator, session):
    assert prints("bash", "-euc", documentation.at(simulator, session)) == documentation.promised(session)


def prints(*command):
    run = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


FAULTS = documentation.rows("fault", "example", "what happens")


@pytest.mark.parametrize(("name", "example"), [(name, example) for name, example, _ in FAULTS])
def test_an_example_of_a_fault_is_one(simulator, name, example):
    armed = simulator.control("POST", "faults", json.loads(example))
    assert armed["fault"] == name


def test_every_payment_method_has_the_outcome_that_is_told(client, simulator):
    told = {
        spelling: (at_once, in_the_end or at_once)
        for name, at_once, in_the_end, _ in documentation.rows("payment method", "at once", "in the end", "besides")
        for spelling in documentation.spellings(name)
    }
    assert {name: outcome(client, simulator, name) for name in told} == told


def outcome(client, simulator, payment_method):
    """What is said at once, and what in the end, when the customer approves of everything."""
    try:
        intent = client.v1.payment_intents.create(purchase(payment_method))
    except stripe.CardError as refusal:
        return (f"{refusal.error.code}, {refusal.error.decline_code}",) * 2
    if intent.status == "requires_action":
        simulator.customer(intent.next_action.redirect_to_url.url, "approve")
    simulator.control("POST", "settle", {})
    end = client.v1.payment_intents.retrieve(intent.id)
    return intent.status, end.last_payment_error.code if end.last_payment_error else end.status


def purchase(payment_method):
    details = {**LAMP, "payment_method": payment_method, "confirm": True, "return_url": "https://shop.example/after"}
    if payment_method.startswith("pm_card"):
        return details
    kind, currency = ("sepa_debit", "eur") if payment_method.startswith("pm_sepa") else ("us_bank_account", "usd")
    mandate = {"customer_acceptance": {"type": "offline"}}
    return {**details, "currency": currency, "payment_method_types": [kind], "mandate_data": mandate}
