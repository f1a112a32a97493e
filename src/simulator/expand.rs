//! `expand[]=latest_charge`: the object in place of its id.
//!
//! A path may go on inside what it expanded (`latest_charge.balance_transaction`), and in a list it begins with
//! `data`: <https://docs.stripe.com/api/expanding_objects>.

use serde_json::Value;
use sqlx::SqliteConnection;

use super::{
    error::ApiError,
    form::shortened,
    lists::{Filter, Page},
    objects,
    operations::Shape::{self, List, One},
    params::Params,
};

/// As deep as a path may go, as at Stripe.
const MAX_DEPTH: usize = 4;

/// What an object of the first kind has in the field: the id of another one, or nothing to be seen, where a list
/// can be. Of a list it shows those that name the object in a field called as its kind.
#[rustfmt::skip]
const REFERENCES: &[(&str, &str, Shape)] = &[
    ("balance_transaction", "source", One("charge")),
    ("charge", "balance_transaction", One("balance_transaction")),
    ("charge", "customer", One("customer")),
    ("charge", "payment_intent", One("payment_intent")),
    ("charge", "refunds", List("refund")),
    ("customer", "invoice_settings", One("invoice_settings")),
    ("dispute", "charge", One("charge")),
    ("dispute", "payment_intent", One("payment_intent")),
    ("invoice_settings", "default_payment_method", One("payment_method")),
    ("payment_intent", "customer", One("customer")),
    ("payment_intent", "latest_charge", One("charge")),
    ("payment_intent", "payment_method", One("payment_method")),
    ("payment_method", "customer", One("customer")),
    ("refund", "balance_transaction", One("balance_transaction")),
    ("refund", "charge", One("charge")),
    ("refund", "failure_balance_transaction", One("balance_transaction")),
    ("refund", "payment_intent", One("payment_intent")),
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
    let end = path.split('.').try_fold(shape, follow);
    path.split('.').count() <= MAX_DEPTH && path != "data" && end.is_some()
}

/// Where a field leads: from a list through `data` to its objects, from an object to what it refers to.
fn follow(shape: Shape, field: &str) -> Option<Shape> {
    match shape {
        List(kind) => (field == "data").then_some(One(kind)),
        One(kind) => {
            let reference = REFERENCES
                .iter()
                .find(|(from, name, _)| *from == kind && *name == field);
            reference.map(|(.., to)| *to)
        }
    }
}

/// Expands an answer of this shape. `data.latest_charge` reaches into every object of a list.
pub(super) async fn apply(
    tx: &mut SqliteConnection,
    answer: &mut Value,
    shape: Shape,
    paths: &[String],
) -> Result<(), ApiError> {
    for path in paths {
        expand(tx, answer, shape, path).await?;
    }
    Ok(())
}

/// Walks along the path, replacing ids on the way. A field that is null or expanded already stays as it is.
async fn expand(
    tx: &mut SqliteConnection,
    answer: &mut Value,
    mut shape: Shape,
    path: &str,
) -> Result<(), ApiError> {
    let mut reached = vec![answer];
    for field in path.split('.') {
        let Some(next) = follow(shape, field) else {
            return Ok(());
        };
        let mut inner = Vec::new();
        for object in reached {
            if let One(kind) = shape {
                fill(tx, object, kind, field, next).await?;
            }
            match object.get_mut(field) {
                Some(Value::Array(objects)) => inner.extend(objects),
                Some(object) => inner.push(object),
                None => {}
            }
        }
        reached = inner;
        shape = next;
    }
    Ok(())
}

/// Puts into the field of one object what belongs there.
async fn fill(
    tx: &mut SqliteConnection,
    object: &mut Value,
    kind: &str,
    field: &str,
    with: Shape,
) -> Result<(), ApiError> {
    let text = |field: &str| object.get(field).and_then(Value::as_str);
    let found = match with {
        One(_) => match text(field) {
            Some(id) => objects::find_any(tx, id).await?,
            None => None,
        },
        List(of) => match (text("id"), object.get(field)) {
            (Some(id), None) => Some(list(tx, kind, id, field, of).await?),
            _ => None,
        },
    };
    if let Some(found) = found {
        objects::set(object, field, found);
    }
    Ok(())
}

/// The newest objects that name the one whose id is given, with the URL where the rest is.
async fn list(
    tx: &mut SqliteConnection,
    kind: &str,
    id: &str,
    field: &str,
    of: &str,
) -> Result<Value, ApiError> {
    let url = format!("/v1/{kind}s/{id}/{field}");
    let filter = Filter::new(kind, id.to_owned());
    Page::default().fetch(tx, of, &url, &[filter]).await
}

#[cfg(test)]
mod tests {
    use super::{Shape, can_expand};

    #[test]
    fn a_path_leads_from_reference_to_reference() {
        let intent = Shape::One("payment_intent");
        assert!(can_expand("latest_charge", intent));
        assert!(can_expand("latest_charge.balance_transaction", intent));
        assert!(can_expand("latest_charge.refunds.data.charge", intent));
        for path in [
            "",
            "status",
            "latest_charge.status",
            "balance_transaction",
            "data",
            "data.latest_charge",
            "latest_charge.refunds.charge",
            "latest_charge.payment_intent.latest_charge.payment_intent.customer",
        ] {
            assert!(!can_expand(path, intent), "{path}");
        }
        let list = Shape::List("payment_intent");
        assert!(can_expand("data.latest_charge.customer", list));
        assert!(!can_expand("latest_charge", list));
    }
}
