//! How long what is over is kept, and why not for less.
//!
//! Each kind of row stands in the way of a repeat, so it has to be there longer than the repeat may come. What comes even
//! later is stopped by other rows, which are kept for ever; but those say less about what happened.
//!
//! | kept | is over | the last repeat |
//! |---|---|---|
//! | an event of the provider's | processed | is read from the provider's list, which shows 30 days; webhooks come for 3 |
//! | a message of the outbox | published | is the bus's, which must have let go of it within [`MESSAGES_LEAST`] |
//! | its rows in the inbox | as old as that, and nothing about the same purchase is in the outbox any more | the same |
//! | a cart that no checkout came of | not touched | is a visit with a session that knows it, of 30 days at most |
//! | a session | expired | none: it is not asked for how long, what is expired is gone |

use chrono::TimeDelta;
use clap::Args;

use crate::{cart, outbox::bus::KEPT};

/// What any clock may be wrong by: ours, another process's, or the provider's.
const CLOCKS: TimeDelta = TimeDelta::days(1);

/// The provider delivers an event for 3 days and shows it for 30, by hand or to whoever reads its list, as
/// [`missed`](crate::webhooks::missed) does. <https://docs.stripe.com/api/events>
pub const EVENTS_LEAST: TimeDelta = TimeDelta::days(30 + CLOCKS.num_days());

/// No bus keeps a message for longer than [`KEPT`], and the relay itself repeats one within minutes.
pub const MESSAGES_LEAST: TimeDelta = TimeDelta::days(KEPT.num_days() + CLOCKS.num_days());

/// A session outlives the last change of its cart by so much: see [`cart::FORGOTTEN_AFTER`].
pub const CARTS_LEAST: TimeDelta =
    TimeDelta::days(cart::FORGOTTEN_AFTER.num_days() + CLOCKS.num_days());

/// Nobody means more, and the calendar has an end.
const MOST: TimeDelta = TimeDelta::days(36_500);

/// The flags of the pruner.
#[derive(Clone, Debug, Args)]
pub struct Retention {
    /// How long an event of the provider's is kept once it is processed, 31days at least
    #[arg(long = "keep-events", env = "KEEP_EVENTS", value_name = "TIME", default_value = "35days", value_parser = events)]
    pub keep_events: TimeDelta,
    /// How long a message is kept once it is published, and that it was consumed, 15days at least
    #[arg(long = "keep-messages", env = "KEEP_MESSAGES", value_name = "TIME", default_value = "35days", value_parser = messages)]
    pub keep_messages: TimeDelta,
    /// How long a cart is kept that nobody touches and no checkout came of, 31days at least
    #[arg(long = "keep-carts", env = "KEEP_CARTS", value_name = "TIME", default_value = "60days", value_parser = carts)]
    pub keep_carts: TimeDelta,
}

fn events(text: &str) -> Result<TimeDelta, String> {
    let until = "the provider may tell of an event again until then";
    at_least(text, EVENTS_LEAST, until)
}

fn messages(text: &str) -> Result<TimeDelta, String> {
    let until = "the bus may deliver a message again until then";
    at_least(text, MESSAGES_LEAST, until)
}

fn carts(text: &str) -> Result<TimeDelta, String> {
    let until = "a visitor may come back to their cart until then";
    at_least(text, CARTS_LEAST, until)
}

fn at_least(text: &str, least: TimeDelta, why: &str) -> Result<TimeDelta, String> {
    let time =
        humantime::parse_duration(text).map_err(|_| "not a time such as 35days".to_owned())?;
    match TimeDelta::from_std(time) {
        Ok(time) if time < least => {
            Err(format!("must be {}days at least: {why}", least.num_days()))
        }
        Ok(time) if time <= MOST => Ok(time),
        _ => Err(format!("must be {}days at most", MOST.num_days())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Parse = fn(&str) -> Result<TimeDelta, String>;

    fn flags() -> [(Parse, &'static str); 3] {
        [(events, "31days"), (messages, "15days"), (carts, "31days")]
    }

    #[test]
    fn the_least_is_enough_and_a_second_less_is_not() {
        for (parse, least) in flags() {
            assert!(parse(least).is_ok(), "{least}");
            let less = humantime::parse_duration(least).expect("a time");
            let less = format!("{}s", less.as_secs() - 1);
            let error = parse(&less).expect_err("too short");
            assert!(error.contains(least), "{error}");
        }
    }

    #[test]
    fn a_century_is_enough_and_a_second_more_is_too_much() {
        assert_eq!(carts("36500days"), Ok(MOST));
        for text in ["36500days 1s", "18446744073709551615s", "soon", "-1s", ""] {
            assert!(carts(text).is_err(), "{text}");
        }
    }
}
