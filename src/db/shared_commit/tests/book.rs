//! A database into which lines are written, by many at once.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
};

use chrono::Utc;
use futures_util::future::join_all;
use serde_json::json;
use tempfile::TempDir;
use tokio::task::{JoinHandle, yield_now};

use crate::{
    db::{Db, Pools, Tx, shared_commit::Writer},
    webhooks::{self, Event, Received},
};

pub(super) type Written = JoinHandle<sqlx::Result<()>>;

/// A database, into which lines are written.
pub(super) struct Book {
    pub(super) db: Db,
    commits: Arc<AtomicUsize>,
    refused: Arc<AtomicUsize>,
    _folder: TempDir,
}

impl Book {
    pub(super) async fn open() -> Self {
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().join("book.db");
        let db = Db::open(&format!("sqlite:{}", path.display()))
            .await
            .expect("it opens");
        let mut tx = db.begin().await.expect("a transaction");
        let table = "create table lines (text text not null primary key)";
        tx.query(table).execute().await.expect("made");
        tx.commit().await.expect("committed");
        let (commits, refused) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        watch(&db, &commits, &refused).await;
        Self {
            db,
            commits,
            refused,
            _folder: folder,
        }
    }

    /// Takes a turn, which the others wait for.
    pub(super) async fn begins_with(&self, line: &str) -> Tx {
        let mut tx = self.db.begin().await.expect("a turn");
        write(&mut tx, line).await.expect("written");
        tx
    }

    /// Returns once it is in the queue.
    pub(super) async fn writes(&self, line: &str) -> Written {
        let (db, line, waiting) = (self.db.clone(), line.to_owned(), self.waiting());
        let written = tokio::spawn(async move { write_line(&db, &line).await });
        self.waits(waiting + 1).await;
        written
    }

    /// So many, each with a line of its own.
    pub(super) async fn queue(&self, writers: usize) -> Vec<Written> {
        let mut written = Vec::new();
        for n in 0..writers {
            written.push(self.writes(&format!("{n} of {}", self.waiting())).await);
        }
        written
    }

    pub(super) async fn is_told_of_an_event(
        &self,
        place: usize,
    ) -> JoinHandle<sqlx::Result<Received>> {
        let db = self.db.clone();
        let event = json!({ "id": "evt_1", "type": "customer.created", "data": { "object": {} } });
        let event = Event::read(&event, false).expect("an event");
        let told = tokio::spawn(async move { webhooks::receive(&db, &event, Utc::now()).await });
        self.waits(place).await;
        told
    }

    pub(super) async fn waits(&self, writers: usize) {
        while self.waiting() < writers {
            yield_now().await;
        }
    }

    fn waiting(&self) -> usize {
        writer(&self.db).waiting.load(Ordering::SeqCst)
    }

    pub(super) fn commits(&self) -> usize {
        self.commits.load(Ordering::SeqCst)
    }

    pub(super) fn refuses_commits(&self, next: usize) {
        self.refused.store(next, Ordering::SeqCst);
    }

    /// How many lines are on disk.
    pub(super) async fn lines(&self) -> i64 {
        self.count("select count(*) from lines").await
    }

    pub(super) async fn count(&self, what: &'static str) -> i64 {
        self.db.query(what).fetch_scalar().await.expect("counted")
    }
}

fn writer(db: &Db) -> &Writer {
    match &db.pools {
        Pools::Sqlite { writer, .. } => writer,
        Pools::Postgres(_) => unreachable!("it is SQLite"),
    }
}

/// Counts the commits, and lets SQLite refuse so many of the next.
async fn watch(db: &Db, commits: &Arc<AtomicUsize>, refused: &Arc<AtomicUsize>) {
    let (commits, refused) = (Arc::clone(commits), Arc::clone(refused));
    let connection = writer(db).connections.lend().await;
    let mut connection = connection.expect("a connection");
    let mut handle = connection.conn().lock_handle().await.expect("a handle");
    handle.set_commit_hook(move || {
        let one_less = |left: usize| left.checked_sub(1);
        let is_refused = refused.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less);
        commits.fetch_add(usize::from(is_refused.is_err()), Ordering::SeqCst);
        is_refused.is_err()
    });
}

pub(super) async fn write_line(db: &Db, line: &str) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    write(&mut tx, line).await?;
    tx.commit().await
}

pub(super) async fn undo_line(db: &Db, line: &str) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    write(&mut tx, line).await?;
    tx.rollback().await
}

pub(super) async fn write(tx: &mut Tx, line: &str) -> sqlx::Result<()> {
    let query = tx.query("insert into lines (text) values ($1)");
    query.bind(line).execute().await?;
    Ok(())
}

pub(super) async fn are_kept(written: Vec<Written>) {
    for written in join_all(written).await {
        written.expect("no panic").expect("kept");
    }
}

/// What `work` comes to, unless it is given up after so many polls.
pub(super) async fn polled<T>(polls: usize, work: impl Future<Output = T>) -> Option<T> {
    let (mut work, mut left) = (pin!(work), polls);
    poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(Some(done));
        }
        left -= 1;
        if left == 0 {
            Poll::Ready(None)
        } else {
            Poll::Pending
        }
    })
    .await
}
