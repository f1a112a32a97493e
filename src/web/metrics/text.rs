//! The text format: <https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format>.

use std::fmt::{Display, Write as _};

/// What a number means.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// It goes up and down.
    Gauge,
    /// It goes up.
    Counter,
    /// Counters, by how large what they count was.
    Histogram,
}

/// An answer that is being written.
#[derive(Debug, Default)]
pub struct Text(String);

impl Text {
    /// Begins the samples of one name.
    pub fn family(&mut self, name: &str, kind: Kind, help: &str) {
        let kind = match kind {
            Kind::Gauge => "gauge",
            Kind::Counter => "counter",
            Kind::Histogram => "histogram",
        };
        self.line(format_args!("# HELP {name} {help}"));
        self.line(format_args!("# TYPE {name} {kind}"));
    }

    /// A gauge that is one number.
    pub fn number(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, Kind::Gauge, help);
        self.sample(name, &[], value);
    }

    /// A number with its labels.
    pub fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> = labels
            .iter()
            .map(|(label, value)| format!("{label}=\"{}\"", escaped(value)))
            .collect();
        if labels.is_empty() {
            self.line(format_args!("{name} {value}"));
        } else {
            self.line(format_args!("{name}{{{}}} {value}", labels.join(",")));
        }
    }

    /// All of it.
    pub fn finish(self) -> String {
        self.0
    }

    fn line(&mut self, line: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{line}");
    }
}

fn escaped(value: &str) -> String {
    value
        .replace('\\', r"\\")
        .replace('"', r#"\""#)
        .replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_keeps_to_its_quotes() {
        let mut text = Text::default();
        text.number("one", "A number.", 1);
        text.sample("two", &[("a", "\"x\"\\\n"), ("b", "y")], 0.5);
        let expected = "# HELP one A number.\n# TYPE one gauge\none 1\ntwo{a=\"\\\"x\\\"\\\\\\n\",b=\"y\"} 0.5\n";
        assert_eq!(text.finish(), expected);
    }
}
