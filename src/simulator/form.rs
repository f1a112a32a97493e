//! Form decoding: `a=1&metadata[order]=7&expand[]=x` becomes a tree.
//!
//! Every SDK nests with brackets but spells arrays differently: `expand[0]=x` in most, `expand[]=x` in curl
//! examples. Both become the same tree here, so the same request has the same digest in every spelling:
//!
//! ```text
//! metadata[order]=7      { metadata: { order: 7 } }
//! expand[]=a&expand[]=b  { expand: { 0: a, 1: b } }
//! ```
//!
//! Brackets may come literal or percent-encoded, spaces as `+` or `%20`; a percent sign that encodes nothing
//! stands for itself. Depth and count are bounded, since anybody can send a body.

use std::collections::BTreeMap;

use serde::Serialize;

/// No parameter of the API nests deeper than four.
const MAX_DEPTH: usize = 8;

/// Fifty metadata entries and every other parameter are fewer than a hundred.
const MAX_PARAMETERS: usize = 1000;

/// A decoded parameter. A list is a branch whose names are numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(super) enum Tree {
    Text(String),
    Branch(Branch),
}

pub(super) type Branch = BTreeMap<String, Tree>;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum FormError {
    #[error("Too many parameters: at most {MAX_PARAMETERS} are accepted.")]
    TooMany,
    #[error("The parameter {0} is nested too deeply.")]
    TooDeep(String),
    #[error("The parameter {0} is given both as a value and as a hash.")]
    Conflict(String),
}

/// Decodes a body or a query string.
pub(super) fn decode(encoded: &[u8]) -> Result<Branch, FormError> {
    let mut root = Branch::new();
    for (count, (name, value)) in url::form_urlencoded::parse(encoded).enumerate() {
        if count == MAX_PARAMETERS {
            return Err(FormError::TooMany);
        }
        let path = segments(&name);
        if path.len() > MAX_DEPTH {
            return Err(FormError::TooDeep(shortened(&name)));
        }
        insert(&mut root, &path, value.into_owned())
            .ok_or_else(|| FormError::Conflict(shortened(&name)))?;
    }
    Ok(root)
}

/// `metadata[a][b]` → `metadata`, `a`, `b`. A name with unbalanced brackets is one plain name, which no
/// operation knows.
fn segments(name: &str) -> Vec<&str> {
    let Some((root, rest)) = name.split_once('[') else {
        return vec![name];
    };
    let Some(inner) = rest.strip_suffix(']') else {
        return vec![name];
    };
    let mut segments = vec![root];
    segments.extend(inner.split("]["));
    if root.is_empty()
        || segments
            .iter()
            .skip(1)
            .any(|segment| segment.contains(['[', ']']))
    {
        return vec![name];
    }
    segments
}

/// `None` when a value and a hash claim the same name. Of two values for one name the last one counts.
fn insert(branch: &mut Branch, path: &[&str], value: String) -> Option<()> {
    let (first, rest) = path.split_first()?;
    let name = if first.is_empty() {
        next_index(branch)
    } else {
        (*first).to_owned()
    };
    if rest.is_empty() {
        let before = branch.insert(name, Tree::Text(value));
        return (!matches!(before, Some(Tree::Branch(_)))).then_some(());
    }
    match branch
        .entry(name)
        .or_insert_with(|| Tree::Branch(Branch::new()))
    {
        Tree::Branch(inner) => insert(inner, rest, value),
        Tree::Text(_) => None,
    }
}

/// The index that `[]` stands for.
fn next_index(branch: &Branch) -> String {
    let mut index = branch.len();
    while branch.contains_key(&index.to_string()) {
        index += 1;
    }
    index.to_string()
}

