//! One purchase, however often and however its form is sent.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use futures_util::future::join_all;

use boring_checkout::{
    checkout::{self, Checkout, Purchase, Submitted, Verdict},
    probe::{Boundary, Probe},
    provider::Outcome,
    provider_calls::Attempt,
};

use crate::world::{Expected, Form, NOTHING, ONCE, Shop, Visitor, eventually, holding, probed};

#[tokio::test]
async fn a_purchase_is_one_charge_and_one_order() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;

    let status = buyer.buys().await;

    let page = buyer.sees(&status).await;
    assert_eq!(page.heading(), "Paid");
    let order = page.text("main a.button");
    assert_eq!(order, "See your order");
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r01_ten_identical_posts_while_the_provider_is_slow_are_one_purchase() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    shop.provider
        .fault(serde_json::json!({"on": {"operation": "payment_intents.create"}, "fault": "delay", "delay_ms": 2000}))
        .await;

    let answers = join_all((0..10).map(|_| buyer.submits(&form))).await;

    let first = answers[0].location();
    assert!(answers.iter().all(|answer| answer.location() == first));
    assert_eq!(buyer.waits_at(first).await, "Paid");
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r21_two_hundred_simultaneous_posts_of_one_key_have_one_winner_and_no_error() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;

    let answers = join_all((0..200).map(|_| buyer.submits(&form))).await;

    let first = answers[0].location();
    assert!(answers.iter().all(|answer| answer.location() == first));
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r03_the_form_of_a_finished_purchase_leads_to_it_also_after_a_restart() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let first = buyer.submits(&form).await;
    shop.settles().await;
    assert_eq!(
        buyer.sees("/cart").await.text(".line"),
        "",
        "the cart is used up"
    );

    let again = buyer.submits(&form).await;
    assert_eq!(again.location(), first.location());
    // Another cart was begun since then, and the old form still stands for the old one.
    buyer.adds("MUG-01", 1).await;
    let late = buyer.submits(&form).await;
    assert_eq!(late.location(), first.location());

    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r04_every_answer_to_a_post_is_a_redirect_and_a_reload_repeats_a_get() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;

    for _ in 0..3 {
        assert_eq!(buyer.sees(&status).await.heading(), "Paid");
    }
    let stranger = shop.visitor().with_cart("MUG-01", 1).await;
    assert_eq!(stranger.sees(&status).await.status, 404);

    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r05_a_fresh_form_after_a_lost_answer_leads_to_the_purchase_that_exists() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let (form, other_tab) = (buyer.opens_checkout().await, buyer.opens_checkout().await);
    let first = buyer.submits(&form).await;

    assert_eq!(buyer.sees("/checkout").await.location(), first.location());
    let second = buyer.submits(&other_tab).await;
    assert_eq!(second.location(), first.location());

    shop.expects(ONCE).await;
}

#[tokio::test]
async fn two_tabs_with_one_cart_sent_at_once_are_one_purchase() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let mut tabs = Vec::new();
    for _ in 0..20 {
        tabs.push(buyer.opens_checkout().await);
    }

    let answers = join_all(tabs.iter().map(|tab| buyer.submits(tab))).await;

    let first = answers[0].location();
    assert!(answers.iter().all(|answer| answer.location() == first));
    shop.expects(ONCE).await;
}

/// The second tab is answered with the purchase of the first. When that is declined, the second tab's form, sent again, is
/// still no attempt of its own: nobody who has seen the first one end would send it.
#[tokio::test]
async fn a_form_that_was_answered_with_another_ones_purchase_leads_there_for_ever() {
    let shop = Shop::open_with(&["--provider-timeout", "300ms", "--lease", "1s"]).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let declined = |form: Form| form.with("payment_method", "pm_card_chargeDeclined");
    let first = declined(buyer.opens_checkout().await);
    let second = declined(buyer.opens_checkout().await);
    shop.provider.loses_webhooks().await;
    let lost = serde_json::json!({"on": {"operation": "payment_intents.create"}, "fault": "drop_request", "times": 4});
    shop.provider.fault(lost).await;
    let status = buyer.submits(&first).await.location().to_owned();
    assert_eq!(buyer.submits(&second).await.location(), status);

    shop.provider.mends().await;
    shop.later(60);
    assert_eq!(buyer.waits_at(&status).await, "The payment was declined");
    for _ in 0..2 {
        assert_eq!(buyer.submits(&second).await.location(), status);
    }
    shop.expects(NOTHING).await;
    let attempts = shop.count("select count(*) from checkouts").await;
    assert_eq!(attempts, 1);
}

