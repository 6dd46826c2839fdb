//! An inspection as tables for Parquet. Times are whole ns, as the inspection has them.

use super::Source;
use results::columns::{Column, Table, Values};
use trace::inspect::{Inspection, Reason, Spread};

/// A figure of a spread: its column, what it is, and where it is found.
type Figure = (&'static str, &'static str, fn(&Spread) -> u64);

/// Whole figures of a spread.
const FIGURES: [Figure; 7] = [
    ("count", "Number of times", |s| s.count),
    ("total_ns", "Their sum", |s| s.total_ns),
    ("p50_ns", "Half of them are at most so long, within 1 %", |s| s.p50_ns),
    ("p90_ns", "90 of 100 are at most so long, within 1 %", |s| s.p90_ns),
    ("p99_ns", "99 of 100 are at most so long, within 1 %", |s| s.p99_ns),
    ("p999_ns", "999 of 1000 are at most so long, within 1 %", |s| s.p999_ns),
    ("max_ns", "The longest", |s| s.max_ns),
];

/// Ends of classes of intervals, in ns: an interval is longer than its class's.
const LONGER_THAN_NS: [u64; 5] = [0, 10_000, 100_000, 1_000_000, 10_000_000];

/// A table for each kind of what was found; those of which the trace has nothing have no rows.
pub fn tables(source: &Source) -> Vec<Table> {
    let all = source.inspection;
    vec![
        trace(source),
        names(all),
        tasks(all),
        wakeups(all),
        intervals(all),
        violations(all),
        moves(all),
        ping_pong(all),
        levels(all),
        wakers(all),
        distances(all),
        clocks(all),
        idle_states(all),
    ]
}

/// Columns of `rows`.
struct Rows<'a, R>(&'a [R]);

impl<R> Rows<'_, R> {
    fn text(&self, name: &'static str, help: &'static str, of: impl Fn(&R) -> &str) -> Column {
        let values = Values::Text(self.0.iter().map(|row| of(row).to_string()).collect());
        Column { name, unit: "", help, values }
    }

    fn whole(&self, name: &'static str, help: &'static str, of: impl Fn(&R) -> u64) -> Column {
        let unit = if name.ends_with("_ns") { "ns" } else { "" };
        Column { name, unit, help, values: Values::Whole(self.0.iter().map(of).collect()) }
    }

    fn real(&self, name: &'static str, help: &'static str, of: impl Fn(&R) -> f64) -> Column {
        let unit = match name {
            name if name.ends_with("_ns") => "ns",
            name if name.ends_with("percent") => "%",
            _ => "",
        };
        Column { name, unit, help, values: Values::Real(self.0.iter().map(of).collect()) }
    }

    /// The figures of a spread.
    fn spread(&self, of: impl Fn(&R) -> &Spread) -> Vec<Column> {
        let figure = |(name, help, figure): Figure| self.whole(name, help, |r| figure(of(r)));
        let mut columns = FIGURES.map(figure).to_vec();
        columns.insert(2, self.real("mean_ns", "Their mean", |r| of(r).mean_ns));
        columns
    }
}

fn trace(source: &Source) -> Table {
    let all = source.inspection;
    let name = source.trace.file_name().unwrap_or_default().to_string_lossy();
    let row = [(name.as_ref(), source.machine.name.as_str())];
    let rows = Rows(&row);
    let of = |name, help, value: u64| rows.whole(name, help, move |_| value);
    let kept = &all.conservation;
    Table {
        name: "trace",
        columns: vec![
            rows.text("trace", "Name of the recording's file", |r| r.0),
            rows.text("machine", "Name of the machine", |r| r.1),
            of("from_ns", "Time of the first event", all.from_ns),
            of("to_ns", "Time of the last event", all.to_ns),
            of("events", "Events that were looked at", all.events),
            of("cpus", "CPUs that made events", all.cpus as u64),
            of("lost", "Records that the kernel lost", source.read.lost),
            of("repairs", "Events that did not fit what was known", all.repairs),
            of(
                "waited_ns",
                "Waiting of all tasks: from a wake-up, or from being preempted, until they ran",
                all.waited_ns,
            ),
            of("new_tasks", "Tasks that were made", all.moves.forks),
            of("violated_ns", "Time in which a CPU idled while a task waited", kept.violated_ns),
            rows.real("violated_percent", "The same of the trace", |_| kept.percent),
            of("lost_cpu_ns", "CPU time that this cost", kept.lost_cpu_ns),
        ],
    }
}

