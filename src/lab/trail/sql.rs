//! What a statement does, in two words: `insert orders`.

/// The verb and the table of a statement. One that begins with `with` is called for what it does in the end.
pub fn gist(sql: &str) -> String {
    let words: Vec<&str> = sql.split(|c: char| !is_of_a_name(c)).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let after = |first: &str, second: Option<&str>| {
        let place = words.iter().enumerate().position(|(at, word)| {
            *word == first && second.is_none_or(|second| words.get(at + 1) == Some(&second))
        })?;
        words
            .get(place + 1 + usize::from(second.is_some()))
            .copied()
    };
    if let Some(table) = after("insert", Some("into")) {
        return format!("insert {table}");
    }
    if let Some(table) = after("delete", Some("from")) {
        return format!("delete {table}");
    }
    // `for update` locks what was selected, and `do update` is a part of an insert.
    let is_update = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        before.is_none_or(|before| !["for", "do"].contains(before))
    };
    let is_update = |at: usize| words.get(at) == Some(&"update") && is_update(at);
    let update = (0..words.len()).rfind(|at| is_update(*at));
    if let Some(table) = update.and_then(|at| words.get(at + 1)) {
        return format!("update {table}");
    }
    format!("select {}", after("from", None).unwrap_or("nothing"))
}

/// Whether a statement changes something.
pub fn writes(gist: &str) -> bool {
    !gist.starts_with("select")
}

fn is_of_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_a_verb_and_a_table() {
        for (sql, expected) in [
            ("select * from checkouts where id = $1", "select checkouts"),
            (
                "insert into orders (number)\n values ($1) on conflict do nothing",
                "insert orders",
            ),
            (
                "insert into customers (id) values ($1) on conflict (id) do update set id = $1",
                "insert customers",
            ),
            (
                "update products set stock = stock - $2 where sku = $1",
                "update products",
            ),
            (
                "with due as (select id from outbox limit 1 /*pg for update skip locked */) update outbox set attempts = 1",
                "update outbox",
            ),
            (
                "select id from carts where id = $1 /*pg for update */",
                "select carts",
            ),
            (
                "with old as (select id from sessions) delete from sessions where id in (select id from old)",
                "delete sessions",
            ),
            ("select 1", "select nothing"),
        ] {
            assert_eq!(gist(sql), expected, "{sql}");
        }
    }
}
