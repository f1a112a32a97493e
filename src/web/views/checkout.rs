use super::{Chrome, Line, Tax};

/// `GET /checkout`, and the answer to a form that cannot be accepted as it is.
#[derive(askama::Template, Clone, Debug, Default)]
#[template(path = "checkout.html")]
pub struct CheckoutPage {
    /// What is around the page.
    pub chrome: Chrome,

    /// Names this wish to buy, however often the form arrives.
    pub idempotency_key: String,
    /// The total that the customer sees, in minor units.
    pub quoted_total: i64,
    /// A digest of the lines that the customer sees.
    pub quoted_cart: String,

    /// What is being bought.
    pub lines: Vec<Line>,
    /// What of it is for shipping, when that costs anything.
    pub shipping: Option<String>,
    /// The price of it all, such as "€24.90".
    pub total: String,
    /// What of it is tax, when any is and a country is chosen.
    pub tax: Option<Tax>,

    /// How the customer is reached.
    pub email: Field,
    /// Who receives the goods.
    pub name: Field,
    /// Street and number.
    pub address: Field,
    /// The city.
    pub city: Field,
    /// The postal code.
    pub postal_code: Field,
    /// The code of the chosen country; empty when none is chosen.
    pub country: Field,
    /// The countries to choose from.
    pub countries: Vec<Country>,
    /// The value of the chosen payment method; empty when none is chosen.
    pub payment_method: Field,
    /// The payment methods to choose from.
    pub payment_methods: Vec<PaymentMethod>,

    /// What keeps this cart from being bought and is no single field's fault, such as "Only 2 of Grey mug are left."
    pub problem: Option<String>,
    /// The price has changed since the customer saw it.
    pub total_changed: Option<TotalChange>,
    /// Why the last attempt was declined, as a sentence: "The card has insufficient funds."
    pub declined: Option<String>,
    /// Purchases of this visitor that this one might be repeating by mistake. With any, the customer must confirm.
    pub earlier: Vec<EarlierPurchase>,
    /// Whether "this is another purchase" was ticked, and that it should have been.
    pub buy_again: bool,
    /// Why it must be ticked.
    pub buy_again_error: Option<String>,
}

/// One field of the form.
#[derive(Clone, Debug, Default)]
pub struct Field {
    /// What was typed, exactly.
    pub value: String,
    /// What is wrong with it, as a sentence.
    pub error: Option<String>,
    /// The longest text that is accepted, in characters. Choices do not use it.
    pub chars_max: usize,
}

/// A country that we send to.
#[derive(Clone, Debug, Default)]
pub struct Country {
    /// Its ISO 3166 code.
    pub code: String,
    /// Its name.
    pub name: String,
}

/// A way to pay.
#[derive(Clone, Debug, Default)]
pub struct PaymentMethod {
    /// What the provider calls it: "`pm_card_visa`".
    pub value: String,
    /// What the customer calls it: "Visa".
    pub label: String,
    /// What will come of it: "succeeds".
    pub note: String,
}

/// The total as the customer saw it, and as it is.
#[derive(Clone, Debug, Default)]
pub struct TotalChange {
    /// What the form said.
    pub was: String,
    /// What this form says.
    pub now: String,
}

/// A purchase that the customer made before this one.
#[derive(Clone, Debug)]
pub struct EarlierPurchase {
    /// The address of its status page or its order.
    pub url: String,
    /// What is known about it.
    pub state: EarlierState,
    /// What was bought.
    pub lines: Vec<Line>,
    /// Its total.
    pub total: String,
}

/// What is known about an earlier purchase.
#[derive(Clone, Debug)]
pub enum EarlierState {
    /// Its payment is undecided.
    BeingChecked,
    /// It was paid.
    Paid {
        /// How long ago, such as "4 minutes ago".
        ago: String,
    },
}

impl CheckoutPage {
    /// The fields with something wrong: the `id` to jump to, and the sentence. In the order of the form.
    pub fn errors(&self) -> Vec<(&'static str, &str)> {
        [
            ("buy_again", &self.buy_again_error),
            ("email", &self.email.error),
            ("name", &self.name.error),
            ("address", &self.address.error),
            ("postal_code", &self.postal_code.error),
            ("city", &self.city.error),
            ("country", &self.country.error),
            ("payment_method", &self.payment_method.error),
        ]
        .into_iter()
        .filter_map(|(id, error)| Some((id, error.as_deref()?)))
        .collect()
    }

    /// Whether the customer has to be told first that something did not work.
    pub fn has_errors(&self) -> bool {
        self.problem.is_some()
            || self.total_changed.is_some()
            || self.declined.is_some()
            || !self.errors().is_empty()
    }
}
