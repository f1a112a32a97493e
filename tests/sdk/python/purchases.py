"""What the stories buy."""

# Paid by card alone, so no page to return to is needed.
LAMP = {"amount": 4200, "currency": "usd", "payment_method_types": ["card"]}


def lamp(payment_method="pm_card_visa", **more):
    """Bought and paid in one call."""
    return {**LAMP, "payment_method": payment_method, "confirm": True, **more}
