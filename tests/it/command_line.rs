//! The program as it is typed: flags, environment, `.env`, exit codes, signals.

use std::{
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::{Database, Expected, Process, Shop, eventually};

/// The program, in a folder and with an environment of its own.
fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_boring-checkout"));
    command.current_dir(folder).env_clear().stdin(Stdio::null());
    command
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn run(arguments: &[&str]) -> Output {
    let folder = folder();
    let output = program(folder.path()).args(arguments).output();
    output.expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// One clear line on standard error, nothing on standard output, exit 2.
fn is_unusable(output: &Output, about: &str) {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("boring-checkout: "), "{said}");
    assert!(said.contains(about), "{said} does not name {about}");
    assert_eq!(text(&output.stdout), "");
}

#[test]
fn help_names_every_flag_with_its_environment_variable_and_default() {
    let serve = [
        ("--listen", "LISTEN", "127.0.0.1:3000"),
        ("--public-url", "PUBLIC_URL", "http://{listen}"),
        ("--database-url", "DATABASE_URL", "sqlite://data/shop.db"),
        ("--provider-url", "PROVIDER_URL", "none"),
        ("--provider-listen", "PROVIDER_LISTEN", "127.0.0.1:12111"),
        (
            "--provider-database-url",
            "PROVIDER_DATABASE_URL",
            "sqlite://data/provider.db",
        ),
        ("--provider-key", "PROVIDER_KEY", "sk_test_boring"),
        ("--webhook-secret", "WEBHOOK_SECRET", "whsec_boring"),
        ("--provider-timeout", "PROVIDER_TIMEOUT", "10s"),
        ("--lease", "LEASE", "15s"),
        ("--bus-url", "BUS_URL", "none"),
        ("--smtp-url", "SMTP_URL", "none"),
        ("--mail-folder", "MAIL_FOLDER", "data/mail"),
        (
            "--mail-from",
            "MAIL_FROM",
            "The Boring Shop <shop@boring.example>",
        ),
        ("--api-keys", "API_KEYS", "none, there is no"),
        ("--admin-password", "ADMIN_PASSWORD", "none, one is"),
        ("--attempts-per-session", "ATTEMPTS_PER_SESSION", "20"),
        ("--attempts-per-address", "ATTEMPTS_PER_ADDRESS", "60"),
        ("--proxies", "PROXIES", "0"),
        ("--request-timeout", "REQUEST_TIMEOUT", "30s"),
        ("--authentication-time", "AUTHENTICATION_TIME", "1h"),
        ("--keep-events", "KEEP_EVENTS", "35days"),
        ("--keep-messages", "KEEP_MESSAGES", "35days"),
        ("--keep-carts", "KEEP_CARTS", "60days"),
        ("--lab[=<BOOL>]", "LAB", "on when it listens on loopback"),
        ("--currency", "CURRENCY", "eur"),
        ("--shipping", "SHIPPING", "0"),
        ("--tax-rates", "TAX_RATES", "DE=19"),
        ("--log", "RUST_LOG", "info"),
        ("--log-format", "LOG_FORMAT", "pretty"),
    ];
    for arguments in [&["--help"][..], &["serve", "--help"], &["help", "serve"]] {
        let output = run(arguments);
        let help = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{help}");
        // Wherever its lines break.
        let in_a_line = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for (flag, variable, default) in serve {
            let is_there = |end| help.contains(&format!("{flag}{end}"));
            assert!(is_there(' ') || is_there('\n'), "{flag} in {help}");
            assert!(
                help.contains(&format!("[env: {variable}")),
                "{variable} in {help}"
            );
            assert!(in_a_line.contains(default), "{default} in {help}");
        }
    }
    for command in ["provider", "audit", "migrate"] {
        let help = text(&run(&[command, "--help"]).stdout);
        assert!(help.contains("[env: "), "{help}");
    }
    assert!(text(&run(&["--version"]).stdout).starts_with("boring-checkout "));
}

#[test]
fn a_bad_value_is_one_clear_line_and_exit_2() {
    let cases = [
        (&["--listen", "nowhere"][..], "--listen"),
        (&["--listen", "127.0.0.1:99999"], "--listen"),
        (&["--public-url", "shop.example"], "--public-url"),
        (&["--provider-url", "ftp://x"], "--provider-url"),
        (&["--database-url", "mysql://x"], "--database-url"),
        (&["--provider-timeout", "soon"], "--provider-timeout"),
        (&["--provider-timeout", "0s"], "--provider-timeout"),
        (&["--lab=perhaps"], "--lab"),
        (&["--lab", "--no-lab"], "--no-lab cannot be used with --lab"),
        (&["--no-lab", "--lab"], "--no-lab cannot be used with --lab"),
        (&["--lease", "-1s"], "-1"),
        (&["--lease", "100days"], "--lease"),
        (&["--keep-events", "30days"], "31days at least"),
        (&["--keep-messages", "1h"], "15days at least"),
        (&["--keep-carts", "30days 23h"], "31days at least"),
        (&["--keep-carts", "101years"], "--keep-carts"),
        (&["--provider-key", ""], "--provider-key"),
        (&["--smtp-url", "mail.example"], "--smtp-url"),
        (&["--bus-url", "localhost:4222"], "--bus-url"),
        (&["--bus-url", "nats://"], "--bus-url"),
        (&["--bus-url", "nats://a:4222,nats://b:4222"], "--bus-url"),
        (&["--bus-url", "nats://localhost/shop"], "--bus-url"),
        (&["--bus-url", "ws://localhost"], "--bus-url"),
        (&["--mail-from", "nobody"], "--mail-from"),
        (&["events", "list", "--limit", "0"], "--limit"),
        (&["events", "redeliver"], "<EVENT>"),
        (&["outbox"], "--help"),
        (&["outbox", "retry", "first"], "[ROW]"),
        (&["mail", "retry", "no order"], "[ORDER]"),
        (&["--webhook-secret", "a,,b"], "--webhook-secret"),
        (&["--log-format", "xml"], "--log-format"),
        (&["--log", "x=y=z"], "--log"),
        (&["--currency", "xyz"], "--currency"),
        (&["--currency", "€"], "--currency"),
        (&["--tax-rates", "DE"], "--tax-rates"),
        (&["--tax-rates", "US=8"], "\"US\""),
        (&["--tax-rates", "DE=19,DE=7"], "two rates"),
        (&["--tax-rates", "DE=-1"], "Germany"),
        (&["--shipping", "4,90"], "such as 4.90"),
        (&["--shipping", "0.001"], "too many decimals"),
        (&["--shipping", "1e3"], "--shipping"),
        (&["--shipping", "1000000"], "--shipping"),
        (
            &["--shipping", "4.90", "--currency", "jpy"],
            "too many decimals",
        ),
        (&["--shipping", "0.005", "--currency", "bhd"], "must be 0"),
        (&["--unknown"], "--unknown"),
        (&["dance"], "dance"),
        (&["provider", "--webhook", "http://x"], "--webhook"),
        (&["audit", "--provider-url", "x"], "--provider-url"),
        (&["migrate", "--json"], "--json"),
        (&["sweep", "--scenario", "lost"], "one of paid, declined"),
        (&["sweep", "--flow", "fast"], "--flow"),
        (&["sweep", "--fault", "crash@1"], "--scenario"),
        (
            &["sweep", "--scenario", "paid", "--fault", "flood@1"],
            "one of crash, lost",
        ),
        (
            &["sweep", "--scenario", "paid", "--fault", "crash"],
            "crash@17",
        ),
        (
            &["sweep", "--scenario", "paid", "--fault", "crash@2+lost@1"],
            "in their order",
        ),
        (&["sweep", "--every", "2"], "--pairs"),
        (&["sweep", "--jobs", "0"], "--jobs"),
        (
            &["sweep", "--database-url", "sqlite://shop.db"],
            "postgres://",
        ),
        (&["--lease", "1s", "migrate"], "migrate"),
    ];
    for (arguments, about) in cases {
        is_unusable(&run(arguments), about);
    }
    let wrong_scheme = run(&["--database-url", "mysql://shop:hunter2@db"]);
    let no_secret = run(&["provider", "--webhook", "hunter2"]);
    let no_smtp = run(&["--smtp-url", "imap://shop:hunter2@mail"]);
    let no_bus = run(&["--bus-url", "amqp://shop:hunter2@bus"]);
    for output in [wrong_scheme, no_secret, no_smtp, no_bus] {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("hunter2"), "a secret is repeated: {said}");
    }
    let folder = folder();
    let mut command = program(folder.path());
    let output = command.env("LEASE", "soon").output().expect("it starts");
    is_unusable(&output, "--lease");
    let mut command = program(folder.path());
    let output = command.arg("--no-lab").env("LAB", "on").output();
    is_unusable(&output.expect("it starts"), "LAB");
}

