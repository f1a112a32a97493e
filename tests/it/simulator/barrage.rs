//! A hundred thousand requests that somebody made up, half of them nearly right.
//!
//! Nothing may answer 5xx or with something else than the API's JSON, nothing may panic, and the memory of the
//! process must not grow with what was asked of it: its data is on disk.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
};

use futures_util::future::join_all;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use serde_json::Value;

use super::{connection::Connection, world::KEY};
use crate::world::Process;

/// What the process may keep more after the last request than after the first fifth: buffers of connections,
/// the caches of SQLite, the fragments between them. All answers together are a hundred times as much.
const MAX_GROWTH_KILOBYTES: u64 = 24 * 1024;

const REQUESTS: u32 = 100_000;
const CLIENTS: u32 = 4;

/// The ledger is counted from all there is: forgetting now and then keeps it from being most of the work.
const FORGET_EVERY: u32 = 1500;

#[tokio::test]
async fn a_barrage_of_generated_requests_breaks_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let database_url = format!("sqlite://{}", folder.path().join("provider.db").display());
    let process = Process::provider(&database_url, &[]).await;

    let first = run(&process, 0, REQUESTS / 5).await;
    let warm = process.resident_kilobytes();
    let rest = run(&process, 1, REQUESTS / 5 * 4).await;

    let grown = process.resident_kilobytes().saturating_sub(warm);
    assert!(
        grown < MAX_GROWTH_KILOBYTES,
        "grew by {grown} kB from {warm} kB"
    );
    every_operation_was_carried_out(&process, &(&first | &rest)).await;
    let log = process.log();
    assert!(!log.contains("panicked") && !log.contains("ERROR"), "{log}");
}

/// Several clients share `requests`. A round makes up the same in every run, except for the ids it uses.
///
/// Returns what was carried out.
async fn run(process: &Process, round: u64, requests: u32) -> HashSet<Pattern> {
    let address = process.address();
    let clients = (0..CLIENTS).map(|client| {
        attack(
            &address,
            round * 1000 + u64::from(client),
            requests / CLIENTS,
        )
    });
    join_all(clients).await.into_iter().flatten().collect()
}

async fn attack(address: &str, seed: u64, requests: u32) -> HashSet<Pattern> {
    let mut carried_out = HashSet::new();
    let mut inventor = Inventor::new(seed);
    let mut connection = Connection::open(address).await;
    for number in 0..requests {
        if number % FORGET_EVERY == 0 {
            connection.control("POST", "/_control/reset", "").await;
        }
        let (pattern, request) = inventor.request();
        let (status, body) = connection.send(&request).await;
        let told = || format!("{}\n\n{status} {body}", String::from_utf8_lossy(&request));
        assert!(status < 500, "{}", told());
        let body: Value = serde_json::from_str(&body).unwrap_or_else(|_| panic!("{}", told()));
        assert!(
            status == 200 || body["error"]["type"].is_string(),
            "{}",
            told()
        );
        inventor.learns(&body);
        if status == 200 {
            carried_out.insert(pattern);
        }
    }
    carried_out
}

/// A barrage that is turned away at the door proves nothing: every operation went through at least once.
async fn every_operation_was_carried_out(process: &Process, carried_out: &HashSet<Pattern>) {
    let api: HashSet<&Pattern> = PATHS
        .iter()
        .filter(|(_, path)| path.starts_with("/v1/"))
        .collect();
    let missed: Vec<_> = api
        .iter()
        .filter(|pattern| !NONSENSE.contains(pattern) && **pattern != &IN_VAIN)
        .filter(|pattern| !carried_out.contains(**pattern))
        .collect();
    assert!(missed.is_empty(), "never carried out: {missed:?}");

    let mut connection = Connection::open(&process.address()).await;
    let no_fault = r#"{"on":{"operation":"?"},"fault":"hang"}"#;
    let refusal = connection
        .control("POST", "/_control/faults", no_fault)
        .await;
    let (_, names) = refusal["error"]["message"]
        .as_str()
        .unwrap()
        .split_once("one of ")
        .unwrap();
    let there_are = names.split(", ").count();
    assert_eq!(
        api.len() - NONSENSE.len(),
        there_are,
        "operations that are tried: {names}"
    );
}

/// Makes requests up, the more cleverly the more it has seen.
struct Inventor {
    chance: StdRng,
    /// Ids that were in answers, by their prefix.
    ids: HashMap<String, Vec<String>>,
}

