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
