//! What a key does: the table of `docs/api.md`, row by row.

use std::sync::atomic::{AtomicUsize, Ordering};

use boring_checkout::probe::Boundary;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::world::{
    Answer, Caller, Expected, ONCE, Process, Shop, fresh_key, front, holding, tea, with,
};

const DECLINED: &str = "pm_card_chargeDeclinedInsufficientFunds";
const ASKS: &str = "pm_card_threeDSecure2Required";

/// What was sent, and what came of it.
#[derive(Default)]
struct Table(Vec<[String; 4]>);

impl Table {
    /// `said` is the status of the checkout, or the kind of the problem.
    #[track_caller]
    fn row(&mut self, sent: &str, answer: &Answer, status: u16, said: &str, replayed: bool) {
        let replay = if answer.is_replayed() { "true" } else { "" };
        let says = match answer.json()["type"].as_str() {
            Some(kind) => kind.rsplit('#').next().unwrap_or_default().to_owned(),
            None => answer.text("status"),
        };
        let row = [sent, &answer.status.to_string(), &says, replay].map(str::to_owned);
        assert_eq!(
            (answer.status, &*says),
            (status, said),
            "{sent}: {answer:?}"
        );
        assert_eq!(answer.is_replayed(), replayed, "{sent}: {answer:?}");
        assert_eq!(
            answer.header("location").is_empty(),
            status >= 400,
            "{sent}: {answer:?}"
        );
        self.0.push(row);
    }

