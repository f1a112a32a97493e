//! What people, robots and broken clients send. Each gets a clear answer, nothing changes, and nothing is our fault.

use crate::world::{Expected, Form, NOTHING, Shop, Visitor, raw};

/// The longest form that is read.
const FORM_MAX: usize = 64 * 1024;

const FORM: &str = "application/x-www-form-urlencoded";

const ODD_TEXTS: [&str; 13] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'><svg/onload=alert(1)>",
    "</title><script>alert(1)</script>",
    "{{7*7}}",
    "${7*7}",
    "Robert'); drop table orders;--",
    "A\r\nBcc: everybody@example.com",
    "A\u{202e}reyub",
    "\u{200f}\u{2066}A\u{2069}",
    "A\u{0}B",
    "🍵👩‍👩‍👧‍👦é",
    "%00%ff%zz&amp;&lt;",
];

const TYPED: [&str; 7] = [
    "email",
    "name",
    "address",
    "city",
    "postal_code",
    "country",
    "payment_method",
];

async fn everything(shop: &Shop) -> i64 {
    shop.count(
        "select (select count(*) from checkouts) + (select count(*) from orders)
              + (select count(*) from processed_events) + (select count(*) from outbox)
              + (select count(*) from stock_reservations where state <> 'sold')",
    )
    .await
}

/// No markup that was typed is markup on the page.
fn is_escaped(html: &str) {
    for markup in ["<script>alert", "<img src=x", "<svg/", "</title><script"] {
        assert!(!html.contains(markup), "{markup}");
    }
    assert!(
        !html.contains("€49") && !html.contains(">49<"),
        "a template ran"
    );
}

#[tokio::test]
async fn r73_odd_texts_are_refused_beside_their_field_or_shown_as_text() {
    let shop = Shop::open().await;
    let long = "x".repeat(10_000);
    let mut sold = 0;
    for field in TYPED {
        for text in ODD_TEXTS.into_iter().chain([&*long]) {
            let buyer = shop.visitor().with_cart("PEN-01", 1).await;
            let form = buyer.opens_checkout().await;
            let page = buyer.submits(&form.with(field, text)).await;
            if page.status == 303 {
                sold += 1;
                let status = page.location().to_owned();
                assert_eq!(buyer.waits_at(&status).await, "Paid", "{field}: {text:?}");
                is_escaped(&buyer.sees(&status).await.html);
                let order = buyer.sees(&order_of(&buyer, &status).await).await;
                is_escaped(&order.html);
                assert!(
                    order.text("main").contains(text.trim()),
                    "{field}: {text:?}"
                );
            } else {
                assert_eq!(page.status, 422, "{field}: {text:?}");
                assert_ne!(
                    page.text(&format!("#{field}-error")),
                    "",
                    "{field}: {text:?}"
                );
                assert!(page.text("title").starts_with("Error"));
                is_escaped(&page.html);
                assert_eq!(
                    page.form().field("idempotency_key"),
                    form.field("idempotency_key")
                );
            }
        }
    }
    assert!(sold > 20, "most texts are somebody's name: {sold}");
    let expected = Expected {
        charges: sold,
        orders: sold,
        sold,
    };
    shop.expects(expected).await;
}

async fn order_of(buyer: &Visitor, status: &str) -> String {
    let page = buyer.sees(status).await;
    let html = scraper::Html::parse_document(&page.html);
    let link = scraper::Selector::parse("main a.button").expect("a selector");
    let link = html.select(&link).next().expect("a link to the order");
    link.value().attr("href").expect("an address").to_owned()
}

#[tokio::test]
async fn a_form_whose_key_is_none_comes_back_with_a_good_one() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let long = "8".repeat(10_000);
    let keys = [
        "",
        "1",
        "null",
        "00000000-0000-0000-0000-000000000000",
        "8e03978e-40d5-43dd-bc93-6894a57f932",
        "8e03978e-40d5-43dd-bc93-6894a57f9324x",
        &long,
    ];
    let forms = keys.iter().map(|key| form.with("idempotency_key", key));
    let odd = ODD_TEXTS
        .iter()
        .map(|text| form.with("idempotency_key", text));
    for bad in forms.chain(odd).chain([form.without("idempotency_key")]) {
        let page = buyer.submits(&bad).await;
        assert_eq!(page.status, 422, "{:?}", bad.field("idempotency_key"));
        is_escaped(&page.html);
        let fresh = page.form();
        let key: uuid::Uuid = fresh.field("idempotency_key").parse().expect("a key");
        assert_eq!(key.get_version_num(), 4);
        assert_eq!(fresh.field("name"), "A Buyer", "what was typed is kept");
    }
    assert_eq!(everything(&shop).await, 0);
    shop.expects(NOTHING).await;
}