/// A method, and a path with the kind of id that belongs in it.
type Pattern = (&'static str, &'static str);

/// What does not exist.
const NONSENSE: [Pattern; 2] = [("GET", "/v1/nonsense"), ("PUT", "/v1/payment_intents")];

/// Only a refund that waits for its customer can be canceled, and no test method's does.
const IN_VAIN: Pattern = ("POST", "/v1/refunds/{re}/cancel");

const PATHS: &[Pattern] = &[
    ("POST", "/v1/payment_intents"),
    ("POST", "/v1/payment_intents"),
    ("POST", "/v1/payment_intents"),
    ("GET", "/v1/payment_intents"),
    ("GET", "/v1/payment_intents/search"),
    ("GET", "/v1/payment_intents/{pi}"),
    ("POST", "/v1/payment_intents/{pi}"),
    ("POST", "/v1/payment_intents/{pi}/confirm"),
    ("POST", "/v1/payment_intents/{pi}/confirm"),
    ("POST", "/v1/payment_intents/{pi}/capture"),
    ("POST", "/v1/payment_intents/{pi}/cancel"),
    ("GET", "/v1/charges"),
    ("GET", "/v1/charges/{ch}"),
    ("GET", "/v1/charges/{ch}/refunds"),
    ("GET", "/v1/mandates/{mandate}"),
    ("GET", "/v1/balance"),
    ("GET", "/v1/balance_transactions"),
    ("GET", "/v1/balance_transactions/{txn}"),
    ("POST", "/v1/refunds"),
    ("GET", "/v1/refunds"),
    ("GET", "/v1/refunds/{re}"),
    ("POST", "/v1/refunds/{re}"),
    ("POST", "/v1/refunds/{re}/cancel"),
    ("POST", "/v1/customers"),
    ("GET", "/v1/customers"),
    ("GET", "/v1/customers/search"),
    ("GET", "/v1/customers/{cus}"),
    ("POST", "/v1/customers/{cus}"),
    ("DELETE", "/v1/customers/{cus}"),
    ("GET", "/v1/customers/{cus}/payment_methods"),
    ("POST", "/v1/payment_methods"),
    ("GET", "/v1/payment_methods"),
    ("GET", "/v1/payment_methods/{pm}"),
    ("POST", "/v1/payment_methods/{pm}"),
    ("POST", "/v1/payment_methods/{pm}/attach"),
    ("POST", "/v1/payment_methods/{pm}/detach"),
    ("GET", "/v1/disputes"),
    ("GET", "/v1/disputes/{du}"),
    ("POST", "/v1/disputes/{du}"),
    ("POST", "/v1/disputes/{du}/close"),
    ("GET", "/v1/events"),
    ("GET", "/v1/events/{evt}"),
    ("POST", "/v1/events/{evt}/retry"),
    ("POST", "/v1/webhook_endpoints"),
    ("GET", "/v1/webhook_endpoints"),
    ("GET", "/v1/webhook_endpoints/{we}"),
    ("POST", "/v1/webhook_endpoints/{we}"),
    ("DELETE", "/v1/webhook_endpoints/{we}"),
    ("GET", "/v1"),
    ("GET", "/v1/nonsense"),
    ("PUT", "/v1/payment_intents"),
    ("GET", "/_control/ledger"),
    ("GET", "/_control/deliveries"),
    ("GET", "/_control/faults"),
    ("POST", "/_control/clock"),
    ("POST", "/_control/settle"),
    ("POST", "/_control/faults"),
    ("POST", "/_control/webhook_endpoints/{we}/roll"),
    ("POST", "/_control/nonsense"),
];

const NAMES: &[&str] = &[
    "amount",
    "currency",
    "confirm",
    "payment_method",
    "payment_method_types[]",
    "metadata[k]",
    "metadata[]",
    "metadata",
    "description",
    "customer",
    "limit",
    "starting_after",
    "ending_before",
    "created",
    "created[gte]",
    "created[x]",
    "expand[]",
    "expand[0]",
    "capture_method",
    "cancellation_reason",
    "automatic_payment_methods[enabled]",
    "automatic_payment_methods[allow_redirects]",
    "return_url",
    "off_session",
    "shipping[name]",
    "shipping[address][line1]",
    "receipt_email",
    "setup_future_usage",
    "statement_descriptor",
    "type",
    "types[]",
    "a[b][c][d][e][f][g][h][i]",
    "[",
    "]",
    "a[",
    "",
    "%",
    "\u{1f4a3}",
];

