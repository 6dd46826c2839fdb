//! What a kernel's log says went wrong: warnings, bugs, stalls, reports of lockdep and of KASAN.
//!
//! A report begins with a line that names it and goes on with registers and calls until its end mark, or until the next one. A report is
//! known again by its name without CPU, task and address, so that the same warning of many runs is told once.

/// Lines of a report that are kept.
const LONGEST: usize = 60;

/// How reports begin, after the time.
const BEGINS: [&str; 9] = [
    "WARNING: ",
    "BUG: ",
    "INFO: task ",
    "INFO: rcu",
    "INFO: possible ",
    "INFO: lockdep",
    "UBSAN: ",
    "kernel BUG at ",
    "Oops: ",
];
/// Who may be named before that.
const BY: [&str; 2] = ["watchdog: ", "rcu: "];
/// How reports end.
const ENDS: &str = "---[ end trace";

/// One report of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Splat {
    /// Its name, without CPU, task and address.
    pub title: String,
    /// Its lines without their times.
    pub lines: Vec<String>,
}

/// The reports in a kernel's log, in order.
pub fn splats(log: &str) -> Vec<Splat> {
    let mut all: Vec<Splat> = Vec::new();
    let mut open = false;
    for line in log.lines().map(without_time) {
        if let Some(title) = title(line) {
            all.push(Splat { title, lines: vec![line.to_owned()] });
            open = true;
        } else if let Some(last) = all.last_mut().filter(|_| open) {
            last.lines.push(line.to_owned());
            open = last.lines.len() < LONGEST && !line.starts_with(ENDS);
        }
    }
    all
}

/// What follows `[    1.234567] ` and `[   T12] `.
pub(crate) fn without_time(line: &str) -> &str {
    let mut rest = line.trim_end();
    while let Some((_, after)) = rest.strip_prefix('[').and_then(|r| r.split_once("] ")) {
        rest = after;
    }
    rest
}

fn title(line: &str) -> Option<String> {
    let named = BY.iter().find_map(|by| line.strip_prefix(by)).unwrap_or(line);
    let begin = BEGINS.iter().find(|begin| named.starts_with(**begin))?;
    // `WARNING: CPU: 3 PID: 12 at kernel/sched/fair.c:5500 foo+0x1/0x2`
    if let Some((_, at)) = named.strip_prefix("WARNING: ").and_then(|w| w.split_once(" at ")) {
        return Some(format!("WARNING: at {}", without_offsets(at)));
    }
    let what = named.strip_prefix(begin)?;
    let what = what.split(" by task ").next().unwrap_or(what);
    Some(format!("{begin}{}", without_offsets(what)).replace("  ", " "))
}

/// Without what differs from one boot to the next: offsets in functions, addresses and numbers of CPUs and tasks.
fn without_offsets(text: &str) -> String {
    let plain = |word: &str| {
        let word = word.split('+').next().unwrap_or(word);
        !word.is_empty() && !word.starts_with("0x") && !word.starts_with("CPU#")
    };
    let words = text.split_whitespace().filter(|word| plain(word));
    words.map(|word| word.split('+').next().unwrap_or(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
[    0.000000] Linux version 6.12.9
[    1.500000] ------------[ cut here ]------------
[    1.500000] WARNING: CPU: 3 PID: 12 at kernel/sched/fair.c:5500 place_entity+0x1f/0x120
[    1.500000] Modules linked in:
[    1.500000] Call Trace:
[    1.500000]  enqueue_entity+0x10/0x20
[    1.500000] ---[ end trace 0000000000000000 ]---
[    1.600000] sched: something ordinary
[    2.000000][   T12] watchdog: BUG: soft lockup - CPU#3 stuck for 26s! [sh:12]
[    2.100000] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
[    2.100000] rcu: 	1-...!: (0 ticks this GP)
[    3.000000] BUG: KASAN: slab-use-after-free in pick_task_fair+0x44/0x90
[    3.000000] Read of size 8 at addr ffff888 by task sh/12
";

    #[test]
    fn reports_are_found_with_their_lines() {
        let all = splats(LOG);
        let titles: Vec<&str> = all.iter().map(|splat| splat.title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "WARNING: at kernel/sched/fair.c:5500 place_entity",
                "BUG: soft lockup - stuck for 26s! [sh:12]",
                "INFO: rcu_preempt detected stalls on CPUs/tasks:",
                "BUG: KASAN: slab-use-after-free in pick_task_fair",
            ]
        );
        assert_eq!(all[0].lines.len(), 5);
        assert_eq!(all[0].lines[3], " enqueue_entity+0x10/0x20");
        assert_eq!(all[3].lines.len(), 2);
    }

    #[test]
    fn a_quiet_log_has_none() {
        assert_eq!(splats("[    0.1] CPU0 attaching sched-domain(s):\n[    0.2] debug: ok\n"), []);
        assert_eq!(splats(""), []);
    }

    proptest::proptest! {
        #[test]
        fn any_log_can_be_read(log in "(\\PC|\\[|\\]|WARNING: |BUG: | at |\n){0,80}") {
            for splat in splats(&log) {
                proptest::prop_assert!(!splat.lines.is_empty() && splat.lines.len() <= LONGEST);
            }
        }
    }
}
