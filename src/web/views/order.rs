use super::{Chrome, Line, Tax};

/// `GET /orders/{number}`: what was bought, and what has come of the money.
#[derive(askama::Template, Clone, Debug, Default)]
#[template(path = "order.html")]
pub struct OrderPage {
    /// What is around the page.
    pub chrome: Chrome,
    /// The order's number.
    pub number: String,
    /// "Paid", "Partially refunded" or "Refunded".
    pub state: String,
    /// When it was placed, to be read: "29 November 2026, 15:54 UTC".
    pub placed_at: String,
    /// The same for machines: "2026-11-29T15:54:24Z".
    pub placed_at_rfc3339: String,
    /// What was bought.
    pub lines: Vec<Line>,
    /// What of it is for shipping, when that costs anything.
    pub shipping: Option<String>,
    /// The price of it all, such as "€24.90".
    pub total: String,
    /// What of it is tax, when any is.
    pub tax: Option<Tax>,
    /// How it was paid: "Visa".
    pub payment_method: String,
    /// What the provider calls the payment.
    pub payment_reference: String,
    /// Whose it is.
    pub email: String,
    /// Name and address, a line each. Empty for an order without one.
    pub address: Vec<String>,
    /// All refunds, oldest first, also those under way and those that came to nothing.
    pub refunds: Vec<Refund>,
    /// The sum of what was given back, when anything was.
    pub refunded: Option<String>,
    /// What of that was tax, when any was.
    pub refunded_tax: Option<Tax>,
    /// The sum of what is on its way back, when anything is.
    pub on_its_way: Option<String>,
    /// What is neither given back nor on its way, when anything is.
    pub left: Option<String>,
}

/// Money on its way back.
#[derive(Clone, Debug, Default)]
pub struct Refund {
    /// How much.
    pub amount: String,
    /// "Given back", "On its way" or "Not given back".
    pub state: String,
    /// Since when, to be read.
    pub at: String,
}
