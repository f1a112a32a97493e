//! Storing and finding API objects, whatever their kind.
//!
//! An object is one JSON document, kept exactly as the API shows it; see the `objects` table. Modules of one
//! kind (payment intents, charges, …) give the document a type; here it is only text with an id.

use serde::Serialize;
use serde_json::{Value, json};
use sqlx::SqliteConnection;

use super::{error::ApiError, transaction::Tx};

/// Stores a new object.
pub(super) fn insert(tx: &mut Tx, object: &impl Serialize) -> Result<(), ApiError> {
    insert_with_alias(tx, object, None)
}

/// Stores a new object that was made from a test alias, such as `pm_card_visa`.
pub(super) fn insert_with_alias(
    tx: &mut Tx,
    object: &impl Serialize,
    alias: Option<&str>,
) -> Result<(), ApiError> {
    tx.write("insert into objects (body, alias) values (?, ?)")
        .bind(serde_json::to_string(object)?)
        .bind(alias);
    Ok(())
}

/// Overwrites an object with its new state.
pub(super) fn update(tx: &mut Tx, id: &str, object: &impl Serialize) -> Result<(), ApiError> {
    tx.write("update objects set body = ? where id = ?")
        .bind(serde_json::to_string(object)?)
        .bind(id);
    Ok(())
}

/// The id of an object that has no type here.
pub(super) fn id(object: &Value) -> &str {
    object.get("id").and_then(Value::as_str).unwrap_or_default()
}

/// Forgets an object, and everything that belongs to it alone.
pub(super) async fn forget(tx: &mut SqliteConnection, id: &str) -> Result<(), ApiError> {
    sqlx::query("delete from objects where id = $1")
        .bind(id)
        .execute(tx)
        .await?;
    Ok(())
}

/// Sets a field of an object that has no type here.
pub(super) fn set(object: &mut Value, field: &str, value: Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(field.to_owned(), value);
    }
}

/// The object whose id is in the path, or 404.
pub(super) async fn in_path(
    tx: &mut SqliteConnection,
    kind: &str,
    id: &str,
) -> Result<Value, ApiError> {
    let found = find(tx, kind, id).await?;
    found.ok_or_else(|| ApiError::missing(kind, id, "id").not_found())
}

/// The object whose id a parameter gives, or 400.
pub(super) async fn in_param(
    tx: &mut SqliteConnection,
    kind: &str,
    id: &str,
    param: &str,
) -> Result<Value, ApiError> {
    let found = find(tx, kind, id).await?;
    found.ok_or_else(|| ApiError::missing(kind, id, param))
}

/// The object with this id, if it is of this kind and was not deleted.
pub(super) async fn find(
    tx: &mut SqliteConnection,
    kind: &str,
    id: &str,
) -> Result<Option<Value>, ApiError> {
    let body: Option<String> =
        sqlx::query_scalar("select body from objects where id = $1 and kind = $2 and deleted = 0")
            .bind(id)
            .bind(kind)
            .fetch_optional(tx)
            .await?;
    Ok(body.map(|body| serde_json::from_str(&body)).transpose()?)
}

/// The object with this id, of any kind, such as `expand[]` puts in the id's place. Of a deleted one nothing is left
/// to see but that it is deleted.
pub(super) async fn find_any(
    tx: &mut SqliteConnection,
    id: &str,
) -> Result<Option<Value>, ApiError> {
    let row: Option<(String, bool, String)> =
        sqlx::query_as("select kind, deleted, body from objects where id = $1")
            .bind(id)
            .fetch_optional(tx)
            .await?;
    Ok(match row {
        Some((kind, true, _)) => Some(deleted(&kind, id)),
        Some((.., body)) => Some(serde_json::from_str(&body)?),
        None => None,
    })
}

/// What is left of an object of this kind, if it was deleted.
pub(super) async fn find_deleted(
    tx: &mut SqliteConnection,
    kind: &str,
    id: &str,
) -> Result<Option<Value>, ApiError> {
    let is_deleted: bool = sqlx::query_scalar(
        "select exists (select 1 from objects where id = $1 and kind = $2 and deleted = 1)",
    )
    .bind(id)
    .bind(kind)
    .fetch_one(tx)
    .await?;
    Ok(is_deleted.then(|| deleted(kind, id)))
}

/// Deletes an object, and returns what is left of it.
pub(super) async fn delete(
    tx: &mut SqliteConnection,
    kind: &str,
    id: &str,
) -> Result<Value, ApiError> {
    sqlx::query("update objects set deleted = 1 where id = $1 and kind = $2")
        .bind(id)
        .bind(kind)
        .execute(tx)
        .await?;
    Ok(deleted(kind, id))
}

fn deleted(kind: &str, id: &str) -> Value {
    json!({ "id": id, "object": kind, "deleted": true })
}
