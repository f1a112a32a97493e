//! What the API answers with. Amounts are in minor units, times are RFC 3339 in UTC.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    checkout::{self, CheckoutLine},
    money::{IncludedTax, Money},
    orders::{self, OrderNumber},
    refunds::{self, model::OfOrder},
};

/// A checkout: one wish to buy something.
#[derive(Debug, Serialize, ToSchema)]
pub struct Checkout {
    /// Its id.
    #[schema(format = "uuid")]
    id: String,
    /// Where it stands: undecided, bought, refused by the bank, or ended without a charge for another reason.
    status: CheckoutStatus,
    /// What is charged for it, in minor units: all lines, and the shipping.
    amount: i64,
    /// What the shop takes for shipping, in minor units.
    shipping: i64,
    /// What of the amount is tax, where the goods go; nothing when no country was told, or it has no rate.
    #[schema(required)]
    tax: Option<Tax>,
    /// ISO 4217, lower case.
    currency: &'static str,
    /// What is bought, in the order of the SKUs.
    lines: Vec<Line>,
    /// The order that it became, once it is paid.
    #[schema(required)]
    order_number: Option<String>,
    /// Where the customer has to go to authenticate the payment, while it waits for that.
    #[schema(required, format = "uri")]
    next_action_url: Option<String>,
    /// Why nothing was bought, when it was declined or canceled.
    #[schema(required)]
    failure: Option<Failure>,
    /// When it was submitted.
    #[schema(format = "date-time")]
    created_at: String,
}

/// Where a checkout stands.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckoutStatus {
    /// Undecided.
    Pending,
    /// Bought.
    Paid,
    /// Refused by the customer's bank.
    Declined,
    /// Ended without a charge for another reason.
    Canceled,
}

/// One product, at the price that was agreed.
#[derive(Debug, Serialize, ToSchema)]
pub struct Line {
    /// Its SKU.
    sku: String,
    /// Its name.
    name: String,
    /// How many.
    quantity: i64,
    /// The price of one, in minor units.
    unit_amount: i64,
    /// The price of all, in minor units.
    amount: i64,
}

/// Tax that is a part of an amount.
#[derive(Debug, Serialize, ToSchema)]
pub struct Tax {
    /// In percent, at the time of the purchase: `19` or `8.1`.
    rate: String,
    /// How much, in minor units.
    amount: i64,
}

/// Why nothing was bought.
#[derive(Debug, Serialize, ToSchema)]
pub struct Failure {
    /// For the program: the payment provider's code.
    pub code: String,
    /// For the customer.
    pub message: String,
}

/// An order: what a paid checkout became.
#[derive(Debug, Serialize, ToSchema)]
pub struct Order {
    /// What the customer calls it by.
    number: String,
    /// How much of it was given back: nothing, a part, or all.
    status: OrderStatus,
    /// What was paid for it, in minor units: all lines, and the shipping.
    amount: i64,
    /// What the shop took for shipping, in minor units.
    shipping: i64,
    /// What of the amount is tax, when the country is known and has a rate.
    #[schema(required)]
    tax: Option<Tax>,
    /// What was given back, in minor units. What is on its way is not in it.
    amount_refunded: i64,
    /// ISO 4217, lower case.
    currency: &'static str,
    /// What was bought, in the order of the SKUs.
    lines: Vec<Line>,
    /// The checkout that it came from.
    #[schema(format = "uuid")]
    checkout_id: String,
    /// When it was paid.
    #[schema(format = "date-time")]
    created_at: String,
}

/// How much of an order was given back.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderStatus {
    /// Nothing.
    Paid,
    /// A part.
    PartiallyRefunded,
    /// All.
    Refunded,
}

/// Money on its way back to the customer.
#[derive(Debug, Serialize, ToSchema)]
pub struct Refund {
    /// Its id.
    #[schema(format = "uuid")]
    id: String,
    /// Where it stands: on its way, given back, or still with the shop.
    status: RefundStatus,
    /// How much, in minor units.
    amount: i64,
    /// ISO 4217, lower case.
    currency: &'static str,
    /// The order that was paid.
    order_number: String,
}

/// Where a refund stands.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RefundStatus {
    /// On its way.
    Pending,
    /// Given back.
    Succeeded,
    /// Refused, or sent back by the customer's bank: the money is with the shop.
    Failed,
}

impl Checkout {
    /// As it stands. Its `lines`, the `order` that it became, and the `failure` are read by the caller.
    pub fn of(
        checkout: checkout::Checkout,
        lines: &[CheckoutLine],
        order: Option<&OrderNumber>,
        failure: Option<Failure>,
    ) -> Self {
        let Money { minor, currency } = checkout.amount();
        Self {
            id: checkout.id.to_string(),
            status: checkout.status.into(),
            amount: minor,
            shipping: checkout.shipping().minor,
            tax: checkout.tax().map(Tax::of),
            currency: currency.code(),
            lines: lines.iter().map(Line::of).collect(),
            order_number: order.map(ToString::to_string),
            next_action_url: checkout.next_action_url,
            failure,
            created_at: time(checkout.created_at),
        }
    }
}

impl From<checkout::Status> for CheckoutStatus {
    fn from(status: checkout::Status) -> Self {
        match status {
            checkout::Status::Pending => Self::Pending,
            checkout::Status::Paid => Self::Paid,
            checkout::Status::Declined => Self::Declined,
            checkout::Status::Canceled => Self::Canceled,
        }
    }
}

impl Order {
    /// As it stands: what became of `checkout`, with `refunded_minor` of it given back.
    pub fn of(
        order: &orders::Order,
        checkout: &checkout::Checkout,
        lines: &[CheckoutLine],
        refunded_minor: i64,
    ) -> Self {
        let Money { minor, currency } = order.amount();
        Self {
            number: order.number.to_string(),
            status: match refunded_minor {
                0 => OrderStatus::Paid,
                all if all == minor => OrderStatus::Refunded,
                _ => OrderStatus::PartiallyRefunded,
            },
            amount: minor,
            shipping: checkout.shipping().minor,
            tax: checkout.tax().map(Tax::of),
            amount_refunded: refunded_minor,
            currency: currency.code(),
            lines: lines.iter().map(Line::of).collect(),
            checkout_id: order.checkout_id.to_string(),
            created_at: time(order.created_at),
        }
    }
}

impl Refund {
    /// As it stands.
    pub fn of(OfOrder { refund, number }: &OfOrder) -> Self {
        let Money { minor, currency } = refund.amount();
        Self {
            id: refund.id.to_string(),
            status: match refund.status {
                refunds::Status::Pending => RefundStatus::Pending,
                refunds::Status::Succeeded => RefundStatus::Succeeded,
                refunds::Status::Failed => RefundStatus::Failed,
            },
            amount: minor,
            currency: currency.code(),
            order_number: number.to_string(),
        }
    }
}

impl Tax {
    fn of(tax: IncludedTax) -> Self {
        Self {
            rate: tax.rate.to_string(),
            amount: tax.amount.minor,
        }
    }
}

impl Line {
    fn of(line: &CheckoutLine) -> Self {
        Self {
            sku: line.sku.to_string(),
            name: line.name.clone(),
            quantity: line.quantity,
            unit_amount: line.unit_minor,
            amount: line.amount_minor,
        }
    }
}

fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Micros, true)
}
