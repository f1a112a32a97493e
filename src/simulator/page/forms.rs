//! The forms of the page: each does what a control does, and leads back to the page.
//!
//! What cannot be done as asked leads to the page too, with the reason on top and what was typed in its place.

use std::{str::FromStr, time::Duration};

use axum::{
    Form,
    extract::State,
    response::{IntoResponse, Redirect, Response},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::overview;
use crate::simulator::{
    control::{Control, ControlError},
    error::ApiError,
    faults::{Chaos, ChaosRates, Fault},
    refused::Refused,
};

/// What was typed into the forms, or what they begin with.
#[derive(Debug, Default)]
pub(super) struct Typed {
    pub(super) refusal: Option<String>,
    pub(super) on_requests: FaultForm,
    pub(super) on_webhooks: FaultForm,
    pub(super) chaos: ChaosForm,
    pub(super) clock: ClockForm,
    pub(super) delivery: DeliveryForm,
}

/// A fault, as typed. An empty field is one that was not filled in.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FaultForm {
    pub(super) operation: String,
    pub(super) key: String,
    pub(super) path: String,
    pub(super) webhook: String,
    pub(super) url: String,
    pub(super) fault: String,
    pub(super) skip: String,
    pub(super) times: String,
    pub(super) delay_ms: String,
    pub(super) status: String,
    pub(super) copies: String,
}

impl FaultForm {
    fn read(&self) -> Result<Fault, Refused> {
        let mut on = Map::new();
        for (name, text) in [
            ("operation", &self.operation),
            ("key", &self.key),
            ("path", &self.path),
            ("webhook", &self.webhook),
            ("url", &self.url),
        ] {
            if !text.is_empty() {
                on.insert(name.to_owned(), json!(text));
            }
        }
        let mut fault = Map::new();
        fault.insert("on".to_owned(), Value::Object(on));
        fault.insert("fault".to_owned(), json!(self.fault));
        for (name, text) in [
            ("skip", &self.skip),
            ("times", &self.times),
            ("delay_ms", &self.delay_ms),
            ("status", &self.status),
            ("copies", &self.copies),
        ] {
            if !text.trim().is_empty() {
                fault.insert(name.to_owned(), json!(number::<u64>(name, text)?));
            }
        }
        Fault::from_json(Value::Object(fault).to_string().as_bytes())
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ChaosForm {
    pub(super) seed: String,
    pub(super) rates: String,
}

#[derive(Debug, Deserialize)]
#[serde(default)]
pub(super) struct ClockForm {
    pub(super) amount: String,
    pub(super) unit: String,
}

impl ClockForm {
    fn read(&self) -> Result<Duration, Refused> {
        let amount = number::<u64>("The time", &self.amount)?;
        let unit_seconds = match self.unit.as_str() {
            "seconds" => 1,
            "minutes" => 60,
            "hours" => 3600,
            "days" => 24 * 3600,
            _ => return Err(Refused::new("The unit is seconds, minutes, hours or days.")),
        };
        Ok(Duration::from_secs(amount.saturating_mul(unit_seconds)))
    }
}

impl Default for ClockForm {
    fn default() -> Self {
        Self {
            amount: "1".to_owned(),
            unit: "hours".to_owned(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(default)]
pub(super) struct DeliveryForm {
    pub(super) event: String,
    pub(super) copies: String,
}

impl Default for DeliveryForm {
    fn default() -> Self {
        Self {
            event: String::new(),
            copies: "1".to_owned(),
        }
    }
}

/// `POST /faults`
pub(super) async fn arm_on_requests(
    State(control): State<Control>,
    Form(form): Form<FaultForm>,
) -> Result<Response, ApiError> {
    let done = form.read().and_then(|fault| control.arm(fault));
    let typed = Typed {
        on_requests: form,
        ..Typed::default()
    };
    back(&control, done, typed).await
}

/// `POST /faults/webhooks`
pub(super) async fn arm_on_webhooks(
    State(control): State<Control>,
    Form(form): Form<FaultForm>,
) -> Result<Response, ApiError> {
    let done = form.read().and_then(|fault| control.arm(fault));
    let typed = Typed {
        on_webhooks: form,
        ..Typed::default()
    };
    back(&control, done, typed).await
}

/// `POST /faults/clear`
pub(super) async fn clear_faults(State(control): State<Control>) -> Redirect {
    control.clear_faults();
    Redirect::to("/")
}

/// `POST /chaos`
pub(super) async fn start_chaos(
    State(control): State<Control>,
    Form(form): Form<ChaosForm>,
) -> Result<Response, ApiError> {
    let read = || {
        let rates = match form.rates.trim() {
            "" => ChaosRates::default(),
            rates => rates.parse()?,
        };
        let seed = number("The seed", &form.seed)?;
        Ok(Chaos { seed, rates })
    };
    let done = read().and_then(|chaos| control.start_chaos(chaos));
    let typed = Typed {
        chaos: form,
        ..Typed::default()
    };
    back(&control, done, typed).await
}

/// `POST /chaos/end`
pub(super) async fn end_chaos(State(control): State<Control>) -> Redirect {
    control.end_chaos();
    Redirect::to("/")
}

/// `POST /clock`
pub(super) async fn advance(
    State(control): State<Control>,
    Form(form): Form<ClockForm>,
) -> Result<Response, ApiError> {
    let done = match form.read() {
        Ok(time) => control.advance(time).await,
        Err(refused) => Err(refused.into()),
    };
    let typed = Typed {
        clock: form,
        ..Typed::default()
    };
    back(&control, done, typed).await
}

/// `POST /events/deliver`
pub(super) async fn redeliver(
    State(control): State<Control>,
    Form(form): Form<DeliveryForm>,
) -> Result<Response, ApiError> {
    let done = match number("copies", &form.copies) {
        Ok(copies) => control.redeliver(form.event.trim(), copies).await,
        Err(refused) => Err(refused.into()),
    };
    let typed = Typed {
        delivery: form,
        ..Typed::default()
    };
    back(&control, done, typed).await
}

/// `POST /settle`
pub(super) async fn settle(State(control): State<Control>) -> Result<Redirect, ApiError> {
    control.settle(None).await?;
    Ok(Redirect::to("/"))
}

/// `POST /reset`
pub(super) async fn reset(State(control): State<Control>) -> Result<Redirect, ApiError> {
    control.reset().await?;
    Ok(Redirect::to("/"))
}

/// 303 when it was done, and the page with the reason when it was not.
async fn back<T>(
    control: &Control,
    done: Result<T, impl Into<ControlError>>,
    typed: Typed,
) -> Result<Response, ApiError> {
    let refusal = match done.map_err(Into::into) {
        Ok(_) => return Ok(Redirect::to("/").into_response()),
        Err(ControlError::Refused(refused)) => refused.to_string(),
        Err(ControlError::NoSuchEvent(event)) => format!("There is no event {event}."),
        Err(ControlError::NoSuchEndpoint(id)) => format!("There is no webhook endpoint {id}."),
        Err(ControlError::NoSuchObject(id)) => format!("There is no object {id}."),
        Err(failed @ ControlError::Failed(_)) => return Err(failed.into()),
    };
    let typed = Typed {
        refusal: Some(refusal),
        ..typed
    };
    overview(control, typed, None).await
}

fn number<T: FromStr>(name: &str, text: &str) -> Result<T, Refused> {
    let refused = |_| Refused::new(format!("{name} must be a whole number."));
    text.trim().parse().map_err(refused)
}
