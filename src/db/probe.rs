//! The probe: told of every boundary that database work passes.
//!
//! This is how a test holds a request between two statements, and how faults reach every point without anyone
//! listing the points. Without a probe each boundary costs one check of an empty option.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

/// Called at every boundary; an error it returns takes the place of the outcome.
#[derive(Clone)]
pub struct Probe(Arc<dyn Fn(Boundary) -> Verdict + Send + Sync>);

type Verdict = Pin<Box<dyn Future<Output = sqlx::Result<()>> + Send>>;

/// A point that database work passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// A connection is about to be taken and a transaction begun.
    BeforeBegin,
    /// The transaction is open.
    AfterBegin,
    /// The statement is about to be sent.
    BeforeStatement(&'static str),
    /// The statement was executed, its rows are not yet handed on.
    AfterStatement(&'static str),
    /// The commit is about to be sent.
    BeforeCommit,
    /// The commit is durable, its caller does not know yet.
    AfterCommit,
}

impl Probe {
    /// Wraps a function from boundary to verdict.
    pub fn new<F, V>(probe: F) -> Self
    where
        F: Fn(Boundary) -> V + Send + Sync + 'static,
        V: Future<Output = sqlx::Result<()>> + Send + 'static,
    {
        Self(Arc::new(move |boundary| Box::pin(probe(boundary))))
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Probe")
    }
}

pub(super) async fn report(probe: Option<&Probe>, boundary: Boundary) -> sqlx::Result<()> {
    match probe {
        Some(Probe(probe)) => probe(boundary).await,
        None => Ok(()),
    }
}
