//! Balance transactions: every movement of money into or out of the account's balance.
//!
//! A charge adds its amount less a fee, a refund takes its amount away; the fee is not given back. Money is
//! `pending` for two days and `available` then, which the schedule sees to.
//!
//! The fee is one rule for every payment: 2.9 % and 30 minor units of the currency, rounded half up. At Stripe it
//! depends on country, card and contract, so it is not to be relied on there.

use serde_json::{Value, json};

use super::{
    call::Call,
    error::ApiError,
    ids,
    lists::{Filter, Page},
    objects,
    params::Params,
    schedule::{self, Effect},
};

/// How long money is on its way.
const PENDING_SECONDS: i64 = 2 * 24 * 60 * 60;

/// A movement of money that is to be recorded.
#[derive(Debug)]
pub(super) struct Movement<'m> {
    pub(super) kind: Kind,
    /// The object behind it: a charge, a refund, …
    pub(super) source: &'m str,
    /// Minor units; negative when money leaves the balance.
    pub(super) amount: i64,
    /// See [`processing_fee`].
    pub(super) fee: i64,
    pub(super) currency: &'m str,
    pub(super) description: Option<&'m str>,
    /// Some test methods spare a test the wait.
    pub(super) available_at_once: bool,
}

/// The transaction's type, in the words of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A card paid.
    Charge,
    /// Any other method did.
    Payment,
    /// Money went back to a card.
    Refund,
    /// Or to another account of a customer.
    PaymentRefund,
    /// It came again, because the customer's bank did not take it.
    RefundFailure,
    /// A customer's bank took money that is disputed.
    Dispute,
    /// It gave it back.
    DisputeReversal,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Charge => "charge",
            Kind::Payment => "payment",
            Kind::Refund => "refund",
            Kind::PaymentRefund => "payment_refund",
            Kind::RefundFailure => "refund_failure",
            Kind::Dispute | Kind::DisputeReversal => "adjustment",
        }
    }

    /// The coarser word that accountants use.
    fn reporting_category(self) -> &'static str {
        match self {
            Kind::Charge | Kind::Payment => "charge",
            Kind::Refund | Kind::PaymentRefund => "refund",
            Kind::RefundFailure => "refund_failure",
            Kind::Dispute => "dispute",
            Kind::DisputeReversal => "dispute_reversal",
        }
    }
}

/// What the provider keeps of a payment.
pub(super) fn processing_fee(amount: i64) -> i64 {
    (amount * 29 + 500) / 1000 + 30
}

/// `GET /v1/balance_transactions/{id}`
pub(super) async fn retrieve(
    call: &mut Call<'_>,
    id: &str,
    params: Params,
) -> Result<Value, ApiError> {
    params.finish()?;
    objects::in_path(call.conn().await?, "balance_transaction", id).await
}

/// `GET /v1/balance_transactions`
pub(super) async fn list(call: &mut Call<'_>, mut params: Params) -> Result<Value, ApiError> {
    let page = Page::parse(&mut params)?;
    let filters = Filter::parse(&mut params, &["currency", "source", "type"])?;
    params.finish()?;
    let url = "/v1/balance_transactions";
    page.fetch(call.conn().await?, "balance_transaction", url, &filters)
        .await
}

/// Records a movement and returns the transaction's id.
pub(super) fn record(call: &mut Call<'_>, movement: &Movement<'_>) -> Result<String, ApiError> {
    let id = ids::object_id("txn");
    let Movement {
        kind,
        source,
        amount,
        fee,
        currency,
        description,
        available_at_once,
    } = *movement;
    let fee_details = if fee == 0 {
        json!([])
    } else {
        json!([{
            "amount": fee,
            "application": null,
            "currency": currency,
            "description": "Processing fees",
            "type": "stripe_fee"
        }])
    };
    let pending_seconds = if available_at_once {
        0
    } else {
        PENDING_SECONDS
    };
    let transaction = json!({
        "id": id,
        "object": "balance_transaction",
        "amount": amount,
        "available_on": call.now + pending_seconds,
        "balance_type": "payments",
        "created": call.now,
        "currency": currency,
        "description": description,
        "exchange_rate": null,
        "fee": fee,
        "fee_details": fee_details,
        "net": amount - fee,
        "reporting_category": kind.reporting_category(),
        "source": source,
        "status": if available_at_once { "available" } else { "pending" },
        "type": kind.name()
    });
    objects::insert(call.tx, &transaction)?;
    if !available_at_once {
        schedule::later(call, PENDING_SECONDS, Effect::MakeAvailable, &id);
    }
    Ok(id)
}

/// The money has arrived.
pub(super) async fn make_available(call: &mut Call<'_>, id: &str) -> Result<(), ApiError> {
    let mut transaction = objects::in_path(call.conn().await?, "balance_transaction", id).await?;
    objects::set(&mut transaction, "status", json!("available"));
    objects::update(call.tx, id, &transaction)
}

#[cfg(test)]
mod tests {
    use super::processing_fee;

    #[test]
    fn the_fee_is_a_share_and_a_fixed_part() {
        assert_eq!(processing_fee(10_000), 320);
        assert_eq!(processing_fee(4200), 152);
        assert_eq!(processing_fee(50), 31);
        assert_eq!(processing_fee(99_999_999), 2_900_030);
    }
}
