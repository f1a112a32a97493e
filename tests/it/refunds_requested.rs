//! Refunds of orders that somebody asks for: each wish once, never more than is left, and nothing at all for a wish that
//! cannot be.

use boring_checkout::{
    app::App,
    checkout::{IdempotencyKey, Till},
    ids::RefundId,
    orders::OrderNumber,
    probe::Boundary,
    refunds::{self, Refund, RequestError, Requested, Requester, Status, Wish},
};
use futures_util::future::join_all;
use uuid::Uuid;

use crate::{
    amounts::sells_tea_for,
    late_success::mails,
    refund_notices::{BOOKED, OPEN, RESERVED, came_to, is, order_page, paid, shop},
    world::{Shop, failing, probed},
};

/// A wish of the operator's for all that is left, which they have seen.
pub async fn wish(shop: &Shop) -> Wish {
    let number = shop.db().query("select number from orders");
    let number: OrderNumber = number.fetch_scalar().await.expect("a number");
    let left = "select amount_minor - refunded_minor from payments";
    Wish {
        key: IdempotencyKey::fresh(),
        requester: Requester::Operator,
        order: number,
        amount_minor: None,
        left_shown_minor: Some(shop.count(left).await),
        restock: false,
        reason: None,
    }
}

pub fn of(amount_minor: i64, wish: Wish) -> Wish {
    Wish {
        amount_minor: Some(amount_minor),
        ..wish
    }
}

/// Asks for a refund and, when it is a new one, makes it.
pub async fn asks(app: &App, wish: &Wish) -> Result<Refund, RequestError> {
    asks_at(&app.till, wish).await
}

async fn asks_at(till: &Till, wish: &Wish) -> Result<Refund, RequestError> {
    let requested = refunds::request(till, wish).await?;
    let refund = requested.refund().clone();
    if let Requested::New(claimed) = requested {
        refunds::drive(till, claimed).await.expect("driven");
    }
    Ok(refund)
}

async fn asked_the_provider(shop: &Shop) -> usize {
    shop.provider.calls("POST", "/v1/refunds").await.len()
}

#[tokio::test]
async fn a_refund_of_an_order_is_made_booked_and_told() {
    let shop = shop().await;
    let (buyer, _) = paid(&shop, "pm_card_visa").await;
    let wish = wish(&shop).await;
    let refund = asks(shop.app(), &of(190, wish)).await.expect("made");
    is(&shop, "succeeded", 1).await;
    let notices = mails(&shop, "refund_notice").await;
    let [mail] = &notices[..] else {
        panic!("one mail: {notices:?}")
    };
    assert_eq!(
        mail.header("Message-ID"),
        format!("<{}.refund_notice@boring.example>", refund.id)
    );
    assert!(mail.part("text/plain").contains("Not given back: €3.00"));
    let page = order_page(&shop, &buyer).await;
    assert_eq!(page.text(".badge"), "Partially refunded");
    came_to(&shop, 1, 190).await;
}

#[tokio::test]
async fn the_smallest_refund_is_a_cent() {
    let shop = shop().await;
    paid(&shop, "pm_card_visa").await;
    let cent = of(1, wish(&shop).await);
    asks(shop.app(), &cent).await.expect("made");
    is(&shop, "succeeded", 1).await;
    came_to(&shop, 1, 1).await;
}

#[tokio::test]
async fn r61_ten_at_once_with_one_key_are_one_refund() {
    let shop = shop().await;
    paid(&shop, "pm_card_visa").await;
    for n in 1..=5 {
        let wish = of(98, wish(&shop).await);
        let asked = join_all((0..10).map(|_| asks(shop.app(), &wish))).await;
        let ids: Vec<RefundId> = asked
            .into_iter()
            .map(|asked| asked.expect("the one refund").id)
            .collect();
        assert_eq!(ids, [ids[0]; 10]);
        assert_eq!(shop.count(BOOKED).await, n);
    }
    is(&shop, "succeeded", 5).await;
    assert_eq!(asked_the_provider(&shop).await, 5);
    assert_eq!(mails(&shop, "refund_notice").await.len(), 5);
    came_to(&shop, 5, 490).await;
}

/// It was answered, and a day later the tab is reloaded.
#[tokio::test]
async fn r61_a_key_answers_with_its_refund_for_ever() {
    let shop = shop().await;
    paid(&shop, "pm_card_visa").await;
    let wish = wish(&shop).await;
    let first = asks(shop.app(), &wish).await.expect("made");
    is(&shop, "succeeded", 1).await;
    shop.finishes().await;
    shop.later(24 * 3600);
    let again = asks(shop.app(), &wish).await.expect("the same");
    assert_eq!((again.id, again.status), (first.id, Status::Succeeded));
    assert_eq!(asked_the_provider(&shop).await, 1);
    came_to(&shop, 1, 490).await;
}

