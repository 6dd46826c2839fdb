//! A measurement over a window of time: warm-up, window, end of the run.

use crate::program::{FlagId, MarkId, Op, Spread, Workload};

/// The window: set while times are recorded, with marks at its ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    pub(crate) open: FlagId,
    pub(crate) from: MarkId,
    pub(crate) to: MarkId,
}

impl Window {
    /// A window of `w`, in which power is measured, too.
    pub(crate) fn new(w: &mut Workload) -> Window {
        let window = Window { open: w.flag(), from: w.mark(), to: w.mark() };
        w.measured = Some((window.from, window.to));
        window
    }

    /// Steps of the main task after it has started the others: it sleeps and watches the clock.
    pub(crate) fn ops(&self, warmup_s: f64, seconds: f64) -> Vec<Op> {
        let sleep = |s: f64| Op::Sleep { mean_ns: s * 1e9, spread: Spread::Fixed };
        let mut ops = if warmup_s > 0.0 { vec![sleep(warmup_s)] } else { Vec::new() };
        ops.extend([
            Op::Mark(self.from),
            Op::SetFlag(self.open, true),
            sleep(seconds),
            Op::SetFlag(self.open, false),
            Op::Mark(self.to),
            Op::Stop,
        ]);
        ops
    }
}
