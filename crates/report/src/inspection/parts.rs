//! An inspection in parts, as figures for people.

use super::{Block, Cells, Part};
use machine::distance::Distance;
use std::collections::BTreeMap;
use trace::inspect::{Inspection, Level, Reason, Spread, Violation};

/// All parts, in order; without those that the trace has nothing for.
pub(super) fn parts(all: &Inspection) -> Vec<Part> {
    let parts = [names(all), wakeups(all), conservation(all), moves(all)];
    let rest = [levels(all), wakers(all), residency(all)];
    parts.into_iter().chain(rest.into_iter().flatten()).collect()
}

fn part(id: &'static str, title: &str, note: &str, blocks: Vec<Block>) -> Part {
    Part { id, title: title.to_string(), note: note.to_string(), blocks }
}

fn cells(columns: &[&'static str], names: usize, rows: Vec<Vec<String>>) -> Block {
    Block::Cells(Cells { columns: columns.to_vec(), names, rows })
}

/// A time in us.
fn us(ns: u64) -> String {
    format!("{:.1}", ns as f64 / 1e3)
}

/// A time in ms.
fn ms(ns: u64) -> String {
    format!("{:.3}", ns as f64 / 1e6)
}

/// Number, mean and percentiles.
fn spread(of: &Spread) -> [String; 6] {
    let [mean, p50, p90, p99, max] =
        [of.mean_ns as u64, of.p50_ns, of.p90_ns, of.p99_ns, of.max_ns].map(us);
    [of.count.to_string(), mean, p50, p90, p99, max]
}

fn names(all: &Inspection) -> Part {
    let rows = all.groups.iter().flat_map(|group| {
        let times = [("run", &group.run), ("delay", &group.delay), ("latency", &group.latency)];
        times.into_iter().filter(|(_, of)| of.count > 0).map(move |(kind, of)| {
            let name = format!("{} ({})", group.name, group.tasks);
            [vec![name, kind.to_string(), ms(of.total_ns)], spread(of).to_vec()].concat()
        })
    });
    let columns =
        ["name (tasks)", "time", "sum ms", "count", "mean us", "p50", "p90", "p99", "max"];
    part(
        "names",
        "By name",
        "How long tasks were on a CPU at a time (run), on a queue until they ran (delay), and from a wake-up until they ran \
         (latency).",
        vec![cells(&columns, 2, rows.collect())],
    )
}

fn wakeups(all: &Inspection) -> Part {
    let count: u64 = all.wakeups.iter().map(|(_, of)| of.count).sum();
    let row = |(distance, of): &(&str, Spread)| {
        let share = format!("{:.1}", 100.0 * of.count as f64 / count.max(1) as f64);
        [vec![distance.to_string(), share], spread(of).to_vec()].concat()
    };
    let columns = ["distance", "%", "wake-ups", "mean us", "p50", "p90", "p99", "max"];
    part(
        "wakeups",
        "Wake-ups by distance",
        "From the waking CPU to the one where the task first ran, and how long that took.",
        vec![cells(&columns, 1, all.wakeups.iter().map(row).collect())],
    )
}

fn conservation(all: &Inspection) -> Part {
    let of = &all.conservation;
    let [a, b, c, d, e] = of.intervals;
    let words = format!(
        "In all {} ms ({:.2} %), which cost {} ms of CPU time. Intervals up to 10 us: {a}, up to 100 us: {b}, up to 1 ms: {c}, \
         up to 10 ms: {d}, longer: {e}.",
        ms(of.violated_ns),
        of.percent,
        ms(of.lost_cpu_ns)
    );
    let row = |v: &Violation| {
        let at = format!("{:.6}", v.from_ns as f64 / 1e9);
        let since = ms(v.from_ns.saturating_sub(all.from_ns));
        let rest = [v.idle_cpus as u64, v.waiting as u64, v.task.into(), v.queue as u64];
        [vec![at, since, us(v.length_ns)], rest.map(|n| n.to_string()).to_vec()].concat()
    };
    let mut blocks = vec![Block::Words(words)];
    if !of.worst.is_empty() {
        let columns =
            ["at s", "since begin ms", "length us", "idle CPUs", "waiting", "PID", "on CPU"];
        blocks.push(cells(&columns, 0, of.worst.iter().map(row).collect()));
    }
    part(
        "conservation",
        "Idle CPUs while somebody waited",
        "A CPU idled while a task was on the queue of another one. The longest intervals, with the task that had waited longest.",
        blocks,
    )
}

/// Counts by distance, the nearest first.
pub(super) fn in_order<'a>(
    by: &'a BTreeMap<&'static str, u64>,
) -> impl Iterator<Item = (&'static str, u64)> + 'a {
    Distance::ALL.into_iter().filter_map(|d| Some((d.name(), *by.get(d.name())?)))
}

/// A reason in words.
pub(super) fn reason(of: Reason) -> &'static str {
    match of {
        Reason::WakeUp => "wake-up",
        Reason::Pulled => "pulled by the CPU that it goes to",
        Reason::Stopper => "by a CPU's stopper",
        Reason::Other => "by another CPU",
    }
}

