//! Parsing a query.
//!
//! ```text
//! query  = clause { ["AND" | "OR"] clause }      a space alone is AND; the two are not mixed
//! clause = ["-"] field operator value
//! field  = name { "." name } | "metadata[" quoted "]"
//! operator = ":" | "~" | ">" | ">=" | "<" | "<="
//! value  = quoted | number | "null"              quoted: '…' or "…", with \ before what is meant literally
//! ```

use super::clause::{Clause, Comparison, Kind, Query, Test};
use crate::simulator::form::shortened;

/// As many clauses as Stripe allows.
const MAX_CLAUSES: usize = 10;

/// Shorter parts of a text are in too many.
const MIN_PART: usize = 3;

/// What can be searched for.
#[derive(Debug)]
pub(in crate::simulator) struct Index {
    /// The kind of the objects, and what the API calls a number of them.
    pub(in crate::simulator) kind: &'static str,
    pub(in crate::simulator) resource: &'static str,
    /// Fields by their names (`payment_method_details.card.last4`), besides `metadata`, which all have.
    pub(in crate::simulator) fields: &'static [(&'static str, Kind)],
}

/// Why a query cannot be answered.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    #[error(
        "{expected} is expected at character {position}, as in metadata[\"key\"]:\"value\" or amount>1000"
    )]
    Syntax {
        expected: &'static str,
        position: usize,
    },
    #[error("AND and OR cannot be combined")]
    Mixed,
    #[error("it has more than {MAX_CLAUSES} clauses")]
    TooManyClauses,
    #[error("the field `{field}` of {resource} cannot be searched for")]
    UnknownField {
        field: String,
        resource: &'static str,
    },
    #[error("the operator `{operator}` does not go with the field `{field}`")]
    Operator {
        operator: &'static str,
        field: String,
    },
    #[error("a part of the field `{0}` has at least {MIN_PART} characters, in quotes")]
    ShortPart(String),
    #[error("the field `{0}` is compared with a number")]
    NotANumber(String),
}

pub(super) fn parse(text: &str, index: &Index) -> Result<Query, Fault> {
    let mut rest = Rest { text, left: text };
    let mut clauses = vec![rest.clause(index)?];
    let mut any = None;
    while rest.skip_space() {
        let is_or = rest.word("OR");
        if !is_or {
            rest.word("AND");
        }
        if any.is_some_and(|any| any != is_or) {
            return Err(Fault::Mixed);
        }
        any = Some(is_or);
        if clauses.len() == MAX_CLAUSES {
            return Err(Fault::TooManyClauses);
        }
        rest.skip_space();
        clauses.push(rest.clause(index)?);
    }
    Ok(Query {
        clauses,
        any: any.unwrap_or(false),
    })
}

/// What is not parsed yet.
struct Rest<'t> {
    text: &'t str,
    left: &'t str,
}

enum Literal {
    Null,
    Quoted(String),
    Number(f64, String),
}

