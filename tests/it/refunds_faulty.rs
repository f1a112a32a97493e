//! Refunds of orders while the provider, or the wire to it, misbehaves: the money goes back once, and until that is known
//! nobody else gets it.

use std::{cell::Cell, time::Duration};

use boring_checkout::{
    audit,
    ids::RefundId,
    refunds::{RequestError, Wish},
};
use serde_json::{Value, json};

use crate::{
    late_success::mails,
    outbox::another_shop,
    refund_notices::{BOOKED, KEPT, OPEN, RESERVED, came_to, gives_back, is, paid, shop},
    refunds_requested::{asks, of, wish},
    world::{Letter, Shop, client, eventually},
};

const REFUND: &str = "refunds.create";

/// Only the answers tell, and what is asked after them.
async fn tells_nothing_of_refunds(shop: &Shop) {
    for on in [
        json!({"webhook": "refund.created"}),
        json!({"webhook": "refund.updated"}),
        json!({"webhook": "charge.refund.updated"}),
        json!({"operation": "events.list"}),
    ] {
        let fault = if on["webhook"].is_null() {
            "drop_request"
        } else {
            "drop"
        };
        let lost = json!({"on": on, "fault": fault, "times": 100_000});
        shop.provider.fault(lost).await;
    }
}

/// The next `times` calls for a refund meet it.
async fn goes_wrong(shop: &Shop, wrong: &Value, times: u32) {
    let mut fault = wrong.clone();
    fault["on"] = json!({"operation": REFUND});
    fault["times"] = json!(times);
    shop.provider.fault(fault).await;
}

/// Workers of another process finish what is open, and send the mails.
async fn others_go_on_until(shop: &Shop, made: i64) {
    let other = another_shop(shop, &["--provider-timeout", "1s"]).await;
    let succeeded = "select count(*) from refunds where status = 'succeeded'";
    eventually("it is given back", || async {
        other.app.till.clock.advance(Duration::from_secs(3));
        shop.count(succeeded).await == made
    })
    .await;
    assert_eq!(
        i64::try_from(mails(shop, "refund_notice").await.len()),
        Ok(made)
    );
    other.stop().await;
}

/// Without workers: what happens is only what was asked for.
async fn shop_by_itself() -> Shop {
    Shop::open_with(&["--provider-timeout", "300ms"]).await
}

#[tokio::test]
async fn whatever_goes_wrong_the_money_goes_back_once_and_is_kept_until_then() {
    for wrong in [
        json!({"fault": "drop_request"}),
        json!({"fault": "drop_response"}),
        json!({"fault": "error_before"}),
        json!({"fault": "error_after"}),
        // A refusal and a "not now" that are kept for the key of a refund which was made.
        json!({"fault": "error_after", "status": 400}),
        json!({"fault": "error_after", "status": 429}),
        json!({"fault": "rate_limit"}),
        json!({"fault": "hang"}),
    ] {
        println!("{wrong}");
        let shop = shop_by_itself().await;
        paid(&shop, "pm_card_visa").await;
        shop.settles().await;
        tells_nothing_of_refunds(&shop).await;
        goes_wrong(&shop, &wrong, 5).await;
        // Twice of it would fit.
        let wished = of(200, wish(&shop).await);
        let refund = asks(shop.app(), &wished).await.expect("written down");
        let stored = ["error_after"].contains(&wrong["fault"].as_str().expect("a name"));
        if !(stored && wrong["status"] == 400) {
            // Of a refusal the truth is looked up at once.
            is(&shop, "pending", 1).await;
        }
        assert_eq!(shop.count(RESERVED).await, 200);
        let other = Wish {
            left_shown_minor: None,
            ..of(291, wish(&shop).await)
        };
        let refused = asks(shop.app(), &other).await;
        assert!(matches!(refused, Err(RequestError::TooMuch { left }) if left.minor == 290));
        assert_eq!(asks(shop.app(), &wished).await.expect("it").id, refund.id);

        others_go_on_until(&shop, 1).await;
        shop.provider.mends().await;
        came_to(&shop, 1, 200).await;
    }
}

/// Somebody has used the key for something else, and it will never make the refund.
#[tokio::test]
async fn a_key_whose_stored_answer_made_no_refund_is_replaced() {
    let shop = shop_by_itself().await;
    paid(&shop, "pm_card_visa").await;
    goes_wrong(&shop, &json!({"fault": "drop_request"}), 4).await;
    asks(shop.app(), &wish(&shop).await)
        .await
        .expect("written down");
    let key = shop.db().query("select call_key from refunds");
    let key: String = key.fetch_scalar().await.expect("a key");
    let spoils = client()
        .post(format!("{}/v1/customers", shop.provider.url))
        .bearer_auth("sk_test_boring")
        .header("idempotency-key", key);
    assert_eq!(spoils.send().await.expect("an answer").status(), 200);
    others_go_on_until(&shop, 1).await;
    came_to(&shop, 1, 490).await;
}

