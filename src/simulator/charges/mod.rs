//! Charges: one attempt to take money, successful or not.
//!
//! A charge is a copy point. It takes the intent's metadata and description as they are when it is made, and
//! later changes to the intent do not reach it.

mod blank;
mod refund;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use self::blank::{approval, receipt_url, refusal};
pub(super) use self::refund::{give_back, mark_disputed, named, take_again};
use super::{
    balance_transactions::{self, Kind, Movement, processing_fee},
    call::Call,
    disputes,
    error::ApiError,
    events,
    lists::{Filter, Page},
    objects,
    params::Params,
    payment_intents::PaymentIntent,
    payment_methods::{self, Decline, Failure, PaymentMethod, TestMethod},
};

/// The part of a charge that changes. Everything else the API shows is in `rest`, carried along unread.
#[expect(clippy::struct_excessive_bools, reason = "they are the API's")]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Charge {
    pub(super) id: String,
    pub(super) amount: i64,
    pub(super) amount_captured: i64,
    pub(super) amount_refunded: i64,
    balance_transaction: Option<String>,
    pub(super) captured: bool,
    pub(super) currency: String,
    pub(super) customer: Option<String>,
    pub(super) disputed: bool,
    description: Option<String>,
    failure_code: Option<String>,
    failure_message: Option<String>,
    outcome: Value,
    paid: bool,
    pub(super) payment_intent: String,
    pub(super) payment_method: String,
    receipt_url: Option<String>,
    /// True only when all of it was given back.
    pub(super) refunded: bool,
    pub(super) status: Status,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Pending,
    Succeeded,
    Failed,
}

/// `GET /v1/charges/{id}`
pub(super) async fn retrieve(
    call: &mut Call<'_>,
    id: &str,
    params: Params,
) -> Result<Value, ApiError> {
    params.finish()?;
    objects::in_path(call.conn().await?, "charge", id).await
}

/// `GET /v1/charges`
pub(super) async fn list(call: &mut Call<'_>, mut params: Params) -> Result<Value, ApiError> {
    let page = Page::parse(&mut params)?;
    let filters = Filter::parse(&mut params, &["customer", "payment_intent"])?;
    params.finish()?;
    page.fetch(call.conn().await?, "charge", "/v1/charges", &filters)
        .await
}

/// The bank pays. With `captured` false it only promises to.
pub(super) async fn succeed(
    call: &mut Call<'_>,
    intent: &PaymentIntent,
    method: &PaymentMethod,
    captured: bool,
) -> Result<Charge, ApiError> {
    let mut charge = Charge::pending(call, intent, method, None)?;
    charge.status = Status::Succeeded;
    charge.paid = true;
    charge.captured = captured;
    charge.amount_captured = if captured { intent.amount } else { 0 };
    charge.receipt_url = Some(receipt_url(&charge.id));
    charge.outcome = approval();
    // With asynchronous capture the money is counted a moment later: see `add_to_balance`.
    if captured && intent.capture_method == "automatic" {
        charge.balance_transaction = Some(charge.enter_balance(call).await?);
    }
    charge.insert(call)?;
    charge.announce(call, "charge.succeeded")?;
    if captured {
        disputes::expect(call, &charge, method.test.quirk);
    }
    Ok(charge)
}

/// The bank refuses.
pub(super) fn fail(
    call: &mut Call<'_>,
    intent: &PaymentIntent,
    method: &PaymentMethod,
    decline: &Decline,
) -> Result<Charge, ApiError> {
    let mut charge = Charge::pending(call, intent, method, None)?;
    charge.status = Status::Failed;
    charge.failure_code = Some(decline.code.to_owned());
    charge.failure_message = Some(decline.message.to_owned());
    charge.outcome = refusal(decline.decline_code, decline.advice_code);
    charge.insert(call)?;
    charge.announce(call, "charge.failed")?;
    Ok(charge)
}

/// A bank debit begins; nobody knows yet how it ends. The caller announces it.
pub(super) fn begin(
    call: &mut Call<'_>,
    intent: &PaymentIntent,
    method: &PaymentMethod,
    mandate: &str,
) -> Result<Charge, ApiError> {
    let mut charge = Charge::pending(call, intent, method, Some(mandate))?;
    charge.captured = true;
    charge.insert(call)?;
    Ok(charge)
}

/// The money of a debit arrives.
pub(super) async fn arrive(call: &mut Call<'_>, id: &str) -> Result<(), ApiError> {
    let Some(mut charge) = find(call, id).await? else {
        return Ok(());
    };
    charge.status = Status::Succeeded;
    charge.paid = true;
    charge.amount_captured = charge.amount;
    charge.receipt_url = Some(receipt_url(id));
    charge.outcome = approval();
    charge.balance_transaction = Some(charge.enter_balance(call).await?);
    charge.save(call)?;
    charge.announce(call, "charge.succeeded")
}

