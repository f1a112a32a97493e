//! The audit of a shop with more checkouts than are in memory at a time.

use std::{sync::Mutex, time::Duration};

use boring_checkout::{
    audit::{self, Progress, Report},
    ids::CheckoutId,
    provider::Provider,
    secret::Secret,
    simulator::Simulator,
};

use crate::{late_success::calls, world::Shop};

/// Checkouts that were given up, long before any other: they come first, in two pages and a half.
const GIVEN_UP: i64 = 5_000;

/// And one that was paid, the last of all.
async fn shop() -> (Shop, CheckoutId) {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.settles().await;
    let paid = shop.db().query("select id from checkouts");
    let paid = paid.fetch_scalar().await.expect("a checkout");
    let mut tx = shop.db().begin().await.expect("a transaction");
    tx.query(
        "insert into checkouts (id, idempotency_key, cart_id, visitor_id, fingerprint, status, amount_minor, currency,
             email, email_folded, name, address, city, postal_code, country, payment_method, provider_request,
             attempts, tax_minor, tax_rate, created_at, concluded_at)
         with recursive n (i) as (select 1 union all select i + 1 from n where i < $1)
         select /*pg cast('01900000-0000-7000-8000-' || lpad(to_hex(i), 12, '0') as uuid) --*/ unhex('01900000000070008000' || printf('%012x', i))
              , /*pg cast('01900001-0000-7000-8000-' || lpad(to_hex(i), 12, '0') as uuid) --*/ unhex('01900001000070008000' || printf('%012x', i))
              , cart_id, visitor_id, fingerprint, 'canceled', amount_minor, currency,
             email, email_folded, name, address, city, postal_code, country, payment_method, provider_request,
             attempts, tax_minor, tax_rate, created_at, concluded_at
         from n, (select * from checkouts limit 1) paid",
    )
    .bind(GIVEN_UP)
    .execute()
    .await
    .expect("checkouts");
    for of_the_same in [
        "insert into checkout_lines (checkout_id, sku, name, quantity, unit_minor, amount_minor)
         select c.id, l.sku, l.name, l.quantity, l.unit_minor, l.amount_minor
         from checkouts c, checkout_lines l where c.status = 'canceled'",
        "insert into stock_reservations (checkout_id, sku, quantity, state)
         select c.id, r.sku, r.quantity, 'released' from checkouts c, stock_reservations r where c.status = 'canceled'",
    ] {
        tx.query(of_the_same).execute().await.expect(of_the_same);
    }
    tx.commit().await.expect("committed");
    (shop, paid)
}

/// What is wrong, by the books of a provider.
async fn audited(shop: &Shop, provider: &Provider) -> (Report, Vec<Progress>) {
    let told = Mutex::new(Vec::new());
    let till = &shop.app().till;
    let now = till.clock.now() + Duration::from_secs(1);
    let report = audit::audit_watched(&till.db, provider, now, |progress| {
        told.lock().expect("not poisoned").push(progress);
    });
    let report = report.await.expect("both ledgers can be read");
    (report, told.into_inner().expect("not poisoned"))
}

fn violations<'r>(report: &'r Report, name: &str) -> &'r [String] {
    let mut invariants = report.invariants.iter();
    let invariant = invariants.find(|it| it.name == name).expect(name);
    &invariant.violations
}

#[tokio::test]
async fn every_checkout_is_compared_however_many_there_are() {
    let (shop, paid) = shop().await;
    let provider = &shop.app().till.provider;
    let (report, told) = audited(&shop, provider).await;
    assert!(report.ok, "{report}");
    assert_eq!(report.counts.checkouts, GIVEN_UP + 1);
    assert_eq!(report.counts.provider_succeeded, 1);
    let expected = [
        Progress::Payments(1),
        Progress::Books,
        Progress::Checkouts(2_000),
        Progress::Checkouts(4_000),
        Progress::Checkouts(5_001),
    ];
    assert_eq!(told, expected);

    // For a checkout on the second page, which was given up, somebody has paid; for the last one twice.
    let given_up = "01900000-0000-7000-8000-000000000bb8";
    for checkout in [given_up, &paid.to_string()] {
        let body = format!(
            "amount=490&currency=eur&confirm=true&payment_method=pm_card_visa&payment_method_types[0]=card\
             &metadata[checkout_id]={checkout}"
        );
        let charged = calls(&shop.provider, "/v1/payment_intents", &body).await;
        assert_eq!(charged.status, 200, "{}", charged.html);
    }
    let (report, _) = audited(&shop, provider).await;
    assert_eq!(
        violations(&report, "one_charge_for_each_checkout"),
        [format!("checkout {paid} was charged 2 times")]
    );
    let not_booked = violations(&report, "each_charge_is_booked");
    let is_told = |end: &str| not_booked.iter().any(|it| it.ends_with(end));
    assert_eq!(not_booked.len(), 2, "{not_booked:?}");
    assert!(is_told(&format!(
        "(490 eur) is not booked: checkout {given_up} is canceled"
    )));
    assert!(is_told(&format!(
        "(490 eur) is not booked: checkout {paid} is paid"
    )));
    assert_eq!(violations(&report, "each_booking_is_a_charge"), [""; 0]);
    assert_eq!(report.counts.provider_succeeded, 3);
}

#[tokio::test]
async fn the_last_of_many_checkouts_is_missed_at_a_provider_that_does_not_know_it() {
    let (shop, paid) = shop().await;
    let another = Simulator::start().await.expect("it starts");
    let key = Secret::new("sk_test_boring".to_owned());
    let another = Provider::new(&another.url(), key, Duration::from_secs(10)).expect("a URL");
    let (report, _) = audited(&shop, &another).await;
    assert_eq!(
        violations(&report, "each_booking_is_a_charge"),
        [format!(
            "checkout {paid} is paid, and the provider has no charge of it"
        )]
    );
    assert_eq!(report.counts.provider_succeeded, 0);
}