#[tokio::test]
async fn r09_double_click_the_loser_of_the_insert_reads_the_winners_row() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    double_click(&shop, &buyer, &form).await;
    shop.expects(ONCE).await;
}

/// After a decline the cart may be bought again, so here the key alone keeps the second click from a second attempt.
#[tokio::test]
async fn r09_double_click_with_a_declined_card_is_one_attempt() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let declined = form.with("payment_method", "pm_card_chargeDeclined");
    double_click(&shop, &buyer, &declined).await;
    shop.expects(NOTHING).await;
}

/// The first request has looked for the key, found none, and is held there; the second runs to its end; the first
/// goes on.
async fn double_click(shop: &Shop, buyer: &Visitor, form: &Form) {
    let purchase = purchase_of(shop, form).await;
    let (probe, mut hold) = holding(
        |boundary| matches!(boundary, Boundary::AfterQuery(sql) if sql.contains("union all")),
    );
    let till = probed(shop.app(), probe);
    let loser = tokio::spawn(async move { checkout::submit(&till, &purchase).await });
    hold.reached().await;

    let winner = buyer.submits(form).await;
    hold.lets_go();

    let loser = loser.await.expect("no panic").expect("no error");
    let Submitted::Existing(found) = loser else {
        panic!("the key was inserted twice")
    };
    assert!(winner.location().ends_with(&found.id.to_string()));
}

/// The first copy of a form is at its commit, and fifty more come, which have all looked in vain. They wait, and not in
/// the database, which is there for others. On SQLite nobody else can write in between.
#[tokio::test]
async fn a_crowd_with_one_form_leaves_the_database_to_others() {
    let shop = Shop::open().await;
    if !shop.database.is_postgres() {
        return;
    }
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let purchase = Arc::new(purchase_of(&shop, &form).await);
    let (probe, mut at_its_commit) = holding(|boundary| boundary == Boundary::BeforeCommit);
    let looked = Arc::new(AtomicUsize::new(0));
    let counting = Probe::new({
        let looked = Arc::clone(&looked);
        move |boundary| {
            let looks = matches!(boundary, Boundary::AfterQuery(sql) if sql.contains("union all"));
            looked.fetch_add(usize::from(looks), Ordering::SeqCst);
            async { Ok(()) }
        }
    });
    let submits = |probe| {
        let (till, purchase) = (probed(shop.app(), probe), Arc::clone(&purchase));
        tokio::spawn(async move { checkout::submit(&till, &purchase).await })
    };
    let first = submits(probe);
    at_its_commit.reached().await;
    let copies: Vec<_> = (0..50).map(|_| submits(counting.clone())).collect();
    eventually("all have looked in vain", || async {
        looked.load(Ordering::SeqCst) >= 50
    })
    .await;

    let other = shop.visitor().with_cart("LMP-01", 1).await;
    let bought = other.buys().await;
    assert_eq!(other.waits_at(&bought).await, "Paid");

    at_its_commit.lets_go();
    let first = first.await.expect("no panic").expect("no error");
    let Submitted::New(first) = first else {
        panic!("nobody was before it")
    };
    for copy in join_all(copies).await {
        let copy = copy.expect("no panic").expect("no error");
        assert!(matches!(copy, Submitted::Existing(found) if found.id == first.id));
    }
}

/// A purchase is there, and thirty copies of its form come together. The first looks, and who comes meanwhile is answered with
/// what the second finds.
#[tokio::test]
async fn copies_that_come_together_share_a_look() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let purchase = Arc::new(purchase_of(&shop, &form).await);
    let bought = buyer.submits(&form).await;
    let looks = Arc::new(AtomicUsize::new(0));
    let (probe, mut at_the_first_look) = holding({
        let looks = Arc::clone(&looks);
        move |boundary| {
            let is_look =
                matches!(boundary, Boundary::BeforeQuery(sql) if sql.contains("union all"));
            is_look && looks.fetch_add(1, Ordering::SeqCst) == 0
        }
    });
    let till = probed(shop.app(), probe);
    let submits = || {
        let (till, purchase) = (till.clone(), Arc::clone(&purchase));
        tokio::spawn(async move { checkout::submit(&till, &purchase).await })
    };
    let mut copies = vec![submits()];
    at_the_first_look.reached().await;
    copies.extend((1..30).map(|_| submits()));
    // The test has one thread: after each of them has had its turn on it, all wait.
    for _ in 0..60 {
        tokio::task::yield_now().await;
    }
    at_the_first_look.lets_go();

    for copy in join_all(copies).await {
        let Submitted::Existing(found) = copy.expect("no panic").expect("no error") else {
            panic!("the key was inserted twice")
        };
        assert!(bought.location().ends_with(&found.id.to_string()));
    }
    assert_eq!(looks.load(Ordering::SeqCst), 2);
}

