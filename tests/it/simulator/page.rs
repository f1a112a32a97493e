//! The page at `/`, as a browser without JavaScript sees it.

use boring_checkout::simulator::{Chaos, SimulatorConfig};
use reqwest::{Client, RequestBuilder, StatusCode, redirect::Policy};
use scraper::{Html, Selector};
use serde_json::json;

use super::{
    receiver::{Receiver, SECRET, everything_is_delivered},
    world::{KEY, PURCHASE, World},
};

/// Text that would do something if it were not escaped.
const HOSTILE: &str = r#"<script>alert(1)</script>"'&"#;

/// A browser that shows redirects instead of following them.
struct Browser<'w> {
    world: &'w World,
    client: Client,
}

/// What it was answered.
struct Shown {
    status: StatusCode,
    location: Option<String>,
    policy: String,
    html: String,
}

impl Shown {
    async fn of(request: RequestBuilder) -> Self {
        let answer = request.send().await.unwrap();
        let header = |name: &str| Some(answer.headers().get(name)?.to_str().unwrap().to_owned());
        Self {
            status: answer.status(),
            location: header("location"),
            policy: header("content-security-policy").unwrap_or_default(),
            html: answer.text().await.unwrap(),
        }
    }

    /// The text of the elements that fit.
    fn texts(&self, selector: &str) -> Vec<String> {
        let page = Html::parse_document(&self.html);
        let selector = Selector::parse(selector).unwrap();
        let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        page.select(&selector)
            .map(|it| words(it.text().collect::<Vec<_>>().join(" ")))
            .collect()
    }

    fn text(&self, selector: &str) -> String {
        self.texts(selector).join(" ")
    }

    fn has(&self, selector: &str) -> bool {
        !self.texts(selector).is_empty()
    }
}

impl<'w> Browser<'w> {
    fn of(world: &'w World) -> Self {
        let client = Client::builder().no_proxy().redirect(Policy::none());
        let client = client.build().unwrap();
        Self { world, client }
    }

    async fn opens(&self, path: &str) -> Shown {
        Shown::of(self.client.get(self.world.url(path))).await
    }

    fn submission(&self, path: &str, form: &str) -> RequestBuilder {
        self.client
            .post(self.world.url(path))
            .header("content-type", "application/x-www-form-urlencoded")
            .header("sec-fetch-site", "same-origin")
            .body(form.to_owned())
    }

    /// Sends a form that works, and looks at the page it leads to.
    async fn submits(&self, path: &str, form: &str) -> Shown {
        let answer = Shown::of(self.submission(path, form)).await;
        assert_eq!(answer.status, 303, "{path}: {}", answer.html);
        self.opens(&answer.location.unwrap()).await
    }

    /// Sends a form that does not, and reads why.
    async fn is_refused(&self, path: &str, form: &str) -> Shown {
        let answer = Shown::of(self.submission(path, form)).await;
        assert_eq!(answer.status, 422, "{path}: {}", answer.html);
        assert!(answer.has("[role=alert]"), "{}", answer.html);
        answer
    }
}

#[tokio::test]
async fn it_shows_what_was_paid_asked_and_delivered() {
    let receiver = Receiver::open().await;
    let world = World::with_webhook(receiver.url(), SECRET).await;
    world
        .faults(json!({"on": {"webhook": "charge.succeeded"}, "fault": "duplicate"}))
        .await;
    world
        .buys_with_key(&format!("{PURCHASE}&metadata[order]=17"), "order-17")
        .await;
    world
        .buys_with_key(&format!("{PURCHASE}&metadata[order]=17"), "order-17")
        .await;
    world.buys("amount=500&currency=jpy").await;
    everything_is_delivered(&world).await;

    let page = Browser::of(&world).opens("/").await;

    assert_eq!(page.status, 200);
    let ledger = page.text("#ledger");
    assert!(ledger.contains("payments succeeded 1 of 2"), "{ledger}");
    assert!(ledger.contains("USD 42.00 succeeded order=17"), "{ledger}");
    assert!(
        ledger.contains("JPY 500 requires_payment_method"),
        "{ledger}"
    );
    let mut requests = page.texts("#requests tbody tr");
    requests.retain(|row| row.contains("POST"));
    assert_eq!(requests.len(), 3);
    assert!(
        requests[1].contains("POST /v1/payment_intents order-17 200 replayed"),
        "{}",
        requests[1]
    );
    let deliveries = page.text("#deliveries");
    assert!(
        deliveries.contains("payment_intent.succeeded") && deliveries.contains("duplicate"),
        "{deliveries}"
    );
}

