//! Taking a checkout or a refund forward for a request. The request waits no longer than its client likes to wait; the work
//! goes on.

use std::time::Duration;

use chrono::{DateTime, Utc};
use tracing::Instrument as _;

use crate::{
    app::App,
    checkout::{self, Checkout, Status, Submitted},
    ids::{CheckoutId, RefundId},
    refunds::{self, Refund, Requested},
};

/// How long a client waits for an answer before being told that it is under way.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// How long one who only looks waits for a payment that somebody else left open, before being told how it stands.
const LOOK_FOR: Duration = Duration::from_secs(1);

/// Takes what was just submitted forward, and says which one it is.
pub async fn submitted(app: &App, submitted: Submitted) -> CheckoutId {
    let till = app.till.clone();
    let (Submitted::New(Checkout { id, .. }) | Submitted::Existing(Checkout { id, .. })) =
        submitted;
    let work = async move {
        match submitted {
            Submitted::New(checkout) => checkout::drive(&till, checkout).await,
            Submitted::Existing(checkout) => checkout::resume(&till, checkout.id).await,
        }
    };
    wait(app, ANSWER_WITHIN, log_checkout(id, work)).await;
    id
}

/// Makes the refund that was just asked for, and says which one it is. One that was asked for before is somebody's already.
pub async fn requested(app: &App, requested: Requested) -> RefundId {
    let id = requested.refund().id;
    if let Requested::New(claimed) = requested {
        let till = app.till.clone();
        let work = async move {
            if let Err(error) = refunds::drive(&till, claimed).await {
                tracing::error!(refund.id = %id, %error, "refund left open");
            }
        };
        wait(app, ANSWER_WITHIN, work).await;
    }
    id
}

/// Goes on with a checkout that somebody looks at, if nobody is at work on it. Says whether it may stand otherwise now.
pub async fn looked_at(app: &App, checkout: &Checkout) -> bool {
    if !is_left_open(checkout, app.till.clock.now()) {
        return false;
    }
    let (till, id) = (app.till.clone(), checkout.id);
    let work = async move { checkout::resume(&till, id).await };
    wait(app, LOOK_FOR, log_checkout(id, work)).await;
    true
}

/// Whether the request that submitted `checkout` has not been answered yet.
pub fn is_first_unanswered(app: &App, checkout: &Checkout) -> bool {
    let now = app.till.clock.now();
    checkout::is_in_first_hands(&app.till, checkout) && now < checkout.created_at + ANSWER_WITHIN
}

/// Whether the request that asked for `refund` has not been answered yet.
pub fn is_first_unanswered_for(app: &App, refund: &Refund) -> bool {
    let now = app.till.clock.now();
    refunds::is_in_first_hands(refund, now) && now < refund.created_at + ANSWER_WITHIN
}

/// Whether nobody is at work on an undecided checkout. The lease itself is taken, or not, by a guarded update.
fn is_left_open(checkout: &Checkout, now: DateTime<Utc>) -> bool {
    checkout.status == Status::Pending && checkout.lease_until.is_none_or(|until| until <= now)
}

/// A failure leaves the checkout pending, to be taken up again; nobody waits for the error.
async fn log_checkout(id: CheckoutId, work: impl Future<Output = sqlx::Result<()>>) {
    if let Err(error) = work.await {
        tracing::error!(checkout.id = %id, %error, "checkout left open");
    }
}

/// Does the work in a task of its own, which the log tells of as of the request.
async fn wait(app: &App, patience: Duration, work: impl Future<Output = ()> + Send + 'static) {
    let _ = tokio::time::timeout(patience, app.tasks.spawn(work.in_current_span())).await;
}
