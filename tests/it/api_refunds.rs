//! A program gives money back.

use std::sync::atomic::{AtomicUsize, Ordering};

use boring_checkout::probe::Boundary;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::world::{Answer, Caller, Expected, ONCE, Shop, fresh_key, front, holding, tea, with};

const CREATE: &str = "refunds.create";

/// A shop in which the key `demo` has bought tea for 490, and where its refunds are asked for.
async fn bought(shop: &Shop) -> (Caller, String) {
    let caller = shop.caller();
    let bought = caller.buys(&fresh_key(), &tea()).await;
    assert_eq!(bought.text("status"), "paid");
    let path = format!("/orders/{}", bought.text("order_number"));
    (caller, path)
}

async fn refunds(caller: &Caller, order: &str, key: &str, body: &Value) -> Answer {
    caller.posts(&format!("{order}/refunds"), key, body).await
}

async fn given_back(shop: &Shop) -> Value {
    shop.provider.ledger().await["refunds"]["amount_succeeded"].clone()
}

#[tokio::test]
async fn a_part_and_then_all_that_is_left() {
    let shop = Shop::open().await;
    let (caller, order) = bought(&shop).await;

    let part = refunds(&caller, &order, &fresh_key(), &json!({ "amount": 190 })).await;
    assert_eq!(part.status, 201, "{part:?}");
    let id = part.text("id");
    let number = order.trim_start_matches("/orders/");
    let refund = json!({
        "id": id,
        "status": "succeeded",
        "amount": 190,
        "currency": "eur",
        "order_number": number,
    });
    assert_eq!(part.json(), refund);
    assert_eq!(part.header("location"), format!("/api/v1/refunds/{id}"));
    assert_eq!(caller.gets(&format!("/refunds/{id}")).await.json(), refund);
    let partly = caller.gets(&order).await.json();
    assert_eq!(
        (&partly["status"], &partly["amount_refunded"]),
        (&json!("partially_refunded"), &json!(190))
    );

    let too_much = refunds(&caller, &order, &fresh_key(), &json!({ "amount": 301 })).await;
    assert_eq!(too_much.is_problem(422, "more-than-left")["left"], 300);

    let rest = refunds(&caller, &order, &fresh_key(), &json!({})).await;
    assert_eq!(
        (rest.status, rest.json()["amount"].clone()),
        (201, json!(300))
    );
    let all = caller.gets(&order).await.json();
    assert_eq!(
        (&all["status"], &all["amount_refunded"]),
        (&json!("refunded"), &json!(490))
    );

    for body in [json!({}), json!({ "amount": 1 })] {
        let nothing = refunds(&caller, &order, &fresh_key(), &body).await;
        assert_eq!(nothing.is_problem(422, "more-than-left")["left"], 0);
    }
    assert_eq!(given_back(&shop).await, 490);
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r61_a_key_gives_back_once() {
    let shop = Shop::open_with(&["--api-keys", "one,two"]).await;
    let one = Caller::at(&shop.url, "one");
    let key = fresh_key();
    let order = one.buys(&key, &tea()).await.text("order_number");
    let order = format!("/orders/{order}");
    let body = json!({ "amount": 98 });

    // The key of the purchase is another's: a refund is another wish.
    let answers = join_all((0..10).map(|_| refunds(&one, &order, &key, &body))).await;
    let first = answers
        .iter()
        .filter(|it| it.status == 201 && !it.is_replayed());
    assert_eq!(first.count(), 1, "{answers:?}");
    for answer in answers.iter().filter(|it| it.status != 201) {
        answer.is_problem(409, "in-progress");
    }
    let again = refunds(&one, &order, &format!("\"{key}\""), &body).await;
    assert_eq!((again.status, again.is_replayed()), (201, true));
    let other = refunds(&one, &order, &key, &json!({ "amount": 97 })).await;
    other.is_problem(422, "key-reused");
    let next = one.buys(&fresh_key(), &tea()).await.text("order_number");
    let other_order = refunds(&one, &format!("/orders/{next}"), &key, &body).await;
    other_order.is_problem(422, "key-reused");

    let bare = one.post(&format!("{order}/refunds"), &body);
    Answer::to(bare).await.is_problem(400, "key-missing");
    for wrong in [
        json!({ "amount": 0 }),
        json!({ "amount": -1 }),
        json!({ "amount": "98" }),
        // Whoever has lost the amount does not want everything.
        json!({ "amount": null }),
        json!({ "sum": 98 }),
        json!([98]),
    ] {
        let answer = refunds(&one, &order, &fresh_key(), &wrong).await;
        answer.is_problem(422, "invalid-body");
    }
    assert_eq!(given_back(&shop).await, 98);
    shop.expects(Expected {
        charges: 2,
        orders: 2,
        sold: 2,
    })
    .await;
}

#[tokio::test]
async fn r74_another_keys_order_is_not_given_back() {
    let shop = Shop::open_with(&["--api-keys", "demo,two"]).await;
    let (mine, order) = bought(&shop).await;
    let theirs = Caller::at(&shop.url, "two");
    let refund = refunds(&mine, &order, &fresh_key(), &json!({ "amount": 1 }))
        .await
        .text("id");

    let asked = refunds(&theirs, &order, &fresh_key(), &json!({})).await;
    asked.is_problem(404, "not-found");
    let nothing = refunds(&theirs, "/orders/0000-0000-00", &fresh_key(), &json!({})).await;
    assert_eq!(asked.text, nothing.text);
    let looked = theirs.gets(&format!("/refunds/{refund}")).await;
    looked.is_problem(404, "not-found");
    let nothing = theirs
        .gets("/refunds/01900000-0000-7000-8000-000000000000")
        .await;
    assert_eq!(looked.text, nothing.text);

    assert_eq!(given_back(&shop).await, 1);
    shop.expects(ONCE).await;
}

/// Two programs that draw the same key give back, each of an order of its own.
#[tokio::test]
async fn a_key_is_of_the_program_that_drew_it() {
    let shop = Shop::open_with(&["--api-keys", "demo,two"]).await;
    let (mine, order) = bought(&shop).await;
    let theirs = Caller::at(&shop.url, "two");
    let other = theirs.buys(&fresh_key(), &tea()).await;
    let other = format!("/orders/{}", other.text("order_number"));
    let key = fresh_key();
    for (caller, order, amount) in [(&mine, &order, 98), (&theirs, &other, 97)] {
        let first = refunds(caller, order, &key, &json!({ "amount": amount })).await;
        assert_eq!(
            (first.status, first.is_replayed()),
            (201, false),
            "{first:?}"
        );
        assert_eq!(first.json()["amount"], amount);
    }
    assert_eq!(given_back(&shop).await, 195);
    shop.expects(Expected {
        charges: 2,
        orders: 2,
        sold: 2,
    })
    .await;
}

/// The first request is held after the money went back, before the transaction that writes it down.
#[tokio::test]
async fn while_the_first_is_worked_on_the_same_is_asked_to_come_again() {
    let shop = Shop::open().await;
    let (caller, order) = bought(&shop).await;
    shop.provider.loses_webhooks().await;
    let transactions = AtomicUsize::new(0);
    let (probe, mut hold) = holding(move |boundary| {
        let begins = boundary == Boundary::BeforeBegin;
        begins && transactions.fetch_add(1, Ordering::SeqCst) == 1
    });
    let slow = caller.moved_to(&front(&shop, probe).await);
    let (key, body) = (fresh_key(), json!({ "amount": 98 }));
    let first = {
        let (order, key, body) = (order.clone(), key.clone(), body.clone());
        tokio::spawn(async move { refunds(&slow, &order, &key, &body).await })
    };
    hold.reached().await;

    let meanwhile = refunds(&caller, &order, &key, &body).await;
    meanwhile.is_problem(409, "in-progress");
    assert_eq!(meanwhile.header("retry-after"), "1");

    hold.lets_go();
    let first = first.await.expect("no panic");
    assert_eq!((first.status, first.is_replayed()), (201, false));
    let again = refunds(&caller, &order, &key, &body).await;
    assert_eq!((again.status, again.is_replayed()), (201, true));
    assert_eq!(again.text, first.text);
    shop.provider.catches_up().await;
    shop.expects(ONCE).await;
}

/// The answer is lost, and the request is sent again: the worker learns what became of it.
#[tokio::test]
async fn r63_a_lost_answer_is_one_refund() {
    let shop = Shop::open_with_workers(&["--provider-timeout", "300ms"]).await;
    let (caller, order) = bought(&shop).await;
    shop.provider
        .fault(json!({"on": {"operation": CREATE}, "fault": "error_after", "status": 500}))
        .await;
    let key = fresh_key();

    let first = refunds(&caller, &order, &key, &json!({})).await;
    assert!([201, 202].contains(&first.status), "{first:?}");
    let path = format!("/refunds/{}", first.text("id"));
    crate::world::eventually("it is given back", || async {
        caller.gets(&path).await.json()["status"] == "succeeded"
    })
    .await;
    let again = refunds(&caller, &order, &key, &json!({})).await;
    assert_eq!(
        (again.status, again.is_replayed(), again.text("status")),
        (201, true, "succeeded".to_owned())
    );

    assert_eq!(given_back(&shop).await, 490);
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn a_refund_that_takes_its_time_is_pending_and_one_that_is_refused_has_failed() {
    for (card, status, said) in [
        ("pm_card_visa", 202, "pending"),
        ("pm_card_visa", 201, "failed"),
    ] {
        let shop = Shop::open().await;
        let caller = shop.caller();
        let paid = caller
            .buys(&fresh_key(), &with(&tea(), "payment_method", card))
            .await;
        let order = format!("/orders/{}", paid.text("order_number"));
        let key = fresh_key();
        let fault = match said {
            "pending" => {
                json!({"on": {"operation": CREATE}, "fault": "error_before", "times": 1000})
            }
            _ => {
                json!({"on": {"operation": CREATE}, "fault": "error_before", "status": 400, "times": 1000})
            }
        };
        shop.provider.fault(fault).await;
        let first = refunds(&caller, &order, &key, &json!({})).await;
        assert_eq!(
            (first.status, first.text("status")),
            (status, said.to_owned()),
            "{first:?}"
        );
        assert_eq!(
            first.header("location"),
            format!("/api/v1/refunds/{}", first.text("id"))
        );
        let again = refunds(&caller, &order, &key, &json!({})).await;
        assert_eq!(
            (again.status, again.is_replayed()),
            (status, true),
            "{again:?}"
        );
        assert_eq!(caller.gets(&order).await.json()["amount_refunded"], 0);
    }
}
