//! Reading a request's parameters, each exactly once.
//!
//! An operation *takes* the parameters it knows and then calls [`Params::finish`], which refuses whatever is
//! left: a misspelt parameter is an error, as at Stripe, not a silent default. An empty value means "unset".

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::{
    error::ApiError,
    form::{self, Branch, Tree, shortened},
};

const MAX_METADATA_KEYS: usize = 50;
const MAX_METADATA_NAME: usize = 40;
const MAX_METADATA_VALUE: usize = 500;

/// What a request says about a field.
#[derive(Clone, Debug, Default)]
pub(super) enum Change<T> {
    /// Nothing: the parameter is absent.
    #[default]
    Keep,
    /// That it has no value from now on: the parameter is empty.
    Unset,
    Set(T),
}

/// The parameters of a request that were not taken yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Params {
    branch: Branch,
    /// The name of the hash these are in: `automatic_payment_methods`.
    inside: Option<String>,
}

impl Params {
    pub(super) fn decode(encoded: &[u8]) -> Result<Self, ApiError> {
        let branch = form::decode(encoded).map_err(|error| ApiError::invalid(error.to_string()))?;
        Ok(Self {
            branch,
            inside: None,
        })
    }

    /// SHA-256 of the tree: the same for every order and spelling of the same parameters.
    pub(super) fn digest(&self) -> Result<String, ApiError> {
        Ok(hex::encode(Sha256::digest(serde_json::to_vec(
            &self.branch,
        )?)))
    }

    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, ApiError> {
        match self.branch.remove(name) {
            Some(Tree::Text(text)) => Ok(Some(text).filter(|text| !text.is_empty())),
            Some(Tree::Branch(_)) => {
                let name = self.full_name(name);
                Err(
                    ApiError::invalid(format!("Invalid string: {name} must not be a hash."))
                        .param(&name),
                )
            }
            None => Ok(None),
        }
    }

    pub(super) fn text_change(&mut self, name: &str) -> Result<Change<String>, ApiError> {
        let is_given = self.is_given(name);
        Ok(Change::new(is_given, self.text(name)?))
    }

    pub(super) fn required_text(&mut self, name: &str) -> Result<String, ApiError> {
        self.text(name)?.ok_or_else(|| self.missing(name))
    }