    fn print(&self) {
        println!(
            "| {:60} | status | {:14} | Idempotent-Replayed |",
            "sent", "says"
        );
        println!(
            "|{}|--------|{}|---------------------|",
            "-".repeat(62),
            "-".repeat(16)
        );
        for [sent, status, said, replayed] in &self.0 {
            println!("| {sent:60} | {status:6} | {said:14} | {replayed:19} |");
        }
    }
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table is read from top to bottom")]
async fn the_table() {
    let shop = Shop::open_with(&["--api-keys", "one,two"]).await;
    let one = Caller::at(&shop.url, "one");
    let two = Caller::at(&shop.url, "two");
    let mut table = Table::default();
    let key = fresh_key();

    let first = one.buys(&key, &tea()).await;
    table.row("the first request", &first, 201, "paid", false);
    let again = one.buys(&key, &tea()).await;
    table.row("the same again", &again, 201, "paid", true);
    assert_eq!(
        (first.text, first.headers["location"].clone()),
        (again.text.clone(), again.headers["location"].clone())
    );
    let quoted = one.buys(&format!("\"{key}\""), &tea()).await;
    table.row("the same, the key in quotes", &quoted, 201, "paid", true);
    let spelled = json!({
        "items": [{ "quantity": 1, "sku": "TEA-01" }],
        "payment_method": "pm_card_visa",
        "name": " A Buyer ",
        "quoted_total": null,
        "email": "Buyer@Example.com",
    });
    let otherwise = one.buys(&key.to_uppercase(), &spelled).await;
    table.row(
        "the same, spelled in another way",
        &otherwise,
        201,
        "paid",
        true,
    );
    assert_eq!(otherwise.text, again.text);

    for (what, field, value) in [
        (
            "other goods",
            "items",
            json!([{ "sku": "TEA-01", "quantity": 2 }]),
        ),
        ("another total", "quoted_total", json!(490)),
        ("another e-mail address", "email", json!("else@example.com")),
        ("another name", "name", json!("Another Buyer")),
        (
            "another payment method",
            "payment_method",
            json!("pm_card_mastercard"),
        ),
    ] {
        let other = one.buys(&key, &with(&tea(), field, value)).await;
        table.row(
            &format!("the key again, with {what}"),
            &other,
            422,
            "key-reused",
            false,
        );
    }
    let foreign = two.buys(&key, &tea()).await;
    table.row(
        "the key again, by another API key",
        &foreign,
        201,
        "paid",
        false,
    );
    let fresh = one.buys(&fresh_key(), &tea()).await;
    table.row(
        "the same body, with a fresh key",
        &fresh,
        201,
        "paid",
        false,
    );
    assert_ne!(fresh.text("id"), foreign.text("id"));

    let bare = one.post("/checkouts", &tea());
    table.row("no key", &Answer::to(bare).await, 400, "key-missing", false);
    for malformed in ["", "abc", "\"", "00000000-0000-0000-0000-000000000000"] {
        let answer = one.buys(malformed, &tea()).await;
        table.row(
            &format!("the key {malformed:?}"),
            &answer,
            400,
            "key-malformed",
            false,
        );
    }
    let twice = one.post("/checkouts", &tea());
    let twice = twice
        .header("idempotency-key", &key)
        .header("idempotency-key", &key);
    table.row(
        "the key twice",
        &Answer::to(twice).await,
        400,
        "key-malformed",
        false,
    );

    in_flight(&shop, &one, &mut table).await;
    declined(&one, &mut table).await;
    refused(&shop, &one, &mut table).await;
    pending(&shop, &one, &mut table).await;
    restarted(&shop, &mut table).await;

    table.print();
    let n = 8;
    shop.expects(Expected {
        charges: n,
        orders: n,
        sold: n,
    })
    .await;
}

/// The first request is held after the charge, before the transaction that writes it down.
async fn in_flight(shop: &Shop, one: &Caller, table: &mut Table) {
    shop.provider.loses_webhooks().await;
    let transactions = AtomicUsize::new(0);
    let (probe, mut hold) = holding(move |boundary| {
        let begins = boundary == Boundary::BeforeBegin;
        begins && transactions.fetch_add(1, Ordering::SeqCst) == 1
    });
    let slow = one.moved_to(&front(shop, probe).await);
    let key = fresh_key();
    let first = {
        let key = key.clone();
        tokio::spawn(async move { slow.buys(&key, &tea()).await })
    };
    hold.reached().await;

    let meanwhile = one.buys(&key, &tea()).await;
    table.row(
        "while the first is worked on: the same",
        &meanwhile,
        409,
        "in-progress",
        false,
    );
    assert_eq!(meanwhile.header("retry-after"), "1");
    let other = one.buys(&key, &with(&tea(), "name", "Else")).await;
    table.row(
        "while the first is worked on: another body",
        &other,
        422,
        "key-reused",
        false,
    );

    hold.lets_go();
    let first = first.await.expect("no panic");
    table.row("the first, when it has ended", &first, 201, "paid", false);
    let again = one.buys(&key, &tea()).await;
    table.row("the same after that", &again, 201, "paid", true);
    shop.provider.catches_up().await;
}

async fn declined(one: &Caller, table: &mut Table) {
    let key = fresh_key();
    let body = with(&tea(), "payment_method", DECLINED);
    let first = one.buys(&key, &body).await;
    table.row("a card that is declined", &first, 201, "declined", false);
    assert_eq!(first.json()["failure"]["code"], "insufficient_funds");
    let again = one.buys(&key, &body).await;
    table.row("the same after the decline", &again, 201, "declined", true);
    let other_card = one.buys(&key, &tea()).await;
    table.row(
        "its key, with another card",
        &other_card,
        422,
        "key-reused",
        false,
    );
    let fresh = one.buys(&fresh_key(), &tea()).await;
    table.row("a fresh key, with another card", &fresh, 201, "paid", false);
}

/// What was refused before anything was stored does not use the key up.
async fn refused(shop: &Shop, one: &Caller, table: &mut Table) {
    let key = fresh_key();
    let lamp = with(&tea(), "items", json!([{ "sku": "LMP-01", "quantity": 1 }]));
    shop.alters("update products set stock = 0, stocked = stocked - stock where sku = 'LMP-01'")
        .await;
    let answer = one.buys(&key, &lamp).await;
    table.row(
        "goods that are sold out",
        &answer,
        409,
        "out-of-stock",
        false,
    );
    shop.alters("update products set stock = 1, stocked = stocked + 1 where sku = 'LMP-01'")
        .await;
    let answer = one.buys(&key, &lamp).await;
    table.row(
        "the same, when there are some again",
        &answer,
        201,
        "paid",
        false,
    );
    let answer = one
        .buys(&fresh_key(), &with(&tea(), "quoted_total", 1))
        .await;
    table.row(
        "another total than it costs",
        &answer,
        409,
        "total-changed",
        false,
    );
    let answer = one.buys(&fresh_key(), &json!({})).await;
    table.row(
        "a body that cannot be used",
        &answer,
        422,
        "invalid-body",
        false,
    );
}

/// The customer has to authenticate the payment, and the retry brings the news.
async fn pending(shop: &Shop, one: &Caller, table: &mut Table) {
    shop.provider.loses_webhooks().await;
    let key = fresh_key();
    let body = with(&tea(), "payment_method", ASKS);
    let first = one.buys(&key, &body).await;
    table.row(
        "a card that asks its customer",
        &first,
        202,
        "pending",
        false,
    );
    let again = one.buys(&key, &body).await;
    table.row(
        "the same, before the customer has answered",
        &again,
        202,
        "pending",
        true,
    );
    approve(shop, &again).await;
    shop.later(5);
    let after = one.buys(&key, &body).await;
    table.row(
        "the same, when the customer has approved",
        &after,
        201,
        "paid",
        true,
    );
    assert_eq!(after.json()["next_action_url"], Value::Null);
    shop.provider.catches_up().await;
}

/// Somebody approves the payment on the provider's page.
pub async fn approve(shop: &Shop, checkout: &Answer) {
    let asks = checkout.text("next_action_url");
    let path = asks
        .strip_prefix(&shop.provider.url)
        .expect("the provider's");
    let browser = crate::world::Visitor::at(&shop.provider.url);
    let pressed = browser.posts(path, &[("verdict", "approve")]).await;
    assert_eq!(pressed.status, 303, "{pressed:?}");
}

/// The shop is killed, and another process starts on its database.
async fn restarted(shop: &Shop, table: &mut Table) {
    let flags = ["--api-keys", "one"];
    let process = Process::shop(&shop.database, &shop.provider, &flags).await;
    let key = fresh_key();
    let first = Caller::at(&process.url, "one").buys(&key, &tea()).await;
    table.row(
        "a first request, and then the shop is killed",
        &first,
        201,
        "paid",
        false,
    );
    process.kill();
    let process = Process::shop(&shop.database, &shop.provider, &flags).await;
    let again = Caller::at(&process.url, "one").buys(&key, &tea()).await;
    table.row(
        "the same to the shop that was started again",
        &again,
        201,
        "paid",
        true,
    );
    assert_eq!(first.text, again.text);
}

#[tokio::test]
async fn ten_at_once_are_one_purchase() {
    let shop = Shop::open().await;
    let caller = shop.caller();
    let key = fresh_key();
    let body = tea();

    let answers = join_all((0..10).map(|_| caller.buys(&key, &body))).await;

    let first = answers
        .iter()
        .filter(|it| it.status == 201 && !it.is_replayed());
    assert_eq!(first.count(), 1, "{answers:?}");
    for other in answers
        .iter()
        .filter(|it| it.status != 201 || it.is_replayed())
    {
        if other.status == 409 {
            other.is_problem(409, "in-progress");
        } else {
            assert_eq!(
                (other.status, other.is_replayed()),
                (201, true),
                "{other:?}"
            );
        }
    }
    let again = caller.buys(&key, &body).await;
    assert_eq!(
        (again.status, again.text("status")),
        (201, "paid".to_owned())
    );
    shop.expects(ONCE).await;
}
