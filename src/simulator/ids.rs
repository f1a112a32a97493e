//! Identifiers in Stripe's spelling: a prefix that names the kind, then random letters and digits.

use rand::{RngExt, distr::Alphanumeric};

/// An object's id, such as `pi_3QVvXg2eZvKYlo2CdYbkW0Lq`.
pub(super) fn object_id(prefix: &str) -> String {
    format!("{prefix}_{}", alphanumeric(24))
}

/// A payment method's id. Clients tell a real one from an alias (`pm_card_visa`) by the digit.
pub(super) fn payment_method_id() -> String {
    format!("pm_1{}", alphanumeric(23))
}

/// A customer's id, which is shorter.
pub(super) fn customer_id() -> String {
    format!("cus_{}", alphanumeric(14))
}

/// A request's id: 14 letters and digits.
pub(super) fn request_id() -> String {
    format!("req_{}", alphanumeric(14))
}

/// Random letters and digits from a cryptographic generator: a client secret is made of them too.
pub(super) fn alphanumeric(length: usize) -> String {
    rand::rng()
        .sample_iter(Alphanumeric)
        .take(length)
        .map(char::from)
        .collect()
}

/// Random decimal digits.
pub(super) fn digits(length: usize) -> String {
    let mut random = rand::rng();
    (0..length)
        .map(|_| char::from(random.random_range(b'0'..=b'9')))
        .collect()
}
