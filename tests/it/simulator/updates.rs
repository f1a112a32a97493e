//! Changing a payment intent before, and after, it is paid.

use serde_json::{Value, json};

use super::world::{Answer, PURCHASE, World};

async fn updates(world: &World, intent: &Answer, form: &str) -> Answer {
    world
        .post(&format!("/v1/payment_intents/{}", intent.id()), form)
        .await
}

async fn confirms(world: &World, intent: &Answer, form: &str) -> Answer {
    let path = format!("/v1/payment_intents/{}/confirm", intent.id());
    world.post(&path, form).await
}

const OPEN: &str = "amount=4200&currency=usd&payment_method_types[]=card";

#[tokio::test]
async fn until_it_is_confirmed_everything_can_change() {
    let world = World::open().await;
    let open = world
        .buys(&format!(
            "{OPEN}&metadata[a]=1&metadata[b]=2&description=tea"
        ))
        .await;

    let updated = updates(
        &world,
        &open,
        "amount=5000&currency=EUR&description=&metadata[a]=&metadata[c]=3&capture_method=manual\
         &receipt_email=a@b.example&setup_future_usage=off_session&statement_descriptor_suffix=TEA\
         &shipping[name]=A&shipping[address][line1]=1+High+Street",
    )
    .await;

    assert_eq!(updated.status, 200, "{}", updated.body);
    assert_eq!(updated.body["amount"], 5000);
    assert_eq!(updated.body["currency"], "eur");
    assert_eq!(updated.body["description"], Value::Null);
    assert_eq!(updated.body["metadata"], json!({ "b": "2", "c": "3" }));
    assert_eq!(updated.body["capture_method"], "manual");
    assert_eq!(updated.body["receipt_email"], "a@b.example");
    assert_eq!(updated.body["setup_future_usage"], "off_session");
    assert_eq!(updated.body["statement_descriptor_suffix"], "TEA");
    assert_eq!(
        updated.body["shipping"]["address"]["line1"],
        "1 High Street"
    );
    assert_eq!(updated.body["status"], "requires_payment_method");
    let unset = updates(
        &world,
        &open,
        "metadata=&receipt_email=&setup_future_usage=&shipping=&statement_descriptor_suffix=",
    )
    .await;
    assert_eq!(unset.body["metadata"], json!({}));
    for field in [
        "receipt_email",
        "setup_future_usage",
        "shipping",
        "statement_descriptor_suffix",
    ] {
        assert_eq!(unset.body[field], Value::Null, "{field}");
    }
    let events = world.get("/v1/events").await.body;
    assert_eq!(
        events["data"].as_array().unwrap().len(),
        1,
        "no update is an event"
    );
    let held = confirms(&world, &open, "payment_method=pm_card_visa").await;
    assert_eq!(held.body["amount_capturable"], 5000);
}

#[tokio::test]
async fn a_payment_method_can_be_given_before_it_is_confirmed() {
    let world = World::open().await;
    let open = world.buys(OPEN).await;

    let ready = updates(&world, &open, "payment_method=pm_card_visa").await;
    assert_eq!(ready.body["status"], "requires_confirmation");
    let without = updates(&world, &open, "payment_method=").await;
    assert_eq!(without.body["status"], "requires_payment_method");
    assert_eq!(without.body["payment_method"], Value::Null);
    let declining = updates(&world, &open, "payment_method=pm_card_chargeDeclined").await;
    assert_eq!(declining.body["status"], "requires_confirmation");
    assert_eq!(confirms(&world, &open, "").await.status, 402);
    let again = updates(&world, &open, "description=tea").await;
    assert_eq!(again.body["last_payment_error"], Value::Null);
    assert_eq!(again.body["status"], "requires_payment_method");
    updates(&world, &open, "payment_method=pm_card_visa").await;
    assert_eq!(
        confirms(&world, &open, "").await.body["status"],
        "succeeded"
    );
}

#[tokio::test]
async fn what_the_customer_was_asked_to_approve_cannot_be_swapped() {
    let world = World::open().await;
    for change in ["amount=9900", "payment_method=pm_card_visa"] {
        let form = format!(
            "{OPEN}&confirm=true&payment_method=pm_card_authenticationRequired&return_url=https://a.example"
        );
        let waiting = world.buys(&form).await;
        assert_eq!(waiting.body["status"], "requires_action");
        let noted = updates(&world, &waiting, "receipt_email=a@b.example").await;
        assert_eq!(noted.body["status"], "requires_action");

        let changed = updates(&world, &waiting, change).await;

        assert_eq!(changed.body["status"], "requires_confirmation", "{change}");
        assert_eq!(changed.body["next_action"], Value::Null, "{change}");
    }
}

