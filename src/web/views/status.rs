use super::{Chrome, Line, Tax};

/// `GET /checkouts/{id}`: how far a purchase has come.
#[derive(askama::Template, Clone, Debug)]
#[template(path = "status.html")]
pub struct StatusPage {
    /// What is around the page.
    pub chrome: Chrome,
    /// The checkout's id, for whoever asks us about it.
    pub checkout_id: String,
    /// The address of this very page, for whoever may see it.
    pub again_url: String,
    /// Whether it was bought from a cart on these pages.
    pub has_cart: bool,
    /// How far it has come.
    pub status: Status,
    /// After how many seconds the page loads itself again. `None` when there is nothing to wait for.
    pub refresh_seconds: Option<u32>,
    /// What is being bought.
    pub lines: Vec<Line>,
    /// What of it is for shipping, when that costs anything.
    pub shipping: Option<String>,
    /// The price of it all, such as "€24.90".
    pub total: String,
    /// What of it is tax, when any is.
    pub tax: Option<Tax>,
    /// Where the goods go, a line each: name and address, as the first of several forms with one key had them. Empty when
    /// nothing is delivered.
    pub address: Vec<String>,
}

/// How far a purchase has come, as the customer needs to know it.
#[derive(Clone, Debug)]
pub enum Status {
    /// Undecided: the page promises nothing in either direction.
    Processing,
    /// The customer's bank wants to ask the customer.
    NeedsAuthentication {
        /// The provider's page, `https:` (or `http:` of the simulator).
        url: String,
    },
    /// Paid, and there is an order.
    Paid {
        /// The order's number.
        order_number: String,
        /// The address of the order's page.
        order_url: String,
    },
    /// Definitely not charged.
    Declined {
        /// Why, as a sentence: "The card has insufficient funds."
        reason: String,
        /// Whether its cart is still the visitor's. They may have begun another one in the meantime.
        cart_kept: bool,
    },
    /// Given up before anything was charged.
    Canceled,
    /// Charged, but after it had ended: nothing is delivered.
    TooLate(TooLate),
}

/// What has become of a payment that came too late.
#[derive(Clone, Debug)]
pub enum TooLate {
    /// It will be with the customer's bank.
    GoingBack,
    /// It is.
    GivenBack {
        /// Since when, to be read: "29 November 2026, 15:54 UTC".
        at: String,
    },
    /// It could not be given back without a person.
    LookedInto,
}

impl StatusPage {
    /// The page's title. A decline is an error for who has to act on it.
    pub fn title(&self) -> &'static str {
        match self.status {
            Status::Processing => "Checking your payment",
            Status::NeedsAuthentication { .. } => "Confirm your payment",
            Status::Paid { .. } => "Paid",
            Status::Declined { .. } => "Error: Payment declined",
            Status::Canceled => "Checkout canceled",
            Status::TooLate(_) => "Your payment came too late",
        }
    }
}
