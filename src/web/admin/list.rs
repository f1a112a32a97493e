//! A list as a page: tables of cells, and the ways to the pages before and after. On a phone a row is a card.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use chrono::{DateTime, SecondsFormat, Utc};
use url::form_urlencoded;

use super::{chrome::Chrome, error::Failure, params::Params};
use crate::{
    paging::{Keyed, Page},
    web::show,
};

/// The page.
#[derive(Template)]
#[template(path = "admin/list.html")]
pub struct ListPage {
    /// What is around it.
    pub chrome: Chrome,
    /// What is listed.
    pub title: &'static str,
    /// What the reader has to know about it.
    pub intro: &'static str,
    /// What became of what was asked for, or why nothing is found.
    pub notice: Option<String>,
    /// How to see only some.
    pub search: Search,
    /// The same with a link for each of what is searched for most.
    pub filters: Vec<Link>,
    /// First what needs somebody, then all.
    pub tables: Vec<Table>,
    /// The addresses of the pages around this one.
    pub around: Around,
}

/// The field that a list is searched with.
#[derive(Default)]
pub struct Search {
    /// Where to.
    pub action: &'static str,
    /// What can be typed, in words that follow "Find by".
    pub found_by: &'static str,
    /// What was typed.
    pub typed: String,
}

/// A link in the text.
pub struct Link {
    /// Where to.
    pub url: String,
    /// What it says.
    pub label: String,
    /// Whether it leads to where one is.
    pub is_here: bool,
}

/// A part of the page.
pub struct Table {
    /// What is in it.
    pub heading: &'static str,
    /// What is said when nothing is.
    pub empty: &'static str,
    /// What each column says.
    pub columns: &'static [&'static str],
    /// A cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// What can be done with all of it.
    pub form: Option<Form>,
}

impl Table {
    /// Each cell with what its column says, for where there is no room for columns.
    pub fn cells<'a>(&'a self, row: &'a [Cell]) -> impl Iterator<Item = (&'static str, &'a Cell)> {
        self.columns.iter().copied().zip(row)
    }
}

/// What the column of [`Cell::tries`] says.
pub const TRIES: &str = "Attempts, and what was said";

/// One cell.
#[derive(Default)]
pub struct Cell {
    /// What it says.
    pub text: String,
    /// For machines, when it is a time.
    pub datetime: Option<String>,
    /// Where it leads.
    pub url: Option<String>,
    /// `good`, `wait` or `bad`, when it is a state.
    pub tone: Option<&'static str>,
    /// What can be done.
    pub form: Option<Form>,
}

/// A button, and what it sends.
pub struct Form {
    /// Where to.
    pub action: String,
    /// What it says.
    pub label: &'static str,
    /// What it is about, for who does not see where it stands.
    pub about: String,
    /// What is sent along: names and values.
    pub fields: Vec<(&'static str, String)>,
}

impl Cell {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.form.is_none()
    }

    /// Of plain text.
    pub fn text(text: &(impl ToString + ?Sized)) -> Self {
        Self {
            text: text.to_string(),
            ..Self::default()
        }
    }

    /// Of text that leads to `url`.
    pub fn link(text: &(impl ToString + ?Sized), url: String) -> Self {
        Self {
            url: Some(url),
            ..Self::text(text)
        }
    }

    /// Of a moment.
    pub fn time(at: DateTime<Utc>) -> Self {
        Self {
            datetime: Some(at.to_rfc3339_opts(SecondsFormat::Secs, true)),
            ..Self::text(&exactly(at))
        }
    }

    /// Of how something stands.
    pub fn state(text: &(impl ToString + ?Sized), tone: &'static str) -> Self {
        Self {
            tone: Some(tone),
            ..Self::text(text)
        }
    }

    /// Of how often something was tried, and what was said last: the column [`TRIES`].
    pub fn tries(attempts: i64, said: Option<&str>) -> Self {
        match said {
            Some(said) => Self::text(&format!("{attempts}: {said}")),
            None => Self::text(&attempts),
        }
    }

    /// Of a button.
    pub fn form(form: Form) -> Self {
        Self {
            form: Some(form),
            ..Self::default()
        }
    }
}

/// A moment to be compared with others: `2026-11-29 15:54:24 UTC`.
pub fn exactly(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// The addresses of the pages before and after.
#[derive(Default)]
pub struct Around {
    /// Of newer rows.
    pub newer: Option<String>,
    /// Of older ones.
    pub older: Option<String>,
}

impl Around {
    /// Around a page of the list at `path`, of what was searched for by what was `typed`.
    pub fn of<R: Keyed>(page: &Page<R>, path: &str, typed: &str) -> Self {
        let kept = (!typed.is_empty()).then_some(("q", typed));
        let url = |name, row: &R| {
            let query = form_urlencoded::Serializer::new(String::new())
                .extend_pairs(kept)
                .append_pair(name, &row.key().to_string())
                .finish();
            format!("{path}?{query}")
        };
        let (first, last) = (page.rows.first(), page.rows.last());
        Self {
            newer: first
                .filter(|_| page.has_newer)
                .map(|row| url("newer", row)),
            older: last.filter(|_| page.has_older).map(|row| url("older", row)),
        }
    }
}

impl ListPage {
    /// Nothing yet, at `here`.
    pub fn of(here: &'static str, title: &'static str, intro: &'static str) -> Self {
        Self {
            chrome: Chrome::at(here),
            title,
            intro,
            notice: None,
            search: Search::default(),
            filters: Vec::new(),
            tables: Vec::new(),
            around: Around::default(),
        }
    }

    /// Says how many were tried again, for who comes from there.
    #[must_use]
    pub fn tells_of_retries(self, params: &Params) -> Self {
        let retried: Option<u64> = params.text("retried").parse().ok();
        let told = retried.map(|count| match count {
            0 => "Nothing was to be tried again: somebody else was faster.".to_owned(),
            1 => "One is tried again now.".to_owned(),
            _ => format!("{count} are tried again now."),
        });
        Self {
            notice: told.or(self.notice),
            ..self
        }
    }

    /// As an answer.
    pub fn answer(&self) -> Result<Response, Failure> {
        Ok(show::page(StatusCode::OK, self)?)
    }
}
