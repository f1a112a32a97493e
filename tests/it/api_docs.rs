//! The API's own descriptions, for programs and for people. They are shown to anybody.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::world::{Caller, NOTHING, Shop};

#[tokio::test]
async fn the_description_has_every_operation_and_every_status() {
    let shop = Shop::open().await;
    let answer = Caller::at(&shop.url, "unknown").gets("/openapi.json").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "application/json");
    let document = answer.json();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["servers"][0]["url"], shop.url);
    assert_eq!(
        document["components"]["securitySchemes"]["api_key"]["scheme"],
        "bearer"
    );

    let statuses = |path: &str, method: &str| -> BTreeSet<String> {
        let operation = &document["paths"][path][method];
        let responses = operation["responses"].as_object();
        let responses = responses.unwrap_or_else(|| panic!("no {method} {path}: {document}"));
        responses.keys().cloned().collect()
    };
    let of =
        |statuses: &str| -> BTreeSet<String> { statuses.split(' ').map(str::to_owned).collect() };
    let expected = BTreeMap::from([
        (
            ("/api/v1/checkouts", "post"),
            "201 202 400 401 409 413 415 422 500 503",
        ),
        (("/api/v1/checkouts/{id}", "get"), "200 401 404 500 503"),
        (("/api/v1/orders/{number}", "get"), "200 401 404 500 503"),
        (
            ("/api/v1/orders/{number}/refunds", "post"),
            "201 202 400 401 404 409 413 415 422 500 503",
        ),
        (("/api/v1/refunds/{id}", "get"), "200 401 404 500 503"),
    ]);
    for ((path, method), all) in &expected {
        assert_eq!(statuses(path, method), of(all), "{method} {path}");
    }
    let paths = document["paths"].as_object().expect("paths");
    assert_eq!(paths.len(), expected.len());
    every_answer_has_an_example(&document);
    shop.expects(NOTHING).await;
}

fn every_answer_has_an_example(document: &Value) {
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for operation in methods.as_object().expect("methods").values() {
            for (status, answer) in operation["responses"].as_object().expect("responses") {
                let contents = answer["content"].as_object().expect("a body");
                for (kind, content) in contents {
                    let has_one = content.get("example").or(content.get("examples"));
                    assert!(has_one.is_some(), "{path} {status} {kind}");
                    let is_problem = kind == "application/problem+json";
                    assert_eq!(is_problem, !status.starts_with('2'), "{path} {status}");
                }
            }
        }
    }
}

#[tokio::test]
async fn the_page_explains_every_operation_and_every_kind_of_problem() {
    let shop = Shop::open().await;
    let page = shop.visitor().sees("/api/v1/docs").await;
    assert_eq!((page.status, page.heading()), (200, "The API".to_owned()));
    assert_eq!(page.header("set-cookie"), "");
    for forbidden in ["<style", " style=", "onclick", "<script>"] {
        assert!(!page.html.contains(forbidden), "{forbidden}");
    }
    let document = shop.caller().gets("/openapi.json").await.json();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let section = format!("section[aria-labelledby={}]", operation["operationId"]);
            let shown = page.text(&section);
            assert!(
                shown.contains(&format!("{} {path}", method.to_uppercase())),
                "{shown}"
            );
            for status in operation["responses"]
                .as_object()
                .expect("responses")
                .keys()
            {
                assert!(shown.contains(status), "{path} {status}");
            }
        }
    }
    assert!(
        !page.text("main").contains('`'),
        "raw Markdown: {}",
        page.html
    );
    assert!(page.texts("dd code").contains(&"pm_card_visa".to_owned()));
    // The address in a problem leads to its explanation.
    let problem = shop.caller().gets("/orders/x").await.text("type");
    let (address, slug) = problem.split_once('#').expect("a place on a page");
    let explained = shop.visitor().sees(address).await.text(&format!("#{slug}"));
    assert!(explained.contains("404"), "{explained}");
    let shop_page = shop.visitor().sees("/").await;
    assert_eq!(shop_page.link_that_starts("/api/v1/docs"), "/api/v1/docs");
}
