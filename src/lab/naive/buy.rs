//! From the form to the order.

use std::time::Duration;

use url::form_urlencoded;
use uuid::Uuid;

use super::{
    CART, Failed, Naive, ORDER, Order, Status,
    mails::{self, Kind},
};
use crate::{
    catalog::Sku,
    checkout::PaymentMethod,
    db::Tx,
    money::{Currency, Money},
    provider::Outcome,
};

/// Who buys, how they pay, and what they were told that it costs.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each name says it")]
pub struct Buyer {
    pub email: String,
    pub payment_method: PaymentMethod,
    pub quoted_minor: i64,
}

/// One product in a cart, at today's price.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Line {
    sku: Sku,
    pub name: String,
    pub quantity: i64,
    price_minor: i64,
    currency: Currency,
    stock: i64,
}

/// Buys what is in a cart, and names the order.
pub async fn buy(shop: &Naive, cart: Uuid, buyer: &Buyer) -> Result<Uuid, Failed> {
    // A second click finds the first one's order once it is committed, and not before.
    if let Some(order) = order_of(shop, cart).await? {
        return Ok(order.id);
    }
    let lines = lines(shop, cart).await?;
    let total = total(&lines).ok_or(Failed::NothingToBuy)?;
    if total.minor != buyer.quoted_minor {
        return Err(Failed::TotalChanged);
    }
    // Whoever else looks now sees the same units.
    if let Some(short) = lines.iter().find(|line| line.stock < line.quantity) {
        return Err(Failed::SoldOut(short.name.clone()));
    }
    // All or nothing, and so the charge is in it as well. But a rollback brings no money back.
    let mut tx = shop.db.begin_alone().await?;
    let id = insert(&mut tx, shop, cart, total, buyer).await?;
    for line in &lines {
        add(&mut tx, id, line).await?;
        take(&mut tx, line).await?;
    }
    let (payment, status, page) = match charge(shop, id, cart, total, buyer).await {
        Outcome::Paid(payment) => (payment, Status::Paid, None),
        Outcome::NeedsAuthentication { payment, url } => (payment, Status::Pending, Some(url)),
        Outcome::Processing(payment) => (payment, Status::Pending, None),
        Outcome::Declined { .. } => return Err(Failed::Declined),
        // No answer, no payment.
        Outcome::Unknown(_) | Outcome::Canceled(_) | Outcome::NeverCharged => {
            return Err(Failed::NotPaid);
        }
    };
    note_payment(&mut tx, id, &payment.intent, status, page).await?;
    tx.commit().await?;
    if status == Status::Paid {
        mails::send(shop, id, Kind::OrderConfirmation, &buyer.email).await;
    }
    Ok(id)
}

/// Asks the provider for the money. The library makes up a key for each call, which helps its own retries and nobody else's.
async fn charge(shop: &Naive, order: Uuid, cart: Uuid, total: Money, buyer: &Buyer) -> Outcome {
    let request = request(shop, order, cart, total, buyer.payment_method);
    let key = Uuid::new_v4().to_string();
    tracing::debug!("charge, with a fresh key");
    match shop.provider.create(&key, &request, Duration::ZERO).await {
        Ok(intent) => Outcome::of_intent(&intent),
        Err(doubt) => Outcome::Unknown(doubt),
    }
}

fn request(shop: &Naive, order: Uuid, cart: Uuid, total: Money, method: PaymentMethod) -> String {
    let mut request = form_urlencoded::Serializer::new(String::new());
    request
        .append_pair("amount", &total.minor.to_string())
        .append_pair("currency", total.currency.code())
        .append_pair("payment_method", method.as_str())
        .append_pair("payment_method_types[0]", method.kind())
        .append_pair("confirm", "true")
        .append_pair("return_url", &shop.url_of_order(order))
        .append_pair(&format!("metadata[{ORDER}]"), &order.to_string())
        .append_pair(&format!("metadata[{CART}]"), &cart.to_string());
    if method.needs_mandate() {
        request.append_pair("mandate_data[customer_acceptance][type]", "offline");
    }
    request.finish()
}

/// The order that has bought a cart, if one has.
pub(super) async fn order_of(shop: &Naive, cart: Uuid) -> sqlx::Result<Option<Order>> {
    let query = shop
        .db
        .query("select * from naive_orders where cart_id = $1 and status <> 'failed'");
    query.bind(cart).fetch_optional().await
}

pub(super) async fn lines(shop: &Naive, cart: Uuid) -> sqlx::Result<Vec<Line>> {
    let query = shop.db.query(
        "select p.sku, p.name, p.price_minor, p.currency, p.stock, i.quantity
         from naive_cart_items i join naive_products p on p.sku = i.sku
         where i.cart_id = $1 order by p.sku",
    );
    query.bind(cart).fetch_all().await
}

/// What all lines cost together; `None` when there are none.
pub(super) fn total(lines: &[Line]) -> Option<Money> {
    let currency = lines.first()?.currency;
    let amounts = lines.iter().map(|line| line.price_minor * line.quantity);
    Some(Money::new(amounts.sum(), currency))
}

async fn insert(
    tx: &mut Tx,
    shop: &Naive,
    cart: Uuid,
    total: Money,
    buyer: &Buyer,
) -> sqlx::Result<Uuid> {
    let id = Uuid::now_v7();
    tx.query(
        "insert into naive_orders (id, cart_id, status, amount_minor, currency, email, created_at)
         values ($1, $2, 'pending', $3, $4, $5, $6)",
    )
    .bind(id)
    .bind(cart)
    .bind(total.minor)
    .bind(total.currency)
    .bind(&buyer.email)
    .bind(shop.clock.now())
    .execute()
    .await?;
    Ok(id)
}

async fn add(tx: &mut Tx, order: Uuid, line: &Line) -> sqlx::Result<u64> {
    tx.query(
        "insert into naive_order_lines (order_id, sku, quantity, amount_minor)
         values ($1, $2, $3, $4)",
    )
    .bind(order)
    .bind(&line.sku)
    .bind(line.quantity)
    .bind(line.price_minor * line.quantity)
    .execute()
    .await
}

/// There is enough: that was looked at before.
async fn take(tx: &mut Tx, line: &Line) -> sqlx::Result<u64> {
    let query = tx.query("update naive_products set stock = stock - $2 where sku = $1");
    query.bind(&line.sku).bind(line.quantity).execute().await
}

async fn note_payment(
    tx: &mut Tx,
    id: Uuid,
    intent: &str,
    status: Status,
    page: Option<String>,
) -> sqlx::Result<u64> {
    tx.query(
        "update naive_orders set payment_intent_id = $2, status = $3, next_action_url = $4
         where id = $1",
    )
    .bind(id)
    .bind(intent)
    .bind(status)
    .bind(page)
    .execute()
    .await
}