/// Of two that are too much together one is refused, before the provider hears of it.
#[tokio::test]
async fn r64_of_two_of_sixty_percent_at_once_one_is_made() {
    for _ in 0..5 {
        let shop = shop().await;
        paid(&shop, "pm_card_visa").await;
        let wish = wish(&shop).await;
        let two = [(); 2].map(|()| {
            let fresh = Wish {
                key: IdempotencyKey::fresh(),
                left_shown_minor: None,
                ..wish.clone()
            };
            of(294, fresh)
        });
        let asked = join_all(two.iter().map(|wish| asks(shop.app(), wish))).await;
        let refused = asked.iter().find_map(|asked| asked.as_ref().err());
        let Some(RequestError::TooMuch { left }) = refused else {
            panic!("one is refused: {asked:?}")
        };
        assert_eq!(left.minor, 196);
        assert_eq!(asked.iter().filter(|asked| asked.is_ok()).count(), 1);
        is(&shop, "succeeded", 1).await;
        assert_eq!(asked_the_provider(&shop).await, 1);
        came_to(&shop, 1, 294).await;
    }
}

/// Both would fit, but whoever comes second has not seen what the first one does.
#[tokio::test]
async fn r61_of_two_who_saw_the_same_amount_left_one_is_refused() {
    for _ in 0..5 {
        let shop = shop().await;
        paid(&shop, "pm_card_visa").await;
        let wishes = [
            of(49, wish(&shop).await),
            of(49, wish(&shop).await),
            of(49, wish(&shop).await),
        ];
        let asked = join_all(wishes.iter().map(|wish| asks(shop.app(), wish))).await;
        let refused = asked.iter().filter(
            |asked| matches!(asked, Err(RequestError::LeftChanged { now }) if now.minor == 441),
        );
        assert_eq!(refused.count(), 2, "{asked:?}");
        is(&shop, "succeeded", 1).await;
        assert_eq!(asked_the_provider(&shop).await, 1);
        came_to(&shop, 1, 49).await;
    }
}

/// All that is left, and a part, at once: whatever comes first, all of it is given back in the end, or what was left.
#[tokio::test]
async fn all_that_is_left_is_what_is_left_when_it_is_taken() {
    for _ in 0..5 {
        let shop = shop().await;
        paid(&shop, "pm_card_visa").await;
        let part = Wish {
            left_shown_minor: None,
            ..of(200, wish(&shop).await)
        };
        let rest = Wish {
            left_shown_minor: None,
            ..wish(&shop).await
        };
        let (part, rest) = tokio::join!(asks(shop.app(), &part), asks(shop.app(), &rest));
        let rest = rest.expect("something is left").amount().minor;
        let n = match part {
            Ok(_) => {
                assert_eq!(rest, 290);
                2
            }
            Err(RequestError::NothingLeft) => {
                assert_eq!(rest, 490);
                1
            }
            Err(other) => panic!("{other:?}"),
        };
        is(&shop, "succeeded", n).await;
        came_to(&shop, n, 490).await;
    }
}

#[tokio::test]
async fn r64_three_parts_that_are_asked_for_end_at_exactly_zero() {
    let shop = shop().await;
    let (buyer, _) = paid(&shop, "pm_card_visa").await;
    for (n, amount) in [(1, Some(163)), (2, Some(163)), (3, None)] {
        let wish = Wish {
            amount_minor: amount,
            ..wish(&shop).await
        };
        let refund = asks(shop.app(), &wish).await.expect("made");
        assert_eq!(refund.amount().minor, amount.unwrap_or(164));
        is(&shop, "succeeded", n).await;
    }
    let page = order_page(&shop, &buyer).await;
    assert_eq!(page.text(".badge"), "Refunded");
    let nothing = asks(shop.app(), &wish(&shop).await).await;
    assert!(matches!(nothing, Err(RequestError::NothingLeft)));
    assert_eq!(mails(&shop, "refund_notice").await.len(), 3);
    came_to(&shop, 3, 490).await;
}

