//! Customers can be listed, and found.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::{
    ids::CustomerId,
    paging::{Keyed, Turns, turns},
    search::{self, Searchable, Way},
};

/// A customer in a list.
#[derive(Debug, sqlx::FromRow)]
pub struct Listed {
    /// Their id.
    pub id: CustomerId,
    /// Their address, as it was typed last.
    pub email: String,
    /// What they were called then.
    pub name: String,
    /// When they ordered first.
    pub first_order_at: DateTime<Utc>,
    /// When they ordered last.
    pub last_order_at: DateTime<Utc>,
}

impl Keyed for Listed {
    type Key = Uuid;
    fn key(&self) -> Uuid {
        self.id.into()
    }
}

macro_rules! listed {
    ($condition:literal) => {
        turns!(concat!("select * from customers where ", $condition), limit "$2", "id" = "$1")
    };
}

impl Searchable for Listed {
    const ALL: Turns = listed!("true");
    const WAYS: &'static [Way] = &[Way {
        form: search::email,
        turns: listed!("email_folded = $3"),
    }];
}
