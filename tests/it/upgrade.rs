//! A database of an earlier version of the shop, and what this one makes of it.

use std::path::Path;

use sqlx::{Connection as _, Executor as _, PgConnection, SqliteConnection, migrate::Migrator};

use crate::{
    late_success::mails,
    world::{Database, Shop},
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

/// Two purchases: one with an order whose confirmation is owed still, one that was paid too late and given back.
fn two_purchases(is_postgres: bool) -> String {
    let id = |n: u32| {
        if is_postgres {
            format!("'00000000-0000-7000-8000-00000000000{n}'")
        } else {
            format!("x'0000000000007000800000000000000{n}'")
        }
    };
    let at = "'2026-05-03 10:00:00.000000+00:00'";
    let checkout = |n: u32, status: &str| {
        format!(
            "insert into carts (id, created_at) values ({id}, {at});
             insert into checkouts (id, idempotency_key, cart_id, visitor_id, fingerprint, status, amount_minor, currency,
                 email, name, address, city, postal_code, country, payment_method, provider_request, payment_intent_id,
                 attempts, created_at, concluded_at)
             values ({id}, {id}, {id}, {id}, '{fingerprint}', '{status}', 490, 'eur', 'tea@example.com', 'n', 'a', 'c',
                 'p', 'DE', 'pm_card_visa', '', 'pi_{n}', 1, {at}, {at});",
            id = id(n),
            fingerprint = "f".repeat(64),
        )
    };
    format!(
        "{} {}
         insert into payments (payment_intent_id, checkout_id, amount_minor, currency, created_at)
             values ('pi_1', {one}, 490, 'eur', {at});
         insert into orders (number, checkout_id, amount_minor, currency, created_at)
             values ('7K3M-9QXT-2P', {one}, 490, 'eur', {at});
         insert into emails (order_number, kind, attempts, created_at)
             values ('7K3M-9QXT-2P', 'order_confirmation', 3, {at});
         insert into refunds (id, checkout_id, payment_intent_id, amount_minor, currency, status, call_key, provider_id,
                 attempts, lease_until, created_at, concluded_at)
             values ({three}, {two}, 'pi_2', 490, 'eur', 'succeeded', 'refund-1', 're_1', 1, {at}, {at}, {at});",
        checkout(1, "paid"),
        checkout(2, "declined"),
        one = id(1),
        two = id(2),
        three = id(3),
    )
}

#[tokio::test]
async fn mails_and_refunds_are_kept_and_what_was_never_told_is() {
    let database = Database::fresh().await;
    let before = two_purchases(database.is_postgres());
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