/// The first form of a cart wins the insert, and has ended by the time the second looks for it: the cart is free again.
/// On SQLite nobody else can write in between.
#[tokio::test]
async fn a_form_that_loses_to_one_which_ends_at_once_buys_the_cart_itself() {
    let shop = Shop::open().await;
    if !shop.database.is_postgres() {
        return;
    }
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let first = purchase_of(&shop, &buyer.opens_checkout().await).await;
    let second = purchase_of(&shop, &buyer.opens_checkout().await).await;
    let (probe, mut at_its_commit) = holding(|boundary| boundary == Boundary::BeforeCommit);
    let till = probed(shop.app(), probe);
    let first = tokio::spawn(async move { checkout::submit(&till, &first).await });
    at_its_commit.reached().await;
    let has_looked = Arc::new(AtomicBool::new(false));
    let looks = Arc::clone(&has_looked);
    let (probe, mut has_lost) = holding(move |boundary| match boundary {
        Boundary::AfterQuery(sql) => {
            looks.fetch_or(sql.contains("union all"), Ordering::SeqCst);
            false
        }
        Boundary::AfterStatement(sql) => sql.contains("insert into checkouts"),
        _ => false,
    });
    let till = probed(shop.app(), probe);
    let second = tokio::spawn(async move { checkout::submit(&till, &second).await });
    eventually("it has looked in vain", || async {
        has_looked.load(Ordering::SeqCst)
    })
    .await;

    at_its_commit.lets_go();
    let first = first.await.expect("no panic").expect("no error");
    let Submitted::New(first) = first else {
        panic!("nobody was before it")
    };
    has_lost.reached().await;
    ends(&shop, &first).await;
    has_lost.lets_go();

    let second = second.await.expect("no panic").expect("no error");
    assert!(matches!(second, Submitted::New(_)), "{second:?}");
}

/// The first of two requests with the same form has found the cart being bought, and is about to note that its key leads there.
/// At this moment that purchase ends, so that the second request would begin one of its own. On SQLite nobody else can write in
/// between.
#[tokio::test]
async fn a_form_that_is_sent_twice_leads_to_one_purchase_also_when_another_ones_ends_in_between() {
    let shop = Shop::open().await;
    if !shop.database.is_postgres() {
        return;
    }
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let other = purchase_of(&shop, &buyer.opens_checkout().await).await;
    let form = buyer.opens_checkout().await;
    let (first, second) = (
        purchase_of(&shop, &form).await,
        purchase_of(&shop, &form).await,
    );
    let other = checkout::submit(&shop.app().till, &other).await;
    let Submitted::New(other) = other.expect("no error") else {
        panic!("nobody was before it")
    };
    let (probe, mut hold) = holding(|boundary| match boundary {
        Boundary::BeforeStatement(sql) => sql.contains("insert into other_keys"),
        _ => false,
    });
    let till = probed(shop.app(), probe);
    let first = tokio::spawn(async move { checkout::submit(&till, &first).await });
    hold.reached().await;
    ends(&shop, &other).await;

    let till = shop.app().till.clone();
    let second = tokio::spawn(async move { checkout::submit(&till, &second).await });
    shop.database.has_somebody_waiting().await;
    hold.lets_go();

    for led in [first, second] {
        match led.await.expect("no panic").expect("no error") {
            Submitted::Existing(found) => assert_eq!(found.id, other.id),
            Submitted::New(another) => panic!("and to {}", another.id),
        }
    }
}

/// The purchase ends without a charge, so that its cart is free again.
async fn ends(shop: &Shop, checkout: &Checkout) {
    let attempt = Attempt::at_checkout(checkout.id, 1, Vec::new());
    let now = shop.app().till.clock.now();
    let ended = checkout::record(shop.db(), &attempt, &Outcome::NeverCharged, now).await;
    assert_eq!(ended.expect("recorded"), Verdict::Concluded);
}

