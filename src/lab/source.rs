//! The source, carried in the binary, so that a step can be looked at where it is done.
//!
//! What is shown is what was compiled: a step names its file and line by what the compiler knew of them, so it cannot point at
//! anything else.

use std::borrow::Cow;

/// The program.
#[derive(rust_embed::Embed)]
#[folder = "src/"]
struct Program;

/// Its tables.
#[derive(rust_embed::Embed)]
#[folder = "migrations/"]
struct Migrations;

/// How many lines are shown around the one that is asked for, at most.
const AROUND: usize = 60;

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The number of its first line, counted from 1.
    pub first: usize,
    /// Its lines.
    pub lines: Vec<String>,
    /// How many lines the file has.
    pub of: usize,
}

/// The text of a file of `src/` or of `migrations/`.
pub fn file(path: &str) -> Option<String> {
    let found = match path.split_once('/')? {
        ("src", rest) if is_text(rest) => Program::get(rest),
        ("migrations", rest) if is_text(rest) => Migrations::get(rest),
        _ => None,
    }?;
    match found.data {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(str::to_owned).ok(),
        Cow::Owned(bytes) => String::from_utf8(bytes).ok(),
    }
}

fn is_text(path: &str) -> bool {
    [".rs", ".sql"].iter().any(|ending| path.ends_with(ending))
}

/// What stands around a line: the item of the program that it is in.
pub fn around(text: &str, line: usize) -> Option<Excerpt> {
    let lines: Vec<&str> = text.lines().collect();
    let at = line.checked_sub(1).filter(|at| *at < lines.len())?;
    // An item begins after an empty line, at the margin, and ends with a line at the margin.
    let begins = |at: &usize| {
        let is_first = *at == 0 || lines.get(at - 1).is_some_and(|before| before.is_empty());
        is_first && lines.get(*at).is_some_and(|it| is_at_margin(it))
    };
    let first = (0..=at).rev().find(begins).unwrap_or(0);
    let ends = |at: &usize| lines.get(*at).is_some_and(|it| it.starts_with(['}', ')']));
    let last = (at..lines.len()).find(ends).unwrap_or(lines.len() - 1);
    let first = first.max(at.saturating_sub(AROUND));
    let last = last.min(at + AROUND);
    let shown = lines.get(first..=last)?;
    Some(Excerpt {
        first: first + 1,
        lines: shown.iter().map(|&line| line.to_owned()).collect(),
        of: lines.len(),
    })
}

fn is_at_margin(line: &str) -> bool {
    line.starts_with(|c: char| !c.is_whitespace() && c != '}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_program_and_its_tables_are_shown() {
        assert!(file("src/lib.rs").is_some());
        assert!(file("migrations/sqlite/0001_shop.sql").is_some());
        for path in [
            "Cargo.toml",
            "src/../Cargo.toml",
            "src",
            "src/",
            "/etc/passwd",
            ".env",
            "src/nothing.rs",
        ] {
            assert_eq!(file(path), None, "{path}");
        }
    }

    #[test]
    fn a_line_is_shown_with_the_item_that_it_is_in() {
        let text = file("src/lab/source.rs").expect("this file");
        let line = line!() as usize;
        let shown = around(&text, line).expect("this line");
        assert_eq!(
            shown.lines.first().map(String::as_str),
            Some("#[cfg(test)]")
        );
        assert_eq!(around(&text, 0), None);
        assert_eq!(around(&text, 100_000), None);
    }
}