const VALUES: &[&str] = &[
    "1",
    "0",
    "-1",
    "50",
    "4200",
    "99999999",
    "100000000",
    "9223372036854775807",
    "9223372036854775808",
    "1e3",
    "0x10",
    "",
    "true",
    "false",
    "null",
    "usd",
    "USD",
    "jpy",
    "kwd",
    "xyz",
    "card",
    "manual",
    "automatic",
    "never",
    "always",
    "pm_card_visa",
    "pm_card_chargeDeclined",
    "pm_card_authenticationRequired",
    "latest_charge",
    "data.latest_charge",
    "https://example.com/back",
    "javascript:alert(1)",
    "duplicate",
    "customer",
    "*",
    "payment_intent.*",
    "someone@example.com",
    "'; drop table objects; --",
    "%00",
    "%ff%fe",
    "%",
    "\u{e9}\u{1f4a3}",
    "a%26b%3Dc",
];

impl Inventor {
    fn new(seed: u64) -> Self {
        Self {
            chance: StdRng::seed_from_u64(seed),
            ids: HashMap::new(),
        }
    }

    /// Keeps the newest ids of each kind that are anywhere in an answer.
    fn learns(&mut self, answer: &Value) {
        match answer {
            Value::String(text) => {
                let kind = text.split_once('_').map(|(prefix, _)| prefix);
                if let Some(kind) = kind.filter(|_| text.len() < 40 && !text.contains(' ')) {
                    let known = self.ids.entry(kind.to_owned()).or_default();
                    known.push(text.clone());
                    let too_many = known.len().saturating_sub(50);
                    known.drain(..too_many);
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.learns(value)),
            Value::Object(fields) => fields.values().for_each(|value| self.learns(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

impl Inventor {
    fn request(&mut self) -> (Pattern, Vec<u8>) {
        let (method, pattern) = *PATHS.choose(&mut self.chance).unwrap();
        let path = self.path(pattern);
        let form = if self.often(5) {
            self.garbage()
        } else {
            self.form(method, pattern)
        };
        let (target, body) = match method {
            "POST" | "PUT" => (path, form),
            _ => (format!("{path}?{}", to_ascii(&form)), Vec::new()),
        };
        let mut request = format!(
            "{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n{}\r\n",
            body.len(),
            self.headers()
        )
        .into_bytes();
        request.extend(body);
        ((method, pattern), request)
    }

    fn path(&mut self, pattern: &str) -> String {
        let Some((before, rest)) = pattern.split_once('{') else {
            return pattern.to_owned();
        };
        let (prefix, after) = rest.split_once('}').unwrap();
        format!("{before}{}{after}", self.id(prefix))
    }

    /// One that exists, most of the time, and that fits, most of the time.
    fn id(&mut self, prefix: &str) -> String {
        if self.often(10) {
            return VALUES
                .choose(&mut self.chance)
                .unwrap()
                .replace([' ', '/', '?'], "");
        }
        if prefix == "pm" && self.often(30) {
            return "pm_card_visa".to_owned();
        }
        let known = self.ids.get(prefix);
        let any = known.and_then(|known| known.choose(&mut self.chance).cloned());
        any.unwrap_or_else(|| format!("{prefix}_nothing"))
    }

    /// Parameters: right ones, with oddities among them in half of all cases.
    fn form(&mut self, method: &str, pattern: &str) -> Vec<u8> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        if !self.often(10) && (method == "POST" || pattern.ends_with("/search")) {
            let fitting: Vec<_> = RIGHT.iter().filter(|(of, _)| *of == pattern).collect();
            let right = fitting.choose(&mut self.chance).map(|(_, right)| *right);
            for pair in right.into_iter().flatten() {
                let (name, value) = pair.split_once('=').unwrap();
                let value = match value.strip_prefix('{') {
                    Some(prefix) => self.id(prefix.trim_end_matches('}')),
                    None => value.to_owned(),
                };
                pairs.push((name.to_owned(), value));
            }
        }
        let oddities = if self.often(50) {
            self.chance.random_range(1..5)
        } else {
            0
        };
        for _ in 0..oddities {
            let name = (*NAMES.choose(&mut self.chance).unwrap()).to_owned();
            let value = if self.often(20) {
                let prefix = *["pi", "ch", "evt", "pm", "cus"]
                    .choose(&mut self.chance)
                    .unwrap();
                self.id(prefix)
            } else {
                (*VALUES.choose(&mut self.chance).unwrap()).to_owned()
            };
            pairs.push((name, value));
        }
        if pattern.starts_with("/_control") {
            return self.json(&pairs);
        }
        let pairs: Vec<String> = pairs
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        pairs.join("&").replace(' ', "+").into_bytes()
    }

    fn json(&mut self, pairs: &[(String, String)]) -> Vec<u8> {
        let mut body = serde_json::Map::new();
        for (name, value) in pairs {
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value.as_str()));
            body.insert(name.clone(), value);
        }
        let mut body = Value::Object(body).to_string().into_bytes();
        if self.often(20) {
            body.truncate(self.chance.random_range(0..=body.len()));
        }
        body
    }

    fn headers(&mut self) -> String {
        let mut headers = String::new();
        if !self.often(2) {
            write!(headers, "Authorization: Bearer {KEY}\r\n").unwrap();
        }
        if self.often(20) {
            write!(
                headers,
                "Idempotency-Key: {}\r\n",
                self.chance.random_range(0..5_000)
            )
            .unwrap();
        }
        for name in [
            "Stripe-Version",
            "Content-Type",
            "Idempotency-Key",
            "Authorization",
        ] {
            if self.often(1) {
                let value = VALUES.choose(&mut self.chance).unwrap();
                write!(headers, "{name}: {}\r\n", to_ascii(value.as_bytes())).unwrap();
            }
        }
        headers
    }

    fn garbage(&mut self) -> Vec<u8> {
        let length = self.chance.random_range(0..200);
        (0..length).map(|_| self.chance.random()).collect()
    }

    /// In so many of a hundred cases.
    fn often(&mut self, percent: u32) -> bool {
        self.chance.random_ratio(percent, 100)
    }
}

/// What HTTP allows in a target and in a header.
fn to_ascii(bytes: &[u8]) -> String {
    let allowed = bytes
        .iter()
        .filter(|byte| byte.is_ascii_graphic() && !b"\"#<>\\^`{|}".contains(byte));
    allowed.map(|byte| char::from(*byte)).collect()
}

/// What makes a request go through. `{pi}` is the id of a payment intent that there is.
#[rustfmt::skip]
const RIGHT: &[(&str, &[&str])] = &[
    ("/v1/payment_intents", &["amount=4200", "currency=usd", "payment_method_types[]=card", "payment_method=pm_card_visa"]),
    ("/v1/payment_intents", &["amount=4200", "currency=usd", "payment_method_types[]=card", "payment_method=pm_card_visa", "confirm=true"]),
    ("/v1/payment_intents", &["amount=4200", "currency=usd", "payment_method_types[]=card", "payment_method=pm_card_visa", "confirm=true", "capture_method=manual"]),
    ("/v1/payment_intents", &["amount=4200", "currency=usd", "payment_method_types[]=card", "payment_method=pm_card_createDispute", "confirm=true"]),
    ("/v1/payment_intents", &["amount=4200", "currency=usd", "payment_method_types[]=us_bank_account", "payment_method=pm_usBankAccount_success", "confirm=true", "mandate_data[customer_acceptance][type]=offline"]),
    ("/v1/payment_intents/search", &["query=status:'succeeded'"]),
    ("/v1/payment_intents/{pi}", &["metadata[k]=v"]),
    ("/v1/refunds", &["payment_intent={pi}", "amount=1"]),
    ("/v1/refunds/{re}", &["metadata[k]=v"]),
    ("/v1/customers", &["email=someone@example.com"]),
    ("/v1/customers/search", &["query=email:'someone@example.com'"]),
    ("/v1/customers/{cus}", &["metadata[k]=v"]),
    ("/v1/payment_methods", &["type=card", "card[token]=tok_visa"]),
    ("/v1/payment_methods/{pm}/attach", &["customer={cus}"]),
    ("/v1/events/{evt}/retry", &["webhook_endpoint={we}"]),
    ("/v1/webhook_endpoints", &["url=http://127.0.0.1:1/nobody", "enabled_events[]=charge.failed"]),
    ("/_control/clock", &["advance_seconds=1"]),
];
