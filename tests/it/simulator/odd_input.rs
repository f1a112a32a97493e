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
async fn odd_forms_break_no_other_object_either() {
    let world = World::open().await;
    let customer = world.customer().await;
    let card = world.attaches("pm_card_visa", &customer).await;
    let (customer, card) = (
        format!("/v1/customers/{customer}"),
        format!("/v1/payment_methods/{}", card.id()),
    );
    let attach = format!("{card}/attach");
    let forms = [
        "",
        "amount=%00&charge=%00&reason=%00",
        "charge[]=x&payment_intent[a]=b",
        "payment_intent=pi_x&amount=99999999999999999999",
        "customer[]=x",
        "type[]=card&card=x",
        "type=card&card[token][]=tok_visa",
        "type=card&card[token]=tok_",
        "type=card&card[number]=%ff",
        "billing_details=x",
        "billing_details[address]=x",
        "billing_details[address][city][x]=y",
        "evidence=x",
        "evidence[uncategorized_text][]=x",
        "email=%00@x.y&name=%00",
        "invoice_settings=x",
        "invoice_settings[default_payment_method][]=x",
        "shipping[address]=&shipping[name]=x",
        "preferred_locales[x]=y",
        "metadata[a][b]=c",
        "expand[]=refunds.data.data.data",
    ];
    let paths = [
        "/v1/refunds",
        "/v1/refunds/re_%00",
        "/v1/refunds/x/cancel",
        "/v1/customers",
        &customer,
        "/v1/payment_methods",
        &card,
        &attach,
        "/v1/payment_methods/%ff/detach",
        "/v1/disputes/du_x",
        "/v1/disputes/du_x/close",
    ];
    for path in paths {
        for form in forms {
            let answer = world.post(path, form).await;
            assert_is_tidy(&answer, &format!("{path} {form}"));
        }
    }
    for path in ["/v1/customers/%00", "/v1/payment_methods/%00", &attach] {
        let answer = world.call(Method::DELETE, path, "", &[]).await;
        assert_is_tidy(&answer, path);
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
        "/v1/refunds?charge=%00&payment_intent[]=x",
        "/v1/customers?email[]=x",
        "/v1/customers/%00/payment_methods",
        "/v1/payment_methods/%00",
        "/v1/disputes?created[gte]=x",
        "/v1/balance?x=1",
        "/v1/charges/%00/refunds",
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