fn moves(all: &Inspection) -> Part {
    let rows = all.moves.by_reason.iter().flat_map(|(why, by)| {
        in_order(by).map(|(distance, n)| {
            vec![reason(*why).to_string(), distance.to_string(), n.to_string()]
        })
    });
    let mut blocks = vec![cells(&["reason", "distance", "moves"], 2, rows.collect())];
    if !all.moves.ping_pong.is_empty() {
        let rows = all.moves.ping_pong.iter().map(|p| {
            vec![format!("{}-{}", p.name, p.pid), p.crossings.to_string(), p.returns.to_string()]
        });
        let words = "Tasks that came back to a last-level cache within 10 ms (ping-pong):";
        blocks.push(Block::Words(words.to_string()));
        let columns = ["task", "changes of LLC", "back within 10 ms"];
        blocks.push(cells(&columns, 1, rows.collect()));
    }
    let note = format!("Tasks that went to another CPU; {} new tasks.", all.moves.forks);
    part("moves", "Moves", &note, blocks)
}

/// What is followed over time: its name, and its value in a bin.
pub(super) type Followed = (&'static str, fn(&Level) -> f64);

/// All that is followed.
pub(super) const LEVELS: [Followed; 3] = [
    ("runnable tasks", |level| level.runnable),
    ("idle CPUs", |level| level.idle_cpus),
    ("imbalance", |level| level.imbalance),
];

fn levels(all: &Inspection) -> Option<Part> {
    let first = all.levels.first()?;
    let values = |of: fn(&Level) -> f64| all.levels.iter().map(of).collect::<Vec<f64>>();
    let figures = |(name, of): Followed| {
        let values = values(of);
        let most = values.iter().copied().fold(0.0, f64::max);
        let mean = stats::amean(&values).unwrap_or(0.0);
        vec![name.to_string(), format!("{mean:.2}"), format!("{most:.2}")]
    };
    let note = format!(
        "Means of {} ms. Imbalance is the longest less the shortest queue, the running task included.",
        crate::number::significant(first.length_ns as f64 / 1e6)
    );
    let bars = LEVELS.map(|(name, of)| (name, values(of))).to_vec();
    let table = cells(&["level", "mean", "most"], 1, LEVELS.map(figures).to_vec());
    Some(part("levels", "Over time", &note, vec![Block::Bars(bars), table]))
}

fn wakers(all: &Inspection) -> Option<Part> {
    let row = |edge: &trace::inspect::Edge| {
        let far = |(distance, n): (&str, u64)| format!("{distance} {n}");
        let distances: Vec<String> = in_order(&edge.distances).map(far).collect();
        let names = [edge.waker.clone(), edge.woken.clone()];
        [names.to_vec(), vec![edge.count.to_string(), distances.join(", ")]].concat()
    };
    let columns = ["waker", "woken", "times", "distances"];
    let table = cells(&columns, 2, all.wakers.iter().map(row).collect());
    let note = "By name, with interrupts as hardirq and softirq. Distances are from the waking CPU to the one where the task ran.";
    (!all.wakers.is_empty()).then(|| part("wakers", "Who wakes whom", note, vec![table]))
}

/// Shares of time of clocks and idle states, over all CPUs that have them.
fn residency(all: &Inspection) -> Option<Part> {
    let clocks = all.clocks.iter().flat_map(|c| &c.time_ns);
    let states = all.idle_states.iter().flat_map(|s| &s.time_ns);
    let entries = summed(all.idle_states.iter().flat_map(|s| &s.entries));
    let mut rows = Vec::new();
    let clocks = shares(clocks);
    rows.extend(clocks.iter().map(|(khz, share)| {
        vec!["clock".to_string(), format!("{khz} kHz"), format!("{share:.1}"), String::new()]
    }));
    rows.extend(shares(states).iter().map(|(state, share)| {
        let entered = entries.get(state).map_or(String::new(), u64::to_string);
        vec!["idle state".to_string(), state.to_string(), format!("{share:.1}"), entered]
    }));
    let table = cells(&["kind", "which", "% of time", "entered"], 2, rows);
    let note = "Shares of the time of all CPUs for which the trace has clocks, and of the time in idle states.";
    let has_some = !all.clocks.is_empty() || !all.idle_states.is_empty();
    has_some.then(|| part("residency", "Clocks and idle states", note, vec![table]))
}

/// Sums by key.
fn summed<'a>(of: impl Iterator<Item = (&'a u32, &'a u64)>) -> BTreeMap<u32, u64> {
    let mut sums = BTreeMap::new();
    of.for_each(|(key, n)| *sums.entry(*key).or_insert(0) += n);
    sums
}

/// Shares in percent by key.
fn shares<'a>(of: impl Iterator<Item = (&'a u32, &'a u64)>) -> Vec<(u32, f64)> {
    let sums = summed(of);
    let total: u64 = sums.values().sum();
    sums.into_iter().map(|(key, ns)| (key, 100.0 * ns as f64 / total.max(1) as f64)).collect()
}
