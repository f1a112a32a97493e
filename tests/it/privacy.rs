//! What is one person's is shown to nobody else: not to strangers, not to caches, not to the log.

use std::{collections::BTreeSet, sync::atomic::Ordering};

use boring_checkout::{
    config::Cli,
    probe::{Boundary, Probe},
};
use clap::Parser as _;
use futures_util::future::join_all;

use crate::world::{
    Database, Letter, ONCE, Page, Process, Provider, Shop, Visitor, eventually, failing, front,
};

/// What every answer says, whatever it is.
fn is_guarded(what: &str, page: &Page) {
    let policy = page.header("content-security-policy");
    assert!(policy.contains("default-src 'none'"), "{what}: {policy}");
    assert!(
        policy.contains("frame-ancestors 'none'"),
        "{what}: {policy}"
    );
    assert!(!policy.contains("unsafe"), "{what}: {policy}");
    assert_eq!(page.header("x-content-type-options"), "nosniff", "{what}");
    assert_eq!(page.header("referrer-policy"), "same-origin", "{what}");
}

fn is_kept_by_nobody(what: &str, page: &Page) {
    is_guarded(what, page);
    assert_eq!(
        page.header("cache-control"),
        "no-store",
        "{what}: {}",
        page.status
    );
}

#[tokio::test]
async fn r25_no_page_no_error_and_no_redirect_is_kept_by_a_cache() {
    let shop = Shop::open().await;
    let buyer = shop.visitor();
    let mut seen = BTreeSet::new();
    let mut check = |what: &str, page: Page| {
        is_kept_by_nobody(what, &page);
        seen.insert(page.status);
    };
    check("empty", buyer.sees("/checkout").await);
    check(
        "add",
        buyer
            .posts("/cart/items", &[("sku", "TEA-01"), ("quantity", "1")])
            .await,
    );
    check(
        "quantity",
        buyer
            .posts("/cart/items", &[("sku", "TEA-01"), ("quantity", "x")])
            .await,
    );
    for path in [
        "/",
        "/products/TEA-01",
        "/cart",
        "/checkout",
        "/healthz",
        "/readyz",
    ] {
        check(path, buyer.sees(path).await);
    }
    for path in [
        "/x",
        "/products/X",
        "/checkouts/1",
        "/orders/1",
        "/products/%ff",
        "/webhooks/provider",
    ] {
        check(path, buyer.sees(path).await);
    }
    let form = buyer.opens_checkout().await;
    check("field", buyer.submits(&form.with("email", "x")).await);
    check(
        "total",
        buyer.submits(&form.with("quoted_total", "1")).await,
    );
    check(
        "long",
        buyer.submits(&form.with("name", &"x".repeat(70_000))).await,
    );
    check(
        "origin",
        buyer
            .send(buyer.submission(&form).header("origin", "http://x"))
            .await,
    );
    check(
        "body",
        buyer
            .send(buyer.post_body("/checkout", "text/plain", ""))
            .await,
    );
    check("method", buyer.posts("/cart", &[]).await);
    let bought = buyer.submits(&form).await;
    let status = bought.location().to_owned();
    check("bought", bought);
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    check("status", buyer.sees(&status).await);
    check("order", buyer.sees(&order_of(&buyer, &status).await).await);
    check(
        "webhook",
        Letter::new("{\"id\":\"evt_1\",\"type\":\"x\"}")
            .to(&shop.url)
            .await,
    );
    check(
        "forged",
        Letter::new("{}").signed_with("x").to(&shop.url).await,
    );
    check("not there", buyer.sees("/static/none.css").await);
    assert_eq!(
        seen,
        BTreeSet::from([200, 303, 400, 403, 404, 405, 409, 413, 415, 422])
    );

    let style = buyer.sees("/static/css/base.css").await;
    is_guarded("style", &style);
    assert!(style.header("cache-control").starts_with("public"));
    assert_eq!(style.header("set-cookie"), "");
    shop.expects(ONCE).await;
}

/// The database fails, or a handler panics: also these pages are nobody else's, and the next customer is served.
#[tokio::test]
async fn r25_r14_a_fault_of_ours_is_kept_by_nobody_and_leaves_nothing_behind() {
    let shop = Shop::open().await;
    let panics = Probe::new(|boundary| {
        let here = matches!(boundary, Boundary::AfterStatement(sql) if sql.contains("insert into stock_res"));
        assert!(!here, "as the test wants it");
        async { Ok(()) }
    });
    let (fails, strikes) = failing("XX000", 100, |boundary| boundary == Boundary::BeforeCommit);
    for probe in [panics, fails] {
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        let form = buyer.opens_checkout().await;
        let troubled = buyer.moved_to(&front(&shop, probe).await);
        let page = troubled.submits(&form).await;
        assert_eq!(page.status, 500);
        assert_eq!(page.heading(), "Something went wrong here");
        assert!(!page.text("main").contains("not charged"));
        is_kept_by_nobody("500", &page);
    }
    assert!(strikes.load(Ordering::SeqCst) > 0);
    assert_eq!(shop.count("select count(*) from checkouts").await, 0);
    let next = shop.visitor().with_cart("TEA-01", 1).await;
    let status = next.buys().await;
    assert_eq!(next.waits_at(&status).await, "Paid");
    shop.expects(ONCE).await;
}

