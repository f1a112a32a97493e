//! What a run came to, in one sentence with the numbers in it.

use crate::lab::world::Sums;

/// One line of the two ledgers.
struct Count {
    /// What it is called where there is one, and where there are more.
    names: (&'static str, &'static str),
    is: i64,
    due: i64,
}

impl Count {
    fn is_right(&self) -> bool {
        self.is == self.due
    }
}

/// Whether there is as much of everything as was promised.
pub fn is_right(promise: &Sums, found: &Sums) -> bool {
    counts(promise, found).iter().all(Count::is_right)
}

/// The sentence: what has happened to whom, and how much of everything there is or should be. So many customers wanted
/// something.
pub fn sentence(promise: &Sums, found: &Sums, customers: i64) -> String {
    let counts = counts(promise, found);
    let matters = |count: &&Count| count.is > 0 || count.due > 0;
    let all: Vec<String> = counts.iter().filter(matters).map(told).collect();
    let harm = harm(promise, found, customers);
    format!("{harm}: {}.", enumerated(&all))
}

/// The worst of it: what concerns money, then goods, then mails.
fn harm(promise: &Sums, found: &Sums, customers: i64) -> String {
    if is_right(promise, found) {
        "As it should be".to_owned()
    } else if found.charges > promise.charges && found.charges > customers {
        format!("The customer has paid {}", times(found.charges))
    } else if found.charges > promise.charges {
        let units = number(promise.sold, ("unit", "units"));
        format!("{} customers have paid for {units}", found.charges)
    } else if found.refunds > promise.refunds {
        format!("The shop has given money back {}", times(found.refunds))
    } else if found.orders > found.charges {
        "Money is lost".to_owned()
    } else if found.orders < promise.orders {
        "The customer has paid for nothing".to_owned()
    } else if found.mails < promise.mails {
        "The customer has not been told".to_owned()
    } else if found.mails > promise.mails {
        format!("The customer has been told {}", times(found.mails))
    } else {
        "Something is wrong".to_owned()
    }
}

fn counts(promise: &Sums, found: &Sums) -> [Count; 5] {
    let count = |names, is, due| Count { names, is, due };
    [
        count(("charge", "charges"), found.charges, promise.charges),
        count(("refund", "refunds"), found.refunds, promise.refunds),
        count(("order", "orders"), found.orders, promise.orders),
        count(("unit sold", "units sold"), found.sold, promise.sold),
        count(("mail", "mails"), found.mails, promise.mails),
    ]
}

fn told(count: &Count) -> String {
    let is = number(count.is, count.names);
    if count.is_right() {
        is
    } else {
        format!("{is} instead of {}", count.due)
    }
}

fn number(of: i64, (one, many): (&str, &str)) -> String {
    match of {
        0 => format!("no {one}"),
        1 => format!("1 {one}"),
        of => format!("{of} {many}"),
    }
}

fn times(number: i64) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        number => format!("{number} times"),
    }
}

fn enumerated(parts: &[String]) -> String {
    match parts {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::runs::scenarios::ONCE;

    #[test]
    fn the_sentence_has_the_numbers_in_it() {
        let right = Sums {
            charged_minor: 490,
            ..ONCE
        };
        let said = sentence(&ONCE, &right, 1);
        assert_eq!(
            said,
            "As it should be: 1 charge, 1 order, 1 unit sold and 1 mail."
        );
        let twice = Sums {
            charges: 2,
            orders: 0,
            ..ONCE
        };
        assert!(!is_right(&ONCE, &twice));
        let said = sentence(&ONCE, &twice, 1);
        assert_eq!(
            said,
            "The customer has paid twice: 2 charges instead of 1, no order instead of 1, 1 unit sold and 1 mail."
        );
    }

    #[test]
    fn it_says_what_has_happened_to_whom() {
        let refunded = Sums { refunds: 1, ..ONCE };
        let many = |number| Sums {
            charges: number,
            orders: number,
            ..ONCE
        };
        let mails = |mails| Sums { mails, ..ONCE };
        for (promise, found, customers, harm) in [
            (ONCE, many(2), 1, "The customer has paid twice"),
            (ONCE, many(3), 1, "The customer has paid 3 times"),
            (ONCE, many(2), 2, "2 customers have paid for 1 unit"),
            (ONCE, refunded, 1, "The shop has given money back once"),
            (
                refunded,
                Sums { refunds: 2, ..ONCE },
                1,
                "The shop has given money back twice",
            ),
            (ONCE, Sums { charges: 0, ..ONCE }, 1, "Money is lost"),
            (
                ONCE,
                Sums { orders: 0, ..ONCE },
                1,
                "The customer has paid for nothing",
            ),
            (ONCE, mails(0), 1, "The customer has not been told"),
            (ONCE, mails(2), 1, "The customer has been told twice"),
            (refunded, ONCE, 1, "Something is wrong"),
        ] {
            let said = sentence(&promise, &found, customers);
            assert!(said.starts_with(&format!("{harm}: ")), "{said}");
        }
    }
}
