//! Idle CPUs while somebody waits.
//!
//! A scheduler conserves work if no CPU idles while a task waits elsewhere. A short while of it is in the nature of wake-ups: an idle
//! CPU takes time to wake. What lasts is what balancing should have mended. Tasks that belong to one CPU do not count, and neither does
//! a CPU of which nothing is known yet. Affinities are not in a trace: a task that is bound to busy CPUs counts.

use serde::Serialize;

/// The worst intervals that are kept.
const KEPT: usize = 10;
/// Ends of classes of length.
const CLASSES_NS: [u64; 4] = [10_000, 100_000, 1_000_000, 10_000_000];

/// How well work was conserved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Conservation {
    /// Time in which at least one CPU idled and at least one task waited.
    pub violated_ns: u64,
    /// The same in percent of the trace.
    pub percent: f64,
    /// CPU time that was lost: the smaller of idle CPUs and waiting tasks, summed over time.
    pub lost_cpu_ns: u64,
    /// Number of such intervals by length: up to 10 us, 100 us, 1 ms, 10 ms, and longer.
    pub intervals: [u64; CLASSES_NS.len() + 1],
    /// The longest ones, the longest first.
    pub worst: Vec<Violation>,
}

/// An interval in which work was not conserved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// When it began.
    pub from_ns: u64,
    /// How long it was.
    pub length_ns: u64,
    /// Most CPUs that idled.
    pub idle_cpus: usize,
    /// Most tasks that waited.
    pub waiting: usize,
    /// The task whose wait was the first of those when it began or came, and the CPU on whose queue it was.
    pub task: u32,
    /// That CPU.
    pub queue: usize,
}

/// Follows CPUs and waiting tasks.
#[derive(Debug)]
pub(super) struct Watch {
    /// By CPU: whether it idles; none before it is known.
    idle: Vec<Option<bool>>,
    nr_idle: usize,
    /// Tasks that wait and belong to no CPU, in the order in which they came.
    waiting: Vec<(u32, usize)>,
    open: Option<Violation>,
    /// When it ended, unless it goes on at the same time: a task that is preempted comes as another one leaves.
    ends_ns: Option<u64>,
    last_ns: u64,
    violated_ns: u64,
    lost_cpu_ns: u64,
    intervals: [u64; CLASSES_NS.len() + 1],
    worst: Vec<Violation>,
}

impl Watch {
    pub(super) fn new(cpus: usize) -> Watch {
        Watch {
            idle: vec![None; cpus],
            nr_idle: 0,
            waiting: vec![],
            open: None,
            ends_ns: None,
            last_ns: 0,
            violated_ns: 0,
            lost_cpu_ns: 0,
            intervals: Default::default(),
            worst: vec![],
        }
    }

    pub(super) fn runs(&mut self, cpu: usize, at_ns: u64, busy: bool) {
        self.advance(at_ns);
        let was = self.idle[cpu].replace(!busy) == Some(true);
        self.nr_idle = self.nr_idle + usize::from(!busy) - usize::from(was);
        self.look(at_ns);
    }

    pub(super) fn waits(&mut self, pid: u32, cpu: usize, at_ns: u64, comes: bool, is_bound: bool) {
        if is_bound && comes {
            return;
        }
        self.advance(at_ns);
        match comes {
            true => self.waiting.push((pid, cpu)),
            false => self.waiting.retain(|(waiting, _)| *waiting != pid),
        }
        self.look(at_ns);
    }

    /// Time goes on to `at_ns`.
    fn advance(&mut self, at_ns: u64) {
        if let Some(end_ns) = self.ends_ns.filter(|end_ns| *end_ns < at_ns) {
            self.close(end_ns);
        }
        let past_ns = at_ns.saturating_sub(self.last_ns);
        if self.open.is_some() {
            self.lost_cpu_ns += past_ns * self.nr_idle.min(self.waiting.len()) as u64;
        }
        self.last_ns = self.last_ns.max(at_ns);
    }

    /// Opens or closes an interval.
    fn look(&mut self, at_ns: u64) {
        let first = self.waiting.first().copied().filter(|_| self.nr_idle > 0);
        match (first, &mut self.open) {
            (Some(_), Some(open)) => {
                self.ends_ns = None;
                open.idle_cpus = open.idle_cpus.max(self.nr_idle);
                open.waiting = open.waiting.max(self.waiting.len());
            }
            (Some((task, queue)), None) => {
                self.open = Some(Violation {
                    from_ns: at_ns,
                    length_ns: 0,
                    idle_cpus: self.nr_idle,
                    waiting: self.waiting.len(),
                    task,
                    queue,
                });
            }
            (None, Some(_)) => self.ends_ns = self.ends_ns.or(Some(at_ns)),
            (None, None) => {}
        }
    }

    fn close(&mut self, at_ns: u64) {
        self.ends_ns = None;
        let Some(open) = self.open.take() else { return };
        let length_ns = at_ns.saturating_sub(open.from_ns);
        if length_ns == 0 {
            return;
        }
        self.violated_ns += length_ns;
        let class = CLASSES_NS.iter().position(|end| length_ns <= *end);
        self.intervals[class.unwrap_or(CLASSES_NS.len())] += 1;
        let at = self.worst.partition_point(|worse| worse.length_ns >= length_ns);
        if at < KEPT {
            self.worst.insert(at, Violation { length_ns, ..open });
            self.worst.truncate(KEPT);
        }
    }

    pub(super) fn finish(mut self, end_ns: u64, length_ns: u64) -> Conservation {
        self.advance(end_ns);
        self.close(self.ends_ns.unwrap_or(end_ns));
        let percent = 100.0 * self.violated_ns as f64 / length_ns.max(1) as f64;
        Conservation {
            violated_ns: self.violated_ns,
            percent,
            lost_cpu_ns: self.lost_cpu_ns,
            intervals: self.intervals,
            worst: self.worst,
        }
    }
}
