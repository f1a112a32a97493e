//! The figures.

use std::{collections::BTreeMap, fmt, sync::atomic::Ordering, time::Duration};

use crate::{blows::Blows, street::Street, town::Town};

/// What a soak came to.
#[derive(Debug)]
pub struct Report {
    blows: Blows,
    bought: Duration,
    settled: Duration,
    endings: BTreeMap<&'static str, usize>,
    broken: Vec<(&'static str, usize)>,
    in_vain: usize,
    abandoned: usize,
    repeats: usize,
    false_starts: usize,
    mails: usize,
    mails_again: usize,
    orders: i64,
    refunds: i64,
    late: i64,
    most_memory_kb: u64,
}

impl Report {
    pub async fn of(
        town: &Town,
        street: &Street,
        blows: Blows,
        (bought, settled): (Duration, Duration),
    ) -> Self {
        let (mails, each) = (town.mails.mails().len(), town.mails.message_ids().len());
        Self {
            blows,
            bought,
            settled,
            endings: street.endings(),
            broken: town.wires.broken().to_vec(),
            in_vain: street.in_vain.load(Ordering::Relaxed),
            abandoned: street.abandoned.load(Ordering::Relaxed),
            repeats: street.repeats.load(Ordering::Relaxed),
            false_starts: town.false_starts,
            mails: each,
            mails_again: mails - each,
            orders: town.count("select count(*) from orders").await,
            refunds: town
                .count("select count(*) from refunds where kind = 'order' and status = 'succeeded'")
                .await,
            late: town
                .count(
                    "select count(*) from refunds where kind <> 'order' and status = 'succeeded'",
                )
                .await,
            most_memory_kb: town.most_memory_kb,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let purchases: usize = self.endings.values().sum();
        let seconds = self.bought.as_secs_f64().max(1.0);
        let a_second = u32::try_from(purchases).map_or(0.0, f64::from) / seconds;
        line(f, "purchases", purchases)?;
        for (ending, count) in &self.endings {
            line(f, &format!("  {ending}"), count)?;
        }
        line(f, "orders", self.orders)?;
        line(f, "refunds of orders", self.refunds)?;
        line(f, "late payments given back", self.late)?;
        for (victims, count) in &self.blows {
            line(f, victims, count)?;
        }
        line(f, "starts that failed", self.false_starts)?;
        for (wire, count) in &self.broken {
            line(f, &format!("connections cut: {wire}"), count)?;
        }
        line(f, "requests without a good answer", self.in_vain)?;
        line(f, "requests that were left", self.abandoned)?;
        line(f, "forms sent once more", self.repeats)?;
        line(f, "mails", self.mails)?;
        line(f, "mails that came again", self.mails_again)?;
        line(f, "most memory of a shop, MB", self.most_memory_kb / 1024)?;
        line(f, "time of the purchases", format!("{:.1?}", self.bought))?;
        line(f, "purchases a second", format!("{a_second:.1}"))?;
        line(
            f,
            "time until all was settled",
            format!("{:.1?}", self.settled),
        )
    }
}

fn line(f: &mut fmt::Formatter<'_>, name: &str, value: impl fmt::Display) -> fmt::Result {
    writeln!(f, "{name:32} {value:>10}")
}
