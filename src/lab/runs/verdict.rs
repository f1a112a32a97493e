//! What a run came to, in one sentence with the numbers in it.

use crate::lab::world::Sums;

/// One line of the two ledgers.
struct Count {
    /// What it is called where there is one, and where there are more.
    names: (&'static str, &'static str),
    is: i64,
    due: i64,
}

/// Whether there is as much of everything as was promised.
pub fn is_right(promise: &Sums, found: &Sums) -> bool {
    counts(promise, found)
        .iter()
        .all(|count| count.is == count.due)
}

/// The sentence.
pub fn sentence(promise: &Sums, found: &Sums) -> String {
    let counts = counts(promise, found);
    let wrong: Vec<String> = counts
        .iter()
        .filter(|count| count.is != count.due)
        .map(|count| format!("{} instead of {}", told(count.is, count.names), count.due))
        .collect();
    if wrong.is_empty() {
        let all = counts.iter().filter(|count| count.is > 0);
        let all: Vec<String> = all.map(|count| told(count.is, count.names)).collect();
        format!("As it should be: {}.", enumerated(&all))
    } else {
        let is_charged_wrongly = found.charges != promise.charges;
        let beginning = if is_charged_wrongly {
            "Money is lost"
        } else {
            "Something is wrong"
        };
        format!("{beginning}: {}.", enumerated(&wrong))
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

fn told(number: i64, (one, many): (&str, &str)) -> String {
    match number {
        0 => format!("no {one}"),
        1 => format!("1 {one}"),
        _ => format!("{number} {many}"),
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

    const ONCE: Sums = Sums {
        charges: 1,
        charged_minor: 0,
        refunds: 0,
        refunded_minor: 0,
        orders: 1,
        sold: 1,
        mails: 1,
    };

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
        let expected = "Money is lost: 2 charges instead of 1 and no order instead of 1.";
        assert_eq!(sentence(&ONCE, &twice), expected);
        let unread = Sums { mails: 0, ..ONCE };
        assert_eq!(
            sentence(&ONCE, &unread),
            "Something is wrong: no mail instead of 1."
        );
    }
}
