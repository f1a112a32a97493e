//! What a request says: its key, what its address names, and its body. What cannot be used is refused here.

use std::{fmt, marker::PhantomData, str::FromStr};

use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Path, Request},
    http::{HeaderMap, StatusCode, header, request::Parts},
    response::IntoResponse as _,
};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_path_to_error::{Path as JsonPath, Segment};

use super::{
    super::problem::{Invalid, Problem},
    kinds,
};
use crate::{app::App, checkout::IdempotencyKey};

/// The key that the client drew, in the header `Idempotency-Key`.
///
/// draft-ietf-httpapi-idempotency-key-header has it in quotes (a string of RFC 9651); as it is sent in most places, without
/// them, it is taken as well.
#[derive(Clone, Copy, Debug)]
pub struct Key(pub IdempotencyKey);

impl FromRequestParts<App> for Key {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        key(&parts.headers)
    }
}

fn key(headers: &HeaderMap) -> Result<Key, Problem> {
    let mut values = headers.get_all("idempotency-key").iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        let is_missing = !headers.contains_key("idempotency-key");
        let kind = if is_missing {
            kinds::KEY_MISSING
        } else {
            kinds::KEY_MALFORMED
        };
        return Err(kind.problem());
    };
    let key = value.to_str().ok().and_then(|text| text.parse().ok());
    key.map(Key).ok_or_else(|| kinds::KEY_MALFORMED.problem())
}

/// What the address names. What cannot be a name is the name of nothing.
#[derive(Clone, Debug)]
pub struct Named<T>(pub T);

impl<T: FromStr> FromRequestParts<App> for Named<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let name = Path::<String>::from_request_parts(parts, app).await.ok();
        let named = name.and_then(|Path(name)| name.parse().ok());
        named.map(Self).ok_or_else(|| kinds::NOT_FOUND.problem())
    }
}

/// The body: one JSON object, of which every field is known.
#[derive(Clone, Debug)]
pub struct Body<T>(pub T);

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let essence = kind.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/json") {
            return Err(kinds::NOT_JSON.problem());
        }
        let body = Bytes::from_request(request, app).await;
        let body = body.map_err(|rejection| match rejection.into_response().status() {
            StatusCode::PAYLOAD_TOO_LARGE => kinds::TOO_LARGE.problem(),
            _ => kinds::CUT_OFF.problem(),
        })?;
        parse(&body).map(Self)
    }
}

/// What is wrong with the shape of a body is told one thing at a time, each with its place.
fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let mut json = serde_json::Deserializer::from_slice(body);
    let parsed = serde_path_to_error::deserialize(&mut json).map_err(|error| Invalid {
        pointer: pointer(error.path()),
        detail: error.into_inner().to_string(),
    });
    let ended = |Object(parsed)| {
        json.end().map(|()| parsed).map_err(|error| Invalid {
            pointer: String::new(),
            detail: error.to_string(),
        })
    };
    parsed.and_then(ended).map_err(|error| invalid(vec![error]))
}

/// The body cannot be used, for these reasons.
pub fn invalid(errors: Vec<Invalid>) -> Problem {
    Problem {
        errors,
        ..kinds::INVALID.problem()
    }
}

fn pointer(path: &JsonPath) -> String {
    let segments = path.iter().map(|segment| match segment {
        Segment::Seq { index } => format!("/{index}"),
        Segment::Map { key } => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        Segment::Enum { .. } | Segment::Unknown => String::new(),
    });
    segments.collect()
}

/// A struct that is read from a JSON object alone. By itself serde takes the list of its fields' values for one as well, in
/// which nothing says what is what.
#[derive(Clone, Debug)]
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfMap<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for OfMap<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }

        deserializer.deserialize_map(OfMap(PhantomData)).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Two {
        a: i64,
        b: Option<Box<Three>>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Three {
        c: Vec<i64>,
    }

    #[test]
    fn a_body_says_where_it_is_wrong() {
        let read: Two = parse(br#" {"b": {"c": [1]}, "a": 1} "#).expect("a good one");
        assert_eq!(read.a, 1);
        for (body, pointer, said) in [
            (r#"{"a": "1"}"#, "/a", "invalid type: string"),
            (r#"{"a": 1.0}"#, "/a", "floating point"),
            (r#"{"a": 1, "b": {"c": [0, true]}}"#, "/b/c/1", "boolean"),
            (r#"{"a": 1, "x/y~": 2}"#, "/x~1y~0", "unknown field"),
            (r#"{"a": 1, "a": 2}"#, "", "duplicate field `a`"),
            ("{}", "", "missing field `a`"),
            ("[1, null]", "", "expected an object"),
            ("null", "", "expected an object"),
            (r#"{"a": 1} {}"#, "", "trailing"),
            (r#"{"a": 1"#, "", "EOF"),
            ("", "", "EOF"),
        ] {
            let problem = parse::<Two>(body.as_bytes()).expect_err(body);
            let error = &problem.errors[0];
            assert_eq!(error.pointer, pointer, "{body}");
            assert!(error.detail.contains(said), "{body}: {}", error.detail);
        }
    }

    #[test]
    fn a_key_is_there_once_and_is_a_uuid() {
        let uuid = "8e03978e-40d5-43dd-bc93-6894a57f9324";
        let read = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(
                    "idempotency-key",
                    HeaderValue::from_str(value).expect("a value"),
                );
            }
            key(&headers).map(|Key(key)| key.to_string())
        };
        for good in [uuid, &format!("\"{uuid}\""), &uuid.to_uppercase()] {
            assert_eq!(read(&[good]).expect("a key"), uuid);
        }
        for bad in [
            "",
            "\"\"",
            "1",
            "\"x",
            &format!("\"{uuid}"),
            &format!("'{uuid}'"),
            &format!("\"{uuid}\";a=1"),
            &format!("{uuid}, {uuid}"),
        ] {
            assert!(read(&[bad]).is_err(), "{bad}");
        }
        assert!(read(&[]).is_err());
        assert!(read(&[uuid, uuid]).is_err());
    }
}
