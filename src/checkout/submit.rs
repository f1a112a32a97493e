//! Submitting: one rendered form becomes at most one checkout.
//!
//! The same form arrives twice more often than one thinks: a double click, a reload, a retry after a lost
//! answer. All carry the key hidden in the form; it is unique, so one insert wins and the rest find its row:
//!
//! ```text
//! request 1   insert K ── hold stock ── commit ──┐
//! request 2   insert K ── waits ─────────────────┴── conflict: read the row of K
//! ```
//!
//! A customer who reloads instead sends the same cart under a *new* key. Of one cart at most one checkout is
//! pending or paid, which is unique too: the second form finds the first one's checkout.
//!
//! Nothing here talks to the provider: the checkout is on disk before anybody is charged for it.
//! Drop `unique` from `checkouts.idempotency_key` and a test named `double_click` fails on PostgreSQL, where two
//! transactions can be in the middle of this at once.

use super::{
    Till, earlier,
    model::Checkout,
    purchase::Purchase,
    submit_error::{Short, SubmitError},
};
use crate::{
    cart::{self, Line},
    customers,
    db::{Query, Tx, retrying},
    ids::CheckoutId,
    inventory,
    money::{Money, TaxRate},
    pricing::Pricing,
    provider,
};

/// What became of a form.
#[derive(Debug)]
pub enum Submitted {
    /// A new checkout. The caller holds its lease and drives it.
    New(Checkout),
    /// The key was here before, or the cart is being bought, or was bought, under another one.
    Existing(Checkout),
}

/// Inserts the checkout of `purchase`, or returns the one that exists, in one transaction.
pub async fn submit(till: &Till, purchase: &Purchase) -> Result<Submitted, SubmitError> {
    let id = CheckoutId::new();
    let submitted = retrying(|| submit_once(till, purchase, id)).await?;
    match &submitted {
        Submitted::New(checkout) => {
            tracing::info!(checkout.id = %checkout.id, amount = %checkout.amount(), "checkout submitted");
        }
        Submitted::Existing(checkout) => {
            tracing::info!(checkout.id = %checkout.id, status = %checkout.status, "checkout found again");
        }
    }
    Ok(submitted)
}

async fn submit_once(
    till: &Till,
    purchase: &Purchase,
    id: CheckoutId,
) -> Result<Submitted, SubmitError> {
    let crowd = till.crowds.join(purchase.key);
    let (leads_elsewhere, _inside) = loop {
        // The many repeats need no transaction. This look is a courtesy to them; what holds is the insert.
        let look = || existing(till.db.query(EXISTING), purchase);
        let found = crowd.looks(look).await?;
        let leads_elsewhere = found.is_some();
        if let Some(found) = found.filter(|found| found.idempotency_key == purchase.key) {
            return accept(found, purchase, id);
        }
        match crowd.lets_in() {
            Some(inside) => break (leads_elsewhere, inside),
            None => crowd.waits().await,
        }
    };
    let mut tx = till.db.begin().await?;
    let submitted = write_down(&mut tx, till, purchase, id, leads_elsewhere).await;
    match submitted {
        // What this run has written for a checkout of its own is of no use.
        Ok(Submitted::Existing(found)) if found.idempotency_key == purchase.key => {
            tx.rollback().await?;
            Ok(Submitted::Existing(found))
        }
        // Commits what is new, and undoes what is refused.
        submitted => tx.end(submitted).await,
    }
}