#[tokio::test]
async fn fields_that_are_missing_twice_there_or_not_asked_for() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    for field in TYPED {
        for bad in [
            form.without(field),
            form.with(field, ""),
            form.with(field, " \t "),
        ] {
            let page = buyer.submits(&bad).await;
            assert_eq!(page.status, 422, "{field}");
            assert_ne!(page.text(&format!("#{field}-error")), "", "{field}");
        }
    }
    for method in [
        "pm_card_amex",
        "PM_CARD_VISA",
        "pm_card_visa ; x",
        "4242424242424242",
    ] {
        let page = buyer.submits(&form.with("payment_method", method)).await;
        assert_eq!(page.status, 422, "{method}");
    }
    let nothing = Form(std::collections::BTreeMap::new());
    assert_eq!(buyer.submits(&nothing).await.status, 422);
    // Somebody without a cart has nothing to buy, whatever the form says.
    assert_eq!(shop.visitor().submits(&form).await.location(), "/cart");
    assert_eq!(everything(&shop).await, 0);
    shop.expects(NOTHING).await;
}

#[tokio::test]
async fn a_body_that_is_no_form_or_too_much_of_one() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let whole = buyer.submission(&buyer.opens_checkout().await).build();
    let whole = whole
        .expect("a request")
        .body()
        .and_then(|body| body.as_bytes().map(<[u8]>::to_vec));
    let whole = whole.expect("a body");
    for kind in [
        "application/json",
        "multipart/form-data; boundary=x",
        "text/plain",
        "",
        "form",
    ] {
        let page = buyer
            .send(buyer.post_body("/checkout", kind, whole.clone()))
            .await;
        assert_eq!(page.status, 415, "{kind}");
    }
    let of_length = |length: usize| {
        let start = "name=";
        buyer.post_body(
            "/checkout",
            FORM,
            format!("{start}{}", "x".repeat(length - start.len())),
        )
    };
    assert_eq!(buyer.send(of_length(FORM_MAX + 1)).await.status, 413);
    assert_eq!(buyer.send(of_length(FORM_MAX)).await.status, 422);
    let odd_bodies: [&[u8]; 9] = [
        b"",
        b"&&&===&&",
        b"name=%",
        b"name=%zz&email=%f",
        b"name=%ff%fe&email=\xff\xfe@example.com",
        b"\xff\xfe\x00\x01",
        b"{\"name\":\"A Buyer\"}",
        b"name[0]=1&name[]=2&name=3",
        b"%00=%00",
    ];
    for body in odd_bodies {
        let page = buyer
            .send(buyer.post_body("/checkout", FORM, body.to_vec()))
            .await;
        assert_eq!(page.status, 422, "{body:?}");
    }
    assert_eq!(everything(&shop).await, 0);
    shop.expects(NOTHING).await;
}

