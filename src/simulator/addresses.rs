//! Postal addresses, and where goods go: what was not given is shown as null.

use serde_json::{Value, json};

use super::{error::ApiError, params::Params};

/// `shipping`. `None` when the parameter is absent or unset.
pub(super) fn shipping(params: &mut Params) -> Result<Option<Value>, ApiError> {
    let Some(mut given) = params.hash("shipping")? else {
        return Ok(None);
    };
    let shipping = json!({
        "address": address(&mut given)?.ok_or_else(|| given.missing("address"))?,
        "carrier": given.text("carrier")?,
        "name": given.required_text("name")?,
        "phone": given.text("phone")?,
        "tracking_number": given.text("tracking_number")?,
    });
    given.finish()?;
    Ok(Some(shipping))
}

/// `address`. `None` when the parameter is absent or unset.
pub(super) fn address(params: &mut Params) -> Result<Option<Value>, ApiError> {
    let Some(mut given) = params.hash("address")? else {
        return Ok(None);
    };
    let address = json!({
        "city": given.text("city")?,
        "country": given.text("country")?,
        "line1": given.text("line1")?,
        "line2": given.text("line2")?,
        "postal_code": given.text("postal_code")?,
        "state": given.text("state")?,
    });
    given.finish()?;
    Ok(Some(address))
}
