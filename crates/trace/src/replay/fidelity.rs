//! A trace beside its own replays: how far they are the trace.

use crate::inspect::Inspection;
use serde::Serialize;

/// A figure of a trace and of two replays.
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
    /// In one whose new tasks begin where they began in the trace.
    pub forks_kept: f64,
}

impl Figure {
    /// How much more a replay has than the trace: in percent, in percentage points of a share; none where the trace has nothing.
    pub fn error(&self, replay: f64) -> Option<f64> {
        match self.unit {
            "%" => Some(replay - self.trace),
            _ => (self.trace != 0.0).then(|| 100.0 * (replay / self.trace - 1.0)),
        }
    }
}

/// Times, waits, and where wake-ups land: as shares of all, in percent.
pub fn figures(trace: &Inspection, replay: &Inspection, forks_kept: &Inspection) -> Vec<Figure> {
    let figure = |name: &str, unit, of: &dyn Fn(&Inspection) -> f64| {
        let (trace, replay, forks_kept) = (of(trace), of(replay), of(forks_kept));
        Figure { name: name.to_owned(), unit, trace, replay, forks_kept }
    };
    let mut all = vec![
        figure("length", "s", &|i| (i.to_ns - i.from_ns) as f64 / 1e9),
        figure("wake-ups", "", &|i| wakeups(i) as f64),
        figure("waiting", "ms", &|i| i.waited_ns as f64 / 1e6),
        figure("wake-up latency", "ms", &latencies_ms),
        figure("moves", "", &|i| moves(i) as f64),
    ];
    for distance in machine::distance::Distance::ALL {
        let share = |i: &Inspection| {
            let here = i.wakeups.iter().find(|(name, _)| *name == distance.name());
            100.0 * here.map_or(0, |(_, s)| s.count) as f64 / wakeups(i).max(1) as f64
        };
        let of = figure(&format!("wake-ups at {}", distance.name()), "%", &share);
        if of.trace + of.replay + of.forks_kept > 0.0 {
            all.push(of);
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
