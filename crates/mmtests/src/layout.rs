//! The log files of each benchmark in MMTests' three layouts: until 2021, until the end of 2025, and since then.

use stats::table::Estimator;
use stats::{Better, Row, Table};
use std::fmt;

/// A benchmark whose logs can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// hackbench by `perf bench sched messaging`, of processes or threads over pipes or sockets.
    Hackbench,
    /// dbench over a file system.
    Dbench,
    /// dbench over the network.
    Tbench,
    /// Kernel builds.
    Kernbench,
    /// git's own tests.
    Gitsource,
    /// schbench.
    Schbench,
}

impl Family {
    /// Names of benchmarks, without a suffix such as `-process-pipes`.
    pub(crate) const NAMES: [&'static str; 8] = [
        "hackbench",
        "dbench",
        "dbench4",
        "tbench",
        "tbench4",
        "kernbench",
        "gitsource",
        "schbench",
    ];

    /// The family of the benchmark `name`, such as `hackbench-process-pipes` or `tbench4`.
    pub(crate) fn of(name: &str) -> Option<Family> {
        match name.split('-').next()? {
            "hackbench" => Some(Family::Hackbench),
            "dbench" | "dbench4" => Some(Family::Dbench),
            "tbench" | "tbench4" => Some(Family::Tbench),
            "kernbench" => Some(Family::Kernbench),
            "gitsource" => Some(Family::Gitsource),
            "schbench" => Some(Family::Schbench),
            _ => None,
        }
    }
}

/// What was measured. Tables are in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// Time until all groups have passed their messages.
    Time,
    /// Time a client takes for its load file, as the mean of all samples.
    Loadfile,
    /// The same by `SubAmean`, as in the study of 2020 and in MMTests until 2025.
    LoadfileSubselected,
    /// Throughput, second by second.
    Throughput,
    /// Elapsed time of a build or test.
    Elapsed,
    /// Time of its CPUs in the kernel.
    System,
    /// Time of its CPUs in user mode.
    User,
    /// From a wake-up until the worker runs.
    Wakeup,
    /// From a request until its answer.
    Request,
    /// Requests per second.
    Rps,
}

impl Metric {
    /// A table of one row.
    pub(crate) fn table(self, benchmark: &str, runs: &[String], row: Row) -> Table {
        use Metric::*;
        let (name, unit, varying) = match self {
            Time => ("time", "seconds", "groups"),
            Loadfile | LoadfileSubselected => ("loadfile", "milliseconds", "clients"),
            Throughput => ("tput", "MB/sec", "clients"),
            Elapsed => ("Elapsed", "seconds", "jobs"),
            System => ("System", "seconds", "jobs"),
            User => ("User", "seconds", "jobs"),
            Wakeup => ("Wakeup", "microseconds", "percentile and workers"),
            Request => ("Request", "microseconds", "percentile and workers"),
            Rps => ("RPS", "requests/sec", "percentile and workers"),
        };
        let (better, estimator) = match self {
            Throughput | Rps => (Better::Higher, Estimator::Hmean),
            LoadfileSubselected => (Better::Lower, Estimator::SubAmean),
            _ => (Better::Lower, Estimator::Amean),
        };
        let varying = if row.label.is_empty() { "" } else { varying };
        Table {
            metric: format!("{benchmark} {name}"),
            varying: varying.to_string(),
            unit: unit.to_string(),
            better,
            estimator,
            columns: runs.to_vec(),
            rows: vec![row],
        }
    }
}

/// Label of a row: the count that the benchmark varies, and the percentile if it reports several.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label {
    /// Number of groups, clients, jobs or workers; `None` if the benchmark has none.
    pub count: Option<u64>,
    /// Percentile, as schbench prints it.
    pub percentile: Option<String>,
}

impl Label {
    pub(crate) fn count(count: u64) -> Label {
        Label { count: Some(count), percentile: None }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.percentile, self.count) {
            (Some(percentile), Some(count)) => write!(f, "{percentile}-{count}"),
            (Some(percentile), None) => f.write_str(percentile),
            (None, Some(count)) => write!(f, "{count}"),
            (None, None) => Ok(()),
        }
    }
}

/// How to read a log, and for which row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reader {
    Hackbench(Label),
    /// Load file times, with these means. Before 2026, without values that are a wrapped negative number.
    Loadfile {
        label: Label,
        metric: Metric,
        drops_wrapped: bool,
    },
    /// Throughput, without this many seconds of warm-up.
    Throughput {
        label: Label,
        warm_up: usize,
    },
    Times(Label),
    Schbench {
        workers: u64,
    },
}

