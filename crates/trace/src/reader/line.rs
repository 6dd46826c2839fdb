//! Parser of one line of ftrace text.

use crate::TraceError;
use crate::event::{Comm, Context, Event, IDLE_EXIT, Kind, MAX_PID, Task, TaskState, WakeMemory};
use machine::MAX_CPUS;

/// A parsed line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// A record that timelines show.
    Event(Event),
    /// A record of another event, with its name if it has one.
    Other(Option<&'a str>),
    /// A comment that counts records missing from the text.
    Lost(u64),
    /// Another comment, an empty line, or a note of lost records.
    Nothing,
}

/// The kernel's comment with the number of records in the buffer, `/`, and the number written.
const COUNTS: &str = "# entries-in-buffer/entries-written: ";

/// Names of the probes at `select_task_rq_fair`.
const PLACE_ASKED: &str = "place_asked";
const PLACE_ANSWERED: &str = "place_answered";

/// The fields of a probe, which come after the place that it is at, in parentheses.
fn probed(fields: &str) -> &str {
    fields.split_once(") ").map_or(fields, |(_, fields)| fields)
}

fn lost(counts: &str) -> Option<u64> {
    let (here, written) = counts.split_whitespace().next()?.split_once('/')?;
    written.parse::<u64>().ok()?.checked_sub(here.parse().ok()?)
}

/// Builds the error for a line.
struct Reader<'a> {
    text: &'a str,
    line: u64,
}

/// A record is `COMM-PID [CPU] FLAGS TIME: EVENT: FIELDS`; COMM may hold spaces and dashes.
pub(super) fn parse(text: &str, line: u64) -> Result<Line<'_>, TraceError> {
    let text = text.trim();
    if let Some(counts) = text.strip_prefix(COUNTS) {
        return Ok(lost(counts).map_or(Line::Nothing, Line::Lost));
    }
    // `trace-cmd report` begins with the number of CPUs.
    if text.is_empty()
        || text.starts_with('#')
        || text.starts_with("CPU:")
        || text.starts_with("cpus=")
    {
        return Ok(Line::Nothing);
    }
    // A stack that a trigger asked for (`stacktrace`): its head, and a function each.
    if text.starts_with("=> ") || text.ends_with(": <stack trace>") {
        return Ok(Line::Other(None));
    }
    Reader { text, line }.record()
}

impl<'a> Reader<'a> {
    fn refuse<T>(
        &self,
        field: &'static str,
        found: &str,
        expected: &'static str,
    ) -> Result<T, TraceError> {
        let found = found.chars().take(60).collect();
        Err(TraceError::Line { line: self.line, field, found, expected })
    }

