//! The clauses of a query: what each asks of an object.

use serde_json::Value;

/// What a field holds, and so what can be asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::simulator) enum Kind {
    /// A word that fits as a whole or not at all, in upper or lower case.
    Token,
    /// The same, and it can be searched for a part of it.
    Text,
    Number,
}

/// A whole query.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) clauses: Vec<Clause>,
    /// One clause is enough.
    pub(super) any: bool,
}

#[derive(Debug)]
pub(super) struct Clause {
    /// `-status:'canceled'`
    pub(super) is_negated: bool,
    /// Where the field is, as a JSON pointer.
    pub(super) pointer: String,
    pub(super) test: Test,
}

#[derive(Debug)]
pub(super) enum Test {
    /// The field is null or absent.
    IsNull,
    /// Lower case.
    Is(String),
    /// Lower case.
    Contains(String),
    Compares(Comparison, f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Query {
    pub(super) fn matches(&self, object: &Value) -> bool {
        let mut clauses = self.clauses.iter();
        if self.any {
            clauses.any(|clause| clause.matches(object))
        } else {
            clauses.all(|clause| clause.matches(object))
        }
    }
}

impl Clause {
    fn matches(&self, object: &Value) -> bool {
        let value = object.pointer(&self.pointer).unwrap_or(&Value::Null);
        self.test.holds(value) != self.is_negated
    }
}

impl Test {
    fn holds(&self, value: &Value) -> bool {
        match self {
            Test::IsNull => value.is_null(),
            Test::Is(wanted) => value
                .as_str()
                .is_some_and(|text| text.to_lowercase() == *wanted),
            Test::Contains(part) => value
                .as_str()
                .is_some_and(|text| text.to_lowercase().contains(part)),
            Test::Compares(comparison, wanted) => value
                .as_f64()
                .is_some_and(|number| comparison.holds(number, *wanted)),
        }
    }
}

impl Comparison {
    fn holds(self, number: f64, wanted: f64) -> bool {
        match self {
            Comparison::Equal => number.total_cmp(&wanted).is_eq(),
            Comparison::Less => number < wanted,
            Comparison::LessOrEqual => number <= wanted,
            Comparison::Greater => number > wanted,
            Comparison::GreaterOrEqual => number >= wanted,
        }
    }
}
