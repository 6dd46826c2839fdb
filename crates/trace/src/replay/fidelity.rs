//! A trace beside its own replay: how far the second is the first.

use crate::inspect::Inspection;
use serde::Serialize;

/// A figure of both.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// What it is.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
    /// In the trace.
    pub trace: f64,
    /// In the replay.
    pub replay: f64,
}

impl Figure {
    fn new(name: &str, unit: &'static str, trace: f64, replay: f64) -> Figure {
        Figure { name: name.to_owned(), unit, trace, replay }
    }

    /// How much more the replay has, in percent of the trace; none where the trace has nothing.
    pub fn error_percent(&self) -> Option<f64> {
        (self.trace != 0.0).then(|| 100.0 * (self.replay / self.trace - 1.0))
    }
}

/// Times, waits, and where wake-ups land: as shares of all, in percent.
pub fn figures(trace: &Inspection, replay: &Inspection) -> Vec<Figure> {
    let of = |name: &str, unit, of: &dyn Fn(&Inspection) -> f64| {
        Figure::new(name, unit, of(trace), of(replay))
    };
    let mut all = vec![
        of("length", "s", &|i| (i.to_ns - i.from_ns) as f64 / 1e9),
        of("wake-ups", "", &|i| wakeups(i) as f64),
        of("waiting", "ms", &|i| i.waited_ns as f64 / 1e6),
        of("wake-up latency", "ms", &latencies_ms),
        of("moves", "", &|i| moves(i) as f64),
    ];
    for distance in machine::distance::Distance::ALL {
        let share = |i: &Inspection| {
            let here = i.wakeups.iter().find(|(name, _)| *name == distance.name());
            100.0 * here.map_or(0, |(_, s)| s.count) as f64 / wakeups(i).max(1) as f64
        };
        if share(trace) + share(replay) > 0.0 {
            let name = format!("wake-ups at {}", distance.name());
            all.push(Figure::new(&name, "%", share(trace), share(replay)));
        }
    }
    all
}

fn wakeups(of: &Inspection) -> u64 {
    of.wakeups.iter().map(|(_, s)| s.count).sum()
}

fn moves(of: &Inspection) -> u64 {
    of.moves.by_reason.values().flat_map(|by| by.values()).sum()
}

fn latencies_ms(of: &Inspection) -> f64 {
    of.groups.iter().map(|g| g.latency.total_ns).sum::<u64>() as f64 / 1e6
}
