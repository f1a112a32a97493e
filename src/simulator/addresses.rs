//! Addresses: of customers, their parcels, their cards, and by e-mail. What was not given is shown as null.

use serde_json::{Map, Value, json};

use super::{
    error::ApiError,
    form::shortened,
    params::{Change, Params},
};

const FIELDS: [&str; 6] = ["city", "country", "line1", "line2", "postal_code", "state"];

/// `shipping`: where a parcel goes. It is replaced as a whole.
pub(super) fn shipping(params: &mut Params) -> Result<Change<Value>, ApiError> {
    let mut given = match params.hash_change("shipping")? {
        Change::Keep => return Ok(Change::Keep),
        Change::Unset => return Ok(Change::Unset),
        Change::Set(given) => given,
    };
    let Change::Set(address) = parse(&mut given, "address")? else {
        return Err(given.missing("address"));
    };
    let shipping = json!({
        "address": address,
        "carrier": given.text("carrier")?,
        "name": given.required_text("name")?,
        "phone": given.text("phone")?,
        "tracking_number": given.text("tracking_number")?,
    });
    given.finish()?;
    Ok(Change::Set(shipping))
}

/// Takes the hash of this name. An address is replaced as a whole.
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

/// An address of e-mail. It has something on both sides of an @; more is for its server to say.
pub(super) fn email(params: &mut Params, name: &str) -> Result<Change<String>, ApiError> {
    let change = params.text_change(name)?;
    if let Change::Set(address) = &change {
        let is_plausible = address
            .split_once('@')
            .is_some_and(|(who, host)| !who.is_empty() && host.contains('.'))
            && !address.contains(char::is_whitespace);
        if !is_plausible {
            let message = format!("Invalid email address: {}", shortened(address));
            return Err(ApiError::invalid(message).code("email_invalid").param(name));
        }
    }
    Ok(change)
}
