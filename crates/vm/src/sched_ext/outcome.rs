//! What a guest says of the sched_ext scheduler of a run: what it counted, or how it ended.

use crate::splats::without_time;
use serde_json::Value;
use std::collections::BTreeMap;

/// Lines of the kernel, and of the scheduler, that a failed run keeps.
const LONGEST: usize = 60;
/// How the kernel's log begins what it says of the class.
const CLASS: &str = "sched_ext: ";
/// How it says that a scheduler is gone, before the reason.
const GONE: &str = "\" disabled (";

/// What a scheduler said of itself, and the kernel of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The name of its `sched_ext_ops`.
    pub ops: String,
    /// The class's events while the program ran, by their names in the kernel (`SCX_EV_...`).
    pub events: BTreeMap<String, u64>,
    /// Its own statistics of that time, where it serves any (scx_stats).
    pub statistics: Option<Value>,
}

impl Outcome {
    /// Out of the files of a run that went well; `None` where it had no scheduler.
    pub(crate) fn of(text: &dyn Fn(&str) -> Option<String>) -> Result<Option<Outcome>, String> {
        let Some(ops) = text("scheduler.ops") else { return Ok(None) };
        let events = |name: &str| events(&text(name).unwrap_or_default());
        let before = events("events.before")?;
        let since = |(name, after): (String, u64)| {
            let before = before.get(&name).copied().unwrap_or_default();
            (name, after.saturating_sub(before))
        };
        let events = events("events.after")?.into_iter().map(since).collect();
        let statistics = text("scheduler.stats").and_then(|answers| statistics(&answers));
        Ok(Some(Outcome { ops: ops.trim().to_owned(), events, statistics }))
    }
}

/// Lines `NAME NUMBER`.
fn events(text: &str) -> Result<BTreeMap<String, u64>, String> {
    let event = |line: &str| {
        let (name, number) = line.split_once(' ')?;
        Some((name.to_owned(), number.trim().parse().ok()?))
    };
    let event = |line| event(line).ok_or_else(|| format!("events: found `{line}`"));
    text.lines().map(event).collect()
}

/// What is in the last of two answers; the first one is from before the program.
fn statistics(answers: &str) -> Option<Value> {
    let last = answers.lines().nth(1)?;
    let mut answer: Value = serde_json::from_str(last).ok()?;
    (answer.get("errno")? == 0).then(|| answer["args"]["resp"].take())
}

/// How the scheduler of a run failed, with what kernel and scheduler said; `None` where it did not.
pub(crate) fn failure(text: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    if let Some(log) = text("scheduler.log") {
        return Some(thrown_out(&log, &text("scheduler.said").unwrap_or_default()));
    }
    let state = text("scheduler.left")?;
    Some(format!("the scheduler could not be unloaded: the class is {}", state.trim()))
}

/// What the kernel's `log` says of the end of a scheduler, which itself `said` something.
pub fn thrown_out(log: &str, said: &str) -> String {
    let lines: Vec<&str> = log.lines().map(without_time).collect();
    let is_end = |line: &&str| line.contains(CLASS) && line.contains(GONE);
    let kernel: Vec<&str> = match lines.iter().position(is_end) {
        // A reason goes on with lines of the class and with indented ones, a call trace.
        Some(at) => {
            let of_it = |line: &&&str| line.contains(CLASS) || line.starts_with([' ', '\t']);
            lines[at..].iter().take_while(of_it).copied().collect()
        }
        None => lines.iter().filter(|line| line.contains(CLASS)).copied().collect(),
    };
    let (title, rest) = match kernel.split_first() {
        Some((title, rest)) => (*title, rest),
        None => ("the kernel said nothing of it", &[][..]),
    };
    let mut out = title.to_owned();
    rest.iter().take(LONGEST).for_each(|line| out.push_str(&format!("\n  | {line}")));
    let said = plain(said);
    let said: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let skipped = said.len().saturating_sub(LONGEST);
    said[skipped..].iter().for_each(|line| out.push_str(&format!("\n  > {line}")));
    out
}

