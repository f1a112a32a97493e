//! Taking a refund forward for a request. The request waits no longer than whoever asked likes to wait; the work goes on.

use std::time::Duration;

use crate::{
    app::App,
    ids::RefundId,
    refunds::{self, Requested},
};

/// How long somebody waits for an answer before being told that it is under way.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// Makes the refund that was just asked for, and says which one it is. One that was asked for before is somebody's already.
pub async fn requested(app: &App, requested: Requested) -> RefundId {
    let id = requested.refund().id;
    if let Requested::New(claimed) = requested {
        let till = app.till.clone();
        let work = app.tasks.spawn(async move {
            if let Err(error) = refunds::drive(&till, claimed).await {
                tracing::error!(refund.id = %id, %error, "refund left open");
            }
        });
        let _ = tokio::time::timeout(ANSWER_WITHIN, work).await;
    }
    id
}
