//! The program itself, as a process that can be killed.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, ExitStatus, Stdio},
};

use tempfile::NamedTempFile;

use super::{Database, Provider, Visitor};

/// What a shop says once it serves.
const OPEN: &str = "The Boring Shop is open at";

/// What a simulator that runs alone says.
const PROVIDER: &str = "The payment provider is at";

/// What `boring-checkout` prints for an operator's command on the shop's database; it succeeds.
pub async fn command(database: &Database, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_boring-checkout"));
    command.args(arguments);
    command.args(["--database-url", &database.url(), "--log", "warn"]);
    let output = tokio::task::spawn_blocking(move || command.output()).await;
    let output = output.expect("no panic").expect("it starts");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The program, which listens where nobody else does unless `flags` say otherwise.
fn program(common: &[&str], flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_boring-checkout"));
    command.args(common).args(flags);
    for (flag, value) in [("--listen", "127.0.0.1:0"), ("--log", "warn")] {
        if !flags.contains(&flag) {
            command.args([flag, value]);
        }
    }
    command
}

/// A running `boring-checkout`, shop or simulator.
pub struct Process {
    child: Child,
    pub url: String,
    /// All that it said when it began to serve.
    pub printed: String,
    log: NamedTempFile,
}

impl Process {
    /// Starts the shop on `database`, with a provider that runs elsewhere. It does only what it is asked for.
    pub async fn shop(database: &Database, provider: &Provider, flags: &[&str]) -> Self {
        Self::shop_with_workers(database, provider, &[flags, &["--no-workers"]].concat()).await
    }

    /// Starts a shop like that, and the workers in it.
    pub async fn shop_with_workers(
        database: &Database,
        provider: &Provider,
        flags: &[&str],
    ) -> Self {
        let url = database.url();
        let mail = database.mail_folder();
        let common = [
            "serve",
            "--mail-folder",
            &mail,
            "--database-url",
            &url,
            "--provider-url",
            &provider.url,
        ];
        Self::start(&common, flags).await
    }

    /// Starts the shop on `database`, with the simulator beside it.
    pub async fn whole(database: &Database, flags: &[&str]) -> Self {
        let url = database.url();
        let mail = database.mail_folder();
        let common = [
            "--mail-folder",
            &mail,
            "--database-url",
            &url,
            "--provider-listen",
            "127.0.0.1:0",
            "--provider-database-url",
            "sqlite::memory:",
        ];
        Self::start(&common, flags).await
    }

    /// Starts the simulator alone.
    pub async fn provider(database_url: &str, flags: &[&str]) -> Self {
        let mut command = program(&["provider", "--database-url", database_url], flags);
        Self::that_says(PROVIDER, &mut command)
            .await
            .unwrap_or_else(|log| panic!("the provider does not start: {log}"))
    }

    async fn start(common: &[&str], flags: &[&str]) -> Self {
        Self::of(&mut program(common, flags)).await
    }

    /// A shop that is started by a command of the test's own.
    pub async fn of(command: &mut Command) -> Self {
        Self::that_says(OPEN, command)
            .await
            .unwrap_or_else(|log| panic!("the shop does not start: {log}"))
    }

    /// A shop in a world where starting may fail, too: then the log is returned.
    pub async fn serve(flags: &[&str]) -> Result<Self, String> {
        Self::that_says(OPEN, &mut program(&["serve"], flags)).await
    }

    /// Whatever runs in the test's own process goes on meanwhile: it may hold the lock that the other one waits for.
    async fn that_says(serves_at: &str, command: &mut Command) -> Result<Self, String> {
        let log = NamedTempFile::new().expect("a temporary file");
        let mut child = command
            .stderr(log.reopen().expect("the file is there"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut says = BufReader::new(child.stdout.take().expect("piped"));
        let printed = tokio::task::spawn_blocking(move || {
            let mut printed = String::new();
            says.read_line(&mut printed).expect("it says where it is");
            // Whoever has the first line has them all.
            printed.push_str(std::str::from_utf8(says.buffer()).expect("text"));
            printed
        });
        let mut process = Self {
            child,
            url: String::new(),
            printed: String::new(),
            log,
        };
        process.printed = printed.await.expect("no panic");
        let Some(line) = process.printed.lines().next() else {
            return Err(process.log());
        };
        let url = line.strip_prefix(serves_at).map(str::trim);
        process.url = url.map_or_else(|| panic!("unexpected: {line}"), str::to_owned);
        Ok(process)
    }

    pub fn visitor(&self) -> Visitor {
        Visitor::at(&self.url)
    }

    /// Where it listens, to start the next one in the same place.
    pub fn address(&self) -> String {
        self.url.trim_start_matches("http://").to_owned()
    }

    /// How much memory it has, in kB (Linux).
    pub fn resident_kilobytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("there is a /proc");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        number
            .and_then(|number| number.parse().ok())
            .expect("a number")
    }

    /// What it has logged so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log.path()).expect("the log can be read")
    }

    /// SIGTERM: a polite request.
    pub fn asks_to_stop(&self) {
        self.signal("-TERM");
    }

    /// SIGSTOP: it does nothing, and does not know it.
    pub fn freezes(&self) {
        self.signal("-STOP");
    }

    /// SIGCONT: it goes on where it was.
    pub fn thaws(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status();
        assert!(sent.expect("there is a kill").success());
    }

    /// Waits for its end.
    pub async fn ends(mut self) -> ExitStatus {
        let ended = tokio::task::spawn_blocking(move || self.child.wait()).await;
        ended.expect("no panic").expect("it ends")
    }

    /// SIGKILL: nothing is finished, nothing is said.
    pub fn kill(mut self) {
        self.end();
    }

    /// The same, and its log can still be read.
    pub fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{}", self.log());
        }
        self.end();
    }
}
