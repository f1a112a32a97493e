//! An order of steps, told for people.

use std::fmt;

use boring_checkout::probe::{Boundary, brief};

/// What happened, in its order.
#[derive(Debug, Default)]
pub struct Story {
    /// One for each step.
    pub lines: Vec<Line>,
    /// What each actor came to.
    pub answers: Vec<(&'static str, String)>,
}

/// A step.
#[derive(Debug)]
pub struct Line {
    who: &'static str,
    does: Vec<String>,
    pub waits: bool,
}

impl Line {
    pub fn of(who: &'static str, boundary: Boundary) -> Self {
        let mut line = Self {
            who,
            does: Vec::new(),
            waits: false,
        };
        line.goes_on(boundary);
        line
    }

    /// What comes in the same step.
    pub fn goes_on(&mut self, boundary: Boundary) {
        let does = match boundary {
            Boundary::BeforeStatement(sql) | Boundary::BeforeQuery(sql) => brief(sql),
            Boundary::BeforeSend(operation) => format!("asks the provider: {operation}"),
            Boundary::BeforeCommit => "commit".to_owned(),
            Boundary::BeforeBegin => "begin".to_owned(),
            _ => return,
        };
        self.does.push(does);
    }
}

impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, line) in (1..).zip(&self.lines) {
            let waits = if line.waits {
                " [waits for a lock]"
            } else {
                ""
            };
            writeln!(f, "{number:>4}. {}{waits}", line.who)?;
            for does in &line.does {
                writeln!(f, "          {does}")?;
            }
        }
        for (who, answer) in &self.answers {
            writeln!(f, "      {who}: {answer}")?;
        }
        Ok(())
    }
}
