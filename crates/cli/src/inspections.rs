//! `schedscape inspect`: what happened in a trace.

use crate::Failure;
use crate::args::InspectArgs;
use crate::output::{print, print_json, write_whole};
use crate::placements::{judged, judgement};
use follow::placement::Judged;
use report::table::fitted;
use serde::Serialize;
use trace::inspect::{Inspection, Inspector, Level, Spread, dot};
use trace::{Read, Recording};

/// Characters of the picture of levels over time.
const WIDTH: usize = 60;

/// What is printed as JSON.
#[derive(Serialize)]
struct Shown<'a> {
    trace: String,
    machine: &'a str,
    /// Records that the kernel lost for want of room.
    lost: u64,
    #[serde(flatten)]
    inspection: &'a Inspection,
    /// Wake-ups beside a model, where a kernel was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    judged: Option<Judged>,
}

pub fn inspect(args: &InspectArgs) -> Result<(), Failure> {
    let source = args.trace.display().to_string();
    let machine = machine::resolve(&args.machine)?;
    let mut inspector = Inspector::new(&machine);
    let read = Recording::open(&args.trace).and_then(|recording| recording.read(&mut inspector));
    let read = read.map_err(|e| format!("{source}: {e}"))?;
    let inspection = inspector.finish(args.most);
    let judged = judged(args, &machine)?;
    if let Some(path) = &args.dot {
        write_whole(path, &dot(&inspection.wakers))?;
    }
    if args.json {
        let (lost, machine) = (read.lost, machine.name.as_str());
        return print_json(&Shown {
            trace: source,
            machine,
            lost,
            inspection: &inspection,
            judged,
        });
    }
    let mut out = text(&inspection, &source, &machine.name, &read);
    if let Some(judged) = &judged {
        out.push_str(&judgement(judged, args));
    }
    print(&out)
}

fn text(all: &Inspection, source: &str, machine: &str, read: &Read) -> String {
    let seconds = (all.to_ns - all.from_ns) as f64 / 1e9;
    let mut out = format!(
        "{source}: {seconds:.6} s, {} events of {} CPUs, on {machine}\n",
        all.events, all.cpus
    );
    if read.lost > 0 || all.repairs > 0 {
        out.push_str(&format!(
            "warning: {} records lost, {} switches from a task that was not known to run; figures are too low\n",
            read.lost, all.repairs
        ));
    }
    out.push_str(&groups(all));
    out.push_str(&wakeups(all));
    out.push_str(&conservation(all));
    out.push_str(&moves(all));
    out.push_str(&levels(&all.levels));
    out.push_str(&wakers(all));
    out.push_str(&residency(all));
    out
}

/// A time in us.
fn us(ns: u64) -> String {
    format!("{:.1}", ns as f64 / 1e3)
}

fn spread(name: &str, of: &Spread) -> Vec<String> {
    let times = [of.p50_ns, of.p90_ns, of.p99_ns, of.max_ns].map(us);
    [vec![name.to_owned(), of.count.to_string(), us(of.mean_ns as u64)], times.to_vec()].concat()
}

fn groups(all: &Inspection) -> String {
    let mut rows = Vec::new();
    for group in &all.groups {
        for (kind, of) in
            [("run", &group.run), ("delay", &group.delay), ("latency", &group.latency)]
        {
            if of.count > 0 {
                let name = format!("{} ({})", group.name, group.tasks);
                let total = format!("{:.3}", of.total_ns as f64 / 1e6);
                let mut row = vec![name, kind.to_owned(), total];
                row.extend(spread("", of).into_iter().skip(1));
                rows.push(row);
            }
        }
    }
    let columns =
        ["name (tasks)", "time", "sum ms", "count", "mean us", "p50", "p90", "p99", "max"];
    let table = fitted(&columns, &rows, 2);
    format!(
        "\nBy name: time on a CPU (run), on a queue until it ran (delay), from a wake-up until it ran (latency)\n\n{table}"
    )
}

fn wakeups(all: &Inspection) -> String {
    let count: u64 = all.wakeups.iter().map(|(_, s)| s.count).sum();
    let row = |(distance, of): &(&'static str, Spread)| {
        let mut row = spread(distance, of);
        row.insert(1, format!("{:.1}", 100.0 * of.count as f64 / count.max(1) as f64));
        row
    };
    let rows: Vec<Vec<String>> = all.wakeups.iter().map(row).collect();
    let columns = ["distance", "%", "wake-ups", "mean us", "p50", "p90", "p99", "max"];
    format!(
        "\nWake-ups by distance from the waking CPU, and latency\n\n{}",
        fitted(&columns, &rows, 1)
    )
}

