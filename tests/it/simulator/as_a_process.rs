//! `boring-checkout provider`, as a test suite in another language starts it.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use super::world::{KEY, eventually};

/// A running simulator.
struct Program(Child);

impl Program {
    fn start(folder: &Path, flags: &[&str]) -> Self {
        let mut command = command(folder, flags);
        Self(
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap(),
        )
    }

    /// The line it prints, and where that says it is.
    fn url(&mut self) -> String {
        let mut line = String::new();
        let out = self.0.stdout.as_mut().unwrap();
        // Byte by byte: what comes behind the line is left for whoever reads on.
        BufReader::with_capacity(1, out)
            .read_line(&mut line)
            .unwrap();
        let url = line.split_whitespace().last().unwrap();
        assert!(url.starts_with("http://127.0.0.1:"), "{line}");
        url.to_owned()
    }

    fn is_asked_to_stop(&self) {
        let pid = self.0.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &pid])
                .status()
                .unwrap()
                .success()
        );
    }

    /// Its exit code, and what else it printed.
    fn ends(mut self) -> (Option<i32>, String) {
        let code = self.0.wait().unwrap().code();
        let mut rest = String::new();
        self.0
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut rest)
            .unwrap();
        (code, rest)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn command(folder: &Path, flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_boring-checkout"));
    command.current_dir(folder).env_clear().stdin(Stdio::null());
    command
        .args(["provider", "--listen", "127.0.0.1:0"])
        .args(flags);
    command
}

fn refusal(output: &Output) -> String {
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(output.stdout.is_empty());
    said
}

async fn get(url: &str) -> Value {
    let answer = crate::world::client()
        .get(url)
        .bearer_auth(KEY)
        .send()
        .await
        .unwrap();
    serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
}

#[tokio::test]
async fn it_prints_one_line_when_it_is_ready_and_nothing_else() {
    let folder = TempDir::new().unwrap();
    let mut program = Program::start(folder.path(), &[]);

    let url = program.url();

    assert_eq!(get(&format!("{url}/_control/ledger")).await["events"], 0);
    assert!(folder.path().join("data/provider.db").exists());
    program.is_asked_to_stop();
    assert_eq!(program.ends(), (Some(0), String::new()));
}

#[tokio::test]
async fn an_ephemeral_one_leaves_nothing_behind() {
    let folder = TempDir::new().unwrap();
    let mut program = Program::start(folder.path(), &["--ephemeral"]);
    let url = program.url();
    assert_eq!(get(&format!("{url}/_control/ledger")).await["events"], 0);
    program.is_asked_to_stop();
    assert_eq!(program.ends().0, Some(0));

    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn the_port_file_appears_whole_and_goes_at_the_end() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("port");
    std::fs::write(&file, "1").unwrap();
    let mut program = Program::start(folder.path(), &["--ephemeral", "--port-file", "port"]);

    // The one of a process that is gone is never read: it goes before ours comes.
    eventually("the port file names a living port", || async {
        std::fs::read_to_string(&file).is_ok_and(|port| port != "1")
    })
    .await;

    let port = std::fs::read_to_string(&file).unwrap();
    assert_eq!(
        get(&format!("http://127.0.0.1:{port}/_control/ledger")).await["events"],
        0
    );
    assert_eq!(program.url(), format!("http://127.0.0.1:{port}"));
    let files = std::fs::read_dir(folder.path()).unwrap();
    assert_eq!(files.count(), 1, "the temporary file was renamed");
    program.is_asked_to_stop();
    assert_eq!(program.ends().0, Some(0));
    assert!(!file.exists());
}

#[tokio::test]
async fn a_port_file_that_another_process_has_taken_over_stays() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("port");
    let mut program = Program::start(folder.path(), &["--ephemeral", "--port-file", "port"]);
    program.url();
    std::fs::write(&file, "2").unwrap();

    program.is_asked_to_stop();

    assert_eq!(program.ends().0, Some(0));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "2");
}

#[tokio::test]
async fn chaos_comes_from_the_command_line_or_the_environment() {
    let folder = TempDir::new().unwrap();
    let flags = [
        "--ephemeral",
        "--chaos",
        "7",
        "--chaos-rates",
        "drop_response=0.05,webhook_drop=0.1",
    ];
    let mut program = Program::start(folder.path(), &flags);
    let chaos = get(&format!("{}/_control/chaos", program.url())).await;
    assert_eq!(
        (&chaos["seed"], &chaos["rates"]["drop_response"]),
        (&7.into(), &0.05.into())
    );
    assert_eq!(chaos["rates"]["rate_limit"], 0.0);

    let mut from_environment = command(folder.path(), &[]);
    from_environment
        .env("PROVIDER_EPHEMERAL", "1")
        .env("PROVIDER_CHAOS", "8");
    from_environment
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut program = Program(from_environment.spawn().unwrap());
    let chaos = get(&format!("{}/_control/chaos", program.url())).await;
    assert_eq!(
        (&chaos["seed"], &chaos["rates"]["hang"]),
        (&8.into(), &0.0.into())
    );
    assert!(!folder.path().join("data").exists());
}

