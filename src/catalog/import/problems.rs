//! What is wrong with a file, row by row.

use std::fmt;

/// As many problems as somebody mends before they try again.
const SHOWN: usize = 10;

/// Everything that has to be mended, of which the first few are kept.
#[derive(Debug, Default)]
pub struct Problems {
    first: Vec<Problem>,
    total: usize,
}

#[derive(Debug)]
struct Problem {
    line: u64,
    column: &'static str,
    what: String,
}

impl Problems {
    pub(super) fn add(&mut self, line: u64, column: &'static str, what: impl Into<String>) {
        if self.first.len() < SHOWN {
            let what = what.into();
            self.first.push(Problem { line, column, what });
        }
        self.total += 1;
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// `value`, unless there are problems.
    pub(super) fn or<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() {
            Ok(value)
        } else {
            Err(self)
        }
    }

    /// As the lines that compilers print: `FILE.csv:17: price: …`.
    pub fn in_file<'a>(&'a self, file: &'a str) -> impl fmt::Display + 'a {
        fmt::from_fn(move |f| {
            for Problem { line, column, what } in &self.first {
                writeln!(f, "{file}:{line}: {column}: {what}")?;
            }
            match self.total - self.first.len() {
                0 => Ok(()),
                more => writeln!(f, "{file}: {more} more"),
            }
        })
    }
}
