//! Lists, events, and expanded ids.

use serde_json::Value;

use super::world::{PURCHASE, World};

#[tokio::test]
async fn lists_page_in_both_directions() {
    let world = World::open().await;
    let mut ids = Vec::new();
    for amount in 101..=105 {
        ids.insert(
            0,
            world
                .buys(&format!("amount={amount}&currency=usd"))
                .await
                .id()
                .to_owned(),
        );
    }
    let page = async |query: &str| {
        let answer = world.get(&format!("/v1/payment_intents?{query}")).await;
        assert_eq!(answer.body["url"], "/v1/payment_intents");
        let ids: Vec<String> = answer.body["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|object| text(&object["id"]))
            .collect();
        (ids, answer.body["has_more"].as_bool().unwrap())
    };

    assert_eq!(page("").await, (ids.clone(), false));
    assert_eq!(page("limit=2").await, (ids[..2].to_vec(), true));
    assert_eq!(
        page(&format!("limit=2&starting_after={}", ids[1])).await,
        (ids[2..4].to_vec(), true)
    );
    assert_eq!(
        page(&format!("limit=2&starting_after={}", ids[3])).await,
        (ids[4..].to_vec(), false)
    );
    assert_eq!(
        page(&format!("limit=2&ending_before={}", ids[4])).await,
        (ids[2..4].to_vec(), true)
    );
    assert_eq!(
        page(&format!("limit=5&ending_before={}", ids[2])).await,
        (ids[..2].to_vec(), false)
    );
    assert_eq!(page("created[gt]=99999999999").await, (vec![], false));
    assert_eq!(
        page("created[gte]=0&created%5Blt%5D=99999999999")
            .await
            .0
            .len(),
        5
    );
    for refused in [
        "limit=0",
        "limit=101",
        "starting_after=pi_nobody",
        "starting_after=a&ending_before=b",
        "metadata[a]=b",
    ] {
        assert_eq!(
            world
                .get(&format!("/v1/payment_intents?{refused}"))
                .await
                .status,
            400,
            "{refused}"
        );
    }
}

#[tokio::test]
async fn events_tell_of_a_payment_in_order_and_name_their_request() {
    let world = World::open().await;

    let paid = world.buys_with_key(PURCHASE, "wish-1").await;
    world.settles().await;

    let all = world.get("/v1/events").await.body;
    let types: Vec<&str> = all["data"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .map(|e| e["type"].as_str().unwrap())
        .collect();
    let told = [
        "payment_intent.created",
        "charge.succeeded",
        "payment_intent.succeeded",
        "charge.updated",
    ];
    assert_eq!(types, told);
    let succeeded = world
        .get("/v1/events?type=payment_intent.succeeded")
        .await
        .body["data"][0]
        .clone();
    assert_eq!(succeeded["data"]["object"], paid.body);
    assert_eq!(
        succeeded["request"]["id"],
        paid.header("request-id").unwrap()
    );
    assert_eq!(succeeded["request"]["idempotency_key"], "wish-1");
    assert_eq!(succeeded["pending_webhooks"], 0);
    let one = world
        .get(&format!("/v1/events/{}", text(&succeeded["id"])))
        .await;
    assert_eq!(one.body, succeeded);
    let count = async |query: &str| {
        world.get(&format!("/v1/events?{query}")).await.body["data"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(count("type=payment_intent.*").await, 2);
    assert_eq!(
        count("types[]=charge.succeeded&types[]=charge.updated").await,
        2
    );
    assert_eq!(count("type=charge.failed").await, 0);
}

#[tokio::test]
async fn ids_can_be_expanded_into_objects() {
    let world = World::open().await;

    let paid = world
        .buys(&format!("{PURCHASE}&expand[]=latest_charge"))
        .await;
    let list = world
        .get("/v1/payment_intents?expand[0]=data.latest_charge")
        .await;
    let refused = world.buys(&format!("{PURCHASE}&expand[]=secrets")).await;

    assert_eq!(paid.body["latest_charge"]["object"], "charge");
    assert_eq!(
        list.body["data"][0]["latest_charge"]["id"],
        paid.body["latest_charge"]["id"]
    );
    assert_eq!(refused.status, 400);
    assert_eq!(world.succeeded().await, 1);
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