#[tokio::test]
async fn r64_a_wish_that_cannot_be_changes_nothing_and_the_provider_hears_of_none() {
    use RequestError as No;

    let shop = shop().await;
    paid(&shop, "pm_card_visa").await;
    let made = of(90, wish(&shop).await);
    asks(shop.app(), &made).await.expect("made");
    is(&shop, "succeeded", 1).await;
    let fits = wish(&shop).await;

    let stale = |shown| Wish {
        left_shown_minor: Some(shown),
        ..fits.clone()
    };
    let of = |amount| of(amount, fits.clone());
    for (wish, refused) in [
        (of(0), "NotAnAmount"),
        (of(-1), "NotAnAmount"),
        (of(i64::MIN), "NotAnAmount"),
        (of(401), "TooMuch"),
        (of(i64::MAX), "TooMuch"),
        (stale(490), "LeftChanged"),
        (stale(399), "LeftChanged"),
        (stale(-1), "LeftChanged"),
        (
            Wish {
                restock: true,
                ..of(399)
            },
            "RestocksAPart",
        ),
        (
            Wish {
                order: "0000-0000-00".parse().expect("a number"),
                ..fits.clone()
            },
            "UnknownOrder",
        ),
        // Keys that were used.
        (
            Wish {
                amount_minor: Some(91),
                ..made.clone()
            },
            "KeyReused",
        ),
        (
            Wish {
                amount_minor: None,
                ..made.clone()
            },
            "KeyReused",
        ),
        (
            Wish {
                restock: true,
                ..made.clone()
            },
            "KeyReused",
        ),
        (
            Wish {
                order: "0000-0000-00".parse().expect("a number"),
                ..made.clone()
            },
            "KeyReused",
        ),
        (
            Wish {
                requester: Requester::ApiKey(Uuid::nil()),
                ..made.clone()
            },
            "KeyOfAnother",
        ),
    ] {
        let asked = asks(shop.app(), &wish).await;
        let said = match asked {
            Err(No::NotAnAmount) => "NotAnAmount",
            Err(No::TooMuch { left }) if left.minor == 400 => "TooMuch",
            Err(No::LeftChanged { now }) if now.minor == 400 => "LeftChanged",
            Err(No::RestocksAPart) => "RestocksAPart",
            Err(No::UnknownOrder) => "UnknownOrder",
            Err(No::KeyReused) => "KeyReused",
            Err(No::KeyOfAnother) => "KeyOfAnother",
            other => panic!("{wish:?}: {other:?}"),
        };
        assert_eq!(said, refused, "{wish:?}");
    }
    assert_eq!(shop.count(RESERVED).await, 90);
    assert_eq!(asked_the_provider(&shop).await, 1);
    // Nothing was stored under the key of what was refused: it is good for what can be.
    asks(shop.app(), &fits).await.expect("made");
    is(&shop, "succeeded", 2).await;
    came_to(&shop, 2, 490).await;
}

/// A card can be given back what it can be charged: thousandths in tens.
#[tokio::test]
async fn r64_an_amount_between_two_steps_of_its_currency_is_refused() {
    let flags = ["--currency", "kwd", "--tax-rates", ""];
    let shop = Shop::open_with_workers(&flags).await;
    sells_tea_for(&shop, 10_000).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    for amount in [1, 9, 3335, 9999] {
        let asked = asks(shop.app(), &of(amount, wish(&shop).await)).await;
        assert!(matches!(asked, Err(RequestError::NotAnAmount)), "{asked:?}");
    }
    asks(shop.app(), &of(3330, wish(&shop).await))
        .await
        .expect("made");
    is(&shop, "succeeded", 1).await;
    came_to(&shop, 1, 3330).await;
}

/// One key for two orders, at once: it is the one's that came first.
#[tokio::test]
async fn a_key_is_one_orders() {
    let shop = shop().await;
    for _ in 0..2 {
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        let status = buyer.buys().await;
        assert_eq!(buyer.waits_at(&status).await, "Paid");
    }
    let orders = shop.db().query("select number from orders");
    let orders: Vec<(OrderNumber,)> = orders.fetch_all().await.expect("orders");
    for _ in 0..5 {
        let key = IdempotencyKey::fresh();
        let wishes = orders.iter().map(|(order,)| Wish {
            key,
            requester: Requester::Operator,
            order: order.clone(),
            amount_minor: Some(10),
            left_shown_minor: None,
            restock: false,
            reason: None,
        });
        let wishes: Vec<Wish> = wishes.collect();
        let asked = join_all(wishes.iter().map(|wish| asks(shop.app(), wish))).await;
        assert_eq!(asked.iter().filter(|asked| asked.is_ok()).count(), 1);
        assert!(
            asked
                .iter()
                .any(|asked| matches!(asked, Err(RequestError::KeyReused))),
            "{asked:?}"
        );
    }
    is(&shop, "succeeded", 5).await;
    let reserved = "select cast(sum(refunded_minor) as bigint) from payments";
    assert_eq!(shop.count(reserved).await, 50);
    let report = shop.report().await;
    assert!(report.ok, "{report}");
}

/// The wish was committed, and the database's answer was lost: whoever asked still makes the refund.
#[tokio::test]
async fn a_wish_whose_commit_is_in_doubt_is_found_again_and_made() {
    let shop = Shop::open().await;
    paid(&shop, "pm_card_visa").await;
    shop.settles().await;
    let (probe, strikes) = failing("40001", 1, |boundary| {
        matches!(boundary, Boundary::AfterCommit)
    });
    let till = probed(shop.app(), probe);
    let wish = wish(&shop).await;
    asks_at(&till, &wish).await.expect("made");
    assert_eq!(strikes.load(std::sync::atomic::Ordering::SeqCst), 1);
    assert_eq!(shop.count(BOOKED).await, 1);
    assert_eq!(shop.count(OPEN).await, 0);
    came_to(&shop, 1, 490).await;
}
