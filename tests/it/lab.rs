//! The lab: each scenario played on the running shop, with both flows.

use boring_checkout::{app::Shop as App, audit::Counts};
use serde_json::Value;

use crate::world::{
    Database, Expected, NOTHING, ONCE, Page, Shop, Visitor, client, eventually, parse,
};

/// How much a page of the lab weighs at most, with its styles.
const BYTES_MAX: usize = 30 * 1024;

/// What the naive twin comes to: charges, orders, units off the shelf, mails.
type Fault = [i64; 4];

/// Plays a scenario to its end, and shows what came of it.
async fn plays(shop: &Shop, scenario: &str) -> Page {
    let teacher = shop.visitor();
    let begun = teacher.posts("/lab/runs", &[("scenario", scenario)]).await;
    let run = begun.location().to_owned();
    eventually("the run is over", || async {
        !teacher.sees(&run).await.html.contains("It is being played")
    })
    .await;
    let page = teacher.sees(&run).await;
    assert_eq!(page.text("[role=alert]"), "", "{scenario} was stopped");
    page
}

/// A page of the lab is light, and nobody but the shop is asked for anything of it.
async fn is_light(visitor: &Visitor, path: &str) {
    let page = visitor.sees(path).await;
    assert_eq!(page.status, 200, "{path}");
    let mut bytes = page.html.len();
    let mut files = page.attributes("link[href]", "href");
    files.extend(page.attributes("[src]", "src"));
    files.dedup();
    assert!(files.len() > 4, "{path}: {files:?}");
    for file in files {
        assert!(file.starts_with("/static/"), "{path} asks for {file}");
        let file = visitor.sees(&file).await;
        assert_eq!(file.status, 200, "{path}");
        for way_out in ["url(", "@import", "http://", "https://"] {
            let is_name = "http://www.w3.org/2000/svg"; // Nobody fetches what an SVG is called.
            assert!(!file.html.replace(is_name, "").contains(way_out), "{path}");
        }
        if file.header("content-type").starts_with("text/css") {
            bytes += file.html.len();
        }
    }
    assert!(bytes <= BYTES_MAX, "{path} weighs {bytes} bytes");
}

/// The numbers of one line of the ledgers: naive, safe, and as it should be.
fn counts(page: &Page, line: &str) -> [i64; 3] {
    let names = page.texts(".ledgers tbody th");
    let place = names.iter().position(|name| name.starts_with(line));
    let place = place.expect(line);
    let cells = page.texts(&format!(".ledgers tbody tr:nth-child({}) td", place + 1));
    let number = |cell: &String| {
        let figure = cell.split(' ').next().expect("a figure");
        figure.parse().unwrap_or_else(|_| panic!("{line}: {cell}"))
    };
    [number(&cells[0]), number(&cells[1]), number(&cells[2])]
}

/// No step speaks as Rust does, which writes `Processed(Nothing)`.
fn is_told_in_plain_words(page: &Page) {
    let whose = page.texts(".steps small");
    for (step, whose) in page.texts(".steps li").iter().zip(whose) {
        let told = step.strip_suffix(&whose).expect("it ends with whose it is");
        let is_rust = |word: &str| {
            let mut letters = word.chars();
            letters.next().is_some_and(char::is_uppercase)
                && letters.next().is_some_and(char::is_lowercase)
        };
        let words = || told.split(|c: char| !c.is_alphanumeric());
        assert!(
            !words().any(is_rust) && !told.contains(['(', '{']),
            "{step}"
        );
    }
}

/// Whatever is read or written is linked to the lines that do it.
fn leads_to_each_statement(page: &Page) {
    let is_statement = |part: &&str| {
        let verbs = ["insert ", "update ", "delete ", "select "];
        verbs.iter().any(|verb| part.starts_with(verb))
    };
    let steps = page.texts(".steps li");
    let told = steps.iter().flat_map(|step| step.split([':', ',']));
    let told: Vec<&str> = told.map(str::trim).filter(is_statement).collect();
    let links = page.texts(".steps a");
    let linked = links.iter().map(String::as_str).filter(is_statement);
    assert_eq!(linked.count(), told.len(), "{told:?}");
    assert!(told.len() > 10, "{told:?}");
}

/// The naive twin shows its fault, the shop has none, and both are what the ledgers say.
async fn shows(scenario: &str, naive: Fault) {
    shows_with(scenario, naive, [0, 0]).await;
}