/// Without a terminal's colours.
fn plain(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, part| {
        out + part.split_once('m').filter(|(code, _)| code.len() < 8).map_or(part, |(_, rest)| rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
[    4.675791] sched_ext: BPF scheduler \"stall\" enabled
[    7.737330] sched_ext: BPF scheduler \"stall\" disabled (runnable task stall)
[    7.737432] sched_ext: stall: kworker/0:1[11] failed to run for 2.884s
[    7.737579]    __scx_exit+0x4f/0x70
[    7.737683]    scx_watchdog_workfn+0x18e/0x240
[    8.000000] something else
[    8.100000]  of somebody else
";

    fn files<'a>(files: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| files.iter().find(|(n, _)| *n == name).map(|(_, text)| (*text).to_owned())
    }

    #[test]
    fn the_kernels_reason_with_what_follows_and_what_the_program_said() {
        let said = "\u{1b}[0m\u{1b}[34m[INFO]\u{1b}[0m started\n\nEXIT: stall\n";
        let all = [("scheduler.log", LOG), ("scheduler.said", said)];
        let expected = "\
sched_ext: BPF scheduler \"stall\" disabled (runnable task stall)
  | sched_ext: stall: kworker/0:1[11] failed to run for 2.884s
  |    __scx_exit+0x4f/0x70
  |    scx_watchdog_workfn+0x18e/0x240
  > [INFO] started
  > EXIT: stall";
        assert_eq!(failure(&files(&all)).unwrap(), expected);
    }

    #[test]
    fn a_scheduler_that_never_came_and_one_that_stays() {
        let all = [("scheduler.log", "[ 1.0] ordinary\n"), ("scheduler.said", "no BTF\n")];
        assert_eq!(failure(&files(&all)).unwrap(), "the kernel said nothing of it\n  > no BTF");
        let left = [("scheduler.left", "enabled\n")];
        let expected = "the scheduler could not be unloaded: the class is enabled";
        assert_eq!(failure(&files(&left)).unwrap(), expected);
        assert_eq!(failure(&files(&[("scheduler.ops", "plain\n")])), None);
    }

    #[test]
    fn events_and_statistics_are_those_of_the_run() {
        let answers = "{\"errno\":0,\"args\":{\"resp\":{\"total\":1}}}\n{\"errno\":0,\"args\":{\"resp\":{\"total\":7}}}\n";
        let all = [
            ("scheduler.ops", "rusty_1\n"),
            ("events.before", "SCX_EV_A 3\nSCX_EV_B 0\n"),
            ("events.after", "SCX_EV_A 5\nSCX_EV_B 9\n"),
            ("scheduler.stats", answers),
        ];
        let outcome = Outcome::of(&files(&all)).unwrap().unwrap();
        assert_eq!(outcome.ops, "rusty_1");
        assert_eq!((outcome.events["SCX_EV_A"], outcome.events["SCX_EV_B"]), (2, 9));
        assert_eq!(outcome.statistics.unwrap()["total"], 7);
        // The first answer is from before the program.
        let first = answers.lines().next().unwrap();
        let one = [("scheduler.ops", "rusty_1\n"), ("scheduler.stats", first)];
        assert_eq!(Outcome::of(&files(&one)).unwrap().unwrap().statistics, None);
        let odd = [("scheduler.ops", "x\n"), ("events.after", "SCX_EV_A\n")];
        assert_eq!(Outcome::of(&files(&odd)).unwrap_err(), "events: found `SCX_EV_A`");
        assert_eq!(Outcome::of(&files(&[])).unwrap(), None);
    }

    proptest::proptest! {
        #[test]
        fn any_log_can_be_read(log in "(\\PC|\\[|\\]|sched_ext: |\" disabled \\(|\u{1b}\\[0m|\n){0,60}") {
            let all = [("scheduler.log", log.as_str()), ("scheduler.said", log.as_str())];
            proptest::prop_assert!(failure(&files(&all)).is_some());
        }
    }
}
