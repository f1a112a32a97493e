//! A database of an earlier version of the shop, and what this one makes of it.

use std::path::Path;

use boring_checkout::simulator::Simulator;
use serde_json::Value;
use sqlx::{Connection as _, Executor as _, PgConnection, SqliteConnection, migrate::Migrator};

use crate::{
    late_success::{calls, mails},
    outbox::shop_on,
    world::{Books, Database, Provider, Shop, eventually},
};

/// The migrations of this database's engine up to, and without, `number`.
async fn migrations_before(database: &Database, number: &str) -> Migrator {
    let engine = if database.is_postgres() {
        "postgres"
    } else {
        "sqlite"
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let earlier = tempfile::tempdir().expect("a temporary folder");
    for file in std::fs::read_dir(folder.join(engine)).expect("migrations") {
        let file = file.expect("a file");
        if file.file_name().to_str().expect("text") < number {
            std::fs::copy(file.path(), earlier.path().join(file.file_name())).expect("copied");
        }
    }
    Migrator::new(earlier.path()).await.expect("migrations")
}

/// The database as it was before refunds of orders, with `sql` in it.
async fn before_refunds_of_orders(database: &Database, sql: String) {
    let migrator = migrations_before(database, "0022").await;
    let sql = sqlx::AssertSqlSafe(sql);
    if database.is_postgres() {
        let mut db = PgConnection::connect(&database.url())
            .await
            .expect("it answers");
        migrator
            .run_direct(None, &mut db, false)
            .await
            .expect("migrated");
        db.execute(sqlx::raw_sql(sql)).await.expect("filled");
    } else {
        let url = format!("{}?mode=rwc", database.url());
        let mut db = SqliteConnection::connect(&url).await.expect("it opens");
        migrator
            .run_direct(None, &mut db, false)
            .await
            .expect("migrated");
        db.execute(sqlx::raw_sql(sql)).await.expect("filled");
    }
}

const AT: &str = "'2026-05-03 10:00:00.000000+00:00'";

/// The `n`th id, as the engine writes it.
fn id(database: &Database, n: u32) -> String {
    if database.is_postgres() {
        format!("'00000000-0000-7000-8000-00000000000{n}'")
    } else {
        format!("x'0000000000007000800000000000000{n}'")
    }
}

fn purchase(id: &str, intent: &str, status: &str) -> String {
    format!(
        "insert into carts (id, created_at) values ({id}, {AT});
         insert into checkouts (id, idempotency_key, cart_id, visitor_id, fingerprint, status, amount_minor, currency,
             email, name, address, city, postal_code, country, payment_method, provider_request, payment_intent_id,
             attempts, created_at, concluded_at)
         values ({id}, {id}, {id}, {id}, '{fingerprint}', '{status}', 490, 'eur', 'tea@example.com', 'n', 'a', 'c',
             'p', 'DE', 'pm_card_visa', '', '{intent}', 1, {AT}, {AT});",
        fingerprint = "f".repeat(64),
    )
}

/// A purchase with an order whose confirmation is owed still.
fn an_order(database: &Database, intent: &str) -> String {
    let one = id(database, 1);
    format!(
        "{purchase}
         insert into products (sku, name, description, price_minor, currency, stock, stocked, created_at)
             values ('TEA-01', 'Tea', '', 490, 'eur', 0, 1, {AT});
         insert into checkout_lines values ({one}, 'TEA-01', 'Tea', 1, 490, 490);
         insert into stock_reservations values ({one}, 'TEA-01', 1, 'sold');
         insert into payments (payment_intent_id, checkout_id, amount_minor, currency, created_at)
             values ('{intent}', {one}, 490, 'eur', {AT});
         insert into orders (number, checkout_id, amount_minor, currency, created_at)
             values ('7K3M-9QXT-2P', {one}, 490, 'eur', {AT});
         insert into shipments (order_number, created_at) values ('7K3M-9QXT-2P', {AT});
         insert into emails (order_number, kind, attempts, created_at)
             values ('7K3M-9QXT-2P', 'order_confirmation', 3, {AT});",
        purchase = purchase(&one, intent, "paid"),
    )
}

/// A purchase that was paid too late and given back.
fn given_back(database: &Database) -> String {
    let (two, three) = (id(database, 2), id(database, 3));
    format!(
        "{purchase}
         insert into refunds (id, checkout_id, payment_intent_id, amount_minor, currency, status, call_key, provider_id,
                 attempts, lease_until, created_at, concluded_at)
             values ({three}, {two}, 'pi_2', 490, 'eur', 'succeeded', 'refund-1', 're_1', 1, {AT}, {AT}, {AT});",
        purchase = purchase(&two, "pi_2", "declined"),
    )
}

#[tokio::test]
async fn mails_and_refunds_are_kept_and_what_was_never_told_is() {
    let database = Database::fresh().await;
    let before = an_order(&database, "pi_1") + &given_back(&database);
    before_refunds_of_orders(&database, before).await;

    let shop = Shop::open_on_with_workers(database, &[]).await;
    let confirmations = mails(&shop, "order_confirmation").await;
    assert_eq!(confirmations.len(), 1);
    assert_eq!(
        confirmations[0].header("Message-ID"),
        "<7K3M-9QXT-2P.order_confirmation@boring.example>"
    );
    let folder = shop.database.mail_folder();
    let file = format!("{folder}/7K3M-9QXT-2P-order_confirmation.eml");
    assert!(std::fs::exists(file).expect("it can be asked"));
    // There was no tax on it then, and who ordered is a customer now.
    assert!(!confirmations[0].part("text/plain").contains("VAT"));
    let customers = "select count(*) from customers u join orders o on o.customer_id = u.id
        where u.email_folded = 'tea@example.com' and u.first_order_at = o.created_at and u.last_order_at = o.created_at";
    assert_eq!(shop.count(customers).await, 1);
    let attempts = "select attempts from emails where kind = 'order_confirmation'";
    assert_eq!(shop.count(attempts).await, 4);
    let told = mails(&shop, "not_fulfilled").await;
    assert_eq!(told.len(), 1);
    let text = told[0].part("text/plain");
    assert!(text.contains("back on 3 May 2026, 10:00 UTC"), "{text}");
}

/// That version was told of a refund in the provider's dashboard, did not know what to make of it, and went on.
#[tokio::test]
async fn r63_refunds_that_an_earlier_version_ignored_are_read_again_and_booked() {
    let database = Database::fresh().await;
    let simulator = Simulator::start().await.expect("it starts");
    let provider = Provider::at(&simulator.url());
    let pays = "amount=490&currency=eur&payment_method=pm_card_visa&payment_method_types[0]=card&confirm=true\
        &metadata[checkout_id]=00000000-0000-7000-8000-000000000001";
    let paid = calls(&provider, "/v1/payment_intents", pays).await;
    let paid: Value = serde_json::from_str(&paid.html).expect("JSON");
    let intent = paid["id"].as_str().expect("an id");
    let gives_back = format!("payment_intent={intent}&amount=190");
    assert_eq!(
        calls(&provider, "/v1/refunds", &gives_back).await.status,
        200
    );

    let all = provider.reads("/v1/events?limit=100").await;
    let all = all["data"].as_array().expect("a list");
    let mut before = an_order(&database, intent);
    for event in all {
        let (id, kind) = (event["id"].as_str(), event["type"].as_str().expect("text"));
        let verdict = if kind == "payment_intent.succeeded" {
            "applied"
        } else {
            "ignored"
        };
        let id = id.expect("text");
        let row = format!(
            "insert into processed_events (event_id, type, verdict, received_at) values ('{id}', '{kind}', '{verdict}', {AT});"
        );
        before.push_str(&row);
    }
    let newest = all[0]["id"].as_str().expect("text");
    let position = format!(
        "insert into events_read (id, event_id, created, read_at) values (1, '{newest}', {}, {AT});",
        all[0]["created"]
    );
    before.push_str(&position);
    before_refunds_of_orders(&database, before).await;

    let shop = shop_on(&database, &provider.url, &[]).await;
    let books = Books::of(&database, &provider).await;
    let told = "select count(*) from emails where kind = 'refund_notice' and sent_at is not null";
    eventually("it is booked and told", || async {
        books.count(told).await == 1
    })
    .await;
    shop.stop().await;
    let booked = "select refunded_minor from payments";
    assert_eq!(books.count(booked).await, 190);
    let report = books.report().await;
    assert!(report.ok, "{report}");
    assert_eq!((report.counts.orders, report.counts.refunds), (1, 1));
}
