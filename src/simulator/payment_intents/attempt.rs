//! One attempt to be paid: the card answers, and the intent moves.

use serde_json::{Value, json};

use super::{PaymentIntent, Status, authenticate::is_approved, debit};
use crate::simulator::{
    call::Call,
    charges,
    error::ApiError,
    events,
    mandates::Acceptance,
    params::Params,
    payment_methods::{
        self, AUTHENTICATION_NOT_HANDLED, AUTHENTICATION_REQUIRED, Behaviour, Decline,
        PaymentMethod,
    },
    schedule::{self, Effect},
};

/// How long the bank holds money that is not captured.
const AUTHORIZATION_SECONDS: i64 = 7 * 24 * 60 * 60;

/// When the money of an asynchronous capture is counted.
const ASYNCHRONOUS_CAPTURE_SECONDS: i64 = 2;

/// The parameters that go with confirming.
#[derive(Debug)]
pub(super) struct Confirmation {
    return_url: Option<String>,
    off_session: bool,
    error_on_requires_action: bool,
    /// The customer's permission, for a bank debit.
    mandate: Option<Acceptance>,
}

/// A create takes these only together with `confirm=true`.
const ONLY_WITH_CONFIRM: [&str; 4] = [
    "error_on_requires_action",
    "mandate_data",
    "off_session",
    "return_url",
];

impl Confirmation {
    pub(super) fn parse(params: &mut Params) -> Result<Self, ApiError> {
        // Says how the client would follow a next action; both ways work here, whatever it says.
        params.boolean("use_stripe_sdk")?;
        let off_session =
            params.one_of("off_session", &["true", "false", "one_off", "recurring"])?;
        Ok(Self {
            return_url: return_url(params)?,
            off_session: off_session.is_some_and(|text| text != "false"),
            error_on_requires_action: params.boolean("error_on_requires_action")?.unwrap_or(false),
            mandate: Acceptance::parse(params)?,
        })
    }

    /// For a request that does not confirm.
    pub(super) fn check_absent(params: &Params) -> Result<(), ApiError> {
        match params.first_given(&ONLY_WITH_CONFIRM) {
            None => Ok(()),
            Some(param) => {
                let message = format!("You may only specify {param} when confirm is true.");
                Err(ApiError::invalid(message).param(param))
            }
        }
    }
}

fn return_url(params: &mut Params) -> Result<Option<String>, ApiError> {
    let given = params.text("return_url")?;
    if let Some(text) = &given
        && url::Url::parse(text).is_err()
    {
        return Err(ApiError::invalid("The return_url is not a valid URL.")
            .code("url_invalid")
            .param("return_url"));
    }
    Ok(given)
}

/// Confirms `intent` with `method`. An error here is an outcome: it is committed like a success.
pub(super) async fn attempt(
    call: &mut Call<'_>,
    intent: &mut PaymentIntent,
    method: Option<PaymentMethod>,
    confirmation: &Confirmation,
) -> Result<(), ApiError> {
    let Some(method) = method else {
        let message = "This PaymentIntent has no payment method, so it cannot be confirmed. Update it with one, or name one when you confirm.";
        return Err(intent.unexpected_state(message)?);
    };
    intent.check_terms(&method, confirmation)?;
    intent.last_payment_error = None;
    intent.next_action = None;
    intent.payment_method = Some(method.id.clone());
    let approved = is_approved(call, intent, &method).await?;
    match method.test.behaviour {
        Behaviour::Pays => succeed(call, intent, &method).await,
        Behaviour::Declines(decline) => Err(charge_and_decline(call, intent, &method, &decline)?),
        Behaviour::Debits(debit) => {
            debit::begin(call, intent, &method, debit, confirmation.mandate.as_ref())
        }
        Behaviour::Authenticates { then, .. } if approved => match then {
            None => succeed(call, intent, &method).await,
            Some(decline) => Err(charge_and_decline(call, intent, &method, &decline)?),
        },
        Behaviour::Authenticates { .. }
            if confirmation.off_session && method.passes_off_session() =>
        {
            succeed(call, intent, &method).await
        }
        Behaviour::Authenticates { .. } if confirmation.off_session => Err(charge_and_decline(
            call,
            intent,
            &method,
            &AUTHENTICATION_REQUIRED,
        )?),
        Behaviour::Authenticates { .. } if confirmation.error_on_requires_action => {
            let refusal = AUTHENTICATION_NOT_HANDLED.error(&method);
            Err(fail(call, intent, refusal)?)
        }
        Behaviour::Authenticates { .. } => ask_for_authentication(call, intent, confirmation),
    }
}

