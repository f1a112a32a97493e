//! pgbench, with the values of each purchase in a table: it has no other way to make a UUID.

use std::path::{Path, PathBuf};

use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};

use super::{
    script::{self, YARDSTICK},
    values::{Values, common, own},
};
use crate::{
    database::Database,
    forms::{Goods, carts},
    processes::{command, said},
};

/// How many purchases a connection makes until PostgreSQL has read what it needs to know of the tables, and goes on with the plans
/// that it has made. The shop's connections are warm as well.
const WARM: usize = 10;

/// pgbench, and the database that it has to itself.
pub struct Pgbench {
    pub program: PathBuf,
    pub database: Database,
    pub folder: PathBuf,
}

impl Pgbench {
    /// Purchases a second by so many clients, of whom each makes so many once it is warm.
    pub async fn run(&self, clients: usize, each: usize) -> f64 {
        let each = WARM + each;
        let names = self.write_values(clients * each).await;
        let path = self.folder.join("yardstick.sql");
        std::fs::write(&path, script(&names, each)).unwrap();
        let mut run = self.command(&path);
        run.args(["--client", &clients.to_string()])
            .args(["--transactions", &each.to_string()])
            .arg(&self.database.url);
        let log = self.folder.join("pgbench");
        run.arg("--log").arg("--log-prefix").arg(&log);
        said(&mut run);
        steady_rate(&read_log(&self.folder), clients)
    }

    fn command(&self, script: &Path) -> std::process::Command {
        let mut run = command(&self.program, None);
        run.args(["--no-vacuum", "--protocol=prepared", "--jobs=1"])
            .args(["--define", "i=0", "--file"])
            .arg(script);
        for (name, value) in common() {
            run.args(["--define", &format!("{name}={}", value.text())]);
        }
        run
    }

    /// Writes down what each purchase has of its own, a column each. Returns their names.
    async fn write_values(&self, count: usize) -> Vec<&'static str> {
        let purchases: Vec<Values> = carts(&self.database.db, Goods::All, count)
            .await
            .iter()
            .map(own)
            .collect();
        let names: Vec<_> = purchases[0].iter().map(|(name, _)| *name).collect();
        let columns = names.join(" text, ");
        let places: Vec<_> = (1..=names.len()).map(|place| format!("${place}")).collect();
        let insert = format!(
            "insert into yardstick ({}) values ({})",
            names.join(", "),
            places.join(", ")
        );
        let mut tx = PgConnection::connect(&self.database.url).await.unwrap();
        let prepare = format!(
            "drop table if exists yardstick; \
             create table yardstick (n bigint generated always as identity (minvalue 0) primary key, {columns} text); \
             begin"
        );
        tx.execute(AssertSqlSafe(prepare)).await.unwrap();
        for purchase in &purchases {
            let mut query = sqlx::query(AssertSqlSafe(insert.clone()));
            for (_, value) in purchase {
                query = query.bind(value.text());
            }
            query.execute(&mut tx).await.unwrap();
        }
        tx.execute("commit; analyze yardstick").await.unwrap();
        names
    }
}

/// For pgbench: each client takes its share of the values. The id of the message comes from the database, for the shop as well.
fn script(names: &[&str], each: usize) -> String {
    let names = names.join(", ");
    let mut lines = vec![
        format!("\\set n :client_id * {each} + :i"),
        "\\set i :i + 1".to_owned(),
        format!("select {names} from yardstick where n = :n \\gset"),
    ];
    for transaction in script::read(YARDSTICK) {
        lines.push("begin;".to_owned());
        for statement in transaction.statements {
            let statement = statement.replace("/*pg", "").replace("*/", "");
            lines.push(format!("{statement};"));
            if statement.starts_with("insert into outbox") {
                lines.push("select lastval() as outbox \\gset".to_owned());
            }
        }
        lines.push("commit;".to_owned());
    }
    lines.join("\n")
}

/// What pgbench has logged, of each purchase: whose it was, and when it was done, in seconds.
fn read_log(folder: &Path) -> Vec<(usize, f64)> {
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_log = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("pgbench."))
    };
    let path = files.into_iter().find(is_log).expect("pgbench's log");
    let log = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    let purchases = log.lines().map(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        let [client, _, _, _, seconds, microseconds, ..] = fields[..] else {
            panic!("pgbench logs {line}")
        };
        let micros: f64 = microseconds.parse().unwrap();
        let seconds: f64 = seconds.parse().unwrap();
        (client.parse().unwrap(), seconds + micros / 1e6)
    });
    purchases.collect()
}

/// The rate from when the last client is warm until the first one has done all of its purchases.
fn steady_rate(purchases: &[(usize, f64)], clients: usize) -> f64 {
    let of = |client| purchases.iter().filter(move |(by, _)| *by == client);
    let ends = |nth: fn(Vec<f64>) -> f64| {
        (0..clients).map(move |client| nth(of(client).map(|(_, at)| *at).collect()))
    };
    let begin = ends(|times| times[WARM - 1]).fold(0.0, f64::max);
    let end = ends(|times| times[times.len() - 1]).fold(f64::MAX, f64::min);
    let within = purchases.iter().filter(|(_, at)| *at > begin && *at <= end);
    let count = u32::try_from(within.count()).unwrap();
    assert!(count > 0, "pgbench's clients were never at work together");
    f64::from(count) / (end - begin)
}
