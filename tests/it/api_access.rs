//! Who may use the API, and what they see of others: nothing.

use serde_json::json;

use crate::world::{
    Answer, Caller, Database, Expected, ONCE, Process, Shop, client, fresh_key, tea,
};

#[tokio::test]
async fn without_a_key_that_is_known_nothing_is_done() {
    let shop = Shop::open_with(&["--api-keys", "right, also-right"]).await;
    let request = |authorization: &[&str]| {
        let mut request = client()
            .post(format!("{}/api/v1/checkouts", shop.url))
            .header("idempotency-key", fresh_key())
            .header("content-type", "application/json")
            .body(tea().to_string());
        for value in authorization {
            request = request.header("authorization", *value);
        }
        Answer::to(request)
    };
    for wrong in [
        &[][..],
        &["Bearer"],
        &["Bearer "],
        &["Bearer wrong"],
        &["Bearer righ"],
        &["Bearer demo"],
        &["Bearer right,also-right"],
        &["Basic cmlnaHQ6"],
        &["right"],
        &["Bearer right", "Bearer right"],
    ] {
        let answer = request(wrong).await;
        answer.is_problem(401, "unauthorized");
        assert!(
            answer
                .header("www-authenticate")
                .starts_with("Bearer realm="),
            "{wrong:?}"
        );
    }
    for path in ["/checkouts/1", "/orders/1"] {
        let stranger = Caller::at(&shop.url, "wrong").gets(path).await;
        stranger.is_problem(401, "unauthorized");
    }
    assert_eq!(shop.count("select count(*) from checkouts").await, 0);

    for right in ["Bearer right", "bearer also-right"] {
        assert_eq!(request(&[right]).await.status, 201, "{right}");
    }
    shop.expects(Expected {
        charges: 2,
        orders: 2,
        sold: 2,
    })
    .await;
}

#[tokio::test]
async fn without_api_keys_there_is_no_api_but_in_the_lab() {
    let shop = Shop::open_with(&["--no-lab"]).await;
    for path in ["/checkouts/1", "/openapi.json", "/docs", ""] {
        shop.caller().gets(path).await.is_problem(404, "not-found");
    }
    let answer = shop.caller().buys(&fresh_key(), &tea()).await;
    answer.is_problem(404, "not-found");

    let lab = Shop::open_with(&["--lab"]).await;
    assert_eq!(lab.caller().buys(&fresh_key(), &tea()).await.status, 201);
    lab.expects(ONCE).await;
    let both = Shop::open_with(&["--lab", "--api-keys", "secret"]).await;
    both.caller()
        .gets("/orders/1")
        .await
        .is_problem(401, "unauthorized");
}

#[tokio::test]
async fn r74_what_belongs_to_another_key_is_as_good_as_nothing() {
    let shop = Shop::open_with(&["--api-keys", "mine,theirs"]).await;
    let mine = Caller::at(&shop.url, "mine");
    let theirs = Caller::at(&shop.url, "theirs");
    let key = fresh_key();
    let bought = mine.buys(&key, &tea()).await;
    let visitor = shop.visitor().with_cart("TEA-01", 1).await;
    let on_the_page = visitor.buys().await;
    visitor.waits_at(&on_the_page).await;
    let placed = order_of_the_page(&shop).await;

    let id = bought.text("id");
    let number = bought.text("order_number");
    for (path, of_nothing) in [
        (
            format!("/checkouts/{id}"),
            "/checkouts/01900000-0000-7000-8000-000000000000",
        ),
        (
            format!("/checkouts/{key}"),
            "/checkouts/01900000-0000-7000-8000-000000000000",
        ),
        (format!("/orders/{number}"), "/orders/0000-0000-00"),
        (on_the_page, "/checkouts/x"),
        (format!("/orders/{placed}"), "/orders/x"),
    ] {
        let found = theirs.gets(&path).await;
        found.is_problem(404, "not-found");
        assert_eq!(found.text, theirs.gets(of_nothing).await.text, "{path}");
    }
    // The one that placed it sees it; a browser sees neither.
    assert_eq!(mine.gets(&format!("/orders/{number}")).await.status, 200);
    for path in [format!("/checkouts/{id}"), format!("/orders/{number}")] {
        assert_eq!(visitor.sees(&path).await.status, 404, "{path}");
    }
    shop.expects(Expected {
        charges: 2,
        orders: 2,
        sold: 2,
    })
    .await;
}

async fn order_of_the_page(shop: &Shop) -> String {
    let found: Vec<(String,)> = shop
        .db()
        .query("select o.number from orders o join checkouts c on c.id = o.checkout_id where c.city <> ''")
        .fetch_all()
        .await
        .expect("orders");
    found[0].0.clone()
}

#[tokio::test]
async fn no_api_key_is_in_the_log_or_in_the_database() {
    let database = Database::fresh().await;
    let flags = ["--log", "trace", "--api-keys", "ak_hidden,ak_other"];
    let shop = Process::whole(&database, &flags).await;
    let bought = Caller::at(&shop.url, "ak_hidden")
        .buys(&fresh_key(), &tea())
        .await;
    assert_eq!(bought.status, 201);
    let wrong = Caller::at(&shop.url, "ak_guess").gets("/checkouts/1").await;
    assert_eq!(wrong.status, 401);

    let log = shop.log();
    assert!(log.contains(&bought.text("id")) && log.contains("TRACE"));
    for secret in ["ak_hidden", "ak_other", "ak_guess", "buyer@example.com"] {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret} is in the log");
    }
    let db = database.open().await;
    let visitors: Vec<(uuid::Uuid,)> = db
        .query("select visitor_id from checkouts")
        .fetch_all()
        .await
        .expect("a checkout");
    let [(visitor,)] = visitors[..] else {
        panic!("{visitors:?}")
    };
    assert_eq!(
        visitor.get_version_num(),
        8,
        "made from the key, and not the key"
    );
    assert_eq!(json!(visitor).as_str().expect("text").len(), 36);
}
