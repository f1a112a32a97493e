mod book;

use std::sync::atomic::AtomicU32;

use futures_util::future::join_all;
use tokio::task::yield_now;

use self::book::{Book, are_kept, polled, undo_line, write, write_line};
use super::*;
use crate::{db::retrying, webhooks::Received};

#[tokio::test]
async fn many_at_once_take_few_commits() {
    let book = Book::open().await;
    let front = book.begins_with("front").await;
    let others = book.queue(40).await;

    front.commit().await.expect("committed");
    are_kept(others).await;

    assert_eq!(book.lines().await, 41);
    assert!(book.commits() < 20, "{} commits", book.commits());
}

#[tokio::test]
async fn who_is_alone_waits_for_nobody() {
    let book = Book::open().await;
    for n in 1..4 {
        write_line(&book.db, &format!("{n}"))
            .await
            .expect("written");
        assert_eq!(book.commits(), n);
    }
}

#[tokio::test]
async fn who_fails_takes_nobody_along() {
    let book = Book::open().await;
    let front = book.begins_with("front").await;
    let (before, again) = (book.queue(2).await, book.writes("front").await);
    let after = book.writes("after").await;

    front.commit().await.expect("committed");
    are_kept(before).await;
    are_kept(vec![after]).await;

    let refused = again.await.expect("no panic");
    let refused = refused.expect_err("a line is there once");
    assert!(matches!(refused, sqlx::Error::Database(_)), "{refused:?}");
    assert_eq!(book.lines().await, 4);
}

/// Wherever somebody goes away, and whoever was before: all others are kept, and the next one can write.
#[tokio::test]
async fn who_goes_away_takes_nobody_along() {
    for (is_first, gone_after) in (1..12).flat_map(|polls| [(true, polls), (false, polls)]) {
        let book = Book::open().await;
        let front = book.begins_with("front").await;
        let before = book.queue(usize::from(!is_first)).await;
        let gone = tokio::spawn({
            let db = book.db.clone();
            async move { polled(gone_after, write_line(&db, "gone")).await }
        });
        book.waits(before.len() + 1).await;
        let after = book.writes("after").await;

        front.rollback().await.expect("undone");
        let others = before.len() + 1;
        are_kept(before).await;
        are_kept(vec![after]).await;
        let gone = gone.await.expect("no panic");

        write_line(&book.db, "later").await.expect("written");
        let lines = usize::try_from(book.lines().await).expect("few") - others - 1;
        match gone {
            Some(written) => assert_eq!((written.is_ok(), lines), (true, 1)),
            None => assert!(lines <= 1, "all or nothing"),
        }
    }
}

/// It is as if each had made a commit of its own, which failed.
#[tokio::test]
async fn a_commit_that_fails_is_everybodys_and_all_run_again() {
    let book = Book::open().await;
    let front = book.begins_with("front").await;
    let runs = Arc::new(AtomicU32::new(0));
    let others = (0..5).map(|n| {
        let (db, runs) = (book.db.clone(), Arc::clone(&runs));
        tokio::spawn(async move {
            retrying(|| {
                runs.fetch_add(1, Ordering::SeqCst);
                async { write_line(&db, &format!("{n}")).await }
            })
            .await
        })
    });
    let others: Vec<_> = others.collect();
    book.waits(5).await;

    book.refuses_commits(1);
    let lost = front.commit().await.expect_err("nothing is on disk");
    are_kept(others).await;

    assert!(matches!(lost, sqlx::Error::Io(_)), "{lost:?}");
    assert_eq!(book.lines().await, 5);
    assert_eq!(runs.load(Ordering::SeqCst), 10, "each runs twice");
}

/// On a full disk SQLite gives up the whole transaction, and tells only the one whose statement it was.
#[tokio::test]
async fn who_fills_the_disk_loses_nobodys_work_unheard() {
    let book = Book::open().await;
    let front = book.begins_with("front").await;
    let before = book.queue(2).await;
    let filling = tokio::spawn({
        let db = book.db.clone();
        async move {
            let mut tx = db.begin().await?;
            tx.query("pragma max_page_count = 1").execute().await?;
            write(&mut tx, &"much ".repeat(100_000)).await
        }
    });
    book.waits(3).await;
    let after = book.writes("after").await;

    front.commit().await.expect_err("it is lost");
    for lost in join_all(before).await {
        lost.expect("no panic").expect_err("it is lost");
    }
    filling.await.expect("no panic").expect_err("no room");
    after.await.expect("no panic").expect_err("it is lost");

    write_line(&book.db, "later").await.expect("as good as new");
    assert_eq!(book.lines().await, 1);
}

