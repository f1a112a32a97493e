//! What a step touches, by which two steps are told apart: those that may come in either order and nobody sees a difference
//! (they are independent), and those whose order matters.
//!
//! A statement is known by its text. What it writes, others see when it is committed; until then they can only run into its
//! locks. So, under READ COMMITTED, which is what PostgreSQL runs us under:
//!
//! ```text
//!               reads T   writes T   publishes T (commit, rollback, a call that changes something at the provider)
//! reads T          -         -            x
//! writes T         -         x            x
//! publishes T      x         x            -
//! ```
//!
//! Foreign keys tie no further steps together: nobody here deletes a parent, or changes its key. All of it errs on the safe
//! side: rows are not looked at, only tables.

use std::collections::BTreeSet;

/// Tables, and the provider.
type Places = BTreeSet<&'static str>;

/// The provider's ledger, as if it were a table.
const PROVIDER: &str = "the provider";

/// What PostgreSQL's advisory locks are, as if they were a table.
const ADVISORY_LOCK: &str = "the advisory lock";

/// What a step touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touch {
    reads: Places,
    writes: Places,
    publishes: Places,
    /// The step is not over, so nobody knows what else it touches.
    pub waits: bool,
}

impl Touch {
    /// A statement, before anybody else can see what it did.
    pub fn statement(sql: &'static str) -> Self {
        let mut touch = Self::default();
        let mut before = "";
        let mut words = sql
            .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .filter(|word| !word.is_empty())
            .peekable();
        while let Some(word) = words.next() {
            let place = words.peek().copied().unwrap_or_default();
            match (before, word) {
                ("delete", "from") | (_, "into") => touch.writes(place),
                // As in `do update set`, `for update skip locked`.
                (_, "update") if !matches!(place, "set" | "skip") => touch.writes(place),
                (_, "from" | "join") if place != "select" => {
                    touch.reads.insert(place);
                }
                _ if word.starts_with("pg_advisory") => touch.writes(ADVISORY_LOCK),
                _ => {}
            }
            before = word;
        }
        touch
    }

    /// A call of the provider's API. What it changes there, it changes at once.
    pub fn call(operation: &str) -> Self {
        let mut touch = Self::default();
        let only_reads = [".list", ".retrieve"]
            .iter()
            .any(|end| operation.ends_with(end));
        touch.reads.insert(PROVIDER);
        if !only_reads {
            touch.writes.insert(PROVIDER);
            touch.publishes.insert(PROVIDER);
        }
        touch
    }

    fn writes(&mut self, place: &'static str) {
        self.reads.insert(place);
        self.writes.insert(place);
    }

    /// This, and then `other`.
    pub fn and(&mut self, other: &Self) {
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
        self.publishes.extend(&other.publishes);
    }

    /// All that was written is seen by everybody from now on, or, when it was taken back, stands in nobody's way.
    pub fn publish(&mut self, written: &Self) {
        self.publishes.extend(&written.writes);
    }

    /// Whether the order of the two could make a difference.
    pub fn depends_on(&self, other: &Self) -> bool {
        let meets = |published: &Places, touched: &Places| !published.is_disjoint(touched);
        let sees = |one: &Self, other: &Self| {
            meets(&one.publishes, &other.reads) || meets(&one.publishes, &other.writes)
        };
        self.waits
            || other.waits
            || sees(self, other)
            || sees(other, self)
            || meets(&self.writes, &other.writes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places<const N: usize>(names: [&'static str; N]) -> Places {
        Places::from(names)
    }

    #[test]
    fn a_statement_is_read_for_its_tables() {
        let claim = Touch::statement(
            "with due as (select id from outbox o where not exists (select 1 from outbox earlier
                          where earlier.id < o.id) for update skip locked)
             update refunds set attempts = attempts + 1 where id in (select id from due)",
        );
        assert_eq!(claim.reads, places(["outbox", "due", "refunds"]));
        assert_eq!(claim.writes, places(["refunds"]));
        let upsert = Touch::statement(
            "insert into customers (id) select c.id from checkouts c join orders o on true
             on conflict (id) do update set name = excluded.name",
        );
        assert_eq!(upsert.reads, places(["customers", "checkouts", "orders"]));
        assert_eq!(upsert.writes, places(["customers"]));
        let deletion = Touch::statement("delete from carts where id = $1");
        assert_eq!(deletion.writes, places(["carts"]));
    }

    #[test]
    fn the_order_of_two_steps_matters_where_one_sees_the_other_or_runs_into_it() {
        let read = Touch::statement("select * from carts");
        let write = Touch::statement("update carts set a = 1");
        let elsewhere = Touch::statement("update orders set a = 1");
        let mut commit = Touch::default();
        commit.publish(&write);
        let all = [read, write, elsewhere, commit];
        let matrix = all
            .each_ref()
            .map(|a| all.each_ref().map(|b| a.depends_on(b)));
        assert_eq!(
            matrix,
            [
                [false, false, false, true],
                [false, true, false, true],
                [false, false, true, false],
                [true, true, false, false],
            ]
        );
        let (ask, charge) = (Touch::call("events.list"), Touch::call("refunds.create"));
        assert!(charge.depends_on(&charge) && ask.depends_on(&charge) && !ask.depends_on(&ask));
        let waits = Touch {
            waits: true,
            ..Touch::default()
        };
        assert!(waits.depends_on(&ask));
    }
}
