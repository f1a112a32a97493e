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

/// When each purchase was done, in seconds, as pgbench has logged it, in this order.
fn read_log(folder: &Path) -> Vec<f64> {
    let files = std::fs::read_dir(folder).unwrap();
    let mut files = files.map(|entry| entry.unwrap().path());
    let is_log = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("pgbench."))
    };
    let path = files.find(is_log).expect("pgbench's log");
    let log = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    let mut times: Vec<f64> = log.lines().map(time).collect();
    times.sort_by(f64::total_cmp);
    times
}

/// Of a line such as `client number latency script seconds microseconds`.
fn time(line: &str) -> f64 {
    let mut fields = line.split(' ').skip(4).map(|it| it.parse::<f64>().unwrap());
    fields.next().unwrap() + fields.next().unwrap() / 1e6
}

/// The rate without the beginning, when not all are warm, and the end, when not all are left.
fn steady_rate(times: &[f64], clients: usize) -> f64 {
    let (first, last) = (WARM * clients, times.len() * 19 / 20);
    let count = u32::try_from(last - first).unwrap();
    f64::from(count) / (times[last] - times[first])
}
