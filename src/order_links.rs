//! The link to an order that a mail carries: it shows the order to whoever has it, without a session.
//!
//! The number alone shows nothing. The link has a tag that only the shop can make from it, so there is nothing to store
//! for each order, and nothing to guess. The key of the tags is made up once and kept in the database, where all processes
//! find it.

use chrono::{DateTime, Utc};
use hmac::{Hmac, KeyInit as _, Mac as _};
use rand::RngExt as _;
use sha2::Sha256;

use crate::{
    db::{Db, retrying},
    orders::OrderNumber,
    secret::Secret,
};

/// Under which name the database has the key.
const NAME: &str = "order_links";

/// Makes the links, and recognizes them.
#[derive(Clone, Debug)]
pub struct OrderLinks {
    key: Secret,
    public_url: String,
}

impl OrderLinks {
    /// With the key of this database, which is made up when there is none.
    pub async fn open(db: &Db, public_url: &str, now: DateTime<Utc>) -> sqlx::Result<Self> {
        let fresh = hex::encode(rand::rng().random::<[u8; 32]>());
        let key: String = retrying(|| key_once(db, &fresh, now)).await?;
        Ok(Self {
            key: Secret::new(key),
            public_url: public_url.to_owned(),
        })
    }

    /// The link to an order's page.
    pub fn to(&self, number: &OrderNumber) -> String {
        let tag = hex::encode(self.tag(number).finalize().into_bytes());
        format!("{}/orders/{number}?key={tag}", self.public_url)
    }

    /// The link to the shop.
    pub fn shop(&self) -> &str {
        &self.public_url
    }

    /// Whether `tag` is the one in the link to this order. Takes as long whichever letter is wrong.
    pub fn is_signed(&self, number: &OrderNumber, tag: &str) -> bool {
        let tag = hex::decode(tag).unwrap_or_default();
        self.tag(number).verify_slice(&tag).is_ok()
    }

    fn tag(&self, number: &OrderNumber) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.expose().as_bytes())
            .expect("a key of any length");
        mac.update(number.as_str().as_bytes());
        mac
    }
}

/// Of several processes that start at once, one inserts its key; all read the one that is there then.
async fn key_once(db: &Db, fresh: &str, now: DateTime<Utc>) -> sqlx::Result<String> {
    let mut tx = db.begin().await?;
    tx.query(
        "insert into secrets (name, value, created_at) values ($1, $2, $3) on conflict do nothing",
    )
    .bind(NAME)
    .bind(fresh)
    .bind(now)
    .execute()
    .await?;
    let key = tx
        .query("select value from secrets where name = $1")
        .bind(NAME)
        .fetch_scalar()
        .await?;
    tx.commit().await?;
    Ok(key)
}
