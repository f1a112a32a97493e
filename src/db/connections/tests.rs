use std::sync::atomic::{AtomicUsize, Ordering};

use sqlx::sqlite::SqlitePoolOptions;

use super::*;

/// Of a database in memory, and how often a connection has gone back to the pool.
async fn connections(places: u32) -> (Connections<Sqlite>, Arc<AtomicUsize>) {
    let returns = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&returns);
    let pool = SqlitePoolOptions::new()
        .max_connections(places)
        .after_release(move |_, _| {
            counted.fetch_add(1, Ordering::SeqCst);
            Box::pin(async { Ok(true) })
        })
        .connect("sqlite::memory:")
        .await
        .expect("a pool");
    let connections = Connections::of(pool);
    (connections, returns)
}

async fn runs(connections: &Connections<Sqlite>, sql: &'static str) {
    let mut lent = connections.lend().await.expect("one");
    lent.run(sql).await.expect("run");
    lent.give_back();
}

async fn lines(connections: &Connections<Sqlite>) -> i64 {
    let mut lent = connections.lend().await.expect("one");
    let lines = sqlx::query_scalar("select count(*) from lines");
    let lines = lines.fetch_one(lent.conn()).await.expect("counted");
    lent.give_back();
    lines
}

#[tokio::test]
async fn what_is_given_back_is_lent_again_unasked() {
    let (connections, returns) = connections(1).await;
    let began = Instant::now();
    runs(&connections, "create table lines (text)").await;
    for _ in 0..10 {
        let mut lent = connections.begin("begin").await.expect("begun");
        lent.run("insert into lines values ('one')")
            .await
            .expect("written");
        lent.end("commit").await.expect("committed");
    }
    assert_eq!(lines(&connections).await, 10);
    if began.elapsed() < FRESH {
        assert_eq!(returns.load(Ordering::SeqCst), 0);
    }
    assert!(connections.is_at_rest());
}

/// It does not go back to the pool meanwhile, which would open another for whoever asked.
#[tokio::test]
async fn what_has_waited_too_long_is_asked_and_lent() {
    let (connections, returns) = connections(2).await;
    runs(&connections, "create table lines (text)").await;
    if let Some(waiting) = connections.ready.locked().front_mut() {
        waiting.at -= FRESH;
    }
    assert_eq!(lines(&connections).await, 0, "the same database");
    assert_eq!(returns.load(Ordering::SeqCst), 0);
    assert_eq!(connections.pool.size(), 1);
}

#[tokio::test]
async fn whoever_drops_it_has_written_nothing_and_keeps_it_from_nobody() {
    let (connections, returns) = connections(1).await;
    runs(&connections, "create table lines (text)").await;
    let mut lent = connections.begin("begin").await.expect("begun");
    lent.run("insert into lines values ('one')")
        .await
        .expect("written");
    assert!(!connections.is_at_rest());
    drop(lent);

    assert_eq!(lines(&connections).await, 0);
    assert_eq!(returns.load(Ordering::SeqCst), 1, "it was looked at");
    let next = connections
        .begin("begin")
        .await
        .expect("it is in no transaction");
    next.end("rollback").await.expect("undone");
}

/// Whoever has begun ends: to give it back as it is would hand the transaction to the next one.
#[tokio::test]
async fn a_transaction_is_not_given_back_with_it() {
    let (connections, _) = connections(1).await;
    runs(&connections, "create table lines (text)").await;
    let mut lent = connections.begin("begin").await.expect("begun");
    lent.run("insert into lines values ('one')")
        .await
        .expect("written");
    lent.give_back();
    assert_eq!(lines(&connections).await, 0);
}

#[tokio::test]
async fn one_that_a_statement_has_failed_on_is_looked_at_first() {
    let (connections, returns) = connections(1).await;
    let mut lent = connections.lend().await.expect("one");
    lent.run("select nothing")
        .await
        .expect_err("there is no such thing");
    drop(lent);
    runs(&connections, "select 1").await;
    assert_eq!(returns.load(Ordering::SeqCst), 1);
}

/// Who is first in the queue is first to be lent one, though there are more who ask than connections.
#[tokio::test]
async fn so_many_are_lent_and_no_more_in_order_of_arrival() {
    let (connections, _) = connections(1).await;
    let first = connections.lend().await.expect("one");
    let (asked, mut served) = tokio::sync::mpsc::unbounded_channel();
    for n in 0..3 {
        let (connections, asked) = (connections.clone(), asked.clone());
        tokio::spawn(async move {
            let lent = connections.lend().await.expect("one");
            asked.send(n).expect("heard");
            lent.give_back();
        });
        // Each asks before the next one does.
        tokio::task::yield_now().await;
    }
    assert!(served.try_recv().is_err(), "there is only one");
    first.give_back();
    for n in 0..3 {
        assert_eq!(served.recv().await, Some(n));
    }
}

#[tokio::test]
async fn none_is_lent_after_the_end() {
    let (connections, _) = connections(1).await;
    runs(&connections, "select 1").await;
    connections.close().await;
    let refused = connections.lend().await.err().expect("no connection");
    assert!(matches!(refused, sqlx::Error::PoolClosed), "{refused}");
    assert!(connections.pool.is_closed());
}

#[tokio::test]
async fn what_is_lent_at_the_end_is_waited_for() {
    let (connections, _) = connections(1).await;
    let lent = connections.lend().await.expect("one");
    let closing = tokio::spawn({
        let connections = connections.clone();
        async move { connections.close().await }
    });
    while !connections.pool.is_closed() {
        tokio::task::yield_now().await;
    }
    assert!(!closing.is_finished());
    lent.give_back();
    closing.await.expect("closed");
}

/// As in a program whose runtime has ended before its state is dropped.
#[test]
fn the_last_handle_may_go_after_the_runtime() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let connections = runtime.block_on(async {
        let (connections, _) = connections(1).await;
        runs(&connections, "select 1").await;
        connections
    });
    drop(runtime);
    drop(connections);
}
