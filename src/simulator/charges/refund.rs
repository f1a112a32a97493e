//! What becomes of a charge's money afterwards: refunded, taken back by the bank, come again.

use super::Charge;
use crate::simulator::{call::Call, disputes, error::ApiError, events, objects};

/// The charge that a parameter names, or 400.
pub(in crate::simulator) async fn named(call: &mut Call<'_>, id: &str) -> Result<Charge, ApiError> {
    let charge = objects::in_param(call.conn().await?, "charge", id, "charge").await?;
    Ok(serde_json::from_value(charge)?)
}

/// Its customer's bank wants the money back, or asks what it was for.
pub(in crate::simulator) async fn mark_disputed(
    call: &mut Call<'_>,
    mut charge: Charge,
) -> Result<(), ApiError> {
    charge.disputed = true;
    charge.save(call).map(drop)
}

/// A part of the money, or all of it, is refunded.
pub(in crate::simulator) async fn give_back(
    call: &mut Call<'_>,
    mut charge: Charge,
    amount: i64,
) -> Result<(), ApiError> {
    let before = serde_json::to_value(&charge)?;
    charge.amount_refunded += amount;
    charge.refunded = charge.left() == 0;
    let after = charge.save(call)?;
    events::record_change(call, "charge.refunded", &before, &after)?;
    if charge.disputed && charge.refunded {
        disputes::close_inquiry(call, &charge.id).await?;
    }
    Ok(())
}

/// A refund failed: the money is here again.
pub(in crate::simulator) async fn take_again(
    call: &mut Call<'_>,
    mut charge: Charge,
    amount: i64,
) -> Result<(), ApiError> {
    charge.amount_refunded -= amount;
    charge.refunded = charge.left() == 0;
    charge.save(call)?;
    Ok(())
}

impl Charge {
    /// What can still be refunded: no more than was captured.
    pub(in crate::simulator) fn left(&self) -> i64 {
        self.amount_captured - self.amount_refunded
    }
}
