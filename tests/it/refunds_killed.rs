//! The shop is killed in the middle of a refund, and started again on the same database.

use std::time::Duration;

use serde_json::json;

use crate::{
    killed::Town,
    outbox::shop_on,
    world::{Form, Operator, PASSWORD, Process, eventually},
};

const REFUND: &str = "refunds.create";
const PENDING: &str = "select count(*) from refunds where status = 'pending'";
const SUCCEEDED: &str = "select count(*) from refunds where status = 'succeeded'";

async fn opens(town: &Town) -> (Process, Operator) {
    let flags = ["--provider-timeout", "5s", "--admin-password", PASSWORD];
    let shop = Process::shop(&town.database, &town.provider, &flags).await;
    town.wire
        .leads_to(shop.address().parse().expect("an address"));
    let operator = Operator::at(&shop.url, PASSWORD);
    (shop, operator)
}

/// An order of 490, and the form that gives it back, with its goods.
async fn sold(town: &Town) -> (Process, Operator, String, Form) {
    let (shop, operator) = opens(town).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    let number = town.books.db().query("select number from orders");
    let number: String = number.fetch_scalar().await.expect("a number");
    let refunds = format!("/admin/orders/{number}/refunds");
    let form = operator.sees(&format!("{refunds}/new")).await.fields();
    (shop, operator, refunds, form.with("restock", "yes"))
}

/// Kills the shop while the form is being worked on, once `moment` has come. The operator presses the button again, and
/// somebody else's workers finish what is open.
async fn killed_when(town: &Town, moment: impl AsyncFn() -> bool) {
    let (shop, operator, refunds, form) = sold(town).await;
    let request = operator.submission(&refunds, &form);
    let submission = tokio::spawn(request.send());
    eventually("the moment comes", || moment()).await;
    shop.kill();
    let answer = submission.await.expect("no panic");
    assert!(answer.is_err(), "answered too early: {answer:?}");
    town.provider.mends().await;

    let (_shop, operator) = opens(town).await;
    let place = operator
        .submits(&refunds, &form)
        .await
        .location()
        .to_owned();
    assert_eq!(operator.submits(&refunds, &form).await.location(), place);
    let heir = shop_on(&town.database, &town.provider.url, &[]).await;
    eventually("it is given back", || async {
        // What the dead had in hand is somebody's again once its lease has run out.
        heir.app.till.clock.advance(Duration::from_secs(30));
        town.books.count(SUCCEEDED).await == 1
    })
    .await;
    assert_eq!(operator.sees(&place).await.heading(), "Given back");
    assert_eq!(operator.submits(&refunds, &form).await.location(), place);
    let sent = "select count(*) from emails where kind = 'refund_notice' and sent_at is not null";
    eventually("the customer is told", || async {
        town.books.count(sent).await == 1
    })
    .await;
    heir.stop().await;

    let report = town.books.report().await;
    assert!(report.ok, "{report}");
    assert_eq!((report.counts.orders, report.counts.refunds), (1, 1));
    let ledger = town.provider.ledger().await["refunds"].clone();
    assert_eq!(ledger["succeeded"], 1);
    assert_eq!(ledger["amount_succeeded"], 490);
    let off_the_shelf = "select cast(sum(stocked - stock) as bigint) from products";
    assert_eq!(town.books.count(off_the_shelf).await, 0);
}

#[tokio::test]
async fn killed_after_the_refund_was_written_down_and_before_the_provider_hears_of_it() {
    let town = Town::found().await;
    let hang = json!({"on": {"operation": REFUND}, "fault": "hang"});
    town.provider.fault(hang).await;
    killed_when(&town, async || town.books.count(PENDING).await == 1).await;
}

#[tokio::test]
async fn killed_after_the_provider_has_made_the_refund_and_before_it_is_recorded() {
    let town = Town::found().await;
    for told in ["refund.created", "refund.updated", "charge.refund.updated"] {
        let lost = json!({"on": {"webhook": told}, "fault": "drop", "times": 100_000});
        town.provider.fault(lost).await;
    }
    let delay = json!({"on": {"operation": REFUND}, "fault": "delay", "delay_ms": 3000});
    town.provider.fault(delay).await;
    killed_when(&town, async || {
        town.provider.ledger().await["refunds"]["succeeded"] == 1
    })
    .await;
}

#[tokio::test]
async fn killed_after_the_refund_was_recorded_and_before_the_answer() {
    let town = Town::found().await;
    let delay = json!({"on": {"operation": REFUND}, "fault": "delay", "delay_ms": 60_000});
    town.provider.fault(delay).await;
    killed_when(&town, async || town.books.count(SUCCEEDED).await == 1).await;
}
