//! Writer of ftrace text, as `/sys/kernel/tracing/trace` of 6.12 prints it (`print_trace_line`, `TP_printk` of the events).

use crate::TraceError;
use crate::event::{Comm, Context, Event, IDLE_EXIT, Kind, Sink, Task, TaskState};
use std::io::Write;

/// Bytes after which the buffer is written out.
const FULL: usize = 1 << 16;

/// Writes records as ftrace text. Leaves out what is no tracepoint of a kernel ([`Kind::is_tracepoint`]).
pub struct FtraceText<W> {
    out: W,
    text: Vec<u8>,
    digits: itoa::Buffer,
    irq_info: bool,
}

impl<W: Write> FtraceText<W> {
    /// Creates a writer to `out`. Each of `notes` becomes a comment line. (The kernel prints the number of records there, which
    /// is not known in advance.) `irq_info` is ftrace's option of that name: whether a line shows its context.
    pub fn new(out: W, notes: &[String], irq_info: bool) -> FtraceText<W> {
        let mut text = Vec::with_capacity(FULL + 512);
        text.extend_from_slice(b"# tracer: nop\n#\n");
        for note in notes {
            text.extend_from_slice(b"# ");
            text.extend(note.bytes().map(|b| if b == b'\n' { b' ' } else { b }));
            text.push(b'\n');
        }
        text.extend_from_slice(if irq_info { IRQ_INFO_HEADER } else { HEADER }.as_bytes());
        FtraceText { out, text, digits: itoa::Buffer::new(), irq_info }
    }

    fn number(&mut self, number: impl itoa::Integer) {
        let digits = self.digits.format(number);
        self.text.extend_from_slice(digits.as_bytes());
    }

    /// Writes a number, padded to `width` characters.
    fn padded(&mut self, number: u64, width: usize, with: u8) {
        let digits = self.digits.format(number).as_bytes();
        let missing = width.saturating_sub(digits.len());
        self.text.extend(std::iter::repeat_n(with, missing));
        self.text.extend_from_slice(digits);
    }

    fn put(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
    }

    /// `trace_print_context` and `trace_print_lat_fmt`.
    fn head(&mut self, event: &Event) {
        let (comm, pid) = event.current;
        let comm = if pid == 0 { Comm::new("<idle>") } else { comm };
        let missing = 16usize.saturating_sub(comm.as_bytes().len());
        self.text.extend(std::iter::repeat_n(b' ', missing));
        self.text.extend_from_slice(comm.as_bytes());
        self.text.push(b'-');
        let at = self.text.len();
        self.number(pid);
        let missing = 7usize.saturating_sub(self.text.len() - at);
        self.text.extend(std::iter::repeat_n(b' ', missing));
        self.put(" [");
        self.padded(u64::from(event.cpu), 3, b'0');
        self.put("] ");
        if self.irq_info {
            self.text.extend_from_slice(&flags(event.context));
        }
        // `ns2usecs` rounds.
        let us = event.at_ns.saturating_add(500) / 1000;
        self.text.push(b' ');
        self.padded(us / 1_000_000, 5, b' ');
        self.text.push(b'.');
        self.padded(us % 1_000_000, 6, b'0');
        self.put(": ");
    }

    fn task(&mut self, task: &Task) {
        self.put("comm=");
        self.text.extend_from_slice(task.comm.as_bytes());
        self.put(" pid=");
        self.number(task.pid);
        self.put(" prio=");
        self.number(task.prio);
    }

    /// `sched_wakeup_template`.
    fn wakeup(&mut self, event: &str, task: &Task, target: u32) {
        self.put(event);
        self.task(task);
        self.put(" target_cpu=");
        self.padded(u64::from(target), 3, b'0');
    }