#[tokio::test]
async fn a_fault_is_armed_seen_met_and_cleared() {
    let world = World::open().await;
    let browser = Browser::of(&world);

    let armed = browser
        .submits("/faults", "fault=error_before&operation=payment_intents.create&key=k&path=&skip=&times=2&delay_ms=&status=503")
        .await;

    let shown =
        "error_before on payment_intents.create with the key k, status 503 struck 0 of 2, seen 0";
    assert_eq!(armed.text(".waiting li"), shown);
    assert_eq!(world.buys_with_key(PURCHASE, "k").await.status, 503);
    assert!(
        browser
            .opens("/")
            .await
            .text(".waiting li")
            .ends_with("struck 1 of 2, seen 1")
    );
    browser
        .submits(
            "/faults/webhooks",
            "fault=duplicate&webhook=*&url=http://127.0.0.1/hook&copies=3",
        )
        .await;
    let cleared = browser.submits("/faults/clear", "").await;
    assert!(!cleared.has(".waiting li"));
    assert_eq!(world.levers().faults(), []);
}

#[tokio::test]
async fn what_cannot_be_armed_says_why_and_keeps_what_was_typed() {
    let world = World::open().await;
    let browser = Browser::of(&world);

    let refused = browser
        .is_refused(
            "/faults",
            "fault=delay&operation=*&path=/v1/nothing&times=7",
        )
        .await;
    assert_eq!(
        refused.text("[role=alert]"),
        "There is no operation with the path /v1/nothing."
    );
    assert!(refused.has("details[open] input[name=path][value='/v1/nothing']"));
    assert!(refused.has("details[open] input[name=times][value='7']"));
    assert!(refused.has("details[open] option[selected]"));

    for (path, form, about) in [
        ("/faults", "fault=delay&operation=*", "delay_ms"),
        (
            "/faults",
            "fault=hang&operation=*&times=x",
            "times must be a whole number.",
        ),
        (
            "/faults",
            "fault=hang&operation=*&status=500",
            "takes no status",
        ),
        ("/faults", "", "on one of the two"),
        (
            "/faults/webhooks",
            "fault=duplicate&webhook=*&copies=1",
            "copies",
        ),
        ("/chaos", "seed=&rates=", "The seed must be a whole number."),
        ("/chaos", "seed=1&rates=drop_response=2", "between 0 and 1"),
        (
            "/clock",
            "amount=-1&unit=hours",
            "The time must be a whole number.",
        ),
        (
            "/clock",
            "amount=99999999999999999999&unit=days",
            "whole number",
        ),
        ("/clock", "amount=9999999999999&unit=days", "between 0 and"),
        (
            "/clock",
            "amount=1&unit=years",
            "seconds, minutes, hours or days",
        ),
        (
            "/events/deliver",
            "event=evt_nobody",
            "There is no event evt_nobody.",
        ),
        (
            "/events/deliver",
            "event=evt_nobody&copies=0",
            "copies is between",
        ),
    ] {
        let refused = browser.is_refused(path, form).await.text("[role=alert]");
        assert!(refused.contains(about), "{path} {form}: {refused}");
    }
    assert_eq!(world.levers().faults(), []);
    assert_eq!(world.levers().chaos(), None);
    assert_eq!(world.levers().clock().offset_seconds, 0);
    let looked_up = browser.opens("/faults").await;
    assert_eq!(
        (looked_up.status.as_u16(), looked_up.location.as_deref()),
        (303, Some("/"))
    );
}

#[tokio::test]
async fn chaos_is_started_and_ended() {
    let world = World::open().await;
    let browser = Browser::of(&world);

    let started = browser
        .submits("/chaos", "seed=7&rates=drop_response=0.05,webhook_drop=0.1")
        .await;
    assert!(started.text("#chaos").contains("seed 7"));
    assert_eq!(
        started.texts("#chaos li"),
        ["drop_response=0.05", "webhook_drop=0.1"]
    );
    assert_eq!(world.levers().chaos().unwrap().seed, 7);

    let ended = browser.submits("/chaos/end", "").await;
    assert!(!ended.has("#chaos li"));
    browser.submits("/chaos", "seed=8&rates=").await;
    assert_eq!(world.levers().chaos(), Some(Chaos::new(8)));
}