/// The bank pays, at once or (`capture_method=manual`) on demand.
pub(super) async fn succeed(
    call: &mut Call<'_>,
    intent: &mut PaymentIntent,
    method: &PaymentMethod,
) -> Result<(), ApiError> {
    let captured = intent.capture_method != "manual";
    payment_methods::use_up(call, intent, method).await?;
    let charge = charges::succeed(call, intent, method, captured).await?;
    intent.latest_charge = Some(charge.id.clone());
    if captured {
        intent.status = Status::Succeeded;
        intent.amount_received = intent.amount;
    } else {
        intent.status = Status::RequiresCapture;
        intent.amount_capturable = intent.amount;
    }
    let shown = intent.save(call)?;
    if !captured {
        events::record(call, "payment_intent.amount_capturable_updated", &shown)?;
        let effect = Effect::ExpireAuthorization;
        schedule::later(call, AUTHORIZATION_SECONDS, effect, &intent.id);
        return Ok(());
    }
    events::record(call, "payment_intent.succeeded", &shown)?;
    if intent.capture_method == "automatic_async" {
        let id = &intent.id;
        schedule::later(call, ASYNCHRONOUS_CAPTURE_SECONDS, Effect::AddToBalance, id);
    }
    Ok(())
}

/// The bank refuses: a failed charge stays, and the intent waits for another card.
pub(super) fn charge_and_decline(
    call: &mut Call<'_>,
    intent: &mut PaymentIntent,
    method: &PaymentMethod,
    decline: &Decline,
) -> Result<ApiError, ApiError> {
    let charge = charges::fail(call, intent, method, decline)?;
    intent.latest_charge = Some(charge.id.clone());
    fail(
        call,
        intent,
        decline.error(method).with("charge", json!(charge.id)),
    )
}

/// Ends the attempt with `refusal`, and returns it with the intent inside.
pub(super) fn fail(
    call: &mut Call<'_>,
    intent: &mut PaymentIntent,
    refusal: ApiError,
) -> Result<ApiError, ApiError> {
    intent.status = Status::RequiresPaymentMethod;
    // The card that was refused is now only in the error: the next confirm has to name one.
    intent.payment_method = None;
    intent.next_action = None;
    intent.last_payment_error = Some(refusal.object());
    let shown = intent.save(call)?;
    events::record(call, "payment_intent.payment_failed", &shown)?;
    Ok(refusal.with("payment_intent", shown))
}

fn ask_for_authentication(
    call: &mut Call<'_>,
    intent: &mut PaymentIntent,
    confirmation: &Confirmation,
) -> Result<(), ApiError> {
    let url = format!("{}/3ds/{}", call.base_url, intent.id);
    intent.status = Status::RequiresAction;
    intent.next_action = Some(match &confirmation.return_url {
        Some(return_url) => json!({
            "type": "redirect_to_url",
            "redirect_to_url": { "url": url, "return_url": return_url }
        }),
        None => json!({
            "type": "use_stripe_sdk",
            "use_stripe_sdk": { "type": "three_d_secure_redirect", "stripe_js": url }
        }),
    });
    let shown = intent.save(call)?;
    events::record(call, "payment_intent.requires_action", &shown)
}

impl PaymentIntent {
    /// What is refused without asking the bank. The intent stays as it is, and the error shows it.
    fn check_terms(
        &self,
        method: &PaymentMethod,
        confirmation: &Confirmation,
    ) -> Result<(), ApiError> {
        let may_redirect = self
            .automatic_payment_methods
            .as_ref()
            .is_some_and(|automatic| automatic.allow_redirects == "always");
        let refusal = if may_redirect && confirmation.return_url.is_none() {
            let message = "This PaymentIntent accepts payment methods that may send your customer to another page, so it needs a `return_url`. To accept none of those, set `automatic_payment_methods[enabled]` to `true` and `automatic_payment_methods[allow_redirects]` to `never`.";
            ApiError::invalid(message)
        } else if method.kind() == "card" && self.statement_descriptor.is_some() {
            let message = "The statement of a card shows the name of the account first: for a card, set statement_descriptor_suffix and not statement_descriptor.";
            ApiError::invalid(message).param("statement_descriptor")
        } else {
            return Ok(());
        };
        Err(refusal.with("payment_intent", self.show()?).executed())
    }
}

/// What a customer who fails or refuses the challenge leaves behind.
pub(super) fn authentication_failure(method: Value) -> ApiError {
    ApiError::invalid(
        "Your payment method could not be authenticated. Choose another one and try again.",
    )
    .code("payment_intent_authentication_failure")
    .with("payment_method", method)
}
