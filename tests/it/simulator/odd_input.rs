//! Whatever is sent, the answer is JSON and never a 5xx.

use reqwest::Method;

use super::world::{Answer, KEY, World};

#[tokio::test]
async fn odd_forms_are_accepted_or_refused_but_break_nothing() {
    let world = World::open().await;
    let long = "x".repeat(10_000);
    let deep = format!("metadata{}=1", "[a]".repeat(500));
    let many = "a[]=1&".repeat(5_000);
    let forms = [
        "%00=%00&amount=%00&currency=%00".to_owned(),
        "amount=100&currency=usd&description=%00&metadata[%00]=%00".to_owned(),
        format!("amount=100&currency=usd&description={long}"),
        format!("amount=100&currency={long}"),
        format!("amount={long}&currency=usd"),
        format!("{long}=1"),
        format!("amount=100&currency=usd&payment_method={long}"),
        "amount=%zz&currency=%".to_owned(),
        "amount=%ff%fe&currency=usd".to_owned(),
        "amount[]=1&currency[]=usd".to_owned(),
        "amount=1&amount[x]=2&currency=usd".to_owned(),
        "metadata=x&amount=100&currency=usd".to_owned(),
        "metadata[a][b]=x&amount=100&currency=usd".to_owned(),
        "expand=x&amount=100&currency=usd".to_owned(),
        "expand[x]=y&amount=100&currency=usd".to_owned(),
        "[]=1&[=1&]=1&a[=1&a]=1&a[[]]=1&&&===".to_owned(),
        "amount=9223372036854775808&currency=usd".to_owned(),
        "amount=-9223372036854775808&currency=usd".to_owned(),
        "shipping[name]=a&shipping[address][city]=b&amount=100&currency=usd".to_owned(),
        deep,
        many,
        String::new(),
    ];
    for form in &forms {
        let answer = world.buys(form).await;
        assert_is_tidy(&answer, form);
    }
}

#[tokio::test]
async fn odd_urls_are_refused_but_break_nothing() {
    let world = World::open().await;
    let long = format!("/v1/payment_intents/{}", "x".repeat(5_000));
    for path in [
        "/v1/payment_intents/%00",
        "/v1/payment_intents/%ff%zz",
        "/v1/payment_intents/..%2f..%2fetc",
        "/v1/payment_intents/'%20or%201=1",
        "/v1/payment_intents?limit=99999999999999999999",
        "/v1/payment_intents?created[gte]=x",
        "/v1/payment_intents?created[gte]=9223372036854775807&created[lt]=-9223372036854775808",
        "/v1/payment_intents?created[x]=1",
        "/v1/payment_intents?customer=%00",
        "/v1/events?type=*",
        "/v1/events?type=%5B*&types[]=a",
        "/v1//",
        "/v1",
        "/3ds/%00",
        "/_control/ledger?metadata[a'\"]=%00",
        "/_control/ledger?x=1",
        "/_control/events/x/deliver",
        &long,
    ] {
        let answer = world.get(path).await;
        assert_is_tidy(&answer, path);
    }
}

#[tokio::test]
async fn odd_bodies_and_headers_are_refused_but_break_nothing() {
    let world = World::open().await;
    let create = world.url("/v1/payment_intents");

    let json = world
        .client()
        .post(&create)
        .bearer_auth(KEY)
        .json_body(r#"{"amount":100}"#)
        .send()
        .await
        .unwrap();
    let huge = world
        .client()
        .post(&create)
        .bearer_auth(KEY)
        .body("a".repeat(1_000_000))
        .send()
        .await
        .unwrap();
    let latin = world
        .client()
        .post(&create)
        .bearer_auth(KEY)
        .header("idempotency-key", &b"\xe9"[..])
        .send()
        .await
        .unwrap();
    let put = world
        .call(Method::PUT, "/v1/payment_intents", "amount=1", &[])
        .await;
    let control = world
        .client()
        .post(world.url("/_control/clock"))
        .bearer_auth(KEY)
        .body("\0{")
        .send()
        .await
        .unwrap();

    for (response, status) in [(json, 400), (huge, 413), (latin, 400), (control, 400)] {
        let answer = Answer::read(response).await.unwrap();
        assert_eq!(answer.status, status);
        assert_is_tidy(&answer, "body or header");
    }
    assert_is_tidy(&put, "PUT");
    assert_eq!(world.ledger().await["payment_intents"]["total"], 0);
}

trait JsonBody {
    fn json_body(self, body: &'static str) -> Self;
}

impl JsonBody for reqwest::RequestBuilder {
    fn json_body(self, body: &'static str) -> Self {
        self.header("content-type", "application/json").body(body)
    }
}

fn assert_is_tidy(answer: &Answer, sent: &str) {
    let sent: String = sent.chars().take(80).collect();
    assert!(
        answer.status < 500,
        "{} to {sent}: {}",
        answer.status,
        answer.body
    );
    assert!(answer.body.is_object(), "{sent}: not JSON");
    assert!(
        answer.status == 200 || answer.error()["message"].is_string(),
        "{sent}: no message"
    );
}
