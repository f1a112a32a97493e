//! A program buys through the API.

use boring_checkout::probe::Boundary;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::world::{
    Answer, Caller, Expected, NOTHING, ONCE, Process, Shop, eventually, failing, fresh_key, front,
    raw, tea, with,
};

const CREATE: &str = "payment_intents.create";

#[tokio::test]
async fn a_program_buys_and_looks_at_what_it_has() {
    let shop = Shop::open_with_workers(&[]).await;
    let caller = shop.caller();
    let body = json!({
        "email": "buyer@example.com",
        "name": "A Buyer",
        "items": [{ "sku": "TEA-01", "quantity": 2 }, { "sku": "MUG-01", "quantity": 1 }],
        "payment_method": "pm_card_visa",
        "quoted_total": 1930,
    });

    let bought = caller.buys(&fresh_key(), &body).await;

    assert_eq!(bought.status, 201);
    assert_eq!(bought.header("content-type"), "application/json");
    assert_eq!(bought.header("set-cookie"), "");
    let checkout = bought.json();
    let (id, number) = (bought.text("id"), bought.text("order_number"));
    let lines = json!([
        { "sku": "MUG-01", "name": "Grey mug", "quantity": 1, "unit_amount": 950, "amount": 950 },
        { "sku": "TEA-01", "name": "Plain black tea", "quantity": 2, "unit_amount": 490, "amount": 980 },
    ]);
    assert_eq!(
        checkout,
        json!({
            "id": id,
            "status": "paid",
            "amount": 1930,
            "shipping": 0,
            "tax": null,
            "currency": "eur",
            "lines": lines,
            "order_number": number,
            "next_action_url": null,
            "failure": null,
            "created_at": checkout["created_at"],
        })
    );
    let location = bought.header("location");
    assert_eq!(location, format!("/api/v1/checkouts/{id}"));
    assert_eq!(
        caller.gets(&format!("/checkouts/{id}")).await.json(),
        checkout
    );

    let order = caller.gets(&format!("/orders/{number}")).await.json();
    assert_eq!(
        order,
        json!({
            "number": number,
            "status": "paid",
            "amount": 1930,
            "shipping": 0,
            "tax": null,
            "amount_refunded": 0,
            "currency": "eur",
            "lines": lines,
            "checkout_id": id,
            "created_at": order["created_at"],
        })
    );
    for times in [&checkout, &order] {
        let at = times["created_at"].as_str().expect("a time");
        assert!(
            at.ends_with('Z') && at.parse::<chrono::DateTime<chrono::Utc>>().is_ok(),
            "{at}"
        );
    }
    shop.finishes().await;
    assert_eq!(shop.count("select count(*) from sessions").await, 0);
    assert_eq!(
        shop.count("select count(*) from emails where sent_at is not null")
            .await,
        1
    );
    shop.expects(Expected { sold: 3, ..ONCE }).await;
}

