//! The API, described for people: the document for programs, as a page.

use axum::{extract::State, http::StatusCode, response::Response};
use serde_json::Value;

use super::{
    super::{error::PageError, show, views},
    kinds, openapi,
};
use crate::app::App;

/// `GET /api/v1/docs`. Whose cart it is nobody asks here, so the page shows none.
pub async fn serve(State(app): State<App>) -> Result<Response, PageError> {
    let document = openapi::document(app.till.links.shop());
    let document = serde_json::to_value(document).unwrap_or_default();
    let page = views::ApiPage {
        chrome: views::Chrome {
            cart_units: 0,
            has_mailbox: app.mailbox.is_some(),
            has_lab: app.lab.is_some(),
            has_api: true,
        },
        about: paragraphs(at(&document, "/info/description")),
        operations: operations(&document),
        problems: kinds::ALL.iter().map(|kind| problem(kind)).collect(),
    };
    show::page(StatusCode::OK, &page)
}

fn problem(kind: &kinds::Kind) -> views::ProblemKind {
    views::ProblemKind {
        slug: kind.slug.to_owned(),
        status: kind.status.as_u16(),
        title: kind.title.to_owned(),
        detail: kind.detail.to_owned(),
    }
}

fn operations(document: &Value) -> Vec<views::Operation> {
    let paths = members(&document["paths"]);
    let all = paths.flat_map(|(path, methods)| {
        members(methods).map(move |(method, it)| operation(document, path, method, it))
    });
    all.collect()
}

fn operation(document: &Value, path: &str, method: &str, it: &Value) -> views::Operation {
    let body = at(it, "/requestBody/content/application~1json");
    let answers = members(&it["responses"]).map(|(status, answer)| views::Named {
        name: status.to_owned(),
        about: said(&answer["description"]),
        ..views::Named::default()
    });
    views::Operation {
        id: text(&it["operationId"]),
        method: method.to_uppercase(),
        path: path.to_owned(),
        summary: text(&it["summary"]).trim_end_matches('.').to_owned(),
        about: paragraphs(&it["description"]),
        parameters: elements(&it["parameters"]).map(parameter).collect(),
        fields: fields(document, resolve(document, &body["schema"]), ""),
        answers: answers.collect(),
        example: example(document, path, it, body),
    }
}

fn parameter(it: &Value) -> views::Named {
    views::Named {
        name: text(&it["name"]),
        note: format!("in the {}", text(&it["in"])),
        about: said(&it["description"]),
    }
}

/// The fields of an object, those of the objects in its lists behind the name of the list.
fn fields(document: &Value, schema: &Value, within: &str) -> Vec<views::Named> {
    let required: Vec<String> = elements(&schema["required"]).map(text).collect();
    let mut all = Vec::new();
    for (name, field) in members(&schema["properties"]) {
        let note = if required.iter().any(|it| it == name) {
            "required"
        } else {
            "optional"
        };
        all.push(views::Named {
            name: format!("{within}{name}"),
            note: note.to_owned(),
            about: about(field),
        });
        let element = resolve(document, &field["items"]);
        all.extend(fields(document, element, &format!("{within}{name}[].")));
    }
    all
}

/// What a field stands for, and the values that it can have, when there are few.
fn about(field: &Value) -> views::Said {
    let values = elements(&field["enum"]).filter(|it| it.is_string());
    let values: Vec<String> = values.map(|it| format!("`{}`", text(it))).collect();
    let said = one_line(&text(&field["description"]));
    views::Said::in_markdown(&match values.as_slice() {
        [] => said,
        values => format!("{said} {}.", values.join(", ")),
    })
}

/// A command line that does it, with the names of the examples.
fn example(document: &Value, path: &str, it: &Value, body: &Value) -> views::Example {
    let server = text(at(document, "/servers/0/url"));
    let mut path = path.to_owned();
    let success = members(&it["responses"]).find(|(status, _)| status.starts_with('2'));
    let answer = success.map(|(_, answer)| at(answer, "/content/application~1json/example"));
    let answer = answer.unwrap_or(&Value::Null);
    for name in ["id", "number", "order_number"] {
        if let Some(value) = answer[name].as_str() {
            path = path.replace(&format!("{{{}}}", name.trim_start_matches("order_")), value);
        }
    }
    let mut call = format!("curl '{server}{path}' -H 'Authorization: Bearer demo'");
    if !body.is_null() {
        let key = elements(&it["parameters"]).find(|it| it["in"] == "header");
        let key = key.map(|key| text(&key["example"])).unwrap_or_default();
        call += " \\\n  -H 'Content-Type: application/json' \\\n";
        call += "  -H 'Idempotency-Key: ";
        call += &key;
        call += "' \\\n  -d '";
        call += &body["example"].to_string();
        call += "'";
    }
    views::Example {
        call,
        answer: serde_json::to_string_pretty(answer).unwrap_or_default(),
    }
}

fn resolve<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str().and_then(|it| it.strip_prefix('#')) {
        Some(pointer) => document.pointer(pointer).unwrap_or(&Value::Null),
        None => schema,
    }
}

/// What a JSON pointer leads to; null when there is nothing.
fn at<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

fn paragraphs(value: &Value) -> Vec<views::Said> {
    let text = text(value);
    let paragraphs = text.split("\n\n").map(one_line);
    let paragraphs = paragraphs.filter(|it| !it.is_empty());
    paragraphs.map(|it| views::Said::in_markdown(&it)).collect()
}

fn said(value: &Value) -> views::Said {
    views::Said::in_markdown(&one_line(&text(value)))
}

fn one_line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(name, value)| (name.as_str(), value))
}

fn elements(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
