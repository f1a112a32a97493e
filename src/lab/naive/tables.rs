//! Its tables, beside the shop's and in no migration of the shop's. They are as such tables are: without a constraint but the
//! primary key, since what may not be is looked for before anything is written.

use uuid::Uuid;

use crate::db::Db;

/// Types that both engines take: to SQLite they are names, and it stores what it is given.
const TABLES: [&str; 6] = [
    "create table if not exists naive_products (
         sku         text   not null primary key,
         name        text   not null,
         price_minor bigint not null,
         currency    text   not null,
         stock       bigint not null,
         stocked     bigint not null -- everything ever put on the shelf, for the audit
     )",
    "create table if not exists naive_cart_items (
         cart_id  uuid   not null,
         sku      text   not null,
         quantity bigint not null,
         primary key (cart_id, sku)
     )",
    "create table if not exists naive_orders (
         id                uuid        not null primary key,
         cart_id           uuid        not null,
         status            text        not null,
         amount_minor      bigint      not null,
         currency          text        not null,
         email             text        not null,
         payment_intent_id text,
         next_action_url   text,
         created_at        timestamptz not null
     )",
    "create table if not exists naive_order_lines (
         order_id     uuid   not null,
         sku          text   not null,
         quantity     bigint not null,
         amount_minor bigint not null,
         primary key (order_id, sku)
     )",
    "create table if not exists naive_refunds (
         id                uuid        not null primary key,
         order_id          uuid        not null,
         payment_intent_id text        not null,
         amount_minor      bigint      not null,
         currency          text        not null,
         status            text        not null,
         provider_id       text        not null,
         restock           boolean     not null,
         created_at        timestamptz not null
     )",
    "create table if not exists naive_events (
         id          uuid        not null primary key,
         event_id    text        not null,
         received_at timestamptz not null
     )",
];

/// Makes the tables that are not there yet.
pub async fn create_tables(db: &Db) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    for table in TABLES {
        tx.query(table).execute().await?;
    }
    tx.commit().await
}

/// Offers what the shop offers, at the same prices.
pub async fn fill_shelves(db: &Db) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    tx.query(
        "insert into naive_products (sku, name, price_minor, currency, stock, stocked)
         select sku, name, price_minor, currency, stocked, stocked from products where true
         on conflict do nothing",
    )
    .execute()
    .await?;
    tx.commit().await
}

/// So many units of a product are in a cart from now on.
pub async fn put_in_cart(db: &Db, cart: Uuid, sku: &str, quantity: i64) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    tx.query(
        "insert into naive_cart_items (cart_id, sku, quantity) values ($1, $2, $3)
         on conflict (cart_id, sku) do update set quantity = excluded.quantity",
    )
    .bind(cart)
    .bind(sku)
    .bind(quantity)
    .execute()
    .await?;
    tx.commit().await
}
