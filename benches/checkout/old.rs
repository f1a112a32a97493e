//! A shop that has been open for long: purchases of last year, made by SQL. What the pruner would have deleted is not made.

use boring_checkout::db::Db;
use chrono::{TimeDelta, Utc};

/// As many are made by one statement.
const BATCH: i64 = 100_000;

/// The purchases from `$1` to `$2`, at `$3`. An id is made of the number, and of what it names.
macro_rules! purchases {
    ($columns:literal, $values:expr) => {
        concat!(
            "insert into ",
            $columns,
            " with recursive n (i) as (select $1 union all select i + 1 from n where i < $2) select ",
            $values,
            " from n where $3 = $3"
        )
    };
}

macro_rules! id {
    ($kind:literal) => {
        concat!(
            " /*pg cast('",
            $kind,
            "-0000-7000-8000-' || lpad(to_hex(i), 12, '0') as uuid) --*/ unhex('",
            $kind,
            "000070008000' || printf('%012x', i))\n"
        )
    };
}

macro_rules! checkout {
    () => {
        id!("01900000")
    };
}

macro_rules! number {
    ($prefix:literal) => {
        concat!(
            " '",
            $prefix,
            "' || /*pg lpad(to_hex(i), 10, '0') --*/ printf('%010x', i)\n"
        )
    };
}

macro_rules! sku {
    () => {
        " 'THING-' || /*pg lpad(cast(i % 1000 as text), 4, '0') --*/ printf('%04d', i % 1000)\n"
    };
}

/// In the order in which a purchase writes them.
const STATEMENTS: [&str; 10] = [
    purchases!(
        "carts (id, created_at)",
        concat!(id!("01900001"), ", $3")
    ),
    purchases!(
        "checkouts (id, idempotency_key, cart_id, visitor_id, fingerprint, status, amount_minor, currency,
             email, email_folded, name, address, city, postal_code, country, payment_method, provider_request,
             payment_intent_id, attempts, tax_minor, tax_rate, created_at, concluded_at)",
        concat!(
            checkout!(), ",", id!("01900002"), ",", id!("01900001"), ",", id!("01900003"), ",",
            "'9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', 'paid', 2490, 'eur',",
            number!("buyer"), ",", number!("buyer"),
            ", 'A Buyer', '1 Plain Street', 'Ordinary', '12345', 'DE', 'pm_card_visa',
             'amount=2490&currency=eur&payment_method=pm_card_visa&payment_method_types%5B0%5D=card&confirm=true',",
            number!("pi_"), ", 1, 398, 19000, $3, $3"
        )
    ),
    purchases!(
        "checkout_lines (checkout_id, sku, name, quantity, unit_minor, amount_minor)",
        concat!(checkout!(), ",", sku!(), ", 'Thing', 1, 2490, 2490")
    ),
    purchases!(
        "stock_reservations (checkout_id, sku, quantity, state)",
        concat!(checkout!(), ",", sku!(), ", 1, 'sold'")
    ),
    purchases!(
        "payments (payment_intent_id, checkout_id, amount_minor, currency, created_at)",
        concat!(number!("pi_"), ",", checkout!(), ", 2490, 'eur', $3")
    ),
    purchases!(
        "customers (id, email_folded, email, name, first_order_at, last_order_at)",
        concat!(id!("01900004"), ",", number!("buyer"), ",", number!("buyer"), ", 'A Buyer', $3, $3")
    ),
    purchases!(
        "orders (number, checkout_id, customer_id, amount_minor, currency, created_at)",
        concat!(number!("OLD"), ",", checkout!(), ",", id!("01900004"), ", 2490, 'eur', $3")
    ),
    purchases!(
        "provider_calls (checkout_id, about, attempt, place, operation, ended, requests, ended_at)",
        concat!(checkout!(), ",", checkout!(), ", 1, 1, 'payment_intents.create', '200 succeeded', 1, $3")
    ),
    purchases!(
        "shipments (order_number, created_at)",
        concat!(number!("OLD"), ", $3")
    ),
    purchases!(
        "emails (about, kind, checkout_id, attempts, created_at, sent_at)",
        concat!(checkout!(), ", 'order_confirmation',", checkout!(), ", 1, $3, $3")
    ),
];

/// Makes so many.
pub async fn make(db: &Db, count: i64) {
    let year = Utc::now() - TimeDelta::days(365);
    let mut first = 1;
    while first <= count {
        let last = (first + BATCH - 1).min(count);
        let at = year + TimeDelta::milliseconds(first);
        let mut tx = db.begin().await.unwrap();
        for sql in STATEMENTS {
            let query = tx.query(sql).bind(first).bind(last).bind(at);
            query.execute().await.expect(sql);
        }
        tx.commit().await.unwrap();
        first = last + 1;
    }
    let mut tx = db.begin().await.unwrap();
    for sql in [
        "update products set stock = stocked - (select count(*) from stock_reservations r where r.sku = products.sku)",
        "analyze",
    ] {
        tx.query(sql).execute().await.expect(sql);
    }
    tx.commit().await.unwrap();
}
