//! Updates: what a request changes about an object, and how it was before.
//!
//! An absent parameter leaves its field alone and an empty one makes it null. Metadata is merged: an empty value
//! removes its key, an empty `metadata` all of them. The event that tells of the update carries
//! `previous_attributes`: the changed fields only, with their old values.

use serde_json::{Map, Value, json};

use super::{
    error::ApiError,
    objects,
    params::{Change, Params, check_metadata},
};

/// What a request says about the fields of an object.
#[derive(Debug, Default)]
pub(super) struct Changes {
    fields: Map<String, Value>,
    metadata: Change<Map<String, Value>>,
}

impl Changes {
    /// Takes `metadata`, and the plain texts of these names.
    pub(super) fn parse(params: &mut Params, names: &[&str]) -> Result<Self, ApiError> {
        let mut changes = Self {
            metadata: params.metadata_change()?,
            ..Self::default()
        };
        changes.texts(params, names)?;
        Ok(changes)
    }

    /// Takes plain texts that are fields of the same names.
    pub(super) fn texts(&mut self, params: &mut Params, names: &[&str]) -> Result<(), ApiError> {
        for name in names {
            self.field(name, params.text_change(name)?);
        }
        Ok(())
    }

    pub(super) fn field(&mut self, name: &str, change: Change<impl Into<Value>>) {
        let value = match change {
            Change::Keep => return,
            Change::Unset => Value::Null,
            Change::Set(value) => value.into(),
        };
        self.fields.insert(name.to_owned(), value);
    }

    /// Changes the fields of `object`.
    pub(super) fn apply(self, object: &mut Value) -> Result<(), ApiError> {
        for (field, value) in self.fields {
            objects::set(object, &field, value);
        }
        let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
        metadata.map_or(Ok(()), |metadata| merge_metadata(metadata, self.metadata))
    }
}

/// Merges what a request says about metadata into what is there.
pub(super) fn merge_metadata(
    metadata: &mut Map<String, Value>,
    change: Change<Map<String, Value>>,
) -> Result<(), ApiError> {
    match change {
        Change::Keep => {}
        Change::Unset => metadata.clear(),
        Change::Set(entries) => {
            metadata.extend(entries);
            metadata.retain(|_, value| !value.is_null());
        }
    }
    check_metadata(metadata).map_err(ApiError::executed)
}

/// `previous_attributes`: what differs, as it was. `None` when nothing does. Hashes are compared field by field,
/// lists as a whole; a field that is new was null.
pub(super) fn previous_attributes(before: &Value, after: &Value) -> Option<Value> {
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return (before != after).then(|| before.clone());
    };
    let mut previous = Map::new();
    for name in before.keys().chain(after.keys()) {
        let field = |of: &Map<String, Value>| of.get(name).cloned().unwrap_or_default();
        if let Some(was) = previous_attributes(&field(before), &field(after)) {
            previous.insert(name.clone(), was);
        }
    }
    (!previous.is_empty()).then_some(json!(previous))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::previous_attributes;

    #[test]
    fn previous_attributes_are_the_changed_fields_as_they_were() {
        let before =
            json!({ "name": "A", "email": "a@b", "metadata": { "k": "1", "l": "2" }, "list": [1] });
        let after = json!({ "name": null, "email": "a@b", "metadata": { "k": "1", "m": "3" }, "list": [1, 2] });
        let previous = json!({ "name": "A", "metadata": { "l": "2", "m": null }, "list": [1] });
        assert_eq!(previous_attributes(&before, &after), Some(previous));
        assert_eq!(previous_attributes(&before, &before), None);
    }
}