async fn shows_with(scenario: &str, naive: Fault, refunds: [i64; 2]) {
    let shop = Shop::open_with_workers(&[]).await;
    let page = plays(&shop, scenario).await;
    let names = ["payments", "orders", "units off the shelf", "mails"];
    for (name, naive) in names.into_iter().zip(naive) {
        let [found, safe, due] = counts(&page, name);
        assert_eq!(
            found,
            naive,
            "{scenario}: naive {name}: {}",
            page.text("main")
        );
        assert_eq!(safe, due, "{scenario}: safe {name}: {}", page.text("main"));
    }
    let [found, safe, _] = counts(&page, "refunds");
    assert_eq!([found, safe], refunds, "{scenario}: refunds");
    let verdicts = page.texts(".lab-sides > .panel p");
    assert!(
        verdicts[1].starts_with("As it should be: 1 charge, "),
        "{verdicts:?}"
    );
    assert!(!verdicts[0].starts_with("As it should be"), "{verdicts:?}");

    let struck = page.texts(".steps .is-struck");
    assert!(
        struck.iter().any(|step| step.contains(": the lab ")),
        "{scenario}: it says where it goes wrong: {struck:?}"
    );
    is_told_in_plain_words(&page);
    leads_to_each_statement(&page);

    let visitor = shop.visitor();
    let stage = page.link_that_starts("/lab/runs/");
    is_light(&visitor, stage.strip_suffix("/stage").expect("a run")).await;
    is_light(&visitor, &format!("{stage}?step=999")).await;

    // Both ledgers agree: the provider's has the charges of both flows, the shop's its own.
    let ledger = shop.provider.ledger().await;
    let of = |part: &str| ledger[part]["succeeded"].as_i64().expect("a number");
    assert_eq!(of("payment_intents"), naive[0] + 1, "{ledger}");
    assert_eq!(of("refunds"), refunds[0] + refunds[1], "{ledger}");
    let Counts { emails, .. } = shop.report().await.counts;
    assert_eq!(emails, counts(&page, "mails")[1]);
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn double_click() {
    shows("double-click", [2, 2, 2, 2]).await;
}

#[tokio::test]
async fn dropped_response() {
    shows("dropped-response", [2, 1, 1, 1]).await;
}

#[tokio::test]
async fn crash_after_the_charge() {
    shows("crash-after-charge", [2, 1, 1, 1]).await;
}

#[tokio::test]
async fn webhook_twice() {
    shows("webhook-twice", [1, 1, 1, 2]).await;
}

#[tokio::test]
async fn webhook_before_the_response() {
    shows("webhook-first", [1, 0, 0, 0]).await;
}

#[tokio::test]
async fn out_of_order_events() {
    shows("out-of-order", [1, 0, 0, 1]).await;
}

#[tokio::test]
async fn new_form_after_an_error() {
    shows("new-form", [2, 1, 1, 1]).await;
}

#[tokio::test]
async fn last_unit() {
    shows("last-unit", [2, 2, 2, 2]).await;
}

#[tokio::test]
async fn mail_server_down() {
    shows("mail-down", [1, 1, 1, 0]).await;
}

#[tokio::test]
async fn refund_twice() {
    shows_with("refund-twice", [1, 1, 1, 3], [2, 1]).await;
}

#[tokio::test]
async fn expired_key() {
    shows("expired-key", [2, 1, 1, 1]).await;
}

/// Her browser sees the connection end, whatever the rest of the shop still finds out.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_has_died_answers_nobody() {
    let shop = Shop::open_with_workers(&[]).await;
    for scenario in ["crash-after-charge", "expired-key"] {
        let steps = plays(&shop, scenario).await.texts(".steps li");
        let of_dead = |step: &&String| {
            let (_, when) = step.split_once(" Ada, ").unwrap_or_default();
            when.starts_with(|c: char| c.is_ascii_digit()) // and not "a day later"
        };
        let of_dead: Vec<_> = steps.iter().filter(of_dead).collect();
        let dies = |step: &&&String| step.contains("the lab ends the process");
        assert_eq!(of_dead.iter().filter(dies).count(), 2, "{steps:?}");
        let answers = of_dead.iter().any(|step| step.contains(": answer "));
        assert!(!answers, "{scenario}: {of_dead:?}");
    }
}