#[tokio::test]
async fn what_cannot_be_opened_is_one_clear_line_and_exit_2() {
    let listening = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = listening.local_addr().expect("an address").to_string();
    let memory = [
        "--database-url",
        "sqlite::memory:",
        "--provider-database-url",
        "sqlite::memory:",
    ];
    let free = ["--provider-listen", "127.0.0.1:0"];
    let taken_by_another = [&["--listen", &taken][..], &memory, &free].concat();
    is_unusable(&run(&taken_by_another), &taken);
    let provider = [
        &["--listen", "127.0.0.1:0", "--provider-listen", &taken][..],
        &memory,
    ]
    .concat();
    is_unusable(&run(&provider), &taken);

    let folder = folder();
    let url = format!("sqlite://{}", folder.path().display());
    for command in ["serve", "migrate", "audit"] {
        is_unusable(&run(&[command, "--database-url", &url]), "database");
    }
    let nobody = "postgres://nobody:hunter2@127.0.0.1:1/nothing";
    for command in ["migrate", "sweep"] {
        let output = run(&[command, "--database-url", nobody]);
        is_unusable(&output, "refused");
        assert!(!text(&output.stderr).contains("hunter2"));
    }
}

#[tokio::test]
async fn the_audit_says_by_its_exit_code_whether_all_is_well() {
    let shop = Shop::open().await;
    let buyer = shop.visitor().with_cart("TEA-01", 2).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.hears_everything().await;
    let url = shop.database.url();
    let here = [
        "audit",
        "--database-url",
        &url,
        "--provider-url",
        &shop.provider.url,
    ];
    let audit = async |more: &'static [&'static str]| {
        let arguments: Vec<String> = here.iter().chain(more).map(ToString::to_string).collect();
        let run = move || run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        tokio::task::spawn_blocking(run).await.expect("no panic")
    };

    let well = audit(&[]).await;
    assert_eq!(well.status.code(), Some(0), "{}", text(&well.stderr));
    assert!(text(&well.stdout).contains("ok     stock_is_conserved"));
    let report: Value =
        serde_json::from_str(&text(&audit(&["--json"]).await.stdout)).expect("JSON");
    has_the_documented_shape(&report);
    assert_eq!(report["ok"], true);
    let events = shop.provider.ledger().await["events"].clone();
    let counts = json!({
        "checkouts": 1, "paid": 1, "orders": 1, "payments": 1, "provider_succeeded": 1, "refunds": 0, "emails": 0,
        "processed_events": events, "outbox_unpublished": 1, "discrepancies_open": 0,
    });
    assert_eq!(report["counts"], counts);

    shop.alters("update products set stock = stock - 1 where sku = 'TEA-01'")
        .await;
    let broken = audit(&["--json"]).await;
    assert_eq!(broken.status.code(), Some(1));
    let report: Value = serde_json::from_str(&text(&broken.stdout)).expect("JSON");
    has_the_documented_shape(&report);
    assert_eq!(report["ok"], false);
    assert!(text(&audit(&[]).await.stdout).contains("BROKEN stock_is_conserved"));
    shop.alters("update products set stock = stock + 1 where sku = 'TEA-01'")
        .await;

    is_unusable(
        &audit(&["--provider-key", "sk_test_wrong"]).await,
        "provider",
    );
    let mistyped = folder();
    let file = mistyped.path().join("shop.db");
    let nowhere = format!("sqlite://{}", file.display());
    is_unusable(&run(&["audit", "--database-url", &nowhere]), "database");
    assert!(!file.exists(), "who only looks creates nothing");
    std::fs::write(&file, "").expect("an empty file");
    is_unusable(&run(&["audit", "--database-url", &nowhere]), "database");

    let database = shop.database.url();
    let unknown = [
        "events",
        "redeliver",
        "evt_of_nobody",
        "--database-url",
        &database,
        "--provider-url",
        &shop.provider.url,
    ]
    .map(str::to_owned);
    let asks = move || run(&unknown.each_ref().map(String::as_str));
    let output = tokio::task::spawn_blocking(asks).await.expect("no panic");
    is_unusable(&output, "no such event");
    let absent = ["outbox", "retry", "999", "--database-url", &database].map(str::to_owned);
    let retries = move || run(&absent.each_ref().map(String::as_str));
    let output = tokio::task::spawn_blocking(retries)
        .await
        .expect("no panic");
    is_unusable(&output, "no row 999 is parked");
    let away = [
        "audit",
        "--database-url",
        &database,
        "--provider-url",
        "http://127.0.0.1:1",
    ];
    is_unusable(&run(&away), "provider");
    shop.expects(Expected {
        charges: 1,
        orders: 1,
        sold: 2,
    })
    .await;
}

