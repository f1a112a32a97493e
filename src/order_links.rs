//! The link to an order that a mail carries: it shows the order to whoever has it, without a session.
//!
//! The number alone shows nothing. The link has a tag that only the shop can make from it and from the end of the link's
//! time, so there is nothing to store for each order, and nothing to guess. A mail stays in a mailbox for years; its link is
//! good for as long as somebody may have a reason to look. The key of the tags is made up once and kept in the database,
//! where all processes find it.

use chrono::{DateTime, TimeDelta, Utc};
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

/// How long a link is good.
const GOOD_FOR: TimeDelta = TimeDelta::days(90);

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

    /// The link to an order's page, from what happened at `since`: the same whenever it is asked for.
    pub fn to(&self, number: &OrderNumber, since: DateTime<Utc>) -> String {
        let until = (since + GOOD_FOR).timestamp();
        let tag = hex::encode(self.tag(number, until).finalize().into_bytes());
        format!("{}/orders/{number}?key={until}-{tag}", self.public_url)
    }

    /// The link to the shop.
    pub fn shop(&self) -> &str {
        &self.public_url
    }

    /// Whether `key` is the one in a link to this order, and good at `now`. Takes as long whichever letter is wrong.
    pub fn is_signed(&self, number: &OrderNumber, key: &str, now: DateTime<Utc>) -> bool {
        let (until, tag) = key.split_once('-').unwrap_or_default();
        let until = until.parse().unwrap_or_default();
        let tag = hex::decode(tag).unwrap_or_default();
        self.tag(number, until).verify_slice(&tag).is_ok() && now.timestamp() < until
    }

    fn tag(&self, number: &OrderNumber, until: i64) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.expose().as_bytes())
            .expect("a key of any length");
        mac.update(format!("{number} {until}").as_bytes());
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
