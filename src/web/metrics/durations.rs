//! How long requests took: a histogram for each route and class of status.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use super::text::{Kind, Text};

/// A bucket has what took so many milliseconds at most. A page takes a few; a purchase waits for the provider, five seconds
/// at most.
const BUCKETS: [u64; 11] = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];

const NAME: &str = "boring_http_request_duration_seconds";

/// Route and class, such as `2xx`, and what there was of them.
#[derive(Debug, Default)]
pub struct Durations(Mutex<BTreeMap<(String, u16), Histogram>>);

#[derive(Debug, Default)]
struct Histogram {
    /// Those of one bucket and of no smaller one.
    buckets: [u64; BUCKETS.len()],
    count: u64,
    sum: Duration,
}

impl Durations {
    /// Counts a request that was answered with `status` after `took`.
    pub fn count(&self, route: &str, status: u16, took: Duration) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let histogram = all.entry((route.to_owned(), status / 100)).or_default();
        histogram.count += 1;
        histogram.sum += took;
        let fits = |&milliseconds: &u64| took <= Duration::from_millis(milliseconds);
        let bucket = BUCKETS.iter().position(fits);
        if let Some(bucket) = bucket.and_then(|it| histogram.buckets.get_mut(it)) {
            *bucket += 1;
        }
    }

    /// Writes all of them.
    pub fn write(&self, text: &mut Text) {
        text.family(
            NAME,
            Kind::Histogram,
            "Requests by route and class of status, by how long they took.",
        );
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for ((route, class), histogram) in &*all {
            let class = format!("{class}xx");
            let labels = [("route", route.as_str()), ("status", class.as_str())];
            histogram.write(text, labels);
        }
    }
}

impl Histogram {
    fn write(&self, text: &mut Text, [route, status]: [(&str, &str); 2]) {
        let name = format!("{NAME}_bucket");
        let mut so_far = 0;
        for (&milliseconds, count) in BUCKETS.iter().zip(self.buckets) {
            so_far += count;
            let le = Duration::from_millis(milliseconds)
                .as_secs_f64()
                .to_string();
            text.sample(&name, &[route, status, ("le", &le)], so_far);
        }
        text.sample(&name, &[route, status, ("le", "+Inf")], self.count);
        let sum = self.sum.as_secs_f64();
        text.sample(&format!("{NAME}_sum"), &[route, status], sum);
        text.sample(&format!("{NAME}_count"), &[route, status], self.count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bucket_has_those_of_the_smaller_ones_too() {
        let durations = Durations::default();
        for milliseconds in [5, 6, 2_000, 60_000] {
            durations.count("/cart", 200, Duration::from_millis(milliseconds));
        }
        durations.count("/cart", 303, Duration::ZERO);
        let mut text = Text::default();
        durations.write(&mut text);
        let text = text.finish();
        let expects = |labels: &str, value: &str| {
            let line = format!("{NAME}{labels} {value}");
            assert!(text.lines().any(|it| it == line), "{line} in {text}");
        };
        for (le, count) in [
            ("0.005", "1"),
            ("0.01", "2"),
            ("1", "2"),
            ("2.5", "3"),
            ("10", "3"),
            ("+Inf", "4"),
        ] {
            expects(
                &format!(r#"_bucket{{route="/cart",status="2xx",le="{le}"}}"#),
                count,
            );
        }
        expects(r#"_count{route="/cart",status="2xx"}"#, "4");
        expects(r#"_sum{route="/cart",status="2xx"}"#, "62.011");
        expects(r#"_count{route="/cart",status="3xx"}"#, "1");
    }
}
