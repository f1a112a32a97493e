//! Who may see the operator's pages, and how guessing is slowed.

use std::{net::IpAddr, process::Command};

use reqwest::{Method, StatusCode};

use crate::world::{Database, NOTHING, ONCE, Operator, PASSWORD, Page, Process, Shop, client};

/// Each of the operator's addresses, by an example.
const ADDRESSES: [&str; 25] = [
    "/admin",
    "/admin/",
    "/admin/nothing/here",
    "/admin/checkouts?q=x",
    "/admin/checkouts/01938c6e-0000-7000-8000-000000000000",
    "/admin/orders",
    "/admin/orders/7K3M-9QXT-2P",
    "/admin/orders/7K3M-9QXT-2P/refunds",
    "/admin/orders/7K3M-9QXT-2P/refunds/new",
    "/admin/orders/7K3M-9QXT-2P/refunds/01938c6e-0000-7000-8000-000000000000",
    "/admin/customers",
    "/admin/refunds",
    "/admin/events",
    "/admin/outbox",
    "/admin/outbox/retry",
    "/admin/outbox/1/retry",
    "/admin/mail",
    "/admin/mail/retry",
    "/admin/mail/01938c6e-0000-7000-8000-000000000000/retry",
    "/admin/mail/01938c6e-0000-7000-8000-000000000000/order_confirmation/resend",
    "/admin/discrepancies",
    "/admin/discrepancies/01938c6e-0000-7000-8000-000000000000",
    "/admin/discrepancies/01938c6e-0000-7000-8000-000000000000/resolve",
    "/admin/audit",
    "/admin//",
];

/// Asks with this header and no other.
async fn with_header(shop: &Shop, authorization: &[u8]) -> Page {
    let request = client()
        .get(format!("{}/admin", shop.url))
        .header("authorization", authorization);
    Page::of(request.send().await.expect("an answer")).await
}

#[tokio::test]
async fn strangers_get_401_at_every_address_with_every_method_and_nothing_changes() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    let parked = "update outbox set parked_at = created_at, attempts = 10";
    assert_eq!(shop.alters(parked).await, 1);
    let client = client();
    let methods = [
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PURGE",
    ];
    for method in methods {
        let method: Method = method.parse().expect("a method");
        for path in ADDRESSES {
            let request = client.request(method.clone(), format!("{}{path}", shop.url));
            let answer = Page::of(request.send().await.expect("an answer")).await;
            assert_eq!(answer.status, 401, "{method} {path}");
            let challenge = answer.header("www-authenticate");
            assert!(challenge.starts_with("Basic realm="), "{challenge}");
            assert_eq!(answer.header("cache-control"), "no-store");
            assert_eq!(answer.header("set-cookie"), "");
            if method != Method::HEAD {
                assert_eq!(answer.heading(), "These pages are for the operator");
                assert_eq!(answer.text("nav"), "", "nor do they learn what there is");
            }
        }
    }
    let still = "select count(*) from outbox where parked_at is not null and attempts = 10";
    assert_eq!(shop.count(still).await, 1);
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn the_operator_sees_the_pages_and_gets_no_session() {
    let shop = Shop::open().await;
    let page = shop.operator().sees("/admin").await;
    assert_eq!((page.status, page.heading().as_str()), (200, "Overview"));
    assert_eq!(page.header("cache-control"), "no-store");
    assert_eq!(page.header("set-cookie"), "");
    assert_eq!(shop.operator().sees("/admin/nothing").await.status, 404);
    let wrong_method = shop.operator().posts("/admin", &[]).await;
    assert_eq!(wrong_method.status, 405);
    assert_eq!(shop.count("select count(*) from sessions").await, 0);
    shop.expects(NOTHING).await;
}

#[tokio::test]
async fn a_header_that_makes_no_sense_is_a_401() {
    let shop = Shop::open().await;
    for header in [
        &b""[..],
        b"Basic",
        b"Basic ",
        b"Basic !!!",
        b"Basic YWRtaW4",
        b"Basic YWRtaW4=",
        b"Basic 0w==",
        b"Basic \xff\xfe",
        b"Bearer YWRtaW46eA==",
        b"YWRtaW46eA==",
    ] {
        let page = with_header(&shop, header).await;
        assert_eq!(page.status, 401, "{}", header.escape_ascii());
    }
    let long = format!("Basic {}", "QUFB".repeat(1000));
    assert_eq!(with_header(&shop, long.as_bytes()).await.status, 401);
    // Another user with the right password, and the right user with a part of it, or more.
    for (user, password) in [
        ("Admin", PASSWORD),
        ("", PASSWORD),
        ("admin", &PASSWORD[1..]),
        ("admin", ""),
        ("admin", &format!("{PASSWORD} ")),
    ] {
        let request = client().get(format!("{}/admin", shop.url));
        let request = request.basic_auth(user, Some(password));
        let status = request.send().await.expect("an answer").status();
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{user}:{password}");
    }
}

