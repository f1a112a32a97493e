//! The customer's part in 3-D Secure: they approve or refuse on the bank's page.

use super::{
    PaymentIntent, Status,
    attempt::{authentication_failure, charge_and_decline, fail, succeed},
    find,
};
use crate::simulator::{
    call::Call,
    error::ApiError,
    payment_methods::{self, Behaviour, PaymentMethod},
};

/// What the customer told the bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::simulator) enum Verdict {
    Approved,
    Refused,
}

/// Concludes an intent that waits for its customer. Any other is returned as it is: pressing the button twice,
/// or after a cancellation, changes nothing.
pub(in crate::simulator) async fn authenticate(
    call: &mut Call<'_>,
    id: &str,
    verdict: Verdict,
) -> Result<PaymentIntent, ApiError> {
    let mut intent = find(call, id).await?;
    let (Status::RequiresAction, Some(name)) = (intent.status, intent.payment_method.clone())
    else {
        return Ok(intent);
    };
    let method = payment_methods::resolve(call, &name).await?;
    if verdict == Verdict::Approved && intent.confirmation_method == "manual" {
        // The shop's server wants the last word: it confirms once more.
        remember_approval(call, &intent.id, &name);
        intent.status = Status::RequiresConfirmation;
        intent.next_action = None;
        intent.save(call)?;
        return Ok(intent);
    }
    match (verdict, method.test.behaviour) {
        (Verdict::Refused, _) => {
            fail(call, &mut intent, authentication_failure(method.object))?;
        }
        (
            Verdict::Approved,
            Behaviour::Declines(decline)
            | Behaviour::Authenticates {
                then: Some(decline),
                ..
            },
        ) => {
            intent.next_action = None;
            charge_and_decline(call, &mut intent, &method, &decline)?;
        }
        (
            Verdict::Approved,
            Behaviour::Pays | Behaviour::Debits(_) | Behaviour::Authenticates { then: None, .. },
        ) => {
            intent.next_action = None;
            succeed(call, &mut intent, &method).await?;
        }
    }
    Ok(intent)
}

fn remember_approval(call: &mut Call<'_>, id: &str, method: &str) {
    call.tx
        .write("update objects set approved_method = ? where id = ?")
        .bind(method)
        .bind(id);
}

/// What the customer approved is not what they would pay any more.
pub(super) fn forget_approval(call: &mut Call<'_>, id: &str) {
    call.tx
        .write("update objects set approved_method = null where id = ?")
        .bind(id);
}

/// Whether the customer has approved a payment with this method, and only the last confirm is missing.
pub(super) async fn is_approved(
    call: &mut Call<'_>,
    intent: &PaymentIntent,
    method: &PaymentMethod,
) -> Result<bool, ApiError> {
    if intent.confirmation_method != "manual" {
        return Ok(false);
    }
    let approved: Option<String> =
        sqlx::query_scalar("select approved_method from objects where id = $1")
            .bind(&intent.id)
            .fetch_optional(call.conn().await?)
            .await?
            .flatten();
    Ok(approved.as_deref() == Some(method.id.as_str()))
}
