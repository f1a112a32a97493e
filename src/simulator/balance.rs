//! The balance: what the account has, and what is on its way.
//!
//! It is the sum of the balance transactions, net of fees, each in its own currency, for nothing is converted here.
//! What a card paid is pending for two days. Refunds and disputes take their money from what is available, at
//! once, so that can be less than nothing while the payment is still pending.

use serde_json::{Value, json};

use super::{call::Call, error::ApiError, params::Params};

/// What an account without any movement shows as its currency.
const ACCOUNT_CURRENCY: &str = "usd";

/// `GET /v1/balance`
pub(super) async fn retrieve(call: &mut Call<'_>, params: Params) -> Result<Value, ApiError> {
    params.finish()?;
    let mut sums: Vec<(String, i64, i64)> = sqlx::query_as(
        "select body ->> '$.currency',
                sum(iif(body ->> '$.status' = 'available', body ->> '$.net', 0)),
                sum(iif(body ->> '$.status' = 'pending', body ->> '$.net', 0))
         from objects
         where kind = 'balance_transaction'
         group by 1
         order by 1",
    )
    .fetch_all(call.conn().await?)
    .await?;
    if sums.is_empty() {
        sums.push((ACCOUNT_CURRENCY.to_owned(), 0, 0));
    }
    let entry = |currency: &str, amount: i64| json!({ "amount": amount, "currency": currency, "source_types": { "card": amount } });
    let available: Value = sums
        .iter()
        .map(|(currency, available, _)| entry(currency, *available))
        .collect();
    let pending: Value = sums
        .iter()
        .map(|(currency, _, pending)| entry(currency, *pending))
        .collect();
    Ok(json!({
        "object": "balance",
        "available": available,
        "livemode": false,
        "pending": pending
    }))
}