async fn write_down(
    tx: &mut Tx,
    till: &Till,
    purchase: &Purchase,
    id: CheckoutId,
    leads_elsewhere: bool,
) -> Result<Submitted, SubmitError> {
    if leads_elsewhere {
        // To another form's purchase. That may end at any moment, and the same form sent once more would then buy the cart
        // itself. Where the key leads is decided by one at a time.
        cart::lock_to_buy(tx, purchase.cart).await?;
        if let Some(found) = existing(tx.query(EXISTING), purchase).await? {
            return answer_with(found, purchase, id, tx).await;
        }
    }
    let now = till.clock.now();
    let unknown = cart::fill(tx, purchase.cart, &purchase.items, now).await?;
    if !unknown.is_empty() {
        return Err(SubmitError::UnknownProducts(unknown));
    }
    cart::lock_to_buy(tx, purchase.cart).await?;
    let lines = cart::lines(tx, purchase.cart).await?;
    let total = agreed_total(&lines, purchase, &till.pricing)?;
    if !purchase.buy_again {
        let (visitor, cart) = (purchase.visitor, purchase.cart);
        let before = earlier::purchases(tx, visitor, cart, &lines, now).await?;
        if !before.is_empty() {
            return Err(SubmitError::BoughtBefore(before));
        }
    }
    till.limits
        .admit(&purchase.subjects(), purchase.key, now)
        .map_err(SubmitError::TooMany)?;
    let Some(checkout) = insert(tx, till, purchase, id, total).await? else {
        let winner = existing(tx.query(EXISTING), purchase).await?;
        return answer_with(winner.ok_or(SubmitError::Raced)?, purchase, id, tx).await;
    };
    take_stock(tx, checkout.id, &lines).await?;
    Ok(Submitted::New(checkout))
}

/// The checkout of this key, or the one that this key was answered with; else the live one of this cart.
const EXISTING: &str = "
    select * from checkouts where idempotency_key = $1
    union all
    select c.* from other_keys k join checkouts c on c.id = k.checkout_id where k.idempotency_key = $1
    union all
    select * from checkouts
    where cart_id = $2 and status in ('pending', 'paid') and idempotency_key <> $1
      and not exists (select 1 from other_keys where idempotency_key = $1)";

async fn existing(query: Query<'_>, purchase: &Purchase) -> sqlx::Result<Option<Checkout>> {
    let found: Vec<Checkout> = query
        .bind(purchase.key)
        .bind(purchase.cart)
        .fetch_all()
        .await?;
    let (of_key, of_others): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|checkout| checkout.idempotency_key == purchase.key);
    Ok(of_key.into_iter().chain(of_others).next())
}

/// Answers with a checkout that exists. Was it begun by another form, then this form's key leads there from now on, too.
async fn answer_with(
    existing: Checkout,
    purchase: &Purchase,
    id: CheckoutId,
    tx: &mut Tx,
) -> Result<Submitted, SubmitError> {
    let (other, key) = (existing.id, existing.idempotency_key);
    let submitted = accept(existing, purchase, id)?;
    if key != purchase.key {
        tx.query(
            "insert into other_keys (idempotency_key, checkout_id) values ($1, $2)
             on conflict do nothing",
        )
        .bind(purchase.key)
        .bind(other)
        .execute()
        .await?;
    }
    Ok(submitted)
}

/// Whether an existing checkout may answer this purchase. One by the name of `id` is our own: an earlier run's commit went
/// through, and its answer was lost.
fn accept(
    existing: Checkout,
    purchase: &Purchase,
    id: CheckoutId,
) -> Result<Submitted, SubmitError> {
    if existing.id == id {
        return Ok(Submitted::New(existing));
    }
    if existing.visitor_id != purchase.visitor {
        return Err(SubmitError::KeyOfAnother);
    }
    let same_key = existing.idempotency_key == purchase.key;
    if same_key && existing.fingerprint != purchase.fingerprint() {
        return Err(SubmitError::KeyReused);
    }
    Ok(Submitted::Existing(existing))
}

/// The price the customer saw is the price charged: when it has changed since, nothing is created.
fn agreed_total(
    lines: &[Line],
    purchase: &Purchase,
    pricing: &Pricing,
) -> Result<Money, SubmitError> {
    let goods = cart::total(lines);
    let total = goods
        .and_then(|goods| pricing.total(goods))
        .ok_or(SubmitError::CartEmpty)?;
    if purchase.quoted_total.is_some_and(|quoted| quoted != total) {
        return Err(SubmitError::TotalChanged { now: total });
    }
    let goods = cart::digest(purchase.cart, lines);
    if purchase
        .quoted_cart
        .as_ref()
        .is_some_and(|quoted| *quoted != goods)
    {
        return Err(SubmitError::GoodsChanged);
    }
    // What the provider would refuse is refused here, before anything is held for it.
    total.check_chargeable()?;
    Ok(total)
}

