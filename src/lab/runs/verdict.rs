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

/// The sentence: how bad it is, and how much of everything there is or should be.
pub fn sentence(promise: &Sums, found: &Sums) -> String {
    let counts = counts(promise, found);
    let matters = |count: &&Count| count.is > 0 || count.due > 0;
    let all: Vec<String> = counts.iter().filter(matters).map(told).collect();
    format!("{}: {}.", beginning(promise, found), enumerated(&all))
}

fn beginning(promise: &Sums, found: &Sums) -> &'static str {
    if is_right(promise, found) {
        "As it should be"
    } else if found.charges != promise.charges || found.refunds != promise.refunds {
        "Money is lost"
    } else if found.orders < promise.orders {
        "Paid for nothing"
    } else {
        "Something is wrong"
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
    let (one, many) = count.names;
    let is = match count.is {
        0 => format!("no {one}"),
        1 => format!("1 {one}"),
        number => format!("{number} {many}"),
    };
    if count.is_right() {
        is
    } else {
        format!("{is} instead of {}", count.due)
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
        let right = sentence(
            &ONCE,
            &Sums {
                charged_minor: 490,
                ..ONCE
            },
        );
        assert_eq!(
            right,
            "As it should be: 1 charge, 1 order, 1 unit sold and 1 mail."
        );
        let twice = Sums {
            charges: 2,
            orders: 0,
            ..ONCE
        };
        assert!(!is_right(&ONCE, &twice));
        let expected =
            "Money is lost: 2 charges instead of 1, no order instead of 1, 1 unit sold and 1 mail.";
        assert_eq!(sentence(&ONCE, &twice), expected);
        let unread = Sums { mails: 0, ..ONCE };
        assert_eq!(
            sentence(&ONCE, &unread),
            "Something is wrong: 1 charge, 1 order, 1 unit sold and no mail instead of 1."
        );
        let in_vain = Sums { orders: 0, ..ONCE };
        assert!(sentence(&ONCE, &in_vain).starts_with("Paid for nothing: 1 charge, no order"));
        let refunded = Sums { refunds: 1, ..ONCE };
        assert!(
            sentence(&ONCE, &refunded).starts_with("Money is lost: 1 charge, 1 refund instead")
        );
    }
}