async fn order_of(buyer: &Visitor, status: &str) -> String {
    let page = buyer.sees(status).await;
    let start = page.html.find("/orders/").expect("a link to the order");
    page.html[start..start + "/orders/0000-0000-00".len()].to_owned()
}

#[tokio::test]
async fn r74_a_stranger_sees_what_is_shown_for_nothing() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let status = buyer.submits(&form).await.location().to_owned();
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    let order = order_of(&buyer, &status).await;
    assert_eq!(buyer.sees(&order).await.status, 200);
    let by_key = format!("/checkouts/{}", form.field("idempotency_key"));

    let somebody = shop.visitor().with_cart("TEA-01", 1).await;
    for stranger in [&shop.visitor(), &somebody] {
        let nothing = stranger
            .sees("/checkouts/01900000-0000-7000-8000-000000000000")
            .await;
        let no_order = stranger.sees("/orders/0000-0000-00").await;
        for (path, of_nothing) in [
            (&status, &nothing),
            (&order, &no_order),
            (&by_key, &nothing),
        ] {
            let page = stranger.sees(path).await;
            assert_eq!(page.status, 404, "{path}");
            assert_eq!(page.html, of_nothing.html, "{path}");
        }
    }
    assert_eq!(
        buyer.sees(&by_key).await.status,
        404,
        "the key opens nothing"
    );
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn the_cookie_is_for_our_pages_only() {
    for (url, secure) in [
        ("http://shop.example", false),
        ("https://shop.example", true),
    ] {
        let shop = Shop::open_with(&["--public-url", url]).await;
        let fields = [("sku", "TEA-01"), ("quantity", "1")];
        let page = shop.visitor().posts("/cart/items", &fields).await;
        let cookie = page.header("set-cookie");
        assert!(
            cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"),
            "{cookie}"
        );
        assert_eq!(cookie.contains("Secure"), secure, "{cookie}");
    }
}

#[tokio::test]
async fn nothing_that_is_secret_is_in_the_log_of_everything() {
    for format in ["pretty", "json"] {
        let database = Database::fresh().await;
        let secrets = ["sk_test_hidden", "whsec_hidden"];
        let flags = [
            "--log",
            "trace",
            "--log-format",
            format,
            "--provider-key",
            secrets[0],
            "--webhook-secret",
            secrets[1],
        ];
        let shop = Process::whole(&database, &flags).await;
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        let form = buyer.opens_checkout().await;
        let form = form.with("name", "Erika Mustermann");
        let form = form.with("address", "7 Secret Street");
        let declined = form.with("payment_method", "pm_card_chargeDeclined");
        buyer.submits(&form.with("city", "")).await;
        buyer.submits(&declined).await;
        let again = buyer.sees("/checkout").await.form();
        let again = again.with("payment_method", "pm_card_visa");
        let status = buyer.submits(&again).await.location().to_owned();
        assert_eq!(buyer.waits_at(&status).await, "Paid");
        // What the provider adds to the way back from the bank's page.
        let back = format!(
            "{status}?payment_intent_client_secret=pi_1_secret_2&redirect_status=succeeded"
        );
        assert_eq!(buyer.sees(&back).await.heading(), "Paid");
        Letter::new("{}").signed_with("wrong").to(&shop.url).await;
        eventually("the webhook is logged", || async {
            shop.log().contains("event received")
        })
        .await;

        let log = shop.log();
        let id = status.trim_start_matches("/checkouts/");
        assert!(
            log.contains(id) && log.contains("TRACE"),
            "everything is logged"
        );
        let cookie = buyer.cookie().expect("a cookie");
        let session = cookie.trim_start_matches("boring_session=");
        let personal = [
            "buyer@example.com",
            "Mustermann",
            "Secret Street",
            session,
            "pi_1_secret_2",
        ];
        for secret in secrets.iter().chain(&personal) {
            let line = log.lines().find(|line| line.contains(secret));
            assert_eq!(line, None, "{secret} is in the log");
        }
    }
}

#[tokio::test]
async fn nothing_that_is_secret_is_in_debug_output() {
    let cli = Cli::try_parse_from([
        "boring-checkout",
        "--database-url",
        "postgres://user:hunter2@localhost/shop",
        "--provider-key",
        "sk_test_hidden",
        "--webhook-secret",
        "whsec_hidden,whsec_older",
    ]);
    let shop = Shop::open().await;
    let shown = format!("{cli:?} {cli:#?} {:?} {:#?}", shop.app(), shop.app());
    for secret in ["hunter2", "sk_test", "whsec_"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[tokio::test]
async fn a_shop_without_its_provider_is_alive_and_not_ready() {
    let shop = Shop::open().await;
    assert_eq!(shop.visitor().sees("/readyz").await.status, 200);
    let away = Provider::at("http://127.0.0.1:1");
    let lonely = Process::shop(&shop.database, &away, &[]).await;
    let locked_out = Process::shop(
        &shop.database,
        &shop.provider,
        &["--provider-key", "sk_test_x"],
    )
    .await;
    for troubled in [lonely, locked_out] {
        let visitor = troubled.visitor();
        let answers = join_all(["/healthz", "/readyz", "/"].map(|path| visitor.sees(path))).await;
        let statuses: Vec<u16> = answers.iter().map(|page| page.status).collect();
        assert_eq!(statuses, [200, 503, 200]);
        assert!(
            answers[1].html.contains("the payment provider"),
            "{}",
            answers[1].html
        );
    }
}
