//! The yardstick's script: transactions of statements with named values, as pgbench reads them.

/// What one purchase commits.
pub const YARDSTICK: &str = include_str!("purchase.sql");

/// A transaction, from its `begin` to its `commit`.
#[derive(Debug, PartialEq, Eq)]
pub struct Transaction {
    /// Those in between, each on one line. A value is `:name`.
    pub statements: Vec<String>,
}

/// Reads a script. A line that begins with `--` is for people.
pub fn read(script: &str) -> Vec<Transaction> {
    let lines = script.lines().filter(|line| !line.starts_with("--"));
    let sql = lines.collect::<Vec<_>>().join("\n");
    let mut transactions = Vec::new();
    let mut statements = Vec::new();
    for statement in sql.split(';').map(on_one_line) {
        match statement.as_str() {
            "" | "begin" => {}
            "commit" => transactions.push(Transaction {
                statements: std::mem::take(&mut statements),
            }),
            _ => statements.push(statement),
        }
    }
    transactions
}

/// The same statement, whatever its line breaks.
pub fn on_one_line(sql: &str) -> String {
    sql.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A statement in pieces: text and the name of a value take turns.
pub fn pieces(statement: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = statement;
    while let Some(colon) = rest.find(':') {
        let (text, from_colon) = rest.split_at(colon);
        let after = from_colon.trim_start_matches(':');
        let end = after.find(|it: char| !it.is_ascii_alphanumeric() && it != '_');
        let (name, after) = after.split_at(end.unwrap_or(after.len()));
        pieces.push(Piece::Text(text));
        pieces.push(Piece::Value(name));
        rest = after;
    }
    pieces.push(Piece::Text(rest));
    pieces
}

/// See [`pieces`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'s> {
    Text(&'s str),
    Value(&'s str),
}