/// A browser sends the password along with what another site makes it send.
#[tokio::test]
async fn a_form_from_another_site_is_refused_though_it_brings_the_password() {
    let shop = Shop::open().await;
    for (name, value) in [
        ("sec-fetch-site", "cross-site"),
        ("origin", "https://evil.example"),
    ] {
        let operator = shop.operator();
        let request = operator.post("/admin/audit", &[]).header(name, value);
        assert_eq!(operator.send(request).await.status, 403, "{name}");
    }
}

#[tokio::test]
async fn after_ten_wrong_passwords_an_address_is_not_listened_to_for_ten_minutes() {
    let shop = Shop::open().await;
    let guesser = Operator::at(&shop.url, "a guess");
    for _ in 0..10 {
        assert_eq!(guesser.sees("/admin").await.status, 401);
    }
    let refused = guesser.sees("/admin").await;
    assert_eq!(refused.status, 429);
    let wait: u64 = refused.header("retry-after").parse().expect("seconds");
    assert!((540..=601).contains(&wait), "{wait}");
    assert_eq!(
        shop.operator().sees("/admin").await.status,
        429,
        "nor to the right one"
    );
    // Who brings no password guesses nothing.
    assert_eq!(with_header(&shop, b"").await.status, 401);
    shop.later(600);
    assert_eq!(shop.operator().sees("/admin").await.status, 200);
}

#[tokio::test]
async fn many_guesses_at_once_are_counted_like_many_in_a_row() {
    let shop = Shop::open().await;
    let guesses = (0..50).map(|number| {
        let guesser = Operator::at(&shop.url, &format!("guess {number}"));
        async move { guesser.sees("/admin").await.status }
    });
    let answers = futures_util::future::join_all(guesses).await;
    let listened_to = answers.iter().filter(|&&status| status == 401).count();
    assert_eq!(listened_to, 10, "{answers:?}");
}

/// Linux lets a client choose among the addresses of the loopback network.
#[tokio::test]
async fn who_guesses_locks_nobody_out_of_another_address() {
    let shop = Shop::open().await;
    let guesser = Operator::at(&shop.url, "a guess");
    for _ in 0..11 {
        guesser.sees("/admin").await;
    }
    let elsewhere: IpAddr = "127.0.0.2".parse().expect("an address");
    let client = reqwest::Client::builder()
        .tls_certs_only([])
        .local_address(elsewhere)
        .build()
        .expect("a client");
    let request = client.get(format!("{}/admin", shop.url));
    let answer = request.basic_auth("admin", Some(PASSWORD)).send().await;
    assert_eq!(answer.expect("an answer").status(), StatusCode::OK);
}

#[tokio::test]
async fn who_mistypes_and_then_gets_it_right_begins_anew() {
    let shop = Shop::open().await;
    let mistypes = Operator::at(&shop.url, "the operators password");
    for _ in 0..3 {
        for _ in 0..9 {
            assert_eq!(mistypes.sees("/admin").await.status, 401);
        }
        assert_eq!(shop.operator().sees("/admin").await.status, 200);
    }
}

/// What `serve` prints, and what it logs at its most talkative.
async fn starts(database: &Database, flags: &[&str]) -> Process {
    let mut command = Command::new(env!("CARGO_BIN_EXE_boring-checkout"));
    command.args(["--database-url", &database.url()]);
    command.args(["--provider-url", "http://127.0.0.1:1"]);
    command.args(["--listen", "127.0.0.1:0", "--log", "trace", "--no-workers"]);
    command.env_remove("ADMIN_PASSWORD");
    Process::of(command.args(flags)).await
}

#[tokio::test]
async fn without_a_password_one_is_made_up_and_printed_and_nowhere_logged() {
    let database = Database::fresh().await;
    let shop = starts(&database, &[]).await;
    let printed = &shop.printed;
    let line = printed.lines().find(|line| line.contains("password"));
    let password = line.and_then(|line| line.split_whitespace().last());
    let password = password.expect("a password");
    assert_eq!(password.len(), 23, "{printed}");
    assert!(
        printed.contains(&format!("{}/admin\n", shop.url)),
        "{printed}"
    );
    let operator = Operator::at(&shop.url, password);
    assert_eq!(operator.sees("/admin").await.status, 200);
    assert!(shop.log().contains("/admin"), "it is talkative");
    assert!(!shop.log().contains(password));
}

#[tokio::test]
async fn a_password_that_was_given_is_printed_nowhere() {
    let database = Database::fresh().await;
    let shop = starts(&database, &["--admin-password", "given-with-a-flag"]).await;
    let printed = &shop.printed;
    let operator = Operator::at(&shop.url, "given-with-a-flag");
    assert_eq!(operator.sees("/admin").await.status, 200);
    assert!(
        !printed.contains("given-with") && !printed.contains("password"),
        "{printed}"
    );
    assert!(!shop.log().contains("given-with"));
}
