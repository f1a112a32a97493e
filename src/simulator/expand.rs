//! `expand[]=latest_charge`: the object in place of its id.
//!
//! A path may go on inside what it expanded (`latest_charge.balance_transaction`), and in a list it begins with
//! `data`: <https://docs.stripe.com/api/expanding_objects>.

use serde_json::Value;
use sqlx::SqliteConnection;

use super::{error::ApiError, form::shortened, objects, operations::Shape, params::Params};

/// As deep as a path may go, as at Stripe.
const MAX_DEPTH: usize = 4;

/// In an object of the first kind this field holds the id of an object of the second.
const REFERENCES: &[(&str, &str, &str)] = &[
    ("charge", "balance_transaction", "balance_transaction"),
    ("charge", "customer", "customer"),
    ("charge", "payment_intent", "payment_intent"),
    ("payment_intent", "customer", "customer"),
    ("payment_intent", "latest_charge", "charge"),
    ("payment_intent", "payment_method", "payment_method"),
    ("payment_method", "customer", "customer"),
];

/// Takes `expand[]` out of the parameters, refusing what an answer of this shape cannot expand.
pub(super) fn parse(params: &mut Params, shape: Shape) -> Result<Vec<String>, ApiError> {
    let paths = params.list("expand")?;
    for path in &paths {
        if !can_expand(path, shape) {
            let message = format!("This property cannot be expanded ({}).", shortened(path));
            return Err(ApiError::invalid(message).param("expand"));
        }
    }
    Ok(paths)
}

fn can_expand(path: &str, shape: Shape) -> bool {
    if path.split('.').count() > MAX_DEPTH {
        return false;
    }
    let (kind, path) = match shape {
        Shape::One(kind) => (kind, Some(path)),
        Shape::List(kind) => (kind, path.strip_prefix("data.")),
    };
    let end = path.and_then(|path| {
        path.split('.').try_fold(kind, |kind, field| {
            let reference = REFERENCES
                .iter()
                .find(|(from, name, _)| *from == kind && *name == field);
            reference.map(|(.., to)| *to)
        })
    });
    end.is_some()
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
            Some(path) => {
                let objects = answer.get_mut("data").and_then(Value::as_array_mut);
                for object in objects.into_iter().flatten() {
                    expand(tx, object, path).await?;
                }
            }
        }
    }
    Ok(())
}

/// A field that is null or expanded already stays as it is.
async fn expand(
    tx: &mut SqliteConnection,
    mut object: &mut Value,
    path: &str,
) -> Result<(), ApiError> {
    for field in path.split('.') {
        if let Some(id) = object.get(field).and_then(Value::as_str)
            && let Some(found) = objects::find_any(tx, id).await?
        {
            objects::set(object, field, found);
        }
        let Some(inner) = object.get_mut(field) else {
            return Ok(());
        };
        object = inner;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Shape, can_expand};

    #[test]
    fn a_path_leads_from_reference_to_reference() {
        let intent = Shape::One("payment_intent");
        assert!(can_expand("latest_charge", intent));
        assert!(can_expand("latest_charge.balance_transaction", intent));
        for path in [
            "",
            "status",
            "latest_charge.status",
            "balance_transaction",
            "data.latest_charge",
            "latest_charge.payment_intent.latest_charge.payment_intent.customer",
        ] {
            assert!(!can_expand(path, intent), "{path}");
        }
        let list = Shape::List("payment_intent");
        assert!(can_expand("data.latest_charge.customer", list));
        assert!(!can_expand("latest_charge", list));
    }
}
