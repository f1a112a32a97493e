//! What an intent says about the payment besides how much and with what: the parameters that create, update and
//! confirm share.

use crate::simulator::{
    addresses,
    changes::Changes,
    error::ApiError,
    params::{Change, Params},
};

/// Characters that no bank prints on a statement.
const NOT_ON_A_STATEMENT: [char; 6] = ['<', '>', '\\', '\'', '"', '*'];

const MAX_DESCRIPTOR: usize = 22;

/// All of them, for create and update.
pub(super) fn parse(params: &mut Params) -> Result<Changes, ApiError> {
    let mut details = Changes::parse(params, &["description"])?;
    // On its own the descriptor is all the customer sees; a suffix follows the name of the account.
    for (name, shortest) in [
        ("statement_descriptor", 5),
        ("statement_descriptor_suffix", 1),
    ] {
        details.field(name, descriptor(params, name, shortest)?);
    }
    take(&mut details, params)?;
    Ok(details)
}

/// Those that a confirm may still set.
pub(super) fn parse_at_confirm(params: &mut Params) -> Result<Changes, ApiError> {
    let mut details = Changes::default();
    take(&mut details, params)?;
    Ok(details)
}

fn take(details: &mut Changes, params: &mut Params) -> Result<(), ApiError> {
    details.field("receipt_email", addresses::email(params, "receipt_email")?);
    details.field("setup_future_usage", future_usage(params)?);
    details.field("shipping", addresses::shipping(params)?);
    Ok(())
}

fn future_usage(params: &mut Params) -> Result<Change<String>, ApiError> {
    let name = "setup_future_usage";
    match params.text_change(name)? {
        Change::Set(text) if !["off_session", "on_session"].contains(&text.as_str()) => {
            let message = format!("Invalid {name}: must be one of off_session, on_session");
            Err(ApiError::invalid(message).param(name))
        }
        change => Ok(change),
    }
}

/// A text for the customer's statement: what banks can print.
pub(super) fn descriptor(
    params: &mut Params,
    name: &str,
    shortest: usize,
) -> Result<Change<String>, ApiError> {
    let change = params.text_change(name)?;
    let Change::Set(text) = &change else {
        return Ok(change);
    };
    let length = text.chars().count();
    let fault = if !(shortest..=MAX_DESCRIPTOR).contains(&length) {
        format!("must have between {shortest} and {MAX_DESCRIPTOR} characters")
    } else if text.contains(NOT_ON_A_STATEMENT) {
        "cannot contain any of < > \\ ' \" *".to_owned()
    } else if !text.contains(|letter: char| letter.is_ascii_alphabetic()) {
        "must contain at least one Latin letter".to_owned()
    } else {
        return Ok(change);
    };
    Err(ApiError::invalid(format!("The {name} {fault}.")).param(name))
}
