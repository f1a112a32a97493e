//! Mandates: a customer's permission to be debited. No bank debit begins without one.

use serde_json::{Value, json};

use super::{
    call::Call, error::ApiError, ids, objects, params::Params, payment_intents::PaymentIntent,
    payment_methods::PaymentMethod,
};

/// How the customer gave their permission, as the API shows it.
#[derive(Debug)]
pub(super) struct Acceptance(Value);

impl Acceptance {
    /// `mandate_data`
    pub(super) fn parse(params: &mut Params) -> Result<Option<Self>, ApiError> {
        let Some(mut data) = params.hash("mandate_data")? else {
            return Ok(None);
        };
        let mut given = data
            .hash("customer_acceptance")?
            .ok_or_else(|| data.missing("customer_acceptance"))?;
        data.finish()?;
        let kind = given
            .one_of("type", &["offline", "online"])?
            .ok_or_else(|| given.missing("type"))?;
        let mut shown = json!({ "accepted_at": given.integer("accepted_at")?, "type": kind });
        given.hash("offline")?.map_or(Ok(()), Params::finish)?;
        let online = given.hash("online")?;
        if kind == "online" {
            let mut online = online.ok_or_else(|| given.missing("online"))?;
            let way = json!({
                "ip_address": online.required_text("ip_address")?,
                "user_agent": online.required_text("user_agent")?,
            });
            online.finish()?;
            objects::set(&mut shown, "online", way);
        } else {
            objects::set(&mut shown, "offline", json!({}));
        }
        given.finish()?;
        Ok(Some(Self(shown)))
    }
}

/// `GET /v1/mandates/{id}`
pub(super) async fn retrieve(
    call: &mut Call<'_>,
    id: &str,
    params: Params,
) -> Result<Value, ApiError> {
    params.finish()?;
    let mut mandate = objects::in_path(call.conn().await?, "mandate", id).await?;
    // Every stored object has a time; a mandate is the one that the API shows without it.
    if let Some(fields) = mandate.as_object_mut() {
        fields.remove("created");
    }
    Ok(mandate)
}

/// Returns the id of a mandate for this payment alone, or, when the method is to be used again, for all.
pub(super) fn create(
    call: &mut Call<'_>,
    intent: &PaymentIntent,
    method: &PaymentMethod,
    acceptance: &Acceptance,
) -> Result<String, ApiError> {
    let id = ids::object_id("mandate");
    let kind = method.kind();
    let details = match kind {
        "sepa_debit" => {
            let reference = ids::alphanumeric(16).to_uppercase();
            json!({ "reference": reference, "url": format!("{}/v1/mandates/{id}", call.base_url) })
        }
        _ => json!({}),
    };
    let (scope, limits) = if intent.setup_future_usage.is_some() {
        ("multi_use", json!({}))
    } else {
        let limits = json!({ "amount": intent.amount, "currency": intent.currency });
        ("single_use", limits)
    };
    let mandate = json!({
        "id": id,
        "object": "mandate",
        "created": call.now,
        "customer_acceptance": acceptance.0,
        "livemode": false,
        "payment_method": method.id,
        "payment_method_details": { "type": kind, kind: details },
        scope: limits,
        "status": "active",
        "type": scope
    });
    objects::insert(call.tx, &mandate)?;
    Ok(id)
}