#[test]
fn what_it_cannot_do_is_one_clear_line_and_exit_2() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let memory = ["--ephemeral", "--database-url", "sqlite::memory:"];
    for (flags, about) in [
        (&memory[..], "--database-url"),
        (&["--port-file", "nowhere/port"], "nowhere/port"),
        (&["--port-file", "file/port"], "file/port"),
        (&["--port-file", "."], "port file"),
        (&["--port-file", "/"], "port file"),
        (&["--chaos", "x"], "--chaos"),
        (&["--chaos-rates", "drop_response=0.1"], "--chaos SEED"),
        (
            &["--chaos", "7", "--chaos-rates", "drop_response=2"],
            "between 0 and 1",
        ),
        (&["--chaos", "7", "--chaos-rates", "drop=0.1"], "drop"),
        (&["--chaos", "7", "--chaos-rates", ""], "--chaos-rates"),
    ] {
        let said = refusal(&command(folder.path(), flags).output().unwrap());
        assert!(said.contains(about), "{said} does not name {about}");
    }
    // It could not start: whoever waits must not read the port of the one before.
    std::fs::write(folder.path().join("port"), "1").unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut busy = Command::new(env!("CARGO_BIN_EXE_boring-checkout"));
    busy.current_dir(folder.path()).env_clear();
    busy.args([
        "provider",
        "--ephemeral",
        "--port-file",
        "port",
        "--listen",
        &address,
    ]);
    assert!(refusal(&busy.output().unwrap()).contains(&address));
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|it| it.unwrap().file_name())
        .collect();
    assert_eq!(
        left,
        ["file"],
        "neither a port file nor a draft of one, nor a database"
    );
}

#[test]
fn help_names_its_flags_and_their_environment() {
    let folder = TempDir::new().unwrap();
    let help = command(folder.path(), &["--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    for (flag, variable) in [
        ("--ephemeral", "PROVIDER_EPHEMERAL"),
        ("--port-file <FILE>", "PROVIDER_PORT_FILE"),
        ("--chaos <SEED>", "PROVIDER_CHAOS"),
        ("--chaos-rates <RATES>", "PROVIDER_CHAOS_RATES"),
        ("--database-url <URL>", "PROVIDER_DATABASE_URL"),
    ] {
        assert!(help.contains(flag), "{flag} in {help}");
        assert!(
            help.contains(&format!("[env: {variable}")),
            "{variable} in {help}"
        );
    }
    assert!(help.contains("sqlite://data/provider.db"), "{help}");
}

#[tokio::test]
async fn webhooks_go_to_the_url_exactly_as_it_is_given() {
    let folder = TempDir::new().unwrap();
    let urls = ["http://127.0.0.1:9/hooks/", "http://127.0.0.1:9/a?x=1"];
    let given = urls.map(|url| format!("{url}=whsec_q"));
    let mut program = Program::start(
        folder.path(),
        &[
            "--ephemeral",
            "--webhook",
            &given[0],
            "--webhook",
            &given[1],
        ],
    );

    let endpoints = get(&format!("{}/v1/webhook_endpoints", program.url())).await;

    let newest_first = endpoints["data"].as_array().unwrap();
    let shown: Vec<_> = newest_first.iter().rev().map(|it| &it["url"]).collect();
    assert_eq!(shown, urls);
}

#[test]
fn one_webhook_url_with_two_secrets_is_refused() {
    let folder = TempDir::new().unwrap();
    let url = "http://127.0.0.1:9/hooks";
    let (one, other) = (format!("{url}=whsec_one"), format!("{url}=whsec_other"));
    let flags = ["--ephemeral", "--webhook", &one, "--webhook", &other];

    let said = refusal(&command(folder.path(), &flags).output().unwrap());

    assert!(said.contains(url) && said.contains("twice"), "{said}");
    assert!(!said.contains("whsec"), "{said}");
}

#[tokio::test]
async fn two_processes_cannot_have_one_database() {
    let folder = TempDir::new().unwrap();
    let mut first = Program::start(folder.path(), &[]);
    let url = first.url();

    let said = refusal(&command(folder.path(), &[]).output().unwrap());

    assert!(said.contains("another"), "{said}");
    assert_eq!(get(&format!("{url}/_control/ledger")).await["events"], 0);
    drop(first);
    let mut next = Program::start(folder.path(), &[]);
    let url = next.url();
    assert_eq!(get(&format!("{url}/_control/ledger")).await["events"], 0);
}
