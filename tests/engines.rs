//! Says which engine the integration tests ran on, and what they did not run on.
//!
//! The tests take what is there, so a green `cargo test` without PostgreSQL, a NATS server and a mail server is half of
//! the proof. The usual harness swallows what a passing test prints; this one is a plain program that speaks the harness's
//! language as far as runners need it: <https://nexte.st/docs/design/custom-test-harnesses/>

#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::env;

const NAME: &str = "which_engine_was_tested";

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    if has("--list") {
        // A runner asks a second time for the tests that are to be ignored. There is none.
        if !has("--ignored") {
            println!("{NAME}: test");
        }
    } else if !has("--ignored") {
        println!("{}", engine_tested());
        println!("{}", bus_tested());
        println!("{}", mail_server_tested());
    }
}

fn bus_tested() -> &'static str {
    if env::var_os("TEST_NATS_SERVER").is_some() {
        "The bus between processes was tested with a NATS server."
    } else {
        "The bus between processes, NATS JetStream, was NOT tested: set TEST_NATS_SERVER=/path/to/nats-server, or run \
         scripts/test."
    }
}

fn engine_tested() -> &'static str {
    if env::var_os("TEST_DATABASE_URL").is_some() {
        "The integration tests ran on PostgreSQL. SQLite was NOT tested: run it again without TEST_DATABASE_URL, or \
         scripts/test for both."
    } else {
        "The integration tests ran on SQLite. PostgreSQL was NOT tested: set \
         TEST_DATABASE_URL=postgres://USER@127.0.0.1:5432/NAME, or run scripts/test for both."
    }
}

fn mail_server_tested() -> &'static str {
    if env::var_os("TEST_PYTHON").is_some() {
        "Mails were sent to a mail server that others use as well, aiosmtpd."
    } else {
        "Mails were sent to a mail server of the tests' own only. aiosmtpd was NOT tested: set TEST_PYTHON to a Python \
         that has tests/sdk/python/requirements.txt, or run scripts/test."
    }
}