    fn record(&self) -> Result<Line<'a>, TraceError> {
        let Some((task, cpu, rest)) = self.split_cpu() else {
            return self.refuse("record", self.text, "TASK-PID [CPU] FLAGS TIME: EVENT: FIELDS");
        };
        // `record-tgid` puts the process beside the thread.
        let task = match task.rsplit_once(" (") {
            Some((task, tgid)) if tgid.ends_with(')') => task.trim_end(),
            _ => task,
        };
        let Some((comm, pid)) = task.rsplit_once('-') else {
            return self.refuse("task", task, "NAME-PID");
        };
        let current = (Comm::new(comm), self.pid("task", pid)?);
        let Some((head, rest)) = rest.split_once(": ") else {
            return self.refuse("record", rest, "FLAGS TIME: EVENT: FIELDS");
        };
        let (context, time) = match head.trim().rsplit_once(' ') {
            Some((flags, time)) => (self.context(flags.trim())?, time),
            None => (Context::default(), head.trim()),
        };
        let at_ns = self.time(time)?;
        let Some((event, fields)) = rest.trim_start().split_once(':') else {
            return Ok(Line::Other(None));
        };
        let fields = fields.trim();
        let kind = match event {
            "sched_switch" => self.switch(fields)?,
            "sched_waking" => {
                let (task, target) = self.woken(fields)?;
                Kind::Waking { task, target }
            }
            "sched_wakeup" => {
                let (task, target) = self.woken(fields)?;
                Kind::Wakeup { task, target }
            }
            "sched_wakeup_new" => {
                let (task, target) = self.woken(fields)?;
                Kind::WakeupNew { task, target }
            }
            "sched_migrate_task" => {
                let (task, rest) = self.task("comm=", " pid=", " prio=", fields)?;
                let (from, to) = self.pair(rest, " orig_cpu=", " dest_cpu=")?;
                Kind::Migrate { task, from: self.cpu(from)?, to: self.cpu(to)? }
            }
            "cpu_frequency" => {
                let (khz, cpu) = self.pair(fields, "state=", " cpu_id=")?;
                Kind::Frequency { cpu: self.cpu(cpu)?, khz: self.number("state", khz)? }
            }
            "cpu_idle" => {
                let (state, cpu) = self.pair(fields, "state=", " cpu_id=")?;
                let state = Some(self.number("state", state)?).filter(|&s| s != IDLE_EXIT);
                Kind::Idle { cpu: self.cpu(cpu)?, state }
            }
            PLACE_ASKED => {
                let (previous, rest) = self.pair(probed(fields), "previous=", " flags=")?;
                let (flags, memory) = match rest.split_once(' ') {
                    Some((flags, memory)) => (flags, Some(self.memory(memory)?)),
                    None => (rest, None),
                };
                Kind::PlaceAsked { previous: self.cpu(previous)?, flags: self.hex(flags)?, memory }
            }
            PLACE_ANSWERED => match probed(fields).strip_prefix("cpu=") {
                Some(cpu) => Kind::PlaceAnswered { cpu: self.cpu(cpu)? },
                None => return self.refuse("fields", fields, "cpu="),
            },
            _ => return Ok(Line::Other(Some(event))),
        };
        Ok(Line::Event(Event { at_ns, cpu, current, context, kind }))
    }

    /// Splits off task and CPU. The CPU is the first number in brackets after a task.
    fn split_cpu(&self) -> Option<(&'a str, u32, &'a str)> {
        let mut from = 0;
        while let Some(at) = self.text.get(from..)?.find(" [") {
            let open = from + at;
            let (inside, rest) = self.text.get(open + 2..)?.split_once(']')?;
            if let Ok(cpu) = inside.parse::<u32>()
                && (cpu as usize) < MAX_CPUS
            {
                return Some((self.text.get(..open)?.trim(), cpu, rest));
            }
            from = open + 2;
        }
        None
    }

    fn number<N: std::str::FromStr>(
        &self,
        field: &'static str,
        text: &str,
    ) -> Result<N, TraceError> {
        match text.trim().parse() {
            Ok(number) => Ok(number),
            Err(_) => self.refuse(field, text, "a number of 32 bits"),
        }
    }

    fn memory(&self, text: &'a str) -> Result<WakeMemory, TraceError> {
        let (flips, recent) = self.pair(text, "flips=", " recent=")?;
        Ok(WakeMemory { flips: self.number("flips", flips)?, recent: self.cpu(recent)? })
    }

    fn hex(&self, text: &str) -> Result<u32, TraceError> {
        match text.trim().strip_prefix("0x").map(|digits| u32::from_str_radix(digits, 16)) {
            Some(Ok(number)) => Ok(number),
            _ => self.refuse("flags", text, "0x and a number of 32 bits"),
        }
    }

    fn pid(&self, field: &'static str, text: &str) -> Result<u32, TraceError> {
        match self.number(field, text)? {
            pid if pid <= MAX_PID => Ok(pid),
            _ => self.refuse(field, text, "a process number below 4194304"),
        }
    }

    fn cpu(&self, text: &str) -> Result<u32, TraceError> {
        match self.number::<u32>("CPU", text)? {
            cpu if (cpu as usize) < MAX_CPUS => Ok(cpu),
            _ => self.refuse("CPU", text, "a CPU that a machine can have"),
        }
    }

    /// Parses seconds with six decimals, or nine as `trace-cmd report -t` prints them.
    fn time(&self, text: &str) -> Result<u64, TraceError> {
        let expected = "seconds with six or nine decimals";
        let ns = || {
            let (s, fraction) = text.split_once('.')?;
            let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
            if !digits(s) || !digits(fraction) {
                return None;
            }
            let scale = match fraction.len() {
                6 => 1000,
                9 => 1,
                _ => return None,
            };
            let fraction_ns = fraction.parse::<u64>().ok()? * scale;
            s.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(fraction_ns)
        };
        match ns() {
            Some(ns) => Ok(ns),
            None => self.refuse("time", text, expected),
        }
    }

    /// Parses the letters of `trace_print_lat_fmt`: four before migration could be disabled, five since.
    fn context(&self, text: &str) -> Result<Context, TraceError> {
        let expected = "the four or five letters of irq-info";
        let hex = |letter: u8| match letter {
            b'.' => Some(0),
            letter => (letter as char).to_digit(16).map(|d| d as u8),
        };
        let context = |letters: &[u8]| {
            let &[irqs, resched, interrupt, depth, ref rest @ ..] = letters else { return None };
            let irqs = match irqs {
                b'D' => Context::IRQS_OFF | Context::BH_OFF,
                b'd' => Context::IRQS_OFF,
                b'b' => Context::BH_OFF,
                b'.' | b'X' => 0,
                _ => return None,
            };
            let resched = match resched {
                b'N' => Context::NEED_RESCHED | Context::PREEMPT_RESCHED,
                b'n' => Context::NEED_RESCHED,
                b'p' => Context::PREEMPT_RESCHED,
                // Lazy rescheduling, from 6.13 on, has bits of its own.
                b'.' | b'B' | b'b' | b'l' | b'L' => 0,
                _ => return None,
            };
            let interrupt = match interrupt {
                b'Z' => Context::NMI | Context::HARDIRQ,
                b'z' => Context::NMI,
                b'H' => Context::HARDIRQ | Context::SOFTIRQ,
                b'h' => Context::HARDIRQ,
                b's' => Context::SOFTIRQ,
                b'.' => 0,
                _ => return None,
            };
            let migration = match rest {
                [] => 0,
                &[letter] => hex(letter)?,
                _ => return None,
            };
            let preempt_count = hex(depth)? | migration << 4;
            Some(Context { flags: irqs | resched | interrupt, preempt_count })
        };
        match context(text.as_bytes()) {
            Some(context) => Ok(context),
            None => self.refuse("flags", text, expected),
        }
    }

    /// The text after `first` and the text after `second`.
    fn pair(
        &self,
        text: &'a str,
        first: &'static str,
        second: &'static str,
    ) -> Result<(&'a str, &'a str), TraceError> {
        match text.strip_prefix(first).and_then(|rest| rest.split_once(second)) {
            Some(pair) => Ok(pair),
            None => self.refuse("fields", text, "those of 6.12's events"),
        }
    }

    /// Parses a task, given the names of its fields. Uses the last ` pid=`, because a name may contain one.
    fn task(
        &self,
        comm: &str,
        pid: &str,
        prio: &str,
        text: &'a str,
    ) -> Result<(Task, &'a str), TraceError> {
        let split = || {
            let text = text.strip_prefix(comm)?;
            let (name, rest) = text.rsplit_once(pid)?;
            let (number, rest) = rest.split_once(prio)?;
            let end = rest.find(' ').unwrap_or(rest.len());
            Some((name, number, rest.get(..end)?, rest.get(end..)?))
        };
        let Some((name, number, priority, rest)) = split() else {
            return self.refuse("fields", text, "name, pid and prio of a task");
        };
        let pid = self.pid("pid", number)?;
        let prio = self.number("prio", priority)?;
        Ok((Task { comm: Comm::new(name), pid, prio }, rest))
    }

    /// Parses task and CPU of a wake-up. Before 4.14, and in perf, `success=1` stands between them.
    fn woken(&self, fields: &'a str) -> Result<(Task, u32), TraceError> {
        let (task, rest) = self.task("comm=", " pid=", " prio=", fields)?;
        match rest.rsplit_once("target_cpu=") {
            Some((_, target)) => Ok((task, self.cpu(target)?)),
            None => self.refuse("fields", fields, "target_cpu="),
        }
    }

    fn switch(&self, fields: &'a str) -> Result<Kind, TraceError> {
        let Some((before, after)) = fields.rsplit_once(" ==> ") else {
            return self.refuse("fields", fields, "prev_comm= … ==> next_comm= …");
        };
        let (prev, rest) = self.task("prev_comm=", " prev_pid=", " prev_prio=", before)?;
        let Some(state) = rest.strip_prefix(" prev_state=") else {
            return self.refuse("fields", before, "prev_state=");
        };
        let (next, _) = self.task("next_comm=", " next_pid=", " next_prio=", after)?;
        Ok(Kind::Switch { prev, prev_state: self.state(state)?, next })
    }

    fn state(&self, text: &str) -> Result<TaskState, TraceError> {
        let (letters, preempted) = match text.strip_suffix('+') {
            Some(letters) => (letters, TaskState::PREEMPTED),
            None => (text, 0),
        };
        let mut bits = preempted;
        for letter in letters.split('|') {
            let bit = TaskState::LETTERS.iter().find(|(_, l)| letter.as_bytes() == [*l]);
            match (bit, letter) {
                (Some((bit, _)), _) => bits |= bit,
                (None, "R") => {}
                (None, _) => {
                    return self.refuse(
                        "prev_state",
                        text,
                        "R or letters of SDTtXZPI, + behind them",
                    );
                }
            }
        }
        Ok(TaskState(bits))
    }
}