    fn switch(&mut self, prev: &Task, state: TaskState, next: &Task) {
        self.put("sched_switch: prev_comm=");
        self.text.extend_from_slice(prev.comm.as_bytes());
        self.put(" prev_pid=");
        self.number(prev.pid);
        self.put(" prev_prio=");
        self.number(prev.prio);
        self.put(" prev_state=");
        let at = self.text.len();
        for (bit, letter) in TaskState::LETTERS {
            if state.0 & bit != 0 {
                if self.text.len() > at {
                    self.text.push(b'|');
                }
                self.text.push(letter);
            }
        }
        if self.text.len() == at {
            self.text.push(b'R');
        }
        if state.0 & TaskState::PREEMPTED != 0 {
            self.text.push(b'+');
        }
        self.put(" ==> next_comm=");
        self.text.extend_from_slice(next.comm.as_bytes());
        self.put(" next_pid=");
        self.number(next.pid);
        self.put(" next_prio=");
        self.number(next.prio);
    }

    fn power(&mut self, event: &str, state: u32, cpu: u32) {
        self.put(event);
        self.number(state);
        self.put(" cpu_id=");
        self.number(cpu);
    }

    fn flush(&mut self) -> Result<(), TraceError> {
        self.out.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }
}

impl<W: Write> Sink for FtraceText<W> {
    fn event(&mut self, event: &Event) -> Result<(), TraceError> {
        if !event.kind.is_tracepoint() {
            return Ok(());
        }
        self.head(event);
        match &event.kind {
            Kind::Switch { prev, prev_state, next } => self.switch(prev, *prev_state, next),
            Kind::Waking { task, target } => self.wakeup("sched_waking: ", task, *target),
            Kind::Wakeup { task, target } => self.wakeup("sched_wakeup: ", task, *target),
            Kind::WakeupNew { task, target } => self.wakeup("sched_wakeup_new: ", task, *target),
            Kind::Migrate { task, from, to } => {
                self.put("sched_migrate_task: ");
                self.task(task);
                self.put(" orig_cpu=");
                self.number(*from);
                self.put(" dest_cpu=");
                self.number(*to);
            }
            Kind::Frequency { cpu, khz } => self.power("cpu_frequency: state=", *khz, *cpu),
            Kind::Idle { cpu, state } => {
                self.power("cpu_idle: state=", state.unwrap_or(IDLE_EXIT), *cpu);
            }
            Kind::Runnable { .. }
            | Kind::Clock { .. }
            | Kind::PlaceAsked { .. }
            | Kind::PlaceAnswered { .. } => {}
        }
        self.text.push(b'\n');
        if self.text.len() >= FULL { self.flush() } else { Ok(()) }
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        self.flush()?;
        self.out.flush()?;
        Ok(())
    }
}

/// The five letters of a record's context.
fn flags(context: Context) -> [u8; 5] {
    let has = |bit| context.flags & bit != 0;
    let hex = |n: u8| match n & 0xf {
        0 => b'.',
        n @ 1..=9 => b'0' + n,
        n => b'a' + n - 10,
    };
    let irqs = match (has(Context::IRQS_OFF), has(Context::BH_OFF)) {
        (true, true) => b'D',
        (true, false) => b'd',
        (false, true) => b'b',
        (false, false) => b'.',
    };
    let resched = match (has(Context::NEED_RESCHED), has(Context::PREEMPT_RESCHED)) {
        (true, true) => b'N',
        (true, false) => b'n',
        (false, true) => b'p',
        (false, false) => b'.',
    };
    let interrupt = match (has(Context::NMI), has(Context::HARDIRQ), has(Context::SOFTIRQ)) {
        (true, true, _) => b'Z',
        (true, false, _) => b'z',
        (false, true, true) => b'H',
        (false, true, false) => b'h',
        (false, false, true) => b's',
        (false, false, false) => b'.',
    };
    [irqs, resched, interrupt, hex(context.preempt_count), hex(context.preempt_count >> 4)]
}

/// Header that explains the columns (`print_func_help_header`).
const HEADER: &str = "\
#
#           TASK-PID     CPU#     TIMESTAMP  FUNCTION
#              | |         |         |         |
";

/// The same with `irq-info` (`print_func_help_header_irq`).
const IRQ_INFO_HEADER: &str = "\
#
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
";
