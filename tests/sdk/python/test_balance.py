"""What is in the till."""

from purchases import lamp


def test_payments_and_refunds_move_the_balance(client, simulator):
    paid = client.v1.payment_intents.create(lamp("pm_card_bypassPending"))
    simulator.control("POST", "settle", {})
    charge = client.v1.charges.retrieve(paid.latest_charge, {"expand": ["balance_transaction"]})
    bought = charge.balance_transaction
    assert (bought.type, bought.amount, bought.source) == ("charge", 4200, charge.id)
    assert bought.net == bought.amount - bought.fee

    client.v1.refunds.create({"payment_intent": paid.id, "amount": 1000})
    transactions = client.v1.balance_transactions.list().data
    assert [(it.type, it.amount) for it in transactions] == [("refund", -1000), ("charge", 4200)]

    balance = client.v1.balance.retrieve()
    funds = [*balance.available, *balance.pending]
    assert sum(fund.amount for fund in funds if fund.currency == "usd") == sum(it.net for it in transactions)
