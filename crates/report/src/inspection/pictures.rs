//! From an inspection to what charts draw.

use super::parts::{self, Followed, LEVELS};
use crate::charts::levels::{Level, levels};
use crate::charts::pairs::{Pair, pairs};
use crate::charts::shares::{Bar, shares};
use crate::charts::spans::{Span, spans};
use crate::charts::times::{Times, times};
use crate::charts::{Picture, colours};
use crate::error::ReportError;
use crate::number::significant;
use machine::distance::Distance;
use plotters::style::RGBColor;
use std::collections::BTreeMap;
use trace::inspect::{Edge, Inspection, Spread};

/// Most names that have lines, and pairs in the graph: tables show the others.
const MOST: usize = 40;
/// Most CPUs that have a bar each.
const CPUS: usize = 32;
/// Most clocks that have a colour each; of more, neighbours are taken together.
const CLOCKS: usize = 8;
type Drawn = Result<Vec<Picture>, ReportError>;

/// The pictures of the part called `id`.
pub(super) fn pictures(id: &str, all: &Inspection) -> Drawn {
    match id {
        "names" => names(all),
        "wakeups" => wakeups(all),
        "conservation" => conservation(all),
        "moves" => moves(all),
        "levels" => over_time(all),
        "wakers" => wakers(all),
        "residency" => residency(all),
        _ => Ok(vec![]),
    }
}

fn picture(name: &str, title: &str, svg: Option<String>) -> Option<Picture> {
    let (name, title) = (name.to_string(), title.to_string());
    svg.map(|svg| Picture { name, title, svg, is_titled: false })
}

/// What a title says where a picture has no room for all.
fn first(of: usize, what: &str) -> String {
    match of > MOST {
        true => format!("; the first {MOST} of {of} {what}"),
        false => String::new(),
    }
}

fn spread(label: String, colour: RGBColor, of: &Spread) -> Times {
    Times { label, colour, count: of.count, ns: [of.p50_ns, of.p90_ns, of.p99_ns, of.max_ns] }
}

fn names(all: &Inspection) -> Drawn {
    let kinds = ["run", "delay", "latency"];
    let key: Vec<(String, RGBColor)> =
        kinds.iter().enumerate().map(|(at, k)| (k.to_string(), colours::variant(at))).collect();
    let lines: Vec<Times> = (all.groups.iter().take(MOST))
        .flat_map(|group| {
            let of = [&group.run, &group.delay, &group.latency];
            kinds.iter().zip(of).enumerate().map(|(at, (kind, of))| {
                spread(format!("{}: {kind}", group.name), colours::variant(at), of)
            })
        })
        .collect();
    let title = "Times by name: median (dot), 90th and 99th percentile, longest";
    let title = format!("{title}{}", first(all.groups.len(), "names"));
    Ok(picture("names", &title, times(&title, &key, &lines)?).into_iter().collect())
}

fn wakeups(all: &Inspection) -> Drawn {
    let part = |(distance, of): &(&str, Spread)| (distance.to_string(), of.count as f64);
    let bar: Bar = ("wake-ups".to_string(), all.wakeups.iter().map(part).collect());
    let title = "Where woken tasks first ran, by distance from the waking CPU";
    let what = "Share of wake-ups in percent, from the waking CPU itself to the furthest.";
    let landed = picture("wakeups", title, shares(title, what, &[bar])?);
    let line =
        |(distance, of): &(&str, Spread)| spread(distance.to_string(), colours::variant(2), of);
    let lines: Vec<Times> = all.wakeups.iter().map(line).collect();
    let title = "Latency by distance: median (dot), 90th and 99th percentile, longest";
    let latency = picture("latency", title, times(title, &[], &lines)?);
    Ok(landed.into_iter().chain(latency).collect())
}

fn conservation(all: &Inspection) -> Drawn {
    let span = |v: &trace::inspect::Violation| {
        let length = length(v.length_ns);
        let from_ns = v.from_ns.saturating_sub(all.from_ns);
        Span {
            label: format!("{length}, PID {} on CPU {}", v.task, v.queue),
            from_ns,
            length_ns: v.length_ns,
            tip: format!(
                "at {} ms for {length}: up to {} idle CPUs and {} waiting tasks; PID {} waited on CPU {}",
                significant(from_ns as f64 / 1e6),
                v.idle_cpus,
                v.waiting,
                v.task,
                v.queue
            ),
        }
    };
    let worst: Vec<Span> = all.conservation.worst.iter().map(span).collect();
    let title = "The longest intervals in which a CPU idled while a task waited";
    let svg = spans(title, all.to_ns.saturating_sub(all.from_ns), colours::variant(4), &worst)?;
    Ok(picture("conservation", title, svg).into_iter().collect())
}

/// A length of time in the unit that fits it.
fn length(ns: u64) -> String {
    match ns {
        0..1_000_000 => format!("{} \u{b5}s", significant(ns as f64 / 1e3)),
        _ => format!("{} ms", significant(ns as f64 / 1e6)),
    }
}