fn conservation(all: &Inspection) -> String {
    let of = &all.conservation;
    let [a, b, c, d, e] = of.intervals;
    let mut out = format!(
        "\nIdle CPUs while somebody waited: {:.3} ms ({:.2} %), {:.3} ms of CPU time lost\n\
         intervals up to 10 us: {a}, 100 us: {b}, 1 ms: {c}, 10 ms: {d}, longer: {e}\n",
        of.violated_ns as f64 / 1e6,
        of.percent,
        of.lost_cpu_ns as f64 / 1e6
    );
    let row = |v: &trace::inspect::Violation| {
        let since = (v.from_ns - all.from_ns) as f64 / 1e6;
        let at = format!("{:.6}", v.from_ns as f64 / 1e9);
        let task = v.task.to_string();
        let rest = [v.idle_cpus.to_string(), v.waiting.to_string(), task, v.queue.to_string()];
        [vec![at, format!("{since:.3}"), us(v.length_ns)], rest.to_vec()].concat()
    };
    let rows: Vec<Vec<String>> = of.worst.iter().map(row).collect();
    if !rows.is_empty() {
        let columns =
            ["at s", "since begin ms", "length us", "idle CPUs", "waiting", "PID", "on CPU"];
        out.push_str(&format!("\n{}", fitted(&columns, &rows, 1)));
    }
    out
}

fn moves(all: &Inspection) -> String {
    let mut rows = Vec::new();
    for (reason, by) in &all.moves.by_reason {
        let reason = match reason {
            trace::inspect::Reason::WakeUp => "wake-up",
            trace::inspect::Reason::Pulled => "pulled by the CPU that it goes to",
            trace::inspect::Reason::Stopper => "by a CPU's stopper",
            trace::inspect::Reason::Other => "by another CPU",
        };
        let row = |(distance, n): (&&str, &u64)| {
            vec![reason.to_owned(), (*distance).to_owned(), n.to_string()]
        };
        rows.extend(by.iter().map(row));
    }
    let mut out = format!(
        "\nMoves of tasks; {} new tasks\n\n{}",
        all.moves.forks,
        fitted(&["reason", "distance", "moves"], &rows, 1)
    );
    if !all.moves.ping_pong.is_empty() {
        let row = |p: &trace::inspect::PingPong| {
            let name = format!("{}-{}", p.name, p.pid);
            vec![name, p.crossings.to_string(), p.returns.to_string()]
        };
        let rows: Vec<Vec<String>> = all.moves.ping_pong.iter().map(row).collect();
        let columns = ["task", "changes of LLC", "back within 10 ms"];
        out.push_str(&format!(
            "\nPing-pong between last-level caches\n\n{}",
            fitted(&columns, &rows, 1)
        ));
    }
    out
}

/// A line for each level over time.
fn levels(levels: &[Level]) -> String {
    if levels.is_empty() {
        return String::new();
    }
    let line = |name: &str, of: &dyn Fn(&Level) -> f64| {
        let values: Vec<f64> = levels.iter().map(of).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let most = values.iter().copied().fold(0.0, f64::max);
        format!("{name:<15} {}  mean {mean:.2}, most {most:.2}\n", bars(&values, most))
    };
    let ms = levels[0].length_ns as f64 / 1e6;
    format!("\nOver time, means of {ms:.0} ms\n\n")
        + &line("runnable tasks", &|l| l.runnable)
        + &line("idle CPUs", &|l| l.idle_cpus)
        + &line("imbalance", &|l| l.imbalance)
}

/// Values as bars of a height in eighths, [`WIDTH`] at most.
fn bars(values: &[f64], most: f64) -> String {
    const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let each = values.len().div_ceil(WIDTH).max(1);
    let bar = |part: &[f64]| {
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        let height = if most > 0.0 { (8.0 * mean / most).ceil() as usize } else { 0 };
        BARS[height.min(8)]
    };
    values.chunks(each).map(bar).collect()
}

fn wakers(all: &Inspection) -> String {
    let rows: Vec<Vec<String>> = all
        .wakers
        .iter()
        .map(|e| vec![e.waker.clone(), e.woken.clone(), e.count.to_string()])
        .collect();
    format!("\nWho wakes whom\n\n{}", fitted(&["waker", "woken", "times"], &rows, 2))
}

/// Shares of time of clocks and idle states, over all CPUs that have them.
fn residency(all: &Inspection) -> String {
    let shares = |title: &str, of: Vec<(u32, u64)>| {
        let mut sums = std::collections::BTreeMap::new();
        of.into_iter().for_each(|(key, ns)| *sums.entry(key).or_insert(0u64) += ns);
        let total: u64 = sums.values().sum();
        if total == 0 {
            return String::new();
        }
        let share =
            |(key, ns): (&u32, &u64)| format!("{key}: {:.1} %", 100.0 * *ns as f64 / total as f64);
        let shares: Vec<String> = sums.iter().map(share).collect();
        format!("\n{title}: {}\n", shares.join(", "))
    };
    let clocks = all.clocks.iter().flat_map(|c| c.time_ns.clone()).collect();
    let states = all.idle_states.iter().flat_map(|s| s.time_ns.clone()).collect();
    shares("Clocks in kHz", clocks) + &shares("Idle states", states)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_the_height_of_their_values() {
        assert_eq!(bars(&[0.0, 1.0, 4.0, 8.0], 8.0), " ▁▄█");
        assert_eq!(bars(&[1.0; 120], 1.0).chars().count(), 60);
        assert_eq!(bars(&[0.0], 0.0), " ");
    }
}