impl Rest<'_> {
    fn clause(&mut self, index: &Index) -> Result<Clause, Fault> {
        self.skip_space();
        let is_negated = self.take("-");
        let (name, pointer, kind) = self.field(index)?;
        let operator = self.operator()?;
        let value = self.value()?;
        let test = test(name, kind, operator, value)?;
        Ok(Clause {
            is_negated,
            pointer,
            test,
        })
    }

    /// The field's name, where it is in the object, and what it holds.
    fn field(&mut self, index: &Index) -> Result<(String, String, Kind), Fault> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let end = self.left.find(|c| !is_name(c)).unwrap_or(self.left.len());
        let (name, left) = self.left.split_at(end);
        if name.is_empty() {
            return Err(self.expected("a field"));
        }
        self.left = left;
        if name == "metadata" && self.take("[") {
            let key = self
                .quoted()?
                .ok_or_else(|| self.expected("a key in quotes"))?;
            if !self.take("]") {
                return Err(self.expected("a closing bracket"));
            }
            let escaped = key.replace('~', "~0").replace('/', "~1");
            return Ok((
                format!("metadata[{}]", shortened(&key)),
                format!("/metadata/{escaped}"),
                Kind::Token,
            ));
        }
        let known = index.fields.iter().find(|(known, _)| *known == name);
        let (_, kind) = known.ok_or_else(|| Fault::UnknownField {
            field: shortened(name),
            resource: index.resource,
        })?;
        Ok((
            name.to_owned(),
            format!("/{}", name.replace('.', "/")),
            *kind,
        ))
    }

    fn operator(&mut self) -> Result<&'static str, Fault> {
        // The longer ones first.
        for operator in [":", "~", ">=", "<=", ">", "<"] {
            if self.take(operator) {
                return Ok(operator);
            }
        }
        Err(self.expected("an operator"))
    }

    fn value(&mut self) -> Result<Literal, Fault> {
        if let Some(text) = self.quoted()? {
            return Ok(Literal::Quoted(text));
        }
        let (bare, left) = self.left.split_at(self.end_of_word());
        let value = if bare.eq_ignore_ascii_case("null") {
            Literal::Null
        } else {
            let number = number(bare).ok_or_else(|| self.expected("a value in quotes"))?;
            Literal::Number(number, bare.to_owned())
        };
        self.left = left;
        Ok(value)
    }

    /// `None` when there are no quotes.
    fn quoted(&mut self) -> Result<Option<String>, Fault> {
        let Some(quote) = self.left.chars().next().filter(|c| ['\'', '"'].contains(c)) else {
            return Ok(None);
        };
        let mut text = String::new();
        let mut inside = self.left.char_indices().skip(1);
        while let Some((at, c)) = inside.next() {
            if c == quote {
                self.left = self.left.get(at + c.len_utf8()..).unwrap_or_default();
                return Ok(Some(text));
            }
            let is_escape = c == '\\';
            text.extend(if is_escape {
                inside.next().map(|(_, escaped)| escaped)
            } else {
                Some(c)
            });
        }
        self.left = "";
        Err(self.expected("a closing quote"))
    }

    fn take(&mut self, expected: &str) -> bool {
        let left = self.left.strip_prefix(expected);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// A keyword in upper or lower case.
    fn word(&mut self, expected: &str) -> bool {
        let (word, left) = self.left.split_at(self.end_of_word());
        let is_it = word.eq_ignore_ascii_case(expected);
        if is_it {
            self.left = left;
        }
        is_it
    }

    fn end_of_word(&self) -> usize {
        self.left
            .find(char::is_whitespace)
            .unwrap_or(self.left.len())
    }

    /// Whether anything follows.
    fn skip_space(&mut self) -> bool {
        self.left = self.left.trim_start();
        !self.left.is_empty()
    }

    fn expected(&self, expected: &'static str) -> Fault {
        let parsed = self.text.chars().count() - self.left.chars().count();
        Fault::Syntax {
            expected,
            position: parsed + 1,
        }
    }
}

fn test(name: String, kind: Kind, operator: &'static str, value: Literal) -> Result<Test, Fault> {
    let unfit = |field| Fault::Operator { operator, field };
    if let Literal::Null = value {
        return if operator == ":" {
            Ok(Test::IsNull)
        } else {
            Err(unfit(name))
        };
    }
    match kind {
        Kind::Text if operator == "~" => match value {
            Literal::Quoted(part) if part.chars().count() >= MIN_PART => {
                Ok(Test::Contains(part.to_lowercase()))
            }
            _ => Err(Fault::ShortPart(name)),
        },
        Kind::Token | Kind::Text if operator == ":" => Ok(match value {
            Literal::Quoted(text) | Literal::Number(_, text) => Test::Is(text.to_lowercase()),
            Literal::Null => Test::IsNull,
        }),
        Kind::Token | Kind::Text => Err(unfit(name)),
        Kind::Number => {
            let comparison = match operator {
                ":" => Comparison::Equal,
                "<" => Comparison::Less,
                "<=" => Comparison::LessOrEqual,
                ">" => Comparison::Greater,
                ">=" => Comparison::GreaterOrEqual,
                _ => return Err(unfit(name)),
            };
            let wanted = match value {
                Literal::Number(number, _) => Some(number),
                Literal::Quoted(text) => number(&text),
                Literal::Null => None,
            };
            let wanted = wanted.ok_or(Fault::NotANumber(name))?;
            Ok(Test::Compares(comparison, wanted))
        }
    }
}

/// Digits, a sign and a point; no `inf`, no `1e9`.
fn number(text: &str) -> Option<f64> {
    let is_plain = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
    text.chars()
        .all(is_plain)
        .then(|| text.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests;
