//! Every page and every form, tried by whom it is none of their business: nothing is seen, and nothing changes.

use reqwest::{Method, RequestBuilder};

use crate::world::{ONCE, Page, Shop, Visitor, client};

/// What a shop knows of somebody who has bought once, and what opens it.
struct Bought {
    buyer: Visitor,
    /// Addresses of theirs.
    pages: [String; 2],
    /// What is nobody else's business.
    secrets: Vec<String>,
}

impl Bought {
    async fn at(shop: &Shop) -> Self {
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        let form = buyer.opens_checkout().await;
        let form = form
            .with("email", "tea@example.com")
            .with("name", "Erika Mustermann")
            .with("address", "7 Secret Street");
        let status = buyer.submits(&form).await.location().to_owned();
        assert_eq!(buyer.waits_at(&status).await, "Paid");
        let page = buyer.sees(&status).await;
        let order = page.link_that_starts("/orders/");
        let number = order.trim_start_matches("/orders/").to_owned();
        let checkout = status.trim_start_matches("/checkouts/").to_owned();
        let secrets = vec![
            "tea@example.com".to_owned(),
            "Mustermann".to_owned(),
            "Secret Street".to_owned(),
            form.field("idempotency_key").to_owned(),
            number,
            checkout,
        ];
        // Something is in the cart again, so that there is something to change.
        buyer.adds("TEA-01", 1).await;
        Self {
            buyer,
            pages: [status, order],
            secrets,
        }
    }

    /// Every address of the shop. What is in braces is theirs.
    fn addresses(&self) -> Vec<String> {
        let [status, order] = &self.pages;
        let operators = self.pages.clone().map(|theirs| format!("/admin{theirs}"));
        let refund = format!("/admin{order}/refunds");
        let mut addresses = vec![status.clone(), order.clone(), refund];
        addresses.extend(operators);
        addresses.extend(ADDRESSES.map(str::to_owned));
        addresses
    }

    fn is_not_told(&self, page: &Page, what: &str, asked: &str) {
        for secret in &self.secrets {
            // The page that says that there is nothing may well be at the address that was asked for.
            let said = page.html.replace(asked, "");
            assert!(!said.contains(secret.as_str()), "{what}: {secret}");
        }
        if !page.header("location").is_empty() {
            let location = page.header("location").replace(asked, "");
            let leads = self.secrets.iter().any(|it| location.contains(it.as_str()));
            assert!(!leads, "{what}: {location}");
        }
    }
}

/// Those that are the same for everybody.
const ADDRESSES: [&str; 23] = [
    "/",
    "/products/TEA-01",
    "/cart",
    "/cart/items",
    "/cart/items/TEA-01",
    "/checkout",
    "/webhooks/provider",
    "/healthz",
    "/readyz",
    "/static/css/base.css",
    "/mailbox",
    "/metrics",
    "/admin",
    "/admin/checkouts",
    "/admin/orders",
    "/admin/refunds",
    "/admin/events",
    "/admin/outbox",
    "/admin/outbox/retry",
    "/admin/mails",
    "/admin/mails/retry",
    "/admin/discrepancies",
    "/admin/audit",
];

/// All that a purchase is about, in one number for each table and column that counts.
async fn state(shop: &Shop) -> Vec<i64> {
    let mut state = Vec::new();
    for sql in [
        "select count(*) from checkouts",
        "select count(*) from checkouts where status = 'pending'",
        "select cast(coalesce(sum(attempts), 0) as bigint) from checkouts",
        "select count(*) from orders",
        "select count(*) from payments",
        "select cast(coalesce(sum(refunded_minor), 0) as bigint) from payments",
        "select count(*) from refunds",
        "select count(*) from emails",
        "select count(*) from outbox",
        "select count(*) from processed_events",
        "select count(*) from discrepancies",
        "select cast(sum(stock) as bigint) from products",
        "select cast(coalesce(sum(quantity), 0) as bigint) from cart_items",
        "select count(*) from carts",
        "select count(*) from sessions",
    ] {
        state.push(shop.count(sql).await);
    }
    state
}

fn at(shop: &Shop, method: Method, address: &str) -> RequestBuilder {
    client().request(method, format!("{}{address}", shop.url))
}

async fn answer(request: RequestBuilder) -> Page {
    Page::of(request.send().await.expect("an answer")).await
}

/// A form for the address that would do something there.
fn form_for(address: &str) -> &'static str {
    match address {
        "/cart/items" => "sku=TEA-01&quantity=1",
        "/cart/items/TEA-01" => "quantity=0",
        _ => "",
    }
}

fn filled(request: RequestBuilder, address: &str) -> RequestBuilder {
    request
        .header("content-type", "application/x-www-form-urlencoded")
        .body(form_for(address))
}

