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

/// pgbench, and the database that it has to itself.
pub struct Pgbench {
    pub program: PathBuf,
    pub database: Database,
    pub folder: PathBuf,
}

impl Pgbench {
    /// Purchases a second by so many clients, of whom each makes so many.
    pub async fn run(&self, clients: usize, each: usize) -> f64 {
        let names = self.write_values(clients * each).await;
        let path = self.folder.join("yardstick.sql");
        std::fs::write(&path, script(&names, each)).unwrap();
        let mut run = self.command(&path);
        run.args(["--client", &clients.to_string()])
            .args(["--transactions", &each.to_string()])
            .arg(&self.database.url);
        let said = said(&mut run);
        let rate = said
            .lines()
            .find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
        rate.unwrap_or_else(|| panic!("pgbench says: {said}"))
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
        let insert = format!("insert into yardstick ({}) values ({})", names.join(", "), places.join(", "));
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