fn names(all: &Inspection) -> Table {
    let rows: Vec<(&str, u64, &str, &Spread)> = (all.groups.iter())
        .flat_map(|g| {
            let times = [("run", &g.run), ("delay", &g.delay), ("latency", &g.latency)];
            times.map(|(time, spread)| (g.name.as_str(), g.tasks as u64, time, spread))
        })
        .collect();
    let rows = Rows(&rows);
    let mut columns = vec![
        rows.text("name", "Name of tasks", |r| r.0),
        rows.whole("tasks", "How many tasks had it", |r| r.1),
        rows.text(
            "time",
            "run: on a CPU at a time; delay: on a queue until they ran; latency: from a wake-up until they ran",
            |r| r.2,
        ),
    ];
    columns.extend(rows.spread(|r| r.3));
    Table { name: "names", columns }
}

fn tasks(all: &Inspection) -> Table {
    let rows = Rows(&all.tasks);
    Table {
        name: "tasks",
        columns: vec![
            rows.text("name", "Name of the task", |t| &t.name),
            rows.whole("pid", "Its thread ID", |t| t.pid.into()),
            rows.whole("runs", "How often it ran", |t| t.runs),
            rows.whole("run_ns", "How long it ran in all", |t| t.run_ns),
            rows.whole("delay_ns", "How long it was on queues in all", |t| t.delay_ns),
            rows.whole("longest_delay_ns", "The longest of these times", |t| t.longest_delay_ns),
            rows.whole("wakeups", "How often it ran after a wake-up", |t| t.wakeups),
        ],
    }
}

fn wakeups(all: &Inspection) -> Table {
    let rows = Rows(&all.wakeups);
    let distance = "From the waking CPU to the one where the task first ran";
    let mut columns = vec![rows.text("distance", distance, |r| r.0)];
    columns.extend(rows.spread(|r| &r.1));
    Table { name: "wakeups", columns }
}

fn intervals(all: &Inspection) -> Table {
    let rows: Vec<(u64, u64)> =
        LONGER_THAN_NS.into_iter().zip(all.conservation.intervals).collect();
    let rows = Rows(&rows);
    Table {
        name: "intervals",
        columns: vec![
            rows.whole(
                "longer_than_ns",
                "Intervals of this class are longer, up to the next",
                |r| r.0,
            ),
            rows.whole(
                "intervals",
                "Number of intervals in which a CPU idled while a task waited",
                |r| r.1,
            ),
        ],
    }
}

fn violations(all: &Inspection) -> Table {
    let rows = Rows(&all.conservation.worst);
    Table {
        name: "violations",
        columns: vec![
            rows.whole("from_ns", "When it began", |v| v.from_ns),
            rows.whole("length_ns", "How long it was", |v| v.length_ns),
            rows.whole("idle_cpus", "Most CPUs that idled", |v| v.idle_cpus as u64),
            rows.whole("waiting", "Most tasks that waited", |v| v.waiting as u64),
            rows.whole("pid", "The task that had waited longest when it began", |v| v.task.into()),
            rows.whole("queue", "The CPU on whose queue that task was", |v| v.queue as u64),
        ],
    }
}

/// A reason as one word.
fn word(reason: Reason) -> &'static str {
    match reason {
        Reason::WakeUp => "wake-up",
        Reason::Pulled => "pulled",
        Reason::Stopper => "stopper",
        Reason::Other => "other",
    }
}