#[tokio::test]
async fn a_payment_under_way_keeps_its_terms_but_not_its_notes() {
    let world = World::open().await;
    let paid = world.buys(PURCHASE).await;
    let held = world
        .buys(&format!("{PURCHASE}&capture_method=manual"))
        .await;
    let canceled = world.buys(OPEN).await;
    world
        .post(&format!("/v1/payment_intents/{}/cancel", canceled.id()), "")
        .await;
    for (intent, status) in [
        (&paid, "succeeded"),
        (&held, "requires_capture"),
        (&canceled, "canceled"),
    ] {
        for form in [
            "amount=100",
            "amount=4200",
            "currency=eur",
            "payment_method=pm_card_mastercard",
            "payment_method=",
            "capture_method=manual",
            "receipt_email=a@b.example",
            "shipping=",
            "description=x&amount=100",
        ] {
            let refused = updates(&world, intent, form).await;
            assert_eq!(refused.status, 400, "{status} {form}");
            let error = refused.error();
            assert_eq!(
                error["code"], "payment_intent_unexpected_state",
                "{status} {form}"
            );
            assert_eq!(error["payment_intent"]["status"], status, "{form}");
        }
        let noted = updates(&world, intent, "description=sold&metadata[k]=v").await;
        assert_eq!(noted.body["status"], status);
        assert_eq!(noted.body["description"], "sold");
        assert_eq!(noted.body["metadata"], json!({ "k": "v" }));
    }
    assert_eq!(world.succeeded().await, 1);
}

#[tokio::test]
async fn an_update_that_is_refused_changes_nothing() {
    let world = World::open().await;
    let open = world.buys(&format!("{OPEN}&description=tea")).await;
    for (form, code, param) in [
        ("amount=", json!("parameter_invalid_empty"), "amount"),
        ("currency=", json!("parameter_invalid_empty"), "currency"),
        ("amount=49", json!("amount_too_small"), "amount"),
        ("amount=0", json!("parameter_invalid_integer"), "amount"),
        ("currency=xyz", Value::Null, "currency"),
        (
            "currency=gbp&amount=29",
            json!("amount_too_small"),
            "amount",
        ),
        ("currency=isk&amount=4250", Value::Null, "amount"),
        (
            "payment_method=pm_nobody",
            json!("resource_missing"),
            "payment_method",
        ),
        ("customer=cus_nobody", json!("resource_missing"), "customer"),
        (
            "payment_method_types[]=gold",
            Value::Null,
            "payment_method_types",
        ),
        ("payment_method_types[]=sepa_debit", Value::Null, "currency"),
        (
            "payment_method_types[]=us_bank_account&payment_method=pm_card_visa",
            json!("payment_intent_invalid_parameter"),
            "payment_method",
        ),
        (
            "receipt_email=nobody",
            json!("email_invalid"),
            "receipt_email",
        ),
        (
            "setup_future_usage=maybe",
            Value::Null,
            "setup_future_usage",
        ),
        (
            "statement_descriptor=abc",
            Value::Null,
            "statement_descriptor",
        ),
        (
            "statement_descriptor_suffix=12345",
            Value::Null,
            "statement_descriptor_suffix",
        ),
        (
            "statement_descriptor_suffix=a*b",
            Value::Null,
            "statement_descriptor_suffix",
        ),
        ("confirm=true", json!("parameter_unknown"), "confirm"),
        ("status=succeeded", json!("parameter_unknown"), "status"),
    ] {
        let form = format!("description=changed&{form}");
        let refused = updates(&world, &open, &form).await;
        assert_eq!(refused.status, 400, "{form}");
        assert_eq!(refused.error()["code"], code, "{form}");
        assert_eq!(refused.error()["param"], param, "{form}");
    }
    let still = world
        .get(&format!("/v1/payment_intents/{}", open.id()))
        .await;
    assert_eq!(still.body, open.body);
    let unknown = world
        .post("/v1/payment_intents/pi_nobody", "amount=100")
        .await;
    assert_eq!(unknown.status, 404);
}

#[tokio::test]
async fn metadata_has_fifty_keys_at_most_after_an_update_too() {
    let world = World::open().await;
    let keys = |from: u32, to: u32| {
        let keys: Vec<String> = (from..to).map(|n| format!("metadata[k{n}]=v")).collect();
        keys.join("&")
    };
    let open = world.buys(&format!("{OPEN}&{}", keys(0, 49))).await;

    assert_eq!(updates(&world, &open, &keys(49, 50)).await.status, 200);
    let refused = updates(&world, &open, &keys(50, 51)).await;
    assert_eq!(refused.status, 400);
    assert_eq!(refused.error()["param"], "metadata");
    let swapped = updates(&world, &open, "metadata[k0]=&metadata[k50]=v").await;
    assert_eq!(swapped.body["metadata"].as_object().unwrap().len(), 50);
}