/// What the shop makes of a form, for tests that call the phases themselves.
pub async fn purchase_of(shop: &Shop, form: &Form) -> Purchase {
    use boring_checkout::{
        checkout::Buyer,
        money::{Currency, Money},
    };
    // The newest session is the one that rendered the form.
    let records: Vec<(sqlx::types::Json<serde_json::Value>,)> = shop
        .db()
        .query("select record from sessions")
        .fetch_all()
        .await
        .expect("sessions");
    let newest = records
        .iter()
        .map(|(record,)| &record["data"]["visitor"])
        .max_by_key(|visitor| visitor["cart"].as_str().map(str::to_owned))
        .expect("a session");
    let id = |name: &str| newest[name].as_str().expect("an id").to_owned();
    let (visitor, cart) = (id("id"), id("cart"));
    let total = form.field("quoted_total").parse().expect("a number");
    Purchase {
        key: form.field("idempotency_key").parse().expect("a key"),
        visitor: visitor.parse().expect("a visitor"),
        cart: cart.parse().expect("a cart"),
        items: Vec::new(),
        quoted_total: Some(Money::new(total, Currency::Eur)),
        quoted_cart: Some(form.field("quoted_cart").to_owned()),
        buyer: Buyer {
            email: form.field("email").to_owned(),
            name: form.field("name").to_owned(),
            address: form.field("address").to_owned(),
            city: form.field("city").to_owned(),
            postal_code: form.field("postal_code").to_owned(),
            country: form.field("country").to_owned(),
        },
        payment_method: form.field("payment_method").parse().expect("a method"),
        buy_again: false,
        browser: None,
    }
}

#[tokio::test]
async fn r17_a_decline_ends_the_attempt_and_not_the_cart() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let old = buyer.opens_checkout().await;
    let declined = old.with("payment_method", "pm_card_chargeDeclinedInsufficientFunds");

    let status = buyer.submits(&declined).await.location().to_owned();
    let page = buyer.sees(&status).await;
    assert!(
        page.text("main").contains("insufficient funds"),
        "{}",
        page.text("main")
    );
    assert!(page.text("main").contains("not charged"));

    // The key goes on answering "declined", to the same form and, as a refusal, to another card under it.
    assert_eq!(buyer.submits(&declined).await.location(), status);
    assert_eq!(buyer.submits(&old).await.status, 422);
    shop.expects(NOTHING).await;

    let fresh = buyer.sees("/checkout").await;
    assert!(fresh.text("main").contains("insufficient funds"));
    let fresh = fresh.form();
    assert_eq!(
        fresh.field("email"),
        "buyer@example.com",
        "what was typed is kept"
    );
    assert_ne!(fresh.field("idempotency_key"), old.field("idempotency_key"));
    let paid = buyer
        .submits(&fresh.with("payment_method", "pm_card_visa"))
        .await;
    assert_eq!(buyer.sees(paid.location()).await.heading(), "Paid");
    assert_eq!(buyer.submits(&old).await.status, 422);
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r18_the_same_key_with_other_content_is_refused_and_changes_nothing() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let first = buyer.submits(&form).await.location().to_owned();

    for (field, value) in [
        ("quoted_total", "980"),
        ("quoted_cart", "0"),
        ("email", "other@example.com"),
        ("payment_method", "pm_card_mastercard"),
    ] {
        let refused = buyer.submits(&form.with(field, value)).await;
        assert_eq!(refused.status, 422, "{field}");
    }
    // White space and the case of the address are the same wish; so is another spelling of the name.
    for (field, value) in [("email", " Buyer@Example.com "), ("name", "A  Buyer")] {
        let same = buyer.submits(&form.with(field, value)).await;
        assert_eq!(same.location(), first, "{field}");
    }
    shop.expects(ONCE).await;
    let creates = shop.provider.calls("POST", "/v1/payment_intents").await;
    assert_eq!(creates.len(), 1, "the provider heard of it once");
}

/// Another address is no other purchase. The first one stands, and the page says which it was.
#[tokio::test]
async fn a_form_that_comes_again_with_another_address_shows_the_one_that_counts() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let asked = form.with("payment_method", "pm_card_threeDSecure2Required");
    let first = buyer.submits(&asked).await.location().to_owned();

    let moved = asked.with("address", "2 Other Street");
    assert_eq!(buyer.submits(&moved).await.location(), first);
    let page = buyer.sees(&first).await;
    assert_eq!(page.heading(), "Your bank wants to ask you");
    assert_eq!(
        page.text("address"),
        "A Buyer 1 Plain Street 12345 Ordinary Germany"
    );

    let somebody = shop.visitor().with_cart("TEA-01", 1).await;
    let form = somebody.opens_checkout().await;
    let declined = form.with("payment_method", "pm_card_chargeDeclined");
    let ended = somebody.submits(&declined).await.location().to_owned();
    let page = somebody.sees(&ended).await;
    assert_eq!(page.heading(), "The payment was declined");
    assert_eq!(page.text("address"), "", "nothing goes anywhere");
}