/// The bank refuses a debit.
pub(super) async fn bounce(
    call: &mut Call<'_>,
    id: &str,
    failure: Failure,
) -> Result<(), ApiError> {
    let Some(mut charge) = find(call, id).await? else {
        return Ok(());
    };
    charge.failure_code = Some(failure.charge_code.to_owned());
    charge.failure_message = Some(failure.message.to_owned());
    charge.outcome = refusal("generic_decline", None);
    charge.give_up(call)
}

/// A debit is taken back before the bank has decided.
pub(super) async fn recall(call: &mut Call<'_>, id: &str) -> Result<(), ApiError> {
    match find(call, id).await? {
        Some(mut charge) => charge.give_up(call),
        None => Ok(()),
    }
}

/// The asynchronous capture of a payment intent comes to its end: the balance transaction of its charge appears and
/// `charge.updated` tells of it.
pub(super) async fn add_to_balance(call: &mut Call<'_>, intent: &str) -> Result<(), ApiError> {
    let body: Option<String> = sqlx::query_scalar(
        "select charge.body
         from objects intent join objects charge on charge.id = intent.body ->> '$.latest_charge'
         where intent.id = $1",
    )
    .bind(intent)
    .fetch_optional(call.conn().await?)
    .await?;
    let Some(body) = body else {
        return Ok(());
    };
    let mut charge: Charge = serde_json::from_str(&body)?;
    charge.balance_transaction = Some(charge.enter_balance(call).await?);
    let shown = charge.save(call)?;
    let before = json!({ "balance_transaction": null });
    events::record_update(call, "charge.updated", &shown, &before)
}

/// Money that was authorized is taken; what is left of it is released.
pub(super) async fn capture(call: &mut Call<'_>, id: &str, amount: i64) -> Result<(), ApiError> {
    let Some(mut charge) = find(call, id).await? else {
        return Ok(());
    };
    charge.captured = true;
    charge.amount_captured = amount;
    charge.balance_transaction = Some(charge.enter_balance(call).await?);
    let shown = charge.save(call)?;
    events::record(call, "charge.captured", &shown)?;
    let quirk = payment_methods::quirk(call, &charge.payment_method).await?;
    disputes::expect(call, &charge, quirk);
    Ok(())
}

/// An authorization is given back. The money was never taken, yet the API shows the charge as refunded.
///
/// `event` says why: `charge.refunded` when it was canceled, `charge.expired` when nobody captured it in time.
pub(super) async fn release(
    call: &mut Call<'_>,
    id: &str,
    event: &'static str,
) -> Result<(), ApiError> {
    let Some(mut charge) = find(call, id).await? else {
        return Ok(());
    };
    charge.amount_refunded = charge.amount;
    charge.refunded = true;
    let shown = charge.save(call)?;
    events::record(call, event, &shown)
}

async fn find(call: &mut Call<'_>, id: &str) -> Result<Option<Charge>, ApiError> {
    let found = objects::find(call.conn().await?, "charge", id).await?;
    Ok(found.map(serde_json::from_value).transpose()?)
}

impl Charge {
    /// The type of its payment method: `card`, `us_bank_account`, …
    pub(super) fn kind(&self) -> &str {
        self.details("/type").unwrap_or_default()
    }

    pub(super) fn card_brand(&self) -> Option<&str> {
        self.details("/card/brand")
    }

    fn details(&self, pointer: &str) -> Option<&str> {
        let details = self.rest.get("payment_method_details")?;
        details.pointer(pointer)?.as_str()
    }

    /// Returns the id of the balance transaction.
    async fn enter_balance(&self, call: &mut Call<'_>) -> Result<String, ApiError> {
        let test = payment_methods::test_behind(call, &self.payment_method).await?;
        let is_card = self.kind() == "card";
        let movement = Movement {
            kind: if is_card { Kind::Charge } else { Kind::Payment },
            source: &self.id,
            amount: self.amount_captured,
            fee: processing_fee(self.amount_captured),
            currency: &self.currency,
            description: self.description.as_deref(),
            available_at_once: test.is_some_and(TestMethod::is_available_at_once),
        };
        balance_transactions::record(call, &movement)
    }

    fn insert(&self, call: &mut Call<'_>) -> Result<(), ApiError> {
        objects::insert(call.tx, self)
    }

    /// Writes an event about it.
    pub(super) fn announce(
        &self,
        call: &mut Call<'_>,
        event: &'static str,
    ) -> Result<(), ApiError> {
        events::record(call, event, &serde_json::to_value(self)?)
    }

    fn save(&self, call: &mut Call<'_>) -> Result<Value, ApiError> {
        let shown = serde_json::to_value(self)?;
        objects::update(call.tx, &self.id, &shown)?;
        Ok(shown)
    }

    fn give_up(&mut self, call: &mut Call<'_>) -> Result<(), ApiError> {
        self.status = Status::Failed;
        self.captured = false;
        self.save(call)?;
        self.announce(call, "charge.failed")
    }
}