/// Each is offered, and each is tested above.
#[tokio::test]
async fn all_of_them_are_offered() {
    let shop = Shop::open().await;
    let lab = shop.visitor().sees("/lab").await;
    assert_eq!(lab.attributes("[name=scenario]", "value").len(), 11);
    assert_eq!(lab.text(".site-nav a[href='/lab']"), "Lab");
}

#[tokio::test]
async fn a_run_leaves_the_shelf_as_it_was() {
    let shop = Shop::open_with_workers(&[]).await;
    let stock = "select cast(sum(stock) as bigint) from products where listed";
    let before = (
        shop.count(stock).await,
        shop.visitor().sees("/").await.text("main"),
    );
    for scenario in ["double-click", "last-unit"] {
        plays(&shop, scenario).await;
    }
    let after = (
        shop.count(stock).await,
        shop.visitor().sees("/").await.text("main"),
    );
    assert_eq!(after, before);
    shop.expects(Expected {
        charges: 2,
        orders: 2,
        sold: 2,
    })
    .await;
}

/// Whoever wants all the lamps gets them, although the last one is being fought for in the lab.
#[tokio::test]
async fn a_run_is_in_nobodys_way() {
    let shop = Shop::open_with_workers(&[]).await;
    let lamps = "select stock from products where sku = 'LMP-01'";
    let lamps = shop.count(lamps).await;
    let buyer = shop.visitor().with_cart("LMP-01", lamps).await;
    let (page, status) = tokio::join!(plays(&shop, "last-unit"), buyer.buys());
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    assert_eq!(counts(&page, "payments")[1], 1, "{}", page.text("main"));
    shop.expects(Expected {
        charges: 2,
        orders: 2,
        sold: lamps + 1,
    })
    .await;
}

/// Runs wait for one another, so what one of them arms strikes no other; and so does starting over.
#[tokio::test]
async fn two_teachers_at_once_each_see_their_own_run() {
    let shop = Shop::open_with_workers(&[]).await;
    let (one, other) = tokio::join!(plays(&shop, "out-of-order"), plays(&shop, "mail-down"));
    for page in [one, other] {
        let verdict = page.texts(".lab-sides > .panel p").remove(1);
        assert!(
            verdict.starts_with("As it should be: 1 charge"),
            "{verdict}"
        );
    }
    let teacher = shop.visitor();
    let press = || teacher.posts("/lab/runs", &[("scenario", "double-click")]);
    let first = press().await;
    let (one, other) = tokio::join!(
        teacher.posts("/lab/reset", &[]),
        teacher.posts("/lab/reset", &[])
    );
    assert_eq!([one.location(), other.location()], ["/lab", "/lab"]);
    assert_eq!(teacher.sees(first.location()).await.status, 404);
    shop.expects(NOTHING).await;

    let pressed = futures_util::future::join_all((0..10).map(|_| press())).await;
    let refused = pressed.iter().find(|page| page.status == 409);
    let refused = refused
        .expect("not all ten are played")
        .text("[role=alert]");
    assert!(refused.contains("Enough runs wait already"), "{refused}");
}

