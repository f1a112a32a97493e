//! The table, a line for each window.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{
    database::Engine,
    goals::{self, Goal},
    window::{Window, number},
    yardstick::Reading,
};

/// All that was measured.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    machine: Machine,
    lines: Vec<Line>,
    facts: Vec<Fact>,
    goals: Vec<Goal>,
}

/// What it was measured on, and when.
#[derive(Clone, Debug, Serialize)]
struct Machine {
    at: DateTime<Utc>,
    processor: String,
    processors: usize,
    linux: String,
}

impl Default for Machine {
    fn default() -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let cpu = read("/proc/cpuinfo");
        let model = cpu.lines().find_map(|line| {
            let (name, model) = line.split_once(':')?;
            (name.trim() == "model name").then(|| model.trim().to_owned())
        });
        Self {
            at: Utc::now(),
            processor: model.unwrap_or_default(),
            processors: std::thread::available_parallelism().map_or(0, usize::from),
            linux: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        }
    }
}

#[derive(Clone, Debug, Serialize)]
struct Line {
    engine: Engine,
    name: String,
    #[serde(flatten)]
    window: Window,
    /// Before and after it.
    yardstick: Option<[Reading; 2]>,
    /// Of the yardstick's mean.
    ratio: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
struct Fact {
    engine: Engine,
    name: String,
    value: f64,
}

impl Report {
    pub fn begin(&self, engine: Engine) {
        let Machine {
            at,
            processor,
            processors,
            linux,
        } = &self.machine;
        let day = at.format("%Y-%m-%d %H:%M UTC");
        println!(
            "\n{}, {day}, {processors} × {processor}, Linux {linux}\n",
            engine.name()
        );
        println!(
            "{:<18}{:>8}{:>7}{:>9}{:>8}{:>8}{:>8}  {:>17}{:>7}  {:>8}{:>6}{:>8}  {:<27}{:<9}  {:<11}",
            "",
            "clients",
            "count",
            "/s",
            "p50 ms",
            "p95",
            "p99",
            "yardstick /s",
            "ratio",
            "commits",
            "syncs",
            "KB each",
            "CPU ms: shop sim db load",
            "MB",
            "sync ms"
        );
    }

    pub fn add(
        &mut self,
        engine: Engine,
        name: &str,
        window: Window,
        yardstick: Option<[Reading; 2]>,
    ) {
        let ratio = yardstick.map(|[before, after]| window.rate * 2.0 / (before.rate + after.rate));
        let line = Line {
            engine,
            name: name.to_owned(),
            window,
            yardstick,
            ratio,
        };
        println!("{}", line.text());
        self.lines.push(line);
    }

    pub fn fact(&mut self, engine: Engine, name: &str, value: f64) {
        println!("{name:<34}{value:>10.1}");
        let name = name.to_owned();
        self.facts.push(Fact {
            engine,
            name,
            value,
        });
    }
}

/// What was measured, by its name. `None` when it was not.
impl Report {
    /// The mean rate of the windows of that name with so many clients, or with any number of them.
    pub fn rate(&self, engine: Engine, name: &str, clients: Option<usize>) -> Option<f64> {
        self.mean(engine, name, clients, |line| Some(line.window.rate))
    }

    /// The same of the rate beside the yardstick's.
    pub fn ratio(&self, engine: Engine, name: &str, clients: usize) -> Option<f64> {
        self.mean(engine, name, Some(clients), |line| line.ratio)
    }

    /// How much longer the slowest purchase of a hundred takes than half of them.
    pub fn spread(&self, engine: Engine, name: &str) -> Option<f64> {
        self.mean(engine, name, None, |line| {
            Some(line.window.p99 / line.window.p50)
        })
    }

    pub fn value(&self, engine: Engine, name: &str) -> Option<f64> {
        let fact = |it: &&Fact| it.engine == engine && it.name == name;
        Some(self.facts.iter().find(fact)?.value)
    }

    fn mean(
        &self,
        engine: Engine,
        name: &str,
        clients: Option<usize>,
        value: fn(&Line) -> Option<f64>,
    ) -> Option<f64> {
        let lines = self.lines.iter().filter(|line| {
            let has_clients = clients.is_none_or(|it| it == line.window.clients);
            line.engine == engine && line.name == name && has_clients
        });
        let values: Vec<f64> = lines.filter_map(value).collect();
        let count = number(i64::try_from(values.len()).ok()?);
        (count > 0.0).then(|| values.iter().sum::<f64>() / count)
    }

    /// Says which goal is met, of those about which something was measured.
    pub fn judge(&mut self) {
        self.goals = goals::judge(self);
        println!();
        for goal in &self.goals {
            println!("{goal}");
        }
    }
}

impl Line {
    fn text(&self) -> String {
        let Window { each, .. } = &self.window;
        let of_yardstick = |show: fn(&Reading) -> String| {
            let readings = self.yardstick.iter().flatten().map(show);
            readings.collect::<Vec<_>>().join(" → ")
        };
        let cpu = [
            each.cpu.shop,
            each.cpu.simulator,
            each.cpu.database,
            each.cpu.load,
        ];
        let cpu = cpu.map(|it| format!("{it:.2}")).join(" ");
        let resident = [self.window.shop_resident, self.window.simulator_resident];
        format!(
            "{:<18}{:>8}{:>7}{:>9.0}{:>8.1}{:>8.1}{:>8.1}  {:>17}{:>7}  {:>8}{:>6.1}{:>8.1}  {:<27}{:<9}  {:<11}",
            self.name,
            self.window.clients,
            self.window.purchases,
            self.window.rate,
            self.window.p50,
            self.window.p95,
            self.window.p99,
            of_yardstick(|it| format!("{:.0}", it.rate)),
            self.ratio.map_or(String::new(), |it| format!("{it:.2}")),
            each.commits.map_or(String::new(), |it| format!("{it:.1}")),
            each.syncs,
            each.bytes / 1024.0,
            cpu,
            resident.map(|it| format!("{it:.0}")).join("+"),
            of_yardstick(|it| format!("{:.2}", it.sync)),
        )
    }
}
