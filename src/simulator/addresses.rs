//! Postal addresses: of customers, their parcels and their cards.

use serde_json::{Map, Value, json};

use super::{
    error::ApiError,
    params::{Change, Params},
};

const FIELDS: [&str; 6] = ["city", "country", "line1", "line2", "postal_code", "state"];

/// Takes the hash of this name. An address is replaced as a whole: what is not given is null.
pub(super) fn parse(params: &mut Params, name: &str) -> Result<Change<Value>, ApiError> {
    let mut given = match params.hash_change(name)? {
        Change::Keep => return Ok(Change::Keep),
        Change::Unset => return Ok(Change::Unset),
        Change::Set(given) => given,
    };
    let mut address = Map::new();
    for field in FIELDS {
        address.insert(field.to_owned(), json!(given.text(field)?));
    }
    given.finish()?;
    Ok(Change::Set(Value::Object(address)))
}

/// An address that nobody asked for.
pub(super) fn unknown() -> Value {
    let nulls = FIELDS.map(|field| (field.to_owned(), Value::Null));
    Value::Object(Map::from_iter(nulls))
}