fn has_the_documented_shape(report: &Value) {
    let keys = |value: &Value| -> Vec<String> {
        value
            .as_object()
            .expect("an object")
            .keys()
            .cloned()
            .collect()
    };
    assert_eq!(keys(report), ["checked_at", "counts", "invariants", "ok"]);
    let at = report["checked_at"].as_str().expect("a time");
    chrono::DateTime::parse_from_rfc3339(at).expect("RFC 3339");
    let invariants = report["invariants"].as_array().expect("a list");
    assert!(invariants.len() > 5);
    for invariant in invariants {
        assert_eq!(keys(invariant), ["name", "ok", "violations"]);
        let violations = invariant["violations"].as_array().expect("a list");
        assert_eq!(invariant["ok"], violations.is_empty(), "{invariant}");
    }
}

#[tokio::test]
async fn the_environment_and_a_dot_env_file_count_also_for_subcommands() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let url = |name: &str| format!("sqlite://{}", at(name).display());
    let migrate = |command: &mut Command| {
        let output = command.output().expect("it starts");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(text(&output.stdout), "The schema is up to date.\n");
    };
    let mut command = program(folder.path());
    command.arg("migrate");
    // Also those that only another command knows.
    command
        .env("LISTEN", "127.0.0.1:0")
        .env("LEASE", "1s")
        .env("PROVIDER_URL", "http://127.0.0.1:1");
    migrate(command.env("DATABASE_URL", url("of_environment.db")));
    assert!(at("of_environment.db").exists());

    std::fs::write(at(".env"), format!("DATABASE_URL={}\n", url("of_file.db"))).expect("a file");
    migrate(program(folder.path()).arg("migrate"));
    assert!(at("of_file.db").exists());
    migrate(
        program(folder.path())
            .arg("migrate")
            .env("DATABASE_URL", url("stronger.db")),
    );
    assert!(
        at("stronger.db").exists(),
        "the environment wins over the file"
    );
    migrate(
        program(folder.path())
            .env("DATABASE_URL", url("weaker.db"))
            .args(["migrate", "--database-url", &url("strongest.db")]),
    );
    assert!(at("strongest.db").exists() && !at("weaker.db").exists());
}

