//! Links that show something to whoever has them, without a session: an order, from the mail about it, and a purchase that a
//! program has made, from the bank's page back.
//!
//! The number or the id alone shows nothing. A link has a tag that only the shop can make from it and from the end of the
//! link's time, so there is nothing to store for each, and nothing to guess. The key of the tags is made up once and kept in
//! the database, where all processes find it.

use chrono::{DateTime, TimeDelta, Utc};
use hmac::{Hmac, KeyInit as _, Mac as _};
use rand::RngExt as _;
use sha2::Sha256;

use crate::{
    db::{Db, retrying},
    ids::CheckoutId,
    orders::OrderNumber,
    secret::Secret,
};

/// Under which name the database has the key.
const NAME: &str = "order_links";

/// How long a link to an order is good. A mail stays in a mailbox for years; its link is good for as long as somebody may have
/// a reason to look.
const ORDER_FOR: TimeDelta = TimeDelta::days(90);

/// How long a link to a purchase is good: until the slowest of payments has ended.
const CHECKOUT_FOR: TimeDelta = TimeDelta::days(14);

/// Makes the links, and recognizes them.
#[derive(Clone, Debug)]
pub struct Links {
    key: Secret,
    public_url: String,
}

impl Links {
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
    pub fn to_order(&self, number: &OrderNumber, since: DateTime<Utc>) -> String {
        let key = self.key(&of_order(number), since + ORDER_FOR);
        format!("{}/orders/{number}?key={key}", self.public_url)
    }

    /// The link to the page of a purchase that was submitted at `since`.
    pub fn to_checkout(&self, id: CheckoutId, since: DateTime<Utc>) -> String {
        let key = self.key(&of_checkout(id), since + CHECKOUT_FOR);
        format!("{}/checkouts/{id}?key={key}", self.public_url)
    }

    /// Where customers reach the shop, without a slash at the end.
    pub fn shop(&self) -> &str {
        &self.public_url
    }

    /// Whether `key` is the one in a link to this order, and good at `now`.
    pub fn open_order(&self, number: &OrderNumber, key: &str, now: DateTime<Utc>) -> bool {
        self.is_good(&of_order(number), key, now)
    }

    /// Whether `key` is the one in a link to this purchase, and good at `now`.
    pub fn open_checkout(&self, id: CheckoutId, key: &str, now: DateTime<Utc>) -> bool {
        self.is_good(&of_checkout(id), key, now)
    }

    fn key(&self, what: &str, until: DateTime<Utc>) -> String {
        let until = until.timestamp();
        let tag = self.tag(what, until).finalize().into_bytes();
        format!("{until}-{}", hex::encode(tag))
    }

    /// Takes as long whichever letter is wrong.
    fn is_good(&self, what: &str, key: &str, now: DateTime<Utc>) -> bool {
        let (until, tag) = key.split_once('-').unwrap_or_default();
        let until = until.parse().unwrap_or_default();
        let tag = hex::decode(tag).unwrap_or_default();
        self.tag(what, until).verify_slice(&tag).is_ok() && now.timestamp() < until
    }

    fn tag(&self, what: &str, until: i64) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.expose().as_bytes())
            .expect("a key of any length");
        mac.update(format!("{what} {until}").as_bytes());
        mac
    }
}

/// What a tag is made from. No order's number is like the other, so no link opens what it is not made for.
fn of_order(number: &OrderNumber) -> String {
    number.to_string()
}

fn of_checkout(id: CheckoutId) -> String {
    format!("checkout {id}")
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
