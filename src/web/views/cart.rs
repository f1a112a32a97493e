use super::{Chrome, Line};

/// `GET /cart`, and the answer to a quantity that will not do.
#[derive(askama::Template, Clone, Debug, Default)]
#[template(path = "cart.html")]
pub struct CartPage {
    /// What is around the page.
    pub chrome: Chrome,
    /// What is in the cart.
    pub lines: Vec<CartLine>,
    /// What of it is for shipping, when that costs anything.
    pub shipping: Option<String>,
    /// The price of it all, such as "€24.90".
    pub total: String,
    /// The address of the status page, while a payment for this cart is undecided. The cart is then only shown: it
    /// can be neither changed nor paid.
    pub in_payment: Option<String>,
}

/// A line of the cart with its form.
#[derive(Clone, Debug, Default)]
pub struct CartLine {
    /// The line as it is stored.
    pub line: Line,
    /// The number in the form: the stored quantity, or what was typed.
    pub typed: String,
    /// Why what was typed will not do, or why the line cannot be bought as it is.
    pub error: Option<String>,
}

impl CartPage {
    /// Whether a line has an error.
    pub fn has_errors(&self) -> bool {
        self.lines.iter().any(|line| line.error.is_some())
    }
}
