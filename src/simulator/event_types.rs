//! The types of events that Stripe has, of which the simulator makes a few.
//!
//! A webhook endpoint may ask for any of them, so that the set-up script of a real integration works here, and for
//! nothing else. The list: <https://docs.stripe.com/api/events/types>.

/// What a type begins with, and the ways it goes on.
#[rustfmt::skip]
const TYPES: &[(&str, &[&str])] = &[
    ("account", &["application.authorized", "application.deauthorized", "external_account.created", "external_account.deleted", "external_account.updated", "updated"]),
    ("application_fee", &["created", "refund.updated", "refunded"]),
    ("balance", &["available"]),
    ("balance_settings", &["updated"]),
    ("billing.alert", &["triggered"]),
    ("billing.credit_balance_transaction", &["created"]),
    ("billing.credit_grant", &["created", "updated"]),
    ("billing.meter", &["created", "deactivated", "reactivated", "updated"]),
    ("billing_portal", &["configuration.created", "configuration.updated", "session.created"]),
    ("capability", &["updated"]),
    ("cash_balance", &["funds_available"]),
    ("charge", &["captured", "expired", "failed", "pending", "refund.updated", "refunded", "succeeded", "updated"]),
    ("charge.dispute", &["closed", "created", "funds_reinstated", "funds_withdrawn", "updated"]),
    ("checkout.session", &["async_payment_failed", "async_payment_succeeded", "completed", "expired"]),
    ("climate.order", &["canceled", "created", "delayed", "delivered", "product_substituted"]),
    ("climate.product", &["created", "pricing_updated"]),
    ("coupon", &["created", "deleted", "updated"]),
    ("credit_note", &["created", "updated", "voided"]),
    ("customer", &["created", "deleted", "updated"]),
    ("customer.discount", &["created", "deleted", "updated"]),
    ("customer.source", &["created", "deleted", "expiring", "updated"]),
    ("customer.subscription", &["created", "deleted", "paused", "pending_update_applied", "pending_update_expired", "resumed", "trial_will_end", "updated"]),
    ("customer.tax_id", &["created", "deleted", "updated"]),
    ("customer_cash_balance_transaction", &["created"]),
    ("entitlements.active_entitlement_summary", &["updated"]),
    ("file", &["created"]),
    ("financial_connections.account", &["created", "deactivated", "disconnected", "reactivated", "refreshed_balance", "refreshed_ownership", "refreshed_transactions"]),
    ("identity.verification_session", &["canceled", "created", "processing", "redacted", "requires_input", "verified"]),
    ("invoice", &["created", "deleted", "finalization_failed", "finalized", "marked_uncollectible", "overdue", "overpaid", "paid", "payment_action_required", "payment_failed", "payment_succeeded", "sent", "upcoming", "updated", "voided", "will_be_due"]),
    ("invoice_payment", &["paid"]),
    ("invoiceitem", &["created", "deleted"]),
    ("issuing_authorization", &["created", "request", "updated"]),
    ("issuing_card", &["created", "updated"]),
    ("issuing_cardholder", &["created", "updated"]),
    ("issuing_dispute", &["closed", "created", "funds_reinstated", "funds_rescinded", "submitted", "updated"]),
    ("issuing_personalization_design", &["activated", "deactivated", "rejected", "updated"]),
    ("issuing_token", &["created", "updated"]),
    ("issuing_transaction", &["created", "purchase_details_receipt_updated", "updated"]),
    ("mandate", &["updated"]),
    ("payment_intent", &["amount_capturable_updated", "canceled", "created", "partially_funded", "payment_failed", "processing", "requires_action", "succeeded"]),
    ("payment_link", &["created", "updated"]),
    ("payment_method", &["attached", "automatically_updated", "detached", "updated"]),
    ("payout", &["canceled", "created", "failed", "paid", "reconciliation_completed", "updated"]),
    ("person", &["created", "deleted", "updated"]),
    ("plan", &["created", "deleted", "updated"]),
    ("price", &["created", "deleted", "updated"]),
    ("product", &["created", "deleted", "updated"]),
    ("promotion_code", &["created", "updated"]),
    ("quote", &["accepted", "canceled", "created", "finalized"]),
    ("radar.early_fraud_warning", &["created", "updated"]),
    ("refund", &["created", "failed", "updated"]),
    ("reporting", &["report_run.failed", "report_run.succeeded", "report_type.updated"]),
    ("review", &["closed", "opened"]),
    ("setup_intent", &["canceled", "created", "requires_action", "setup_failed", "succeeded"]),
    ("sigma.scheduled_query_run", &["created"]),
    ("source", &["canceled", "chargeable", "failed", "mandate_notification", "refund_attributes_required", "transaction.created", "transaction.updated"]),
    ("subscription_schedule", &["aborted", "canceled", "completed", "created", "expiring", "released", "updated"]),
    ("tax.settings", &["updated"]),
    ("tax_rate", &["created", "updated"]),
    ("terminal.reader", &["action_failed", "action_succeeded", "action_updated"]),
    ("test_helpers.test_clock", &["advancing", "created", "deleted", "internal_failure", "ready"]),
    ("topup", &["canceled", "created", "failed", "reversed", "succeeded"]),
    ("transfer", &["created", "reversed", "updated"]),
    ("treasury.credit_reversal", &["created", "posted"]),
    ("treasury.debit_reversal", &["completed", "created", "initial_credit_granted"]),
    ("treasury.financial_account", &["closed", "created", "features_status_updated"]),
    ("treasury.inbound_transfer", &["canceled", "created", "failed", "succeeded"]),
    ("treasury.outbound_payment", &["canceled", "created", "expected_arrival_date_updated", "failed", "posted", "returned", "tracking_details_updated"]),
    ("treasury.outbound_transfer", &["canceled", "created", "expected_arrival_date_updated", "failed", "posted", "returned", "tracking_details_updated"]),
    ("treasury.received_credit", &["created", "failed", "succeeded"]),
    ("treasury.received_debit", &["created"]),
];