/// A name of any length, short enough for a message.
pub(super) fn shortened(name: &str) -> String {
    name.chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::SmallRng, seq::IndexedRandom};

    use super::{Branch, FormError, Tree, decode};

    fn json(encoded: &str) -> String {
        serde_json::to_string(&decode(encoded.as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn nests_by_brackets_in_either_encoding() {
        assert_eq!(
            json("a=1&metadata[k]=v"),
            r#"{"a":"1","metadata":{"k":"v"}}"#
        );
        assert_eq!(json("metadata%5Bk%5D=v"), r#"{"metadata":{"k":"v"}}"#);
        assert_eq!(
            json("a[b][c]=1&a[b][d]=2"),
            r#"{"a":{"b":{"c":"1","d":"2"}}}"#
        );
    }

    #[test]
    fn reads_both_spellings_of_an_array_alike() {
        assert_eq!(json("e[]=x&e[]=y"), json("e[0]=x&e[1]=y"));
        assert_eq!(json("e[]=x&e[]=y"), r#"{"e":{"0":"x","1":"y"}}"#);
    }

    #[test]
    fn decodes_spaces_and_tolerates_a_bare_percent_sign() {
        assert_eq!(json("d=a+b%20c"), r#"{"d":"a b c"}"#);
        assert_eq!(json("d=100%&e=%zz"), r#"{"d":"100%","e":"%zz"}"#);
    }

    #[test]
    fn keeps_unbalanced_brackets_as_a_plain_name() {
        for name in ["a[b", "a]b", "[b]", "a[b]c", "a[[b]]"] {
            assert_eq!(json(&format!("{name}=1")), format!(r#"{{"{name}":"1"}}"#));
        }
    }

    #[test]
    fn refuses_a_value_that_is_also_a_hash() {
        assert_eq!(
            decode(b"a=1&a[b]=2"),
            Err(FormError::Conflict("a[b]".to_owned()))
        );
        assert_eq!(
            decode(b"a[b]=2&a=1"),
            Err(FormError::Conflict("a".to_owned()))
        );
    }

    #[test]
    fn bounds_depth_and_count() {
        assert!(decode(format!("a{}=1", "[b]".repeat(7)).as_bytes()).is_ok());
        assert!(decode(format!("a{}=1", "[b]".repeat(8)).as_bytes()).is_err());
        assert!(decode("a[]=1&".repeat(1000).as_bytes()).is_ok());
        assert_eq!(
            decode("a[]=1&".repeat(1001).as_bytes()),
            Err(FormError::TooMany)
        );
    }

    #[test]
    fn bodies_made_of_brackets_and_noise_are_decoded_or_refused() {
        let mut chance = SmallRng::seed_from_u64(1);
        for _ in 0..100_000 {
            let length = chance.random_range(0..40);
            let body: Vec<u8> = (0..length)
                .map(|_| *b"ab019[]%5BD&=+;\x00\xff".choose(&mut chance).unwrap())
                .collect();
            let _ = decode(&body);
        }
    }

    #[test]
    fn what_was_encoded_is_decoded_to_the_same() {
        let mut chance = SmallRng::seed_from_u64(1);
        for _ in 0..2_000 {
            let root = branch(&mut chance, 4);
            let mut pairs = url::form_urlencoded::Serializer::new(String::new());
            write(&mut pairs, "", &root);
            assert_eq!(decode(pairs.finish().as_bytes()), Ok(root));
        }
    }

    fn branch(chance: &mut SmallRng, depth: u32) -> Branch {
        let names = ["a", "b", "c d", "é%", "7", "=&"];
        let number = chance.random_range(1..4);
        let mut grown = |name: &&str| {
            let inner = if depth > 1 && chance.random_ratio(1, 3) {
                Tree::Branch(branch(chance, depth - 1))
            } else {
                Tree::Text(chance.random_range(' '..'\u{2fff}').to_string())
            };
            ((*name).to_owned(), inner)
        };
        names.iter().take(number).map(&mut grown).collect()
    }

    fn write(
        pairs: &mut url::form_urlencoded::Serializer<'_, String>,
        inside: &str,
        branch: &Branch,
    ) {
        for (name, tree) in branch {
            let name = if inside.is_empty() {
                name.clone()
            } else {
                format!("{inside}[{name}]")
            };
            match tree {
                Tree::Text(text) => drop(pairs.append_pair(&name, text)),
                Tree::Branch(inner) => write(pairs, &name, inner),
            }
        }
    }
}
