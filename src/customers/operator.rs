//! Customers can be listed.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::{
    db::Db,
    ids::CustomerId,
    paging::{self, Keyed, Page, Turn, Turns, turns},
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

const ALL: Turns = turns!("select * from customers where true", limit "$2", "id" = "$1");

/// A page of all of them, newest customer first.
pub async fn list(db: &Db, turn: &Turn<Uuid>) -> sqlx::Result<Page<Listed>> {
    paging::page(db, &ALL, turn, |query| query).await
}
