//! Payment methods: whose they are, and who may pay with them.

use serde_json::{Value, json};

use super::world::{Answer, PURCHASE, World};

#[tokio::test]
async fn a_test_name_gives_a_fresh_payment_method_each_time() {
    let world = World::open().await;

    let one = world.get("/v1/payment_methods/pm_card_visa").await;
    let other = world.get("/v1/payment_methods/pm_card_visa").await;
    let again = world
        .get(&format!("/v1/payment_methods/{}", one.id()))
        .await;
    let nobody = world.get("/v1/payment_methods/pm_nobody").await;

    assert_ne!(one.id(), other.id());
    assert_eq!(one.body["card"]["last4"], "4242");
    assert_eq!(again.body, one.body);
    assert_eq!(nobody.status, 404);
    assert_eq!(nobody.error()["code"], "resource_missing");
}

#[tokio::test]
async fn a_card_is_made_from_a_token_and_never_from_its_number() {
    let world = World::open().await;
    let create = async |form: &str| world.post("/v1/payment_methods", form).await;

    let made = create("type=card&card[token]=tok_mastercard&billing_details[name]=Ada&billing_details[address][city]=Turin&metadata[a]=b").await;
    let number = create("type=card&card[number]=4242424242424242&card[exp_month]=12&card[exp_year]=2034&card[cvc]=123").await;
    let unknown = create("type=card&card[token]=tok_nobody").await;
    let alias = create("type=card&card[token]=pm_card_visa").await;
    let empty = create("type=card").await;
    let typeless = create("card[token]=tok_visa").await;
    let paid = world
        .buys(&PURCHASE.replace("pm_card_visa", made.id()))
        .await;

    assert_eq!(made.body["card"]["brand"], "mastercard");
    assert_eq!(made.body["billing_details"]["name"], "Ada");
    assert_eq!(made.body["billing_details"]["address"]["city"], "Turin");
    assert_eq!(made.body["metadata"], json!({ "a": "b" }));
    assert_eq!(number.status, 402);
    assert_eq!(number.error()["type"], "invalid_request_error");
    assert!(!number.body.to_string().contains("4242424242424242"));
    assert_eq!((unknown.status, alias.status), (400, 400));
    assert_eq!(unknown.error()["param"], "card[token]");
    assert_eq!(empty.error()["code"], "parameter_missing");
    assert_eq!(typeless.error()["param"], "type");
    let charge = world
        .get(&format!(
            "/v1/charges/{}",
            paid.body["latest_charge"].as_str().unwrap()
        ))
        .await;
    assert_eq!(charge.body["billing_details"]["name"], "Ada");
}

#[tokio::test]
async fn an_attached_card_pays_for_its_customer_again_and_again_and_for_nobody_else() {
    let world = World::open().await;
    let (customer, other) = (world.customer().await, world.customer().await);
    let card = world.attaches("pm_card_visa", &customer).await;
    let form = PURCHASE.replace("pm_card_visa", card.id());

    let first = world.buys(&format!("{form}&customer={customer}")).await;
    let second = world.buys(&format!("{form}&customer={customer}")).await;
    let for_nobody = world.buys(&form).await;
    let for_another = world.buys(&format!("{form}&customer={other}")).await;
    let open = world
        .buys("amount=100&currency=usd&payment_method_types[]=card")
        .await;
    let confirm = format!("/v1/payment_intents/{}/confirm", open.id());
    let confirmed = world
        .post(&confirm, &format!("payment_method={}", card.id()))
        .await;
    let attached_again = world.attaches(card.id(), &other).await;

    assert_eq!(card.body["customer"], *customer);
    assert_eq!(first.body["status"], "succeeded");
    assert_eq!(second.body["status"], "succeeded");
    for refused in [for_nobody, for_another, confirmed, attached_again] {
        assert_eq!(refused.status, 400);
        assert_eq!(refused.error()["code"], "payment_method_unexpected_state");
        assert_eq!(refused.error()["param"], "payment_method");
    }
    assert_eq!(world.succeeded().await, 2);
    let unknown = world.attaches("pm_card_visa", "cus_nobody").await;
    assert_eq!(
        (unknown.status, &unknown.error()["param"]),
        (400, &json!("customer"))
    );
    assert_eq!(world.attaches("pm_nobody", &customer).await.status, 404);
}

