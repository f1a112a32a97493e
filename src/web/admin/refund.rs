//! Giving money back: the form, and what becomes of it.
//!
//! The form carries the wish's key and what was left when it was shown. Sent twice, it leads to the one refund; sent from
//! a page that was opened before another refund was made, it comes back with what is left now.

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Redirect, Response},
};

use super::{chrome::Chrome, error::Failure, refund_form::RefundForm};
use crate::{
    app::App,
    checkout::{Checkout, CheckoutLine, model},
    clock,
    ids::RefundId,
    orders::{self, Order, OrderNumber},
    refunds::{self, Refund, RequestError, model::Totals},
    web::path::Path,
    web::{
        error::PageError,
        fields::Fields,
        forward, show,
        views::{Field, Line, Tax},
    },
};

/// `GET /admin/orders/{number}/refunds/new`: a form with a fresh key, for all that is left.
pub async fn form(State(app): State<App>, Path(number): Path<String>) -> Result<Response, Failure> {
    let account = Account::of(&app, &number).await?;
    let form = RefundForm::offered(account.totals.left);
    account.show(form, StatusCode::OK, None)
}

/// `POST /admin/orders/{number}/refunds`. Answers a wish with a redirect, always: a reload then repeats a harmless GET.
pub async fn ask(
    State(app): State<App>,
    Path(number): Path<String>,
    fields: Result<Fields, PageError>,
) -> Result<Response, Failure> {
    let account = Account::of(&app, &number).await?;
    let mut form = RefundForm::posted(&fields?);
    let Some(wish) = form.parse(&account.order) else {
        let problem = form.is_tampered_with().then(|| {
            "The form did not arrive as we sent it. Check it here and send it again.".to_owned()
        });
        return account.show(form, StatusCode::UNPROCESSABLE_ENTITY, problem);
    };
    match refunds::request(&app.till, &wish).await {
        Ok(requested) => {
            let id = forward::requested(&app, requested).await;
            Ok(Redirect::to(&address(&account.order.number, id)).into_response())
        }
        Err(error) => explain(&app, &number, form, error).await,
    }
}

/// Where a refund's page is.
fn address(order: &OrderNumber, refund: RefundId) -> String {
    format!("/admin/orders/{order}/refunds/{refund}")
}

/// The form with the reason why it was not accepted. Nothing was stored, and nothing is given back.
async fn explain(
    app: &App,
    number: &str,
    mut form: RefundForm,
    error: RequestError,
) -> Result<Response, Failure> {
    let why = error.to_string();
    let (status, problem) = match error {
        RequestError::LeftChanged { .. } | RequestError::NothingLeft => {
            let problem = format!("{why} Nothing was done. Look at the refunds, and decide again.");
            (StatusCode::CONFLICT, Some(problem))
        }
        RequestError::NotAnAmount | RequestError::TooMuch { .. } => {
            form.amount.error = Some(why);
            (StatusCode::UNPROCESSABLE_ENTITY, None)
        }
        RequestError::RestocksAPart => {
            form.restock_error = Some(why);
            (StatusCode::UNPROCESSABLE_ENTITY, None)
        }
        error => return Err(error.into()),
    };
    Account::of(app, number).await?.show(form, status, problem)
}

/// An order, and what has become of its money.
struct Account {
    order: Order,
    checkout: Checkout,
    lines: Vec<CheckoutLine>,
    refunds: Vec<Refund>,
    totals: Totals,
}

impl Account {
    async fn of(app: &App, number: &str) -> Result<Self, Failure> {
        let db = &app.till.db;
        let number = number.parse().map_err(|_| PageError::NotFound)?;
        let order = orders::find(db, &number).await?;
        let order = order.ok_or(PageError::NotFound)?;
        let checkout = model::find(db, order.checkout_id).await?;
        let refunds = refunds::model::of_checkout(db, order.checkout_id).await?;
        Ok(Self {
            checkout: checkout.ok_or(PageError::NotFound)?,
            lines: model::lines(db, order.checkout_id).await?,
            totals: Totals::of(order.amount(), &refunds),
            refunds,
            order,
        })
    }

    fn show(
        &self,
        form: RefundForm,
        status: StatusCode,
        problem: Option<String>,
    ) -> Result<Response, Failure> {
        let Totals {
            given_back,
            on_its_way,
            left,
        } = self.totals;
        let page = RefundFormPage {
            chrome: Chrome::at("/admin/orders"),
            number: self.order.number.to_string(),
            amount_label: format!("Amount in {}", left.currency),
            lines: (self.lines.iter())
                .map(|line| show::checkout_line(line, left.currency))
                .collect(),
            shipping: show::unless_zero(self.checkout.shipping()),
            total: self.order.amount().to_string(),
            tax: show::tax(self.checkout.tax()),
            refunds: self.refunds.iter().map(|it| self.row(it)).collect(),
            given_back: show::unless_zero(given_back),
            on_its_way: show::unless_zero(on_its_way),
            left: show::unless_zero(left),
            idempotency_key: form.key_on_page(),
            remaining: left.minor,
            amount: form.amount,
            restock: form.restock,
            restock_error: form.restock_error,
            are_goods_back: self.refunds.iter().any(Refund::has_restocked),
            reason: form.reason,
            problem,
        };
        Ok(show::page(status, &page)?)
    }

    fn row(&self, refund: &Refund) -> Row {
        Row {
            url: address(&self.order.number, refund.id),
            amount: refund.amount().to_string(),
            state: show::refund_state(refund.status),
            at: clock::in_words(refund.concluded_at.unwrap_or(refund.created_at)),
        }
    }
}

#[derive(askama::Template)]
#[template(path = "admin/refund_form.html")]
struct RefundFormPage {
    chrome: Chrome,
    number: String,
    /// Names the field by the currency that it takes: "Amount in EUR".
    amount_label: String,
    lines: Vec<Line>,
    shipping: Option<String>,
    total: String,
    tax: Option<Tax>,
    /// So far, oldest first.
    refunds: Vec<Row>,
    given_back: Option<String>,
    on_its_way: Option<String>,
    /// What can be given back. `None`: nothing, and there is no form.
    left: Option<String>,
    idempotency_key: String,
    /// What is left, in minor units: it comes back with the form.
    remaining: i64,
    amount: Field,
    restock: bool,
    restock_error: Option<String>,
    are_goods_back: bool,
    reason: Field,
    /// What is wrong with the whole of it.
    problem: Option<String>,
}

impl RefundFormPage {
    fn has_errors(&self) -> bool {
        self.problem.is_some() || !self.errors().is_empty()
    }

    /// The id of each field that has an error, and the error.
    fn errors(&self) -> Vec<(&'static str, &str)> {
        let errors = [
            ("amount", self.amount.error.as_deref()),
            ("restock", self.restock_error.as_deref()),
            ("reason", self.reason.error.as_deref()),
        ];
        let has_one = |(id, error): (_, Option<_>)| Some((id, error?));
        errors.into_iter().filter_map(has_one).collect()
    }
}

/// One of the refunds so far.
struct Row {
    url: String,
    amount: String,
    state: &'static str,
    at: String,
}