#[tokio::test]
async fn each_step_leads_to_the_lines_that_do_it() {
    let shop = Shop::open_with_workers(&[]).await;
    let page = plays(&shop, "double-click").await;
    let links = page.attributes(".steps a", "href");
    assert!(links.len() > 20, "{links:?}");
    let leading = page.attributes(".steps a:first-of-type", "href");
    assert_eq!(leading.len(), page.texts(".steps li").len(), "{leading:?}");
    let visitor = shop.visitor();
    let shows = async |words: &str, at: &str| {
        let texts = page.texts(".steps a");
        let found = texts.iter().position(|text| text.starts_with(words));
        let link = &links[found.unwrap_or_else(|| panic!("no step {words}: {texts:?}"))];
        let source = visitor.sees(link.split('#').next().expect("a path")).await;
        assert_eq!(source.status, 200, "{link}");
        assert!(
            source.heading().ends_with(at),
            "{link}: {}",
            source.heading()
        );
        source.text(".source")
    };
    let insert = shows("insert checkouts", "src/checkout/submit.rs").await;
    assert!(insert.contains("on conflict do nothing"), "{insert}");
    let naive = shows("insert naive_orders", "src/lab/naive/buy.rs").await;
    assert!(naive.contains("insert into naive_orders"), "{naive}");
    let charge = shows("charge, with the key of the form", "src/checkout/charge.rs").await;
    assert!(charge.contains("idempotency_key"), "{charge}");
    for path in [
        "/lab/Cargo.toml",
        "/lab/src/..%2FCargo.toml",
        "/lab/src/lib.rs:0",
        "/lab/src/lib.rs:99999999",
        "/lab/src/lib.rs:99999999999999999999999",
        "/lab/src/lib.rs:-1",
        "/lab/src/lib.rs:",
        "/lab/src/nothing.rs:1",
    ] {
        assert_eq!(visitor.sees(path).await.status, 404, "{path}");
    }
    assert_eq!(
        visitor
            .sees("/lab/migrations/postgres/0001_shop.sql:30")
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn on_stage_it_goes_step_by_step_to_the_verdict() {
    let shop = Shop::open_with_workers(&[]).await;
    let page = plays(&shop, "dropped-response").await;
    let visitor = shop.visitor();
    let mut stage = visitor.sees(&page.link_that_starts("/lab/runs/")).await;
    assert_eq!(stage.texts(".steps li").len(), 0);
    let whole = page.link_that_starts("/lab/runs/").replace("/stage", "");
    let leads_back = |stage: &Page| stage.attributes(".stage a", "href").contains(&whole);
    let mut pressed = 0;
    while let Some(next) = stage.attributes("a[rel=next]", "href").first() {
        assert_eq!(stage.text(".panel"), "", "the verdict comes last");
        assert!(leads_back(&stage), "step {pressed}");
        stage = visitor.sees(next).await;
        pressed += 1;
        assert!(pressed < 200, "it never ends");
    }
    assert!(pressed > 5 && leads_back(&stage));
    assert!(
        stage.text(".panel-good p").starts_with("As it should be"),
        "{}",
        stage.html
    );
    assert!(
        stage
            .text(".panel-bad p")
            .starts_with("The customer has paid twice"),
        "{}",
        stage.html
    );
    let far = stage.attributes("a[rel=prev]", "href")[0].replace(|c: char| c.is_ascii_digit(), "9");
    assert_eq!(visitor.sees(&far).await.status, 404, "another run");
}

#[tokio::test]
async fn the_trail_of_a_checkout_tells_what_happened_to_it_and_whose_it_is_not() {
    let shop = Shop::open_with_workers(&[]).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.settles().await;
    shop.finishes().await;
    let teacher = shop.visitor();
    let trail = teacher.sees(&format!("/lab{status}")).await;
    let told = trail.text(".steps");
    for part in [
        "POST /checkout",
        "insert checkouts",
        "payment_intents.create, key …",
        "200 succeeded",
        "event received: payment_intent.succeeded",
        "insert orders",
        "message published: order.placed",
        "mail sent: order_confirmation",
    ] {
        assert!(told.contains(part), "{part} is missing: {told}");
    }
    for secret in [
        "buyer@example.com",
        "A Buyer",
        "Plain Street",
        "sk_test",
        "whsec_",
        "pm_card",
    ] {
        assert!(!trail.html.contains(secret), "{secret} is told");
    }
    assert!(
        trail
            .header("content-security-policy")
            .contains("connect-src 'self'")
    );
    let lab = teacher.sees("/lab").await;
    assert!(lab.html.contains(&format!("/lab{status}")), "it is listed");
    for path in [
        "/lab/checkouts/nothing",
        "/lab/checkouts/0190f3a4-0000-7000-8000-000000000000",
    ] {
        assert_eq!(teacher.sees(path).await.status, 404, "{path}");
    }
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn the_checkouts_are_listed_that_something_has_happened_about_the_latest_first() {
    let shop = Shop::open_with_workers(&[]).await;
    let mut bought = Vec::new();
    for _ in 0..10 {
        let buyer = shop.visitor().with_cart("TEA-01", 1).await;
        let status = buyer.buys().await;
        assert_eq!(buyer.waits_at(&status).await, "Paid");
        shop.settles().await;
        shop.finishes().await;
        bought.insert(0, format!("/lab{status}"));
    }
    let teacher = shop.visitor();
    let lab = teacher.sees("/lab").await;
    let listed = lab.attributes("a[href^='/lab/checkouts/']", "href");
    assert_eq!(listed, bought[..8]);
    assert!(lab.text("main").contains("paid, €4.90"));
    teacher.posts("/lab/reset", &[]).await;
    let lab = teacher.sees("/lab").await;
    assert!(!lab.html.contains("/lab/checkouts/"), "{}", lab.html);
}

/// A page that waits is told as soon as something happens, and nothing keeps the shop from stopping.
#[tokio::test]
async fn whoever_looks_at_a_checkout_is_told_when_there_is_more() {
    let shop = Shop::open_with_workers(&[]).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    let client = client();
    let url = format!("{}/lab{status}/events", shop.url);
    let mut answer = client.get(&url).send().await.expect("an answer");
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let looks = async {
        loop {
            buyer.sees(&status).await;
            shop.settles().await;
        }
    };
    let told = tokio::select! {
        told = answer.chunk() => told.expect("a whole chunk").expect("more"),
        () = looks => unreachable!("it never ends"),
    };
    let told = String::from_utf8(told.to_vec()).expect("text");
    assert!(told.starts_with("data: more"), "{told}");
    let began = std::time::Instant::now();
    shop.stop().await;
    assert!(
        began.elapsed().as_secs() < 10,
        "it waited for somebody who only looks"
    );
}

#[tokio::test]
async fn a_fault_is_armed_by_hand_and_strikes() {
    let shop = Shop::open_with_workers(&[]).await;
    let teacher = shop.visitor();
    let arm = [("fault", "drop-response")];
    assert_eq!(teacher.posts("/lab/faults", &arm).await.location(), "/lab");
    let lab = teacher.sees("/lab").await;
    assert!(
        lab.text("main")
            .contains("drop_response on payment_intents.create")
    );

    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    let trail = teacher.sees(&format!("/lab{status}")).await.text(".steps");
    assert!(trail.contains("no answer"), "{trail}");
    assert!(trail.contains("200 succeeded, replayed"), "{trail}");

    // Its webhook and its mail are gone, and use up none of these.
    shop.settles().await;
    shop.finishes().await;
    for fault in ["webhook-lost", "mail-down"] {
        teacher.posts("/lab/faults", &[("fault", fault)]).await;
    }
    assert!(
        teacher
            .sees("/lab")
            .await
            .text("main")
            .contains("the mail server is down")
    );
    assert_eq!(
        teacher.posts("/lab/faults/clear", &[]).await.location(),
        "/lab"
    );
    assert!(!teacher.sees("/lab").await.text("main").contains("Next:"));
    assert_eq!(
        teacher
            .posts("/lab/faults", &[("fault", "fire")])
            .await
            .status,
        422
    );
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn starting_over_forgets_every_purchase_on_both_sides() {
    let shop = Shop::open_with_workers(&[]).await;
    let buyer = shop.visitor().with_cart("LMP-01", 2).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    plays(&shop, "refund-twice").await;
    shop.settles().await;
    shop.finishes().await;

    let teacher = shop.visitor();
    assert_eq!(teacher.posts("/lab/reset", &[]).await.location(), "/lab");
    let ledger = shop.provider.ledger().await;
    assert_eq!(ledger["payment_intents"]["total"], Value::from(0));
    assert_eq!(buyer.sees(&status).await.status, 404);
    shop.expects(NOTHING).await;
    let lab = teacher.sees("/lab").await;
    assert!(
        !lab.text("main").contains("What was played"),
        "{}",
        lab.text("main")
    );

    // And it is a shop as before: for who was there, and for the lab.
    buyer.adds("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.expects(ONCE).await;
    plays(&shop, "double-click").await;
}

/// No form of the lab is longer than any other.
#[tokio::test]
async fn what_is_too_long_for_a_form_is_not_read() {
    let shop = Shop::open_with_workers(&[]).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    let teacher = shop.visitor();
    // Nobody buys anything any more, so nothing uses it up.
    teacher
        .posts("/lab/faults", &[("fault", "drop-response")])
        .await;
    let too_long = "x".repeat(64 * 1024);
    for path in [
        "/lab/runs",
        "/lab/faults",
        "/lab/faults/clear",
        "/lab/reset",
    ] {
        let page = teacher.posts(path, &[("scenario", &too_long)]).await;
        assert_eq!(page.status, 413, "{path}");
        assert_eq!(page.heading(), "That was too much at once", "{path}");
    }
    assert!(teacher.sees("/lab").await.text("main").contains("Next:"));
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn another_site_cannot_play_arm_or_reset_anything() {
    let shop = Shop::open_with_workers(&[]).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    let victim = shop.visitor();
    for (path, fields) in [
        ("/lab/runs", &[("scenario", "double-click")][..]),
        ("/lab/faults", &[("fault", "drop-response")]),
        ("/lab/faults/clear", &[]),
        ("/lab/reset", &[]),
    ] {
        for (name, value) in [
            ("sec-fetch-site", "cross-site"),
            ("origin", "https://evil.example"),
        ] {
            let forged = victim.post(path, fields).header(name, value);
            assert_eq!(victim.send(forged).await.status, 403, "{path} with {name}");
        }
    }
    let lab = victim.sees("/lab").await.text("main");
    assert!(
        !lab.contains("What was played") && !lab.contains("Next:"),
        "{lab}"
    );
    shop.expects(ONCE).await;
}

/// A site whose name resolves to this machine all of a sudden is the same site to a browser, but for its name.
#[tokio::test]
async fn another_name_for_this_machine_opens_nothing() {
    let shop = Shop::open_with_workers(&["--lab", "--public-url", "http://shop.example"]).await;
    let visitor = shop.visitor();
    for path in ["/lab", "/lab/src/lib.rs", "/mailbox"] {
        for (name, status) in [
            ("evil.example:3000", 421),
            ("localhost.evil.example", 421),
            ("localhost:3000", 200),
            ("127.0.0.1", 200),
            ("[::1]:3000", 200),
            ("shop.example", 200),
        ] {
            let asked = visitor.get(path).header("host", name);
            let page = visitor.send(asked).await;
            assert_eq!(page.status, status, "{path} by {name}");
        }
    }
    let evil = "http://evil.example:3000";
    for path in ["/lab/reset", "/lab/runs", "/lab/faults"] {
        let forged = visitor.post(path, &[("scenario", "double-click")]);
        let forged = forged
            .header("host", "evil.example:3000")
            .header("origin", evil);
        assert_eq!(visitor.send(forged).await.status, 421, "{path}");
    }
    shop.expects(NOTHING).await;
}

#[tokio::test]
async fn what_cannot_be_played_is_said() {
    let shop = Shop::open_with_workers(&[]).await;
    let refused = shop
        .visitor()
        .posts("/lab/runs", &[("scenario", "fire")])
        .await;
    assert_eq!(refused.status, 422);
    assert!(
        refused
            .text("[role=alert]")
            .contains("There is no such scenario")
    );

    let elsewhere = Shop::open_with_workers(&[]).await;
    let flags = ["--provider-url", elsewhere.provider.url.as_str()];
    let database = Database::fresh().await;
    let guest = App::start(&parse(&database, &flags)).await;
    let guest = guest.expect("the shop starts");
    let visitor = Visitor::at(&guest.url());
    let refused = visitor
        .posts("/lab/runs", &[("scenario", "double-click")])
        .await;
    assert_eq!(refused.status, 409);
    assert!(
        refused
            .text("[role=alert]")
            .contains("start it without --provider-url")
    );
    for path in ["/lab/reset", "/lab/faults/clear"] {
        assert_eq!(visitor.posts(path, &[]).await.status, 409, "{path}");
    }
    let page = visitor.sees("/lab").await;
    assert!(
        !page.html.contains("/lab/reset"),
        "there is no button for it"
    );
    guest.stop().await;
    elsewhere.expects(NOTHING).await;
}

#[tokio::test]
async fn without_the_lab_there_is_none_of_it() {
    let shop = Shop::open_with_workers(&["--no-lab"]).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    for path in [
        "/lab",
        "/lab/runs/0190f3a4-0000-7000-8000-000000000000",
        "/lab/runs/0190f3a4-0000-7000-8000-000000000000/stage",
        &format!("/lab{status}"),
        &format!("/lab{status}/events"),
        "/lab/src/lib.rs",
    ] {
        assert_eq!(buyer.sees(path).await.status, 404, "{path}");
    }
    for path in [
        "/lab/runs",
        "/lab/faults",
        "/lab/faults/clear",
        "/lab/reset",
    ] {
        let fields = [("scenario", "double-click"), ("fault", "drop-response")];
        assert_eq!(buyer.posts(path, &fields).await.status, 404, "{path}");
        assert_eq!(buyer.sees(path).await.status, 404, "{path}");
    }
    assert_eq!(buyer.sees("/").await.text(".site-nav a[href='/lab']"), "");
    shop.expects(ONCE).await;
}