/// `None` when the key, or the cart, already has its checkout.
async fn insert(
    tx: &mut Tx,
    till: &Till,
    purchase: &Purchase,
    id: CheckoutId,
    total: Money,
) -> sqlx::Result<Option<Checkout>> {
    let now = till.clock.now();
    let tax = till.pricing.tax(total, &purchase.buyer.country);
    let return_url = match purchase.browser {
        Some(_) => format!("{}/checkouts/{id}", till.links.shop()),
        // The customer of a program has no session here.
        None => till.links.to_checkout(id, now),
    };
    let request = provider::payment_intent_request(&provider::Charge {
        amount: total,
        payment_method: purchase.payment_method.as_str(),
        method_type: purchase.payment_method.kind(),
        mandate: purchase.mandate(),
        checkout_id: &id.to_string(),
        return_url: &return_url,
    });
    tx.query(
        "insert into checkouts (id, idempotency_key, cart_id, visitor_id, fingerprint, status,
             amount_minor, currency, email, name, address, city, postal_code, country,
             payment_method, provider_request, attempts, lease_until, drive_at, created_at,
             shipping_minor, tax_minor, tax_rate, email_folded)
         select $1, $2, $3, $4, $5, 'pending',
             $6, $7, $8, $9, $10, $11, $12, $13,
             $14, $15, 1, $16, $16, $17,
             $18, $19, $20, $21
         where not exists (select 1 from other_keys where idempotency_key = $2)
         on conflict do nothing
         returning *",
    )
    .bind(id)
    .bind(purchase.key)
    .bind(purchase.cart)
    .bind(purchase.visitor)
    .bind(purchase.fingerprint())
    .bind(total.minor)
    .bind(total.currency)
    .bind(&purchase.buyer.email)
    .bind(&purchase.buyer.name)
    .bind(&purchase.buyer.address)
    .bind(&purchase.buyer.city)
    .bind(&purchase.buyer.postal_code)
    .bind(&purchase.buyer.country)
    .bind(purchase.payment_method.as_str())
    .bind(request)
    .bind(now + till.lease)
    .bind(now)
    .bind(till.pricing.shipping.minor)
    .bind(tax.map_or(0, |tax| tax.amount.minor))
    .bind(tax.map_or(TaxRate::NONE, |tax| tax.rate))
    .bind(customers::fold(&purchase.buyer.email))
    .fetch_optional()
    .await
}

/// Writes the lines down and takes their stock, in the order of the SKUs.
async fn take_stock(tx: &mut Tx, checkout: CheckoutId, lines: &[Line]) -> Result<(), SubmitError> {
    let mut short = Vec::new();
    for line in lines {
        add_line(tx, checkout, line).await?;
        if !inventory::hold(tx, checkout, &line.sku, line.quantity).await? {
            short.push(Short {
                sku: line.sku.clone(),
                name: line.name.clone(),
                left: inventory::left(tx, &line.sku).await?,
            });
        }
    }
    if short.is_empty() {
        Ok(())
    } else {
        Err(SubmitError::OutOfStock(short))
    }
}

async fn add_line(tx: &mut Tx, checkout: CheckoutId, line: &Line) -> sqlx::Result<u64> {
    tx.query(
        "insert into checkout_lines (checkout_id, sku, name, quantity, unit_minor, amount_minor)
         values ($1, $2, $3, $4, $5, $6)",
    )
    .bind(checkout)
    .bind(&line.sku)
    .bind(&line.name)
    .bind(line.quantity)
    .bind(line.unit().minor)
    .bind(line.amount().minor)
    .execute()
    .await
}