/// The customer's mail and page say what is known: there is a name, and no address.
#[tokio::test]
async fn the_order_of_a_program_has_a_page_for_its_customer() {
    let shop = Shop::open_with_workers(&[]).await;
    let bought = shop.caller().buys(&fresh_key(), &tea()).await;
    shop.finishes().await;
    let number = bought.text("order_number").parse().expect("a number");
    let placed_at = shop.app().till.clock.now();
    let link = shop.app().order_links.to(&number, placed_at);
    let path = link.strip_prefix(&shop.url).expect("the shop's");

    let page = shop.visitor().sees(path).await;

    assert_eq!(page.status, 200);
    assert_eq!(page.text("address"), "A Buyer");
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r05_lost_answers_of_the_provider_leave_it_pending_and_the_same_request_goes_on() {
    for fault in ["drop_request", "drop_response", "error_after"] {
        let shop = Shop::open_with(&["--provider-timeout", "300ms", "--lease", "1s"]).await;
        shop.provider.loses_webhooks().await;
        let lost = json!({"on": {"operation": CREATE}, "fault": fault, "times": 1000});
        shop.provider.fault(lost).await;
        let caller = shop.caller();
        let key = fresh_key();

        let first = caller.buys(&key, &tea()).await;
        let expected = if fault == "error_after" { 201 } else { 202 };
        assert_eq!(first.status, expected, "{fault}: {first:?}");
        assert_eq!(
            first.header("location"),
            format!("/api/v1/checkouts/{}", first.text("id"))
        );

        shop.provider.mends().await;
        shop.later(60);
        let again = caller.buys(&key, &tea()).await;
        assert_eq!(
            (again.status, again.text("status")),
            (201, "paid".to_owned()),
            "{fault}"
        );
        assert!(again.is_replayed());
        assert_eq!(again.text("id"), first.text("id"));
        shop.provider.catches_up().await;
        shop.expects(ONCE).await;
    }
}

/// Nobody sends the request again; somebody looks.
#[tokio::test]
async fn a_checkout_that_was_left_open_goes_on_when_it_is_looked_at() {
    let shop = Shop::open_with(&["--provider-timeout", "300ms", "--lease", "1s"]).await;
    shop.provider.loses_webhooks().await;
    shop.provider.loses_answers().await;
    let caller = shop.caller();
    let first = caller.buys(&fresh_key(), &tea()).await;
    assert_eq!(first.status, 202);

    shop.provider.mends().await;
    shop.later(60);
    let path = format!("/checkouts/{}", first.text("id"));
    assert_eq!(caller.gets(&path).await.text("status"), "paid");

    shop.provider.catches_up().await;
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r27_a_webhook_that_comes_before_the_answer() {
    let shop = Shop::open().await;
    let late = json!({"on": {"operation": CREATE}, "fault": "delay", "delay_ms": 2_000});
    shop.provider.fault(late).await;
    let caller = shop.caller();
    let key = fresh_key();

    let body = tea();
    let first = caller.buys(&key, &body);
    let meanwhile = async {
        eventually("the webhook has come", || async {
            shop.count("select count(*) from orders").await == 1
        })
        .await;
        caller.buys(&key, &tea()).await
    };
    let (first, meanwhile) = tokio::join!(first, meanwhile);

    assert_eq!((meanwhile.status, meanwhile.is_replayed()), (201, true));
    assert_eq!((first.status, first.is_replayed()), (201, false));
    assert_eq!(first.text, meanwhile.text);
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r68_a_program_that_goes_away_has_bought_once() {
    let shop = Shop::open().await;
    let caller = shop.caller();
    let key = fresh_key();
    let late = json!({"on": {"operation": CREATE}, "fault": "delay", "delay_ms": 300});
    shop.provider.fault(late).await;
    let request = caller
        .post("/checkouts", &tea())
        .header("idempotency-key", &key);
    let request = tokio::spawn(request.send());
    eventually("it is under way", || async {
        shop.count("select count(*) from checkouts").await == 1
    })
    .await;

    request.abort();
    let _ = request.await;

    shop.settles().await;
    let again = caller.buys(&key, &tea()).await;
    assert_eq!(
        (again.status, again.text("status")),
        (201, "paid".to_owned())
    );
    shop.expects(ONCE).await;
}

/// The process is killed with the charge under way: for a while nobody knows that it is dead, then the retry goes on.
#[tokio::test]
async fn r14_a_shop_that_is_killed_in_the_middle_is_gone_on_with() {
    let shop = Shop::open().await;
    shop.provider.loses_webhooks().await;
    let hang = json!({"on": {"operation": CREATE}, "fault": "hang"});
    shop.provider.fault(hang).await;
    let flags = ["--lease", "2s"];
    let doomed = Process::shop(&shop.database, &shop.provider, &flags).await;
    let key = fresh_key();
    let caller = Caller::at(&doomed.url, "demo");
    let body = tea();
    let request = caller
        .post("/checkouts", &body)
        .header("idempotency-key", &key);
    let request = tokio::spawn(request.send());
    eventually("it is under way", || async {
        shop.count("select count(*) from checkouts").await == 1
    })
    .await;
    doomed.kill();
    assert!(request.await.expect("no panic").is_err());

    let next = Process::shop(&shop.database, &shop.provider, &flags).await;
    let caller = Caller::at(&next.url, "demo");
    eventually("the key is free", || async {
        let again = caller.buys(&key, &body).await;
        if again.status == 409 {
            again.is_problem(409, "in-progress");
            return false;
        }
        assert!(again.is_replayed(), "{again:?}");
        // The lease of the dead has to run out first.
        again.status == 201
    })
    .await;

    shop.provider.catches_up().await;
    shop.settles().await;
    shop.has(ONCE).await;
}

#[tokio::test]
async fn r44_fifty_programs_and_the_last_five() {
    let shop = Shop::open().await;
    shop.alters("update products set stock = 5, stocked = 5")
        .await;
    let branch = Process::shop(&shop.database, &shop.provider, &[]).await;
    let callers = [shop.caller(), Caller::at(&branch.url, "demo")];
    let keys: Vec<String> = (0..50).map(|_| fresh_key()).collect();
    let body = tea();

    let rush = keys
        .iter()
        .enumerate()
        .map(|(i, key)| callers[i % 2].buys(key, &body));
    let answers = join_all(rush).await;

    let (bought, refused): (Vec<Answer>, Vec<Answer>) =
        answers.into_iter().partition(|answer| answer.status == 201);
    assert_eq!(bought.len(), 5);
    for answer in refused {
        let problem = answer.is_problem(409, "out-of-stock");
        let short = json!([{ "sku": "TEA-01", "name": "Plain black tea", "left": 0 }]);
        assert_eq!(problem["products"], short);
    }
    // What was refused has left nothing behind, no cart either.
    assert_eq!(shop.count("select count(*) from carts").await, 5);
    shop.expects(Expected {
        charges: 5,
        orders: 5,
        sold: 5,
    })
    .await;
}

#[tokio::test]
async fn r51_what_it_costs_is_what_was_quoted_or_nothing_is_bought() {
    let shop = Shop::open().await;
    let caller = shop.caller();
    let key = fresh_key();
    let quoted = with(&tea(), "quoted_total", 490);
    shop.alters("update products set price_minor = 500 where sku = 'TEA-01'")
        .await;

    let problem = caller
        .buys(&key, &quoted)
        .await
        .is_problem(409, "total-changed");
    assert_eq!(problem["total"], 500);
    shop.expects(NOTHING).await;

    let quoted = with(&tea(), "quoted_total", problem["total"].clone());
    let bought = caller.buys(&key, &quoted).await;
    assert_eq!(
        (bought.status, bought.json()["amount"].clone()),
        (201, json!(500))
    );
    // The price of then stands, whatever it is now.
    shop.alters("update products set price_minor = 600 where sku = 'TEA-01'")
        .await;
    assert_eq!(caller.buys(&key, &quoted).await.text, bought.text);
    shop.expects(ONCE).await;
}

/// What no card can be charged is refused before anything is stored.
#[tokio::test]
async fn r65_a_total_that_no_card_can_pay_is_refused() {
    let shop = Shop::open().await;
    shop.alters("update products set price_minor = 1 where sku = 'TEA-01'")
        .await;
    let answer = shop.caller().buys(&fresh_key(), &tea()).await;
    let problem = answer.is_problem(422, "invalid-body");
    assert_eq!(problem["errors"][0]["pointer"], "/items");
    assert_eq!(shop.count("select count(*) from carts").await, 0);
    shop.expects(NOTHING).await;
}

#[tokio::test]
async fn shipping_and_tax_are_parts_of_the_amount() {
    let shop = Shop::open_with(&["--shipping", "4.90"]).await;
    let quoted = with(&tea(), "quoted_total", 980);
    let caller = shop.caller();
    let to = |country: &str| with(&quoted, "country", country);
    let nowhere = caller.buys(&fresh_key(), &to("XX")).await;
    let problem = nowhere.is_problem(422, "invalid-body");
    assert_eq!(problem["errors"][0]["pointer"], "/country");
    let key = fresh_key();
    let bought = caller.buys(&key, &to("DE")).await.json();
    let elsewhere = caller.buys(&key, &to("AT")).await;
    elsewhere.is_problem(422, "key-reused");
    assert_eq!(bought["shipping"], 490);
    assert_eq!(bought["tax"], json!({"rate": "19", "amount": 156}));
    let number = bought["order_number"].as_str().expect("an order");
    let order = caller.gets(&format!("/orders/{number}")).await.json();
    for told in ["amount", "shipping", "tax", "lines"] {
        assert_eq!(order[told], bought[told], "{told}");
    }
    assert_eq!(
        (&bought["status"], &bought["amount"]),
        (&json!("paid"), &json!(980))
    );
    assert_eq!(bought["lines"][0]["amount"], 490);
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn a_fault_of_ours_is_a_problem_that_can_be_tried_again() {
    let shop = Shop::open().await;
    let caller = shop.caller();
    let key = fresh_key();
    let panics = boring_checkout::probe::Probe::new(|boundary| {
        let here = matches!(boundary, Boundary::AfterStatement(sql) if sql.contains("insert into stock_res"));
        assert!(!here, "as the test wants it");
        async { Ok(()) }
    });
    let (fails, _) = failing("XX000", 100, |boundary| boundary == Boundary::BeforeCommit);
    for probe in [panics, fails] {
        let troubled = caller.moved_to(&front(&shop, probe).await);
        troubled
            .buys(&key, &tea())
            .await
            .is_problem(500, "internal");
    }
    assert_eq!(caller.buys(&key, &tea()).await.status, 201);
    shop.expects(ONCE).await;
}

/// What a broken client sends. Everything wrong is named, and nothing is done.
#[tokio::test]
async fn bad_bodies_are_told_what_is_wrong_with_them() {
    let shop = Shop::open().await;
    let caller = shop.caller();
    let one = json!([{ "sku": "TEA-01", "quantity": 1 }]);
    let items = |items: Value| with(&tea(), "items", items);
    let wrong: &[(Value, &[&str])] = &[
        (json!({}), &[""]),
        (json!([]), &[""]),
        (
            json!(["buyer@example.com", "A Buyer", one, "pm_card_visa", null]),
            &[""],
        ),
        (json!("text"), &[""]),
        (with(&tea(), "coupon", "x"), &["/coupon"]),
        (with(&tea(), "email", 1), &["/email"]),
        (with(&tea(), "quoted_total", 4.9), &["/quoted_total"]),
        (with(&tea(), "quoted_total", "490"), &["/quoted_total"]),
        (with(&tea(), "quoted_total", 0), &["/quoted_total"]),
        (with(&tea(), "email", "x"), &["/email"]),
        (with(&tea(), "name", "\u{0}"), &["/name"]),
        (with(&tea(), "name", "x".repeat(101)), &["/name"]),
        (with(&tea(), "payment_method", "pm_x"), &["/payment_method"]),
        (items(json!([])), &["/items"]),
        (items(json!([["TEA-01", 1]])), &["/items/0"]),
        (items(json!([{ "sku": "TEA-01" }])), &["/items/0"]),
        (
            items(json!([{ "sku": "TEA-01", "quantity": 1, "price": 1 }])),
            &["/items/0/price"],
        ),
        (
            items(json!([{ "sku": "TEA-01", "quantity": 0 }, { "sku": "tea", "quantity": 100 }])),
            &["/items/0/quantity", "/items/1/quantity", "/items/1/sku"],
        ),
        (
            items(json!([{ "sku": "TEA-01", "quantity": 1 }, { "sku": "TEA-01", "quantity": 1 }])),
            &["/items/1/sku"],
        ),
        (
            items(
                json!([{ "sku": "TEA-01", "quantity": 1 }, { "sku": "X-2", "quantity": 1 }, { "sku": "X-1", "quantity": 1 }]),
            ),
            &["/items/2/sku", "/items/1/sku"],
        ),
        (
            items(
                (0..51)
                    .map(|i| json!({ "sku": format!("X-{i}"), "quantity": 1 }))
                    .collect(),
            ),
            &["/items"],
        ),
        (
            json!({ "email": "", "name": "", "items": [], "payment_method": "", "quoted_total": -1 }),
            &[
                "/email",
                "/name",
                "/items",
                "/payment_method",
                "/quoted_total",
            ],
        ),
    ];
    for (body, pointers) in wrong {
        let problem = caller
            .buys(&fresh_key(), body)
            .await
            .is_problem(422, "invalid-body");
        let errors = problem["errors"].as_array().expect("errors");
        let found: Vec<_> = errors
            .iter()
            .map(|error| error["pointer"].as_str())
            .collect();
        let expected: Vec<_> = pointers.iter().copied().map(Some).collect();
        assert_eq!(found, expected, "{body}: {problem}");
    }
    assert_eq!(
        shop.count("select (select count(*) from checkouts) + (select count(*) from carts)")
            .await,
        0
    );
    shop.expects(NOTHING).await;
}

#[tokio::test]
async fn what_is_no_request_for_anything_is_answered_clearly() {
    let shop = Shop::open().await;
    let caller = shop.caller();
    let post = |kind: &str, body: String| {
        let request = caller
            .post("/checkouts", &json!({}))
            .header("idempotency-key", fresh_key());
        let mut request = request.body(body).build().expect("a request");
        request
            .headers_mut()
            .insert("content-type", kind.parse().expect("a type"));
        reqwest::RequestBuilder::from_parts(crate::world::client(), request)
    };
    let form = Answer::to(post(
        "application/x-www-form-urlencoded",
        "email=x".to_owned(),
    ))
    .await;
    form.is_problem(415, "not-json");
    let large = Answer::to(post("application/json", " ".repeat(64 * 1024 + 1))).await;
    large.is_problem(413, "too-large");
    let most = Answer::to(post(
        "Application/JSON; charset=utf-8",
        tea().to_string() + &" ".repeat(60_000),
    ))
    .await;
    assert_eq!(most.status, 201, "{most:?}");
    let cut = Answer::to(post("application/json", tea().to_string().replace('}', ""))).await;
    cut.is_problem(422, "invalid-body");

    for path in [
        "/checkouts/x",
        "/checkouts/%ff",
        "/orders/x",
        "/orders/%ff",
        "",
        "/",
        "/nothing",
    ] {
        caller.gets(path).await.is_problem(404, "not-found");
    }
    for (path, allowed) in [
        ("/checkouts", "POST"),
        ("/checkouts/x", "GET,HEAD"),
        ("/orders/x", "GET,HEAD"),
    ] {
        let request = "DELETE /api/v1PATH HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n"
            .replace("PATH", path);
        let (status, answer) = raw(&shop.url, request.as_bytes()).await;
        assert_eq!(status, 405, "{answer}");
        assert!(
            answer.contains(&format!("allow: {allowed}\r\n")),
            "{answer}"
        );
        assert!(answer.contains("application/problem+json"), "{answer}");
    }
    shop.expects(ONCE).await;
}
