//! The customer's part in 3-D Secure: they approve or refuse on the bank's page.

use super::{
    PaymentIntent, Status,
    attempt::{authentication_failure, charge_and_decline, fail, succeed},
    find,
};
use crate::simulator::{
    call::Call,
    error::ApiError,
    payment_methods::{self, Behaviour},
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
    match (verdict, method.test.behaviour) {
        (Verdict::Refused, _) => {
            fail(call, &mut intent, authentication_failure(method.object)).await?;
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
            charge_and_decline(call, &mut intent, &method, &decline).await?;
        }
        (Verdict::Approved, Behaviour::Pays | Behaviour::Authenticates { then: None, .. }) => {
            intent.next_action = None;
            succeed(call, &mut intent, &method).await?;
        }
    }
    Ok(intent)
}
