//! Customers, from the first to the last day.

use reqwest::Method;
use serde_json::{Value, json};

use super::world::{Answer, PURCHASE, World};

#[tokio::test]
async fn a_customer_is_made_changed_and_found() {
    let world = World::open().await;
    let form = "email=ada@example.com&name=Ada&metadata[tier]=gold&address[city]=Turin&address[country]=IT\
                &shipping[name]=Ada&shipping[address][line1]=Via+Po+1&preferred_locales[]=it";

    let made = world.post("/v1/customers", form).await;
    let path = format!("/v1/customers/{}", made.id());
    let form = "name=&phone=123&metadata[tier]=&metadata[since]=2026&address[city]=Rome";
    let changed = world.post(&path, form).await;
    let the_same_again = world.post(&path, "phone=123").await;

    assert!(made.id().starts_with("cus_"));
    assert_eq!(made.body["email"], "ada@example.com");
    assert_eq!(made.body["address"]["city"], "Turin");
    assert_eq!(made.body["address"]["line1"], Value::Null);
    assert_eq!(made.body["shipping"]["address"]["line1"], "Via Po 1");
    assert_eq!(made.body["preferred_locales"], json!(["it"]));
    assert_eq!(
        made.body["invoice_settings"]["default_payment_method"],
        Value::Null
    );
    assert_eq!(changed.body["name"], Value::Null);
    assert_eq!(changed.body["email"], "ada@example.com");
    assert_eq!(changed.body["metadata"], json!({ "since": "2026" }));
    // An address is replaced as a whole.
    assert_eq!(changed.body["address"]["country"], Value::Null);
    assert_eq!(the_same_again.body, changed.body);
    assert_eq!(world.get(&path).await.body, changed.body);
    assert_eq!(
        world.told_since(0).await,
        ["customer.created", "customer.updated"]
    );
    let updated = &world.events().await[1]["data"];
    assert_eq!(updated["object"], changed.body);
    let previous = json!({
        "name": "Ada",
        "phone": null,
        "metadata": { "tier": "gold", "since": null },
        "address": { "city": "Turin", "country": "IT" }
    });
    assert_eq!(updated["previous_attributes"], previous);
}

#[tokio::test]
async fn customers_are_listed_by_email_and_in_pages() {
    let world = World::open().await;
    for email in ["a@x.org", "b@x.org", "a@x.org"] {
        world.post("/v1/customers", &format!("email={email}")).await;
    }

    let all = world.get("/v1/customers").await;
    let same = world.get("/v1/customers?email=a@x.org").await;
    let first = world.get("/v1/customers?limit=1").await;
    let cursor = first.body["data"][0]["id"].as_str().unwrap();
    let next = world
        .get(&format!("/v1/customers?limit=1&starting_after={cursor}"))
        .await;

    assert_eq!(emails(&all), ["a@x.org", "b@x.org", "a@x.org"]);
    assert_eq!(emails(&same), ["a@x.org", "a@x.org"]);
    assert_eq!(first.body["has_more"], true);
    assert_eq!(emails(&next), ["b@x.org"]);
}

#[tokio::test]
async fn customers_are_searched_by_parts_of_what_they_say() {
    let world = World::open().await;
    for form in [
        "email=ada@example.com&name=Ada",
        "email=bob@example.org&metadata[tier]=gold",
    ] {
        world.post("/v1/customers", form).await;
    }
    let found = async |query: &str| {
        let query: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
        world
            .get(&format!("/v1/customers/search?query={query}"))
            .await
    };

    assert_eq!(emails(&found("email~'EXAMPLE'").await).len(), 2);
    assert_eq!(emails(&found("name:'ada'").await), ["ada@example.com"]);
    assert_eq!(
        emails(&found("metadata['tier']:'gold'").await),
        ["bob@example.org"]
    );
    assert_eq!(found("email~'e'").await.status, 400);
    assert_eq!(found("tax_exempt:'none'").await.status, 400);
}

#[tokio::test]
async fn a_deleted_customer_is_known_to_be_deleted_and_pays_no_more() {
    let world = World::open().await;
    let customer = world.customer().await;
    let path = format!("/v1/customers/{customer}");
    let kept = world.attaches("pm_card_visa", &customer).await;
    let before = world.buys(&format!("{PURCHASE}&customer={customer}")).await;

    let deleted = world.call(Method::DELETE, &path, "", &[]).await;
    let retrieved = world.get(&path).await;
    let updated = world.post(&path, "name=Ada").await;
    let again = world.call(Method::DELETE, &path, "", &[]).await;
    let form = PURCHASE.replace("pm_card_visa", kept.id());
    let paid = world.buys(&format!("{form}&customer={customer}")).await;
    let expanded = world
        .get(&format!(
            "/v1/payment_intents/{}?expand[]=customer",
            before.id()
        ))
        .await;

    let gone = json!({ "id": customer, "object": "customer", "deleted": true });
    assert_eq!(deleted.status, 200);
    assert_eq!(deleted.body, gone);
    assert_eq!(retrieved.body, gone);
    assert_eq!(expanded.body["customer"], gone);
    assert_eq!((updated.status, again.status), (404, 404));
    assert_eq!(paid.error()["code"], "resource_missing");
    assert_eq!(paid.error()["param"], "customer");
    assert_eq!(world.get("/v1/customers").await.body["data"], json!([]));
    assert_eq!(world.get("/v1/customers/cus_nobody").await.status, 404);
    let told = world.get("/v1/events?type=customer.*").await.body["data"].clone();
    assert_eq!(told[0]["type"], "customer.deleted");
    assert_eq!(told[0]["data"]["object"]["id"], customer);
}

