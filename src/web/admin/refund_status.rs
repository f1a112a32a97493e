//! How a refund stands.

use axum::{extract::State, http::StatusCode, response::Response};

use super::{chrome::Chrome, error::Failure};
use crate::{
    app::App,
    clock, orders,
    refunds::{self, Refund, Status},
    web::path::Path,
    web::{error::PageError, show},
};

/// `GET /admin/orders/{number}/refunds/{id}`.
pub async fn status(
    State(app): State<App>,
    Path((number, id)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let db = &app.till.db;
    let number = number.parse().map_err(|_| PageError::NotFound)?;
    let id = id.parse().map_err(|_| PageError::NotFound)?;
    let order = orders::find(db, &number).await?;
    let refund = refunds::model::find(db, id).await?;
    let (Some(order), Some(refund)) = (order, refund) else {
        return Err(PageError::NotFound.into());
    };
    if refund.checkout_id != order.checkout_id {
        return Err(PageError::NotFound.into());
    }
    let age = app.till.clock.now() - refund.created_at;
    let page = RefundPage {
        chrome: Chrome::at("/admin/orders"),
        number: order.number.to_string(),
        id: refund.id.to_string(),
        amount: refund.amount().to_string(),
        stands: Stands::of(&refund),
        refresh_seconds: (refund.status == Status::Pending).then(|| show::refresh_seconds(age)),
        asked_at: clock::in_words(refund.created_at),
        requester: requester(&refund),
        reason: refund.reason.map(|reason| reason.as_str().to_owned()),
        restock: refund.restock,
        reference: refund.provider_id,
    };
    Ok(show::page(StatusCode::OK, &page)?)
}

#[derive(askama::Template)]
#[template(path = "admin/refund_status.html")]
struct RefundPage {
    chrome: Chrome,
    number: String,
    id: String,
    amount: String,
    stands: Stands,
    refresh_seconds: Option<u32>,
    asked_at: String,
    requester: String,
    reason: Option<String>,
    restock: bool,
    /// What the provider calls it, once we know that it has it.
    reference: Option<String>,
}

/// What can be said of it. Nothing but what is known: until the provider has answered it may have been made, or not.
enum Stands {
    /// Nobody knows whether the provider has made it.
    Unknown,
    /// The provider has made it, and the bank takes its time.
    AtTheBank,
    /// The money has gone back.
    GivenBack { at: String },
    /// The provider would not make it, and says why by a code.
    Refused { code: String },
    /// The bank has sent it back.
    CameBack,
}

impl Stands {
    fn of(refund: &Refund) -> Self {
        let at = clock::in_words(refund.concluded_at.unwrap_or(refund.created_at));
        match (refund.status, &refund.failure_code) {
            (Status::Pending, _) if refund.provider_id.is_none() => Self::Unknown,
            (Status::Pending, _) => Self::AtTheBank,
            (Status::Succeeded, _) => Self::GivenBack { at },
            (Status::Failed, Some(code)) => Self::Refused { code: code.clone() },
            (Status::Failed, None) => Self::CameBack,
        }
    }

    fn title(&self) -> &'static str {
        match self {
            Self::Unknown | Self::AtTheBank => "On its way back",
            Self::GivenBack { .. } => "Given back",
            Self::Refused { .. } | Self::CameBack => "Error: Not given back",
        }
    }
}

fn requester(refund: &Refund) -> String {
    match (refund.requester.as_deref(), refund.kind) {
        (Some("operator"), _) => "On these pages".to_owned(),
        (Some(program), _) => format!("By a program, {program}"),
        (None, refunds::model::Kind::LatePayment) => {
            "By the shop itself: the payment came too late".to_owned()
        }
        (None, refunds::model::Kind::Order) => "In the provider's dashboard".to_owned(),
    }
}
