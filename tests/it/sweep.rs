//! The sweep as it is typed. All of it takes minutes, and `scripts/test` runs it; here are single runs.

use std::process::Command;

use serde_json::Value;

/// What `sweep` says of one run, and its exit code.
fn sweep(arguments: &[&str]) -> (Value, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_boring-checkout"));
    command.args(["sweep", "--json"]).args(arguments);
    if let Ok(server) = std::env::var("TEST_DATABASE_URL") {
        command.args(["--database-url", &server]);
    }
    let output = command.output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    let report = serde_json::from_slice(&output.stdout);
    (report.expect(&said), output.status.code())
}

#[test]
fn one_run_is_made_alone() {
    for fault in ["crash@20", "lost@30+crash@60"] {
        let (report, code) = sweep(&["--scenario", "declined", "--fault", fault]);
        assert_eq!(code, Some(0), "{report}");
        assert_eq!(report["ok"], true);
        assert_eq!(report["flow"], "safe");
        assert_eq!(report["violations"], serde_json::json!([]));
        let [row] = &report["scenarios"].as_array().expect("a list")[..] else {
            panic!("one story: {report}")
        };
        assert_eq!(row["scenario"], "declined");
        assert_eq!((&row["runs"], &row["violated"]), (&1.into(), &0.into()));
    }
}

/// What `sweep` says of one run to people, and its exit code.
fn told(arguments: &[&str]) -> (String, String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_boring-checkout"));
    let output = command.arg("sweep").args(arguments).output();
    let output = output.expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (
        text(output.stdout),
        text(output.stderr),
        output.status.code(),
    )
}

#[test]
fn one_run_alone_says_where_the_fault_struck_and_what_it_came_to() {
    let naive = [
        "--flow",
        "naive",
        "--scenario",
        "paid",
        "--fault",
        "again@20",
    ];
    let (said, _, code) = told(&naive);
    assert_eq!(code, Some(1), "{said}");
    let struck = said.lines().find(|line| line.starts_with("again@20"));
    assert!(
        struck.is_some_and(|line| line.contains("submit: before a transaction is begun")),
        "{said}"
    );
    assert!(
        said.contains("double charge: charge: 2 instead of 1"),
        "{said}"
    );

    let (said, _, code) = told(&["--scenario", "declined", "--fault", "crash@20"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("Nothing was lost or doubled."), "{said}");
}

#[test]
fn a_fault_that_strikes_nothing_is_no_run() {
    let (said, error, code) = told(&["--scenario", "declined", "--fault", "crash@9999"]);
    assert_eq!((said.as_str(), code), ("", Some(2)));
    assert!(
        error.contains("crash@9999 strikes nothing: the story passes"),
        "{error}"
    );
    let (said, error, code) = told(&["--scenario", "declined", "--fault", "rate-limit@0"]);
    assert_eq!((said.as_str(), code), ("", Some(2)));
    assert!(
        error.contains("rate-limit@0 cannot happen there: before"),
        "{error}"
    );
}
