//! When workers look for work, and what it costs while there is none.

use std::sync::{Arc, Mutex};

use boring_checkout::{
    clock::Clock,
    db::Db,
    outbox::{bus::InProcess, operator, relay::Relay},
    probe::{Boundary, Probe},
    refunds::refunder::Refunder,
    workers::Workers,
};

use crate::world::{Database, Shop, eventually, probed};

/// A process that takes the orders leaves the rest to another. PostgreSQL carries the word between them; on SQLite the
/// other looks once a second.
#[tokio::test]
async fn work_that_one_process_leaves_wakes_the_workers_of_another() {
    let database = Database::fresh().await;
    let here = database.open().await;
    let there = Db::open(&database.url()).await.expect("another process");
    let workers = Workers::on(&here);
    let other_workers = Workers::on(&there);
    let mut heard = there.work();
    if !database.is_postgres() {
        leave_work(&here).await;
        assert!(!heard.has_changed().expect("alive"), "SQLite has no wire");
        return;
    }
    // Whoever begins to listen looks once, since it may have missed something. From then on it is told.
    changes(&mut heard).await;

    for _ in 0..3 {
        leave_work(&here).await;
        changes(&mut heard).await;
    }

    let mut own = here.work();
    own.mark_unchanged();
    leave_work(&there).await;
    changes(&mut own).await;
    workers.stop().await;
    other_workers.stop().await;
}

#[tokio::test]
async fn a_worker_with_nothing_to_do_takes_no_lock() {
    let shop = Shop::open().await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let probe = Probe::new({
        let seen = Arc::clone(&seen);
        move |boundary| {
            seen.lock().expect("not poisoned").push(boundary);
            async { Ok(()) }
        }
    });
    let till = probed(shop.app(), probe);
    let (db, clock) = (till.db.clone(), Clock::default());
    let bus = Arc::new(InProcess::new(db.clone(), clock.clone()));
    let workers = Workers::on(&till.db);
    workers.start(Relay::to(bus, &db, &clock));
    workers.start(Refunder { till: till.clone() });
    let looks = || {
        let seen = seen.lock().expect("not poisoned");
        let looks = |table| {
            seen.iter()
                .filter(|it| matches!(it, Boundary::AfterQuery(sql) if sql.contains(table)))
                .count()
        };
        looks("from outbox").min(looks("from refunds"))
    };

    for n in 1..=5 {
        eventually("everybody has looked", || async { looks() >= n }).await;
        leave_work(shop.db()).await;
    }

    let seen = seen.lock().expect("not poisoned").clone();
    assert!(!seen.contains(&Boundary::BeforeBegin), "{seen:?}");
    workers.stop().await;
}

/// A transaction after which workers look; here they find nothing.
async fn leave_work(db: &Db) {
    operator::retry(db, None).await.expect("committed");
}

async fn changes(work: &mut tokio::sync::watch::Receiver<()>) {
    tokio::time::timeout(crate::world::PATIENCE, work.changed())
        .await
        .expect("the word arrives")
        .expect("the database is open");
}
