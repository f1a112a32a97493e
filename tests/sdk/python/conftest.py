"""A simulator for each story, and the official SDK pointed at it: the base URL is all that is changed."""

import pytest
import stripe

from receiver import Receiver
from simulator import KEY, Simulator


@pytest.fixture
def simulator():
    with Simulator() as simulator:
        yield simulator


@pytest.fixture
def client(simulator):
    """The SDK as it is used today: a client with its services."""
    return stripe.StripeClient(KEY, base_addresses={"api": simulator.url})


@pytest.fixture
def sdk(simulator, monkeypatch):
    """The SDK as it has been used for years: one module, which sends a request again by itself."""
    monkeypatch.setattr(stripe, "api_key", KEY)
    monkeypatch.setattr(stripe, "api_base", simulator.url)
    return stripe


@pytest.fixture
def receiver():
    with Receiver() as receiver:
        yield receiver
