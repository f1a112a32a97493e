//! Finding rows of a long list by what somebody has in hand: a number, an id, an address, a word.
//!
//! What is typed is recognized by its form, and each form has a statement of its own, which an index answers. A list says
//! which forms it knows, and the first that fits is taken; nothing is searched for that merely contains what was typed, since
//! that reads the whole table.

use uuid::Uuid;

use crate::{
    customers,
    db::{Db, Query},
    orders::OrderNumber,
    paging::{self, Keyed, Page, Turn, Turns},
};

/// Rows that can be listed, and found.
pub trait Searchable: Keyed {
    /// All of them.
    const ALL: Turns;
    /// The ways to find some of them.
    const WAYS: &'static [Way];
}

/// A way to find rows.
#[derive(Debug)]
pub struct Way {
    /// The form of what is typed: what is meant by it, if it has this form.
    pub form: fn(&str) -> Option<Term>,
    /// The statements, whose last parameter is what is meant.
    pub turns: Turns,
}

/// What is meant by what is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// One thing, by an id of ours.
    Id(Uuid),
    /// One thing, by an order's number or an id of the provider's.
    Name(String),
    /// All that have this in common.
    Shared(String),
    /// All that stand in a way which the statement itself says.
    State,
}

impl Term {
    fn bind<'q>(&self, query: Query<'q>) -> Query<'q> {
        match self {
            Self::Id(id) => query.bind(*id),
            Self::Name(text) | Self::Shared(text) => query.bind(text.as_str()),
            Self::State => query,
        }
    }
}

/// A page of the rows that somebody means who types `text`, and of all when that is nothing. `None` when `text` has no form
/// that anything can be found by.
pub async fn page<R: Searchable>(
    db: &Db,
    text: &str,
    turn: &Turn<R::Key>,
) -> sqlx::Result<Option<Page<R>>> {
    if text.is_empty() {
        return paging::page(db, &R::ALL, turn, |query| query)
            .await
            .map(Some);
    }
    match recognize::<R>(text) {
        Some((term, turns)) => paging::page(db, turns, turn, |query| term.bind(query))
            .await
            .map(Some),
        None => Ok(None),
    }
}

/// Whether `text` names one thing, and not what several may have in common.
pub fn names_one<R: Searchable>(text: &str) -> bool {
    recognize::<R>(text).is_some_and(|(term, _)| matches!(term, Term::Id(_) | Term::Name(_)))
}

fn recognize<R: Searchable>(text: &str) -> Option<(Term, &'static Turns)> {
    // PostgreSQL takes no NUL, and nothing that can be found has any of the others.
    if text.contains(char::is_control) {
        return None;
    }
    let mut ways = R::WAYS.iter();
    ways.find_map(|way| Some(((way.form)(text)?, &way.turns)))
}

/// An order's number, however it is written.
pub fn order_number(text: &str) -> Option<Term> {
    let number: OrderNumber = text.parse().ok()?;
    Some(Term::Name(number.to_string()))
}

/// An id of ours.
pub fn id(text: &str) -> Option<Term> {
    Uuid::try_parse(text).ok().map(Term::Id)
}

/// An e-mail address, in any case.
pub fn email(text: &str) -> Option<Term> {
    text.contains('@')
        .then(|| Term::Shared(customers::fold(text)))
}

/// The provider's id of an event.
pub fn event(text: &str) -> Option<Term> {
    starts_with(text, &["evt_"])
}

/// The provider's id of a payment or a refund.
pub fn object(text: &str) -> Option<Term> {
    starts_with(text, &["pi_", "re_", "pyr_"])
}

fn starts_with(text: &str, prefixes: &[&str]) -> Option<Term> {
    let is_one = prefixes.iter().any(|prefix| text.starts_with(prefix));
    is_one.then(|| Term::Name(text.to_owned()))
}

/// A word of a program's, such as `order.placed` or `second_payment`.
pub fn word(text: &str) -> Option<Term> {
    let text = text.to_ascii_lowercase();
    let is_word = text
        .bytes()
        .all(|it| it.is_ascii_lowercase() || matches!(it, b'_' | b'.'));
    is_word.then_some(Term::Shared(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{checkout, outbox};

    fn meant<R: Searchable>(text: &str) -> Option<Term> {
        recognize::<R>(text).map(|(term, _)| term)
    }

    #[test]
    fn what_is_typed_is_recognized_by_its_form() {
        let id = Uuid::now_v7();
        let name = |text: &str| Some(Term::Name(text.to_owned()));
        let shared = |text: &str| Some(Term::Shared(text.to_owned()));
        for (typed, term) in [
            ("Paid", shared("paid")),
            ("Ada@Example.ORG", shared("ada@example.org")),
            ("KÖLN@Example.org", shared("köln@example.org")),
            ("7k3m-9qxt-2p", name("7K3M-9QXT-2P")),
            ("7K3M9QXT2P", name("7K3M-9QXT-2P")),
            (&id.to_string(), Some(Term::Id(id))),
            (&id.simple().to_string(), Some(Term::Id(id))),
            ("pi_1", name("pi_1")),
            ("evt_1", name("evt_1")),
            ("Ada", None),
            ("a@b\0", None),
            ("pi_\0", None),
        ] {
            assert_eq!(
                meant::<checkout::operator::Listed>(typed),
                term,
                "{typed:?}"
            );
        }
    }

    #[test]
    fn a_word_is_what_the_list_says_before_it_is_any_other() {
        type Row = outbox::operator::OutboxRow;
        assert_eq!(meant::<Row>("Parked"), Some(Term::State));
        let placed = Some(Term::Shared("order.placed".to_owned()));
        assert_eq!(meant::<Row>("order.placed"), placed);
        assert_eq!(meant::<Row>("order placed"), None);
    }

    #[test]
    fn what_names_one_thing_is_told_from_what_many_share() {
        type Row = checkout::operator::Listed;
        assert!(names_one::<Row>("pi_1") && names_one::<Row>("7K3M9QXT2P"));
        assert!(!names_one::<Row>("paid") && !names_one::<Row>("a@b") && !names_one::<Row>("x"));
    }
}