/// A 200 ends the deliveries, so nobody says it before the event is on disk: neither who has written it, nor who has found it.
#[tokio::test]
async fn whoever_finds_an_event_answers_after_it_is_on_disk() {
    let book = Book::open().await;
    let front = book.begins_with("front").await;
    let first = book.is_told_of_an_event(1).await;
    let again = book.is_told_of_an_event(2).await;
    let slow = tokio::spawn({
        let db = book.db.clone();
        async move { db.begin().await }
    });
    book.waits(3).await;

    let front = tokio::spawn(front.commit());
    let slow = slow.await.expect("no panic").expect("its turn");
    for _ in 0..100 {
        yield_now().await;
        let is_answered = first.is_finished() || again.is_finished();
        assert!(!is_answered || book.count("select count(*) from processed_events").await == 1);
    }

    slow.rollback().await.expect("undone");
    front.await.expect("no panic").expect("committed");
    let (first, again) = (
        first.await.expect("no panic"),
        again.await.expect("no panic"),
    );
    assert!(matches!(first, Ok(Received::Processed(_))), "{first:?}");
    assert!(matches!(again, Ok(Received::Duplicate)), "{again:?}");
}

/// One that asks somebody else while it is open, say.
#[tokio::test]
async fn nobody_who_is_done_waits_for_one_that_takes_long() {
    let book = Book::open().await;
    let front = book.begins_with("front").await;
    let before = book.queue(2).await;
    let long = tokio::spawn({
        let db = book.db.clone();
        async move { db.begin_alone().await }
    });
    book.waits(3).await;
    let after = book.queue(1).await;

    front.commit().await.expect("committed");
    are_kept(before).await;
    let long = long.await.expect("no panic").expect("its turn");
    assert_eq!(book.lines().await, 3);

    drop(long);
    are_kept(after).await;
    assert_eq!(book.lines().await, 4);
}

/// In whatever order: what somebody was told is there, what was undone is not, and nobody is left waiting.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_crowd_comes_and_goes() {
    let book = Book::open().await;
    let writers = (0..12).map(|writer| {
        let db = book.db.clone();
        tokio::spawn(async move {
            let (mut kept, mut unknown) = (0, 0);
            for n in 0..40 {
                let line = format!("{n} of {writer}");
                match (n + writer) % 4 {
                    0 => drop(undo_line(&db, &line).await),
                    1 => match polled(1 + n % 7, write_line(&db, &line)).await {
                        Some(written) => kept += i64::from(written.is_ok()),
                        None => unknown += 1,
                    },
                    _ => kept += i64::from(write_line(&db, &line).await.is_ok()),
                }
            }
            (kept, unknown)
        })
    });
    let told = join_all(writers).await.into_iter();
    let told: Vec<(i64, i64)> = told.map(|told| told.expect("no panic")).collect();

    write_line(&book.db, "later").await.expect("written");
    let (kept, unknown): (Vec<_>, Vec<_>) = told.into_iter().unzip();
    let kept = kept.iter().sum::<i64>() + 1;
    let lines = book.lines().await;
    assert!(
        (kept..=kept + unknown.iter().sum::<i64>()).contains(&lines),
        "{kept} are kept, {lines} are there"
    );
    assert!(kept >= 241, "only {kept} are kept");
}

/// It would tell what may not be on disk yet. In a release build it is not looked for.
#[cfg(debug_assertions)]
#[tokio::test]
#[should_panic(expected = "a transaction is ended before anybody is told")]
async fn whoever_drops_what_has_not_failed_is_found_out() {
    let book = Book::open().await;
    drop(book.begins_with("front").await);
}

/// As on PostgreSQL. SQLite itself would commit the rest, or what is left after it has given the transaction up.
#[tokio::test]
async fn what_has_failed_once_is_not_committed() {
    let book = Book::open().await;
    let mut tx = book.begins_with("front").await;
    write(&mut tx, "front").await.expect_err("it is there");
    write(&mut tx, "after")
        .await
        .expect_err("nothing gets through");
    tx.commit().await.expect_err("nor this");
    assert_eq!(book.lines().await, 0);
}
