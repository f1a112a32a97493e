//! The yardstick that the shop's speed is measured by: it has to make the statements that the shop makes.

#[path = "../../benches/checkout/yardstick/script.rs"]
mod script;

use std::sync::{Arc, Mutex};

use boring_checkout::{
    app::{App, background::Background},
    checkout::{self, Submitted},
    mail::post::{Post, Tray},
    probe::{Boundary, Probe},
    pruner::Retention,
    webhooks::{self, Event, KINDS},
    workers::do_what_is_due,
};
use chrono::TimeDelta;
use serde_json::json;

use self::script::{Piece, Transaction, YARDSTICK};
use crate::{
    buying::purchase_of,
    world::{ONCE, Shop, probed},
};

#[tokio::test]
async fn the_yardstick_commits_what_a_purchase_commits() {
    let shop = Shop::open().await;
    shop.provider.loses_webhooks().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let purchase = purchase_of(&shop, &buyer.opens_checkout().await).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let till = probed(shop.app(), noting(&seen));

    let submitted = checkout::submit(&till, &purchase).await.expect("submitted");
    let Submitted::New(checkout) = submitted else {
        panic!("a new checkout")
    };
    checkout::drive(&till, checkout).await.expect("driven");
    shop.provider.control("settle", json!({})).await;
    for kind in KINDS {
        for event in shop.provider.events(kind).await {
            let event = Event::read(&event, false).expect("an event");
            let now = till.clock.now();
            let received = webhooks::receive(&till.db, &event, now).await;
            received.expect("received");
        }
    }
    let app = App {
        till,
        lab: None, // Which has a probe of its own for the postman.
        ..shop.app().clone()
    };
    follow_up(&app).await;

    let transactions = transactions(&seen.lock().expect("not poisoned"));
    let made: Vec<_> = transactions.iter().map(in_short).collect();
    let yardstick: Vec<_> = script::read(YARDSTICK).iter().map(in_short).collect();
    assert_eq!(made, yardstick, "{}", made.join("\n\n"));
    shop.expects(ONCE).await;
}

/// Whatever the workers have to do about a payment.
async fn follow_up(app: &App) {
    let days = TimeDelta::days(35);
    let keep = Retention {
        keep_events: days,
        keep_messages: days,
        keep_carts: days,
    };
    let from = "shop@boring.example".parse().expect("a mailbox");
    let workers = Background::alone(app, Post::Tray(Tray::default()), from, keep);
    do_what_is_due(&workers.relay).await.expect("published");
    do_what_is_due(&workers.postman).await.expect("sent");
}

fn noting(seen: &Arc<Mutex<Vec<Boundary>>>) -> Probe {
    let seen = Arc::clone(seen);
    Probe::new(move |boundary| {
        seen.lock().expect("not poisoned").push(boundary);
        async { Ok(()) }
    })
}

/// Those that were committed, without those that claim work: one such takes what many purchases have left.
fn transactions(seen: &[Boundary]) -> Vec<Transaction> {
    let (mut all, mut statements) = (Vec::new(), Vec::new());
    for boundary in seen {
        match boundary {
            Boundary::BeforeBegin => statements.clear(),
            Boundary::BeforeStatement(sql) => statements.push(script::on_one_line(sql)),
            Boundary::AfterCommit => all.push(Transaction {
                statements: std::mem::take(&mut statements),
            }),
            _ => {}
        }
    }
    let claims = |it: &Transaction| {
        it.statements
            .iter()
            .any(|sql| sql.starts_with("with due as"))
    };
    all.retain(|transaction| !claims(transaction));
    all
}

/// Its statements, a line each, whatever their values are called.
fn in_short(transaction: &Transaction) -> String {
    let lines = transaction.statements.iter().map(|sql| nameless(sql));
    lines.collect::<Vec<_>>().join("\n")
}

fn nameless(sql: &str) -> String {
    let sql = sql.replace('$', ":");
    let pieces = script::pieces(&sql).into_iter().map(|piece| match piece {
        Piece::Text(text) => text,
        Piece::Value(_) => "?",
    });
    pieces.collect()
}