fn moves(all: &Inspection) -> Table {
    let rows: Vec<(&str, &str, u64)> = (all.moves.by_reason.iter())
        .flat_map(|(reason, by)| by.iter().map(|(distance, n)| (word(*reason), *distance, *n)))
        .collect();
    let rows = Rows(&rows);
    Table {
        name: "moves",
        columns: vec![
            rows.text(
                "reason",
                "wake-up: woken elsewhere; pulled: by the CPU that it goes to; stopper: by a CPU's stopper; other: by another CPU",
                |r| r.0,
            ),
            rows.text("distance", "From CPU to CPU", |r| r.1),
            rows.whole("moves", "Number of moves", |r| r.2),
        ],
    }
}

fn ping_pong(all: &Inspection) -> Table {
    let rows = Rows(&all.moves.ping_pong);
    let returns = "How often that was the one that it had left within 10 ms";
    Table {
        name: "ping_pong",
        columns: vec![
            rows.text("name", "Name of the task", |p| &p.name),
            rows.whole("pid", "Its thread ID", |p| p.pid.into()),
            rows.whole("crossings", "How often it ran in another last-level cache", |p| {
                p.crossings
            }),
            rows.whole("returns", returns, |p| p.returns),
        ],
    }
}

fn levels(all: &Inspection) -> Table {
    let rows = Rows(&all.levels);
    Table {
        name: "levels",
        columns: vec![
            rows.whole("from_ns", "When the stretch of time begins", |l| l.from_ns),
            rows.whole("length_ns", "Its length", |l| l.length_ns),
            rows.real("runnable", "Mean of runnable tasks", |l| l.runnable),
            rows.real("idle_cpus", "Mean of CPUs that idled", |l| l.idle_cpus),
            rows.real("imbalance", "Mean of the longest less the shortest queue", |l| l.imbalance),
        ],
    }
}

fn wakers(all: &Inspection) -> Table {
    let rows = Rows(&all.wakers);
    Table {
        name: "wakers",
        columns: vec![
            rows.text("waker", "Who woke: a name, hardirq, softirq or idle", |e| &e.waker),
            rows.text("woken", "Who was woken", |e| &e.woken),
            rows.whole("wakeups", "How often", |e| e.count),
        ],
    }
}

fn distances(all: &Inspection) -> Table {
    let rows: Vec<(&str, &str, &str, u64)> = (all.wakers.iter())
        .flat_map(|e| {
            e.distances.iter().map(|(far, n)| (e.waker.as_str(), e.woken.as_str(), *far, *n))
        })
        .collect();
    let rows = Rows(&rows);
    let distance = "From the waking CPU to the one where the task ran";
    Table {
        name: "waker_distances",
        columns: vec![
            rows.text("waker", "Who woke, as in wakers", |r| r.0),
            rows.text("woken", "Who was woken", |r| r.1),
            rows.text("distance", distance, |r| r.2),
            rows.whole("wakeups", "How often", |r| r.3),
        ],
    }
}

fn clocks(all: &Inspection) -> Table {
    let rows: Vec<(usize, u32, u64)> = (all.clocks.iter())
        .flat_map(|c| c.time_ns.iter().map(|(khz, ns)| (c.cpu, *khz, *ns)))
        .collect();
    let rows = Rows(&rows);
    let khz = Column { unit: "kHz", ..rows.whole("khz", "Its clock", |r| r.1.into()) };
    Table {
        name: "clocks",
        columns: vec![
            rows.whole("cpu", "The CPU", |r| r.0 as u64),
            khz,
            rows.whole("time_ns", "How long it had this clock", |r| r.2),
        ],
    }
}

fn idle_states(all: &Inspection) -> Table {
    let rows: Vec<(usize, u32, u64, u64)> = (all.idle_states.iter())
        .flat_map(|s| {
            let time = |state: &u32| s.time_ns.get(state).copied().unwrap_or(0);
            s.entries.iter().map(move |(state, n)| (s.cpu, *state, time(state), *n))
        })
        .collect();
    let rows = Rows(&rows);
    Table {
        name: "idle_states",
        columns: vec![
            rows.whole("cpu", "The CPU", |r| r.0 as u64),
            rows.whole("state", "Number of the idle state", |r| r.1.into()),
            rows.whole("time_ns", "How long it was in that state", |r| r.2),
            rows.whole("entries", "How often it entered it", |r| r.3),
        ],
    }
}
