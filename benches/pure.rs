//! What a purchase costs that is neither the database's nor the wire's: each piece by itself.
//!
//!     cargo bench --bench pure

use std::net::Ipv4Addr;

use askama::Template as _;
use boring_checkout::{
    checkout::{Browser, Purchase},
    ids::{CartId, VisitorId},
    money::{Currency, Money},
    secret::Secret,
    web::{
        checkout_form::CheckoutForm,
        fields::Fields,
        views::{Chrome, Line, Status, StatusPage},
    },
    webhooks::{Event, signature},
};
use divan::{Bencher, black_box};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

fn main() {
    divan::main();
}

const FORM: &[u8] = b"idempotency_key=8e03978e-40d5-43dd-bc93-6894a57f9324&quoted_total=2490\
    &quoted_cart=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08&email=buyer%40example.com\
    &name=A+Buyer&address=1+Plain+Street&city=Ordinary&postal_code=12345&country=DE&payment_method=pm_card_visa";

fn purchase(fields: &Fields) -> Option<Purchase> {
    let browser = Browser {
        address: Ipv4Addr::LOCALHOST.into(),
        agent: "a browser".to_owned(),
    };
    let (visitor, cart) = (VisitorId::new(), CartId::new());
    CheckoutForm::posted(fields).parse(visitor, cart, browser, Currency::Eur)
}

#[divan::bench]
fn decode_a_form() -> Fields {
    Fields::of(black_box(FORM))
}

#[divan::bench]
fn read_a_purchase(bencher: Bencher) {
    let fields = Fields::of(FORM);
    bencher.bench_local(|| purchase(black_box(&fields)).expect("a purchase"));
}

#[divan::bench]
fn fingerprint(bencher: Bencher) {
    let purchase = purchase(&Fields::of(FORM)).expect("a purchase");
    bencher.bench_local(|| black_box(&purchase).fingerprint());
}

/// An event as long as the provider's own.
fn event() -> String {
    let intent = serde_json::json!({
        "id": "pi_3MtwBwLkdIwHu7ix28a3tqPa", "object": "payment_intent", "amount": 2490,
        "amount_received": 2490, "currency": "eur", "status": "succeeded",
        "metadata": {"checkout_id": "01936d3f-3f80-7a4b-8f1e-0123456789ab"},
        "description": "x".repeat(1500),
    });
    let event = serde_json::json!({
        "id": "evt_1NG8Du2eZvKYlo2CUI79vXWy", "object": "event", "type": "payment_intent.succeeded",
        "livemode": false, "data": {"object": intent},
    });
    event.to_string()
}

#[divan::bench]
fn verify_a_signature(bencher: Bencher) {
    let (body, secret) = (event(), "whsec_boring");
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any length");
    mac.update(format!("1700000000.{body}").as_bytes());
    let header = format!(
        "t=1700000000,v1={}",
        hex::encode(mac.finalize().into_bytes())
    );
    let secrets = [Secret::from(secret)];
    bencher.bench_local(|| {
        let verified = signature::verify(
            black_box(&header),
            black_box(body.as_bytes()),
            &secrets,
            1_700_000_000,
        );
        assert!(verified.is_ok());
    });
}

#[divan::bench]
fn read_an_event(bencher: Bencher) {
    let body = event();
    bencher.bench_local(|| {
        let event = Event::parse(black_box(body.as_bytes()), false).expect("an event");
        assert!(event.checkout.is_some());
        event
    });
}

#[divan::bench]
fn show_an_amount() -> String {
    black_box(Money::new(123_456, Currency::Eur)).to_string()
}

#[divan::bench]
fn read_an_amount() -> Money {
    Money::parse(black_box("1234.56"), Currency::Eur).expect("an amount")
}

#[divan::bench]
fn render_the_paid_page(bencher: Bencher) {
    let line = Line {
        sku: "TEA-01".to_owned(),
        name: "Assam".to_owned(),
        quantity: 1,
        unit_price: "€24.90".to_owned(),
        amount: "€24.90".to_owned(),
    };
    let page = StatusPage {
        chrome: Chrome::default(),
        checkout_id: "01936d3f-3f80-7a4b-8f1e-0123456789ab".to_owned(),
        again_url: "/checkouts/01936d3f-3f80-7a4b-8f1e-0123456789ab".to_owned(),
        has_cart: true,
        status: Status::Paid {
            order_number: "7K3M-9QXT-2P".to_owned(),
            order_url: "/orders/7K3M-9QXT-2P".to_owned(),
        },
        refresh_seconds: None,
        lines: vec![line],
        shipping: None,
        total: "€24.90".to_owned(),
        tax: None,
        address: vec!["Ada Lovelace".to_owned(), "London".to_owned()],
    };
    bencher.bench_local(|| black_box(&page).render().expect("a page"));
}
