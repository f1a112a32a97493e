//! Forms, filled in ahead: what a browser would send after its visitor has put one thing into a cart and typed an address.
//!
//! They are made by SQL, since a thousand a second are bought: a session, a cart and its one line for each. A real visitor comes
//! first, over HTTP, whose session shows how the shop writes them down; and the first form that is made is compared with the one
//! that the shop renders for it.

use std::collections::BTreeMap;

use boring_checkout::{
    cart::{self, Line},
    checkout::IdempotencyKey,
    db::Db,
    ids::{CartId, VisitorId},
    money::Money,
};
use chrono::Utc;
use sqlx::types::Json;
use tower_sessions::session::{Id, Record};
use uuid::Uuid;

use super::{
    buyers::Form,
    database::{Database, sku},
    http::{Connection, get, post},
};

/// As many are committed at once.
const BATCH: usize = 500;

/// What is bought, in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goods {
    /// A product after the other.
    All,
    /// The first one, always.
    One,
}

impl Goods {
    fn sku(self, place: usize) -> String {
        match self {
            Self::All => sku(place),
            Self::One => sku(0),
        }
    }
}

/// A cart with one thing in it, and whose it is.
#[derive(Clone, Debug)]
pub struct Cart {
    pub id: CartId,
    pub visitor: VisitorId,
    pub sku: String,
}

/// Fills so many carts.
pub async fn carts(db: &Db, goods: Goods, count: usize) -> Vec<Cart> {
    let carts: Vec<_> = (0..count)
        .map(|place| Cart {
            id: CartId::new(),
            visitor: VisitorId::new(),
            sku: goods.sku(place),
        })
        .collect();
    let now = Utc::now();
    for batch in carts.chunks(BATCH) {
        let mut tx = db.begin().await.unwrap();
        for cart in batch {
            tx.query("insert into carts (id, created_at, idle_since) values ($1, $2, $2)")
                .bind(cart.id)
                .bind(now)
                .execute()
                .await
                .unwrap();
            tx.query("insert into cart_items (cart_id, sku, quantity) values ($1, $2, 1)")
                .bind(cart.id)
                .bind(&cart.sku)
                .execute()
                .await
                .unwrap();
        }
        tx.commit().await.unwrap();
    }
    carts
}

/// The shop's own way to write a session down.
pub struct Sessions {
    record: Record,
    expires_at: i64,
}

impl Sessions {
    /// As the session of somebody who has just put something into their cart.
    pub async fn like_those_of(shop: &mut Connection, database: &Database) -> Self {
        let form = [("sku", sku(0)), ("quantity", "1".to_owned())];
        let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
        let added = shop.send(&post("/cart/items", "", &form));
        let cookie = added.cookie.expect("a session");
        let (_, id) = cookie.split_once('=').expect("a name");
        let (Json(record), expires_at) = database
            .db
            .query("select record, expires_at from sessions where id = $1")
            .bind(id)
            .fetch_one::<(Json<Record>, i64)>()
            .await
            .unwrap();
        Self { record, expires_at }
    }

    fn of(&self, cart: &Cart, id: Id) -> Record {
        let mut record = self.record.clone();
        record.id = id;
        let visitor = record.data.get_mut("visitor").expect("a visitor");
        *visitor = serde_json::json!({"id": cart.visitor, "cart": cart.id});
        record
    }
}

/// So many forms of the shop.
pub async fn safe(
    database: &Database,
    sessions: &Sessions,
    goods: Goods,
    count: usize,
) -> Vec<Form> {
    let db = &database.db;
    let carts = carts(db, goods, count).await;
    let lines = lines(db, &carts).await;
    let mut forms = Vec::with_capacity(count);
    for batch in carts.chunks(BATCH) {
        let mut tx = db.begin().await.unwrap();
        for cart in batch {
            let id = Id::default();
            tx.query("insert into sessions (id, record, expires_at) values ($1, $2, $3)")
                .bind(id.to_string())
                .bind(Json(sessions.of(cart, id)))
                .bind(sessions.expires_at)
                .execute()
                .await
                .unwrap();
            forms.push(form(cart, &lines, id));
        }
        tx.commit().await.unwrap();
    }
    forms
}

/// What is in such a cart, by its product. All products cost the same, so one line stands for each other's figures.
async fn lines(db: &Db, carts: &[Cart]) -> BTreeMap<String, Vec<Line>> {
    let mut lines = BTreeMap::new();
    let mut tx = db.read().await.unwrap();
    for cart in carts {
        if !lines.contains_key(&cart.sku) {
            let of_cart = cart::lines(&mut tx, cart.id).await.unwrap();
            lines.insert(cart.sku.clone(), of_cart);
        }
    }
    lines
}

fn form(cart: &Cart, lines: &BTreeMap<String, Vec<Line>>, session: Id) -> Form {
    let lines = &lines[&cart.sku];
    let Money { minor, .. } = cart::total(lines).unwrap();
    let headers = format!("Cookie: boring_session={session}\r\n");
    let key = IdempotencyKey::fresh().to_string();
    let (total, digest) = (minor.to_string(), cart::digest(cart.id, lines));
    let email = format!("{}@example.com", cart.visitor);
    let fields = [
        ("idempotency_key", key.as_str()),
        ("quoted_total", &total),
        ("quoted_cart", &digest),
        ("email", &email),
        ("name", "A Buyer"),
        ("address", "1 Plain Street"),
        ("city", "Ordinary"),
        ("postal_code", "12345"),
        ("country", "DE"),
        ("payment_method", "pm_card_visa"),
    ];
    Form {
        request: post("/checkout", &headers, &fields),
        headers,
    }
}

/// Compares a form that was made here with the one that the shop renders for the same visitor.
pub fn check(shop: &mut Connection, form: &Form) {
    let page = shop.send(&get("/checkout", &form.headers));
    for name in ["quoted_total", "quoted_cart"] {
        let (_, rest) = page
            .text()
            .split_once(&format!("name=\"{name}\" value=\""))
            .expect("a form");
        let field = format!("{name}={}&", rest.split('"').next().unwrap());
        assert!(form.request.contains(&field), "{field} {}", form.request);
    }
}

/// So many forms of the naive twin, in the database of the shop.
pub async fn naive(database: &Database, goods: Goods, count: usize) -> Vec<Form> {
    let mut forms = Vec::with_capacity(count);
    let mut tx = database.db.begin().await.unwrap();
    for place in 0..count {
        let cart = Uuid::new_v4();
        tx.query("insert into naive_cart_items (cart_id, sku, quantity) values ($1, $2, 1)")
            .bind(cart)
            .bind(goods.sku(place))
            .execute()
            .await
            .unwrap();
        let email = format!("{cart}@example.com");
        let fields = [
            ("total", "2490"),
            ("email", email.as_str()),
            ("payment_method", "pm_card_visa"),
        ];
        forms.push(Form {
            request: post(&format!("/naive/carts/{cart}"), "", &fields),
            headers: String::new(),
        });
    }
    tx.commit().await.unwrap();
    forms
}