    pub(super) fn integer(&mut self, name: &str) -> Result<Option<i64>, ApiError> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let name = self.full_name(name);
        text.parse()
            .map(Some)
            .map_err(|_| invalid_integer(&name, &text))
    }

    pub(super) fn boolean(&mut self, name: &str) -> Result<Option<bool>, ApiError> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        text.parse().map(Some).map_err(|_| {
            let name = self.full_name(name);
            ApiError::invalid(format!("Invalid boolean: {}", shortened(&text))).param(&name)
        })
    }

    /// One word of a closed set.
    pub(super) fn one_of(
        &mut self,
        name: &str,
        words: &[&str],
    ) -> Result<Option<String>, ApiError> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        if words.contains(&text.as_str()) {
            return Ok(Some(text));
        }
        let (name, words) = (self.full_name(name), words.join(", "));
        Err(ApiError::invalid(format!("Invalid {name}: must be one of {words}")).param(&name))
    }

    /// A list of texts, in order of their indices.
    pub(super) fn list(&mut self, name: &str) -> Result<Vec<String>, ApiError> {
        let invalid = |name: &str| ApiError::invalid(format!("Invalid array: {name}")).param(name);
        let branch = match self.branch.remove(name) {
            None => return Ok(Vec::new()),
            Some(Tree::Text(text)) if text.is_empty() => return Ok(Vec::new()),
            Some(Tree::Text(_)) => return Err(invalid(&self.full_name(name))),
            Some(Tree::Branch(branch)) => branch,
        };
        let mut items = BTreeMap::new();
        for (index, item) in branch {
            match (index.parse::<u32>(), item) {
                (Ok(index), Tree::Text(text)) => items.insert(index, text),
                _ => return Err(invalid(&self.full_name(name))),
            };
        }
        Ok(items.into_values().collect())
    }

    /// The parameters inside a hash, to be taken and finished in turn.
    pub(super) fn hash(&mut self, name: &str) -> Result<Option<Params>, ApiError> {
        match self.branch.remove(name) {
            None => Ok(None),
            Some(Tree::Text(text)) if text.is_empty() => Ok(None),
            Some(Tree::Branch(branch)) => Ok(Some(Self {
                branch,
                inside: Some(self.full_name(name)),
            })),
            Some(Tree::Text(_)) => {
                let name = self.full_name(name);
                Err(ApiError::invalid(format!("Invalid hash: {name}")).param(&name))
            }
        }
    }

    pub(super) fn hash_change(&mut self, name: &str) -> Result<Change<Params>, ApiError> {
        let is_given = self.is_given(name);
        Ok(Change::new(is_given, self.hash(name)?))
    }

    /// Whether the parameter was given, be it empty to unset what it names.
    pub(super) fn is_given(&self, name: &str) -> bool {
        self.branch.contains_key(name)
    }

    /// `name` if it is a plain value, else the hash of that name: `created=5` or `created[gte]=5`.
    pub(super) fn is_hash(&self, name: &str) -> bool {
        matches!(self.branch.get(name), Some(Tree::Branch(_)))
    }

    /// The metadata of something new, within Stripe's limits.
    pub(super) fn metadata(&mut self) -> Result<Map<String, Value>, ApiError> {
        let Change::Set(mut metadata) = self.metadata_change()? else {
            return Ok(Map::new());
        };
        metadata.retain(|_, value| !value.is_null());
        check_metadata(&metadata)?;
        Ok(metadata)
    }

    /// What an update says about metadata; a key that is to be removed is null.
    pub(super) fn metadata_change(&mut self) -> Result<Change<Map<String, Value>>, ApiError> {
        let entries = match self.hash_change("metadata")? {
            Change::Keep => return Ok(Change::Keep),
            Change::Unset => return Ok(Change::Unset),
            Change::Set(entries) => entries,
        };
        let mut metadata = Map::new();
        for (name, value) in entries.branch {
            let param = format!("metadata[{}]", shortened(&name));
            let Tree::Text(value) = value else {
                return Err(ApiError::invalid("Metadata values must be strings.").param(&param));
            };
            if name.chars().count() > MAX_METADATA_NAME {
                let message =
                    format!("Metadata keys can have up to {MAX_METADATA_NAME} characters.");
                return Err(ApiError::invalid(message).param("metadata"));
            }
            if value.chars().count() > MAX_METADATA_VALUE {
                let message =
                    format!("Metadata values can have up to {MAX_METADATA_VALUE} characters.");
                return Err(ApiError::invalid(message).param(&param));
            }
            metadata.insert(name, json!(Some(value).filter(|value| !value.is_empty())));
        }
        Ok(Change::Set(metadata))
    }

    /// The first of these parameters that is given, even if it is empty.
    pub(super) fn first_given(&self, names: &[&'static str]) -> Option<&'static str> {
        names.iter().copied().find(|name| self.is_given(name))
    }

    /// Refuses to unset what must have a value.
    pub(super) fn check_not_empty(&self, names: &[&str]) -> Result<(), ApiError> {
        let is_empty = |name: &&&str| matches!(self.branch.get(**name), Some(Tree::Text(text)) if text.is_empty());
        let Some(name) = names.iter().find(is_empty) else {
            return Ok(());
        };
        let name = self.full_name(name);
        let message = format!(
            "An empty value would unset {name}, which must have one. Leave it out to keep what it is."
        );
        Err(ApiError::invalid(message)
            .code("parameter_invalid_empty")
            .param(&name))
    }

    /// Refuses what nobody took.
    pub(super) fn finish(self) -> Result<(), ApiError> {
        let left: Vec<String> = self
            .branch
            .keys()
            .take(10)
            .map(|name| shortened(&self.full_name(name)))
            .collect();
        let (Some(first), names) = (left.first(), left.join(", ")) else {
            return Ok(());
        };
        let plural = if left.len() == 1 { "" } else { "s" };
        Err(
            ApiError::invalid(format!("Received unknown parameter{plural}: {names}"))
                .code("parameter_unknown")
                .param(first),
        )
    }

    pub(super) fn missing(&self, name: &str) -> ApiError {
        let name = self.full_name(name);
        ApiError::invalid(format!("Missing required param: {name}."))
            .code("parameter_missing")
            .param(&name)
    }

    fn full_name(&self, name: &str) -> String {
        match &self.inside {
            Some(hash) => format!("{hash}[{name}]"),
            None => name.to_owned(),
        }
    }
}

impl<T> Change<T> {
    fn new(is_given: bool, value: Option<T>) -> Self {
        match value {
            Some(value) => Change::Set(value),
            None if is_given => Change::Unset,
            None => Change::Keep,
        }
    }
}

/// Refuses more metadata than an object can have.
pub(super) fn check_metadata(metadata: &Map<String, Value>) -> Result<(), ApiError> {
    if metadata.len() > MAX_METADATA_KEYS {
        let message = format!("Metadata can have up to {MAX_METADATA_KEYS} keys.");
        return Err(ApiError::invalid(message).param("metadata"));
    }
    Ok(())
}

pub(super) fn invalid_integer(param: &str, value: &str) -> ApiError {
    ApiError::invalid(format!("Invalid integer: {}", shortened(value)))
        .code("parameter_invalid_integer")
        .param(param)
}
