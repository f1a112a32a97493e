//! Interleavings: two and three actors at the same purchase, or refund, stepped one boundary at a time.
//!
//! ```text
//! scene ── actors enter ── step, step, step … ── the world goes on until nothing is due ── audit, and the promised numbers
//!   ▲                         who is next: the explorer                                        │
//!   └────────────────────────────── until it knows no other order ◄────────────────────────────┘
//! ```
//!
//! Of two actors, every order is run that somebody could tell from the others; of three, a sample. In reading order:
//!
//! 1. here: what is run.
//! 2. `scene`: how it stands, and what must come of it.
//! 3. `part`: what an actor does.
//! 4. `run`: one order after the other.
//! 5. `stage`: actors are held at every step.
//! 6. `touch`: which steps are independent of each other.
//! 7. `explorer`: which orders there are.
//! 8. `locks`: who waits for whom on PostgreSQL.
//! 9. `story`: an order, told for people.

mod explorer;
mod locks;
mod part;
mod run;
mod scene;
mod stage;
mod story;
mod touch;

use self::{
    part::Part::{
        self, Approval, Dashboard, Form, Look, Notice, OtherRefund, OtherTab, Reconciler, Refund,
        RefundRetry, Refunder, Retry, Rival, Webhook,
    },
    run::{in_all_orders, in_all_orders_of_statements, in_some_orders, is_long},
    scene::Scene,
};
use crate::ground::is_on_postgres;

/// How many orders of three are drawn, unless `INTERLEAVINGS` says how many.
const OF_THREE: u64 = 20;

/// The same of two, where all of them take too long.
const OF_TWO: u64 = 5;

/// Each with each, and with its own kind. The second one is ahead of the first; in long runs the first of the second, too.
async fn each_two(scene: Scene, parts: &[Part]) {
    for (number, one) in parts.iter().enumerate() {
        for other in &parts[number..] {
            two(scene, *one, *other).await;
            if is_long() && one != other {
                two(scene, *other, *one).await;
            }
        }
    }
}

/// All orders of their transactions. On PostgreSQL, where statements can be told apart too, and every run takes longer, there
/// are far more: some of those, and all of their transactions in long runs.
async fn two(scene: Scene, one: Part, other: Part) {
    if is_on_postgres() {
        in_some_orders(scene, &[one, other], OF_TWO).await;
    }
    if is_long() || !is_on_postgres() {
        in_all_orders(scene, &[one, other]).await;
    }
}

#[tokio::test]
async fn a_form_and_whoever_comes_while_it_is_sent() {
    for other in [Retry, OtherTab, Rival, Webhook, Reconciler] {
        two(Scene::Open, Form, other).await;
    }
}

#[tokio::test]
async fn two_who_find_a_purchase_left_open() {
    let parts = [Retry, OtherTab, Webhook, Look, Reconciler];
    each_two(Scene::LeftOpen, &parts).await;
}

#[tokio::test]
async fn two_when_the_time_to_authenticate_is_over() {
    let parts = [Approval, OtherTab, Look, Reconciler];
    each_two(Scene::Asked, &parts).await;
}

#[tokio::test]
async fn two_when_the_bank_was_answered_too_late() {
    let parts = [Webhook, OtherTab, Look, Reconciler];
    each_two(Scene::Approved, &parts).await;
}

#[tokio::test]
async fn two_when_the_money_comes_after_the_decline() {
    each_two(Scene::PaidLate, &[Webhook, OtherTab, Look]).await;
}

#[tokio::test]
async fn two_who_give_money_back() {
    let parts = [Refund, RefundRetry, OtherRefund, Dashboard, Notice];
    each_two(Scene::Paid, &parts).await;
}

#[tokio::test]
async fn two_who_find_a_refund_left_open() {
    let parts = [RefundRetry, OtherRefund, Dashboard, Notice, Refunder];
    each_two(Scene::RefundLeftOpen, &parts).await;
}

#[tokio::test]
async fn statement_by_statement_a_form_and_itself() {
    in_all_orders_of_statements(Scene::Open, &[Form, Retry]).await;
}

#[tokio::test]
async fn statement_by_statement_two_tabs() {
    in_all_orders_of_statements(Scene::Open, &[Form, OtherTab]).await;
}

#[tokio::test]
async fn statement_by_statement_two_buyers_of_the_last_unit() {
    all_or_some(Scene::Open, &[Form, Rival]).await;
}

#[tokio::test]
async fn statement_by_statement_a_form_and_the_webhook() {
    in_all_orders_of_statements(Scene::Open, &[Form, Webhook]).await;
}

#[tokio::test]
async fn statement_by_statement_two_refunds() {
    for other in [RefundRetry, Notice] {
        in_all_orders_of_statements(Scene::Paid, &[Refund, other]).await;
    }
    all_or_some(Scene::Paid, &[Refund, OtherRefund]).await;
}

/// Of those who both write much there are far more orders than of the others: all in long runs only.
async fn all_or_some(scene: Scene, parts: &[Part]) {
    if is_long() {
        in_all_orders_of_statements(scene, parts).await;
    } else {
        in_some_orders(scene, parts, OF_THREE).await;
    }
}

#[tokio::test]
async fn three_at_one_purchase() {
    for parts in [
        [Form, Retry, OtherTab],
        [Form, OtherTab, Rival],
        [Form, Webhook, Reconciler],
        [Form, Retry, Webhook],
    ] {
        in_some_orders(Scene::Open, &parts, OF_THREE).await;
    }
    for parts in [
        [Retry, Webhook, Reconciler],
        [OtherTab, Look, Webhook],
        [Look, Look, Reconciler],
    ] {
        in_some_orders(Scene::LeftOpen, &parts, OF_THREE).await;
    }
    in_some_orders(Scene::Asked, &[Approval, Reconciler, Webhook], OF_THREE).await;
    in_some_orders(Scene::Asked, &[Approval, Look, Reconciler], OF_THREE).await;
    in_some_orders(Scene::PaidLate, &[OtherTab, Webhook, Webhook], OF_THREE).await;
}

#[tokio::test]
async fn three_at_one_refund() {
    for parts in [
        [Refund, RefundRetry, OtherRefund],
        [Refund, Dashboard, Notice],
    ] {
        in_some_orders(Scene::Paid, &parts, OF_THREE).await;
    }
    for parts in [
        [Refunder, RefundRetry, Notice],
        [Refunder, Refunder, Notice],
        [Refunder, OtherRefund, Dashboard],
    ] {
        in_some_orders(Scene::RefundLeftOpen, &parts, OF_THREE).await;
    }
}