/// Everything that has an address, asked for in every way that a scanner knows.
#[tokio::test]
async fn a_barrage_of_odd_requests_meets_no_fault_of_ours() {
    let shop = Shop::open().await;
    let long = "x".repeat(10_000);
    let mut ids: Vec<String> = [
        "",
        "0",
        "-1",
        "%00",
        "a%00b",
        "%",
        "%zz",
        "%ff%fe",
        "%2e%2e",
        "..%2f..%2fetc%2fpasswd",
        "%252e",
        "%F0%9F%8D%B5",
        "\u{e9}",
        "%0d%0aSet-Cookie:x=1",
        "<script>",
        "%3Cscript%3E",
        "'",
        "%27--",
        "*",
        "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "0000-0000-00",
        "null",
        "TEA-01/TEA-01",
        ";jsessionid=1",
    ]
    .map(str::to_owned)
    .to_vec();
    ids.push(long.clone());
    let places = [
        "/",
        "/products/",
        "/cart/items/",
        "/checkouts/",
        "/orders/",
        "/static/",
        "/static/css/",
        "/x/",
        "//",
    ];
    let mut requests: Vec<String> = Vec::new();
    for place in places {
        for id in &ids {
            requests.push(format!("GET {place}{id}"));
            requests.push(format!("POST {place}{id}"));
        }
    }
    for path in [
        "/",
        "/cart",
        "/cart/items",
        "/checkout",
        "/webhooks/provider",
        "/healthz",
        "/readyz",
        "/static/css/base.css",
    ] {
        for method in [
            "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "get", "X",
        ] {
            requests.push(format!("{method} {path}"));
        }
        requests.push(format!("GET {path}?{long}"));
        requests.push(format!("GET {path}?%00=%ff&a[b]=c"));
        requests.push(format!("POST {path}"));
    }
    let headers = [
        String::new(),
        "cookie: boring_session=garbage\r\n".to_owned(),
        "cookie: boring_session=\r\n".to_owned(),
        "cookie: boring_session=AAAAAAAAAAAAAAAAAAAAAA; boring_session=x\r\n".to_owned(),
        "cookie: ;;=;\u{e9}=%00; boring_session=%00%ff\r\n".to_owned(),
        format!("cookie: boring_session={long}\r\n"),
        "content-type: application/x-www-form-urlencoded\r\nconnection: close\r\n\r\n".to_owned(),
        "accept: ../../\r\naccept-language: \u{0}x\r\n".to_owned(),
    ];
    for (n, request) in requests.iter().enumerate() {
        let header = &headers[n % headers.len()];
        let message =
            format!("{request} HTTP/1.1\r\nhost: shop\r\nconnection: close\r\n{header}\r\n");
        is_no_fault(&shop, message.as_bytes()).await;
    }
    for header in &headers {
        let message =
            format!("GET /cart HTTP/1.1\r\nhost: shop\r\nconnection: close\r\n{header}\r\n");
        is_no_fault(&shop, message.as_bytes()).await;
    }
    assert_eq!(everything(&shop).await, 0);
    assert_eq!(shop.count("select count(*) from cart_items").await, 0);
    assert_eq!(shop.count("select count(*) from sessions").await, 0);
    shop.expects(NOTHING).await;
}

#[tokio::test]
async fn messages_that_are_hardly_http_are_refused() {
    let shop = Shop::open().await;
    let huge = format!("x: {}\r\n", "x".repeat(1 << 20));
    let many = "x: y\r\n".repeat(1000);
    let messages = [
        "GET\r\n\r\n".to_owned(),
        "GET / HTTP/9.9\r\n\r\n".to_owned(),
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\r\n\r\n".to_owned(),
        format!("GET / HTTP/1.1\r\nhost: shop\r\nconnection: close\r\n{huge}\r\n"),
        format!("GET / HTTP/1.1\r\nhost: shop\r\nconnection: close\r\n{many}\r\n"),
        format!("GET /{} HTTP/1.1\r\nhost: shop\r\nconnection: close\r\n\r\n", "x".repeat(100_000)),
        "POST /checkout HTTP/1.1\r\nhost: shop\r\nconnection: close\r\ncontent-length: -1\r\n\r\n".to_owned(),
        "POST /checkout HTTP/1.1\r\nhost: shop\r\nconnection: close\r\ncontent-length: x\r\n\r\n".to_owned(),
        "POST /checkout HTTP/1.1\r\nhost: shop\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n".to_owned(),
        "POST /checkout HTTP/1.1\r\nhost: shop\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab".to_owned(),
    ];
    for message in messages {
        let (status, answer) = raw(&shop.url, message.as_bytes()).await;
        let start = &message[..message.len().min(60)];
        assert!((400..500).contains(&status), "{start:?}: {answer}");
    }
    assert_eq!(shop.visitor().sees("/").await.status, 200);
    shop.expects(NOTHING).await;
}

async fn is_no_fault(shop: &Shop, message: &[u8]) {
    let (status, answer) = raw(&shop.url, message).await;
    let start = String::from_utf8_lossy(&message[..message.len().min(100)]).into_owned();
    assert!((200..500).contains(&status), "{start}: {answer}");
    assert!(!answer.contains("Set-Cookie:x"), "{start}");
    assert!(!answer.contains("root:"), "{start}");
    is_escaped(&answer);
}
