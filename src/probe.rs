//! The probe: told of every boundary that work passes on its way out of the process.
//!
//! All of it goes through four places: the database handle, the provider client, the bus and the post. Each reports what
//! it is about to do and what it has done, so a test can hold a request between two statements, and a fault reaches every
//! point of the program without anyone listing the points. Without a probe a boundary costs one check of an empty option.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

/// Called at every boundary; a failure it returns takes the place of the outcome.
#[derive(Clone)]
pub struct Probe(Arc<dyn Fn(Boundary) -> Verdict + Send + Sync>);

type Verdict = Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>>;

/// A point that work passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Boundary {
    /// A connection is about to be taken and a transaction that may write begun.
    BeforeBegin,
    /// The transaction is open.
    AfterBegin,
    /// A connection is about to be taken and a snapshot opened, from which is only read.
    BeforeSnapshot,
    /// The snapshot is open.
    AfterSnapshot,
    /// The statement is about to be sent.
    BeforeStatement(&'static str),
    /// The statement was executed, its rows are not yet handed on.
    AfterStatement(&'static str),
    /// A statement outside of any transaction, which only reads, is about to be sent.
    BeforeQuery(&'static str),
    /// It was executed, its rows are not yet handed on.
    AfterQuery(&'static str),
    /// The commit is about to be sent.
    BeforeCommit,
    /// The commit is durable, its caller does not know yet.
    AfterCommit,
    /// A request to the provider is about to be sent; each attempt is one. Operations are called as in the simulator.
    BeforeSend(&'static str),
    /// The provider has done what it was asked for, and its answer is not read yet.
    AfterSend(&'static str),
    /// The provider's answer is here.
    AfterReceive(&'static str),
    /// The message is about to be handed to the bus.
    BeforePublish,
    /// The bus has taken it over, the relay does not know yet.
    AfterPublish,
    /// The consumer of this name has committed, and is about to acknowledge.
    BeforeAcknowledge(&'static str),
    /// It has acknowledged.
    AfterAcknowledge(&'static str),
    /// A mail of this kind is about to be posted.
    BeforeMail(&'static str),
    /// The mail was taken, the postman does not know yet.
    AfterMail(&'static str),
}

/// For people.
impl fmt::Display for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BeforeBegin => f.write_str("before a transaction is begun"),
            Self::AfterBegin => f.write_str("after a transaction was begun"),
            Self::BeforeSnapshot => f.write_str("before a snapshot is opened"),
            Self::AfterSnapshot => f.write_str("after a snapshot was opened"),
            Self::BeforeStatement(sql) | Self::BeforeQuery(sql) => {
                write!(f, "before {}", brief(sql))
            }
            Self::AfterStatement(sql) | Self::AfterQuery(sql) => write!(f, "after {}", brief(sql)),
            Self::BeforeCommit => f.write_str("before the commit"),
            Self::AfterCommit => f.write_str("after the commit"),
            Self::BeforeSend(operation) => write!(f, "before the provider is sent {operation}"),
            Self::AfterSend(operation) => write!(f, "after the provider has done {operation}"),
            Self::AfterReceive(operation) => write!(f, "after the answer to {operation} has come"),
            Self::BeforePublish => f.write_str("before a message is published"),
            Self::AfterPublish => f.write_str("after a message was published"),
            Self::BeforeAcknowledge(consumer) => write!(f, "before {consumer} acknowledges"),
            Self::AfterAcknowledge(consumer) => write!(f, "after {consumer} has acknowledged"),
            Self::BeforeMail(kind) => write!(f, "before the mail {kind} is posted"),
            Self::AfterMail(kind) => write!(f, "after the mail {kind} was taken"),
        }
    }
}

/// The beginning of a statement, on one line: longer pieces of SQL say no more.
pub fn brief(sql: &str) -> String {
    const CHARS_MAX: usize = 72;
    let words: Vec<&str> = sql.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// What takes the place of an outcome. Each of the four places makes of it the error that its callers know.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The connection broke. After the boundary it is the answer that is lost.
    #[error("the connection broke")]
    Lost,
    /// The database's own refusal; elsewhere it is as good as a lost connection.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

impl Probe {
    /// Wraps a function from boundary to verdict.
    pub fn new<F, V>(probe: F) -> Self
    where
        F: Fn(Boundary) -> V + Send + Sync + 'static,
        V: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        Self(Arc::new(move |boundary| Box::pin(probe(boundary))))
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Probe")
    }
}

/// Tells `probe`, if there is one, that work has come to `boundary`.
pub async fn report(probe: Option<&Probe>, boundary: Boundary) -> Result<(), Failure> {
    match probe {
        Some(Probe(probe)) => probe(boundary).await,
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use futures_util::FutureExt as _;

    use super::*;

    /// It yields to nobody, and takes a few nanoseconds; a statement takes ten thousand times as long.
    #[test]
    fn a_boundary_that_nobody_watches_costs_next_to_nothing() {
        const BOUNDARIES: u32 = 1_000_000;
        let began = Instant::now();
        for _ in 0..BOUNDARIES {
            let passed = report(None, Boundary::BeforeStatement("select 1")).now_or_never();
            assert!(matches!(passed, Some(Ok(()))), "it does not wait");
        }
        println!("{:?} for each boundary", began.elapsed() / BOUNDARIES);
    }

    #[test]
    fn a_failure_takes_the_place_of_the_outcome() {
        let probe = Probe::new(async |boundary| match boundary {
            Boundary::BeforeCommit => Err(Failure::Lost),
            _ => Ok(()),
        });
        let at = |boundary| report(Some(&probe), boundary).now_or_never();
        assert!(matches!(at(Boundary::BeforeBegin), Some(Ok(()))));
        let lost = at(Boundary::BeforeCommit);
        assert!(matches!(lost, Some(Err(Failure::Lost))), "{lost:?}");
    }
}
