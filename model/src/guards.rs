//! The guards of the protocol, each of which can be taken out.

/// One of them. What it is in the shop stands beside its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// `checkouts.idempotency_key` is unique.
    UniqueKey,
    /// The index `one_live_checkout_per_cart`.
    OneLiveCheckout,
    /// `where stock >= $2`.
    StockInTheWhere,
    /// The checkout is committed before the provider hears of it.
    CommitBeforeCharge,
    /// Each attempt to charge a checkout has the same key.
    SameKey,
    /// No answer is no answer, and not a refusal.
    UnknownIsNotFailed,
    /// After 23 hours the key is not sent any more; the payment is looked up.
    LookUpAfterExpiry,
    /// A payment is taken for one that never was only when no request of ours can be under way any more.
    Settled,
    /// `where status = 'pending'`.
    GuardedUpdate,
    /// An event's id is written in the transaction of its effect.
    EventWithEffect,
    /// Money for a checkout that had ended goes back.
    LateRefund,
    /// A worker takes forward what nobody comes back for.
    Reconciler,
}

impl Guard {
    /// All of them, in the order of a purchase.
    pub const ALL: [Self; 12] = [
        Self::UniqueKey,
        Self::OneLiveCheckout,
        Self::StockInTheWhere,
        Self::CommitBeforeCharge,
        Self::SameKey,
        Self::UnknownIsNotFailed,
        Self::LookUpAfterExpiry,
        Self::Settled,
        Self::GuardedUpdate,
        Self::EventWithEffect,
        Self::LateRefund,
        Self::Reconciler,
    ];

    /// What a shop does that lacks it.
    pub fn without(self) -> &'static str {
        match self {
            Self::UniqueKey => "The form's key is looked up, and is not unique",
            Self::OneLiveCheckout => "A cart may have two live checkouts",
            Self::StockInTheWhere => "The stock is read, and the difference written",
            Self::CommitBeforeCharge => "The provider is called inside the transaction",
            Self::SameKey => "Each attempt has a key of its own",
            Self::UnknownIsNotFailed => "No answer counts as a refusal",
            Self::LookUpAfterExpiry => "The key is sent for ever",
            Self::Settled => "A payment that is not found at once never was",
            Self::GuardedUpdate => "The outcome is written whatever the status",
            Self::EventWithEffect => "An event is marked, then acted on",
            Self::LateRefund => "Money that comes too late is kept",
            Self::Reconciler => "Nobody looks after what is left open",
        }
    }
}