#[tokio::test]
async fn a_stranger_sees_nothing_and_changes_nothing_by_looking() {
    let shop = Shop::open_with(&["--no-lab"]).await;
    let bought = Bought::at(&shop).await;
    shop.hears_everything().await;
    let before = state(&shop).await;
    let prefetch = [("sec-purpose", "prefetch"), ("purpose", "prefetch")];
    for address in bought.addresses() {
        for method in [Method::GET, Method::HEAD, Method::OPTIONS] {
            for headers in [&[][..], &prefetch, &[("sec-fetch-site", "cross-site")]] {
                let mut request = at(&shop, method.clone(), &address);
                for (name, value) in headers {
                    request = request.header(*name, *value);
                }
                let what = format!("{method} {address} {headers:?}");
                let page = answer(request).await;
                assert!(page.status < 500, "{what}: {}", page.status);
                bought.is_not_told(&page, &what, &address);
            }
        }
    }
    for theirs in &bought.pages {
        assert_eq!(shop.visitor().sees(theirs).await.status, 404);
    }
    assert_eq!(state(&shop).await, before);
    shop.expects(ONCE).await;
}

/// A browser in which somebody has bought is made to send forms, by a page of another site. It sends the cookie along.
#[tokio::test]
async fn another_site_can_send_nothing_in_a_customers_name() {
    let shop = Shop::open_with(&["--no-lab", "--public-url", "https://shop.example"]).await;
    let bought = Bought::at(&shop).await;
    shop.hears_everything().await;
    let before = state(&shop).await;
    let cookie = bought.buyer.cookie().expect("a cookie");
    let origins: [&[(&str, &str)]; 6] = [
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("origin", "https://evil.example")],
        &[("origin", "null")],
        &[("origin", "https://shop.example.evil.example")],
        &[
            ("origin", "https://evil.example"),
            ("sec-fetch-site", "cross-site"),
            ("referer", "https://shop.example/cart"),
        ],
    ];
    for address in bought.addresses() {
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            for headers in origins {
                let mut request = at(&shop, method.clone(), &address).header("cookie", &cookie);
                for (name, value) in headers {
                    request = request.header(*name, *value);
                }
                let what = format!("{method} {address} {headers:?}");
                let page = answer(filled(request, &address)).await;
                let refusal: &[u16] = match address.as_str() {
                    // Machines have no pages. What is not signed is refused by its signature.
                    "/webhooks/provider" => &[400, 405],
                    "/healthz" | "/readyz" | "/metrics" | "/static/css/base.css" => &[405],
                    address if address.starts_with("/admin") => &[401],
                    _ => &[403],
                };
                assert!(refusal.contains(&page.status), "{what}: {}", page.status);
                bought.is_not_told(&page, &what, &address);
            }
        }
    }
    assert_eq!(state(&shop).await, before);
    // The same browser, on our own pages: behind a proxy, and in an old one that says less.
    for ours in [
        &[("sec-fetch-site", "same-origin")][..],
        &[
            ("origin", "https://shop.example"),
            ("host", "internal:3000"),
        ],
        &[],
    ] {
        let mut request = at(&shop, Method::POST, "/cart/items/TEA-01").header("cookie", &cookie);
        for (name, value) in ours {
            request = request.header(*name, *value);
        }
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let page = answer(request.body("quantity=2")).await;
        assert_eq!(page.status, 303, "{ours:?}");
    }
    shop.expects(ONCE).await;
}

/// Somebody with a session and a cart of their own, who knows another's addresses and key.
#[tokio::test]
async fn somebody_elses_session_opens_nothing() {
    let shop = Shop::open_with(&["--no-lab"]).await;
    let bought = Bought::at(&shop).await;
    let somebody = shop.visitor().with_cart("TEA-01", 2).await;
    shop.hears_everything().await;
    let before = state(&shop).await;
    for address in bought.addresses() {
        let page = somebody.sees(&address).await;
        bought.is_not_told(&page, &address, &address);
    }
    let [status, order] = &bought.pages;
    for theirs in [status, order] {
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let request = at(&shop, method, theirs);
            let cookie = somebody.cookie().expect("a cookie");
            let page = answer(filled(request.header("cookie", cookie), theirs)).await;
            assert_eq!(page.status, 405);
            bought.is_not_told(&page, theirs, theirs);
        }
    }
    let key = &bought.secrets[3];
    let form = somebody.opens_checkout().await;
    let refused = somebody.submits(&form.with("idempotency_key", key)).await;
    assert_eq!(refused.status, 422);
    bought.is_not_told(&refused, "their key", key);
    assert_eq!(state(&shop).await, before);
    shop.expects(ONCE).await;
}

/// Whoever follows a form's address, or reloads it, repeats nothing.
#[tokio::test]
async fn where_a_form_is_meant_a_look_does_nothing() {
    let shop = Shop::open_with(&["--no-lab"]).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let before = state(&shop).await;
    for address in ["/cart/items", "/cart/items/TEA-01", "/webhooks/provider"] {
        for method in [Method::GET, Method::HEAD] {
            let cookie = buyer.cookie().expect("a cookie");
            let query = format!("{address}?sku=TEA-01&quantity=0");
            let page = answer(at(&shop, method, &query).header("cookie", cookie)).await;
            assert_eq!(page.status, 405, "{address}");
            assert!(page.header("allow").contains("POST"), "{address}");
        }
    }
    let fields: Vec<String> = form.0.iter().map(|(k, v)| format!("{k}={v}")).collect();
    let page = buyer
        .sees(&format!("/checkout?{}", fields.join("&").replace(' ', "+")))
        .await;
    assert_eq!(page.status, 200);
    assert_eq!(state(&shop).await, before);
}