#[tokio::test]
async fn it_runs_in_any_folder_and_stops_when_it_is_asked_to() {
    let folder = folder();
    let shop = Process::of(program(folder.path()).args([
        "--listen",
        "127.0.0.1:0",
        "--provider-listen",
        "127.0.0.1:0",
    ]))
    .await;
    assert!(!shop.url.ends_with(":0"), "{}", shop.url);
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let style = buyer.sees("/static/css/base.css").await;
    assert_eq!(style.status, 200);
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    for file in ["data/shop.db", "data/provider.db"] {
        assert!(folder.path().join(file).exists(), "{file}");
    }
    shop.asks_to_stop();
    assert_eq!(shop.ends().await.code(), Some(0));
}

#[tokio::test]
async fn asked_to_stop_it_finishes_the_purchase_that_is_under_way() {
    let town = Shop::open().await;
    let shop = Process::shop(&town.database, &town.provider, &[]).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let slow =
        json!({"on": {"operation": "payment_intents.create"}, "fault": "delay", "delay_ms": 1500});
    town.provider.fault(slow).await;
    let submission = tokio::spawn(buyer.submission(&form).send());
    eventually("the payment is under way", || async {
        town.provider.ledger().await["payment_intents"]["succeeded"] == 1
    })
    .await;

    shop.asks_to_stop();

    let answer = submission.await.expect("no panic").expect("an answer");
    assert_eq!(answer.status(), 303);
    assert_eq!(shop.ends().await.code(), Some(0));
    town.expects(crate::world::ONCE).await;
}

#[tokio::test]
async fn it_may_be_asked_to_stop_as_soon_as_it_is_open() {
    for _ in 0..10 {
        let shop = Process::whole(&Database::fresh().await, &[]).await;
        shop.asks_to_stop();
        assert_eq!(shop.ends().await.code(), Some(0));
    }
}
