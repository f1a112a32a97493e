//! `POST /v1/disputes/{id}`: what the shop has to say.

use serde_json::{Map, Value, json};

use super::{Status, find};
use crate::simulator::{
    call::Call,
    changes::merge_metadata,
    disputes::Dispute,
    error::ApiError,
    events,
    params::{Change, Params},
    schedule::{self, Effect},
};

/// How long the bank thinks about the evidence.
const REVIEW_SECONDS: i64 = 5;

/// Those that are documents take the id of a file, which is not looked up: there are no files here.
const FIELDS: &[&str] = &[
    "access_activity_log",
    "billing_address",
    "cancellation_policy",
    "cancellation_policy_disclosure",
    "cancellation_rebuttal",
    "customer_communication",
    "customer_email_address",
    "customer_name",
    "customer_purchase_ip",
    "customer_signature",
    "duplicate_charge_documentation",
    "duplicate_charge_explanation",
    "duplicate_charge_id",
    "product_description",
    "receipt",
    "refund_policy",
    "refund_policy_disclosure",
    "refund_refusal_explanation",
    "service_date",
    "service_documentation",
    "shipping_address",
    "shipping_carrier",
    "shipping_date",
    "shipping_documentation",
    "shipping_tracking_number",
    "uncategorized_file",
    "uncategorized_text",
];

/// Unless `submit=false` says that there is more to come, the evidence goes to the bank at once, and that once.
pub(in crate::simulator) async fn update(
    call: &mut Call<'_>,
    id: &str,
    mut params: Params,
) -> Result<Value, ApiError> {
    let metadata = params.metadata_change()?;
    let evidence = parse_evidence(&mut params)?;
    let submit = params.boolean("submit")?.unwrap_or(true);
    params.finish()?;
    let before = find(call, id).await?;
    let mut dispute = before.clone();
    if !evidence.is_empty() {
        dispute.add_evidence(evidence, submit)?;
    }
    if let Some(metadata_now) = dispute
        .rest
        .get_mut("metadata")
        .and_then(Value::as_object_mut)
    {
        merge_metadata(metadata_now, metadata)?;
    }
    if dispute.evidence_details.submission_count > before.evidence_details.submission_count {
        schedule::later(call, REVIEW_SECONDS, Effect::ConcludeDispute, id);
    }
    let (before, after) = (serde_json::to_value(before)?, dispute.save(call)?);
    events::record_change(call, "charge.dispute.updated", &before, &after)?;
    Ok(after)
}

fn parse_evidence(params: &mut Params) -> Result<Map<String, Value>, ApiError> {
    let mut evidence = Map::new();
    let Some(mut given) = params.hash("evidence")? else {
        return Ok(evidence);
    };
    for field in FIELDS {
        match given.text_change(field)? {
            Change::Keep => {}
            Change::Unset => drop(evidence.insert((*field).to_owned(), Value::Null)),
            Change::Set(text) => drop(evidence.insert((*field).to_owned(), json!(text))),
        }
    }
    given.finish()?;
    Ok(evidence)
}

/// Nothing was said yet.
pub(super) fn none() -> Value {
    let mut evidence: Map<String, Value> = FIELDS
        .iter()
        .map(|field| ((*field).to_owned(), Value::Null))
        .collect();
    evidence.insert("enhanced_evidence".to_owned(), json!({}));
    Value::Object(evidence)
}

impl Dispute {
    fn add_evidence(&mut self, evidence: Map<String, Value>, submit: bool) -> Result<(), ApiError> {
        let under_review = match self.status {
            Status::NeedsResponse => Status::UnderReview,
            Status::WarningNeedsResponse => Status::WarningUnderReview,
            Status::UnderReview
            | Status::WarningUnderReview
            | Status::WarningClosed
            | Status::Won
            | Status::Lost => return Err(self.refusal("answered")),
        };
        self.evidence.extend(evidence);
        self.evidence_details.has_evidence = true;
        if submit {
            self.evidence_details.submission_count += 1;
            "manual".clone_into(&mut self.evidence_details.submission_method);
            self.status = under_review;
        }
        Ok(())
    }
}