/// How to read a log of this name, and its position among the logs of its row; `None` if it is not a log of this layout.
type Form = fn(Family, &str) -> Option<(u64, Reader)>;

/// Which logs of a directory to read, and how, in the order of rows and iterations. `stems` are the file names without `.gz`
/// and `.xz`.
pub(crate) fn readers(family: Family, stems: &[String]) -> Vec<(String, Reader)> {
    // Logs of 2026 and later lie beside what they were split from, which is named as it was before.
    let forms: &[Form] = match family {
        Family::Dbench | Family::Tbench => &[of_benchlog, of_split_log, of_whole_log],
        _ => &[of_log],
    };
    for form in forms {
        let mut found: Vec<(String, u64, Reader)> = stems
            .iter()
            .filter_map(|stem| {
                form(family, stem).map(|(order, reader)| (stem.clone(), order, reader))
            })
            .collect();
        if !found.is_empty() {
            found.sort_by_key(|(_, order, _)| *order);
            return found.into_iter().map(|(stem, _, reader)| (stem, reader)).collect();
        }
    }
    vec![]
}

/// The log and its iteration, for a benchmark whose layouts cannot be confused.
fn of_log(family: Family, stem: &str) -> Option<(u64, Reader)> {
    match family {
        Family::Hackbench => {
            let (group, iteration) = counts(stem.strip_prefix("hackbench-")?)?;
            Some((iteration, Reader::Hackbench(Label::count(group))))
        }
        Family::Schbench => {
            let workers = stem.strip_prefix("schbench-")?.strip_suffix(".log")?.parse().ok()?;
            Some((0, Reader::Schbench { workers }))
        }
        Family::Kernbench => {
            let old = || stem.strip_prefix("kernbench-")?.strip_suffix(".time");
            let (jobs, iteration) = counts(stem.strip_prefix("time-").or_else(old)?)?;
            Some((iteration, Reader::Times(Label::count(jobs))))
        }
        Family::Gitsource => {
            let none = Label { count: None, percentile: None };
            let iteration = match stem {
                "time" => 0,
                _ => stem.strip_prefix("time-_-")?.parse().ok()?,
            };
            Some((iteration, Reader::Times(none)))
        }
        Family::Dbench | Family::Tbench => None,
    }
}

/// `N` or `N-ITERATION`.
fn counts(text: &str) -> Option<(u64, u64)> {
    match text.split_once('-') {
        None => Some((text.parse().ok()?, 0)),
        Some((count, iteration)) => Some((count.parse().ok()?, iteration.parse().ok()?)),
    }
}

/// Since 2026: `benchlog-loadfile-N` and `benchlog-tput-N`.
fn of_benchlog(_: Family, stem: &str) -> Option<(u64, Reader)> {
    let (kind, clients) = stem.strip_prefix("benchlog-")?.split_once('-')?;
    let label = Label::count(clients.parse().ok()?);
    match kind {
        "loadfile" => {
            Some((0, Reader::Loadfile { label, metric: Metric::Loadfile, drops_wrapped: false }))
        }
        "tput" => Some((0, Reader::Throughput { label, warm_up: 0 })),
        _ => None,
    }
}

/// From 2021 to 2025: `dbench-loadfile-N.log` and `dbench-execute-N.log`, or `tbench-`.
fn of_split_log(_: Family, stem: &str) -> Option<(u64, Reader)> {
    let stem = stem.strip_prefix("dbench-").or_else(|| stem.strip_prefix("tbench-"))?;
    let (kind, clients) = stem.strip_suffix(".log")?.split_once('-')?;
    let label = Label::count(clients.parse().ok()?);
    let metric = Metric::LoadfileSubselected;
    match kind {
        "loadfile" => Some((0, Reader::Loadfile { label, metric, drops_wrapped: true })),
        "execute" => Some((0, Reader::Throughput { label, warm_up: 0 })),
        _ => None,
    }
}

/// Until 2021: `dbench-N.log`, whose load file times count, or `tbench-N.log`, whose throughput does from the fifth second
/// on.
fn of_whole_log(family: Family, stem: &str) -> Option<(u64, Reader)> {
    let prefix = if family == Family::Dbench { "dbench-" } else { "tbench-" };
    let label = Label::count(stem.strip_prefix(prefix)?.strip_suffix(".log")?.parse().ok()?);
    let metric = Metric::LoadfileSubselected;
    Some(match family {
        Family::Dbench => (0, Reader::Loadfile { label, metric, drops_wrapped: true }),
        _ => (0, Reader::Throughput { label, warm_up: 4 }),
    })
}