#[tokio::test]
async fn the_clock_moves_an_event_is_delivered_again_and_all_is_forgotten() {
    let receiver = Receiver::open().await;
    let world = World::with_webhook(receiver.url(), SECRET).await;
    let browser = Browser::of(&world);
    world.buys("amount=500&currency=usd").await;
    everything_is_delivered(&world).await;

    let moved = browser.submits("/clock", "amount=2&unit=days").await;
    assert!(
        moved.text("#clock").contains("2days ahead"),
        "{}",
        moved.text("#clock")
    );
    let event = world.levers().deliveries().await.unwrap()[0].event.clone();
    let delivered = browser
        .submits("/events/deliver", &format!("event={event}&copies=2"))
        .await;
    assert_eq!(receiver.letters().len(), 3);
    assert_eq!(delivered.texts("#deliveries tbody tr").len(), 3);

    let empty = browser.submits("/reset", "").await;
    assert!(!empty.has("tbody tr"));
    assert!(!empty.text("#clock").contains("ahead"));
    assert_eq!(world.ledger().await["payment_intents"]["total"], 0);
}

#[tokio::test]
async fn what_would_happen_later_happens_now() {
    let world = World::open().await;
    let browser = Browser::of(&world);
    let debit = "amount=4200&currency=usd&confirm=true&payment_method=pm_usBankAccount_success&payment_method_types[]=us_bank_account\
         &mandate_data[customer_acceptance][type]=online&mandate_data[customer_acceptance][online][ip_address]=203.0.113.10\
         &mandate_data[customer_acceptance][online][user_agent]=tests";
    world.buys(debit).await;
    assert!(
        browser
            .opens("/")
            .await
            .text("#ledger")
            .contains("USD 42.00 processing")
    );

    let settled = browser.submits("/settle", "").await;

    assert!(settled.text("#ledger").contains("USD 42.00 succeeded"));
}

#[tokio::test]
async fn a_form_of_another_site_is_refused() {
    let world = World::open().await;
    let browser = Browser::of(&world);
    world.buys(PURCHASE).await;
    let waiting = world
        .buys("amount=4200&currency=usd&confirm=true&payment_method_types[]=card&payment_method=pm_card_authenticationRequired&return_url=https://shop.example")
        .await;
    let bank = format!("/3ds/{}", waiting.id());
    for (name, value) in [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("origin", "http://evil.example"),
        ("origin", "null"),
    ] {
        for (path, form) in [
            ("/reset", ""),
            ("/settle", ""),
            ("/faults", "fault=hang&operation=*"),
            (&bank, "verdict=approve"),
        ] {
            let request = browser.client.post(world.url(path)).header(name, value);
            let form = request
                .header("content-type", "application/x-www-form-urlencoded")
                .body(form.to_owned());
            let refused = Shown::of(form).await;
            assert_eq!(refused.status, 403, "{path} {name}: {value}");
            assert!(refused.text("h1").contains("another site"));
        }
    }
    assert_eq!(world.succeeded().await, 1);
    assert_eq!(world.levers().faults(), []);
}

#[tokio::test]
async fn under_another_name_or_from_elsewhere_the_key_is_needed() {
    let world = World::open().await;
    let browser = Browser::of(&world);
    let rebound = |request: RequestBuilder| request.header("host", "evil.example");

    let refused = Shown::of(rebound(browser.client.get(world.url("/")))).await;
    let reset = Shown::of(rebound(browser.submission("/reset", ""))).await;
    assert_eq!(
        (refused.status, reset.status),
        (StatusCode::UNAUTHORIZED, StatusCode::UNAUTHORIZED)
    );
    assert!(!refused.html.contains("Ledger"));
    let with_key = rebound(browser.client.get(world.url("/"))).basic_auth(KEY, Some(""));
    assert_eq!(Shown::of(with_key).await.status, 200);
    let port = world.url("").rsplit(':').next().unwrap().to_owned();
    let local = browser
        .client
        .get(world.url("/"))
        .header("host", format!("localhost:{port}"));
    assert_eq!(Shown::of(local).await.status, 200);

    let open_to_all = World::with(SimulatorConfig {
        listen: "0.0.0.0:0".parse().unwrap(),
        ..SimulatorConfig::default()
    })
    .await;
    let url = open_to_all.url("/").replace("0.0.0.0", "127.0.0.1");
    let answer = browser.client.get(url).send().await.unwrap();
    assert_eq!(answer.status(), 401);
    assert!(
        answer.headers()["www-authenticate"]
            .to_str()
            .unwrap()
            .starts_with("Basic ")
    );
}

