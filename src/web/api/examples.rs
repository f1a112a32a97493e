//! The examples of the document: one purchase, from its wish to its end.

use serde_json::{Value, json};

/// A wish.
pub fn new_checkout() -> Value {
    json!({
        "email": "ada@example.com",
        "name": "Ada Lovelace",
        "items": [{ "sku": "MUG-01", "quantity": 1 }, { "sku": "TEA-01", "quantity": 2 }],
        "payment_method": "pm_card_visa",
        "country": "DE",
        "quoted_total": 1930,
    })
}

/// What becomes of it.
pub fn checkout() -> Value {
    checkout_that("paid", Some("7K3M-9QXT-2P"), None)
}

/// The same, when the customer's bank wants to ask first.
pub fn pending_checkout() -> Value {
    let asks = "https://pay.example.com/authenticate/pi_1";
    checkout_that("pending", None, Some(asks))
}

fn checkout_that(status: &str, order_number: Option<&str>, next_action_url: Option<&str>) -> Value {
    json!({
        "id": "01936d7e-51b4-7d92-9c7e-4a3f6b0c8d21",
        "status": status,
        "amount": 1930,
        "shipping": 0,
        "tax": tax(),
        "currency": "eur",
        "lines": lines(),
        "order_number": order_number,
        "next_action_url": next_action_url,
        "failure": null,
        "created_at": "2026-11-29T15:54:03.120945Z",
    })
}

/// The order that it became.
pub fn order() -> Value {
    json!({
        "number": "7K3M-9QXT-2P",
        "status": "partially_refunded",
        "amount": 1930,
        "shipping": 0,
        "tax": tax(),
        "amount_refunded": 490,
        "currency": "eur",
        "lines": lines(),
        "checkout_id": "01936d7e-51b4-7d92-9c7e-4a3f6b0c8d21",
        "created_at": "2026-11-29T15:54:03.887311Z",
    })
}

fn tax() -> Value {
    json!({ "rate": "19", "amount": 308 })
}

/// A part of it goes back.
pub fn new_refund() -> Value {
    json!({ "amount": 490 })
}

/// What becomes of that.
pub fn refund() -> Value {
    refund_that("succeeded")
}

/// The same, as long as it is on its way.
pub fn pending_refund() -> Value {
    refund_that("pending")
}

fn refund_that(status: &str) -> Value {
    json!({
        "id": "01936d9a-07cc-7b1e-8f52-6d1c5e0a9b37",
        "status": status,
        "amount": 490,
        "currency": "eur",
        "order_number": "7K3M-9QXT-2P",
    })
}

fn lines() -> Value {
    json!([
        { "sku": "MUG-01", "name": "Grey mug", "quantity": 1, "unit_amount": 950, "amount": 950 },
        { "sku": "TEA-01", "name": "Plain black tea", "quantity": 2, "unit_amount": 490, "amount": 980 },
    ])
}
