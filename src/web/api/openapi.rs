//! The API, described for programs: `OpenAPI` 3.1, made from the handlers, their types, and the kinds of problems.

use axum::{Json, extract::State};
use serde_json::json;
use utoipa::{
    IntoParams, Modify, OpenApi as _,
    openapi::{
        ContentBuilder, HeaderBuilder, OpenApi, Ref, Response, ResponseBuilder, Server,
        example::ExampleBuilder,
        path::{Operation, Parameter, ParameterBuilder, ParameterIn},
        schema::{ObjectBuilder, Type},
        security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};

use super::{
    super::problem::Problem,
    checkouts,
    kinds::{self, Kind},
    orders, refunds,
    request::Key,
};
use crate::app::App;

/// `GET /api/v1/openapi.json`. It is no secret.
pub async fn serve(State(app): State<App>) -> Json<OpenApi> {
    Json(document(app.till.links.shop()))
}

/// The document, for a shop at `public_url`.
pub fn document(public_url: &str) -> OpenApi {
    let mut document = Document::openapi();
    document.servers = Some(vec![Server::new(public_url)]);
    document
}

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "The Boring Shop",
        version = "1",
        description = "Buy, look, and give money back. Each request that does something carries a key, and is done once however \
                       often it arrives.\n\nAmounts are in minor units (cents), times are RFC 3339 in UTC. What belongs to \
                       another API key is not found. Errors are problem documents (RFC 9457), each of a kind.",
        license(name = "MIT"),
    ),
    paths(checkouts::create, checkouts::show, orders::show, refunds::create, refunds::show),
    components(schemas(Problem)),
    modifiers(&Bearer, &Problems),
    security(("api_key" = [])),
    tags(
        (name = "Checkouts", description = "One wish to buy something, until it is decided."),
        (name = "Orders", description = "What became of those that were paid."),
        (name = "Refunds", description = "Money that goes back."),
    ),
)]
struct Document;

/// How a client says who it is.
struct Bearer;

impl Modify for Bearer {
    fn modify(&self, document: &mut OpenApi) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("An API key of the shop."))
            .build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("api_key", SecurityScheme::Http(scheme));
    }
}

/// What can go wrong, and where. Each operation besides answers 405 to other methods.
const PROBLEMS: [(&str, &[&Kind]); 5] = [
    (
        "createCheckout",
        &[
            &kinds::KEY_MISSING,
            &kinds::KEY_MALFORMED,
            &kinds::CUT_OFF,
            &kinds::IN_PROGRESS,
            &kinds::TOTAL_CHANGED,
            &kinds::OUT_OF_STOCK,
            &kinds::TOO_LARGE,
            &kinds::NOT_JSON,
            &kinds::INVALID,
            &kinds::KEY_REUSED,
        ],
    ),
    ("getCheckout", &[&kinds::NOT_FOUND]),
    ("getOrder", &[&kinds::NOT_FOUND]),
    (
        "createRefund",
        &[
            &kinds::KEY_MISSING,
            &kinds::KEY_MALFORMED,
            &kinds::CUT_OFF,
            &kinds::NOT_FOUND,
            &kinds::IN_PROGRESS,
            &kinds::TOO_LARGE,
            &kinds::NOT_JSON,
            &kinds::INVALID,
            &kinds::KEY_REUSED,
            &kinds::MORE_THAN_LEFT,
        ],
    ),
    ("getRefund", &[&kinds::NOT_FOUND]),
];

/// Wherever else it went wrong.
const ANYWHERE: [&Kind; 3] = [&kinds::UNAUTHORIZED, &kinds::INTERNAL, &kinds::BUSY];

struct Problems;

impl Modify for Problems {
    fn modify(&self, document: &mut OpenApi) {
        for path in document.paths.paths.values_mut() {
            for operation in [&mut path.get, &mut path.post].into_iter().flatten() {
                add_problems(operation);
            }
        }
    }
}

