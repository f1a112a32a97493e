//! Looking payment intents up by a query.

use serde_json::{Value, json};

use super::world::{Answer, PURCHASE, World};

async fn searches(world: &World, query: &str, more: &str) -> Answer {
    let query: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
    world
        .get(&format!("/v1/payment_intents/search?query={query}{more}"))
        .await
}

/// The amounts of what was found, newest first.
async fn found(world: &World, query: &str) -> Vec<i64> {
    let answer = searches(world, query, "&limit=100").await;
    assert_eq!(answer.status, 200, "{query}: {}", answer.body);
    amounts(&answer)
}

fn amounts(answer: &Answer) -> Vec<i64> {
    let data = answer.body["data"].as_array().unwrap();
    data.iter()
        .map(|intent| intent["amount"].as_i64().unwrap())
        .collect()
}

#[tokio::test]
async fn payments_are_found_by_what_was_noted_on_them() {
    let world = World::open().await;
    world
        .buys("amount=101&currency=usd&metadata[order]=A-1")
        .await;
    world
        .buys("amount=102&currency=eur&metadata[order]=a-1")
        .await;
    world
        .buys(&format!(
            "{PURCHASE}&metadata[order]=B-2&metadata[gift]=yes"
        ))
        .await;

    assert_eq!(found(&world, "metadata['order']:'A-1'").await, [102, 101]);
    assert_eq!(found(&world, "metadata[\"order\"]:\"B-2\"").await, [4200]);
    assert_eq!(found(&world, "status:'succeeded'").await, [4200]);
    assert_eq!(found(&world, "-status:'succeeded'").await, [102, 101]);
    assert_eq!(found(&world, "amount>101").await, [4200, 102]);
    assert_eq!(found(&world, "currency:'usd' AND amount<=101").await, [101]);
    assert_eq!(
        found(&world, "currency:'eur' OR amount:4200").await,
        [4200, 102]
    );
    assert_eq!(found(&world, "-metadata['gift']:null").await, [4200]);
    assert_eq!(found(&world, "metadata['gift']:null").await, [102, 101]);
    assert_eq!(found(&world, "customer:null created>1000").await.len(), 3);
    assert!(found(&world, "created<1000").await.is_empty());
}

#[tokio::test]
async fn a_search_pages_by_a_token() {
    let world = World::open().await;
    for amount in 101..=105 {
        world.buys(&format!("amount={amount}&currency=usd")).await;
        world.buys(&format!("amount={amount}&currency=eur")).await;
    }
    let query = "currency:'usd'";

    let first = searches(&world, query, "&limit=2").await;
    assert_eq!(first.body["object"], "search_result");
    assert_eq!(first.body["url"], "/v1/payment_intents/search");
    assert_eq!(first.body["has_more"], true);
    // Whoever comes in the meantime shifts nothing.
    world.buys("amount=106&currency=usd").await;
    let next = async |answer: &Answer| {
        let page = answer.body["next_page"].as_str().unwrap();
        searches(&world, query, &format!("&limit=2&page={page}")).await
    };
    let second = next(&first).await;
    let third = next(&second).await;

    assert_eq!(amounts(&first), [105, 104]);
    assert_eq!(amounts(&second), [103, 102]);
    assert_eq!(amounts(&third), [101]);
    assert_eq!(third.body["has_more"], false);
    assert_eq!(third.body["next_page"], Value::Null);
    let exactly = searches(&world, query, "&limit=6").await;
    assert_eq!(exactly.body["has_more"], false);
}

#[tokio::test]
async fn what_is_found_can_be_expanded() {
    let world = World::open().await;
    world.buys(PURCHASE).await;

    let answer = searches(&world, "amount:4200", "&expand[]=data.latest_charge").await;

    assert_eq!(answer.body["data"][0]["latest_charge"]["object"], "charge");
}

#[tokio::test]
async fn a_query_that_cannot_be_answered_is_refused() {
    let world = World::open().await;
    for query in [
        "emial:'x'",
        "amount",
        "status:succeeded",
        "status>'a'",
        "status~'succ'",
        "amount>'ten'",
        "amount>1 AND amount>2 OR amount>3",
        "metadata['order'",
        "'",
        "\u{0}",
        "é:'é'",
    ] {
        let refused = searches(&world, query, "").await;
        assert_eq!(refused.status, 400, "{query}");
        assert_eq!(refused.error()["type"], "invalid_request_error", "{query}");
        assert_eq!(refused.error().get("code"), None, "{query}");
        assert_eq!(refused.error().get("param"), None, "{query}");
    }
    for (parameters, code, param) in [
        ("", json!("parameter_missing"), "query"),
        ("query=", json!("parameter_missing"), "query"),
        (
            "query=amount>1&limit=0",
            json!("parameter_invalid_integer"),
            "limit",
        ),
        (
            "query=amount>1&limit=101",
            json!("parameter_invalid_integer"),
            "limit",
        ),
        ("query=amount>1&page=x", Value::Null, "page"),
        (
            "query=amount>1&starting_after=pi_1",
            json!("parameter_unknown"),
            "starting_after",
        ),
    ] {
        let path = format!("/v1/payment_intents/search?{parameters}");
        let refused = world.get(&path).await;
        assert_eq!(refused.status, 400, "{parameters}");
        assert_eq!(refused.error()["code"], code, "{parameters}");
        assert_eq!(refused.error()["param"], param, "{parameters}");
    }
}