#[tokio::test]
async fn what_a_deleted_customer_kept_pays_for_nobody() {
    let world = World::open().await;
    let customer = world.customer().await;
    let kept = world.attaches("pm_card_visa", &customer).await;
    let form = format!("customer={customer}&payment_method={}", kept.id());
    let path = format!("/v1/customers/{customer}");
    world
        .post(
            &path,
            &format!("invoice_settings[default_payment_method]={}", kept.id()),
        )
        .await;
    let open = world
        .buys(&format!(
            "amount=100&currency=usd&payment_method_types[]=card&{form}"
        ))
        .await;
    let before = world.events().await.len();

    world.delete(&path).await;
    let told = world.told_since(before).await;
    let confirm = format!("/v1/payment_intents/{}/confirm", open.id());
    let confirmed = world.post(&confirm, "").await;
    let other = world.customer().await;
    let attached = world.attaches(kept.id(), &other).await;

    assert_eq!(told, ["payment_method.detached", "customer.deleted"]);
    let method = world
        .get(&format!("/v1/payment_methods/{}", kept.id()))
        .await;
    assert_eq!(method.body["customer"], Value::Null);
    for refused in [confirmed, attached] {
        assert_eq!(refused.status, 400);
        assert_eq!(refused.error()["code"], "payment_method_unexpected_state");
    }
    assert_eq!(world.succeeded().await, 0);
}

#[tokio::test]
async fn a_customer_can_begin_with_a_payment_method_that_is_the_default() {
    let world = World::open().await;
    let card = world.get("/v1/payment_methods/pm_card_visa").await;
    let form = format!(
        "payment_method={id}&invoice_settings[default_payment_method]={id}",
        id = card.id()
    );

    let made = world.post("/v1/customers", &form).await;
    let path = format!("/v1/customers/{}", made.id());
    let expanded = world
        .get(&format!(
            "{path}?expand[]=invoice_settings.default_payment_method"
        ))
        .await;
    let detach = format!("/v1/payment_methods/{}/detach", card.id());
    let detached = world.post(&detach, "").await;

    assert_eq!(
        made.body["invoice_settings"]["default_payment_method"],
        card.body["id"]
    );
    let default = &expanded.body["invoice_settings"]["default_payment_method"];
    assert_eq!(default["customer"], made.body["id"]);
    assert_eq!(detached.body["customer"], Value::Null);
    let after = world.get(&path).await;
    assert_eq!(
        after.body["invoice_settings"]["default_payment_method"],
        Value::Null
    );
    assert_eq!(
        world.told_since(0).await,
        [
            "customer.created",
            "payment_method.attached",
            "payment_method.detached",
            "customer.updated"
        ]
    );
}

#[tokio::test]
async fn what_no_customer_can_be_is_refused() {
    let world = World::open().await;
    let customer = world.customer().await;
    let other = world.customer().await;
    let others = world.attaches("pm_card_visa", &other).await;
    let default = format!("invoice_settings[default_payment_method]={}", others.id());
    let long = format!("metadata[k]={}", "v".repeat(501));
    let rows = [
        ("email=nonsense", "email_invalid", "email"),
        ("nickname=x", "parameter_unknown", "nickname"),
        ("address[planet]=x", "parameter_unknown", "address[planet]"),
        ("address=x", "-", "address"),
        ("shipping[name]=x", "parameter_missing", "shipping[address]"),
        (
            "shipping[address][city]=x",
            "parameter_missing",
            "shipping[name]",
        ),
        ("tax_exempt=perhaps", "-", "tax_exempt"),
        (&long, "-", "metadata[k]"),
        (
            &default,
            "resource_missing",
            "invoice_settings[default_payment_method]",
        ),
    ];
    for path in [
        "/v1/customers".to_owned(),
        format!("/v1/customers/{customer}"),
    ] {
        for (form, code, param) in rows {
            let refused = world.post(&path, form).await;

            assert_eq!(refused.status, 400, "{path} {form}");
            let given = |field: &str| refused.error()[field].as_str().unwrap_or("-");
            assert_eq!(given("code"), code, "{path} {form}");
            assert_eq!(given("param"), param, "{path} {form}");
        }
    }
    let declined = world
        .post("/v1/customers", "payment_method=pm_card_chargeDeclined")
        .await;
    assert_eq!(declined.status, 402);
    assert_eq!(emails(&world.get("/v1/customers").await).len(), 2);
    let keys = |from: usize| {
        let keys = (from..from + 30).map(|key| format!("metadata[{key}]=x"));
        keys.collect::<Vec<_>>().join("&")
    };
    let path = format!("/v1/customers/{customer}");
    assert_eq!(world.post(&path, &keys(0)).await.status, 200);
    assert_eq!(world.post(&path, &keys(30)).await.status, 400);
    assert_eq!(world.post(&path, &keys(20)).await.status, 200);
}

fn emails(list: &Answer) -> Vec<&str> {
    let data = list.body["data"].as_array().unwrap();
    data.iter()
        .map(|customer| customer["email"].as_str().unwrap_or(""))
        .collect()
}
