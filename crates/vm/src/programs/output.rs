//! Numbers out of what programs print.

use super::rtapp::Logs;
use super::{figure, together};

/// How a program says what it measured.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Lines `NAME VALUE`, one for each of these names.
    Named(Vec<String>),
    /// Time of an operation, as in `11.963600 usecs/op`, of which the result is so many.
    Pipe {
        /// The metric.
        name: &'static str,
        /// Operations that it stands for.
        operations: u32,
    },
    /// A time, as in `Time: 0.048`.
    Hackbench {
        /// The metric.
        name: &'static str,
    },
    /// A rate, as in `Throughput 215.746 MB/sec  2 clients`.
    Throughput {
        /// The metric.
        name: &'static str,
    },
    /// A rate in the same form, and the time of a pass by it.
    Pass {
        /// The metric, in ms.
        name: &'static str,
        /// MB that all clients read and write in a pass.
        megabytes: f64,
    },
    /// rt-app's logs.
    RtApp(Logs),
    /// Those of measured parts, each with its number and its name.
    Together(Vec<(usize, String, Output)>),
}

impl Output {
    /// The metrics that it gives, in its order.
    pub fn names(&self) -> Vec<String> {
        match self {
            Output::Named(names) => names.clone(),
            Output::Pipe { name, .. }
            | Output::Hackbench { name }
            | Output::Throughput { name }
            | Output::Pass { name, .. } => vec![(*name).to_owned()],
            Output::RtApp(logs) => logs.names(),
            Output::Together(parts) => (parts.iter())
                .flat_map(|(_, part, output)| output.names().into_iter().map(|n| figure(part, &n)))
                .collect(),
        }
    }

    pub(super) fn read(&self, stdout: &str) -> Result<Vec<(String, f64)>, String> {
        let one = |name: &str, value: f64| Ok(vec![(name.to_owned(), value)]);
        match self {
            Output::Named(names) => named(names, stdout),
            Output::Pipe { name, operations } => {
                one(name, before(stdout, "usecs/op")? * f64::from(*operations) / 1e6)
            }
            Output::Hackbench { name } => one(name, after(stdout, "Time:")?),
            Output::Throughput { name } => one(name, throughput(stdout)?),
            Output::Pass { name, megabytes } => one(name, megabytes / throughput(stdout)? * 1e3),
            Output::RtApp(logs) => logs.read(stdout),
            Output::Together(parts) => together::read(parts, stdout),
        }
    }
}

/// A number that is one, and not below 0.
fn number(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
    value.ok_or_else(|| format!("found {text:?}, expected a number"))
}

/// The lines in the order of `names`.
fn named(names: &[String], stdout: &str) -> Result<Vec<(String, f64)>, String> {
    let mut values = vec![None; names.len()];
    for line in stdout.lines().filter(|line| !line.trim().is_empty()) {
        let wrong = || format!("found {line:?}, expected a result's name and a number");
        let (name, value) = line.split_once(' ').ok_or_else(wrong)?;
        let place = names.iter().position(|known| known == name).ok_or_else(wrong)?;
        match values.get_mut(place) {
            Some(empty @ None) => *empty = Some(number(value)?),
            _ => return Err(format!("found {name} twice, expected it once")),
        }
    }
    let values = names.iter().zip(values);
    let whole = |(name, value): (&String, Option<f64>)| match value {
        Some(value) => Ok((name.clone(), value)),
        None => Err(format!("found no {name}")),
    };
    values.map(whole).collect()
}

/// The only line that `take` takes.
fn only<'a>(
    stdout: &'a str,
    mark: &str,
    take: impl Fn(&'a str) -> Option<&'a str>,
) -> Result<&'a str, String> {
    let mut found = stdout.lines().filter_map(|line| take(line.trim()));
    match (found.next(), found.next()) {
        (Some(text), None) => Ok(text.trim()),
        (None, _) => Err(format!("found no line with {mark:?}, expected one")),
        (Some(_), Some(_)) => Err(format!("found several lines with {mark:?}, expected one")),
    }
}

/// The number after `mark` at the start of a line.
fn after(stdout: &str, mark: &str) -> Result<f64, String> {
    number(only(stdout, mark, |line| line.strip_prefix(mark))?)
}

/// The number before `mark` at the end of a line.
fn before(stdout: &str, mark: &str) -> Result<f64, String> {
    number(only(stdout, mark, |line| line.strip_suffix(mark))?)
}

/// MB/s that dbench and tbench measured. Without any the clients were too slow for a line of progress.
fn throughput(stdout: &str) -> Result<f64, String> {
    let rest = only(stdout, "Throughput", |line| line.strip_prefix("Throughput "))?;
    let (value, _) =
        rest.split_once(" MB/sec").ok_or_else(|| format!("found {rest:?}, expected MB/sec"))?;
    match number(value)? {
        rate if rate > 0.0 => Ok(rate),
        _ => Err("found a throughput of 0: nothing ended in the measured time".to_owned()),
    }
}