/// Those that the simulator makes, and that a fault can therefore wait for.
pub(super) const MADE: &[&str] = &[
    "charge.captured",
    "charge.dispute.closed",
    "charge.dispute.created",
    "charge.dispute.funds_reinstated",
    "charge.dispute.funds_withdrawn",
    "charge.dispute.updated",
    "charge.expired",
    "charge.failed",
    "charge.pending",
    "charge.refund.updated",
    "charge.refunded",
    "charge.succeeded",
    "charge.updated",
    "customer.created",
    "customer.deleted",
    "customer.updated",
    "payment_intent.amount_capturable_updated",
    "payment_intent.canceled",
    "payment_intent.created",
    "payment_intent.payment_failed",
    "payment_intent.processing",
    "payment_intent.requires_action",
    "payment_intent.succeeded",
    "payment_method.attached",
    "payment_method.detached",
    "payment_method.updated",
    "refund.created",
    "refund.failed",
    "refund.updated",
];

pub(super) fn is_known(kind: &str) -> bool {
    TYPES.iter().any(|(beginning, endings)| {
        kind.strip_prefix(beginning)
            .and_then(|rest| rest.strip_prefix('.'))
            .is_some_and(|ending| endings.contains(&ending))
    })
}

/// The types that a filter means: a trailing `*` stands for every one that begins alike.
pub(super) fn matching(pattern: &str) -> Vec<String> {
    let Some(prefix) = pattern.strip_suffix('*') else {
        return vec![pattern.to_owned()];
    };
    TYPES
        .iter()
        .flat_map(|(beginning, endings)| {
            endings
                .iter()
                .map(move |ending| format!("{beginning}.{ending}"))
        })
        .filter(|kind| kind.starts_with(prefix))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{MADE, is_known, matching};

    #[test]
    fn a_type_is_known_by_its_whole_name() {
        for known in [
            "charge.succeeded",
            "charge.dispute.created",
            "charge.refund.updated",
        ] {
            assert!(is_known(known), "{known}");
        }
        for unknown in ["", "charge", "charge.", "charge.*", "charge.dispute", "*"] {
            assert!(!is_known(unknown), "{unknown}");
        }
    }

    #[test]
    fn none_is_made_that_the_provider_does_not_have() {
        assert!(MADE.iter().all(|kind| is_known(kind)));
    }

    #[test]
    fn a_trailing_asterisk_stands_for_every_ending() {
        assert_eq!(
            matching("refund.*"),
            ["refund.created", "refund.failed", "refund.updated"]
        );
        assert_eq!(matching("refund.created"), ["refund.created"]);
        assert!(matching("*").len() > 200);
        assert!(matching("nothing.*").is_empty());
    }
}