#[tokio::test]
async fn r24_a_key_belongs_to_its_session() {
    let shop = Shop::open().await;
    let owner = shop.visitor().with_cart("TEA-01", 1).await;
    let form = owner.opens_checkout().await;
    shop.provider
        .fault(serde_json::json!({"on": {"operation": "payment_intents.create"}, "fault": "delay", "delay_ms": 300}))
        .await;
    let bought = async { owner.submits(&form).await.location().to_owned() };

    let without_cart = shop.visitor();
    let with_cart = shop.visitor().with_cart("MUG-01", 1).await;
    let own = with_cart.opens_checkout().await;
    let stolen = own.with("idempotency_key", form.field("idempotency_key"));
    let stolen_whole = async {
        eventually("the key is taken", || async {
            shop.count("select count(*) from checkouts").await == 1
        })
        .await;
        vec![
            without_cart.submits(&form).await,
            with_cart.submits(&stolen).await,
        ]
    };
    let (first, in_flight) = tokio::join!(bought, stolen_whole);
    let afterwards = [
        without_cart.submits(&form).await,
        with_cart.submits(&stolen).await,
    ];

    for refused in in_flight.iter().chain(&afterwards) {
        assert_eq!(refused.status, 422);
        for secret in [first.as_str(), "buyer@example.com", "A Buyer", "€4.90"] {
            assert!(!refused.html.contains(secret), "{secret}");
        }
    }
    assert_eq!(
        with_cart.submits(&own).await.status,
        303,
        "their own key is theirs"
    );
    shop.expects(Expected {
        charges: 2,
        orders: 2,
        sold: 2,
    })
    .await;
}

#[tokio::test]
async fn r11_an_undecided_purchase_is_shown_before_another_cart_is_paid() {
    let shop = Shop::open_with(&["--provider-timeout", "300ms", "--lease", "1s"]).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    shop.provider
        .fault(serde_json::json!({"on": {"operation": "payment_intents.create"}, "fault": "drop_request", "times": 1000}))
        .await;
    let first = buyer.buys().await;
    assert_eq!(
        buyer.sees(&first).await.heading(),
        "We are checking your payment"
    );
    buyer.adds("TEA-01", 1).await;

    let page = buyer.sees("/checkout").await;
    assert!(page.html.contains(&first), "the open purchase is linked");
    let form = page.form().filled();
    let refused = buyer.submits(&form).await;
    assert_eq!(refused.status, 422);
    assert!(refused.html.contains("buy_again"));

    shop.provider.mends().await;
    let second = buyer
        .submits(&form.with("buy_again", "yes"))
        .await
        .location()
        .to_owned();
    assert_ne!(second, first);
    assert_eq!(buyer.waits_at(&first).await, "Paid");
    assert_eq!(buyer.waits_at(&second).await, "Paid");
    shop.expects(Expected {
        charges: 2,
        orders: 2,
        sold: 2,
    })
    .await;
}

#[tokio::test]
async fn r11_the_same_goods_again_soon_after_a_purchase_want_a_confirmation() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let first = buyer.buys().await;
    buyer.adds("TEA-01", 1).await;

    let page = buyer.sees("/checkout").await;
    assert!(page.html.contains(&first));
    assert_eq!(buyer.submits(&page.form().filled()).await.status, 422);
    shop.expects(ONCE).await;

    // Other goods need no question.
    buyer.adds("MUG-01", 1).await;
    let page = buyer.sees("/checkout").await;
    assert!(!page.html.contains(&first));
    assert_eq!(buyer.submits(&page.form().filled()).await.status, 303);
    shop.expects(Expected {
        charges: 2,
        orders: 2,
        sold: 3,
    })
    .await;
}

#[tokio::test]
async fn r11_a_purchase_of_two_goods_is_known_again_by_both() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    buyer.adds("MUG-01", 1).await;
    let first = buyer.buys().await;

    buyer.adds("TEA-01", 1).await;
    let page = buyer.sees("/checkout").await;
    assert!(!page.html.contains(&first), "one of the two is less");
    buyer.adds("MUG-01", 1).await;
    let page = buyer.sees("/checkout").await;
    assert!(page.html.contains(&first));
    assert_eq!(buyer.submits(&page.form().filled()).await.status, 422);
    shop.expects(Expected {
        charges: 1,
        orders: 1,
        sold: 2,
    })
    .await;
}
