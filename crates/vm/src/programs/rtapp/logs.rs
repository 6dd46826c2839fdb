//! Metrics out of rt-app's logs, as [`workload::rtapp`] defines them.

use std::ops::RangeInclusive;

/// Percentiles of times; 100 is the longest.
const PERCENTS: [usize; 3] = [50, 99, 100];

/// What the logs of a file's threads hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Logs {
    /// The tasks with threads, in the file's order, which numbers the threads.
    pub tasks: Vec<TaskLogs>,
    /// Length of the run in s; from the first line to the last where absent.
    pub duration_s: Option<f64>,
}

/// What the logs of a task's threads say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskLogs {
    /// What its metrics are called after.
    pub label: String,
    /// Threads.
    pub instances: u32,
    /// Whether they say how late threads were woken.
    pub wakeup: bool,
    /// Whether they say how long it took from when a thread was due.
    pub response: bool,
}

/// A line: a loop of a phase. All times in us.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Loop {
    start: f64,
    end: f64,
    /// From the wait for the timer to when it was due; negative for a missed one.
    slack: f64,
    /// The timer's period, 0 without a timer.
    period: f64,
    /// How late the thread was woken.
    wakeup: f64,
}

impl Loop {
    fn of(line: &str) -> Option<Loop> {
        let mut numbers = line.split_whitespace().map(|word| word.parse::<f64>().ok());
        let mut next = || numbers.next().flatten().filter(|value| value.is_finite());
        let found =
            Loop { start: next()?, end: next()?, slack: next()?, period: next()?, wakeup: next()? };
        numbers.next().is_none().then_some(found)
    }

    /// rt-app logs 0 for a timer that was missed, whose lateness is the slack.
    fn lateness(&self) -> f64 {
        if self.slack > 0.0 { self.wakeup } else { -self.slack }
    }
}

impl Logs {
    pub(in crate::programs) fn names(&self) -> Vec<String> {
        self.tasks.iter().flat_map(TaskLogs::names).collect()
    }

    pub(in crate::programs) fn read(&self, stdout: &str) -> Result<Vec<(String, f64)>, String> {
        let threads: u32 = self.tasks.iter().map(|task| task.instances).sum();
        let loops = read(stdout, threads)?;
        let seconds = self.duration_s.map_or_else(|| elapsed_s(&loops), Ok)?;
        let mut values = Vec::new();
        let mut first = 0;
        for task in &self.tasks {
            let (from, to) = (first, first + task.instances as usize);
            first = to;
            let own = loops.get(from..to).ok_or("found fewer threads than the file has")?;
            task.values(&own.concat(), seconds, &mut values)?;
        }
        Ok(values)
    }
}

impl TaskLogs {
    /// Names in the order of [`TaskLogs::values`].
    fn names(&self) -> Vec<String> {
        let label = &self.label;
        let kinds = [(self.wakeup, "wakeup"), (self.response, "response")];
        let timed = kinds.into_iter().filter(|kind| kind.0).flat_map(|(_, kind)| {
            let tails = PERCENTS.map(|percent| format!("{label}_{kind}_p{percent}_us"));
            std::iter::once(format!("{label}_{kind}_mean_us")).chain(tails)
        });
        std::iter::once(format!("{label}_loops_per_s")).chain(timed).collect()
    }

    fn values(
        &self,
        loops: &[Loop],
        seconds: f64,
        values: &mut Vec<(String, f64)>,
    ) -> Result<(), String> {
        values.push((format!("{}_loops_per_s", self.label), loops.len() as f64 / seconds));
        let timed: Vec<&Loop> = loops.iter().filter(|l| l.period > 0.0).collect();
        if self.wakeup {
            let late = timed.iter().map(|l| l.lateness()).collect();
            latencies(&format!("{}_wakeup", self.label), late, values)?;
        }
        if self.response {
            let took = timed.iter().map(|l| l.period - l.slack).collect();
            latencies(&format!("{}_response", self.label), took, values)?;
        }
        Ok(())
    }
}

/// Mean, median, 99th percentile and longest.
fn latencies(name: &str, mut us: Vec<f64>, values: &mut Vec<(String, f64)>) -> Result<(), String> {
    us.sort_by(f64::total_cmp);
    let nothing = || format!("{name}: found no loop with a timer that ended in time");
    let mean = us.iter().sum::<f64>() / us.len() as f64;
    values.push((
        format!("{name}_mean_us"),
        Some(mean).filter(|m| m.is_finite()).ok_or_else(nothing)?,
    ));
    for percent in PERCENTS {
        let at = (us.len() * percent).div_ceil(100).saturating_sub(1);
        values.push((format!("{name}_p{percent}_us"), *us.get(at).ok_or_else(nothing)?));
    }
    Ok(())
}

/// The loops of each thread by its number, `thread NUMBER` before its lines.
fn read(stdout: &str, threads: u32) -> Result<Vec<Vec<Loop>>, String> {
    let mut found: Vec<Option<Vec<Loop>>> = vec![None; threads as usize];
    let mut current = None;
    for line in stdout.lines() {
        if let Some(number) = line.strip_prefix("thread ") {
            let nth = number.parse::<usize>().ok().filter(|&nth| nth < found.len());
            let nth =
                nth.ok_or_else(|| format!("found {line:?}, expected a thread below {threads}"))?;
            current = Some(nth);
            match found.get_mut(nth) {
                Some(empty @ None) => *empty = Some(Vec::new()),
                _ => return Err(format!("found {line:?} twice, expected it once")),
            }
            continue;
        }
        let wrong = || format!("found {line:?}, expected start, end, slack, period and wu_lat");
        let thread = current.and_then(|nth| found.get_mut(nth)?.as_mut()).ok_or_else(wrong)?;
        thread.push(Loop::of(line).ok_or_else(wrong)?);
    }
    let all = found.into_iter().enumerate();
    all.map(|(nth, loops)| loops.ok_or_else(|| format!("found no log of thread {nth}"))).collect()
}

/// From the first loop's start to the last one's end.
fn elapsed_s(loops: &[Vec<Loop>]) -> Result<f64, String> {
    let all = || loops.iter().flatten();
    let from = all().map(|l| l.start).fold(f64::INFINITY, f64::min);
    let to = all().map(|l| l.end).fold(f64::NEG_INFINITY, f64::max);
    const POSSIBLE: RangeInclusive<f64> = 1e-6..=1e9;
    let seconds = (to - from) / 1e6;
    match POSSIBLE.contains(&seconds) {
        true => Ok(seconds),
        false => Err("found no time between the first loop and the last".to_owned()),
    }
}