#[tokio::test]
async fn hostile_text_stays_text_and_secrets_stay_secret() {
    let receiver = Receiver::open().await;
    let endpoint = receiver.url().replace("http://", "http://me:hunter2@") + "?token=hunter2";
    let world = World::with_webhook(endpoint.clone(), "whsec_hunter2").await;
    let browser = Browser::of(&world);
    let encoded: String = url::form_urlencoded::byte_serialize(HOSTILE.as_bytes()).collect();
    let paid = world
        .buys_with_key(
            &format!("{PURCHASE}&metadata[{encoded}]={encoded}&description={encoded}"),
            HOSTILE,
        )
        .await;
    world
        .get(&format!("/v1/payment_intents/{encoded}'%22%3Cscript%3E"))
        .await;
    world.faults(json!({"on": {"key": HOSTILE, "path": "/v1/payment_intents*"}, "fault": "hang", "skip": 99})).await;
    world
        .faults(json!({"on": {"url": endpoint}, "fault": "drop", "skip": 99}))
        .await;
    everything_is_delivered(&world).await;

    let refused = browser
        .is_refused(
            "/faults",
            &format!(
                "fault={encoded}&operation={encoded}&key={encoded}&path={encoded}&times={encoded}"
            ),
        )
        .await;
    let page = browser.opens("/").await;
    let waiting = world
        .buys(&format!("{}&description={encoded}", "amount=1042&currency=usd&confirm=true&payment_method_types[]=card&payment_method=pm_card_authenticationRequired&return_url=https://shop.example"))
        .await;
    let bank = browser.opens(&format!("/3ds/{}", waiting.id())).await;

    assert!(page.text("#ledger").contains(HOSTILE), "shown as it is");
    assert!(page.text("#requests").contains(HOSTILE));
    assert!(page.text(".waiting").contains(HOSTILE));
    assert!(bank.text("main").contains(HOSTILE));
    for shown in [&page, &refused, &bank] {
        assert!(!shown.html.contains("<script>"), "{}", shown.html);
        assert!(shown.texts("script:not([src])").is_empty());
        assert!(!shown.html.contains("style="), "nothing inline");
        for secret in [
            "hunter2",
            KEY,
            paid.body["client_secret"].as_str().unwrap(),
            "_secret_",
        ] {
            assert!(!shown.html.contains(secret), "{secret} is shown");
        }
        let strict = [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "frame-ancestors 'none'",
        ];
        assert!(
            strict.iter().all(|rule| shown.policy.contains(rule)),
            "{}",
            shown.policy
        );
        assert!(!shown.policy.contains("unsafe"));
    }
}

#[tokio::test]
async fn it_refreshes_itself_without_a_script_when_asked_to() {
    let world = World::open().await;
    let browser = Browser::of(&world);

    assert!(!browser.opens("/").await.html.contains("http-equiv"));
    let asked = browser.opens("/?refresh=5").await.html;
    assert!(
        asked.contains(r#"<noscript><meta http-equiv="refresh" content="5"></noscript>"#),
        "{asked}"
    );
    for nonsense in ["0", "-1", "x", "100000", "5;url=http://evil.example", ""] {
        let page = browser.opens(&format!("/?refresh={nonsense}")).await;
        assert_eq!(page.status, 200);
        assert!(!page.html.contains("http-equiv"), "{nonsense}");
    }
}

#[tokio::test]
async fn its_stylesheet_script_and_icon_come_from_the_simulator() {
    let world = World::open().await;
    let browser = Browser::of(&world);
    let page = browser.opens("/").await;
    for file in ["/assets/style.css", "/assets/live.js", "/assets/icon.svg"] {
        assert!(page.html.contains(&format!("\"{file}\"")), "{file}");
        let answer = browser.client.get(world.url(file)).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
        let kind = answer.headers()["content-type"].to_str().unwrap();
        assert!(
            [
                "text/css; charset=utf-8",
                "text/javascript; charset=utf-8",
                "image/svg+xml"
            ]
            .contains(&kind)
        );
    }
}

#[tokio::test]
async fn the_bank_asks_for_an_amount_as_people_write_it() {
    let world = World::open().await;
    let browser = Browser::of(&world);
    let three_d_secure = "confirm=true&payment_method_types[]=card&payment_method=pm_card_authenticationRequired&return_url=https://shop.example";
    for (amount, written) in [
        ("amount=1042&currency=usd", "USD 10.42"),
        ("amount=1042&currency=jpy", "JPY 1042"),
        ("amount=1230&currency=kwd", "KWD 1.230"),
    ] {
        let waiting = world.buys(&format!("{amount}&{three_d_secure}")).await;
        let page = browser.opens(&format!("/3ds/{}", waiting.id())).await;
        assert_eq!(page.text(".amount"), written);
        assert!(page.has("button[value=approve]") && page.has("button[value=refuse]"));
        assert!(
            browser
                .opens("/")
                .await
                .has(&format!("#ledger a[href='/3ds/{}']", waiting.id()))
        );
    }
    let paid = world.buys(PURCHASE).await;
    let nothing = browser.opens(&format!("/3ds/{}", paid.id())).await;
    assert_eq!(nothing.text("h1"), "There is nothing to approve");
}