fn moves(all: &Inspection) -> Drawn {
    let bar = |(reason, by): (&trace::inspect::Reason, &BTreeMap<&'static str, u64>)| {
        let parts = parts::in_order(by).map(|(distance, n)| (distance.to_string(), n as f64));
        (parts::reason(*reason).to_string(), parts.collect())
    };
    let bars: Vec<Bar> = all.moves.by_reason.iter().map(bar).collect();
    let title = "Moves by reason and distance";
    let svg = shares(title, "Share of moves in percent, from the nearest to the furthest.", &bars)?;
    Ok(picture("moves", title, svg).into_iter().collect())
}

fn over_time(all: &Inspection) -> Drawn {
    let level = |(name, of): Followed| Level {
        name: name.to_string(),
        bins: (all.levels.iter())
            .map(|l| (l.from_ns.saturating_sub(all.from_ns), l.length_ns, of(l)))
            .collect(),
    };
    let title = "Runnable tasks, idle CPUs and imbalance over time";
    let svg = levels(title, all.to_ns.saturating_sub(all.from_ns), &LEVELS.map(level))?;
    Ok(picture("levels", title, svg).into_iter().collect())
}

fn wakers(all: &Inspection) -> Drawn {
    let colour = |distance: Option<Distance>| match distance {
        Some(distance) => colours::variant(distance as usize),
        None => RGBColor(0, 0, 0),
    };
    let pair = |edge: &Edge| {
        let distance = edge.usual_distance();
        let usual = distance.map_or("never ran", Distance::name);
        Pair {
            from: edge.waker.clone(),
            to: edge.woken.clone(),
            count: edge.count,
            figure: format!("{} {usual}", edge.count),
            colour: colour(distance),
            tip: format!(
                "{} wakes {}: {} times, usually {usual}",
                edge.waker, edge.woken, edge.count
            ),
        }
    };
    let edges = &all.wakers[..all.wakers.len().min(MOST)];
    let usual: Vec<Option<Distance>> = edges.iter().map(Edge::usual_distance).collect();
    let named = Distance::ALL.into_iter().filter(|d| usual.contains(&Some(*d)));
    let key: Vec<(String, RGBColor)> =
        named.map(|d| (d.name().to_string(), colour(Some(d)))).collect();
    let title = "Who wakes whom, how often, and the usual distance";
    let title = format!("{title}{}", first(all.wakers.len(), "pairs"));
    let svg = pairs(&title, &key, &edges.iter().map(pair).collect::<Vec<_>>())?;
    Ok(picture("wakers", &title, svg).into_iter().collect())
}

fn residency(all: &Inspection) -> Drawn {
    let clocks: Vec<(usize, &BTreeMap<u32, u64>)> =
        all.clocks.iter().map(|c| (c.cpu, &c.time_ns)).collect();
    let states: Vec<(usize, &BTreeMap<u32, u64>)> =
        all.idle_states.iter().map(|s| (s.cpu, &s.time_ns)).collect();
    let step = step(&clocks);
    let clock = |khz: u32| match step {
        1 => format!("{} GHz", significant(f64::from(khz) / 1e6)),
        step => {
            let [from, to] = [khz / step * step, (khz / step + 1) * step];
            let ghz = |khz: u32| significant(f64::from(khz) / 1e6);
            format!("{} to {} GHz", ghz(from), ghz(to))
        }
    };
    let mut out = Vec::new();
    for (name, title, of, label) in [
        ("clocks", "Time at each clock", &clocks, &clock as &dyn Fn(u32) -> String),
        ("idle-states", "Time in each idle state", &states, &|state| format!("state {state}")),
    ] {
        let bars = by_cpu(of, label);
        out.extend(picture(name, title, shares(title, "Shares of time in percent.", &bars)?));
    }
    Ok(out)
}

/// Width of classes of clocks, in kHz: 1 where each clock has its own.
fn step(clocks: &[(usize, &BTreeMap<u32, u64>)]) -> u32 {
    let all: std::collections::BTreeSet<u32> =
        clocks.iter().flat_map(|(_, times)| times.keys().copied()).collect();
    let span = all.last().unwrap_or(&0) - all.first().unwrap_or(&0);
    match all.len() <= CLOCKS {
        true => 1,
        false => {
            let steps = [1, 2, 5, 10, 20, 50].map(|n| n * 100_000);
            steps.into_iter().find(|s| span / s < CLOCKS as u32 - 1).unwrap_or(u32::MAX / 2)
        }
    }
}

/// A bar for each CPU, or one for all of many; parts from the lowest key on.
fn by_cpu(of: &[(usize, &BTreeMap<u32, u64>)], label: &dyn Fn(u32) -> String) -> Vec<Bar> {
    let mut all: BTreeMap<u32, u64> = BTreeMap::new();
    of.iter()
        .flat_map(|(_, times)| times.iter())
        .for_each(|(k, n)| *all.entry(*k).or_default() += n);
    let parts = |times: &BTreeMap<u32, u64>| {
        let mut parts: Vec<(String, f64)> = Vec::new();
        for key in all.keys() {
            let (name, ns) = (label(*key), times.get(key).copied().unwrap_or(0) as f64);
            match parts.last_mut() {
                Some(last) if last.0 == name => last.1 += ns,
                _ => parts.push((name, ns)),
            }
        }
        parts
    };
    match of.len() {
        0 => vec![],
        1..=CPUS => of.iter().map(|(cpu, times)| (format!("CPU {cpu}"), parts(times))).collect(),
        cpus => vec![(format!("{cpus} CPUs"), parts(&all))],
    }
}