#[tokio::test]
async fn a_detached_card_is_of_no_use_any_more() {
    let world = World::open().await;
    let customer = world.customer().await;
    let card = world.attaches("pm_card_visa", &customer).await;
    let detach = format!("/v1/payment_methods/{}/detach", card.id());

    let detached = world.post(&detach, "").await;
    let twice = world.post(&detach, "").await;
    let attached = world.attaches(card.id(), &customer).await;
    let paid = world
        .buys(&PURCHASE.replace("pm_card_visa", card.id()))
        .await;

    assert_eq!(detached.body["customer"], Value::Null);
    for refused in [twice, attached, paid] {
        assert_eq!(refused.status, 400);
        assert_eq!(refused.error()["code"], "payment_method_unexpected_state");
    }
    let told = world
        .get("/v1/events?type=payment_method.detached")
        .await
        .body["data"]
        .clone();
    let previous = json!({ "customer": customer });
    assert_eq!(told[0]["data"]["previous_attributes"], previous);
    assert_eq!(world.succeeded().await, 0);
}

#[tokio::test]
async fn a_card_that_nobody_keeps_pays_once() {
    let world = World::open().await;
    let customer = world.customer().await;
    let card = world.get("/v1/payment_methods/pm_card_visa").await;
    let form = PURCHASE.replace("pm_card_visa", card.id());

    let first = world.buys(&form).await;
    let second = world.buys(&form).await;
    let kept = world.attaches(card.id(), &customer).await;
    let again = world
        .post(&format!("/v1/payment_intents/{}/confirm", first.id()), "")
        .await;

    assert_eq!(first.body["status"], "succeeded");
    assert_eq!(second.error()["code"], "payment_method_unexpected_state");
    assert_eq!(kept.error()["code"], "payment_method_unexpected_state");
    // How the intent stands matters more than how the card does.
    assert_eq!(again.error()["code"], "payment_intent_unexpected_state");
    assert_eq!(world.succeeded().await, 1);
}

#[tokio::test]
async fn an_open_payment_takes_no_card_of_somebody_else_and_a_paid_one_can_still_be_described() {
    let world = World::open().await;
    let customer = world.customer().await;
    let card = world.attaches("pm_card_visa", &customer).await;
    let open = world
        .buys("amount=100&currency=usd&payment_method_types[]=card")
        .await;
    let path = |intent: &Answer| format!("/v1/payment_intents/{}", intent.id());
    let paid = world.buys(PURCHASE).await;

    let with_card = format!("payment_method={}", card.id());
    let refused = world.post(&path(&open), &with_card).await;
    let accepted = world
        .post(&path(&open), &format!("{with_card}&customer={customer}"))
        .await;
    let described = world.post(&path(&paid), "description=tea").await;

    assert_eq!(refused.error()["code"], "payment_method_unexpected_state");
    assert_eq!(accepted.body["payment_method"], card.body["id"]);
    assert_eq!(described.body["description"], "tea");
}

#[tokio::test]
async fn a_debited_account_pays_once_too() {
    let world = World::open().await;
    let account = world
        .get("/v1/payment_methods/pm_usBankAccount_success")
        .await;
    let form = format!(
        "amount=4200&currency=usd&confirm=true&payment_method={}&payment_method_types[]=us_bank_account\
         &mandate_data[customer_acceptance][type]=offline",
        account.id()
    );

    let debited = world.buys(&form).await;
    world.settles().await;
    let again = world.buys(&form).await;

    assert_eq!(debited.body["status"], "processing");
    assert_eq!(world.succeeded().await, 1);
    assert_eq!(again.error()["code"], "payment_method_unexpected_state");
}

#[tokio::test]
async fn a_decline_spends_nothing() {
    let world = World::open().await;
    let card = world
        .get("/v1/payment_methods/pm_card_chargeDeclinedInsufficientFunds")
        .await;
    let form = PURCHASE.replace("pm_card_visa", card.id());

    assert_eq!(world.buys(&form).await.status, 402);
    assert_eq!(world.buys(&form).await.status, 402);
}