fn add_problems(operation: &mut Operation) {
    let id = operation.operation_id.as_deref().unwrap_or_default();
    let own = PROBLEMS.iter().filter(|(of, _)| *of == id);
    let own = own.flat_map(|(_, kinds)| kinds.iter().copied());
    let all: Vec<&Kind> = own.chain(ANYWHERE).collect();
    for kind in &all {
        let same = all.iter().filter(|other| other.status == kind.status);
        let response = response(&same.copied().collect::<Vec<_>>());
        let responses = &mut operation.responses.responses;
        responses.insert(kind.status.as_str().to_owned(), response.into());
    }
}

/// The answer to what is of one of these kinds, which share their status.
fn response(kinds: &[&Kind]) -> Response {
    let titles: Vec<_> = kinds
        .iter()
        .map(|kind| format!("{}.", kind.title))
        .collect();
    let examples = kinds.iter().map(|kind| {
        let value = json!({
            "type": kind.address(),
            "title": kind.title,
            "status": kind.status.as_u16(),
            "detail": kind.detail,
        });
        let example = ExampleBuilder::new().summary(kind.title).value(Some(value));
        (kind.slug, example.build())
    });
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name("Problem")))
        .examples_from_iter(examples)
        .build();
    let mut response = ResponseBuilder::new()
        .description(titles.join(" "))
        .content("application/problem+json", content);
    if kinds.iter().any(|kind| kind.retry_after.is_some()) {
        let seconds = HeaderBuilder::new()
            .schema(Some(ObjectBuilder::new().schema_type(Type::Integer)))
            .description(Some(
                "After how many seconds the same request may have another answer.",
            ));
        response = response.header("Retry-After", seconds.build());
    }
    response.build()
}

impl IntoParams for Key {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        const UUID: &str =
            "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}";
        let schema = ObjectBuilder::new()
            .schema_type(Type::String)
            .pattern(Some(format!("^(?![\"0-]*$)(\"{UUID}\"|{UUID})$")));
        let key = ParameterBuilder::new()
            .name("Idempotency-Key")
            .parameter_in(ParameterIn::Header)
            .required(utoipa::openapi::Required::True)
            .description(Some(
                "A UUID that you draw for this wish, in quotes or without. Keep it while the outcome is unknown.",
            ))
            .schema(Some(schema))
            .example(Some(json!("\"8e03978e-40d5-43dd-bc93-6894a57f9324\"")));
        vec![key.build()]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{
        cart::{LINES_MAX, QUANTITY_MAX},
        web::typed::{EMAIL_MAX, NAME_MAX},
    };

    #[test]
    fn its_bounds_are_those_that_are_enforced() {
        let document = serde_json::to_value(document("http://x")).expect("JSON");
        let schemas = &document["components"]["schemas"];
        let checkout = &schemas["NewCheckout"]["properties"];
        assert_eq!(checkout["email"]["maxLength"], EMAIL_MAX);
        assert_eq!(checkout["name"]["maxLength"], NAME_MAX);
        assert_eq!(checkout["items"]["maxItems"], LINES_MAX);
        let item = &schemas["NewItem"]["properties"];
        assert_eq!(item["quantity"]["maximum"], QUANTITY_MAX);
        for strict in ["NewCheckout", "NewItem", "NewRefund"] {
            assert_eq!(schemas[strict]["additionalProperties"], false, "{strict}");
        }
    }

    #[test]
    fn every_kind_of_problem_is_somewhere() {
        let own = PROBLEMS.iter().flat_map(|(_, kinds)| kinds.iter().copied());
        let told: BTreeSet<_> = own.chain(ANYWHERE).map(|kind| kind.slug).collect();
        let all: BTreeSet<_> = kinds::ALL.iter().map(|kind| kind.slug).collect();
        let of_no_operation = BTreeSet::from([kinds::WRONG_METHOD.slug]);
        assert_eq!(
            all.difference(&told).copied().collect::<BTreeSet<_>>(),
            of_no_operation
        );
    }
}
