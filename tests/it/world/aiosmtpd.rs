//! A mail server that others run as well: aiosmtpd, as a process. See `tests/mail/server.py`.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader, Write as _},
    net::SocketAddr,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Mail, eventually};

/// The steps of a conversation.
pub const STEPS: [&str; 5] = ["banner", "EHLO", "MAIL", "RCPT", "DATA"];

/// What to run it with: `TEST_PYTHON`, which `scripts/test` sets. Plain `cargo test` gets by without, and
/// `tests/engines.rs` says so.
fn python() -> Option<PathBuf> {
    let python = std::env::var_os("TEST_PYTHON").map(PathBuf::from);
    let required = std::env::var_os("CI").is_some_and(|ci| ci == "true");
    assert!(
        python.is_some() || !required,
        "TEST_PYTHON is not set: run scripts/test"
    );
    python
}

/// A running mail server.
pub struct Aiosmtpd {
    child: Mutex<Child>,
    pub address: SocketAddr,
    folder: TempDir,
    events: Arc<Mutex<Vec<Value>>>,
}

impl Aiosmtpd {
    /// `None` without a Python to run it with.
    pub fn open() -> Option<Self> {
        Self::open_with(&[])
    }

    /// With flags of `tests/mail/server.py`.
    pub fn open_with(flags: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut child = Command::new(python()?)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mail/server.py"))
            .arg("--folder")
            .arg(folder.path())
            .args(flags)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("TEST_PYTHON names a Python");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut next = move || Some(serde_json::from_str::<Value>(&lines.next()?.ok()?));
        let first = next().expect("it has what tests/sdk/python/requirements.txt asks for");
        let port = first.expect("JSON")["port"].as_u64().expect("a port");
        let events: Arc<Mutex<Vec<Value>>> = Arc::default();
        let heard = Arc::clone(&events);
        std::thread::spawn(move || {
            while let Some(event) = next() {
                let event = event.expect("JSON");
                heard.lock().expect("not poisoned").push(event);
            }
        });
        let port = u16::try_from(port).expect("a port");
        Some(Self {
            child: Mutex::new(child),
            address: ([127, 0, 0, 1], port).into(),
            folder,
            events,
        })
    }

    pub fn url(&self) -> String {
        format!("smtp://{}", self.address)
    }

    /// Where the certificate of its authority is.
    pub fn authority(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }

    /// Takes every mail, as in the beginning. What happened before has been told by the time it says so.
    pub async fn takes(&self) {
        self.is(json!({"does": "takes"})).await;
    }

    /// `refuses` or `hangs`, at one step.
    pub async fn does_at(&self, what: &str, step: &str) {
        self.is(json!({"does": what, "at": step})).await;
    }

    /// In a mood, from now on.
    pub async fn is(&self, mood: Value) {
        let moods = self.count("changed");
        {
            let mut child = self.child.lock().expect("not poisoned");
            let stdin = child.stdin.as_mut().expect("piped");
            writeln!(stdin, "{mood}").expect("it listens");
        }
        eventually("it is in another mood", || async {
            self.count("changed") > moods
        })
        .await;
    }

    pub fn mails(&self) -> Vec<Mail> {
        let mails = self.all("mail").into_iter();
        mails.map(|mail| mail_of(&mail)).collect()
    }

    /// All Message-IDs, each once.
    pub fn message_ids(&self) -> BTreeSet<String> {
        let mails = self.mails();
        let ids = mails.iter().map(|mail| mail.header("Message-ID"));
        ids.map(str::to_owned).collect()
    }

    /// How often something happened: a `visit`, a `login`, a `farewell`.
    pub fn count(&self, what: &str) -> usize {
        self.all(what).len()
    }

    fn all(&self, what: &str) -> Vec<Value> {
        let events = self.events.lock().expect("not poisoned");
        let events = events.iter().filter_map(|event| event.get(what));
        events.cloned().collect()
    }
}

impl Drop for Aiosmtpd {
    fn drop(&mut self) {
        let child = self.child.get_mut().expect("not poisoned");
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn mail_of(event: &Value) -> Mail {
    let mut mail = Mail::of(event["raw"].as_str().expect("text"));
    let to = event["to"].as_array().expect("a list").iter();
    mail.to = to.map(|to| to.as_str().expect("text").to_owned()).collect();
    mail
}