#[tokio::test]
async fn a_payment_set_up_for_future_usage_keeps_the_card() {
    let world = World::open().await;
    let customer = world.customer().await;
    let setup = format!("{PURCHASE}&customer={customer}&setup_future_usage=off_session");
    let before = world.events().await.len();

    let paid = world.buys(&setup).await;
    let told = world.told_since(before).await;
    let challenged = world
        .buys(&setup.replace("pm_card_visa", "pm_card_threeDSecure2Required"))
        .await;
    let bank = challenged.body["next_action"]["use_stripe_sdk"]["stripe_js"]
        .as_str()
        .unwrap();
    let approved = world.client().post(bank).body("verdict=approve");
    let approved = approved.header("content-type", "application/x-www-form-urlencoded");
    approved.send().await.unwrap();

    let kept = kept(&world, &customer, "").await;
    let ids: Vec<&Value> = kept.iter().map(|card| &card["id"]).collect();
    assert_eq!(
        ids,
        [
            &challenged.body["payment_method"],
            &paid.body["payment_method"]
        ]
    );
    let order = [
        "payment_intent.created",
        "payment_method.attached",
        "charge.succeeded",
    ];
    assert_eq!(told[..3], order);
    let saved = paid.body["payment_method"].as_str().unwrap();
    let form = PURCHASE.replace("pm_card_visa", saved);
    let again = world
        .buys(&format!("{form}&customer={customer}&off_session=true"))
        .await;
    assert_eq!(again.body["status"], "succeeded");
}

#[tokio::test]
async fn a_card_that_declines_is_declined_when_it_is_attached() {
    let world = World::open().await;
    let customer = world.customer().await;

    let declined = world.attaches("pm_card_chargeDeclined", &customer).await;
    let kept_card = world
        .attaches("pm_card_chargeCustomerFail", &customer)
        .await;
    let form = PURCHASE.replace("pm_card_visa", kept_card.id());
    let payment = world.buys(&format!("{form}&customer={customer}")).await;

    assert_eq!(declined.status, 402);
    assert_eq!(declined.error()["code"], "card_declined");
    assert_eq!(kept_card.body["customer"], *customer);
    assert_eq!(payment.status, 402);
    assert_eq!(kept(&world, &customer, "").await.len(), 1);
}

#[tokio::test]
async fn the_cards_of_a_customer_are_listed_and_changed() {
    let world = World::open().await;
    let (customer, other) = (world.customer().await, world.customer().await);
    let visa = world.attaches("pm_card_visa", &customer).await;
    let amex = world.attaches("pm_card_amex", &customer).await;
    world.attaches("pm_card_jcb", &other).await;
    let loose = world.get("/v1/payment_methods/pm_card_visa").await;
    let path = |card: &Answer| format!("/v1/payment_methods/{}", card.id());

    let changed = world
        .post(&path(&visa), "billing_details[email]=a@b.c&billing_details[address][city]=Rome&metadata[k]=v&allow_redisplay=always")
        .await;
    let refused = world.post(&path(&loose), "metadata[k]=v").await;
    let unknown = world.post(&path(&visa), "billing_details[shoe]=44").await;

    assert_eq!(changed.body["billing_details"]["email"], "a@b.c");
    assert_eq!(changed.body["allow_redisplay"], "always");
    assert_eq!(refused.status, 400);
    assert_eq!(unknown.error()["param"], "billing_details[shoe]");
    let cards = kept(&world, &customer, "?type=card").await;
    assert_eq!(cards, [amex.body.clone(), changed.body.clone()]);
    assert!(kept(&world, &customer, "?type=sepa_debit").await.is_empty());
    let by_customer = format!("/v1/payment_methods?customer={customer}&type=card&limit=1");
    assert_eq!(
        world.get(&by_customer).await.body["data"],
        json!([amex.body])
    );
    let told = world
        .get("/v1/events?type=payment_method.updated")
        .await
        .body["data"]
        .clone();
    let previous = json!({
        "allow_redisplay": "unspecified",
        "billing_details": { "email": null, "address": { "city": null } },
        "metadata": { "k": null }
    });
    assert_eq!(told[0]["data"]["previous_attributes"], previous);
}

async fn kept(world: &World, customer: &str, query: &str) -> Vec<Value> {
    let path = format!("/v1/customers/{customer}/payment_methods{query}");
    world.get(&path).await.body["data"]
        .as_array()
        .unwrap()
        .clone()
}