/// The webhook comes before the answer, while it is on its way, after it, and twice each.
#[tokio::test]
async fn r63_told_before_during_and_after_our_answer_it_is_booked_once() {
    let shop = shop().await;
    paid(&shop, "pm_card_visa").await;
    goes_wrong(&shop, &json!({"fault": "delay", "delay_ms": 700}), 1).await;
    let wish = of(190, wish(&shop).await);
    let answered = Cell::new(false);
    let asking = async {
        let asked = asks(shop.app(), &wish).await;
        answered.set(true);
        asked
    };
    let telling = async {
        is(&shop, "succeeded", 1).await;
        assert!(!answered.get(), "the webhook was to come first");
        let event = shop.provider.events("refund.created").await.remove(0);
        assert_eq!(shop.provider.delivers(&event, 2).await, [200; 2]);
        event
    };
    let (asked, event) = tokio::join!(asking, telling);
    asked.expect("made");
    assert_eq!(shop.provider.delivers(&event, 2).await, [200; 2]);
    let told_anew = json!({"id": "evt_anew", "object": "event", "type": "refund.updated", "livemode": false,
        "data": event["data"]});
    assert_eq!(Letter::of(&told_anew).to(&shop.url).await.status, 200);
    assert_eq!(shop.count(BOOKED).await, 1);
    assert_eq!(mails(&shop, "refund_notice").await.len(), 1);
    came_to(&shop, 1, 190).await;
}

/// We have reserved the money and did not reach the provider, when somebody takes it in the dashboard. The provider
/// decides: ours is refused and fails, and theirs is booked.
#[tokio::test]
async fn r63_a_refund_at_the_dashboard_that_takes_the_money_of_ours_is_booked_and_ours_fails() {
    for by_hand in [490, 200] {
        let shop = shop_by_itself().await;
        let (_, intent) = paid(&shop, "pm_card_visa").await;
        goes_wrong(&shop, &json!({"fault": "drop_request"}), 4).await;
        let ours = asks(shop.app(), &wish(&shop).await)
            .await
            .expect("written down");
        is(&shop, "pending", 1).await;
        gives_back(&shop, &intent, by_hand).await;
        eventually("it is kept, or booked", || async {
            shop.count(KEPT).await + shop.count(BOOKED).await > 1
        })
        .await;

        others_go_on_until(&shop, 1).await;
        is(&shop, "failed", 1).await;
        let failed = shop
            .db()
            .query("select id from refunds where status = 'failed'");
        let failed: RefundId = failed.fetch_scalar().await.expect("ours");
        assert_eq!(failed, ours.id);
        assert_eq!(shop.count(KEPT).await, 0);
        assert_eq!(shop.count(OPEN).await, 0, "what did not fit fits now");
        came_to(&shop, 1, by_hand).await;
        if by_hand < 490 {
            asks(shop.app(), &wish(&shop).await).await.expect("made");
            is(&shop, "succeeded", 2).await;
            came_to(&shop, 2, 490).await;
        }
    }
}

/// The provider is away for more than a day. The money is reserved, and a person should know.
#[tokio::test]
async fn a_refund_that_nobody_knows_of_for_a_day_is_reported() {
    let shop = shop_by_itself().await;
    paid(&shop, "pm_card_visa").await;
    shop.settles().await;
    goes_wrong(&shop, &json!({"fault": "drop_request"}), 4).await;
    asks(shop.app(), &wish(&shop).await)
        .await
        .expect("written down");
    let broken_in = async |hours: u64| {
        let till = &shop.app().till;
        let then = till.clock.now() + Duration::from_hours(hours);
        let report = audit::audit(&till.db, &till.provider, then).await;
        let report = report.expect("both ledgers can be read");
        let broken = report.invariants.into_iter().filter(|it| !it.ok);
        broken.map(|it| it.name).collect::<Vec<_>>()
    };
    let unknown = "no_refund_is_unknown_past_the_horizon";
    assert!(!broken_in(23).await.contains(&unknown));
    assert!(broken_in(25).await.contains(&unknown));
    // What the bank has is the bank's.
    shop.alters("update refunds set provider_id = 're_1'").await;
    assert!(!broken_in(25).await.contains(&unknown));
}

/// R32: the news of the payment comes once more, when its money is given back already.
#[tokio::test]
async fn r32_a_success_that_is_told_again_after_a_refund_does_not_resurrect_the_order() {
    let shop = shop().await;
    let (buyer, _) = paid(&shop, "pm_card_visa").await;
    asks(shop.app(), &wish(&shop).await).await.expect("made");
    is(&shop, "succeeded", 1).await;
    let mut event = shop
        .provider
        .events("payment_intent.succeeded")
        .await
        .remove(0);
    assert_eq!(shop.provider.delivers(&event, 2).await, [200; 2]);
    event["id"] = json!("evt_anew");
    assert_eq!(Letter::of(&event).to(&shop.url).await.status, 200);
    let page = crate::refund_notices::order_page(&shop, &buyer).await;
    assert_eq!(page.text(".badge"), "Refunded");
    assert_eq!(mails(&shop, "order_confirmation").await.len(), 1);
    came_to(&shop, 1, 490).await;
}
