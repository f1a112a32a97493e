//! `expand[]=latest_charge`: the object in place of its id.

use serde_json::Value;
use sqlx::SqliteConnection;

use super::{error::ApiError, form::shortened, objects, operations::Operation, params::Params};

/// Takes `expand[]` out of the parameters, refusing what `operation` cannot expand.
pub(super) fn parse(params: &mut Params, operation: &Operation) -> Result<Vec<String>, ApiError> {
    let paths = params.list("expand")?;
    match paths
        .iter()
        .find(|path| !operation.expandable().contains(&path.as_str()))
    {
        None => Ok(paths),
        Some(path) => {
            let message = format!("This property cannot be expanded ({}).", shortened(path));
            Err(ApiError::invalid(message).param("expand"))
        }
    }
}

/// Expands an answer. `data.latest_charge` reaches into every object of a list.
pub(super) async fn apply(
    tx: &mut SqliteConnection,
    answer: &mut Value,
    paths: &[String],
) -> Result<(), ApiError> {
    for path in paths {
        match path.strip_prefix("data.") {
            None => expand(tx, answer, path).await?,
            Some(field) => {
                for object in answer
                    .get_mut("data")
                    .and_then(Value::as_array_mut)
                    .into_iter()
                    .flatten()
                {
                    expand(tx, object, field).await?;
                }
            }
        }
    }
    Ok(())
}

async fn expand(
    tx: &mut SqliteConnection,
    object: &mut Value,
    field: &str,
) -> Result<(), ApiError> {
    let Some(id) = object.get(field).and_then(Value::as_str) else {
        return Ok(());
    };
    if let Some(found) = objects::find_any(tx, id).await? {
        objects::set(object, field, found);
    }
    Ok(())
}
