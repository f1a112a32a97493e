//! The audit, run and read on a page.

use serde_json::json;

use crate::world::{ONCE, Shop};

async fn sold(shop: &Shop) -> String {
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.settles().await;
    status.rsplit('/').next().expect("an id").to_owned()
}

#[tokio::test]
async fn a_broken_invariant_is_shown_and_leads_to_the_story_of_what_it_is_about() {
    let shop = Shop::open().await;
    let id = sold(&shop).await;
    let operator = shop.operator();
    let page = operator.posts("/admin/audit", &[]).await;
    assert_eq!(page.status, 200);
    assert!(
        page.text("[role=status]").starts_with("All of it holds"),
        "{}",
        page.html
    );
    assert!(page.text(".facts").contains("Orders 1"));

    shop.alters("update orders set amount_minor = amount_minor + 1")
        .await;
    let page = operator.posts("/admin/audit", &[]).await;
    assert!(
        page.text("[role=status]").starts_with("1 of "),
        "{}",
        page.html
    );
    let first = page.text(".admin-invariants > li:first-child");
    assert_eq!(
        first,
        format!("broken lines payment and order agree checkout {id}")
    );
    let link = page.attributes(".admin-invariants a", "href");
    let found = operator.sees(link.first().expect("a link")).await;
    assert_eq!(found.location(), format!("/admin/checkouts/{id}"));

    shop.alters("update orders set amount_minor = amount_minor - 1")
        .await;
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn when_the_provider_does_not_answer_it_says_that_it_could_not_look() {
    let shop = Shop::open().await;
    sold(&shop).await;
    let down = json!({"on": {"operation": "*"}, "fault": "error_before", "times": 1000});
    shop.provider.fault(down).await;
    let page = shop.operator().posts("/admin/audit", &[]).await;
    assert_eq!(page.status, 503);
    let said = page.text("[role=status]");
    assert!(
        said.starts_with("The provider's ledger cannot be read"),
        "{said}"
    );
    assert_eq!(
        page.text(".admin-invariants"),
        "",
        "nothing is claimed to hold"
    );
    shop.provider.mends().await;
    shop.expects(ONCE).await;
}

/// It reads all of both ledgers.
#[tokio::test]
async fn one_audit_runs_at_a_time_and_it_is_not_run_by_looking_at_the_page() {
    let shop = Shop::open().await;
    sold(&shop).await;
    let operator = shop.operator();
    let held = shop.app().auditing.clone().lock_owned().await;
    let page = operator.posts("/admin/audit", &[]).await;
    assert_eq!(page.status, 503);
    assert!(
        page.text("[role=status]")
            .contains("Another audit is running")
    );
    let page = operator.sees("/admin/audit").await;
    assert_eq!(
        (page.status, page.text(".admin-invariants").as_str()),
        (200, "")
    );
    drop(held);
    assert_eq!(operator.posts("/admin/audit", &[]).await.status, 200);
    shop.expects(ONCE).await;
}
