//! Customers: whoever has ordered something, a row for each e-mail address.
//!
//! The row is written in the transaction of the order. Of two first orders of somebody at the same moment, one inserts it
//! and the other one waits and updates it, since the address is unique. No transaction takes the rows of two customers,
//! and nothing that others want is taken after it, so nobody waits in a circle.

pub mod operator;

use chrono::{DateTime, Utc};

use crate::{checkout::Buyer, db::Tx, ids::CustomerId};

/// An address as it names a customer: in lower case, of every script that has one.
///
/// Mail servers may tell `Ann@` from `ann@`, and hardly any does. That is all: what merely looks alike or sounds alike
/// (`straße@` and `strasse@`, an accent in one character or in two) may be two mailboxes, and stays two customers. The
/// purchase keeps the address as it was typed.
pub fn fold(email: &str) -> String {
    email.to_lowercase()
}

/// Notes that `buyer` has ordered, as a part of the transaction that places the order. Their latest name and spelling
/// stand.
pub async fn note(tx: &mut Tx, buyer: &Buyer, now: DateTime<Utc>) -> sqlx::Result<CustomerId> {
    tx.query(
        "insert into customers (id, email_folded, email, name, first_order_at, last_order_at)
         values ($1, $2, $3, $4, $5, $5)
         on conflict (email_folded) do update
         set email = excluded.email, name = excluded.name,
             last_order_at = case when excluded.last_order_at > customers.last_order_at
                                  then excluded.last_order_at else customers.last_order_at end
         returning id",
    )
    .bind(CustomerId::new())
    .bind(fold(&buyer.email))
    .bind(&buyer.email)
    .bind(&buyer.name)
    .bind(now)
    .fetch_scalar()
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_in_two_cases_is_one_customer() {
        assert_eq!(fold("Ann.O'Neill@Mail.Example"), "ann.o'neill@mail.example");
        assert_eq!(fold("KÖLN@BÜCHER.example"), fold("köln@bücher.example"));
        assert_eq!(fold("ИВАН@пример.example"), fold("иван@ПРИМЕР.example"));
        assert_ne!(fold("straße@x.example"), fold("strasse@x.example"));
    }
}
