//! Who begins too many purchases is slowed down: nobody tries stolen cards here, or empties the shelf without paying.

use futures_util::future::join_all;

use crate::world::{Expected, Form, NOTHING, ONCE, Page, Shop, Visitor};

/// Three purchases for a session, five for an address, and a proxy that tells where somebody comes from.
const STRICT: [&str; 6] = [
    "--attempts-per-session",
    "3",
    "--attempts-per-address",
    "5",
    "--proxies",
    "1",
];

const CREATE: &str = "/v1/payment_intents";

/// Presses Pay, at an address.
async fn pays_from(address: &str, buyer: &Visitor, form: &Form) -> Page {
    let submission = buyer.submission(form);
    buyer
        .send(submission.header("x-forwarded-for", address))
        .await
}

/// Tries a card that will be declined.
async fn tries_from(address: &str, buyer: &Visitor) -> Page {
    let form = buyer.opens_checkout().await;
    let form = form.with("payment_method", "pm_card_chargeDeclined");
    pays_from(address, buyer, &form).await
}

#[tokio::test]
async fn many_cards_are_tried_in_one_session() {
    let shop = Shop::open_with(&STRICT).await;
    let thief = shop.visitor().with_cart("TEA-01", 1).await;
    for _ in 0..3 {
        assert_eq!(tries_from("192.0.2.1", &thief).await.status, 303);
    }

    for _ in 0..3 {
        let refused = tries_from("192.0.2.1", &thief).await;
        assert_eq!(refused.status, 429);
        let wait: u64 = refused.header("retry-after").parse().expect("seconds");
        assert!((590..=601).contains(&wait), "{wait}");
        let says = refused.text("main");
        assert!(says.contains("costs nothing"), "{says}");
        assert!(says.contains("try again in 10 minutes"), "{says}");
        assert_eq!(refused.form().field("name"), "A Buyer");
    }

    assert_eq!(shop.provider.calls("POST", CREATE).await.len(), 3);
    assert_eq!(shop.count("select count(*) from checkouts").await, 3);
    shop.expects(NOTHING).await;

    // Somebody who is no thief comes back later.
    shop.later(600);
    let form = thief.opens_checkout().await;
    let bought = pays_from("192.0.2.1", &thief, &form).await;
    assert_eq!(thief.waits_at(bought.location()).await, "Paid");
    shop.has(ONCE).await;
}

#[tokio::test]
async fn a_new_session_for_each_card_does_not_help() {
    let shop = Shop::open_with(&STRICT).await;
    let mut answers = Vec::new();
    for _ in 0..8 {
        let thief = shop.visitor().with_cart("TEA-01", 1).await;
        answers.push(tries_from("192.0.2.1", &thief).await.status);
    }
    assert_eq!(answers, [303, 303, 303, 303, 303, 429, 429, 429]);

    // Nor does it to claim to be somebody else's proxy.
    let thief = shop.visitor().with_cart("TEA-01", 1).await;
    let claims = tries_from("198.51.100.7, 192.0.2.1", &thief).await;
    assert_eq!(claims.status, 429);

    // Nor to write what nobody can read: those whom nobody can tell apart are counted together.
    let mut answers = Vec::new();
    for written in ["nonsense", "127.0.0.1", "192.0.2.1,", "::1", "", "a b", "x"] {
        let thief = shop.visitor().with_cart("TEA-01", 1).await;
        answers.push(tries_from(written, &thief).await.status);
    }
    assert_eq!(answers, [303, 303, 303, 303, 303, 429, 429]);

    let other = shop.visitor().with_cart("TEA-01", 1).await;
    let form = other.opens_checkout().await;
    let bought = pays_from("198.51.100.7", &other, &form).await;
    assert_eq!(other.waits_at(bought.location()).await, "Paid");
    assert_eq!(shop.provider.calls("POST", CREATE).await.len(), 11);
    shop.expects(ONCE).await;
}

/// What is begun and not paid holds the goods for as long as the bank may ask, so it must not be begun without bound.
#[tokio::test]
async fn nobody_empties_the_shelf_without_paying() {
    let shop = Shop::open_with(&STRICT).await;
    let stock = shop
        .count("select stock from products where sku = 'TEA-01'")
        .await;
    for _ in 0..10 {
        let rival = shop.visitor().with_cart("TEA-01", 1).await;
        let form = rival.opens_checkout().await;
        let form = form.with("payment_method", "pm_card_threeDSecure2Required");
        pays_from("192.0.2.1", &rival, &form).await;
    }
    let left = shop
        .count("select stock from products where sku = 'TEA-01'")
        .await;
    assert_eq!(stock - left, 5);
}

/// A repeat is the same purchase, and no repeat is refused: somebody who has lost an answer must find it.
#[tokio::test]
async fn the_same_form_is_one_purchase_however_often_it_comes() {
    let one = [
        &["--attempts-per-session", "1", "--attempts-per-address", "1"][..],
        &["--proxies", "1"],
    ];
    let shop = Shop::open_with(&one.concat()).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let clicks = (0..30).map(|_| pays_from("192.0.2.1", &buyer, &form));
    for answer in join_all(clicks).await {
        assert_eq!(answer.status, 303);
    }
    assert_eq!(pays_from("192.0.2.1", &buyer, &form).await.status, 303);

    buyer.adds("TEA-01", 1).await;
    let form = buyer.opens_checkout().await.with("buy_again", "yes");
    assert_eq!(pays_from("192.0.2.1", &buyer, &form).await.status, 429);
    shop.expects(ONCE).await;
}

/// Tests and demonstrations buy as often as they like, at the machine itself.
#[tokio::test]
async fn this_machine_itself_is_not_counted() {
    let shop = Shop::open_with(&["--attempts-per-address", "1"]).await;
    for _ in 0..3 {
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        // Who is not behind a proxy of ours says nothing by this.
        let form = buyer.opens_checkout().await;
        let bought = pays_from("192.0.2.1", &buyer, &form).await;
        assert_eq!(buyer.waits_at(bought.location()).await, "Paid");
    }
    shop.expects(Expected {
        charges: 3,
        orders: 3,
        sold: 3,
    })
    .await;
}
